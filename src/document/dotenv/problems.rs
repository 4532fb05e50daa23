//! Lines that Hermes or another reader misreads, ignores or refuses.
//!
//! Responsible for: finding and naming them; texts never hold a value. Not responsible for: fixing
//! them (setting the value again, or [`super::EnvChange::Dedupe`], does).

use std::collections::HashMap;

use super::interpolate::has_reference;
use super::repair::is_ascii_only;
use super::text::BOM;
use super::{Entry, EntryState, EnvDocument, EnvRules, entries, names};

/// One thing to know about one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvProblem {
    /// 1-based.
    pub line: usize,
    /// The name it is about, when there is one that may be shown.
    pub name: Option<String>,
    /// What it is.
    pub kind: ProblemKind,
    /// One sentence for the user; never holds a value.
    pub text: String,
}

/// What is wrong with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProblemKind {
    /// A byte-order mark at the start of the file.
    Bom,
    /// The file is not UTF-8.
    NotUtf8,
    /// A comment behind a value: part of the value for `load_env`.
    InlineComment,
    /// Backslashes that the readers take differently.
    Escapes,
    /// `${}`: replaced by python-dotenv, text for `load_env`.
    Reference,
    /// A value over several lines.
    MultiLine,
    /// An open quote or text behind a closing one: python-dotenv skips it.
    UnbalancedQuote,
    /// A tab behind `export`.
    ExportTab,
    /// The name stands in quotes.
    QuotedKey,
    /// The readers disagree for another reason.
    ReadersDisagree,
    /// Another line further down sets the same name.
    Duplicate,
    /// A line that is no assignment and no comment.
    Junk,
    /// A name that Hermes does not accept when it writes.
    BadName,
    /// Two assignments on one line.
    Glued,
    /// A secret with characters that Hermes drops.
    NonAsciiCredential,
    /// A name that Hermes refuses to write.
    DeniedName,
    /// A mask or sample text in place of a secret.
    Placeholder,
}

/// Sample texts that Hermes takes for "not set".
const PLACEHOLDERS: [&str; 9] = [
    "changeme",
    "your_api_key",
    "your_api_key_here",
    "your-api-key",
    "placeholder",
    "example",
    "dummy",
    "null",
    "none",
];

/// See [`EnvDocument::problems`].
pub(super) fn find(doc: &EnvDocument, rules: &EnvRules<'_>) -> Vec<EnvProblem> {
    // The glued names are those that the rules know.
    let doc = &entries::read(&doc.bytes, rules.known);
    let mut out = Vec::new();
    file_problems(doc, &mut out);
    let last: HashMap<&str, usize> = doc
        .entries
        .iter()
        .map(|e| (e.name.as_str(), e.line))
        .collect();
    let mut lines = entries::LineCounter::default();
    for entry in &doc.entries {
        let mut add = |kind: ProblemKind, text: String| {
            out.push(EnvProblem {
                line: entry.line,
                name: names::is_speakable(&entry.name).then(|| entry.name.clone()),
                kind,
                text,
            });
        };
        shape(doc, entry, &mut add);
        if let Some(later) = last.get(entry.name.as_str()).filter(|l| **l > entry.line) {
            add(
                ProblemKind::Duplicate,
                format!(
                    "{} is set again on line {later}, which counts",
                    names::shown(&entry.name)
                ),
            );
        }
        content(entry, rules, &mut add);
    }
    for at in &doc.junk {
        out.push(EnvProblem {
            line: lines.line(&doc.bytes, *at),
            name: None,
            kind: ProblemKind::Junk,
            text: "this line is neither an assignment nor a comment; Hermes skips it".into(),
        });
    }
    out.sort_by(|a, b| a.line.cmp(&b.line).then(a.kind.cmp(&b.kind)));
    out
}

fn file_problems(doc: &EnvDocument, out: &mut Vec<EnvProblem>) {
    if doc.bytes.starts_with(BOM) {
        out.push(EnvProblem {
            line: 1,
            name: None,
            kind: ProblemKind::Bom,
            text:
                "a byte-order mark stands at the start of the file; it hides a name on the first \
                   line from a running Hermes"
                    .into(),
        });
    }
    if !doc.utf8 {
        let valid = std::str::from_utf8(&doc.bytes).map_or_else(|e| e.valid_up_to(), str::len);
        out.push(EnvProblem {
            line: 1 + entries::count_lines(&doc.bytes[..valid]),
            name: None,
            kind: ProblemKind::NotUtf8,
            text: "the file is not UTF-8; Hermes' readers see other characters here, and newer \
                   versions read nothing at all"
                .into(),
        });
    }
}

/// How the line is written.
fn shape(doc: &EnvDocument, entry: &Entry, add: &mut dyn FnMut(ProblemKind, String)) {
    let name = names::shown(&entry.name);
    match entry.state {
        EntryState::Broken => {
            add(
                ProblemKind::UnbalancedQuote,
                format!(
                    "{name} is not read by a running Hermes: its quote is not closed, or text follows the closing quote"
                ),
            );
            return;
        }
        EntryState::NoValue => {
            add(
                ProblemKind::Junk,
                format!("{name} stands alone, without `=`; it sets nothing"),
            );
            return;
        }
        EntryState::Glued => add(
            ProblemKind::Glued,
            format!(
                "{name} shares its line with another assignment; newer versions of Hermes do not cut them apart"
            ),
        ),
        EntryState::BehindBom => add(
            ProblemKind::Bom,
            format!(
                "{name} is not read by a running Hermes because of the byte-order mark before it"
            ),
        ),
        EntryState::Live => {}
    }
    let bytes = &doc.bytes;
    let head = &bytes[entry.spans.whole.start..entry.spans.key.start];
    if entry.export && !head.ends_with(b"export ") && head.contains(&b'\t') {
        let tail = head.trim_ascii_end();
        if head[tail.len()..].contains(&b'\t') {
            add(
                ProblemKind::ExportTab,
                format!("`hermes config` does not find {name}: a tab stands behind `export`"),
            );
            return;
        }
    }
    if head.ends_with(b"'") {
        add(
            ProblemKind::QuotedKey,
            format!("`hermes config` does not find {name}: the name stands in quotes"),
        );
        return;
    }
    if entry.load_env_value == entry.template {
        return;
    }
    let template = entry.template.as_deref().unwrap_or_default();
    let (kind, why) = if entry.lines > 1 {
        (ProblemKind::MultiLine, "its value takes several lines")
    } else if entry.spans.comment.is_some() {
        (
            ProblemKind::InlineComment,
            "a comment stands behind its value",
        )
    } else if entry.quote.is_some() && bytes[entry.spans.value.clone()].contains(&b'\\') {
        (ProblemKind::Escapes, "its value has backslashes in quotes")
    } else if has_reference(template) {
        return;
    } else {
        (ProblemKind::ReadersDisagree, "the line is unusual")
    };
    add(
        kind,
        format!("a running Hermes and `hermes config` read {name} differently: {why}"),
    );
}

/// What the line holds.
fn content(entry: &Entry, rules: &EnvRules<'_>, add: &mut dyn FnMut(ProblemKind, String)) {
    let name = names::shown(&entry.name);
    if !names::is_valid(&entry.name) {
        add(
            ProblemKind::BadName,
            format!("{name} is no name that Hermes would write"),
        );
    }
    if !names::is_speakable(&entry.name) && matches!(entry.template.as_deref(), Some("" | "=")) {
        add(
            ProblemKind::BadName,
            "this line looks like a secret without a name in front of it".to_owned(),
        );
    }
    if (rules.denied)(&entry.name) {
        add(
            ProblemKind::DeniedName,
            format!("{name} steers how programs are started; Hermes refuses to write it here"),
        );
    }
    let Some(value) = entry.template.as_deref() else {
        return;
    };
    if has_reference(value) {
        add(
            ProblemKind::Reference,
            format!(
                "{name} holds `${{…}}`: a running Hermes replaces it, `hermes config` shows it as it is"
            ),
        );
    }
    let credential = (rules.credential)(&entry.name);
    if !value.is_ascii() && (credential || is_ascii_only(&entry.name)) {
        add(
            ProblemKind::NonAsciiCredential,
            format!("{name} holds characters outside ASCII, which Hermes drops"),
        );
    }
    let lower = value.trim().to_lowercase();
    if credential && (super::edit::is_mask(value, None) || PLACEHOLDERS.contains(&lower.as_str())) {
        add(
            ProblemKind::Placeholder,
            format!("{name} holds a mask or sample text, not a secret"),
        );
    }
}
