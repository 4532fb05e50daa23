//! The rows of the Keys screen.
//!
//! Responsible for: every variable the catalogue or the file knows, and the state of each.

use std::collections::BTreeSet;

use super::Layers;
use super::view::View;
use crate::catalog::{Category, Fault, KeyInfo, catalog, fingerprint, looks_masked, mask};
use crate::document::Step;
use crate::document::dotenv::{Accept, EnvDocument, EnvProblem, EnvRules, ProblemKind};
use crate::document::yaml::YamlDocument;

/// Whether a variable is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyState {
    /// With a value.
    Set,
    /// Not in the file.
    Missing,
    /// In the file without a value, which hides one from the shell.
    Empty,
    /// With a mask or sample text, which Hermes takes for "not set".
    Placeholder,
    /// By the administrator.
    Managed,
}

/// One variable.
#[derive(Clone)]
pub struct KeyRow {
    /// The name.
    pub name: String,
    /// What the catalogue knows; `None` for a name Hermes does not know.
    pub info: Option<&'static KeyInfo>,
    /// What a running Hermes gets. Never show it without being asked to; see `masked`.
    pub value: Option<String>,
    /// The value for the screen: a secret is masked, anything else is shown.
    pub masked: String,
    /// The value is a secret.
    pub secret: bool,
    /// Eight digits to compare a secret by; `None` for what is none, or too short to tell apart safely.
    pub fingerprint: Option<String>,
    /// Whether it is set.
    pub state: KeyState,
    /// What it belongs to.
    pub category: Category,
    /// How many assignments the file has besides the one in force.
    pub duplicates: usize,
    /// 1-based lines of all assignments.
    pub lines: Vec<usize>,
    /// How the readers of the file disagree about it.
    pub readers_differ: Option<String>,
    /// What is wrong with the value.
    pub fault: Option<Fault>,
    /// Other names that are read for the same thing, those that are set first.
    pub aliases: Vec<String>,
    /// The provider whose key or address it is.
    pub provider: Option<&'static str>,
}

impl std::fmt::Debug for KeyRow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeyRow")
            .field("name", &self.name)
            .field("masked", &self.masked)
            .field("state", &self.state)
            .field("lines", &self.lines)
            .finish_non_exhaustive()
    }
}

/// The catalogue's variables by category, then the names of the file that it does not know.
/// Older names only where the file has them.
pub fn key_rows(layers: &Layers<'_>) -> Vec<KeyRow> {
    let view = View::new(layers);
    let found = layers.env.map(env_problems).unwrap_or_default();
    let named = named_secrets(layers.config);
    let mut out: Vec<KeyRow> = catalog()
        .keys()
        .iter()
        .map(|info| row(&view, &info.name, Some(info), &found, &named))
        .filter(|row| {
            row.state != KeyState::Missing
                || !row
                    .info
                    .is_some_and(|i| i.deprecated || i.process_only || i.denied)
        })
        .collect();
    let mut others: Vec<&str> = Vec::new();
    let entries = |env: Option<&'_ EnvDocument>| -> Vec<String> {
        env.map(|e| e.entries().iter().map(|x| x.name.clone()).collect())
            .unwrap_or_default()
    };
    let names = [entries(layers.env), entries(layers.managed_env)].concat();
    for name in &names {
        if catalog().key(name).is_none() && !others.contains(&name.as_str()) {
            others.push(name);
        }
    }
    out.extend(
        others
            .iter()
            .map(|name| row(&view, name, None, &found, &named)),
    );
    out
}

/// Variables that `config.yaml` names as keys of endpoints (`key_env`): secrets, whatever they are
/// called.
pub fn named_secrets(config: Option<&YamlDocument>) -> BTreeSet<String> {
    config
        .into_iter()
        .flat_map(YamlDocument::leaves)
        .filter(|leaf| matches!(leaf.path.0.last(), Some(Step::Key(name)) if name == "key_env"))
        .filter_map(|leaf| leaf.value.as_str().map(str::to_owned))
        .collect()
}

/// What the document finds wrong, with the catalogue's knowledge of names.
pub(super) fn env_problems(env: &EnvDocument) -> Vec<EnvProblem> {
    env.problems(&EnvRules {
        known: &|name| catalog().is_known_env(name),
        credential: &|name| catalog().is_secret_name(name),
        denied: &|name| catalog().is_denied(name),
        accept: Accept::default(),
    })
}

fn row(
    view: &View<'_>,
    name: &str,
    info: Option<&'static KeyInfo>,
    found: &[EnvProblem],
    named: &BTreeSet<String>,
) -> KeyRow {
    let env = view.layers().env;
    let lines: Vec<usize> = env
        .map(|e| {
            e.entries()
                .iter()
                .filter(|x| x.name == name)
                .map(|x| x.line)
                .collect()
        })
        .unwrap_or_default();
    let managed = view.managed_variable(name).is_some();
    let value = view.variable(name);
    let secret = catalog().is_secret_name(name) || named.contains(name);
    let state = if managed {
        KeyState::Managed
    } else {
        let written = env
            .and_then(|e| e.in_force(name))
            .and_then(|e| e.template.as_deref());
        state(written, secret, !lines.is_empty())
    };
    let mut aliases: Vec<String> = info.map(|i| i.aliases.clone()).unwrap_or_default();
    aliases.sort_by_key(|a| view.filled(a).is_none());
    let text = value.as_deref().unwrap_or_default();
    KeyRow {
        masked: match state {
            // A mask is no secret, and seeing it is what helps.
            KeyState::Placeholder => "(a placeholder)".to_owned(),
            _ if secret => mask(text),
            _ => text.to_owned(),
        },
        fingerprint: (secret && text.chars().count() >= 12 && state != KeyState::Placeholder)
            .then(|| fingerprint(text)),
        fault: (state != KeyState::Placeholder)
            .then(|| info.and_then(|i| i.check(text).err()))
            .flatten(),
        duplicates: lines.len().saturating_sub(1),
        readers_differ: differ(name, found),
        category: info.map_or(Category::Unknown, |i| i.category),
        provider: info.and_then(|i| i.provider.as_deref()),
        name: name.to_owned(),
        info,
        value,
        secret,
        state,
        lines,
        aliases,
    }
}

/// The state of a variable of the user's file.
pub(super) fn state(value: Option<&str>, secret: bool, in_file: bool) -> KeyState {
    match value {
        None if in_file => KeyState::Empty,
        None => KeyState::Missing,
        Some(v) if v.trim().is_empty() => KeyState::Empty,
        Some(v) if secret && is_no_secret(v) => KeyState::Placeholder,
        Some(_) => KeyState::Set,
    }
}

/// Whether Hermes takes the value of a secret for "not set", or it can only be a mask.
pub(super) fn is_no_secret(value: &str) -> bool {
    looks_masked(value)
        || catalog().is_placeholder(value)
        || value.trim().chars().count() < catalog().keys_meta().min_length
}

fn differ(name: &str, found: &[EnvProblem]) -> Option<String> {
    let about = found
        .iter()
        .filter(|p| p.name.as_deref() == Some(name) && readers(p.kind));
    let texts: Vec<&str> = about.map(|p| p.text.as_str()).collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

/// Whether a problem is that the readers of `.env` read different things.
pub(super) fn readers(kind: ProblemKind) -> bool {
    matches!(
        kind,
        ProblemKind::Bom
            | ProblemKind::InlineComment
            | ProblemKind::Escapes
            | ProblemKind::Reference
            | ProblemKind::MultiLine
            | ProblemKind::UnbalancedQuote
            | ProblemKind::ExportTab
            | ProblemKind::QuotedKey
            | ProblemKind::ReadersDisagree
            | ProblemKind::Glued
    )
}
