//! Where a new value goes when the file around it has another shape than the path says.
//!
//! Responsible for: the short form of `model`, lists that do not exist yet, and indices outside of a
//! list. Not responsible for: values, and what the document itself refuses.

use super::Failure;
use super::target::Target;
use crate::catalog::{self, Kind};
use crate::document::yaml::YamlDocument;
use crate::document::{KeyPath, Step, Value};

/// The path with its numbers as indices where Hermes has a list: a document can only tell for what
/// it holds.
pub(super) fn with_indices(path: KeyPath, doc: Option<&YamlDocument>) -> KeyPath {
    let mut out = KeyPath::default();
    for step in path.0 {
        let step = match step {
            Step::Key(text) if !out.0.is_empty() && is_missing_list(&out, doc) => {
                text.parse().map_or(Step::Key(text), Step::Index)
            }
            other => other,
        };
        out = out.child(step);
    }
    out
}

/// The path and the value to write so that `path` holds `value` afterwards.
pub(super) fn placed(
    target: &Target,
    path: &KeyPath,
    value: Value,
    doc: Option<&YamlDocument>,
) -> Result<(KeyPath, Value), Failure> {
    for n in 1..path.0.len() {
        let above = KeyPath(path.0[..n].to_vec());
        let below = &path.0[n + 1..];
        match (doc.and_then(|doc| doc.get(&above)), &path.0[n]) {
            (Some(Value::List(items)), Step::Index(at)) => {
                if usize::try_from(*at).is_ok_and(|at| at < items.len()) {
                    continue;
                }
                return Err(out_of_range(target, &above, *at, items.len()));
            }
            (None | Some(Value::Null), Step::Index(at)) if is_missing_list(&above, doc) => {
                if *at == 0 {
                    return Ok((above, Value::List(vec![nested(below, value)])));
                }
                return Err(out_of_range(target, &above, *at, 0));
            }
            // Hermes takes `model: NAME` for `model: {default: NAME}`.
            (Some(Value::Str(name)), Step::Key(key)) if above == KeyPath::of(&["model"]) => {
                if key == "default" && below.is_empty() {
                    return Ok((above, value));
                }
                let entries = vec![
                    (Value::Str("default".to_owned()), Value::Str(name)),
                    (Value::Str(key.clone()), nested(below, value)),
                ];
                return Ok((above, Value::Map(entries)));
            }
            _ => {}
        }
    }
    Ok((path.clone(), value))
}

fn is_missing_list(path: &KeyPath, doc: Option<&YamlDocument>) -> bool {
    let missing = matches!(doc.and_then(|doc| doc.get(path)), None | Some(Value::Null));
    let setting = catalog::catalog().setting(path);
    missing && setting.is_some_and(|s| s.takes(Kind::List) && !s.takes(Kind::Map))
}

fn out_of_range(target: &Target, list: &KeyPath, at: i64, len: usize) -> Failure {
    let has = match len {
        0 => "has no elements yet".to_owned(),
        1 => "has 1 element, index 0".to_owned(),
        n => format!("has {n} elements, indices 0 to {}", n - 1),
    };
    target
        .failure(format!(
            "was not set: index {at} is out of range, the list {list} {has}"
        ))
        .hint(format!(
            "to add an element give the whole list: hermes-tui set {list} '[…]'"
        ))
}

/// The value below some steps, from the inside out.
fn nested(steps: &[Step], value: Value) -> Value {
    steps.iter().rev().fold(value, |value, step| match step {
        Step::Index(0) => Value::List(vec![value]),
        Step::Index(n) => Value::Map(vec![(Value::Int(i128::from(*n)), value)]),
        Step::Key(key) => Value::Map(vec![(Value::Str(key.clone()), value)]),
        Step::Bool(b) => Value::Map(vec![(Value::Bool(*b), value)]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::yaml::parse_flow_value;
    use crate::plan::parse_config;

    fn place(text: &str, key: &str) -> Result<(String, Value), String> {
        let doc = parse_config(text.as_bytes()).unwrap();
        let path = with_indices(doc.resolve(&KeyPath::split(key)), Some(&doc));
        let target = Target::Config(path.clone());
        placed(&target, &path, Value::Int(1), Some(&doc))
            .map(|(path, value)| (path.to_string(), value))
            .map_err(|failure| failure.message)
    }

    fn flow(text: &str) -> Value {
        parse_flow_value(text).unwrap()
    }

    #[test]
    fn what_fits_stays() {
        assert_eq!(
            place("a: {b: 2}\n", "a.b").unwrap(),
            ("a.b".into(), Value::Int(1))
        );
        assert_eq!(
            place("a: [x, y]\n", "a.1").unwrap(),
            ("a.1".into(), Value::Int(1))
        );
        assert_eq!(place("", "my.0").unwrap(), ("my.0".into(), Value::Int(1)));
    }

    #[test]
    fn a_list_that_is_not_there_begins_with_its_first_element() {
        assert_eq!(
            place("", "toolsets.0").unwrap(),
            ("toolsets".into(), flow("[1]"))
        );
        assert_eq!(
            place("a: 1\n", "fallback_providers.0.model").unwrap(),
            ("fallback_providers".into(), flow("[{model: 1}]"))
        );
        assert!(
            place("", "toolsets.3")
                .unwrap_err()
                .contains("out of range")
        );
    }

    #[test]
    fn an_index_outside_of_a_list_is_refused() {
        let error = place("custom_providers:\n- name: a\n", "custom_providers.5.name").unwrap_err();
        assert!(
            error.contains("index 5") && error.contains("1 element"),
            "{error}"
        );
        assert!(place("a: [1, 2]\n", "a.2").unwrap_err().contains("0 to 1"));
    }

    #[test]
    fn the_short_form_of_model_grows_into_a_section() {
        assert_eq!(
            place("model: vendor/x\n", "model.provider").unwrap(),
            ("model".into(), flow("{default: vendor/x, provider: 1}"))
        );
        assert_eq!(
            place("model: vendor/x\n", "model.default").unwrap(),
            ("model".into(), Value::Int(1))
        );
    }
}
