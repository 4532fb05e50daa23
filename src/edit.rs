//! Changes as values: what the user asked for, not yet written.
//!
//! Responsible for: one [`Edit`], and the [`EditLog`] with undo and redo.
//! Not responsible for: applying edits to text ([`crate::plan`]) or saving them ([`crate::session`]).

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::document::dotenv::EnvChange;
use crate::document::{Change, KeyPath};

/// A file of the home that this program edits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileId {
    /// `config.yaml`
    Config,
    /// `.env`
    Env,
    /// A JSON or TOML file of the home.
    Other(Name),
}

/// The name of a file inside the home, kept once for the life of the program: there are few of
/// them, and a name that can be copied keeps every signature simple.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(&'static str);

impl Name {
    /// The name as a value that can be copied.
    pub fn of(text: &str) -> Self {
        static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
        let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = names.get(text) {
            return Self(known);
        }
        let kept: &'static str = Box::leak(text.to_owned().into_boxed_str());
        names.insert(kept);
        Self(kept)
    }
}

impl Serialize for Name {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.0)
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from).map(|text| Self::of(&text))
    }
}

impl FileId {
    /// The file's name inside the home.
    pub fn name(self) -> &'static str {
        match self {
            Self::Config => "config.yaml",
            Self::Env => ".env",
            Self::Other(name) => name.0,
        }
    }
}

/// One wanted change of one value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Edit {
    /// A variable of `.env`.
    Env {
        /// The variable's name.
        name: String,
        /// What happens to it.
        change: EnvChange,
    },
    /// A path of a JSON or TOML file.
    Other {
        /// Which file.
        file: Name,
        /// Where.
        path: KeyPath,
        /// What happens there.
        change: Change,
    },
    /// A path of `config.yaml`.
    Config {
        /// Where.
        path: KeyPath,
        /// What happens there.
        change: Change,
    },
}

impl Edit {
    /// The file it belongs to.
    pub fn file(&self) -> FileId {
        match self {
            Self::Env { .. } => FileId::Env,
            Self::Config { .. } => FileId::Config,
            Self::Other { file, .. } => FileId::Other(*file),
        }
    }

    /// The key as the user writes it.
    pub fn key(&self) -> String {
        match self {
            Self::Env { name, .. } => name.clone(),
            Self::Config { path, .. } | Self::Other { path, .. } => path.to_string(),
        }
    }
}

/// What one action of the user asked for: one edit, or several that belong together (picking a
/// model writes three keys). Undo takes a whole step back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// One line for the list of changes; never contains a secret.
    pub label: String,
    /// In the order they are applied.
    pub edits: Vec<Edit>,
}

/// All steps since the last save, with undo and redo.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct EditLog {
    done: Vec<Step>,
    #[serde(skip)]
    undone: Vec<Step>,
}

impl EditLog {
    /// Add a step; what was undone before can no longer be redone.
    pub fn push(&mut self, step: Step) {
        self.done.push(step);
        self.undone.clear();
    }

    /// Take the last step back and return it.
    pub fn undo(&mut self) -> Option<&Step> {
        let step = self.done.pop()?;
        self.undone.push(step);
        self.undone.last()
    }

    /// Do the step again that was last taken back, and return it.
    pub fn redo(&mut self) -> Option<&Step> {
        let step = self.undone.pop()?;
        self.done.push(step);
        self.done.last()
    }

    /// Leave out the step with this index; it can be brought back with [`EditLog::redo`].
    pub fn drop_step(&mut self, index: usize) -> Option<&Step> {
        if index >= self.done.len() {
            return None;
        }
        let step = self.done.remove(index);
        self.undone.push(step);
        self.undone.last()
    }

    /// Forget everything (after a save).
    pub fn clear(&mut self) {
        self.done.clear();
        self.undone.clear();
    }

    /// Keep only the steps that still have edits outside `file` (after that file was saved).
    pub fn forget_file(&mut self, file: FileId) {
        for step in &mut self.done {
            step.edits.retain(|e| e.file() != file);
        }
        self.done.retain(|s| !s.edits.is_empty());
        self.undone.clear();
    }

    /// The steps in order.
    pub fn steps(&self) -> &[Step] {
        &self.done
    }

    /// All edits in order.
    pub fn edits(&self) -> impl Iterator<Item = &Edit> {
        self.done.iter().flat_map(|s| &s.edits)
    }

    /// The files that are touched, `config.yaml` first.
    pub fn files(&self) -> Vec<FileId> {
        let files: BTreeSet<FileId> = self.edits().map(Edit::file).collect();
        files.into_iter().collect()
    }

    /// Whether nothing is waiting to be saved.
    pub fn is_empty(&self) -> bool {
        self.done.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Value;

    fn step(key: &str) -> Step {
        Step {
            label: key.into(),
            edits: vec![Edit::Config {
                path: KeyPath::of(&[key]),
                change: Change::Set(Value::Int(1)),
            }],
        }
    }

    #[test]
    fn undo_and_redo_walk_the_same_steps() {
        let mut log = EditLog::default();
        log.push(step("a"));
        log.push(step("b"));
        assert_eq!(log.undo().unwrap().label, "b");
        assert_eq!(log.redo().unwrap().label, "b");
        assert_eq!(log.redo(), None);
        log.undo();
        log.push(step("c"));
        assert_eq!(log.redo(), None, "a new step ends the redo branch");
        assert_eq!(log.edits().count(), 2);
    }

    #[test]
    fn saving_one_file_keeps_the_other_files_edits() {
        let mut log = EditLog::default();
        let mut both = step("a");
        both.edits.push(Edit::Env {
            name: "X_API_KEY".into(),
            change: EnvChange::Remove,
        });
        log.push(both);
        log.forget_file(FileId::Config);
        assert_eq!(
            log.edits().map(Edit::key).collect::<Vec<_>>(),
            ["X_API_KEY"]
        );
        log.forget_file(FileId::Env);
        assert!(log.is_empty());
    }

    #[test]
    fn a_log_survives_the_draft_file() {
        let mut log = EditLog::default();
        log.push(step("a"));
        let text = serde_json::to_string(&log).unwrap();
        assert_eq!(serde_json::from_str::<EditLog>(&text).unwrap(), log);
    }
}
