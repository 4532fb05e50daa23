//! What a caller decides about a save.
//!
//! Responsible for: the options and their defaults. Not responsible for: reading the environment;
//! the caller passes every path in.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::lock::Lock;

/// Options of every function of the writer.
#[derive(Debug, Clone)]
pub struct Options {
    /// The `HERMES_HOME`: journals may lie here, and backups below it.
    pub home: PathBuf,
    /// A directory of this program for journals that fit nowhere else. It is created when needed.
    pub state_dir: Option<PathBuf>,
    /// The content that the caller's edit was based on. When the file holds anything else just
    /// before the commit, the save ends with [`FailureKind::Changed`](super::FailureKind::Changed)
    /// and the caller applies its edit to the fresh text. An absent file counts as empty. `None`
    /// compares nothing: the last writer wins.
    pub expected: Option<Vec<u8>>,
    /// The mode of a file that does not exist yet, whatever the umask is.
    pub create_mode: u32,
    /// Create missing directories on the way to the target (mode 0700).
    pub create_dirs: bool,
    /// Copies of the old content.
    pub backup: Backup,
    /// How long to wait for another process of ours.
    pub lock_wait: Duration,
    /// A lock that the caller holds already (see [`lock`](super::lock())).
    pub held: Option<Arc<Lock>>,
}

impl Options {
    /// The defaults for a home: private new files, backups on, no comparison.
    pub fn new(home: impl Into<PathBuf>) -> Self {
        Self {
            home: home.into(),
            state_dir: None,
            expected: None,
            create_mode: 0o600,
            create_dirs: false,
            backup: Backup::default(),
            lock_wait: Duration::from_secs(15),
            held: None,
        }
    }

    /// The same, for an edit that was based on `content`.
    #[must_use]
    pub fn expecting(mut self, content: impl Into<Vec<u8>>) -> Self {
        self.expected = Some(content.into());
        self
    }

    /// The same, without backups.
    #[must_use]
    pub fn without_backup(mut self) -> Self {
        self.backup.enabled = false;
        self
    }
}

/// When copies of the old content are made and how long they are kept.
///
/// Clones share the memory of what has been copied already, so that one run makes one copy of a
/// file, of its state before the first change.
#[derive(Debug, Clone)]
pub struct Backup {
    /// Whether copies are made at all.
    pub enabled: bool,
    /// How many copies of one file are kept.
    pub count: usize,
    /// How long a copy is kept; the newest copy of a file is kept for ever.
    pub max_age: Duration,
    done: Arc<Mutex<BTreeSet<PathBuf>>>,
}

impl Default for Backup {
    fn default() -> Self {
        Self {
            enabled: true,
            count: 10,
            max_age: Duration::from_secs(30 * 24 * 3600),
            done: Arc::default(),
        }
    }
}

impl Backup {
    /// Whether this run has copied the file already.
    pub(crate) fn is_done(&self, real: &Path) -> bool {
        self.done
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .contains(real)
    }

    pub(crate) fn mark_done(&self, real: &Path) {
        self.done
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(real.to_owned());
    }
}
