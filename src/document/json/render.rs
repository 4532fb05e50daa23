//! Values as JSON text in the style of the file.
//!
//! Responsible for: indentation, blanks behind commas and colons, and the text of scalars. Not
//! responsible for: where the text goes.

use std::fmt::Write as _;

use super::{Kind, Node, Value};

/// Writes one item; the indentation of its line when lines are broken.
type WriteItem<'a, T> = dyn Fn(&T, Option<&str>, &mut String) -> Result<(), String> + 'a;

/// How the file is laid out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Style {
    /// One more level, when the file breaks lines.
    pub unit: Option<String>,
    /// The line end.
    pub eol: &'static str,
    /// Blank behind a comma on one line.
    pub after_comma: &'static str,
    /// Blanks around the colon.
    pub colon: String,
}

/// A value on one line as Python's `json.dumps` writes it; `None` for what JSON cannot hold.
pub fn to_text(value: &Value) -> Option<String> {
    let style = Style {
        unit: None,
        eol: "\n",
        after_comma: " ",
        colon: ": ".to_owned(),
    };
    style.render(value, None).ok()
}

impl Style {
    /// Learn it from the file; Python's defaults where the file shows nothing.
    pub fn of(bytes: &[u8], root: &Node) -> Self {
        let mut style = Self {
            unit: None,
            eol: if bytes.windows(2).any(|w| w == b"\r\n") {
                "\r\n"
            } else {
                "\n"
            },
            after_comma: " ",
            colon: ": ".to_owned(),
        };
        let mut seen = Seen::default();
        style.learn(bytes, root, &mut seen);
        style
    }

    fn learn(&mut self, bytes: &[u8], node: &Node, seen: &mut Seen) {
        let spans = super::edit::children(node);
        if let [first, second, ..] = spans.as_slice()
            && !seen.comma
            && !bytes[first.end..second.start].contains(&b'\n')
        {
            seen.comma = true;
            self.after_comma = if bytes[first.end..second.start].ends_with(b",") {
                ""
            } else {
                " "
            };
        }
        if let (Some(first), false) = (spans.first(), seen.unit)
            && bytes[node.span.start..first.start].contains(&b'\n')
        {
            let inner = indent_at(bytes, first.start);
            let outer = indent_at(bytes, node.span.start);
            seen.unit = true;
            self.unit = Some(inner.strip_prefix(&outer).unwrap_or("  ").to_owned());
        }
        match &node.kind {
            Kind::Scalar(_) => {}
            Kind::Array(items) => items.iter().for_each(|n| self.learn(bytes, n, seen)),
            Kind::Object(members) => {
                if let (Some(m), false) = (members.first(), seen.colon) {
                    let between = &bytes[m.key_span.end..m.value.span.start];
                    if !between.contains(&b'\n') {
                        seen.colon = true;
                        self.colon = String::from_utf8_lossy(between).into_owned();
                    }
                }
                for member in members {
                    self.learn(bytes, &member.value, seen);
                }
            }
        }
    }

    /// The text of a value. `indent` is the indentation of its line when lines are broken.
    ///
    /// # Errors
    /// A reason for values that JSON does not have.
    pub fn render(&self, value: &Value, indent: Option<&str>) -> Result<String, String> {
        let mut out = String::new();
        self.write(value, indent, &mut out)?;
        Ok(out)
    }

    fn write(&self, value: &Value, indent: Option<&str>, out: &mut String) -> Result<(), String> {
        match value {
            Value::Null => out.push_str("null"),
            Value::Bool(on) => out.push_str(if *on { "true" } else { "false" }),
            Value::Int(n) => out.push_str(&n.to_string()),
            Value::BigInt(digits) => out.push_str(digits),
            Value::Float(f) if f.is_finite() => {
                let _ = write!(out, "{f:?}");
            }
            Value::Float(_) => return Err("JSON has no infinity and no NaN".to_owned()),
            Value::Str(text) => quote(text, out),
            Value::Timestamp(_) => return Err("JSON has no dates; write it as a string".to_owned()),
            Value::List(items) => {
                self.container(items, ['[', ']'], indent, out, &|item, indent, out| {
                    self.write(item, indent, out)
                })?;
            }
            Value::Map(entries) => {
                self.container(
                    entries,
                    ['{', '}'],
                    indent,
                    out,
                    &|(key, value), indent, out| {
                        let Value::Str(key) = key else {
                            return Err("JSON keys are strings".to_owned());
                        };
                        quote(key, out);
                        out.push_str(&self.colon);
                        self.write(value, indent, out)
                    },
                )?;
            }
        }
        Ok(())
    }

    fn container<T>(
        &self,
        items: &[T],
        brackets: [char; 2],
        indent: Option<&str>,
        out: &mut String,
        write: &WriteItem<'_, T>,
    ) -> Result<(), String> {
        out.push(brackets[0]);
        let inner = match (indent, &self.unit) {
            (Some(indent), Some(unit)) => Some(format!("{indent}{unit}")),
            _ => None,
        };
        for (n, item) in items.iter().enumerate() {
            if n > 0 {
                out.push(',');
            }
            match &inner {
                Some(inner) => {
                    out.push_str(self.eol);
                    out.push_str(inner);
                }
                None if n > 0 => out.push_str(self.after_comma),
                None => {}
            }
            write(item, inner.as_deref(), out)?;
        }
        if let (Some(_), Some(indent), false) = (&inner, indent, items.is_empty()) {
            out.push_str(self.eol);
            out.push_str(indent);
        }
        out.push(brackets[1]);
        Ok(())
    }
}

#[derive(Default)]
struct Seen {
    comma: bool,
    unit: bool,
    colon: bool,
}

/// The white space that the line of `at` begins with.
pub(super) fn indent_at(bytes: &[u8], at: usize) -> String {
    let start = bytes[..at]
        .iter()
        .rposition(|b| *b == b'\n')
        .map_or(0, |n| n + 1);
    bytes[start..at]
        .iter()
        .take_while(|b| matches!(b, b' ' | b'\t'))
        .map(|b| char::from(*b))
        .collect()
}

/// A string with its quotes.
pub(super) fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{08}' => out.push_str("\\b"),
            '\u{0c}' => out.push_str("\\f"),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
