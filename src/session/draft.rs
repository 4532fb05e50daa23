//! Unsaved edits that wait for the next start.
//!
//! Responsible for: the one draft file of a home, private like the secrets it may hold. Not
//! responsible for: when it is written.

use std::io;
use std::path::PathBuf;

use super::options;
use crate::edit::EditLog;
use crate::home::Home;
use crate::writer;

/// Where unsaved edits wait for the next start. It holds secrets, so it lives in the home, 0600.
pub fn draft_path(home: &Home) -> PathBuf {
    home.path.join(".hermes-tui.draft")
}

/// Keep the unsaved edits for the next start; an empty log removes the draft.
pub fn save_draft(home: &Home, log: &EditLog) -> io::Result<()> {
    let path = draft_path(home);
    if log.is_empty() {
        return match std::fs::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
            _ => Ok(()),
        };
    }
    let text = serde_json::to_vec(log).map_err(io::Error::other)?;
    writer::write(&path, &text, &options(home).without_backup())
        .map(drop)
        .map_err(io::Error::other)
}

/// The edits that an earlier session could not save, if any can be read.
pub fn load_draft(home: &Home) -> Option<EditLog> {
    let bytes = std::fs::read(draft_path(home)).ok()?;
    serde_json::from_slice(&bytes)
        .ok()
        .filter(|log: &EditLog| !log.is_empty())
}
