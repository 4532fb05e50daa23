//! From edits to new text: a pure function of the file's bytes and the wanted edits.
//!
//! Responsible for: applying edits with the documents' proof, line diffs, and hiding secrets in
//! them. Not responsible for: reading or writing files ([`crate::session`], [`crate::writer`]).

use std::collections::BTreeSet;

use similar::{ChangeTag, TextDiff};

use crate::catalog;
use crate::document::dotenv::{Accept, EnvChange, EnvDocument, EnvRules};
use crate::document::tree::{Format, TreeDocument};
use crate::document::yaml::YamlDocument;
use crate::document::{Change, EditError, Edited, KeyPath, ParseError, Step, Value};
use crate::edit::{Edit, FileId};

/// Why edits could not be turned into new text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The file does not parse; it is never written.
    #[error("{file}: {error}")]
    Broken {
        /// The file's name inside the home.
        file: &'static str,
        /// Where and why.
        error: ParseError,
    },
    /// One edit cannot be made.
    #[error("{file}: {error}")]
    Edit {
        /// The file's name inside the home.
        file: &'static str,
        /// What stands in the way.
        error: EditError,
    },
}

/// The rules of Hermes for `.env`, from the catalogue. Everything that needs the user's consent is
/// accepted here: whoever makes an edit asks first ([`EnvDocument::questions`]).
pub fn env_rules() -> EnvRules<'static> {
    EnvRules {
        known: &|name| catalog::catalog().is_known_env(name),
        credential: &|name| catalog::catalog().is_credential_name(name),
        denied: &|name| catalog::catalog().is_denied(name),
        accept: Accept {
            non_ascii_credential: true,
            placeholder: true,
            shell_runs: true,
        },
    }
}

/// Read a `.env`, with the names that Hermes cuts glued lines at.
pub fn parse_env(bytes: &[u8]) -> Result<EnvDocument, ParseError> {
    EnvDocument::parse_with(bytes, &|name| catalog::catalog().is_known_env(name))
}

/// Read a `config.yaml`. A list or a scalar at the top is refused: Hermes reads settings from a
/// mapping only, and a write would turn the whole file into something else.
pub fn parse_config(bytes: &[u8]) -> Result<YamlDocument, ParseError> {
    let doc = YamlDocument::parse(bytes)?;
    match doc.root() {
        Value::Null | Value::Map(_) => Ok(doc),
        other => Err(ParseError {
            line: doc.line(&KeyPath::default()).unwrap_or(1),
            column: 1,
            reason: format!(
                "the top level holds {} where Hermes expects settings (name: value)",
                other.kind()
            ),
        }),
    }
}

/// Apply the edits of `file` to `bytes`. Edits of other files are passed over.
pub fn apply<'a>(
    file: FileId,
    bytes: &[u8],
    edits: impl Iterator<Item = &'a Edit>,
) -> Result<Edited, PlanError> {
    let broken = |error| PlanError::Broken {
        file: file.name(),
        error,
    };
    let failed = |error| PlanError::Edit {
        file: file.name(),
        error,
    };
    match file {
        FileId::Config => {
            let doc = parse_config(bytes).map_err(broken)?;
            let list: Vec<(KeyPath, Change)> = edits
                .filter_map(|e| match e {
                    Edit::Config { path, change } => Some((path.clone(), change.clone())),
                    Edit::Env { .. } | Edit::Other { .. } => None,
                })
                .collect();
            doc.edit_all(&list).map_err(failed)
        }
        FileId::Env => {
            let doc = parse_env(bytes).map_err(broken)?;
            let list: Vec<(String, EnvChange)> = edits
                .filter_map(|e| match e {
                    Edit::Env { name, change } => Some((name.clone(), change.clone())),
                    Edit::Config { .. } | Edit::Other { .. } => None,
                })
                .collect();
            doc.edit_all(&list, &env_rules()).map_err(failed)
        }
        FileId::Other(name) => {
            let doc = parse_tree(file.name(), bytes).map_err(broken)?;
            let list: Vec<(KeyPath, Change)> = edits
                .filter_map(|e| match e {
                    Edit::Other { file, path, change } if *file == name => {
                        Some((path.clone(), change.clone()))
                    }
                    _ => None,
                })
                .collect();
            doc.edit_all(&list).map_err(failed)
        }
    }
}

/// What to take out so that a key goes without leaving an empty section behind, as `hermes config
/// unset` does: the key itself, or the outermost section that holds nothing else. A section whose
/// removal would lose a comment stays, as `{}`.
pub fn removal(doc: &YamlDocument, path: &KeyPath) -> KeyPath {
    let comments = |path: &KeyPath| {
        let edited = doc.edit(path, &Change::Remove).ok()?;
        Some(edited.bytes.split(|b| *b == b'#').count())
    };
    let Some(kept) = comments(path) else {
        return path.clone();
    };
    let mut out = path.clone();
    while out.0.len() > 1 {
        let parent = KeyPath(out.0[..out.0.len() - 1].to_vec());
        let only = matches!(doc.get(&parent), Some(Value::Map(entries)) if entries.len() == 1);
        if !only || comments(&parent) != Some(kept) {
            break;
        }
        out = parent;
    }
    out
}

/// The edit together with what has to change along with it: Hermes copies `terminal.*` into
/// `TERMINAL_*` at start, but tools that are started without it read a line of `.env` that says
/// something else, so a line that is there is kept in step.
pub fn with_companions(edit: Edit, env: Option<&EnvDocument>) -> Vec<Edit> {
    let companion = match &edit {
        Edit::Config { path, change } => companion(path, change, env),
        Edit::Env { .. } | Edit::Other { .. } => None,
    };
    std::iter::once(edit).chain(companion).collect()
}

fn companion(path: &KeyPath, change: &Change, env: Option<&EnvDocument>) -> Option<Edit> {
    if !KeyPath::of(&["terminal"]).contains(path) {
        return None;
    }
    let name = catalog::catalog().setting(path)?.env.clone()?;
    env?.get_load_env(&name)?;
    let change = match change {
        Change::Set(value) => EnvChange::Set {
            value: bridged(value)?,
        },
        Change::Remove => EnvChange::Remove,
        _ => return None,
    };
    Some(Edit::Env { name, change })
}

/// A value as Hermes puts it into a variable: lists and maps as JSON.
fn bridged(value: &Value) -> Option<String> {
    match value {
        Value::Str(text) => Some(text.clone()),
        Value::List(_) | Value::Map(_) => crate::document::json::to_text(value),
        other => Some(crate::document::yaml::scalar_text(other)),
    }
}

/// Read a JSON or TOML file. One that is empty or not there yet is an empty object.
pub fn parse_tree(name: &str, bytes: &[u8]) -> Result<TreeDocument, ParseError> {
    if bytes.is_empty() && Format::of(name) == Some(Format::Json) {
        return TreeDocument::parse(name, b"{}\n");
    }
    TreeDocument::parse(name, bytes)
}

/// The paths below `path` whose text is a secret where it stands.
fn secret_paths(path: &KeyPath, value: &Value, hidden: &Value, out: &mut Vec<(KeyPath, String)>) {
    match (value, hidden) {
        (Value::Str(text), Value::Str(shown)) if text != shown => {
            out.push((path.clone(), text.clone()));
        }
        (Value::List(a), Value::List(b)) => {
            for ((value, hidden), i) in a.iter().zip(b).zip(0..) {
                secret_paths(&path.child(Step::Index(i)), value, hidden, out);
            }
        }
        (Value::Map(a), Value::Map(b)) => {
            for ((key, value), (_, hidden)) in a.iter().zip(b) {
                if let Some(name) = key.as_str() {
                    secret_paths(&path.child(Step::Key(name.to_owned())), value, hidden, out);
                }
            }
        }
        _ => {}
    }
}

/// One line of a diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffLine {
    /// `-` removed, `+` added, ` ` context.
    pub sign: char,
    /// 1-based line number: in the old text for `-` and context, in the new text for `+`.
    pub number: usize,
    /// The line without its end, secrets masked, control characters made visible.
    pub text: String,
}

/// How two texts differ, by lines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Diff {
    /// Hunks of changed lines, without context.
    pub lines: Vec<DiffLine>,
    /// Lines of the new text that are new or changed, plus lines that went without replacement.
    pub changed: usize,
    /// Lines that stay byte for byte.
    pub kept: usize,
}

/// Compare two texts line by line; the lines shown have their secrets masked, the variables named
/// in `also` among them.
pub fn diff(file: FileId, old: &[u8], new: &[u8], also: &BTreeSet<String>) -> Diff {
    let secrets = {
        let mut all = secrets_of(file, old, also);
        all.extend(secrets_of(file, new, also));
        // The longest first, so that a secret that contains another one goes as a whole.
        all.sort_by_key(|s| std::cmp::Reverse(s.len()));
        all.dedup();
        all
    };
    let text_diff = TextDiff::from_lines(old, new);
    let (mut removed, mut added, mut kept) = (0, 0, 0);
    let mut lines = Vec::new();
    for change in text_diff.iter_all_changes() {
        let (sign, index) = match change.tag() {
            ChangeTag::Equal => {
                kept += 1;
                continue;
            }
            ChangeTag::Delete => {
                removed += 1;
                ('-', change.old_index())
            }
            ChangeTag::Insert => {
                added += 1;
                ('+', change.new_index())
            }
        };
        let raw = String::from_utf8_lossy(change.value());
        let line = raw.strip_suffix('\n').unwrap_or(&raw);
        let line = line.strip_suffix('\r').unwrap_or(line);
        lines.push(DiffLine {
            sign,
            number: index.unwrap_or(0) + 1,
            text: visible(&hide(line, &secrets)),
        });
    }
    Diff {
        lines,
        changed: removed.max(added),
        kept,
    }
}

/// Every secret value of a text, each of its lines for itself.
fn secrets_of(file: FileId, bytes: &[u8], also: &BTreeSet<String>) -> Vec<String> {
    let catalog = catalog::catalog();
    let mut out = Vec::new();
    let mut add = |value: &str| {
        for line in value.lines().map(str::trim).filter(|l| l.len() >= 3) {
            out.push(line.to_owned());
        }
    };
    match file {
        FileId::Env => {
            if let Ok(doc) = parse_env(bytes) {
                for entry in doc.entries() {
                    if catalog.is_secret_name(&entry.name) || also.contains(&entry.name) {
                        // As the file spells it as well: escapes would hide it from a search.
                        add(&String::from_utf8_lossy(&bytes[entry.spans.value.clone()]));
                        add(entry.value.as_deref().unwrap_or_default());
                        add(entry.load_env_value.as_deref().unwrap_or_default());
                    }
                }
            }
        }
        FileId::Other(_) => {
            if let Ok(doc) = parse_tree(file.name(), bytes) {
                let root = doc.root();
                let hidden = crate::settings::hide_secrets(&KeyPath::default(), &root);
                let mut found = Vec::new();
                secret_paths(&KeyPath::default(), &root, &hidden, &mut found);
                for (path, text) in &found {
                    add(text);
                    add(doc.raw(path).unwrap_or_default());
                }
            }
        }
        FileId::Config => {
            if let Ok(doc) = YamlDocument::parse(bytes) {
                for leaf in doc.leaves() {
                    if catalog::catalog().is_secret_path(&leaf.path) {
                        if let Some(text) = leaf.value.as_str() {
                            add(text);
                        }
                        add(doc.raw(&leaf.path).unwrap_or_default());
                    }
                }
            }
        }
    }
    out
}

/// Put the masked form in the place of each secret, then hide what merely looks like one.
fn hide(line: &str, secrets: &[String]) -> String {
    let mut text = line.to_owned();
    for secret in secrets {
        if text.contains(secret.as_str()) {
            text = text.replace(secret.as_str(), &catalog::mask(secret));
        }
    }
    catalog::redact(&text)
}

/// Make control characters visible, so that a file cannot steer the terminal.
pub fn visible(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\t' => '→',
            c if c.is_control() => '·',
            '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{feff}' => '·',
            c => c,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_emptied_section_goes_unless_a_comment_would_go_with_it() {
        let removed = |text: &str, keys: &[&str]| {
            let doc = parse_config(text.as_bytes()).unwrap();
            removal(&doc, &KeyPath::of(keys)).to_string()
        };
        assert_eq!(removed("a:\n  x: 1\nb: 2\n", &["a", "x"]), "a");
        assert_eq!(
            removed("a:\n  b:\n    x: 1\n  c: 2\n", &["a", "b", "x"]),
            "a.b"
        );
        assert_eq!(removed("a:\n  x: 1\n  y: 2\n", &["a", "x"]), "a.x");
        assert_eq!(removed("# why\na:\n  x: 1\nb: 2\n", &["a", "x"]), "a.x");
        assert_eq!(removed("a:\n- 1\n", &["a", "0"]), "a.0");
    }
}
