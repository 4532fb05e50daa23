//! Whether what came out of a change is what the kit asks for.

use super::cases::{Case, value};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hermes_tui::document::yaml::{YamlDocument, plain_typing};
use hermes_tui::document::{KeyPath, Step, Value};
use serde_json::Value as Json;

/// Compare the output of a change with the case; the error says what is wrong.
pub fn judge(case: &Case, input: &[u8], output: &[u8]) -> Result<(), String> {
    let document = YamlDocument::parse(output).map_err(|e| format!("unreadable: {e}"))?;
    let want = case.expect_data.as_ref().ok_or("no data to compare")?;
    if !same(want, &document.root()) {
        return Err(format!("data: want {want}, got {:?}", document.root()));
    }
    if case.changes && input == output {
        return Err("nothing changed".into());
    }
    let (head, tail) = (case.keep_prefix, case.keep_suffix);
    if output.len() < head + tail || output[..head] != input[..head] {
        return Err("bytes in front of the change moved".into());
    }
    if output[output.len() - tail..] != input[input.len() - tail..] {
        return Err("bytes behind the change moved".into());
    }
    if case.insert_only {
        let front = input.iter().zip(output).take_while(|(a, b)| a == b);
        let front = front.count();
        let back = input.iter().rev().zip(output.iter().rev());
        let back = back.take_while(|(a, b)| a == b).count();
        if front + back < input.len() {
            return Err("not one insertion".into());
        }
    }
    let text = String::from_utf8_lossy(&output[head..output.len() - tail]).into_owned();
    let mut from = 0;
    for comment in &case.keep_comments {
        match text[from..].find(comment.as_str()) {
            Some(at) => from += at + comment.len(),
            None => return Err(format!("lost the comment {comment:?}")),
        }
    }
    let signs = |bytes: &[u8]| bytes.iter().filter(|b| **b == b'#').count();
    let asked = format!("{:?} {}", case.op.path, case.op.value);
    if signs(output) > signs(input) + signs(asked.as_bytes()) {
        return Err("a comment appeared".into());
    }
    let fixed_tail = case.op.kind == "rename"
        || (case.op.kind == "set" && !case.insert_only && !case.restructures);
    if fixed_tail && final_breaks(input) != final_breaks(output) {
        return Err("line breaks at the end of the file changed".into());
    }
    let (before, after) = (breaks(input), breaks(output));
    if before.len() == 1 && after.iter().any(|kind| !before.contains(kind)) {
        return Err("line breaks are mixed".into());
    }
    Ok(())
}

/// Whether the exact text is left out of the comparison, by rule: the file says so already, a
/// string is quoted because another reader than PyYAML would type it, a boolean keeps the words
/// of the file, or a file with lone CRs gets CRs and no LF.
pub fn other_text_is_right(case: &Case, input: &[u8]) -> bool {
    let strings = [Some(&case.op.value), case.op.path.last()];
    let quoted = strings
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
        .any(|s| matches!(plain_typing(s), Value::Str(_)) && typed_elsewhere(s));
    let in_words = case.op.value.is_boolean() && {
        let raw = YamlDocument::parse(input)
            .ok()
            .and_then(|d| d.raw(&case.op.path()).map(str::to_lowercase));
        matches!(raw.as_deref(), Some("yes" | "no" | "on" | "off"))
    };
    let lone_cr = breaks(input) == ["\r"];
    // PyYAML reads a line that starts so as the end of the document.
    let marker = matches!(
        case.op.path.last().and_then(Json::as_str),
        Some("---" | "...")
    ) || matches!(case.op.value.as_str(), Some("---" | "..."));
    !case.changes || quoted || in_words || lone_cr || marker
}

/// Whether YAML 1.2's core schema, or the boolean words of YAML 1.1, would type a text.
fn typed_elsewhere(text: &str) -> bool {
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let body = text.trim_start_matches(['+', '-']);
    let number = body
        .strip_suffix(|c: char| c.is_ascii_digit() || c == '.')
        .is_some()
        && body.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && body.parse::<f64>().is_ok();
    let octal = body
        .strip_prefix("0o")
        .is_some_and(|s| digits(s) && !s.contains(['8', '9']));
    matches!(text, "y" | "Y" | "n" | "N") || number || octal
}

/// Kinds of line breaks in use.
fn breaks(bytes: &[u8]) -> Vec<&'static str> {
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\u{1}");
    [("\u{1}", "\r\n"), ("\n", "\n"), ("\r", "\r")]
        .into_iter()
        .filter(|(mark, _)| text.contains(mark))
        .map(|(_, kind)| kind)
        .collect()
}

fn final_breaks(bytes: &[u8]) -> usize {
    let breaks = bytes.iter().rev();
    breaks.take_while(|b| matches!(b, b'\r' | b'\n')).count()
}

/// Whether a value is what the kit's JSON says, types and all; order of keys does not matter.
pub fn same(want: &Json, got: &Value) -> bool {
    match (want, got) {
        (Json::Array(a), Value::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(x, y)| same(x, y))
        }
        (Json::Object(map), _) => match map.iter().next() {
            Some((tag, inner)) if map.len() == 1 && tag.starts_with('$') => tagged(tag, inner, got),
            _ => {
                let Value::Map(entries) = got else {
                    return false;
                };
                map.len() == entries.len()
                    && entries.iter().all(|(k, v)| {
                        k.as_str()
                            .and_then(|name| map.get(name))
                            .is_some_and(|want| same(want, v))
                    })
            }
        },
        (Json::Array(_), _) => false,
        (scalar, got) => value(scalar) == *got,
    }
}

fn tagged(tag: &str, inner: &Json, got: &Value) -> bool {
    let text = inner.as_str().unwrap_or("");
    if tag == "$chain" {
        return chained(inner, got);
    }
    match (tag, got) {
        ("$int", Value::Int(n)) => n.to_string() == text,
        ("$int", Value::BigInt(n)) => n == text,
        ("$float", Value::Float(f)) => {
            let want: f64 = text.parse().unwrap();
            want.to_bits() == f.to_bits() || (want.is_nan() && f.is_nan())
        }
        ("$date" | "$datetime", Value::Timestamp(t)) => iso(t) == text,
        ("$bytes", Value::Str(s)) => {
            let code: String = s.chars().filter(|c| !c.is_whitespace()).collect();
            STANDARD.decode(code).unwrap() == STANDARD.decode(text).unwrap()
        }
        ("$set", Value::Map(entries)) => {
            let items = inner.as_array().unwrap();
            items.len() == entries.len()
                && entries
                    .iter()
                    .all(|(k, v)| *v == Value::Null && items.iter().any(|item| same(item, k)))
        }
        ("$map", Value::Map(entries)) => {
            let pairs = inner.as_array().unwrap();
            pairs.len() == entries.len()
                && entries.iter().all(|(k, v)| {
                    pairs
                        .iter()
                        .any(|pair| same(&pair[0], k) && same(&pair[1], v))
                })
        }
        _ => false,
    }
}

/// `[steps, inner]`: collections with one entry each, one inside the other, and what is inside.
fn chained(chain: &Json, got: &Value) -> bool {
    let mut here = got;
    for step in chain[0].as_array().unwrap() {
        here = match (step.as_str(), here) {
            (Some(name), Value::Map(entries))
                if entries.len() == 1 && entries[0].0.as_str() == Some(name) =>
            {
                &entries[0].1
            }
            (None, Value::List(items)) if items.len() == 1 => &items[0],
            _ => return false,
        };
    }
    same(&chain[1], here)
}

/// A YAML timestamp as Python's `isoformat` writes it.
fn iso(text: &str) -> String {
    let Some(at) = text.find(['T', 't', ' ', '\t']) else {
        return text.to_owned();
    };
    let pad = |s: &str, n: usize| format!("{s:0>n$}");
    let day: Vec<_> = text[..at].split('-').map(|p| pad(p, 2)).collect();
    let rest = text[at + 1..].trim();
    let zone_at = rest.find(['Z', '+', '-', ' ']).unwrap_or(rest.len());
    let (clock, zone) = rest.split_at(zone_at);
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let clock: Vec<_> = clock.split(':').map(|p| pad(p, 2)).collect();
    let mut out = format!("{}T{}", day.join("-"), clock.join(":"));
    if fraction.bytes().any(|b| b != b'0') {
        let digits: String = fraction.chars().chain("000000".chars()).take(6).collect();
        if digits != "000000" {
            out += &format!(".{digits}");
        }
    }
    match zone.trim() {
        "" => {}
        "Z" => out += "+00:00",
        zone => {
            let (hour, minute) = zone[1..].split_once(':').unwrap_or((&zone[1..], "0"));
            let minutes: u32 = hour.parse::<u32>().unwrap() * 60 + minute.parse::<u32>().unwrap();
            let sign = if minutes == 0 { "+" } else { &zone[..1] };
            out += &format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60);
        }
    }
    out
}

/// Whether a path can be given to the engine at all.
pub fn spoken(path: &KeyPath) -> String {
    let steps = path.0.iter().map(|step| match step {
        Step::Key(name) => format!("{name:?}"),
        other => other.to_string(),
    });
    steps.collect::<Vec<_>>().join(" → ")
}
