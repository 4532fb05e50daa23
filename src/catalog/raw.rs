//! The shape of the files under `assets/`, and their parse.
//!
//! Responsible for: TOML text → the catalogue's own types. Not responsible for: look-ups.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};

use crate::document::Value;

/// A TOML table in file order.
pub(super) struct Ordered<T>(pub(super) Vec<(String, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Ordered<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = Ordered<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut out = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    out.push(entry);
                }
                Ok(Ordered(out))
            }
        }
        deserializer.deserialize_map(Entries(PhantomData))
    }
}

/// A file of `[meta]` and tables in sections, in file order.
pub(super) struct Sectioned<M, T> {
    pub(super) meta: M,
    pub(super) sections: Vec<(String, Ordered<T>)>,
}

impl<'de, M: Deserialize<'de>, T: Deserialize<'de>> Deserialize<'de> for Sectioned<M, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Sections<M, T>(PhantomData<(M, T)>);
        impl<'de, M: Deserialize<'de>, T: Deserialize<'de>> Visitor<'de> for Sections<M, T> {
            type Value = Sectioned<M, T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("[meta] and sections")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut meta = None;
                let mut sections = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    if name == "meta" {
                        meta = Some(map.next_value()?);
                    } else {
                        sections.push((name, map.next_value()?));
                    }
                }
                let meta = meta.ok_or_else(|| serde::de::Error::missing_field("meta"))?;
                Ok(Sectioned { meta, sections })
            }
        }
        deserializer.deserialize_map(Sections(PhantomData))
    }
}

/// One table of `settings.toml`; the head of that file explains the fields.
#[allow(clippy::struct_excessive_bools)] // independent facts, not a state
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Setting {
    pub(super) help: String,
    pub(super) r#type: String,
    pub(super) item: Option<String>,
    pub(super) default: Option<toml::Value>,
    pub(super) cli_default: Option<toml::Value>,
    pub(super) nullable: bool,
    pub(super) optional: bool,
    pub(super) choices: Vec<toml::Value>,
    pub(super) open: bool,
    pub(super) suggest: Vec<String>,
    pub(super) child_choices: Vec<String>,
    pub(super) min: Option<f64>,
    pub(super) max: Option<f64>,
    pub(super) enforced: bool,
    pub(super) unit: Option<String>,
    pub(super) apply: Option<String>,
    pub(super) env: Option<String>,
    pub(super) env_wins: Option<bool>,
    pub(super) secret: bool,
    pub(super) secret_values: bool,
    pub(super) deprecated: bool,
    pub(super) dead: bool,
    pub(super) readonly: bool,
    pub(super) by_hermes: bool,
    pub(super) bare_words: bool,
    pub(super) replaced_by: Option<String>,
    pub(super) names: Vec<String>,
    pub(super) words: Vec<String>,
    pub(super) note: Option<String>,
}

/// `[meta]` of `settings.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SettingsMeta {
    pub(super) hermes: String,
    pub(super) config_version: i64,
    pub(super) hook_events: Vec<String>,
    pub(super) toolsets: Vec<String>,
    pub(super) platforms: Vec<String>,
}

/// One table of `keys.toml`; the head of that file explains the fields.
#[allow(clippy::struct_excessive_bools)] // independent facts, not a state
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Key {
    pub(super) help: String,
    pub(super) r#type: Option<String>,
    pub(super) secret: bool,
    pub(super) advanced: bool,
    pub(super) source: Option<String>,
    pub(super) provider: Option<String>,
    pub(super) url: Option<String>,
    pub(super) aliases: Vec<String>,
    pub(super) choices: Vec<String>,
    pub(super) mirrors: Option<String>,
    pub(super) mirror_wins: Option<String>,
    pub(super) prefixes: Vec<String>,
    pub(super) prefixes_guess: bool,
    pub(super) format: Option<String>,
    pub(super) tools: Vec<String>,
    pub(super) related: Option<String>,
    pub(super) deprecated: bool,
    pub(super) replaced_by: Option<String>,
    pub(super) risky: bool,
    pub(super) process_only: bool,
    pub(super) denied: bool,
    pub(super) note: Option<String>,
}

/// `[meta]` of `keys.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeysMeta {
    pub(super) denied: Vec<String>,
    pub(super) denied_later: Vec<String>,
    pub(super) placeholders: Vec<String>,
    pub(super) min_length: usize,
    pub(super) credential_endings: Vec<String>,
    pub(super) secret_starts: Vec<SecretStart>,
    pub(super) probe: Ordered<String>,
    pub(super) terminal: Ordered<String>,
}

/// How one family of secrets begins.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SecretStart {
    pub(super) start: String,
    pub(super) more: usize,
    #[serde(default)]
    pub(super) also: String,
}

/// The whole of `providers.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Providers {
    pub(super) meta: ProvidersMeta,
    pub(super) group: Ordered<Group>,
    pub(super) provider: Ordered<Provider>,
}

/// `[meta]` of `providers.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProvidersMeta {
    pub(super) auto_order: Vec<String>,
    pub(super) kimi_coding_url: String,
}

/// A family of providers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Group {
    pub(super) label: String,
    pub(super) members: Vec<String>,
}

/// One table of `providers.toml`; the head of that file explains the fields.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Provider {
    pub(super) label: String,
    pub(super) help: String,
    pub(super) kind: Option<String>,
    pub(super) key_env: Vec<String>,
    pub(super) url_env: Option<String>,
    pub(super) url: Option<String>,
    pub(super) api_mode: Option<String>,
    pub(super) signup: Option<String>,
    pub(super) aliases: Vec<String>,
    pub(super) loose_aliases: Vec<String>,
    pub(super) keeps_url: Option<bool>,
    pub(super) writes_mode: Option<String>,
    pub(super) also_writes: Vec<String>,
    pub(super) signs_in: bool,
    pub(super) verified: bool,
    pub(super) model: Option<String>,
    pub(super) aux_model: Option<String>,
    pub(super) models: Vec<String>,
    pub(super) note: Option<String>,
}

/// A TOML value as a document value.
pub(super) fn value(from: toml::Value) -> Value {
    match from {
        toml::Value::String(s) => Value::Str(s),
        toml::Value::Integer(i) => Value::Int(i.into()),
        toml::Value::Float(f) => Value::Float(f),
        toml::Value::Boolean(b) => Value::Bool(b),
        toml::Value::Datetime(d) => Value::Timestamp(d.to_string()),
        toml::Value::Array(items) => Value::List(items.into_iter().map(value).collect()),
        toml::Value::Table(entries) => Value::Map(
            entries
                .into_iter()
                .map(|(k, v)| (Value::Str(k), value(v)))
                .collect(),
        ),
    }
}
