//! JSON and TOML behind one face, for the files of the home besides `config.yaml` and `.env`.

use std::path::Path;

use super::json::JsonDocument;
use super::toml::TomlDocument;
use super::{Change, EditError, Edited, KeyPath, ParseError, Value};

/// The two formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `*.json`
    Json,
    /// `*.toml`
    Toml,
}

impl Format {
    /// The format of a file, by its name; `None` when it is neither.
    pub fn of(name: &str) -> Option<Self> {
        match Path::new(name).extension()?.to_str()? {
            "json" => Some(Self::Json),
            "toml" => Some(Self::Toml),
            _ => None,
        }
    }
}

/// A document of names, lists and values in one of the two formats.
#[derive(Clone)]
pub enum TreeDocument {
    /// `*.json`
    Json(JsonDocument),
    /// `*.toml`
    Toml(TomlDocument),
}

impl TreeDocument {
    /// Read a file; its name decides the format.
    pub fn parse(name: &str, bytes: &[u8]) -> Result<Self, ParseError> {
        match Format::of(name) {
            Some(Format::Toml) => TomlDocument::parse(bytes).map(Self::Toml),
            Some(Format::Json) | None => JsonDocument::parse(bytes).map(Self::Json),
        }
    }

    /// The whole document as a value.
    pub fn root(&self) -> Value {
        match self {
            Self::Json(doc) => doc.root(),
            Self::Toml(doc) => doc.root(),
        }
    }

    /// The value at a path.
    pub fn get(&self, path: &KeyPath) -> Option<Value> {
        match self {
            Self::Json(doc) => doc.get(path),
            Self::Toml(doc) => doc.get(path),
        }
    }

    /// The value at a path as the file spells it.
    pub fn raw(&self, path: &KeyPath) -> Option<&str> {
        match self {
            Self::Json(doc) => doc.raw(path),
            Self::Toml(doc) => doc.raw(path),
        }
    }

    /// 1-based line of a path.
    pub fn line(&self, path: &KeyPath) -> Option<usize> {
        match self {
            Self::Json(doc) => doc.line(path),
            Self::Toml(doc) => doc.line(path),
        }
    }

    /// Changes one after the other; the splices count from this document.
    pub fn edit_all(&self, changes: &[(KeyPath, Change)]) -> Result<Edited, EditError> {
        match self {
            Self::Json(doc) => doc.edit_all(changes),
            Self::Toml(doc) => doc.edit_all(changes),
        }
    }
}

impl std::fmt::Debug for TreeDocument {
    /// Only the format: the text may hold secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Json(_) => "TreeDocument::Json",
            Self::Toml(_) => "TreeDocument::Toml",
        })
    }
}
