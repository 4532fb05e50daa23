//! Where a changed or new line goes, and which bytes leave with a removed one.
//!
//! Responsible for: splices for one assignment, with indentation, `export`, comment, line ends
//! and byte-order mark. Not responsible for: whether the change is allowed, and its proof.

use std::ops::Range;

use super::text::BOM;
use super::{Entry, EntryState, EnvDocument};
use crate::document::Splice;

/// How a line begins, up to and with `=`.
pub(super) struct Head {
    /// Indentation in front; not part of `text`.
    pub indent: Vec<u8>,
    /// `NAME=` or `export NAME=`.
    pub text: String,
    /// The bytes in the file already read so.
    pub as_is: bool,
}

/// The head that an existing assignment gets: its own, unless some reader would stumble over it.
pub(super) fn head(doc: &EnvDocument, entry: &Entry) -> Head {
    let bytes = &doc.bytes;
    let whole = &entry.spans.whole;
    let line = &bytes[whole.start..entry.spans.value.start.max(whole.start)];
    let line = line.strip_prefix(BOM).unwrap_or(line);
    let blanks = line
        .iter()
        .take_while(|b| matches!(b, b' ' | b'\t'))
        .count();
    let (indent, line) = line.split_at(blanks);
    let exported = line
        .strip_prefix(b"export".as_slice())
        .filter(|_| entry.export);
    let spaces = exported.map_or(0, |rest| rest.iter().take_while(|b| **b == b' ').count());
    let text = match exported {
        Some(_) => format!("export{}{}=", " ".repeat(spaces.max(1)), entry.name),
        None if entry.export => format!("export {}=", entry.name),
        None => format!("{}=", entry.name),
    };
    Head {
        indent: indent.to_vec(),
        as_is: line == text.as_bytes() && entry.state == EntryState::Live,
        text,
    }
}

/// The comment that leaves the line when its value changes.
pub(super) fn comment(doc: &EnvDocument, entry: &Entry) -> Option<Vec<u8>> {
    let bytes = &doc.bytes;
    if let Some(comment) = &entry.spans.comment {
        return Some(bytes[comment.clone()].trim_ascii_end().to_vec());
    }
    // `NAME=   # note` is a value for both readers of Hermes, but no one means it as one.
    let value = &bytes[entry.spans.value.clone()];
    let before = entry.spans.value.start.checked_sub(1).map(|at| bytes[at]);
    let meant = value.starts_with(b"# ") || matches!(before, Some(b' ' | b'\t'));
    (entry.quote.is_none() && value.starts_with(b"#") && meant).then(|| value.to_vec())
}

/// Put `head` and `value` in place of an assignment.
pub(super) fn replace(
    doc: &EnvDocument,
    entry: &Entry,
    head: &Head,
    value: &str,
    comment: Option<&[u8]>,
) -> Splice {
    let spans = &entry.spans;
    let has_bom = spans.whole.start == 0 && doc.bytes.starts_with(BOM);
    if head.as_is && comment.is_none() && !has_bom {
        return Splice {
            span: spans.value.start..spans.whole.end,
            text: value.into(),
        };
    }
    let eol = line_end(doc);
    let mut text = Vec::new();
    if !starts_line(doc, spans.whole.start) {
        text.extend_from_slice(eol);
    }
    if let Some(comment) = comment {
        text.extend_from_slice(&head.indent);
        text.extend_from_slice(comment);
        text.extend_from_slice(eol);
    }
    text.extend_from_slice(&head.indent);
    text.extend_from_slice(head.text.as_bytes());
    text.extend_from_slice(value.as_bytes());
    if spans.line_end.is_empty() && spans.whole.end < doc.bytes.len() {
        text.extend_from_slice(eol);
    }
    Splice {
        span: spans.whole.clone(),
        text,
    }
}

/// Take an assignment out, with its line when it has one to itself.
pub(super) fn remove(doc: &EnvDocument, entry: &Entry) -> Splice {
    let whole = &entry.spans.whole;
    let end = if starts_line(doc, whole.start) {
        entry.spans.line_end.end
    } else {
        whole.end
    };
    Splice {
        span: whole.start..end,
        text: Vec::new(),
    }
}

/// Put a new assignment below the comment that holds its template, else at the end.
pub(super) fn insert(doc: &EnvDocument, name: &str, line: &str) -> Splice {
    let eol = line_end(doc);
    let template = doc
        .templates
        .iter()
        .rev()
        .find(|(n, _)| n == name)
        .map(|(_, end)| *end);
    let mut text = Vec::new();
    let span: Range<usize> = if let Some(end) = template {
        // The line end of the comment becomes the one of the new line.
        text.extend_from_slice(eol);
        text.extend_from_slice(line.as_bytes());
        end..end
    } else {
        let end = doc.bytes.len();
        if !starts_line(doc, end) {
            text.extend_from_slice(eol);
        }
        text.extend_from_slice(line.as_bytes());
        text.extend_from_slice(eol);
        // A mark that is alone in the file would hide the first name from python-dotenv.
        let start = if doc.bytes == BOM { 0 } else { end };
        start..end
    };
    Splice { span, text }
}

/// Whether `at` is the first byte of a line.
fn starts_line(doc: &EnvDocument, at: usize) -> bool {
    let before = &doc.bytes[..at];
    before.is_empty() || before == BOM || matches!(before.last(), Some(b'\n' | b'\r'))
}

/// The line end that the file uses.
fn line_end(doc: &EnvDocument) -> &'static [u8] {
    let bytes = &doc.bytes;
    match bytes.iter().position(|b| matches!(b, b'\n' | b'\r')) {
        Some(at) if bytes[at..].starts_with(b"\r\n") => b"\r\n",
        Some(at) if bytes[at] == b'\r' => b"\r",
        _ => b"\n",
    }
}
