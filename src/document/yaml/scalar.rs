//! Writing one scalar so that YAML 1.1 and YAML 1.2 readers agree on it.
//!
//! Responsible for: when a string may stand without quotes, both quoting styles, escapes, and the
//! forms of numbers, booleans and null. Not responsible for: layout over several lines
//! ([`super::render`]).

use super::number::write_float;
use super::typing::{Tag, bool_word, construct, resolve_plain};
use crate::document::Value;
use std::fmt::Write as _;

/// Where a scalar is to stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A value or element in block style.
    Block,
    /// Anywhere inside `[]` or `{}`.
    Flow,
    /// A key in block style.
    Key,
}

/// Quotes to prefer for a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quotes {
    /// None where that is safe, else double.
    Plain,
    Single,
    Double,
}

/// A scalar (or an empty collection) on one line. Non-empty collections have no such form here
/// and come out as `None`.
pub(super) fn write(value: &Value, place: Place, quotes: Quotes) -> Option<String> {
    Some(match value {
        Value::Null => "null".into(),
        Value::Bool(b) => b.to_string(),
        Value::Int(n) => n.to_string(),
        Value::BigInt(digits) => digits.clone(),
        Value::Float(n) => write_float(*n),
        Value::Timestamp(text) => text.clone(),
        Value::Str(text) => string(text, place, quotes),
        Value::List(items) if items.is_empty() => "[]".into(),
        Value::Map(entries) if entries.is_empty() => "{}".into(),
        Value::List(_) | Value::Map(_) => return None,
    })
}

/// Why a value has no form that reads back the same; `None` when it has one.
pub(super) fn unwritable(value: &Value) -> Option<&'static str> {
    match value {
        Value::BigInt(digits) => {
            let body = digits.strip_prefix('-').unwrap_or(digits);
            let ok = !body.is_empty()
                && !body.starts_with('0')
                && body.len() <= 4_300
                && body.bytes().all(|b| b.is_ascii_digit());
            (!ok).then_some("it is not a whole number that Hermes can read")
        }
        Value::Timestamp(text) => {
            let ok =
                resolve_plain(text) == Tag::Timestamp && construct(Tag::Timestamp, text).is_ok();
            (!ok).then_some("no such date or time exists")
        }
        _ => None,
    }
}

/// The word for a boolean in the style of the word that stands there now (`yes`, `Off`).
pub(super) fn bool_like(old: &str, new: bool) -> String {
    let pairs = [("yes", "no"), ("on", "off"), ("true", "false")];
    let lower = old.to_lowercase();
    let Some((t, f)) = pairs.iter().find(|(t, f)| lower == *t || lower == *f) else {
        return new.to_string();
    };
    let word = if new { *t } else { *f };
    if old.len() > 1 && old.bytes().all(|b| b.is_ascii_uppercase()) {
        word.to_uppercase()
    } else if old.starts_with(|c: char| c.is_ascii_uppercase()) {
        word[..1].to_uppercase() + &word[1..]
    } else {
        word.to_owned()
    }
}

/// A string on one line.
pub(super) fn string(text: &str, place: Place, quotes: Quotes) -> String {
    match quotes {
        Quotes::Plain if plain_is_safe(text, place) => text.to_owned(),
        Quotes::Single if text.chars().all(stands_raw) => format!("'{}'", text.replace('\'', "''")),
        _ => double(text),
    }
}

/// A double-quoted string; everything invisible is escaped.
pub(super) fn double(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out += "\\\"",
            '\\' => out += "\\\\",
            '\n' => out += "\\n",
            '\t' => out += "\\t",
            '\r' => out += "\\r",
            '\0' => out += "\\0",
            c if stands_raw(c) => out.push(c),
            c => {
                let n = u32::from(c);
                // Writing to a string cannot fail.
                let _ = match n {
                    0..=0xFF => write!(out, "\\x{n:02X}"),
                    0x100..=0xFFFF => write!(out, "\\u{n:04X}"),
                    _ => write!(out, "\\U{n:08X}"),
                };
            }
        }
    }
    out.push('"');
    out
}

/// Whether a character may stand in quotes as itself: visible, one line, the same for every
/// reader. Joiners are let through because emoji and several scripts are made with them.
pub(super) fn stands_raw(c: char) -> bool {
    !matches!(u32::from(c),
        0..=0x1F | 0x7F..=0x9F
        | 0xA0 | 0xAD | 0x61C | 0x1680 | 0x180E
        | 0x2000..=0x200B | 0x200E | 0x200F | 0x2028..=0x202F | 0x205F..=0x206F
        | 0x3000 | 0xD7FC..=0xF8FF | 0xFEFF | 0xFFF0..=0xFFFC | 0xFFFE | 0xFFFF
        | 0xE0000..=0x10_FFFF)
}

/// Whether a character may stand in a plain scalar.
fn stands_plain(c: char) -> bool {
    stands_raw(c) && !matches!(c, '\u{200c}' | '\u{200d}')
}

/// Whether `text` comes back as the same string from every reader when written without quotes.
pub(super) fn plain_is_safe(text: &str, place: Place) -> bool {
    let Some(first) = text.chars().next() else {
        return false;
    };
    if text.starts_with(' ') || text.ends_with([' ', ':']) || !text.chars().all(stands_plain) {
        return false;
    }
    let second_blank = text[first.len_utf8()..]
        .chars()
        .next()
        .is_none_or(|c| c == ' ');
    let starts_well = match first {
        '-' => !second_blank,
        '?' | ':' => !second_blank && place != Place::Flow,
        ',' | '[' | ']' | '{' | '}' | '#' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%'
        | '@' | '`' => false,
        _ => true,
    };
    if !starts_well || text.contains(": ") || text.contains(" #") {
        return false;
    }
    let marker = text.starts_with("---") || text.starts_with("...");
    match place {
        // A key may come to stand at the start of a line, where a marker ends the document.
        Place::Key if marker => return false,
        Place::Flow if text.contains([',', '[', ']', '{', '}', ':', '?']) => return false,
        _ => {}
    }
    resolve_plain(text) == Tag::Str && !other_readers_differ(text)
}

/// Whether a reader of YAML 1.2, or a strict one of YAML 1.1, takes a text for something else
/// than a string although PyYAML does not.
pub(super) fn other_readers_differ(text: &str) -> bool {
    if bool_word(text).is_some() || matches!(text, "y" | "Y" | "n" | "N") {
        return true;
    }
    let body = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(body, ".inf" | ".Inf" | ".INF" | ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    let all = |s: &str, ok: fn(&u8) -> bool| !s.is_empty() && s.as_bytes().iter().all(ok);
    if let Some(octal) = body.strip_prefix("0o") {
        return all(octal, |b| (b'0'..=b'7').contains(b));
    }
    if let Some(hex) = body.strip_prefix("0x") {
        return all(hex, u8::is_ascii_hexdigit);
    }
    // [0-9]+, or a fraction, with or without an exponent.
    let (mantissa, exponent) = match body.find(['e', 'E']) {
        Some(p) => (&body[..p], Some(&body[p + 1..])),
        None => (body, None),
    };
    if let Some(exponent) = exponent {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        if !all(digits, u8::is_ascii_digit) {
            return false;
        }
    }
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    (!whole.is_empty() || !fraction.is_empty())
        && whole.bytes().all(|b| b.is_ascii_digit())
        && fraction.bytes().all(|b| b.is_ascii_digit())
}
