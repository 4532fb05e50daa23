//! From edits to a saved file, on the text that is on disk at that moment.
//!
//! Responsible for: reading again, telling conflicts, applying the edits to the newer text as often
//! as it takes, and handing it to the writer. Not responsible for: how a file is replaced.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::loaded::{in_words, is_absent, read_regular};
use super::{options, path_of};
use crate::document::{Change, KeyPath, Step, Value};
use crate::edit::{Edit, FileId};
use crate::home::Home;
use crate::plan::{self, PlanError};
use crate::writer::{self, FailureKind, SaveError, SaveReport};

/// Why a file was not saved. Nothing was changed in it.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// The edits cannot be applied to the file as it is now.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Somebody else changed the same key since it was loaded.
    #[error("{file}: {} changed on disk since it was loaded; nothing was written", keys.join(", "))]
    Conflict {
        /// The file's name inside the home.
        file: &'static str,
        /// The keys that both sides changed.
        keys: Vec<String>,
    },
    /// The file cannot be read.
    #[error("{}: cannot be read: {reason}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason, in words.
        reason: String,
    },
    /// The writer refused or failed; old content is intact.
    #[error(transparent)]
    Write(#[from] SaveError),
    /// Another program owns the settings of this home.
    #[error("{file}: this home is managed by {by}; nothing was written")]
    Managed {
        /// The file's name inside the home.
        file: &'static str,
        /// Who manages it.
        by: String,
    },
    /// The file kept changing underneath.
    #[error("{file}: another program keeps changing it; nothing was written, try again")]
    Busy {
        /// The file's name inside the home.
        file: &'static str,
    },
}

/// What a save of one file came to.
#[derive(Debug)]
pub struct Outcome {
    /// Which file.
    pub file: FileId,
    /// The report, or why nothing was written.
    pub result: Result<SaveReport, CommitError>,
    /// Lines changed.
    pub changed: usize,
    /// The file had changed underneath; the edits were applied to the newer text.
    pub rebased: bool,
    /// What the user should know about the edits themselves.
    pub notes: Vec<String>,
}

/// What to do when a key was changed by somebody else since `base`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnConflict {
    /// Refuse: the user saw another value when deciding.
    Refuse,
    /// Write all the same: the user just said so.
    Overwrite,
}

/// How often a file may change between reading and committing before we give up.
const TRIES: usize = 20;

/// Apply edits to a file and save it. The edits are applied to the text found on disk at the
/// moment of writing: when another program changes the file in between, they are applied again to
/// the newer text. With `base` (the text the user saw) a key that both sides changed is a conflict.
pub fn commit(
    home: &Home,
    file: FileId,
    edits: &[Edit],
    base: Option<&[u8]>,
    on_conflict: OnConflict,
) -> Outcome {
    let mut outcome = Outcome {
        file,
        result: Err(CommitError::Busy { file: file.name() }),
        changed: 0,
        rebased: false,
        notes: Vec::new(),
    };
    if let Err(error) = refuse_managed(home, file) {
        outcome.result = Err(error);
        return outcome;
    }
    // An index means another element once the list has changed, so edits of lists are bound to the
    // text that was first read even when the user has seen none.
    let first = match read(&path_of(home, file)) {
        Ok(first) => first,
        Err(error) => {
            outcome.result = Err(error);
            return outcome;
        }
    };
    for _ in 0..TRIES {
        match try_commit(home, file, edits, (base, &first), on_conflict, &mut outcome) {
            Err(CommitError::Write(error)) if error.kind == FailureKind::Changed => {
                outcome.rebased = true;
            }
            other => {
                outcome.result = other;
                return outcome;
            }
        }
    }
    outcome
}

fn try_commit(
    home: &Home,
    file: FileId,
    edits: &[Edit],
    (base, first): (Option<&[u8]>, &[u8]),
    on_conflict: OnConflict,
    outcome: &mut Outcome,
) -> Result<SaveReport, CommitError> {
    let path = path_of(home, file);
    let old = read(&path)?;
    if let Some(base) = base
        && old != base
    {
        outcome.rebased = true;
        if on_conflict == OnConflict::Refuse {
            let list: Vec<&Edit> = edits.iter().collect();
            refuse_conflicts(file, base, &old, &list)?;
        }
    }
    if old != first {
        let by_index: Vec<&Edit> = edits.iter().filter(|e| list_of(e).is_some()).collect();
        refuse_conflicts(file, first, &old, &by_index)?;
    }
    let edited = plan::apply(file, &old, edits.iter())?;
    outcome.changed = plan::diff(file, &old, &edited.bytes, &BTreeSet::new()).changed;
    outcome.notes.clone_from(&edited.notes);
    let mut options = options(home);
    options.expected = Some(old);
    Ok(writer::write(&path, &edited.bytes, &options)?)
}

/// A managed home is not written to, whoever asks.
pub(super) fn refuse_managed(home: &Home, file: FileId) -> Result<(), CommitError> {
    match &home.managed {
        Some(managed) => Err(CommitError::Managed {
            file: file.name(),
            by: managed.by.clone(),
        }),
        None => Ok(()),
    }
}

pub(super) fn read(path: &Path) -> Result<Vec<u8>, CommitError> {
    match read_regular(path) {
        Ok(bytes) => Ok(bytes),
        Err(e) if is_absent(&e) => Ok(Vec::new()),
        Err(e) => Err(CommitError::Read {
            path: path.to_owned(),
            reason: in_words(&e),
        }),
    }
}

/// A key is in conflict when the value on disk is neither what the user saw nor what the user
/// wants.
pub(super) fn refuse_conflicts(
    file: FileId,
    base: &[u8],
    now: &[u8],
    edits: &[&Edit],
) -> Result<(), CommitError> {
    let wanted = plan::apply(file, base, edits.iter().copied()).map(|e| e.bytes)?;
    let mut keys: Vec<String> = edits
        .iter()
        .filter(|edit| {
            if let Some(list) = list_of(edit) {
                // Whatever changed in the list may have moved the element that was meant.
                return value_at(&list, base) != value_at(&list, now);
            }
            let (base, now, wanted) = (
                value_at(edit, base),
                value_at(edit, now),
                value_at(edit, &wanted),
            );
            now != base && now != wanted
        })
        .map(|edit| edit.key())
        .collect();
    keys.dedup();
    if keys.is_empty() {
        Ok(())
    } else {
        Err(CommitError::Conflict {
            file: file.name(),
            keys,
        })
    }
}

/// The list that an edit is about, when it names an element by its place or changes their order.
fn list_of(edit: &Edit) -> Option<Edit> {
    let (path, change) = match edit {
        Edit::Config { path, change } | Edit::Other { path, change, .. } => (path, change),
        Edit::Env { .. } => return None,
    };
    let at = path.0.iter().position(|s| matches!(s, Step::Index(_)));
    let list = match (at, change) {
        (Some(at), _) => KeyPath(path.0[..at].to_vec()),
        (None, Change::Append(_) | Change::Insert(..) | Change::Move { .. }) => path.clone(),
        (None, _) => return None,
    };
    let mut edit = edit.clone();
    if let Edit::Config { path, .. } | Edit::Other { path, .. } = &mut edit {
        *path = list;
    }
    Some(edit)
}

fn value_at(edit: &Edit, bytes: &[u8]) -> Option<Value> {
    match edit {
        Edit::Config { path, .. } => plan::parse_config(bytes).ok()?.get(path),
        Edit::Other { file, path, .. } => plan::parse_tree(FileId::Other(*file).name(), bytes)
            .ok()?
            .get(path),
        Edit::Env { name, .. } => plan::parse_env(bytes)
            .ok()?
            .get_load_env(name)
            .map(Value::Str),
    }
}
