//! The rows of the Models tab: places where a model is chosen, and the providers to choose from.

use crate::catalog::{self, Provider, SignIn};
use crate::document::yaml::YamlDocument;
use crate::document::{KeyPath, Step, Value};
use crate::session::HermesState;
use crate::settings::{KeyRow, KeyState, Layers};

/// A place where a model is chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot {
    /// Which place.
    pub kind: SlotKind,
    /// The word in front.
    pub label: String,
    /// The provider's id as in the file; empty when none is set.
    pub provider: String,
    /// The model's name as in the file; empty when none is set.
    pub model: String,
    /// What happens while nothing is set.
    pub follows: &'static str,
}

/// Which place of the configuration a slot stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SlotKind {
    /// `model`
    Main,
    /// `fallback_providers[i]`
    Fallback(usize),
    /// The line that adds a fallback.
    AddFallback,
    /// `auxiliary.<task>`
    Auxiliary(String),
}

/// Whether a provider can be used as things stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyStatus {
    /// A key is set; its last four characters.
    Set(String),
    /// A key is needed and missing: the variable to set.
    Missing(String),
    /// A key is set, but Hermes was told to ignore it.
    Suppressed(String),
    /// Sign-in happens in Hermes, not with a key.
    SignIn,
    /// No key is needed.
    NotNeeded,
}

/// A provider that can be chosen.
#[derive(Debug, Clone)]
pub struct ProviderItem {
    /// The id that goes into the file.
    pub id: String,
    /// Its name.
    pub label: String,
    /// What is known of it; `None` for endpoints of the user's own.
    pub info: Option<&'static Provider>,
    /// Where the endpoint stands in `config.yaml`, for those of the user's own.
    pub own: Option<KeyPath>,
    /// Whether it can be used.
    pub key: KeyStatus,
    /// Known model names.
    pub models: Vec<String>,
}

impl ProviderItem {
    /// Whether nothing stands in the way of using it.
    pub fn usable(&self) -> bool {
        matches!(self.key, KeyStatus::Set(_) | KeyStatus::NotNeeded)
    }
}

fn text(doc: &YamlDocument, path: &KeyPath) -> Option<String> {
    match doc.get(path)? {
        Value::Str(s) => Some(s),
        Value::Null => None,
        other => Some(crate::document::yaml::scalar_text(&other)),
    }
}

/// The slots as the staged `config.yaml` has them.
pub fn slots(layers: &Layers<'_>) -> Vec<Slot> {
    let read = |path: &KeyPath| {
        layers
            .config
            .and_then(|d| text(d, path))
            .unwrap_or_default()
    };
    let main_model = match layers.config.and_then(|d| d.get(&KeyPath::of(&["model"]))) {
        // The old form: a bare name in the place of the section.
        Some(Value::Str(name)) => name,
        _ => read(&KeyPath::of(&["model", "default"])),
    };
    let mut out = vec![Slot {
        kind: SlotKind::Main,
        label: "Main".into(),
        provider: read(&KeyPath::of(&["model", "provider"])),
        model: main_model,
        follows: "not set",
    }];
    let fallbacks = KeyPath::of(&["fallback_providers"]);
    if let Some(Value::List(list)) = layers.config.and_then(|d| d.get(&fallbacks)) {
        for i in 0..list.len() {
            let at = fallbacks.child(Step::Index(i64::try_from(i).unwrap_or(i64::MAX)));
            out.push(Slot {
                kind: SlotKind::Fallback(i),
                label: format!("Fallback {}", i + 1),
                provider: read(&at.child(Step::Key("provider".into()))),
                model: read(&at.child(Step::Key("model".into()))),
                follows: "not set",
            });
        }
    }
    out.push(Slot {
        kind: SlotKind::AddFallback,
        label: "+ fallback".into(),
        provider: String::new(),
        model: String::new(),
        follows: "tried when the ones above fail",
    });
    for task in auxiliary_tasks() {
        let provider = read(&KeyPath::of(&["auxiliary", &task, "provider"]));
        let model = read(&KeyPath::of(&["auxiliary", &task, "model"]));
        out.push(Slot {
            kind: SlotKind::Auxiliary(task.clone()),
            label: human(&task),
            provider: if provider == "auto" {
                String::new()
            } else {
                provider
            },
            model,
            follows: "follows main",
        });
    }
    out
}

/// The side tasks that can have a model of their own, as the catalogue lists them.
fn auxiliary_tasks() -> Vec<String> {
    catalog::catalog()
        .settings()
        .iter()
        .filter_map(|s| s.path.strip_prefix("auxiliary.")?.strip_suffix(".provider"))
        .filter(|task| !task.contains(['.', '<']))
        .map(str::to_owned)
        .collect()
}

/// `title_generation` → `Title generation`.
fn human(task: &str) -> String {
    let text = task.replace('_', " ");
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |c| {
        c.to_uppercase().collect::<String>() + chars.as_str()
    })
}

/// All providers: the user's own endpoints and usable ones first, then the rest in Hermes' order.
pub fn provider_items(
    layers: &Layers<'_>,
    keys: &[KeyRow],
    state: &HermesState,
) -> Vec<ProviderItem> {
    let mut out = own_endpoints(layers, keys);
    let mut known: Vec<ProviderItem> = catalog::catalog()
        .providers()
        .iter()
        .map(|p| {
            let mut models: Vec<String> = p.models.clone();
            for name in state.cached_models.get(&p.id).into_iter().flatten() {
                if !models.contains(name) {
                    models.push(name.clone());
                }
            }
            ProviderItem {
                id: p.id.clone(),
                label: p.label.clone(),
                info: Some(p),
                own: None,
                key: key_status(
                    p,
                    keys,
                    state.suppressed.get(&p.id).map_or(&[], Vec::as_slice),
                ),
                models,
            }
        })
        .collect();
    // A stable sort: within both groups Hermes' order stays.
    known.sort_by_key(|p| !matches!(p.key, KeyStatus::Set(_)));
    out.extend(known);
    out
}

/// The last characters of a key, as far as its masked form shows them.
fn tail(row: &KeyRow) -> String {
    row.masked.trim_start_matches('•').to_owned()
}

fn key_status(provider: &Provider, keys: &[KeyRow], suppressed: &[String]) -> KeyStatus {
    let set = provider.key_env.iter().find_map(|name| {
        let row = keys.iter().find(|r| &r.name == name)?;
        (row.state == KeyState::Set || row.state == KeyState::Managed).then_some(row)
    });
    match set {
        Some(row) if suppressed.contains(&format!("env:{}", row.name)) => {
            KeyStatus::Suppressed(row.name.clone())
        }
        Some(row) => KeyStatus::Set(tail(row)),
        None if provider.sign_in == SignIn::OAuth => KeyStatus::SignIn,
        None => match provider.key_env.first() {
            Some(name) if provider.needs_key() => KeyStatus::Missing(name.clone()),
            _ => KeyStatus::NotNeeded,
        },
    }
}

/// Endpoints that the user has defined: `providers.<id>` and the older `custom_providers` list.
fn own_endpoints(layers: &Layers<'_>, keys: &[KeyRow]) -> Vec<ProviderItem> {
    let Some(doc) = layers.config else {
        return Vec::new();
    };
    let mut out = Vec::new();
    let mut add = |id: String, at: KeyPath, entry: &[(Value, Value)]| {
        let field = |names: &[&str]| {
            names.iter().find_map(|n| {
                entry
                    .iter()
                    .find(|(k, _)| k.as_str() == Some(n))
                    .and_then(|(_, v)| v.as_str())
            })
        };
        let mut models: Vec<String> = match entry
            .iter()
            .find(|(k, _)| k.as_str() == Some("models"))
            .map(|(_, v)| v)
        {
            Some(Value::Map(map)) => map
                .iter()
                .filter_map(|(k, _)| k.as_str().map(str::to_owned))
                .collect(),
            Some(Value::List(list)) => list
                .iter()
                .filter_map(|v| v.as_str().map(str::to_owned))
                .collect(),
            _ => Vec::new(),
        };
        if let Some(one) = field(&["default_model", "model"])
            && !models.iter().any(|m| m == one)
        {
            models.insert(0, one.to_owned());
        }
        let key = match field(&["key_env"]) {
            Some(name) => match keys.iter().find(|r| r.name == name) {
                Some(row) if row.state == KeyState::Set || row.state == KeyState::Managed => {
                    KeyStatus::Set(tail(row))
                }
                _ => KeyStatus::Missing(name.to_owned()),
            },
            None => KeyStatus::NotNeeded,
        };
        let label = field(&["name"]).unwrap_or(&id).to_owned();
        out.push(ProviderItem {
            id,
            label,
            info: None,
            own: Some(at),
            key,
            models,
        });
    };
    if let Some(Value::Map(map)) = doc.get(&KeyPath::of(&["providers"])) {
        for (name, entry) in &map {
            if let (Some(name), Value::Map(entry)) = (name.as_str(), entry)
                && catalog::catalog().provider(name).is_none()
            {
                add(
                    format!("custom:{name}"),
                    KeyPath::of(&["providers", name]),
                    entry,
                );
            }
        }
    }
    if let Some(Value::List(list)) = doc.get(&KeyPath::of(&["custom_providers"])) {
        for (i, entry) in list.iter().enumerate() {
            if let Value::Map(entry) = entry {
                let at = KeyPath::of(&["custom_providers"])
                    .child(Step::Index(i64::try_from(i).unwrap_or(i64::MAX)));
                add("custom".into(), at, entry);
            }
        }
    }
    out
}
