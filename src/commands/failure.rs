//! Why a command did not do what it was asked to.
//!
//! Responsible for: the message, what to do next, and both as text and as JSON. Not responsible
//! for: printing (`main`). Neither part ever holds a secret.

use std::fmt;

use serde_json::{Value as Json, json};

/// A refusal or a failure; nothing was lost.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// What was tried, on which file and key, and why it did not work.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
    /// The key it was about.
    pub key: Option<String>,
    /// The report of the writer, when the write was tried.
    pub report: Option<Box<Json>>,
    /// Nobody reads our output any more: end quietly.
    pub broken_pipe: bool,
}

impl Failure {
    /// A failure with a message and nothing else.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
            key: None,
            report: None,
            broken_pipe: false,
        }
    }

    /// Say what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Name the key.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// The object printed under `--json`.
    pub fn to_json(&self) -> Json {
        let mut error = json!({ "message": self.message, "hint": self.hint, "key": self.key });
        if let Some(report) = &self.report {
            error["report"] = Json::clone(report);
        }
        json!({ "ok": false, "error": error })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "hermes-tui: {}", self.message)?;
        if let Some(hint) = &self.hint {
            write!(f, "\n  {hint}")?;
        }
        Ok(())
    }
}

/// Output that cannot be written.
impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        let broken_pipe = error.kind() == std::io::ErrorKind::BrokenPipe;
        Self {
            broken_pipe,
            ..Self::new(format!("the output cannot be written: {error}"))
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::new(format!("the result has no JSON form: {error}"))
    }
}
