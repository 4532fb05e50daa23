//! `.env`: read as a running Hermes reads it, changed one assignment at a time.
//!
//! Responsible for: every assignment with its place and what Hermes' two readers make of it
//! (python-dotenv behind a repair pass, and the line reader `load_env`), changing and removing
//! assignments with proof, and naming the lines that readers disagree about. Not responsible for:
//! which names exist and which are secret (the caller's [`EnvRules`]), IO.

pub(in crate::document) mod compose;
mod edit;
mod encode;
mod entries;
mod grammar;
mod interpolate;
mod load_env;
mod names;
mod placing;
mod problems;
mod proof;
mod repair;
mod shell;
mod text;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use super::{EditError, Edited, ParseError};
pub use problems::{EnvProblem, ProblemKind};

/// A `.env` file: its bytes and what they mean.
#[derive(Clone)]
pub struct EnvDocument {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    /// What `load_env` reads, line by line.
    lines: Vec<load_env::Line>,
    /// Every name python-dotenv sees, with its value before `${}`; the last one counts.
    bindings: Vec<(String, Option<String>)>,
    /// Comment lines that hold a commented-out assignment: the name and the end of the line.
    templates: Vec<(String, usize)>,
    /// Lines that are no assignment, bare name or comment: byte offset.
    junk: Vec<usize>,
    utf8: bool,
}

/// One assignment in the file.
#[derive(Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name, without quotes or `export`.
    pub name: String,
    /// 1-based line of the name.
    pub line: usize,
    /// How many lines it takes.
    pub lines: usize,
    /// `export` stands in front.
    pub export: bool,
    /// Hermes uses this assignment: it is the last one of its name.
    pub in_force: bool,
    /// What keeps Hermes from seeing the assignment as it looks, if anything does.
    pub state: EntryState,
    /// What python-dotenv reads, with `${}` replaced from earlier lines of this file only.
    /// `None` when it reads no value here.
    pub value: Option<String>,
    /// What python-dotenv reads before `${}` is replaced.
    pub template: Option<String>,
    /// What `load_env` reads on the entry's first line; `None` when it sees another name there.
    pub load_env_value: Option<String>,
    /// The quote around the value.
    pub quote: Option<char>,
    /// Where the parts stand in the file.
    pub spans: Spans,
}

impl Entry {
    /// The name for display: a pasted secret without a name reads as one, and is not shown.
    pub fn shown_name(&self) -> &str {
        names::shown(&self.name)
    }
}

/// Whether Hermes sees an assignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryState {
    /// It does.
    Live,
    /// The name stands alone, without `=`; python-dotenv takes it as "no value".
    NoValue,
    /// python-dotenv skips the line (an open quote, text behind a closing quote).
    Broken,
    /// A byte-order mark in front makes it another name for python-dotenv.
    BehindBom,
    /// It stands on one line with another assignment; Hermes' repair pass cuts them apart.
    Glued,
}

/// Byte ranges in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spans {
    /// From the start of the line, indentation included, to the end of the text, without the line
    /// end. For a glued assignment only its own part of the line.
    pub whole: Range<usize>,
    /// The name, without quotes.
    pub key: Range<usize>,
    /// The value with its quotes; empty where there is none.
    pub value: Range<usize>,
    /// The comment behind the value.
    pub comment: Option<Range<usize>>,
    /// The line end behind `whole`; empty at the end of the file and inside a glued line.
    pub line_end: Range<usize>,
}

/// What to do with one name.
#[derive(Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EnvChange {
    /// Give it this value, on the line that is in force, or on a new one.
    Set {
        /// The value every reader shall see.
        value: String,
    },
    /// Take out every assignment of the name.
    Remove,
    /// Take out every assignment of the name but the one in force.
    Dedupe,
}

impl EnvChange {
    /// A [`EnvChange::Set`].
    pub fn set(value: impl Into<String>) -> Self {
        Self::Set {
            value: value.into(),
        }
    }
}

/// What the caller knows about names, and what the user has agreed to.
#[derive(Clone, Copy)]
pub struct EnvRules<'a> {
    /// Names that Hermes' repair pass cuts lines at.
    pub known: &'a dyn Fn(&str) -> bool,
    /// Names whose value is a secret.
    pub credential: &'a dyn Fn(&str) -> bool,
    /// Names that Hermes refuses to write (`LD_PRELOAD`, `PATH`).
    pub denied: &'a dyn Fn(&str) -> bool,
    /// What the user has said yes to; [`EnvDocument::questions`] says what to ask.
    pub accept: Accept,
}

/// Consents; all off by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Accept {
    /// A secret with characters outside ASCII, which Hermes drops when it loads the file.
    pub non_ascii_credential: bool,
    /// A value that looks like a mask or a placeholder instead of a secret.
    pub placeholder: bool,
    /// A value that has no form a shell could read, and from which a shell that sources the file
    /// would run a command.
    pub shell_runs: bool,
}

/// Something to ask before a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// See [`Accept::non_ascii_credential`].
    NonAsciiCredential,
    /// See [`Accept::placeholder`].
    Placeholder,
    /// See [`Accept::shell_runs`].
    ShellRuns,
}

impl Question {
    /// What is unusual, as a clause without a final stop.
    pub fn text(self) -> &'static str {
        match self {
            Self::NonAsciiCredential => {
                "the value has characters outside ASCII, and Hermes drops those from a credential"
            }
            Self::Placeholder => {
                "the value looks like a mask or a placeholder, not like a real secret"
            }
            Self::ShellRuns => {
                "a shell that sources the file would run a command out of this value, and it has no other form"
            }
        }
    }
}

impl EnvDocument {
    /// Read a file without the names that Hermes cuts glued lines at.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        Self::parse_with(bytes, &|_| false)
    }

    /// Read a file as Hermes does; `known` are the names its repair pass cuts glued lines at.
    ///
    /// # Errors
    /// UTF-16, UTF-32 and NUL bytes. Everything else is a document: bytes that are not UTF-8 are
    /// read as Latin-1, as Hermes does, and stay as they are.
    pub fn parse_with(bytes: &[u8], known: &dyn Fn(&str) -> bool) -> Result<Self, ParseError> {
        entries::refuse_wide_text(bytes)?;
        Ok(entries::read(bytes, known))
    }

    /// The file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Every assignment in file order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Whether the file is UTF-8.
    pub fn is_utf8(&self) -> bool {
        self.utf8
    }

    /// The assignment that is in force for a name, if Hermes sees one.
    pub fn in_force(&self, name: &str) -> Option<&Entry> {
        self.entries
            .iter()
            .rev()
            .find(|e| e.in_force && e.name == name)
    }

    /// What a running Hermes gets for a name, `${}` replaced from this file only.
    pub fn get(&self, name: &str) -> Option<String> {
        self.get_with(name, &|_| None)
    }

    /// What a running Hermes gets for a name; `outside` is the environment it was started in.
    pub fn get_with(&self, name: &str, outside: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        self.values(outside).remove(name)
    }

    /// Every variable that a running Hermes gets from this file.
    pub fn values(&self, outside: &dyn Fn(&str) -> Option<String>) -> BTreeMap<String, String> {
        entries::resolve(&self.bindings, outside)
            .into_iter()
            .filter_map(|(name, value)| {
                let value = repair::in_memory(&name, &value?);
                Some((name, value))
            })
            .collect()
    }

    /// What `load_env` (`hermes config`, the dashboard) reads for a name.
    pub fn get_load_env(&self, name: &str) -> Option<String> {
        self.lines
            .iter()
            .rev()
            .find(|l| l.name == name)
            .map(|l| l.value.clone())
    }

    /// Everything `load_env` reads.
    pub fn load_env_values(&self) -> BTreeMap<String, String> {
        self.lines
            .iter()
            .map(|l| (l.name.clone(), l.value.clone()))
            .collect()
    }

    /// What to ask the user before `value` is written to `name`. Empty when nothing is unusual.
    pub fn questions(&self, name: &str, value: &str, rules: &EnvRules<'_>) -> Vec<Question> {
        edit::questions(self, name, value, rules)
    }

    /// Change one name.
    ///
    /// # Errors
    /// [`EditError::BadName`], [`EditError::BadValue`] (also where a [`Question`] was not
    /// accepted), [`EditError::NotFound`] for a removal, [`EditError::Unsafe`] and
    /// [`EditError::Proof`] when the result would not read back as asked.
    pub fn edit(
        &self,
        name: &str,
        change: &EnvChange,
        rules: &EnvRules<'_>,
    ) -> Result<Edited, EditError> {
        edit::edit(&self.bytes, name, change, rules)
    }

    /// Change several names, one after the other; the splices count from this document.
    ///
    /// # Errors
    /// The first one that [`EnvDocument::edit`] gives; then nothing is changed.
    pub fn edit_all(
        &self,
        changes: &[(String, EnvChange)],
        rules: &EnvRules<'_>,
    ) -> Result<Edited, EditError> {
        let mut pieces = compose::Pieces::new(self.bytes.len());
        let mut bytes = self.bytes.clone();
        let mut notes: Vec<String> = Vec::new();
        for (name, change) in changes {
            let edited = edit::edit(&bytes, name, change, rules)?;
            pieces.apply(&edited.splices);
            bytes = edited.bytes;
            for note in edited.notes {
                if !notes.contains(&note) {
                    notes.push(note);
                }
            }
        }
        Ok(pieces.edited(&self.bytes, bytes, notes))
    }

    /// Everything that Hermes or another reader will misread, ignore or refuse, in line order.
    pub fn problems(&self, rules: &EnvRules<'_>) -> Vec<EnvProblem> {
        problems::find(self, rules)
    }
}

impl fmt::Debug for EnvDocument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnvDocument")
            .field("bytes", &self.bytes.len())
            .field("entries", &self.entries)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("name", &self.shown_name())
            .field("line", &self.line)
            .field("state", &self.state)
            .field("in_force", &self.in_force)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for EnvChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Set { .. } => "Set(..)",
            Self::Remove => "Remove",
            Self::Dedupe => "Dedupe",
        })
    }
}
