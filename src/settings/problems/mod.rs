//! Everything Hermes will misread, ignore or refuse.
//!
//! Responsible for: the list of problems, each with its place and, where one key press can help,
//! its fix. Texts never hold a secret. Not responsible for: file modes, mounts, links.

mod config;
mod cross;
mod env;

use std::fmt;

use super::Layers;
use super::show::{hide_secrets, show};
use super::view::View;
use crate::catalog::Severity;
use crate::document::{KeyPath, ParseError, Value};

/// The file a problem is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum File {
    /// `config.yaml`.
    Config,
    /// `.env`.
    Env,
    /// `config.yaml` of the administrator.
    ManagedConfig,
    /// `.env` of the administrator.
    ManagedEnv,
}

impl File {
    /// The name people know it by.
    pub fn label(self) -> &'static str {
        match self {
            Self::Config => "config.yaml",
            Self::Env => ".env",
            Self::ManagedConfig => "the administrator's config.yaml",
            Self::ManagedEnv => "the administrator's .env",
        }
    }
}

/// What one key press can do about a problem.
#[derive(Debug, Clone, PartialEq)]
pub enum Fix {
    /// Give a setting this value. Never a secret.
    SetConfig(KeyPath, Value),
    /// Take a setting out of the file.
    UnsetConfig(KeyPath),
    /// Move a setting, value and all: to another name, or to another section.
    MoveConfig {
        /// Now.
        from: KeyPath,
        /// Afterwards.
        to: KeyPath,
    },
    /// Give a variable this value. Never a secret.
    SetEnv(String, String),
    /// Take a variable out of the file.
    UnsetEnv(String),
    /// Keep the assignment in force, take the others out.
    DedupeEnv(String),
    /// Write the variable again with the value a running Hermes reads, in the form all readers
    /// agree on.
    RewriteEnv(String),
    /// Give a variable another name.
    RenameEnv {
        /// Now.
        from: String,
        /// Afterwards.
        to: String,
    },
}

impl fmt::Display for Fix {
    /// As an order: "set terminal.timeout to 180". Never shows a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SetConfig(path, value) => {
                write!(f, "set {path} to {}", show(&hide_secrets(path, value)))
            }
            Self::UnsetConfig(path) => write!(f, "remove {path}"),
            Self::MoveConfig { from, to } => write!(f, "move {from} to {to}"),
            Self::SetEnv(name, _) => write!(f, "set {name}"),
            Self::UnsetEnv(name) => write!(f, "remove {name}"),
            Self::DedupeEnv(name) => write!(f, "keep the last {name}, remove the others"),
            Self::RewriteEnv(name) => write!(f, "write {name} so that every reader agrees"),
            Self::RenameEnv { from, to } => write!(f, "rename {from} to {to}"),
        }
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// How serious it is.
    pub severity: Severity,
    /// Where.
    pub file: File,
    /// The setting or variable; empty where it is the file itself.
    pub key: String,
    /// 1-based.
    pub line: Option<usize>,
    /// One clause, without the key where `key` says it.
    pub title: String,
    /// What it means and what to do, in a sentence or two.
    pub detail: String,
    /// What one key press can do.
    pub fix: Option<Fix>,
}

/// A file that cannot be read at all, as a problem.
pub fn parse_problem(file: File, error: &ParseError) -> Problem {
    let detail = match file {
        File::Config => {
            "Hermes ignores the whole file and runs with its defaults until this is mended."
        }
        File::ManagedConfig | File::ManagedEnv => {
            "Hermes ignores the file, so nothing in it is enforced."
        }
        File::Env => "The file cannot be edited here as it is.",
    };
    Problem {
        severity: Severity::Error,
        file,
        key: String::new(),
        line: Some(error.line),
        title: format!(
            "{} cannot be read: line {}, column {}: {}",
            file.label(),
            error.line,
            error.column,
            error.reason
        ),
        detail: detail.to_owned(),
        fix: None,
    }
}

/// All problems, the serious ones first, then by file and line.
pub fn problems(layers: &Layers<'_>) -> Vec<Problem> {
    let view = View::new(layers);
    let mut out = Vec::new();
    config::find(&view, &mut out);
    env::find(&view, &mut out);
    cross::find(&view, &mut out);
    out.sort_by(|a, b| {
        b.severity
            .cmp(&a.severity)
            .then(a.file.cmp(&b.file))
            .then(a.line.cmp(&b.line))
            .then(a.key.cmp(&b.key))
    });
    out.dedup();
    out
}

#[cfg(test)]
mod tests;
