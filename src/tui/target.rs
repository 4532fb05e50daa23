//! What a row or an editor stands for: a value in one of the home's files.

use crate::document::dotenv::EnvChange;
use crate::document::{Change, KeyPath, Value};
use crate::edit::{Edit, FileId, Name};

/// What an editor or a row stands for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// A path of `config.yaml`.
    Config(KeyPath),
    /// A variable of `.env`.
    Env(String),
    /// A path of a JSON or TOML file.
    Other(Name, KeyPath),
}

impl Target {
    /// The key as the user writes it.
    pub fn key(&self) -> String {
        match self {
            Self::Env(name) => name.clone(),
            Self::Other(name, path) if path.0.is_empty() => FileId::Other(*name).name().to_owned(),
            Self::Config(path) | Self::Other(_, path) => path.to_string(),
        }
    }

    /// The file it lives in.
    pub fn file(&self) -> FileId {
        match self {
            Self::Config(_) => FileId::Config,
            Self::Env(_) => FileId::Env,
            Self::Other(name, _) => FileId::Other(*name),
        }
    }

    /// The path inside the file; a variable has none.
    pub fn path(&self) -> Option<&KeyPath> {
        match self {
            Self::Config(path) | Self::Other(_, path) => Some(path),
            Self::Env(_) => None,
        }
    }

    /// Another path of the same file.
    #[must_use]
    pub fn at(&self, path: KeyPath) -> Self {
        match self {
            Self::Other(name, _) => Self::Other(*name, path),
            Self::Config(_) | Self::Env(_) => Self::Config(path),
        }
    }

    /// The edit that makes a change. A variable can only be set to a text and removed.
    pub fn edit(&self, change: Change) -> Edit {
        match self.clone() {
            Self::Config(path) => Edit::Config { path, change },
            Self::Other(file, path) => Edit::Other { file, path, change },
            Self::Env(name) => Edit::Env {
                name,
                change: match change {
                    Change::Set(value) => EnvChange::Set {
                        value: text_of(&value),
                    },
                    _ => EnvChange::Remove,
                },
            },
        }
    }
}

/// The text of a value without quotes; what is no text as YAML writes it.
pub fn text_of(value: &Value) -> String {
    match value {
        Value::Str(s) => s.clone(),
        Value::Null => String::new(),
        other => crate::document::yaml::scalar_text(other),
    }
}
