//! A plain view of the layers, so that rows and problems need no document API.
//!
//! Responsible for: looking values, lines and variables up in the layers.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};

use super::Layers;
use crate::document::dotenv::EnvDocument;
use crate::document::yaml::YamlDocument;
use crate::document::{KeyPath, Step, Value};

/// One YAML file.
pub(super) struct Config<'a> {
    /// The whole file as values.
    pub(super) root: Value,
    document: &'a YamlDocument,
    /// Lines of all leaves, read in one go: asking for them one by one costs the square of the file.
    lines: OnceCell<HashMap<KeyPath, usize>>,
}

/// All layers.
pub(super) struct View<'a> {
    pub(super) config: Option<Config<'a>>,
    pub(super) managed: Option<Config<'a>>,
    layers: Layers<'a>,
    /// All variables of the two files, read in one go: each look-up costs the whole file.
    user_env: BTreeMap<String, String>,
    managed_env: BTreeMap<String, String>,
}

impl<'a> View<'a> {
    pub(super) fn new(layers: &Layers<'a>) -> Self {
        Self {
            config: layers.config.map(Config::of),
            managed: layers.managed_config.map(Config::of),
            user_env: variables(layers.env),
            managed_env: variables(layers.managed_env),
            layers: *layers,
        }
    }

    /// The user's value at a path.
    pub(super) fn user(&self, path: &KeyPath) -> Option<&Value> {
        self.config.as_ref().and_then(|c| c.get(path))
    }

    /// The administrator's value, where it is a leaf: lists and empty sections are leaves.
    pub(super) fn managed_leaf(&self, path: &KeyPath) -> Option<&Value> {
        self.managed
            .as_ref()
            .and_then(|c| c.get(path))
            .filter(|v| !matches!(v, Value::Map(m) if !m.is_empty()))
    }

    /// Whether the administrator set something below a path.
    pub(super) fn managed_below(&self, path: &KeyPath) -> bool {
        matches!(
            self.managed.as_ref().and_then(|c| c.get(path)),
            Some(Value::Map(m)) if !m.is_empty()
        )
    }

    /// The line of a path in the user's file.
    pub(super) fn line(&self, path: &KeyPath) -> Option<usize> {
        self.config.as_ref().and_then(|c| c.line(path))
    }

    /// A variable of the administrator.
    pub(super) fn managed_variable(&self, name: &str) -> Option<String> {
        self.managed_env.get(name).cloned()
    }

    /// A variable of the user's file.
    pub(super) fn user_variable(&self, name: &str) -> Option<&str> {
        self.user_env.get(name).map(String::as_str)
    }

    /// A variable as Hermes gets it from the files.
    pub(super) fn variable(&self, name: &str) -> Option<String> {
        self.managed_variable(name)
            .or_else(|| self.user_variable(name).map(str::to_owned))
    }

    /// A variable that is set and not empty.
    pub(super) fn filled(&self, name: &str) -> Option<String> {
        self.variable(name).filter(|v| !v.trim().is_empty())
    }

    pub(super) fn layers(&self) -> &Layers<'a> {
        &self.layers
    }
}

fn variables(env: Option<&EnvDocument>) -> BTreeMap<String, String> {
    env.map(|e| e.values(&|_| None)).unwrap_or_default()
}

impl<'a> Config<'a> {
    fn of(document: &'a YamlDocument) -> Self {
        Self {
            root: document.root(),
            document,
            lines: OnceCell::new(),
        }
    }

    /// 1-based line of a path.
    fn line(&self, path: &KeyPath) -> Option<usize> {
        let lines = self.lines.get_or_init(|| {
            let leaves = self.document.leaves();
            leaves.into_iter().map(|l| (l.path, l.line)).collect()
        });
        lines
            .get(path)
            .copied()
            .or_else(|| self.document.line(path))
    }

    /// Keys that a section has more than once, with the lines of all of them; the last is in force.
    pub(super) fn duplicates(&self) -> Vec<(KeyPath, Vec<usize>)> {
        self.document.duplicates()
    }

    pub(super) fn get(&self, path: &KeyPath) -> Option<&Value> {
        path.0.iter().try_fold(&self.root, step)
    }
}

/// The value one step down.
pub(super) fn step<'v>(value: &'v Value, step: &Step) -> Option<&'v Value> {
    match (value, step) {
        (Value::Map(fields), step) => fields.iter().find(|(k, _)| key_is(k, step)).map(|(_, v)| v),
        (Value::List(items), Step::Index(at)) => {
            usize::try_from(*at).ok().and_then(|at| items.get(at))
        }
        _ => None,
    }
}

fn key_is(key: &Value, step: &Step) -> bool {
    match (key, step) {
        (Value::Str(k), Step::Key(s)) => k == s,
        (Value::Int(k), Step::Index(s)) => *k == i128::from(*s),
        (Value::Bool(k), Step::Bool(s)) => k == s,
        _ => false,
    }
}

/// The step that names a key; keys that no step can name (a date, null) have none.
pub(super) fn step_of(key: &Value) -> Option<Step> {
    match key {
        Value::Str(s) => Some(Step::Key(s.clone())),
        Value::Int(i) => i64::try_from(*i).ok().map(Step::Index),
        Value::Bool(b) => Some(Step::Bool(*b)),
        _ => None,
    }
}
