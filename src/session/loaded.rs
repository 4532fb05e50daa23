//! What reading the home's files gave.
//!
//! Responsible for: a file that is absent, understood, broken or unreadable, and what Hermes
//! remembers in its own files. Not responsible for: writing anything.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use crate::document::ParseError;

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

    pub(super) fn read(path: &Path, parse: impl Fn(&[u8]) -> Result<D, ParseError>) -> Self {
        match read_regular(path) {
            Ok(bytes) => match parse(&bytes) {
                Ok(doc) => Self::Ready { bytes, doc },
                Err(error) => Self::Broken { error },
            },
            Err(e) if is_absent(&e) => Self::Absent,
            Err(e) => Self::Unreadable {
                reason: in_words(&e),
            },
        }
    }
}

/// Read a file, links followed. What is not a regular file is refused before it is opened: reading
/// a FIFO would wait for ever.
pub(super) fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    std::fs::read(path)
}

/// Nothing there, or a link whose target has yet to be made.
pub(super) fn is_absent(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

/// The system's message without Rust's "(os error N)".
pub(super) fn in_words(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error")
        .next()
        .unwrap_or(&text)
        .to_lowercase()
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
    pub(super) fn read(home: &Path) -> Self {
        let lists = |file: &str, pick: &dyn Fn(&serde_json::Value) -> Option<serde_json::Value>| {
            let map = read_regular(&home.join(file))
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
