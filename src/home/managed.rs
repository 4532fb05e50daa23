//! Who else has a say: a package manager that owns the install, an administrator's policy.
//!
//! Responsible for: detecting both, and reading the policy files as bytes. Not responsible for:
//! what the policy pins (`settings`) and refusing edits (`commands`, `tui`).

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::Environment;
use crate::document::dotenv::EnvDocument;

/// The install belongs to a package manager: Hermes refuses to write its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Managed {
    /// Who manages it: `NixOS`, `Homebrew`, or what `HERMES_MANAGED` says.
    pub by: String,
    /// What tells so, as a phrase: `HERMES_MANAGED=nixos`, `the file …/.managed`.
    pub why: String,
}

/// An administrator's folder whose values win over the user's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManagedScope {
    /// The folder.
    pub dir: PathBuf,
    /// Its `config.yaml`.
    pub config: Option<Vec<u8>>,
    /// Its `.env`.
    pub env: Option<Vec<u8>>,
    /// Files that are there and cannot be read; Hermes then ignores them with a warning.
    pub unreadable: Vec<PathBuf>,
}

/// Whether the install is managed. The home's own `.env` can say so as well as the environment,
/// and wins over it, because Hermes loads it first.
pub(super) fn managed(home: &Path, env: &Environment) -> Option<Managed> {
    let from_file = fs::read(home.join(".env"))
        .ok()
        .and_then(|bytes| EnvDocument::parse(&bytes).ok())
        .and_then(|doc| doc.get("HERMES_MANAGED"));
    let (text, place) = match &from_file {
        Some(text) => (Some(text.trim()).filter(|t| !t.is_empty()), " in .env"),
        None => (env.trimmed("HERMES_MANAGED"), ""),
    };
    if let Some(text) = text {
        let by = match text.to_lowercase().as_str() {
            "true" | "1" | "yes" | "nix" | "nixos" => "NixOS".to_owned(),
            "brew" | "homebrew" => "Homebrew".to_owned(),
            _ => text.escape_debug().to_string(),
        };
        let any = if matches!(text.to_lowercase().as_str(), "false" | "0" | "no" | "off") {
            " (any text switches it on)"
        } else {
            ""
        };
        return Some(Managed {
            by,
            why: format!("HERMES_MANAGED={}{place}{any}", text.escape_debug()),
        });
    }
    let marker = home.join(".managed");
    marker.exists().then(|| Managed {
        by: "NixOS".to_owned(),
        why: format!("the file {}", marker.display()),
    })
}

/// The policy folder: `HERMES_MANAGED_DIR` alone when that is set, else `fallback`.
pub(super) fn scope(env: &Environment, fallback: &Path) -> Option<ManagedScope> {
    let dir = match env.trimmed("HERMES_MANAGED_DIR") {
        Some(dir) => env.absolute(Path::new(dir)),
        None => fallback.to_path_buf(),
    };
    if !dir.is_dir() {
        return None;
    }
    let mut unreadable = Vec::new();
    let mut read = |name: &str| {
        let path = dir.join(name);
        match fs::read(&path) {
            Ok(bytes) => Some(bytes),
            Err(e) if e.kind() == ErrorKind::NotFound => None,
            Err(_) => {
                unreadable.push(path);
                None
            }
        }
    };
    let config = read("config.yaml");
    let env = read(".env");
    Some(ManagedScope {
        dir,
        config,
        env,
        unreadable,
    })
}
