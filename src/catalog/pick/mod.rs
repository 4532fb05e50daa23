//! What picking a model writes, as `hermes model` does it.
//!
//! Responsible for: the changes of `config.yaml` and `.env` for one provider or endpoint and one
//! model. Not responsible for: `auth.json`, which only `hermes` itself writes (signing in, and
//! which sign-in is active), and `_config_version`, which stays as it is.

mod builtin;
mod endpoint;

use super::provider::Provider;
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

#[cfg(test)]
mod tests;
