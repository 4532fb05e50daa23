//! Picking a model, against runs of the real program.

use super::*;
use crate::catalog::{catalog, raw};

fn s(text: &str) -> Value {
    Value::Str(text.to_owned())
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    name: String,
    model: String,
    provider: Option<String>,
    named: Option<String>,
    listed: Option<usize>,
    base_url: Option<String>,
    api_key: Option<String>,
    api_mode: Option<String>,
    region: Option<String>,
    #[serde(rename = "display_name")]
    label: Option<String>,
    before: toml::Value,
    after: toml::Value,
    env: Option<std::collections::BTreeMap<String, String>>,
}

#[derive(serde::Deserialize)]
struct Runs {
    run: Vec<Run>,
}

/// Apply a change the way a document does.
fn apply(root: &mut Value, steps: &[Step], change: &Change) {
    let Some((step, rest)) = steps.split_first() else {
        match change {
            Change::Set(v) => *root = v.clone(),
            Change::Append(v) => match root {
                Value::List(items) => items.push(v.clone()),
                other => panic!("append to {other:?}"),
            },
            other => panic!("{other:?}"),
        }
        return;
    };
    match (step, root) {
        (Step::Index(at), Value::List(items)) => {
            apply(&mut items[usize::try_from(*at).unwrap()], rest, change);
        }
        (Step::Key(name), Value::Map(fields)) => {
            let at = fields.iter().position(|(k, _)| k.as_str() == Some(name));
            match at {
                Some(at) if rest.is_empty() && *change == Change::Remove => {
                    fields.remove(at);
                }
                Some(at) => apply(&mut fields[at].1, rest, change),
                None => {
                    assert_ne!(*change, Change::Remove, "{name} is not there");
                    let mut new = Value::Map(vec![]);
                    apply(&mut new, rest, change);
                    fields.push((s(name), new));
                }
            }
        }
        (step, root) => panic!("{step} in {root:?}"),
    }
}

/// The order of names in a section has no meaning here.
fn sorted(value: Value) -> Value {
    match value {
        Value::Map(fields) => {
            let mut fields: Vec<_> = fields.into_iter().map(|(k, v)| (k, sorted(v))).collect();
            fields.sort_by_key(|(k, _)| format!("{k:?}"));
            Value::Map(fields)
        }
        Value::List(items) => Value::List(items.into_iter().map(sorted).collect()),
        other => other,
    }
}

#[test]
fn picking_a_model_writes_what_hermes_writes() {
    let runs: Runs =
        toml::from_str(include_str!("../../../tests/fixtures/model_runs.toml")).unwrap();
    assert_eq!(runs.run.len(), 22);
    for run in runs.run {
        let endpoint = match (&run.provider, &run.named, run.listed) {
            (Some(id), _, _) => EndpointKey::Provider(catalog().provider(id).unwrap()),
            (_, Some(key), _) => EndpointKey::Named(key),
            (_, _, Some(at)) => EndpointKey::Listed(at),
            _ => panic!("{}", run.name),
        };
        let mut pick = ModelPick::new(endpoint, &run.model);
        pick.base_url = run.base_url.as_deref();
        pick.api_key = run.api_key.as_deref();
        pick.api_mode = run.api_mode.as_deref();
        pick.region = run.region.as_deref();
        pick.name = run.label.as_deref();
        let mut value = raw::value(run.before);
        let plan = model_edits(&pick, Some(&value), &|_| None).unwrap();
        for (path, change) in &plan.config {
            apply(&mut value, &path.0, change);
        }
        assert_eq!(sorted(value), sorted(raw::value(run.after)), "{}", run.name);
        let env: std::collections::BTreeMap<_, _> = plan.env.into_iter().collect();
        assert_eq!(env, run.env.unwrap_or_default(), "{}", run.name);
    }
}

#[test]
fn picking_the_same_model_again_changes_nothing() {
    for p in catalog().providers() {
        let model = p.model.as_deref().unwrap_or("some-model");
        let mut pick = ModelPick::new(EndpointKey::Provider(p), model);
        if p.id == "custom" || p.id == "azure-foundry" {
            pick.base_url = Some("https://llm.example/v1");
        }
        let mut value = Value::Map(vec![(s("model"), s("old/model"))]);
        let plan = model_edits(&pick, Some(&value), &|_| None).unwrap();
        for (path, change) in &plan.config {
            apply(&mut value, &path.0, change);
        }
        let again = model_edits(&pick, Some(&value), &|_| None).unwrap();
        assert_eq!(again.config, vec![], "{}", p.id);
    }
}

#[test]
fn gateways_choose_the_protocol_by_the_model() {
    let mode = |provider: &str, model: &str| {
        let pick = ModelPick::new(
            EndpointKey::Provider(catalog().provider(provider).unwrap()),
            model,
        );
        let plan = model_edits(&pick, None, &|_| None).unwrap();
        let path = KeyPath::of(&["model", "api_mode"]);
        plan.config
            .into_iter()
            .find(|(p, _)| *p == path)
            .map(|(_, c)| c)
    };
    let set = |t: &str| Some(Change::Set(s(t)));
    assert_eq!(mode("copilot", "gpt-5.4"), set("codex_responses"));
    assert_eq!(mode("copilot", "gpt-5-mini"), set("chat_completions"));
    assert_eq!(mode("copilot", "claude-sonnet-5"), set("chat_completions"));
    assert_eq!(
        mode("opencode-zen", "opencode-zen/claude-x"),
        set("anthropic_messages")
    );
    assert_eq!(mode("opencode-zen", "gpt-5.5"), set("codex_responses"));
    assert_eq!(mode("opencode-go", "minimax-m3"), set("anthropic_messages"));
    assert_eq!(mode("deepseek", "deepseek-v4-pro"), None);
}

#[test]
fn a_pick_that_cannot_work_is_refused() {
    let provider = |id: &str| EndpointKey::Provider(catalog().provider(id).unwrap());
    let refused = |pick: ModelPick<'_>| model_edits(&pick, None, &|_| None).unwrap_err();
    assert_eq!(
        refused(ModelPick::new(provider("deepseek"), " ")),
        PickError::NoModel
    );
    assert!(matches!(
        refused(ModelPick::new(provider("custom"), "m")),
        PickError::NeedsAddress(_)
    ));
    assert!(matches!(
        refused(ModelPick::new(provider("azure-foundry"), "m")),
        PickError::NeedsAddress(_)
    ));
    let mut typed = ModelPick::new(provider("deepseek"), "m");
    typed.base_url = Some("proxy.example");
    assert!(matches!(refused(typed), PickError::BadAddress(_)));
    assert!(matches!(
        refused(ModelPick::new(EndpointKey::Named("nope"), "m")),
        PickError::NoEndpoint(_)
    ));
}

#[test]
fn addresses_come_from_where_hermes_takes_them() {
    let url = |id: &str, config: Value, env: &dyn Fn(&str) -> Option<String>| {
        let pick = ModelPick::new(EndpointKey::Provider(catalog().provider(id).unwrap()), "m");
        let mut value = config;
        for (path, change) in model_edits(&pick, Some(&value), env).unwrap().config {
            apply(&mut value, &path.0, &change);
        }
        let Value::Map(root) = value else { panic!() };
        let Value::Map(model) = &root[0].1 else {
            panic!()
        };
        model
            .iter()
            .find(|(k, _)| *k == s("base_url"))
            .map(|(_, v)| v.clone())
    };
    let model = |provider: &str, url: &str| {
        Value::Map(vec![(
            s("model"),
            Value::Map(vec![(s("provider"), s(provider)), (s("base_url"), s(url))]),
        )])
    };
    let none = |_: &str| None;
    let lan = "http://10.0.0.5:1234/v1";
    // A server of one's own is kept while the provider stays, and dropped when it changes.
    assert_eq!(url("lmstudio", model("lmstudio", lan), &none), Some(s(lan)));
    assert_eq!(
        url(
            "lmstudio",
            model("deepseek", "https://api.deepseek.com/v1"),
            &none
        ),
        Some(s("http://127.0.0.1:1234/v1"))
    );
    let variable = |n: &str| (n == "LM_BASE_URL").then(|| "http://box:1/v1".to_owned());
    assert_eq!(
        url("lmstudio", model("lmstudio", lan), &variable),
        Some(s("http://box:1/v1"))
    );
    let coding = |n: &str| (n == "KIMI_API_KEY").then(|| "sk-kimi-fake".to_owned());
    assert_eq!(
        url("kimi-coding", model("x", "y"), &coding),
        Some(s("https://api.kimi.com/coding"))
    );
    assert_eq!(url("anthropic", model("custom", lan), &none), None);
    let region = |n: &str| (n == "AWS_REGION").then(|| "eu-west-1".to_owned());
    assert_eq!(
        url("bedrock", model("x", "y"), &region),
        Some(s("https://bedrock-runtime.eu-west-1.amazonaws.com"))
    );
}
