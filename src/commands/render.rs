//! Values as text and as JSON.
//!
//! Responsible for: the plain form, which is what `hermes config get` prints, and the JSON form.
//! Not responsible for: hiding secrets (the callers know which key a value belongs to).

use serde_json::{Number, Value as Json};

use crate::document::Value;
use crate::document::yaml::plain_typing;

/// A value as Hermes prints it: scalars bare, lists and sections as YAML.
pub fn plain(value: &Value) -> String {
    match value {
        Value::List(items) if !items.is_empty() => {
            let mut out = String::new();
            list(items, 0, &mut out);
            out.trim_end().to_owned()
        }
        Value::Map(entries) if !entries.is_empty() => {
            let mut out = String::new();
            map(entries, 0, &mut out);
            out.trim_end().to_owned()
        }
        Value::List(_) => "[]".to_owned(),
        Value::Map(_) => "{}".to_owned(),
        Value::Str(text) => text.clone(),
        other => bare(other),
    }
}

/// A value as JSON. What JSON cannot hold (dates, infinities, whole numbers beyond 64 bits, keys
/// that are not text) becomes text.
pub fn json(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(b) => Json::Bool(*b),
        Value::Int(i) => {
            Number::from_i128(*i).map_or_else(|| Json::String(i.to_string()), Json::Number)
        }
        Value::BigInt(digits) => Json::String(digits.clone()),
        Value::Float(f) => {
            Number::from_f64(*f).map_or_else(|| Json::String(float(*f)), Json::Number)
        }
        Value::Str(text) | Value::Timestamp(text) => Json::String(text.clone()),
        Value::List(items) => items.iter().map(json).collect(),
        Value::Map(entries) => {
            Json::Object(entries.iter().map(|(k, v)| (plain(k), json(v))).collect())
        }
    }
}

/// A value that stands on one line inside YAML: a scalar, or an empty list or section.
fn line(value: &Value) -> String {
    match value {
        Value::List(_) => "[]".to_owned(),
        Value::Map(_) => "{}".to_owned(),
        Value::Str(text) => quoted(text),
        other => bare(other),
    }
}

fn bare(value: &Value) -> String {
    match value {
        Value::Bool(b) => b.to_string(),
        Value::Int(i) => i.to_string(),
        Value::Float(f) => float(*f),
        Value::BigInt(text) | Value::Timestamp(text) | Value::Str(text) => text.clone(),
        Value::Null | Value::List(_) | Value::Map(_) => "null".to_owned(),
    }
}

/// As Python prints it: the shortest text that reads back, with an exponent below 1e-4 and from
/// 1e16 on.
fn float(f: f64) -> String {
    if f.is_nan() {
        return "nan".to_owned();
    }
    if f.is_infinite() {
        return if f > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let scientific = format!("{f:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        let text = f.to_string();
        if text.contains('.') {
            text
        } else {
            text + ".0"
        }
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{mantissa}e{sign}{:02}", exponent.abs())
    }
}

fn list(items: &[Value], indent: usize, out: &mut String) {
    for item in items {
        out.push_str(&" ".repeat(indent));
        out.push_str("- ");
        match item {
            Value::Map(entries) if !entries.is_empty() => {
                let mut inner = String::new();
                map(entries, indent + 2, &mut inner);
                out.push_str(inner.trim_start());
            }
            Value::List(inner_items) if !inner_items.is_empty() => {
                let mut inner = String::new();
                list(inner_items, indent + 2, &mut inner);
                out.push_str(inner.trim_start());
            }
            scalar => {
                out.push_str(&line(scalar));
                out.push('\n');
            }
        }
    }
}

fn map(entries: &[(Value, Value)], indent: usize, out: &mut String) {
    for (key, value) in entries {
        out.push_str(&" ".repeat(indent));
        out.push_str(&line(key));
        out.push(':');
        match value {
            Value::Map(inner) if !inner.is_empty() => {
                out.push('\n');
                map(inner, indent + 2, out);
            }
            Value::List(items) if !items.is_empty() => {
                out.push('\n');
                list(items, indent, out);
            }
            scalar => {
                out.push(' ');
                out.push_str(&line(scalar));
                out.push('\n');
            }
        }
    }
}

/// Text inside YAML: bare where PyYAML would leave it bare, else quoted.
fn quoted(text: &str) -> String {
    let mut chars = text.chars();
    let starts_well = match (chars.next(), chars.next()) {
        (
            None
            | Some(
                '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%'
                | '@' | '`',
            ),
            _,
        ) => false,
        (Some('?' | ':' | '-'), next) => next.is_some_and(|c| !c.is_whitespace()),
        (Some(_), _) => true,
    };
    let control = text.chars().any(char::is_control);
    let word = starts_well
        && !control
        && text.trim() == text
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.ends_with(':');
    if word && matches!(plain_typing(text), Value::Str(_)) {
        text.to_owned()
    } else if control {
        // JSON's escapes are YAML's as well.
        Json::String(text.to_owned()).to_string()
    } else {
        format!("'{}'", text.replace('\'', "''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s(text: &str) -> Value {
        Value::Str(text.into())
    }

    #[test]
    fn scalars_are_bare() {
        for (value, text) in [
            (Value::Null, "null"),
            (Value::Bool(true), "true"),
            (Value::Int(-5), "-5"),
            (s("off"), "off"),
            (s("b: c"), "b: c"),
            (s("two\nlines"), "two\nlines"),
            (Value::Timestamp("2024-01-02".into()), "2024-01-02"),
            (Value::List(vec![]), "[]"),
            (Value::Map(vec![]), "{}"),
        ] {
            assert_eq!(plain(&value), text);
        }
    }

    #[test]
    fn floats_look_as_python_prints_them() {
        for (f, text) in [
            (1.5, "1.5"),
            (1000.0, "1000.0"),
            (-0.0, "-0.0"),
            (0.0001, "0.0001"),
            (0.000_01, "1e-05"),
            (1.5e-7, "1.5e-07"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.25e100, "1.25e+100"),
            (f64::INFINITY, "inf"),
            (f64::NAN, "nan"),
        ] {
            assert_eq!(float(f), text);
        }
    }

    #[test]
    fn lists_and_sections_are_block_yaml() {
        let value = Value::Map(vec![
            (s("x"), Value::List(vec![Value::Int(1), s("off"), s("")])),
            (s("y"), Value::Map(vec![])),
            (
                s("z"),
                Value::List(vec![
                    Value::Map(vec![(s("a"), s("b: c")), (s("d"), Value::Null)]),
                    Value::List(vec![Value::Bool(false), s("it's")]),
                ]),
            ),
            (s("0042"), Value::Map(vec![(s("deep"), s("tab\there"))])),
        ]);
        assert_eq!(
            plain(&value),
            "x:\n- 1\n- 'off'\n- ''\ny: {}\nz:\n- a: 'b: c'\n  d: null\n- - false\n  - it's\n\
             '0042':\n  deep: \"tab\\there\""
        );
    }

    #[test]
    fn json_keeps_what_it_cannot_hold_as_text() {
        let big = "1".repeat(50);
        let value = Value::List(vec![
            Value::BigInt(big.clone()),
            Value::Float(f64::INFINITY),
            Value::Int(3),
            Value::Map(vec![(Value::Int(429), Value::Bool(true))]),
        ]);
        assert_eq!(
            json(&value).to_string(),
            format!("[\"{big}\",\"inf\",3,{{\"429\":true}}]")
        );
    }
}
