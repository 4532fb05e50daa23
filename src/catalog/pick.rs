//! What picking a model writes, as `hermes model` does it.
//!
//! Responsible for: the changes of `config.yaml` and `.env` for one provider or endpoint and one
//! model. Not responsible for: `auth.json`, which only `hermes` itself writes (signing in, and
//! which sign-in is active), and `_config_version`, which stays as it is.

use super::provider::{Provider, WritesMode};
use super::{catalog, is_template};
use crate::document::{Change, KeyPath, Step, Value};

/// Where the model is served.
#[derive(Debug, Clone, Copy)]
pub enum EndpointKey<'a> {
    /// A provider of the catalogue; `custom` makes or updates an entry of `custom_providers`.
    Provider(&'a Provider),
    /// `providers.<this>` of the file.
    Named(&'a str),
    /// The entry of `custom_providers` with this index.
    Listed(usize),
}

/// What the user picked.
#[derive(Debug, Clone, Copy)]
pub struct ModelPick<'a> {
    /// Where the model is served.
    pub endpoint: EndpointKey<'a>,
    /// The model id, or the preset of a mixture.
    pub model: &'a str,
    /// An address typed by the user.
    pub base_url: Option<&'a str>,
    /// A key typed by the user: goes to `.env`, for a custom endpoint into the file.
    pub api_key: Option<&'a str>,
    /// The wire protocol, where the provider lets one choose.
    pub api_mode: Option<&'a str>,
    /// The region of a cloud provider.
    pub region: Option<&'a str>,
    /// The project of a cloud provider.
    pub project: Option<&'a str>,
    /// The display name of a new custom endpoint.
    pub name: Option<&'a str>,
    /// The context window of a model at a custom endpoint, in tokens.
    pub context_length: Option<i128>,
}

impl<'a> ModelPick<'a> {
    /// A pick without further wishes.
    pub fn new(endpoint: EndpointKey<'a>, model: &'a str) -> Self {
        Self {
            endpoint,
            model,
            base_url: None,
            api_key: None,
            api_mode: None,
            region: None,
            project: None,
            name: None,
            context_length: None,
        }
    }
}

/// The changes of a pick. Values that are already there are left out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PickPlan {
    /// Changes of `config.yaml`, in order.
    pub config: Vec<(KeyPath, Change)>,
    /// Variables of `.env` and their new values.
    pub env: Vec<(String, String)>,
    /// What the user should know. Never contains a secret.
    pub notes: Vec<String>,
}

/// Why a pick cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PickError {
    /// The endpoint has no address of its own and none was given.
    #[error("{0} needs an address (http://… or https://…)")]
    NeedsAddress(String),
    /// The address is none.
    #[error("the address for {0} must begin with http:// or https://")]
    BadAddress(String),
    /// The provider always uses its own address.
    #[error("{0} has no address that can be changed")]
    FixedAddress(String),
    /// There is no such entry in the file.
    #[error("config.yaml has no endpoint {0}")]
    NoEndpoint(String),
    /// The model is empty.
    #[error("a model id is missing")]
    NoModel,
}

/// The changes that make `pick` the main model. `config` is the whole of `config.yaml` (as far as
/// it can be read) and `env` looks a variable up as Hermes would.
pub fn model_edits(
    pick: &ModelPick<'_>,
    config: Option<&Value>,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<PickPlan, PickError> {
    if pick.model.trim().is_empty() {
        return Err(PickError::NoModel);
    }
    let mut work = Work {
        config: config.unwrap_or(&Value::Null),
        env,
        plan: PickPlan::default(),
        model: Vec::new(),
    };
    match pick.endpoint {
        EndpointKey::Provider(p) if p.id == "custom" => work.custom(pick)?,
        EndpointKey::Provider(p) => work.provider(p, pick)?,
        EndpointKey::Named(key) => work.named(key, pick)?,
        EndpointKey::Listed(at) => work.listed(at, pick)?,
    }
    Ok(work.plan)
}

struct Work<'a> {
    config: &'a Value,
    env: &'a dyn Fn(&str) -> Option<String>,
    plan: PickPlan,
    /// Fields for `model`, `None` to take one out.
    model: Vec<(&'static str, Option<Value>)>,
}

impl<'a> Work<'a> {
    fn provider(&mut self, p: &Provider, pick: &ModelPick<'_>) -> Result<(), PickError> {
        let model = own_slug(&p.id, pick.model.trim());
        let url = if p.keeps_url {
            Some(self.address(p, pick)?)
        } else {
            None
        };
        if let (Some(key), Some(name)) = (pick.api_key, p.key_env.first()) {
            self.plan.env.push((name.clone(), key.to_owned()));
            if p.id == "anthropic" {
                // A token, also one from the shell, would be used before the key.
                self.plan
                    .env
                    .push(("ANTHROPIC_TOKEN".into(), String::new()));
            }
        }
        self.set("default", text(model));
        self.set("provider", text(&p.id));
        match url {
            Some(url) => self.set("base_url", text(&url)),
            None => self.remove("base_url"),
        }
        match p.writes_mode {
            WritesMode::Removed => self.remove("api_mode"),
            WritesMode::ChatCompletions => self.set("api_mode", text("chat_completions")),
            WritesMode::ByModel => self.set("api_mode", text(mode_of(&p.id, model))),
            WritesMode::Chosen => self.set(
                "api_mode",
                text(pick.api_mode.unwrap_or("chat_completions")),
            ),
        }
        self.remove("api_key");
        self.remove("api");
        if p.id == "azure-foundry" {
            self.set("auth_mode", text("api_key"));
            self.remove("entra");
        }
        self.write_model();
        self.cloud(p, pick);
        if p.signs_in {
            self.plan.notes.push(format!(
                "{} is used after signing in with `hermes auth`; the sign-in is not part of these files",
                p.label
            ));
        }
        Ok(())
    }

    /// The address that is written, and the variables that go with it.
    fn address(&mut self, p: &Provider, pick: &ModelPick<'_>) -> Result<String, PickError> {
        if let Some(typed) = pick.base_url.map(str::trim).filter(|u| !u.is_empty()) {
            check_url(typed, &p.label)?;
            let Some(name) = &p.url_env else {
                return Err(PickError::FixedAddress(p.label.clone()));
            };
            if p.id != "azure-foundry" {
                self.plan.env.push((name.clone(), typed.to_owned()));
            }
            return Ok(typed.to_owned());
        }
        let own = p.url.clone();
        match p.id.as_str() {
            // Hermes writes its built-in address for these whatever the variables say.
            "openrouter" | "copilot" => own.ok_or_else(|| PickError::NeedsAddress(p.label.clone())),
            _ if p.signs_in => own.ok_or_else(|| PickError::NeedsAddress(p.label.clone())),
            "kimi-coding" => {
                if let Some(name) = p.url_env.as_deref().filter(|n| self.has_env(n)) {
                    // An address of one's own would keep the key from choosing the right one.
                    self.plan.env.push((name.to_owned(), String::new()));
                }
                let typed = pick.api_key.map(str::to_owned);
                let key = typed.or_else(|| p.key_env.iter().find_map(|n| (self.env)(n)));
                let coding = key.is_some_and(|k| k.starts_with("sk-kimi-"));
                if coding {
                    Ok(catalog().providers_meta().kimi_coding_url.clone())
                } else {
                    own.ok_or_else(|| PickError::NeedsAddress(p.label.clone()))
                }
            }
            "bedrock" => {
                let region = self.region(pick, "bedrock", &["AWS_REGION"], "us-east-1");
                Ok(format!("https://bedrock-runtime.{region}.amazonaws.com"))
            }
            _ => {
                let variable = p.url_env.as_deref().and_then(self.env);
                let same = self.model_field("provider").and_then(Value::as_str) == Some(&p.id);
                let kept = self
                    .model_field("base_url")
                    .and_then(Value::as_str)
                    .filter(|_| same);
                variable
                    .filter(|u| !u.trim().is_empty())
                    .or_else(|| kept.filter(|u| !u.is_empty()).map(str::to_owned))
                    .or(own)
                    .ok_or_else(|| PickError::NeedsAddress(p.label.clone()))
            }
        }
    }

    /// Settings beside `model` that two cloud providers keep.
    fn cloud(&mut self, p: &Provider, pick: &ModelPick<'_>) {
        match p.id.as_str() {
            "bedrock" => {
                let region = self.region(pick, "bedrock", &["AWS_REGION"], "us-east-1");
                self.set_path(&["bedrock", "region"], text(&region));
            }
            "vertex" => {
                let project = pick
                    .project
                    .map(str::to_owned)
                    .or_else(|| self.string(&["vertex", "project_id"]))
                    .unwrap_or_default();
                let region = self.region(pick, "vertex", &[], "global");
                // What equals the default and is not in the file stays out of it.
                if !project.is_empty() {
                    self.set_path(&["vertex", "project_id"], text(&project));
                }
                if region != "global" || self.string(&["vertex", "region"]).is_some() {
                    self.set_path(&["vertex", "region"], text(&region));
                }
            }
            "azure-foundry" => {
                for name in ["OPENAI_BASE_URL", "OPENAI_API_KEY"] {
                    if self.has_env(name) {
                        // Helper tasks would use them instead of the new endpoint.
                        self.plan.env.push((name.to_owned(), String::new()));
                        self.plan.notes.push(format!(
                            "{name} is emptied, as hermes does, because helper tasks would use it instead"
                        ));
                    }
                }
            }
            _ => {}
        }
    }

    fn region(&self, pick: &ModelPick<'_>, section: &str, vars: &[&str], last: &str) -> String {
        pick.region
            .map(str::to_owned)
            .or_else(|| self.string(&[section, "region"]))
            .filter(|r| !r.is_empty())
            .or_else(|| vars.iter().find_map(|v| (self.env)(v)))
            .filter(|r| !r.is_empty())
            .unwrap_or_else(|| last.to_owned())
    }

    fn custom(&mut self, pick: &ModelPick<'_>) -> Result<(), PickError> {
        const LABEL: &str = "the custom endpoint";
        let url = pick.base_url.map(str::trim).unwrap_or_default();
        if url.is_empty() {
            return Err(PickError::NeedsAddress(LABEL.to_owned()));
        }
        if !is_template(url) {
            check_url(url, LABEL)?;
        }
        self.endpoint_model(
            pick.model.trim(),
            url,
            pick.api_key.map(text),
            pick.api_mode,
        );
        self.write_model();
        self.list_endpoint(pick, url);
        Ok(())
    }

    /// `model.*` for an endpoint that is written out.
    fn endpoint_model(&mut self, model: &str, url: &str, key: Option<Value>, mode: Option<&str>) {
        let moved = self.model_field("base_url").and_then(Value::as_str) != Some(url);
        self.set("default", text(model));
        self.set("provider", text("custom"));
        self.set("base_url", text(url));
        match mode.filter(|m| !m.is_empty()) {
            Some(mode) => self.set("api_mode", text(mode)),
            None => self.remove("api_mode"),
        }
        match key {
            Some(key) => self.set("api_key", key),
            // Hermes leaves the key of the old endpoint in place, and would send it to the new one.
            None if moved => self.remove("api_key"),
            None => {}
        }
    }

    /// Update the entry of `custom_providers` with this address, or add one.
    fn list_endpoint(&mut self, pick: &ModelPick<'_>, url: &str) {
        let root = KeyPath::of(&["custom_providers"]);
        let bare = |u: &str| u.trim_end_matches('/').to_owned();
        let entries = match field(self.config, "custom_providers") {
            Some(Value::List(entries)) => entries.as_slice(),
            _ => &[],
        };
        let known = entries.iter().position(|e| {
            field(e, "base_url")
                .and_then(Value::as_str)
                .is_some_and(|u| bare(u) == bare(url))
        });
        let window = pick
            .context_length
            .map(|n| map(vec![("context_length", Value::Int(n))]));
        if let Some(at) = known {
            self.update_listed(at, pick.model.trim(), pick.api_mode);
            if let Some(window) = window {
                let path = root
                    .child(index(at))
                    .child(Step::Key("models".into()))
                    .child(Step::Key(pick.model.trim().into()));
                self.plan.config.push((path, Change::Set(window)));
            }
            return;
        }
        let name = pick.name.map_or_else(|| endpoint_name(url), str::to_owned);
        let mut entry = vec![("name", text(&name)), ("base_url", text(url))];
        if let Some(key) = pick.api_key {
            entry.push(("api_key", text(key)));
        }
        entry.push(("model", text(pick.model.trim())));
        if let Some(mode) = pick.api_mode.filter(|m| !m.is_empty()) {
            entry.push(("api_mode", text(mode)));
        }
        let mut entry = map(entry);
        if let (Some(window), Value::Map(fields)) = (window, &mut entry) {
            let models = Value::Map(vec![(text(pick.model.trim()), window)]);
            fields.push((text("models"), models));
        }
        let change = match field(self.config, "custom_providers") {
            Some(Value::List(list)) if !list.is_empty() => Change::Append(entry),
            _ => Change::Set(Value::List(vec![entry])),
        };
        self.plan.config.push((root, change));
    }

    fn update_listed(&mut self, at: usize, model: &str, mode: Option<&str>) {
        let entry = match field(self.config, "custom_providers") {
            Some(Value::List(entries)) => entries.get(at),
            _ => None,
        };
        let path = |name: &str| {
            KeyPath::of(&["custom_providers"])
                .child(index(at))
                .child(Step::Key(name.to_owned()))
        };
        let has = |name: &str| entry.and_then(|e| field(e, name));
        if has("model").and_then(Value::as_str) != Some(model) {
            self.plan
                .config
                .push((path("model"), Change::Set(text(model))));
        }
        match mode.filter(|m| !m.is_empty()) {
            Some(mode) if has("api_mode").and_then(Value::as_str) != Some(mode) => {
                self.plan
                    .config
                    .push((path("api_mode"), Change::Set(text(mode))));
            }
            None if has("api_mode").is_some() => {
                self.plan.config.push((path("api_mode"), Change::Remove));
            }
            _ => {}
        }
    }

    fn listed(&mut self, at: usize, pick: &ModelPick<'_>) -> Result<(), PickError> {
        let missing = || PickError::NoEndpoint(format!("custom_providers.{at}"));
        let entry = match field(self.config, "custom_providers") {
            Some(Value::List(entries)) => entries.get(at).ok_or_else(missing)?,
            _ => return Err(missing()),
        };
        let string = |name: &str| {
            field(entry, name)
                .and_then(Value::as_str)
                .map(str::trim)
                .filter(|s| !s.is_empty())
                .map(str::to_owned)
        };
        let url = string("base_url").ok_or_else(|| {
            PickError::NeedsAddress(string("name").unwrap_or_else(|| "the endpoint".into()))
        })?;
        let key =
            string("api_key").or_else(|| string("key_env").map(|name| format!("${{{name}}}")));
        let mode = string("api_mode");
        self.endpoint_model(
            pick.model.trim(),
            &url,
            key.as_deref().map(text),
            mode.as_deref(),
        );
        self.write_model();
        self.update_listed(at, pick.model.trim(), mode.as_deref());
        Ok(())
    }

    fn named(&mut self, key: &str, pick: &ModelPick<'_>) -> Result<(), PickError> {
        let entry = field(self.config, "providers")
            .and_then(|p| field(p, key))
            .filter(|e| matches!(e, Value::Map(_)))
            .ok_or_else(|| PickError::NoEndpoint(format!("providers.{}", KeyPath::escape(key))))?;
        let mode = ["api_mode", "transport", "apiMode"]
            .iter()
            .find_map(|n| field(entry, n))
            .and_then(Value::as_str)
            .filter(|m| !m.is_empty());
        let id = key.trim().to_lowercase().replace(' ', "-");
        self.set("default", text(pick.model.trim()));
        self.set("provider", text(&format!("custom:{id}")));
        self.remove("base_url");
        self.remove("api_key");
        match mode {
            Some(mode) => self.set("api_mode", text(mode)),
            None => self.remove("api_mode"),
        }
        self.write_model();
        self.set_path(
            &["providers", key, "default_model"],
            text(pick.model.trim()),
        );
        Ok(())
    }

    fn set(&mut self, name: &'static str, value: Value) {
        self.model.push((name, Some(value)));
    }

    fn remove(&mut self, name: &'static str) {
        self.model.push((name, None));
    }

    /// Turn the collected fields into changes of `model`.
    fn write_model(&mut self) {
        let fields = std::mem::take(&mut self.model);
        let root = KeyPath::of(&["model"]);
        match field(self.config, "model") {
            None | Some(Value::Map(_)) => {
                for (name, value) in fields {
                    let path = root.child(Step::Key(name.to_owned()));
                    let now = self.model_field(name);
                    match value {
                        Some(value) if now != Some(&value) => {
                            self.plan.config.push((path, Change::Set(value)));
                        }
                        None if now.is_some() => self.plan.config.push((path, Change::Remove)),
                        _ => {}
                    }
                }
                // Older spellings would win over, or contradict, what was just written.
                for old in ["name", "model", "api_base"] {
                    if self.model_field(old).is_some() {
                        let path = root.child(Step::Key(old.to_owned()));
                        self.plan.config.push((path, Change::Remove));
                    }
                }
            }
            // `model: some/id` becomes a section.
            Some(_) => {
                let section = fields
                    .into_iter()
                    .filter_map(|(name, value)| Some((text(name), value?)))
                    .collect();
                self.plan
                    .config
                    .push((root, Change::Set(Value::Map(section))));
            }
        }
        for old in ["provider", "base_url"] {
            if field(self.config, old).is_some() {
                self.plan.config.push((KeyPath::of(&[old]), Change::Remove));
            }
        }
    }

    fn set_path(&mut self, path: &[&str], value: Value) {
        let now = path
            .iter()
            .try_fold(self.config, |at, name| field(at, name));
        if now != Some(&value) {
            self.plan
                .config
                .push((KeyPath::of(path), Change::Set(value)));
        }
    }

    fn model_field(&self, name: &str) -> Option<&'a Value> {
        field(field(self.config, "model")?, name)
    }

    fn string(&self, path: &[&str]) -> Option<String> {
        path.iter()
            .try_fold(self.config, |at, name| field(at, name))
            .and_then(Value::as_str)
            .map(str::to_owned)
    }

    fn has_env(&self, name: &str) -> bool {
        (self.env)(name).is_some_and(|v| !v.is_empty())
    }
}

/// The wire protocol of a model at a gateway that serves several.
fn mode_of(provider: &str, model: &str) -> &'static str {
    let model = model.to_ascii_lowercase();
    let is = |start: &str| model.starts_with(start);
    match provider {
        "opencode-go" if is("minimax-") || is("qwen") => "anthropic_messages",
        "opencode-zen" if is("claude-") || is("qwen") => "anthropic_messages",
        "opencode-zen" if is("gpt-") => "codex_responses",
        "copilot" if !is("gpt-5-mini") && gpt_generation(&model).is_some_and(|n| n >= 5) => {
            "codex_responses"
        }
        _ => "chat_completions",
    }
}

/// The number in `gpt-5.4`, without its fraction.
fn gpt_generation(model: &str) -> Option<u32> {
    let rest = model.strip_prefix("gpt-")?;
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// The id without the gateway's own name in front (`opencode-zen/kimi-k3`).
fn own_slug<'m>(provider: &str, model: &'m str) -> &'m str {
    if !matches!(provider, "opencode-zen" | "opencode-go") {
        return model;
    }
    match model.split_once('/') {
        Some((head, rest)) if head.eq_ignore_ascii_case(provider) => rest,
        _ => model,
    }
}

/// A name for an endpoint nobody named: its host.
fn endpoint_name(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split('/').next().unwrap_or(rest);
    if host.contains("localhost") || host.contains("127.0.0.1") {
        return format!("Local ({host})");
    }
    if host.to_lowercase().contains("runpod") {
        return format!("RunPod ({host})");
    }
    let mut chars = host.chars();
    chars.next().map_or_else(String::new, |first| {
        first
            .to_uppercase()
            .chain(chars.flat_map(char::to_lowercase))
            .collect()
    })
}

fn check_url(url: &str, label: &str) -> Result<(), PickError> {
    if url.starts_with("http://") || url.starts_with("https://") {
        Ok(())
    } else {
        Err(PickError::BadAddress(label.to_owned()))
    }
}

fn field<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    match value {
        Value::Map(entries) => entries
            .iter()
            .find(|(k, _)| k.as_str() == Some(name))
            .map(|(_, v)| v),
        _ => None,
    }
}

fn text(s: &str) -> Value {
    Value::Str(s.to_owned())
}

fn map(fields: Vec<(&str, Value)>) -> Value {
    Value::Map(fields.into_iter().map(|(k, v)| (text(k), v)).collect())
}

fn index(at: usize) -> Step {
    Step::Index(i64::try_from(at).unwrap_or(i64::MAX))
}
