//! What a KEY on the command line means.
//!
//! Responsible for: which file a key belongs to, its typed path, and why it may not be changed.
//! Not responsible for: values.

use super::{Failure, shape};
use crate::catalog;
use crate::cli::Global;
use crate::document::dotenv::EnvDocument;
use crate::document::yaml::YamlDocument;
use crate::document::{KeyPath, Step};
use crate::edit::FileId;
use crate::session::Session;

/// A key with its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    /// A variable of `.env`.
    Env(String),
    /// A path of `config.yaml`.
    Config(KeyPath),
}

impl Target {
    /// The file it lives in.
    pub(super) fn file(&self) -> FileId {
        match self {
            Self::Env(_) => FileId::Env,
            Self::Config(_) => FileId::Config,
        }
    }

    /// The key as the user writes it.
    pub(super) fn key(&self) -> String {
        match self {
            Self::Env(name) => name.clone(),
            Self::Config(path) => path.to_string(),
        }
    }

    /// Whether its value is never shown unasked.
    pub(super) fn is_secret(&self) -> bool {
        match self {
            Self::Env(name) => catalog::catalog().is_secret_name(name),
            Self::Config(path) => catalog::catalog().is_secret_path(path),
        }
    }

    /// A failure about this key.
    pub(super) fn failure(&self, what: impl std::fmt::Display) -> Failure {
        let (key, file) = (self.key(), self.file().name());
        Failure::new(format!("{key} in {file} {what}")).key(key)
    }

    /// The known key that was probably meant, for a message.
    pub(super) fn closest(&self) -> Option<String> {
        match self {
            Self::Env(name) => catalog::catalog().closest_key(name).map(str::to_owned),
            Self::Config(path) => catalog::catalog().closest_setting(&path.to_string()),
        }
    }
}

/// Read a key. The documents decide whether `0` in a path is an index or a name.
pub(super) fn parse(key: &str, global: &Global, session: &Session) -> Result<Target, Failure> {
    let to_env = match (global.env, global.config) {
        (true, _) => true,
        (_, true) => false,
        _ => catalog::route(key) == catalog::Target::Env,
    };
    if to_env {
        return Ok(Target::Env(key.to_owned()));
    }
    let segments = KeyPath::split(key);
    if segments.iter().any(String::is_empty) {
        return Err(Failure::new(format!(
            "{key:?} is not a valid key: it has an empty segment"
        ))
        .hint("write a name on both sides of each dot; a dot inside a name is written \\.")
        .key(key));
    }
    let doc = session.config.doc().or(session.managed_config.as_ref());
    let path = match doc {
        Some(doc) => doc.resolve(&segments),
        None => KeyPath(segments.into_iter().map(Step::Key).collect()),
    };
    let path = shape::with_indices(path, doc);
    Ok(Target::Config(path))
}

/// Refuse to change what this user cannot change.
pub(super) fn refuse_locked(session: &Session, target: &Target) -> Result<(), Failure> {
    if let Some(managed) = &session.home.managed {
        return Err(target
            .failure(format!(
                "cannot be changed: this install is managed by {} ({})",
                managed.by, managed.why
            ))
            .hint(format!(
                "change it in the configuration of {}; hermes refuses to write here too",
                managed.by
            )));
    }
    if let Some(fault) = session.fault(target.file()) {
        let path = session.path(target.file());
        return Err(target
            .failure(format!(
                "cannot be changed: {}: {fault}; the file was not touched",
                path.display()
            ))
            .hint("mend the file with an editor first; `hermes-tui doctor` shows every fault"));
    }
    let by_administrator = match target {
        Target::Config(path) => session
            .managed_config
            .as_ref()
            .and_then(|doc| pinned_path(doc, path)),
        Target::Env(name) => session
            .managed_env
            .as_ref()
            .and_then(|doc| pinned_name(doc, name)),
    };
    let Some(pinned) = by_administrator else {
        return Ok(());
    };
    let dir = session
        .home
        .scope
        .as_ref()
        .map(|s| s.dir.display().to_string())
        .unwrap_or_default();
    Err(target
        .failure(format!(
            "cannot be changed: {pinned} is managed by your administrator ({dir})"
        ))
        .hint("your value would have no effect; ask the administrator to change it"))
}

/// The administrator's leaf at, above or below a path.
fn pinned_path(managed: &YamlDocument, path: &KeyPath) -> Option<String> {
    managed
        .leaves()
        .into_iter()
        .find(|leaf| path.contains(&leaf.path) || leaf.path.contains(path))
        .map(|leaf| leaf.path.to_string())
}

fn pinned_name(managed: &EnvDocument, name: &str) -> Option<String> {
    managed.get_load_env(name).map(|_| name.to_owned())
}
