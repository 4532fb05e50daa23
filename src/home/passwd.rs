//! Home folders of users, from `/etc/passwd`.
//!
//! Responsible for: the two look-ups that finding a home needs. Not responsible for: users that
//! only a directory service knows; they are not found, and the caller says what to set instead.

use std::fs;
use std::path::{Path, PathBuf};

/// Home folder of a user id.
pub(super) fn home_of_uid(file: &Path, uid: u32) -> Option<PathBuf> {
    let uid = uid.to_string();
    find(file, |fields| fields[2] == uid)
}

/// Home folder of a user name.
pub(super) fn home_of_name(file: &Path, name: &str) -> Option<PathBuf> {
    find(file, |fields| fields[0] == name)
}

fn find(file: &Path, matches: impl Fn(&[&str]) -> bool) -> Option<PathBuf> {
    let text = fs::read(file).ok()?;
    String::from_utf8_lossy(&text).lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        (fields.len() >= 7 && matches(&fields)).then(|| PathBuf::from(fields[5]))
    })
}
