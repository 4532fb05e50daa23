//! Writing a value that may take several lines.
//!
//! Responsible for: block and flow layout of new mappings, lists and long texts at a given
//! column. Not responsible for: where in the file they go ([`super::edit`]).

use super::scalar::{Place, Quotes, stands_raw, string, write};
use crate::document::{Step, Value};

/// Style of new text.
#[derive(Debug, Clone)]
pub(super) struct Style {
    /// The line break.
    pub eol: &'static str,
    /// Columns from a mapping to its children.
    pub step: usize,
    /// Columns from a key to the dashes of its list.
    pub dash: usize,
    /// Whether texts of several lines may be written as `|` scalars.
    pub literals: bool,
    /// Whether strings and keys in flow collections are all quoted (the file looks like JSON).
    pub json: bool,
}

/// A value behind `key:` or `-`: what stands on that line, and the lines below.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Text {
    /// Without the blank in front.
    pub head: String,
    /// Empty, or a line break and more.
    pub body: String,
}

impl Text {
    /// Both in a row.
    pub(super) fn joined(&self) -> String {
        format!("{}{}", self.head, self.body)
    }
}

impl Style {
    fn newline(&self, column: usize) -> String {
        format!("{}{}", self.eol, " ".repeat(column))
    }

    /// A key in block style.
    pub(super) fn key(key: &Value) -> String {
        write(key, Place::Key, Quotes::Plain).unwrap_or_else(|| "null".into())
    }

    /// The value of a key that stands at `column`.
    pub(super) fn after_key(&self, value: &Value, column: usize, quotes: Quotes) -> Text {
        match value {
            Value::Map(entries) if !entries.is_empty() => Text {
                head: String::new(),
                body: self.newline(column + self.step) + &self.entries(entries, column + self.step),
            },
            Value::List(items) if !items.is_empty() => Text {
                head: String::new(),
                body: self.newline(column + self.dash) + &self.items(items, column + self.dash),
            },
            _ => self.line(value, column + self.step, quotes),
        }
    }

    /// A value that stands by itself at `column`: behind a dash, or as the root.
    pub(super) fn alone(&self, value: &Value, column: usize, quotes: Quotes) -> Text {
        match value {
            Value::Map(entries) if !entries.is_empty() => {
                self.split(&self.entries(entries, column))
            }
            Value::List(items) if !items.is_empty() => self.split(&self.items(items, column)),
            _ => self.line(value, column, quotes),
        }
    }

    fn split(&self, text: &str) -> Text {
        let at = text.find(self.eol).unwrap_or(text.len());
        Text {
            head: text[..at].to_owned(),
            body: text[at..].to_owned(),
        }
    }

    /// `key: value`, for a key at `column`.
    pub(super) fn entry(&self, key: &Value, value: &Value, column: usize) -> String {
        let Text { head, body } = self.after_key(value, column, Quotes::Plain);
        let gap = if head.is_empty() { "" } else { " " };
        format!("{}:{gap}{head}{body}", Self::key(key))
    }

    /// `- value`, for a dash at `column`.
    pub(super) fn item(&self, value: &Value, column: usize) -> String {
        format!(
            "- {}",
            self.alone(value, column + 2, Quotes::Plain).joined()
        )
    }

    fn entries(&self, entries: &[(Value, Value)], column: usize) -> String {
        let lines: Vec<_> = entries
            .iter()
            .map(|(k, v)| self.entry(k, v, column))
            .collect();
        lines.join(&self.newline(column))
    }

    fn items(&self, items: &[Value], column: usize) -> String {
        let lines: Vec<_> = items.iter().map(|v| self.item(v, column)).collect();
        lines.join(&self.newline(column))
    }

    /// A scalar or an empty collection; a text of several lines below its header at `column`.
    fn line(&self, value: &Value, column: usize, quotes: Quotes) -> Text {
        if let Value::Str(text) = value
            && self.literals
            && let Some(chomp) = literal_chomp(text)
        {
            let mut body = String::new();
            for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
                body += self.eol;
                if !line.is_empty() {
                    body += &" ".repeat(column.max(1));
                    body += line;
                }
            }
            return Text {
                head: format!("|{chomp}"),
                body,
            };
        }
        Text {
            head: write(value, Place::Block, quotes).unwrap_or_default(),
            body: String::new(),
        }
    }

    /// A value on one line in flow style.
    pub(super) fn flow(&self, value: &Value, quotes: Quotes) -> String {
        let quotes = if self.json { Quotes::Double } else { quotes };
        match value {
            Value::Map(entries) if !entries.is_empty() => {
                let parts: Vec<_> = entries.iter().map(|(k, v)| self.flow_entry(k, v)).collect();
                format!("{{{}}}", parts.join(", "))
            }
            Value::List(items) if !items.is_empty() => {
                let parts: Vec<_> = items.iter().map(|v| self.flow(v, Quotes::Plain)).collect();
                format!("[{}]", parts.join(", "))
            }
            _ => write(value, Place::Flow, quotes).unwrap_or_default(),
        }
    }

    /// `key: value` in flow style.
    pub(super) fn flow_entry(&self, key: &Value, value: &Value) -> String {
        let quotes = if self.json {
            Quotes::Double
        } else {
            Quotes::Plain
        };
        let key = write(key, Place::Flow, quotes).unwrap_or_default();
        format!("{key}: {}", self.flow(value, Quotes::Plain))
    }
}

/// How a text ends as a `|` scalar, when that is a good form for it: several lines, nothing that
/// only quotes can hold, and no blanks that a reader could take for indentation.
fn literal_chomp(text: &str) -> Option<&'static str> {
    let (body, chomp) = match text.strip_suffix('\n') {
        Some(body) => (body, ""),
        None => (text, "-"),
    };
    let good = body.contains('\n') || chomp.is_empty();
    let fits = !body.is_empty()
        && !body.starts_with([' ', '\n'])
        && !body.ends_with('\n')
        && body.split('\n').all(|line| {
            line.chars().all(stands_raw) && (line.is_empty() || !line.trim_end().is_empty())
        });
    (good && fits).then_some(chomp)
}

/// The value that a missing path of `steps` makes, with `value` at its end.
pub(super) fn chain(steps: &[Step], value: Value) -> Value {
    steps.iter().rev().fold(value, |inner, step| {
        Value::Map(vec![(step_value(step), inner)])
    })
}

/// A step as the key it names.
pub(super) fn step_value(step: &Step) -> Value {
    match step {
        Step::Key(name) => Value::Str(name.clone()),
        Step::Index(n) => Value::Int(i128::from(*n)),
        Step::Bool(b) => Value::Bool(*b),
    }
}

/// How we would write a value on one line, for display and for commands.
pub(super) fn one_line(value: &Value) -> String {
    let style = Style {
        eol: "\n",
        step: 2,
        dash: 2,
        literals: false,
        json: false,
    };
    match value {
        Value::Str(text) => string(text, Place::Block, Quotes::Plain),
        other => style.flow(other, Quotes::Plain),
    }
}
