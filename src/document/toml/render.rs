//! Values and keys as TOML text.
//!
//! Responsible for: one-line text of a value. Not responsible for: where it goes.

use std::fmt::Write as _;

use super::{KeyPath, Value, model};

/// A value on one line. `literal` prefers single quotes, as the value it replaces has them.
///
/// # Errors
/// A reason for values that TOML does not have.
pub(super) fn value(value: &Value, literal: bool) -> Result<String, String> {
    let mut out = String::new();
    write(value, literal, &mut out)?;
    Ok(out)
}

fn write(value: &Value, literal: bool, out: &mut String) -> Result<(), String> {
    match value {
        Value::Null => return Err("TOML has no null; take the key out instead".to_owned()),
        Value::Bool(on) => out.push_str(if *on { "true" } else { "false" }),
        Value::Int(n) if i64::try_from(*n).is_ok() => out.push_str(&n.to_string()),
        Value::Int(_) | Value::BigInt(_) => {
            return Err("TOML readers hold whole numbers of 64 bits only".to_owned());
        }
        Value::Float(f) if f.is_nan() => out.push_str("nan"),
        Value::Float(f) => {
            let _ = write!(out, "{f:?}");
        }
        Value::Str(text) => string(text, literal, out),
        Value::Timestamp(text) => out.push_str(text),
        Value::List(items) => {
            out.push('[');
            for (n, item) in items.iter().enumerate() {
                out.push_str(if n > 0 { ", " } else { "" });
                write(item, literal, out)?;
            }
            out.push(']');
        }
        Value::Map(entries) if entries.is_empty() => out.push_str("{}"),
        Value::Map(entries) => {
            out.push_str("{ ");
            for (n, (name, item)) in entries.iter().enumerate() {
                let Value::Str(name) = name else {
                    return Err("TOML keys are strings".to_owned());
                };
                out.push_str(if n > 0 { ", " } else { "" });
                out.push_str(&key(name));
                out.push_str(" = ");
                write(item, literal, out)?;
            }
            out.push_str(" }");
        }
    }
    Ok(())
}

fn string(text: &str, literal: bool, out: &mut String) {
    let plain = |c: char| c == '\t' || (!c.is_control() && c != '\'');
    if (literal || text.contains(['\\', '"'])) && text.chars().all(plain) {
        let _ = write!(out, "'{text}'");
        return;
    }
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// One key, bare where that is allowed.
pub(super) fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(bare) {
        return name.to_owned();
    }
    let mut out = String::new();
    string(name, false, &mut out);
    out
}

/// The keys of a path with dots; indexes belong to headers and are left out.
pub(super) fn dotted(path: &KeyPath, from: usize) -> String {
    let keys: Vec<String> = path.0[from..]
        .iter()
        .filter(|step| !matches!(step, super::Step::Index(_)))
        .map(|step| key(&model::name(step)))
        .collect();
    keys.join(".")
}
