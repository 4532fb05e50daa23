//! The kit's JSON as Rust values.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hermes_tui::document::{Change, KeyPath, Step, Value};
use serde::Deserialize;
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// One change of one document, and what must come of it.
#[derive(Deserialize)]
pub struct Case {
    pub name: String,
    pub doc: String,
    pub op: Op,
    pub accept: Vec<String>,
    pub expect_data: Option<Json>,
    pub expect_text: Option<String>,
    #[serde(default)]
    pub keep_prefix: usize,
    #[serde(default)]
    pub keep_suffix: usize,
    #[serde(default)]
    pub insert_only: bool,
    #[serde(default)]
    pub keep_comments: Vec<String>,
    #[serde(default)]
    pub restructures: bool,
    #[serde(default = "yes")]
    pub changes: bool,
}

fn yes() -> bool {
    true
}

#[derive(Deserialize)]
pub struct Op {
    pub kind: String,
    pub path: Vec<Json>,
    #[serde(default)]
    pub value: Json,
}

impl Op {
    pub fn path(&self) -> KeyPath {
        KeyPath(self.path.iter().map(step).collect())
    }

    pub fn change(&self) -> Change {
        match self.kind.as_str() {
            "set" => Change::Set(value(&self.value)),
            "append" => Change::Append(value(&self.value)),
            "remove" => Change::Remove,
            "rename" => Change::Rename(self.value.as_str().unwrap().to_owned()),
            other => panic!("unknown kind {other}"),
        }
    }
}

fn step(json: &Json) -> Step {
    match json {
        Json::String(s) => Step::Key(s.clone()),
        Json::Bool(b) => Step::Bool(*b),
        other => Step::Index(other.as_i64().unwrap()),
    }
}

/// A JSON value of an operation.
pub fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(b) => Value::Bool(*b),
        Json::Number(n) => {
            let text = n.to_string();
            if text.contains(['.', 'e', 'E']) {
                Value::Float(n.as_f64().unwrap())
            } else {
                text.parse().map_or(Value::BigInt(text), Value::Int)
            }
        }
        Json::String(s) => Value::Str(s.clone()),
        Json::Array(items) => Value::List(items.iter().map(value).collect()),
        Json::Object(map) => Value::Map(
            map.iter()
                .map(|(k, v)| (Value::Str(k.clone()), value(v)))
                .collect(),
        ),
    }
}

#[derive(Deserialize)]
struct Document {
    input: Option<String>,
    input_b64: Option<String>,
}

/// Every document by name.
pub fn documents() -> BTreeMap<String, Vec<u8>> {
    let all: BTreeMap<String, Document> =
        serde_json::from_str(include_str!("documents.json")).unwrap();
    all.into_iter()
        .map(|(name, document)| {
            let bytes = match (document.input, document.input_b64) {
                (Some(text), _) => text.into_bytes(),
                (_, Some(code)) => STANDARD.decode(code).unwrap(),
                _ => panic!("{name} has no input"),
            };
            (name, bytes)
        })
        .collect()
}

/// Every case.
pub fn all() -> Vec<Case> {
    [
        include_str!("hand.json"),
        include_str!("auto.json"),
        include_str!("strings.json"),
        include_str!("values.json"),
        include_str!("keys.json"),
    ]
    .into_iter()
    .flat_map(|text| serde_json::from_str::<Vec<Case>>(text).unwrap())
    .collect()
}
