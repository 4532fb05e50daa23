//! Runs one edit from standard input and prints the result as JSON: the adapter that external
//! test kits use.
//!
//! Input `{"input_b64": ..., "op": {"kind": ..., "path": [...], "value": ...}}`, output
//! `{"output_b64": ...}` or `{"error": ...}`.
#![allow(clippy::print_stdout)]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hermes_tui::document::yaml::YamlDocument;
use hermes_tui::document::{Change, KeyPath, Step, Value};
use serde_json::Value as Json;
use std::io::Read as _;

fn main() {
    let mut text = String::new();
    let answer = match std::io::stdin().read_to_string(&mut text) {
        Ok(_) => run(&text),
        Err(error) => Err(error.to_string()),
    };
    let json = match answer {
        Ok(bytes) => serde_json::json!({ "output_b64": STANDARD.encode(bytes) }),
        Err(error) => serde_json::json!({ "error": error }),
    };
    println!("{json}");
}

fn run(request: &str) -> Result<Vec<u8>, String> {
    let request: Json = serde_json::from_str(request).map_err(|e| e.to_string())?;
    let input = STANDARD
        .decode(request["input_b64"].as_str().ok_or("no input_b64")?)
        .map_err(|e| e.to_string())?;
    let op = &request["op"];
    let steps = op["path"].as_array().ok_or("no path")?;
    let path = KeyPath(steps.iter().map(step).collect::<Result<_, _>>()?);
    let value = || from_json(&op["value"]);
    let change = match op["kind"].as_str() {
        Some("set") => Change::Set(value()),
        Some("append") => Change::Append(value()),
        Some("remove") => Change::Remove,
        Some("rename") => Change::Rename(op["value"].as_str().ok_or("no name")?.to_owned()),
        Some("insert") => Change::Insert(index(&op["at"])?, value()),
        Some("move") => Change::Move {
            from: index(&op["from"])?,
            to: index(&op["to"])?,
        },
        _ => return Err("unknown kind of change".into()),
    };
    let document = YamlDocument::parse(&input).map_err(|e| e.to_string())?;
    let edited = document.edit(&path, &change).map_err(|e| e.to_string())?;
    Ok(edited.bytes)
}

fn index(json: &Json) -> Result<usize, String> {
    json.as_u64()
        .and_then(|n| usize::try_from(n).ok())
        .ok_or_else(|| "not an index".into())
}

fn step(json: &Json) -> Result<Step, String> {
    match json {
        Json::String(s) => Ok(Step::Key(s.clone())),
        Json::Bool(b) => Ok(Step::Bool(*b)),
        Json::Number(n) => n
            .as_i64()
            .map(Step::Index)
            .ok_or_else(|| "a step is no whole number".into()),
        _ => Err("a step is neither text nor a number".into()),
    }
}

fn from_json(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(b) => Value::Bool(*b),
        Json::Number(n) => {
            let text = n.to_string();
            if text.contains(['.', 'e', 'E']) {
                Value::Float(n.as_f64().unwrap_or(f64::NAN))
            } else {
                text.parse().map_or(Value::BigInt(text), Value::Int)
            }
        }
        Json::String(s) => Value::Str(s.clone()),
        Json::Array(items) => Value::List(items.iter().map(from_json).collect()),
        Json::Object(map) => Value::Map(
            map.iter()
                .map(|(k, v)| (Value::Str(k.clone()), from_json(v)))
                .collect(),
        ),
    }
}
