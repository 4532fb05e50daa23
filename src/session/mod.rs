//! One opened home: its files as documents, and the way from edits to saved files.
//!
//! Responsible for: which files there are, the staged documents, the review and the save of all of
//! them. Not responsible for: how a file is replaced ([`crate::writer`]) or what is shown.

mod commit;
mod draft;
mod loaded;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

pub use commit::{CommitError, OnConflict, Outcome, commit};
pub use draft::{draft_path, load_draft, save_draft};
pub use loaded::{HermesState, Loaded};

use commit::{read, refuse_conflicts, refuse_managed};

use crate::document::dotenv::EnvDocument;
use crate::document::tree::{Format, TreeDocument};
use crate::document::yaml::YamlDocument;
use crate::document::{Edited, ParseError};
use crate::edit::{Edit, EditLog, FileId, Name};
use crate::home::Home;
use crate::plan::{self, Diff, PlanError};
use crate::settings::{self, Layers};
use crate::writer::{self, Options, Prediction};

/// A home with its files read.
#[derive(Debug, Clone)]
pub struct Session {
    /// Which home, and why.
    pub home: Home,
    /// `config.yaml`.
    pub config: Loaded<YamlDocument>,
    /// `.env`.
    pub env: Loaded<EnvDocument>,
    /// The JSON and TOML files of the home.
    pub others: BTreeMap<Name, Loaded<TreeDocument>>,
    /// The administrator's `config.yaml`, when a managed scope has one that parses.
    pub managed_config: Option<YamlDocument>,
    /// The administrator's `.env`.
    pub managed_env: Option<EnvDocument>,
    /// The home with all links followed.
    pub real_home: Option<PathBuf>,
    /// What Hermes remembers in its own files.
    pub hermes_state: HermesState,
}

/// The documents with the staged edits applied.
#[derive(Debug, Clone)]
pub struct Staged {
    /// `config.yaml` as it will be.
    pub config: Option<YamlDocument>,
    /// `.env` as it will be.
    pub env: Option<EnvDocument>,
    /// The other files that are touched, as they will be.
    pub others: BTreeMap<Name, TreeDocument>,
}

/// One file of a review: what a save would write and how.
#[derive(Debug, Clone)]
pub struct FilePlan {
    /// Which file.
    pub file: FileId,
    /// Its path inside the home, links not followed.
    pub path: PathBuf,
    /// The bytes found on disk for this plan.
    pub old: Vec<u8>,
    /// The proved new text.
    pub edited: Edited,
    /// By lines, secrets masked.
    pub diff: Diff,
    /// What the writer expects to do.
    pub prediction: Prediction,
    /// The file changed since it was loaded; the edits were applied to the newer text.
    pub rebased: bool,
}

/// The files of a home that are shown, and what they are for.
pub const STORED: &[(&str, &str)] = &[
    ("config.yaml", "settings"),
    (".env", "keys and other variables"),
    (
        "auth.json",
        "sign-ins and the pool of keys; Hermes writes it",
    ),
    (
        "feishu_seen_message_ids.json",
        "which Feishu messages were answered; the gateway writes it",
    ),
    (
        "channel_directory.json",
        "known chats; the gateway rebuilds it",
    ),
    ("channel_aliases.json", "names you gave to chats"),
    ("gateway_state.json", "what the gateway is doing"),
    ("cron/jobs.json", "scheduled jobs"),
];

impl Session {
    /// Read the files of a home.
    pub fn open(home: Home) -> Self {
        let scope = home.scope.as_ref();
        let managed_config = scope
            .and_then(|s| s.config.as_deref())
            .and_then(|b| plan::parse_config(b).ok());
        let managed_env = scope
            .and_then(|s| s.env.as_deref())
            .and_then(|b| plan::parse_env(b).ok());
        let config = Loaded::read(&home.config_path(), plan::parse_config);
        let env = Loaded::read(&home.env_path(), plan::parse_env);
        let others = stored(&home)
            .into_iter()
            .filter(|(name, _)| Format::of(name).is_some())
            .map(|(name, _)| {
                let parse = |bytes: &[u8]| plan::parse_tree(&name, bytes);
                (Name::of(&name), Loaded::read(&home.path.join(&name), parse))
            })
            .collect();
        let real_home = std::fs::canonicalize(&home.path).ok();
        let hermes_state = HermesState::read(&home.path);
        Self {
            home,
            config,
            env,
            others,
            managed_config,
            managed_env,
            real_home,
            hermes_state,
        }
    }

    /// Read the files again.
    pub fn reload(&mut self) {
        *self = Self::open(self.home.clone());
    }

    /// The files that are shown, with what they are for.
    pub fn files(&self) -> Vec<(String, &'static str)> {
        stored(&self.home)
    }

    /// Read one file again.
    fn reload_file(&mut self, file: FileId) {
        let path = self.path(file);
        match file {
            FileId::Config => self.config = Loaded::read(&path, plan::parse_config),
            FileId::Env => self.env = Loaded::read(&path, plan::parse_env),
            FileId::Other(name) => {
                let parse = |bytes: &[u8]| plan::parse_tree(file.name(), bytes);
                self.others.insert(name, Loaded::read(&path, parse));
            }
        }
    }

    /// Where a file of this home lives, links not followed.
    pub fn path(&self, file: FileId) -> PathBuf {
        path_of(&self.home, file)
    }

    /// Why a file cannot be edited, if so.
    pub fn fault(&self, file: FileId) -> Option<String> {
        match file {
            FileId::Config => self.config.fault(),
            FileId::Env => self.env.fault(),
            FileId::Other(name) => self.others.get(&name).and_then(Loaded::fault),
        }
    }

    /// The files that were read but not understood.
    pub fn parse_errors(&self) -> Vec<(settings::File, &ParseError)> {
        let mut out = Vec::new();
        if let Loaded::Broken { error } = &self.env {
            out.push((settings::File::Env, error));
        }
        if let Loaded::Broken { error } = &self.config {
            out.push((settings::File::Config, error));
        }
        out
    }

    /// The bytes that edits of a file are based on.
    pub fn base(&self, file: FileId) -> &[u8] {
        match file {
            FileId::Config => self.config.base(),
            FileId::Env => self.env.base(),
            FileId::Other(name) => self.others.get(&name).map_or(&[], Loaded::base),
        }
    }

    /// The layers as loaded.
    pub fn layers(&self) -> Layers<'_> {
        self.layers_over(self.config.doc(), self.env.doc())
    }

    /// The layers with staged documents in the place of the loaded ones.
    pub fn staged_layers<'a>(&'a self, staged: &'a Staged) -> Layers<'a> {
        self.layers_over(staged.config.as_ref(), staged.env.as_ref())
    }

    fn layers_over<'a>(
        &'a self,
        config: Option<&'a YamlDocument>,
        env: Option<&'a EnvDocument>,
    ) -> Layers<'a> {
        Layers {
            config,
            env,
            managed_config: self.managed_config.as_ref(),
            managed_env: self.managed_env.as_ref(),
        }
    }

    /// Apply the log to the loaded documents, for the screen.
    pub fn stage(&self, log: &EditLog) -> Result<Staged, PlanError> {
        let touched = |file| log.edits().any(|e| e.file() == file);
        let config = if touched(FileId::Config) {
            let edited = plan::apply(FileId::Config, self.config.base(), log.edits())?;
            plan::parse_config(&edited.bytes).ok()
        } else {
            self.config.doc().cloned()
        };
        let env = if touched(FileId::Env) {
            let edited = plan::apply(FileId::Env, self.env.base(), log.edits())?;
            plan::parse_env(&edited.bytes).ok()
        } else {
            self.env.doc().cloned()
        };
        let mut others = BTreeMap::new();
        for file in log.files() {
            if let FileId::Other(name) = file {
                let edited = plan::apply(file, self.base(file), log.edits())?;
                if let Ok(doc) = plan::parse_tree(file.name(), &edited.bytes) {
                    others.insert(name, doc);
                }
            }
        }
        Ok(Staged {
            config,
            env,
            others,
        })
    }

    /// What a save would do, from the files as they are on disk at this moment.
    pub fn review(&self, log: &EditLog) -> Result<Vec<FilePlan>, CommitError> {
        let mut plans = Vec::new();
        for file in log.files() {
            let edits: Vec<&Edit> = log.edits().filter(|e| e.file() == file).collect();
            if edits.is_empty() {
                continue;
            }
            refuse_managed(&self.home, file)?;
            let path = self.path(file);
            let old = read(&path)?;
            let base = self.base(file);
            let rebased = old != base;
            if rebased {
                refuse_conflicts(file, base, &old, &edits)?;
            }
            let edited = plan::apply(file, &old, edits.into_iter())?;
            if edited.bytes == old {
                continue;
            }
            let diff = plan::diff(
                file,
                &old,
                &edited.bytes,
                &settings::named_secrets(self.config.doc()),
            );
            let prediction = writer::predict(&path, &options(&self.home));
            plans.push(FilePlan {
                file,
                path,
                old,
                edited,
                diff,
                prediction,
                rebased,
            });
        }
        Ok(plans)
    }

    /// Save every file the log touches, in order; stops at the first failure. The log keeps the
    /// edits of the files that were not saved.
    pub fn save(&mut self, log: &mut EditLog) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        for file in log.files() {
            let edits: Vec<Edit> = log.edits().filter(|e| e.file() == file).cloned().collect();
            if edits.is_empty() {
                continue;
            }
            let base = self.base(file).to_vec();
            let outcome = commit(&self.home, file, &edits, Some(&base), OnConflict::Refuse);
            let failed = outcome.result.is_err();
            outcomes.push(outcome);
            if failed {
                // The base of a file that was refused stays what the user has seen: a conflict is
                // not settled by trying again.
                break;
            }
            log.forget_file(file);
            self.reload_file(file);
        }
        outcomes
    }
}

/// The files known by name, and every TOML file that lies in the home.
fn stored(home: &Home) -> Vec<(String, &'static str)> {
    let mut out: Vec<(String, &'static str)> = STORED
        .iter()
        .map(|(name, about)| ((*name).to_owned(), *about))
        .collect();
    let mut toml: Vec<String> = std::fs::read_dir(&home.path)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| Format::of(name) == Some(Format::Toml))
        .collect();
    toml.sort();
    out.extend(toml.into_iter().map(|name| (name, "a TOML file")));
    out
}

/// The writer's options for files of this home: the same ones for the whole run, because they
/// remember which files were copied already.
pub fn options(home: &Home) -> Options {
    static RUN: Mutex<BTreeMap<PathBuf, Options>> = Mutex::new(BTreeMap::new());
    let mut run = RUN.lock().unwrap_or_else(PoisonError::into_inner);
    let options = run
        .entry(home.path.clone())
        .or_insert_with(|| Options::new(&home.path))
        .clone();
    if home.backups {
        options
    } else {
        options.without_backup()
    }
}

/// Where a file of a home lives, links not followed.
pub fn path_of(home: &Home, file: FileId) -> PathBuf {
    match file {
        FileId::Config => home.config_path(),
        FileId::Env => home.env_path(),
        FileId::Other(_) => home.path.join(file.name()),
    }
}

/// Make a home that does not exist: the directory for its owner alone, and both files empty.
pub fn create_home(home: &Home) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&home.path)?;
    for path in [home.config_path(), home.env_path()] {
        if !path.exists() {
            writer::write(&path, b"", &options(home).without_backup()).map_err(io::Error::other)?;
        }
    }
    Ok(())
}
