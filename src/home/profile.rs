//! Profile names and folders.
//!
//! Responsible for: which names are allowed, what `active_profile` says, which profiles exist. Not
//! responsible for: which one is used (`resolve`).

use std::fs;
use std::path::{Path, PathBuf};

use super::HomeError;

/// A profile that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// `default` for the root itself.
    pub name: String,
    /// Its home.
    pub path: PathBuf,
    /// `hermes` without a flag uses it (`hermes profile use`).
    pub active: bool,
}

/// Names that Hermes keeps for itself.
const RESERVED: [&str; 5] = ["hermes", "test", "tmp", "root", "sudo"];

/// The name as it stands on disk.
///
/// # Errors
/// [`HomeError::BadProfile`] for names that no profile can have.
pub(super) fn canonical(name: &str) -> Result<String, HomeError> {
    let lower = name.trim().to_lowercase();
    if is_valid(&lower) && !RESERVED.contains(&lower.as_str()) {
        Ok(lower)
    } else {
        Err(HomeError::BadProfile {
            name: name.trim().escape_debug().to_string(),
            reserved: RESERVED.contains(&lower.as_str()),
        })
    }
}

/// `^[a-z0-9][a-z0-9_-]{0,63}$`
fn is_valid(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    (1..=64).contains(&name.len())
        && name.starts_with(plain)
        && name.chars().all(|c| plain(c) || c == '_' || c == '-')
}

/// What `<root>/active_profile` names, as it stands there. `None` for the root: no file, an empty
/// one, `default`, or one that cannot be read as text.
pub(super) fn active(root: &Path) -> Option<String> {
    let text = fs::read_to_string(root.join("active_profile")).ok()?;
    let name = text.trim();
    (!name.is_empty() && name != "default").then(|| name.to_owned())
}

/// The root and every profile below it, by name.
pub(super) fn list(root: &Path) -> Vec<Profile> {
    let active = active(root)
        .and_then(|name| canonical(&name).ok())
        .unwrap_or_else(|| "default".to_owned());
    let mut names: Vec<String> = fs::read_dir(root.join("profiles"))
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| is_valid(name) && name != "default")
        .collect();
    names.sort();
    let profile = |name: String, path: PathBuf| Profile {
        active: name == active,
        name,
        path,
    };
    let mut out = vec![profile("default".to_owned(), root.to_path_buf())];
    out.extend(names.into_iter().map(|name| {
        let path = root.join("profiles").join(&name);
        profile(name, path)
    }));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_lowered_and_checked() {
        assert_eq!(canonical(" Work ").unwrap(), "work");
        assert_eq!(canonical("Default").unwrap(), "default");
        for bad in [
            "",
            "no:x",
            "-a",
            "a/b",
            "..",
            "root",
            "TMP",
            &"a".repeat(65),
        ] {
            assert!(canonical(bad).is_err(), "{bad}");
        }
    }
}
