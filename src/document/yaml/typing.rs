//! What PyYAML's safe loader makes of a scalar (YAML 1.1 with PyYAML's own expressions).
//!
//! Responsible for: the type of a plain scalar, the value of a typed one, and which texts the
//! constructor refuses. Not responsible for: quoting and folding (the parser has undone them).

use super::date::{is_timestamp, timestamp_fault};
use super::event::Fault;
use super::number;
use crate::document::Value;

/// The resolved type of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    Null,
    Bool,
    Int,
    Float,
    Str,
    Timestamp,
    /// `!!binary`
    Binary,
    /// A plain `<<`.
    Merge,
    /// A plain `=`.
    Value,
    Seq,
    Map,
    /// `!!set`
    Set,
    /// `!!omap`
    Omap,
    /// `!!pairs`
    Pairs,
}

impl Tag {
    /// The type that an explicit tag names.
    pub(super) fn named(name: &str, at: usize) -> Result<Self, Fault> {
        Ok(match name.strip_prefix("tag:yaml.org,2002:") {
            Some("null") => Self::Null,
            Some("bool") => Self::Bool,
            Some("int") => Self::Int,
            Some("float") => Self::Float,
            Some("str") => Self::Str,
            Some("timestamp") => Self::Timestamp,
            Some("binary") => Self::Binary,
            Some("merge") => Self::Merge,
            Some("value") => Self::Value,
            Some("seq") => Self::Seq,
            Some("map") => Self::Map,
            Some("set") => Self::Set,
            Some("omap") => Self::Omap,
            Some("pairs") => Self::Pairs,
            _ => return Err(Fault::new(at, "Hermes does not know this tag")),
        })
    }

    /// Whether PyYAML reads the content of such a node as one scalar.
    pub(super) fn is_scalar(self) -> bool {
        !matches!(
            self,
            Self::Seq | Self::Map | Self::Set | Self::Omap | Self::Pairs
        )
    }
}

/// The type that PyYAML guesses for a plain scalar.
pub(super) fn resolve_plain(text: &str) -> Tag {
    let Some(&first) = text.as_bytes().first() else {
        return Tag::Null;
    };
    match first {
        b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' => {
            if bool_word(text).is_some() {
                Tag::Bool
            } else if matches!(text, "null" | "Null" | "NULL") {
                Tag::Null
            } else {
                Tag::Str
            }
        }
        b'~' if text == "~" => Tag::Null,
        b'<' if text == "<<" => Tag::Merge,
        b'=' if text == "=" => Tag::Value,
        b'-' | b'+' | b'.' | b'0'..=b'9' => {
            if is_float(text) {
                Tag::Float
            } else if is_int(text) {
                Tag::Int
            } else if is_timestamp(text) {
                Tag::Timestamp
            } else {
                Tag::Str
            }
        }
        _ => Tag::Str,
    }
}

/// The words that are true or false without a tag.
pub(super) fn bool_word(text: &str) -> Option<bool> {
    match text {
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Some(true),
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}

/// The value of a scalar of this type, or why PyYAML refuses it.
///
/// The reason is a sentence without a final stop and without the text.
pub(super) fn construct(tag: Tag, text: &str) -> Result<Value, &'static str> {
    Ok(match tag {
        Tag::Null => Value::Null,
        Tag::Bool => match text.to_lowercase().as_str() {
            "yes" | "true" | "on" => Value::Bool(true),
            "no" | "false" | "off" => Value::Bool(false),
            _ => return Err("this is tagged as true or false and is neither"),
        },
        Tag::Int => number::int(text)?,
        Tag::Float => number::float(text)?,
        Tag::Str => Value::Str(text.to_owned()),
        Tag::Timestamp => {
            timestamp_fault(text).map_or(Ok(()), Err)?;
            Value::Timestamp(text.to_owned())
        }
        Tag::Binary => {
            base64_fault(text).map_or(Ok(()), Err)?;
            Value::Str(text.to_owned())
        }
        Tag::Merge => return Err("a plain << stands where a value is expected; quote it"),
        Tag::Value => return Err("a plain = stands where a value is expected; quote it"),
        Tag::Seq | Tag::Omap | Tag::Pairs => {
            return Err("this is tagged as a list and is not one");
        }
        Tag::Map | Tag::Set => return Err("this is tagged as a mapping and is not one"),
    })
}

/// Why PyYAML refuses the scalar, without building its value.
pub(super) fn refused(tag: Tag, text: &str) -> Option<&'static str> {
    match tag {
        Tag::Null | Tag::Str => None,
        Tag::Timestamp => timestamp_fault(text),
        Tag::Int => number::int_fault(text),
        Tag::Float => number::float_fault(text),
        _ => construct(tag, text).err(),
    }
}

/// A scanner over bytes; each step says whether it took something.
#[derive(Clone, Copy)]
pub(super) struct Scan<'t> {
    pub rest: &'t [u8],
}

impl<'t> Scan<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            rest: text.as_bytes(),
        }
    }
    /// Take one byte that satisfies `want`.
    pub(super) fn one(&mut self, want: impl Fn(u8) -> bool) -> bool {
        match self.rest {
            [b, rest @ ..] if want(*b) => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }
    pub(super) fn byte(&mut self, want: u8) -> bool {
        self.one(|b| b == want)
    }
    /// Take as many as there are; returns how many.
    pub(super) fn many(&mut self, want: impl Fn(u8) -> bool + Copy) -> usize {
        let n = self.rest.iter().take_while(|b| want(**b)).count();
        self.rest = &self.rest[n..];
        n
    }
    /// Take between `low` and `high` digits.
    pub(super) fn digits(&mut self, low: usize, high: usize) -> Option<u32> {
        let n = self
            .rest
            .iter()
            .take(high)
            .take_while(|b| b.is_ascii_digit())
            .count();
        if n < low {
            return None;
        }
        let (taken, rest) = self.rest.split_at(n);
        self.rest = rest;
        Some(taken.iter().fold(0, |a, b| a * 10 + u32::from(b - b'0')))
    }
    pub(super) fn done(&self) -> bool {
        self.rest.is_empty()
    }
}

pub(super) fn digit(b: u8) -> bool {
    b.is_ascii_digit()
}
fn digit_or_bar(b: u8) -> bool {
    b.is_ascii_digit() || b == b'_'
}
pub(super) fn sign(b: u8) -> bool {
    b == b'+' || b == b'-'
}

/// `[eE][-+][0-9]+` or nothing, then the end.
fn exponent_then_end(mut s: Scan<'_>) -> bool {
    if s.one(|b| b == b'e' || b == b'E') {
        return s.one(sign) && s.many(digit) > 0 && s.done();
    }
    s.done()
}

/// `(:[0-5]?[0-9])+`; the scanner stands behind it.
fn sexagesimal(s: &mut Scan<'_>) -> bool {
    let mut any = false;
    while s.byte(b':') {
        let mut long = *s;
        if long.one(|b| (b'0'..=b'5').contains(&b)) && long.one(digit) {
            *s = long;
        } else if !s.one(digit) {
            return false;
        }
        any = true;
    }
    any
}

fn is_float(text: &str) -> bool {
    let mut s = Scan::new(text);
    // `.5`, without a sign
    let mut t = s;
    if t.byte(b'.') && t.one(digit) {
        t.many(digit_or_bar);
        if exponent_then_end(t) {
            return true;
        }
    }
    if matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    s.one(sign);
    if matches!(s.rest, b".inf" | b".Inf" | b".INF") {
        return true;
    }
    if !s.one(digit) {
        return false;
    }
    s.many(digit_or_bar);
    let mut t = s;
    if t.byte(b'.') {
        t.many(digit_or_bar);
        return exponent_then_end(t);
    }
    if sexagesimal(&mut s) && s.byte(b'.') {
        s.many(digit_or_bar);
        return s.done();
    }
    false
}

fn is_int(text: &str) -> bool {
    let mut s = Scan::new(text);
    s.one(sign);
    let body = s;
    if s.byte(b'0') {
        if s.done() {
            return true;
        }
        let mut t = s;
        if t.byte(b'b') {
            return t.many(|b| matches!(b, b'0' | b'1' | b'_')) > 0 && t.done();
        }
        if t.byte(b'x') {
            return t.many(|b| b.is_ascii_hexdigit() || b == b'_') > 0 && t.done();
        }
        return s.many(|b| matches!(b, b'0'..=b'7' | b'_')) > 0 && s.done();
    }
    let mut s = body;
    if !s.one(|b| (b'1'..=b'9').contains(&b)) {
        return false;
    }
    s.many(digit_or_bar);
    s.done() || (sexagesimal(&mut s) && s.done())
}

/// What Python's lenient base64 reader refuses: text outside ASCII and wrong padding.
fn base64_fault(text: &str) -> Option<&'static str> {
    if !text.is_ascii() {
        return Some("this is tagged as base64 and has characters outside ASCII");
    }
    let mut quad = 0;
    let mut pads = 0;
    for b in text.bytes() {
        match b {
            b'=' => {
                pads += 1;
                if quad >= 2 && quad + pads >= 4 {
                    // A complete group ends the data for this reader.
                    return None;
                }
            }
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' => {
                pads = 0;
                quad = (quad + 1) % 4;
            }
            _ => {}
        }
    }
    (quad != 0).then_some("this is tagged as base64 and is cut short")
}
