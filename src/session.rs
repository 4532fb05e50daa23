//! One opened home: its files as documents, and the way from edits to saved files.
//!
//! Responsible for: reading the home's files, re-reading them before a save, re-applying edits to
//! a file that changed underneath, calling the writer, and the draft of unsaved edits.
//! Not responsible for: how a file is replaced ([`crate::writer`]) or what is shown.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::document::dotenv::EnvDocument;
use crate::document::tree::{Format, TreeDocument};
use crate::document::yaml::YamlDocument;
use crate::document::{Edited, ParseError, Value};
use crate::edit::{Edit, EditLog, FileId, Name};
use crate::home::Home;
use crate::plan::{self, Diff, PlanError};
use crate::settings::{self, Layers};
use crate::writer::{self, FailureKind, Options, Prediction, SaveError, SaveReport};

/// What reading one file gave.
#[derive(Debug, Clone)]
pub enum Loaded<D> {
    /// There is no such file; the first save makes it.
    Absent,
    /// Read and understood.
    Ready {
        /// The bytes on disk.
        bytes: Vec<u8>,
        /// What they mean.
        doc: D,
    },
    /// Read, but not understood: shown read-only, never written.
    Broken {
        /// Where and why.
        error: ParseError,
    },
    /// Could not be read at all.
    Unreadable {
        /// The system's reason, in words.
        reason: String,
    },
}

impl<D> Loaded<D> {
    /// The document, when there is one.
    pub fn doc(&self) -> Option<&D> {
        match self {
            Self::Ready { doc, .. } => Some(doc),
            _ => None,
        }
    }

    /// The bytes that edits are based on: empty for a file that does not exist yet.
    pub fn base(&self) -> &[u8] {
        match self {
            Self::Ready { bytes, .. } => bytes,
            _ => &[],
        }
    }

    /// Why the file cannot be edited, if so.
    pub fn fault(&self) -> Option<String> {
        match self {
            Self::Absent | Self::Ready { .. } => None,
            Self::Broken { error } => Some(error.to_string()),
            Self::Unreadable { reason } => Some(reason.clone()),
        }
    }

    fn read(path: &Path, parse: impl Fn(&[u8]) -> Result<D, ParseError>) -> Self {
        match std::fs::read(path) {
            Ok(bytes) => match parse(&bytes) {
                Ok(doc) => Self::Ready { bytes, doc },
                Err(error) => Self::Broken { error },
            },
            Err(e) if is_absent(path, &e) => Self::Absent,
            Err(e) => Self::Unreadable {
                reason: in_words(&e),
            },
        }
    }
}

/// Nothing there, or a link whose target has yet to be made.
fn is_absent(_path: &Path, error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

/// The system's message without Rust's "(os error N)".
fn in_words(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error")
        .next()
        .unwrap_or(&text)
        .to_lowercase()
}

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

/// What Hermes remembers in its own files and this program only shows.
#[derive(Debug, Clone, Default)]
pub struct HermesState {
    /// Sources of keys that Hermes was told to ignore, by provider (`auth.json`).
    pub suppressed: BTreeMap<String, Vec<String>>,
    /// Model names that Hermes has fetched, by provider (`provider_models_cache.json`).
    pub cached_models: BTreeMap<String, Vec<String>>,
}

impl HermesState {
    /// Read what is there; files that are missing or broken tell nothing.
    fn read(home: &Path) -> Self {
        let lists = |file: &str, pick: &dyn Fn(&serde_json::Value) -> Option<serde_json::Value>| {
            let map = std::fs::read(home.join(file))
                .ok()
                .and_then(|b| serde_json::from_slice::<serde_json::Value>(&b).ok())
                .and_then(|v| pick(&v));
            let Some(serde_json::Value::Object(map)) = map else {
                return BTreeMap::new();
            };
            let texts = |v: &serde_json::Value| -> Vec<String> {
                v.as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(|t| t.as_str().map(str::to_owned))
                    .collect()
            };
            map.iter()
                .map(|(k, v)| (k.clone(), texts(v.get("models").unwrap_or(v))))
                .collect::<BTreeMap<_, _>>()
        };
        Self {
            suppressed: lists("auth.json", &|v| v.get("suppressed_sources").cloned()),
            cached_models: lists("provider_models_cache.json", &|v| Some(v.clone())),
        }
    }
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

/// How often a file may change between reading and committing before we give up.
const TRIES: usize = 20;

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
            let diff = plan::diff(file, &old, &edited.bytes);
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
                break;
            }
            log.forget_file(file);
        }
        self.reload();
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

/// The writer's options for files of this home.
pub fn options(home: &Home) -> Options {
    let options = Options::new(&home.path);
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
    for _ in 0..TRIES {
        match try_commit(home, file, edits, base, on_conflict, &mut outcome) {
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
    base: Option<&[u8]>,
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
    let edited = plan::apply(file, &old, edits.iter())?;
    outcome.changed = plan::diff(file, &old, &edited.bytes).changed;
    outcome.notes.clone_from(&edited.notes);
    let mut options = options(home);
    options.expected = Some(old);
    Ok(writer::write(&path, &edited.bytes, &options)?)
}

fn read(path: &Path) -> Result<Vec<u8>, CommitError> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(bytes),
        Err(e) if is_absent(path, &e) => Ok(Vec::new()),
        Err(e) => Err(CommitError::Read {
            path: path.to_owned(),
            reason: in_words(&e),
        }),
    }
}

/// A key is in conflict when the value on disk is neither what the user saw nor what the user
/// wants.
fn refuse_conflicts(
    file: FileId,
    base: &[u8],
    now: &[u8],
    edits: &[&Edit],
) -> Result<(), CommitError> {
    let wanted = plan::apply(file, base, edits.iter().copied()).map(|e| e.bytes)?;
    let mut keys: Vec<String> = edits
        .iter()
        .filter(|edit| {
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
