//! Files as their original text plus the byte span of every key and value.
//!
//! Responsible for: reading `.env`, YAML, TOML and JSON the way Hermes reads them, and turning a
//! change of one value into the smallest list of byte splices, proved by parsing the result again.
//! Not responsible for: IO, what a key means ([`crate::catalog`]), when to save.

pub mod dotenv;
pub mod json;
pub mod path;
pub mod splice;
pub mod toml;
pub mod tree;
pub mod value;
pub mod yaml;

pub use path::{KeyPath, Step};
pub use splice::{Edited, Splice, apply};
pub use value::Value;

/// What to do at one path of a YAML, TOML or JSON document.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Give the path this value; parents that do not exist are made.
    Set(Value),
    /// Take the entry or element out, with the comments that belong to it.
    Remove,
    /// Add an element at the end of the list at the path (the list is made when missing).
    Append(Value),
    /// Add an element before the element with this index of the list at the path.
    Insert(usize, Value),
    /// Move the list element at `from` so that it has index `to` afterwards.
    Move {
        /// Index now.
        from: usize,
        /// Index afterwards.
        to: usize,
    },
    /// Give the mapping key at the path another name, in place.
    Rename(String),
}

/// Why a file cannot be read as a document. Such a file is shown read-only and never written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {reason}")]
pub struct ParseError {
    /// 1-based line.
    pub line: usize,
    /// 1-based column, in characters.
    pub column: usize,
    /// A sentence without a final stop. Never contains a value from the file.
    pub reason: String,
}

/// Why one change cannot be made. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The path is not in the file.
    #[error("{key} is not set in this file")]
    NotFound {
        /// The path as the user writes it.
        key: String,
    },
    /// A parent on the way is a value that cannot hold the rest of the path.
    #[error("{key} cannot be set: {parent} holds {kind}, not a section")]
    WrongParent {
        /// The path as the user writes it.
        key: String,
        /// The parent that stands in the way.
        parent: String,
        /// What the parent is, with its article ("a string").
        kind: &'static str,
    },
    /// The shape of the file around the path does not allow a safe change.
    #[error("{key} cannot be edited safely (line {line}): {reason}")]
    Unsafe {
        /// The path as the user writes it.
        key: String,
        /// 1-based line of the construct that stands in the way.
        line: usize,
        /// A sentence without a final stop.
        reason: String,
    },
    /// The name is not one that the file format or Hermes can hold.
    #[error("{key} is not a usable name: {reason}")]
    BadName {
        /// The name as given.
        key: String,
        /// A sentence without a final stop.
        reason: String,
    },
    /// The value has no form in the file that its readers would read back unchanged.
    #[error("the value of {key} cannot be stored in this file: {reason}")]
    BadValue {
        /// The path as the user writes it.
        key: String,
        /// A sentence without a final stop; never contains the value.
        reason: String,
    },
    /// Parsing the result again did not give exactly the change that was asked for.
    #[error("{key} was not changed: the result would not read back as asked ({reason})")]
    Proof {
        /// The path as the user writes it.
        key: String,
        /// What differed; never contains a value.
        reason: String,
    },
}
