//! Values as one line of text, secrets hidden.
//!
//! Responsible for: what a row prints. Not responsible for: how a file spells a value.

use crate::catalog::{catalog, is_template, mask};
use crate::document::yaml::scalar_text;
use crate::document::{KeyPath, Step, Value};

use super::view::step_of;

/// A value as one line: text as it is, anything else as a file would spell it on one line.
/// Secrets must have been taken out before ([`hide_secrets`]).
pub fn show(value: &Value) -> String {
    match value {
        Value::Str(s) => s.clone(),
        other => scalar_text(other),
    }
}

/// The value at a path with every secret in it masked, at any depth. `${NAME}` is no secret.
pub fn hide_secrets(path: &KeyPath, value: &Value) -> Value {
    match value {
        Value::Map(fields) => Value::Map(
            fields
                .iter()
                .map(|(k, v)| {
                    let below = step_of(k).map(|s| path.child(s));
                    let hidden = hide_secrets(below.as_ref().unwrap_or(path), v);
                    (k.clone(), hidden)
                })
                .collect(),
        ),
        Value::List(items) => Value::List(
            (0i64..)
                .zip(items)
                .map(|(i, v)| hide_secrets(&path.child(Step::Index(i)), v))
                .collect(),
        ),
        Value::Null | Value::Bool(_) => value.clone(),
        Value::Str(s) if s.is_empty() || is_template(s) => value.clone(),
        other if catalog().is_secret_path(path) => Value::Str(mask(&show(other))),
        other => other.clone(),
    }
}

/// Whether a secret stands at a path or below it.
pub(super) fn holds_secret(path: &KeyPath, value: &Value) -> bool {
    match value {
        Value::Map(fields) => fields
            .iter()
            .any(|(k, v)| step_of(k).is_some_and(|s| holds_secret(&path.child(s), v))),
        Value::List(items) => (0i64..)
            .zip(items)
            .any(|(i, v)| holds_secret(&path.child(Step::Index(i)), v)),
        _ => catalog().is_secret_path(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s(text: &str) -> Value {
        Value::Str(text.to_owned())
    }

    #[test]
    fn values_are_one_line() {
        let map = Value::Map(vec![
            (s("a"), Value::List(vec![s("x, y"), Value::Int(1), s("")])),
            (s("b"), Value::Float(1.0)),
        ]);
        assert_eq!(show(&map), r#"{a: ["x, y", 1, ""], b: 1.0}"#);
        assert_eq!(show(&s("x, y")), "x, y");
    }

    #[test]
    fn secrets_at_any_depth_are_hidden() {
        let entry = Value::Map(vec![
            (s("name"), s("Box")),
            (s("api_key"), s("hunter2hunter2")),
            (
                s("extra_headers"),
                Value::Map(vec![(s("Authorization"), s("Bearer hunter2hunter2"))]),
            ),
        ]);
        let list = Value::List(vec![entry.clone()]);
        for (path, value) in [("custom_providers", list), ("fallback_model", entry)] {
            let text = show(&hide_secrets(&KeyPath::of(&[path]), &value));
            assert!(!text.contains("hunter2hunter2"), "{text}");
            assert!(text.contains("Box") && text.contains("••••"), "{text}");
        }
        let template = Value::Map(vec![(s("Authorization"), s("Bearer ${TOKEN}"))]);
        let path = KeyPath::of(&["mcp_servers", "x", "headers"]);
        assert_eq!(hide_secrets(&path, &template), template);
    }
}
