//! From the bytes of a file to its assignments.
//!
//! Responsible for: refusing wide text, choosing the text a running Hermes would parse, and
//! turning bindings into entries with byte spans. Not responsible for: the grammar itself.

use std::collections::HashMap;
use std::ops::Range;

use super::grammar::{self, Binding};
use super::interpolate::{Lookup, interpolate};
use super::text::{BOM, Decoding, Text, is_space};
use super::{Entry, EntryState, EnvDocument, ParseError, Spans, load_env, repair};

/// Refuse UTF-16, UTF-32 and NUL bytes.
pub(super) fn refuse_wide_text(bytes: &[u8]) -> Result<(), ParseError> {
    let refuse = |at: usize, reason: &str| {
        let before = &bytes[..at];
        let line_start = before
            .iter()
            .rposition(|b| *b == b'\n')
            .map_or(0, |n| n + 1);
        Err(ParseError {
            line: 1 + count_lines(before),
            column: 1 + String::from_utf8_lossy(&before[line_start..])
                .chars()
                .count(),
            reason: reason.to_owned(),
        })
    };
    if bytes.starts_with(b"\xff\xfe\0\0") || bytes.starts_with(b"\0\0\xfe\xff") {
        return refuse(
            0,
            "the file is UTF-32; save it as UTF-8 without a byte-order mark",
        );
    }
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return refuse(
            0,
            "the file is UTF-16; save it as UTF-8 without a byte-order mark",
        );
    }
    let Some(at) = bytes.iter().position(|b| *b == 0) else {
        return Ok(());
    };
    let zeros = bytes.split(|b| *b == 0).count() - 1;
    if zeros * 3 >= bytes.len() {
        return refuse(
            at,
            "the file looks like UTF-16 without its mark; save it as UTF-8",
        );
    }
    refuse(
        at,
        "there is a NUL byte, which no environment variable can hold; take it out",
    )
}

/// Read a file that [`refuse_wide_text`] let through.
pub(super) fn read(bytes: &[u8], known: &dyn Fn(&str) -> bool) -> EnvDocument {
    let lossy = Text::decode(bytes, Decoding::Lossy).unwrap_or_default();
    let (repaired, changed) = repair::repair(&lossy, known);
    let strict = Text::decode(bytes, Decoding::Utf8);
    let utf8 = strict.is_some();
    // Hermes leaves a file alone that begins with what is not UTF-8.
    let rewritten = changed && lossy.chars.first() != Some(&'\u{fffd}');
    let seen = if rewritten {
        repaired.clone()
    } else {
        strict
            .or_else(|| Text::decode(bytes, Decoding::Latin1))
            .unwrap_or_default()
    };
    let lines = load_env::read(&repaired);
    let mut doc = EnvDocument {
        bytes: bytes.to_vec(),
        entries: Vec::new(),
        lines,
        bindings: Vec::new(),
        templates: Vec::new(),
        junk: Vec::new(),
        utf8,
    };
    Collector {
        doc: &mut doc,
        text: &seen,
        lines: LineCounter::default(),
    }
    .collect();
    mark_in_force(&mut doc);
    doc
}

/// Fill in what only the whole file decides: which assignment counts, `${}`, the other reader.
fn mark_in_force(doc: &mut EnvDocument) {
    let mut last: HashMap<&str, usize> = HashMap::new();
    for (n, entry) in doc.entries.iter().enumerate() {
        if matches!(
            entry.state,
            EntryState::Live | EntryState::Glued | EntryState::NoValue
        ) {
            last.insert(&entry.name, n);
        }
    }
    let mut in_force: Vec<usize> = last.into_values().collect();
    in_force.retain(|n| doc.entries[*n].state != EntryState::NoValue);
    for n in in_force {
        doc.entries[n].in_force = true;
    }
    let on_line: HashMap<usize, (&str, &str)> = doc
        .lines
        .iter()
        .map(|l| (l.at, (l.name.as_str(), l.value.as_str())))
        .collect();
    let mut so_far: HashMap<String, Option<String>> = HashMap::new();
    for entry in &mut doc.entries {
        let first = first_text(&doc.bytes, entry.spans.whole.start);
        entry.load_env_value = on_line
            .get(&first)
            .filter(|(name, _)| *name == entry.name)
            .map(|(_, value)| (*value).to_owned());
        entry.value = entry.template.as_deref().map(|t| {
            interpolate(t, &|name| {
                so_far
                    .get(name)
                    .map_or(Lookup::Unknown, |v| Lookup::Known(v.clone()))
            })
        });
        if matches!(
            entry.state,
            EntryState::Live | EntryState::Glued | EntryState::NoValue
        ) {
            so_far.insert(entry.name.clone(), entry.value.clone());
        }
    }
}

/// The first byte of a line that is not a byte-order mark or white space.
fn first_text(bytes: &[u8], line_start: usize) -> usize {
    let mut at = line_start;
    if bytes[at..].starts_with(BOM) {
        at += BOM.len();
    }
    let rest = &bytes[at..];
    let len = rest.iter().position(|b| matches!(b, b'\n' | b'\r'));
    let line = String::from_utf8_lossy(&rest[..len.unwrap_or(rest.len())]);
    at += line.len() - line.trim_start_matches(is_space).len();
    at
}

/// Replace `${}` in file order, the file before the environment, as `load_dotenv(override=True)`.
pub(super) fn resolve(
    bindings: &[(String, Option<String>)],
    outside: &dyn Fn(&str) -> Option<String>,
) -> HashMap<String, Option<String>> {
    let mut out: HashMap<String, Option<String>> = HashMap::new();
    for (name, template) in bindings {
        let value = template.as_deref().map(|t| {
            interpolate(t, &|name| match out.get(name) {
                Some(value) => Lookup::Known(value.clone()),
                None => outside(name).map_or(Lookup::Unknown, |v| Lookup::Known(Some(v))),
            })
        });
        out.insert(name.clone(), value);
    }
    out
}

struct Collector<'a> {
    doc: &'a mut EnvDocument,
    text: &'a Text,
    lines: LineCounter,
}

impl Collector<'_> {
    fn collect(mut self) {
        for binding in grammar::parse(&self.text.chars) {
            if binding.start == binding.end {
                continue;
            }
            if let Some(key) = binding.key.clone() {
                let name: String = self.text.chars[key.clone()].iter().collect();
                self.doc
                    .bindings
                    .push((name.clone(), binding.decoded.clone()));
                self.entry(&binding, name, key);
            } else if binding.error {
                match broken_name(&self.text.chars[binding.start..binding.end]) {
                    Some(key) => {
                        let key = binding.start + key.start..binding.start + key.end;
                        let name = self.text.chars[key.clone()].iter().collect();
                        self.entry(&binding, name, key);
                    }
                    None => self.doc.junk.push(self.text.at[binding.start]),
                }
            } else {
                self.template(&binding);
            }
        }
    }

    fn entry(&mut self, binding: &Binding, name: String, key: Range<usize>) {
        let text = self.text;
        let chars = &text.chars;
        let has_newline = chars[binding.end - 1] == '\n';
        let mut end = binding.end - usize::from(has_newline);
        let mut line_start = binding.start;
        while line_start > 0 && chars[line_start - 1] != '\n' {
            line_start -= 1;
        }
        let mut value = binding.value.clone().unwrap_or(key.end..key.end);
        if binding.error {
            // What an open quote swallowed is not this assignment's; its own line is.
            end = (binding.start..end)
                .find(|at| chars[*at] == '\n')
                .unwrap_or(end);
            value = end..end;
        }
        // Bytes, not characters, decide where the line begins: the repair pass trims characters
        // away and makes new lines inside old ones.
        let start = self.line_start(text.at[line_start]);
        let glued = start.is_none();
        let start = start.unwrap_or(text.at[line_start]);
        let end_byte = self.trailing(text.at[end]);
        let line_end = end_byte..self.after_line_end(end_byte);
        let stripped = name.strip_prefix('\u{feff}').map(str::to_owned);
        let key_start = if stripped.is_some() {
            key.start + 1
        } else {
            key.start
        };
        let state = match () {
            () if binding.error => EntryState::Broken,
            () if stripped.is_some() => EntryState::BehindBom,
            () if binding.value.is_none() => EntryState::NoValue,
            () if glued || (line_end.is_empty() && line_end.end < self.doc.bytes.len()) => {
                EntryState::Glued
            }
            () => EntryState::Live,
        };
        let name = stripped.unwrap_or(name);
        if name.is_empty() {
            return;
        }
        let line = self.lines.line(&self.doc.bytes, text.at[binding.start]);
        let lines = 1 + count_lines(&self.doc.bytes[text.at[binding.start]..end_byte]);
        self.doc.entries.push(Entry {
            name,
            line,
            lines,
            export: binding.export.is_some(),
            in_force: false,
            state,
            value: None,
            template: if binding.error {
                None
            } else {
                binding.decoded.clone()
            },
            load_env_value: None,
            quote: binding.quote,
            spans: Spans {
                whole: start..end_byte,
                key: text.bytes(&(key_start..key.end)),
                value: text.bytes(&value),
                comment: binding.comment.as_ref().map(|c| text.bytes(c)),
                line_end,
            },
        });
    }

    /// A comment line such as `# NAME=…` is where a new assignment of NAME belongs.
    fn template(&mut self, binding: &Binding) {
        let chars = &self.text.chars[binding.start..binding.end];
        let body: String = chars
            .iter()
            .skip_while(|c| **c == '#' || is_space(**c))
            .collect();
        let body = body.strip_prefix("export ").unwrap_or(&body).trim_start();
        let name: String = body
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
            .collect();
        if !name.is_empty() && body[name.len()..].trim_start().starts_with('=') {
            let end = binding.end - usize::from(chars.last() == Some(&'\n'));
            let end = self.trailing(self.text.at[end]);
            self.doc.templates.push((name, end));
        }
    }

    /// The start of the byte line that holds `at`, if only white space stands between.
    fn line_start(&self, at: usize) -> Option<usize> {
        let bytes = &self.doc.bytes;
        let start = bytes[..at]
            .iter()
            .rposition(|b| matches!(b, b'\n' | b'\r'))
            .map_or(0, |n| n + 1);
        let between = bytes[start..at]
            .strip_prefix(BOM)
            .unwrap_or(&bytes[start..at]);
        let blank = String::from_utf8_lossy(between).chars().all(is_space);
        blank.then_some(start)
    }

    /// Move over white space that the repair pass trimmed off the end of a line.
    fn trailing(&self, at: usize) -> usize {
        let rest = &self.doc.bytes[at..];
        let len = rest
            .iter()
            .position(|b| matches!(b, b'\n' | b'\r'))
            .unwrap_or(rest.len());
        let blank = String::from_utf8_lossy(&rest[..len]).chars().all(is_space);
        if blank { at + len } else { at }
    }

    fn after_line_end(&self, at: usize) -> usize {
        match &self.doc.bytes[at..] {
            [b'\r', b'\n', ..] => at + 2,
            [b'\r' | b'\n', ..] => at + 1,
            _ => at,
        }
    }
}

/// Line numbers of ascending byte offsets.
#[derive(Default)]
pub(super) struct LineCounter {
    ends: usize,
    counted: usize,
}

impl LineCounter {
    /// 1-based line of a byte offset, which is not below the one asked for before.
    pub fn line(&mut self, bytes: &[u8], at: usize) -> usize {
        let at = at.max(self.counted);
        self.ends += count_lines(&bytes[self.counted..at]);
        self.counted = at;
        1 + self.ends
    }
}

/// Line ends in a piece of the file.
pub(super) fn count_lines(bytes: &[u8]) -> usize {
    let ends = bytes.iter().filter(|b| matches!(b, b'\n' | b'\r')).count();
    ends - bytes.windows(2).filter(|w| *w == b"\r\n").count()
}

/// The name of an assignment that python-dotenv could not read.
fn broken_name(chars: &[char]) -> Option<Range<usize>> {
    let word: [char; 6] = ['e', 'x', 'p', 'o', 'r', 't'];
    let mut at = 0;
    if chars.starts_with(&word) {
        let blanks = chars[6..].iter().take_while(|c| is_space(**c)).count();
        at = if blanks > 0 { 6 + blanks } else { 0 };
    }
    let rest = &chars[at..];
    let len = rest
        .iter()
        .take_while(|c| c.is_ascii_alphanumeric() || **c == '_')
        .count();
    let equals = rest[len..].iter().find(|c| !is_space(**c));
    (len > 0 && equals == Some(&'=')).then_some(at..at + len)
}
