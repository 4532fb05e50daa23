//! The rows of the Settings screen.
//!
//! Responsible for: which settings there are, what the file says, what is in force and why.

use std::collections::HashSet;

use super::Layers;
use super::show::{hide_secrets, holds_secret, show};
use super::view::{View, step_of};
use crate::catalog::{Fault, Kind, Parsed, Setting, Severity, catalog};
use crate::document::{KeyPath, Step, Value};

/// Where the value in force comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// Hermes' own default; the file does not say anything.
    Default,
    /// The user's `config.yaml`.
    File,
    /// The administrator.
    Managed,
    /// A variable in `.env` that beats `config.yaml` here.
    Env,
}

/// One setting.
#[derive(Debug, Clone)]
pub struct Row {
    /// Where it stands.
    pub path: KeyPath,
    /// The section of the screen it belongs to.
    pub section: String,
    /// The path below the section.
    pub label: String,
    /// What the catalogue knows; `None` for a key Hermes does not know.
    pub setting: Option<&'static Setting>,
    /// What the user's file says.
    pub value: Option<Value>,
    /// What Hermes uses.
    pub effective: Option<Value>,
    /// What Hermes uses when the file says nothing.
    pub default: Option<Value>,
    /// Where `effective` comes from.
    pub origin: Origin,
    /// The value is a secret, or holds some: show it with [`Row::shown`] only.
    pub secret: bool,
    /// Why it cannot be edited.
    pub locked: Option<String>,
    /// What is wrong with the value in the file.
    pub fault: Option<Fault>,
    /// 1-based line in the file.
    pub line: Option<usize>,
}

impl Row {
    /// The value in force as one line, secrets masked; empty when there is none.
    pub fn shown(&self) -> String {
        self.effective
            .as_ref()
            .map(|v| show(&hide_secrets(&self.path, v)))
            .unwrap_or_default()
    }

    /// Whether Hermes does not know the key.
    pub fn is_unknown(&self) -> bool {
        self.setting.is_none()
    }
}

/// Every setting there is: those of the catalogue that are one key (older spellings and unread
/// ones only where the file has them), and whatever else the file holds. Sorted by section;
/// within one, the catalogue's order, then the file's.
pub fn rows(layers: &Layers<'_>) -> Vec<Row> {
    rows_of(&View::new(layers))
}

pub(super) fn rows_of(view: &View<'_>) -> Vec<Row> {
    let mut out = Vec::new();
    let mut seen: HashSet<KeyPath> = HashSet::new();
    for setting in catalog().settings() {
        let Some(path) = setting.pattern.to_path() else {
            continue;
        };
        let there = view.user(&path).is_some() || view.managed_leaf(&path).is_some();
        if (setting.dead || setting.deprecated) && !there {
            continue;
        }
        seen.insert(path.clone());
        let value = view.user(&path).cloned();
        out.push(row(view, path, Some(setting), value));
    }
    let files = [(&view.config, true), (&view.managed, false)];
    for (config, mine) in files {
        let Some(config) = config else { continue };
        let mut found = Vec::new();
        walk(&config.root, &KeyPath::default(), true, &mut found);
        for (path, value) in found {
            if seen.insert(path.clone()) {
                let setting = catalog().setting(&path);
                let user = mine.then(|| value.clone());
                out.push(row(view, path, setting, user));
            }
        }
    }
    out.sort_by(|a, b| section_order(&a.section).cmp(&section_order(&b.section)));
    out
}

/// The sort key of a section: by name, what people do not edit last.
pub fn section_order(section: &str) -> (u8, &str) {
    match section {
        "unknown" => (2, section),
        "internal" => (1, section),
        _ => (0, section),
    }
}

/// Collect what deserves a row below `at`, in file order. Below a key that is not `known`
/// nothing is looked up.
fn walk<'v>(value: &'v Value, at: &KeyPath, known: bool, out: &mut Vec<(KeyPath, &'v Value)>) {
    let mut child = |step: Step, value: &'v Value| {
        let path = at.child(step);
        let setting = catalog().setting(&path).filter(|_| known);
        let below = known && catalog().has_children(&path);
        let descend = match value {
            Value::Map(_) if below => setting.is_none_or(|s| s.takes(Kind::Map)),
            // What nothing is known about is shown leaf by leaf.
            Value::Map(fields) => setting.is_none() && !fields.is_empty(),
            Value::List(_) => below && is_list(&path),
            _ => false,
        };
        let row = match value {
            // A section whose parts have rows of their own needs none.
            Value::Map(_) => !descend || setting.is_some_and(|s| !s.takes(Kind::Map)),
            Value::Null => setting.is_some() || !below,
            Value::List(_) if below && is_list(&path) => setting.is_some(),
            _ => true,
        };
        if row {
            out.push((path.clone(), value));
        }
        if descend {
            walk(value, &path, below, out);
        }
    };
    match value {
        Value::Map(fields) => {
            for (key, value) in fields {
                if let Some(step) = step_of(key) {
                    child(step, value);
                }
            }
        }
        Value::List(items) => {
            for (i, value) in (0i64..).zip(items) {
                child(Step::Index(i), value);
            }
        }
        _ => {}
    }
}

fn row(
    view: &View<'_>,
    path: KeyPath,
    setting: Option<&'static Setting>,
    value: Option<Value>,
) -> Row {
    let managed = view.managed_leaf(&path).cloned();
    let default = setting.and_then(|s| s.default.clone());
    let variable = setting.and_then(|s| variable(view, s, value.is_some()));
    let (effective, origin) = match (managed, variable, &value) {
        (_, Some(v), _) => (Some(v), Origin::Env),
        (Some(v), None, _) => (Some(v), Origin::Managed),
        (None, None, Some(v)) => (Some(v.clone()), Origin::File),
        (None, None, None) => (default.clone(), Origin::Default),
    };
    let section = section_of(&path, setting);
    Row {
        label: label(&path, &section),
        section,
        setting,
        effective,
        default,
        origin,
        secret: setting.is_some_and(|s| s.secret_values)
            || value.as_ref().map_or_else(
                || catalog().is_secret_path(&path),
                |v| holds_secret(&path, v),
            ),
        locked: locked(view, &path, setting),
        fault: value.as_ref().and_then(|v| fault(&path, setting, v)),
        line: view.line(&path),
        value,
        path,
    }
}

/// The value of the variable that is used instead of the file.
fn variable(view: &View<'_>, setting: &Setting, in_file: bool) -> Option<Value> {
    // Where the file wins, it does so only if it says something.
    let wins = setting.env_wins? || !in_file;
    let name = setting.env.as_deref().filter(|_| wins)?;
    let text = view.filled(name)?;
    Some(match setting.parse(&text) {
        Ok(Parsed::Value(value)) => value,
        _ => Value::Str(text),
    })
}

fn locked(view: &View<'_>, path: &KeyPath, setting: Option<&Setting>) -> Option<String> {
    let by_hermes = setting
        .filter(|s| s.readonly)
        .map(|_| "written by Hermes itself".to_owned());
    if view.managed.is_none() {
        return by_hermes;
    }
    if view.managed_leaf(path).is_some() {
        return Some("set by the administrator".to_owned());
    }
    if view.managed_below(path) {
        return Some("holds values set by the administrator".to_owned());
    }
    // A leaf above it (a list, an empty section) takes the place of everything below.
    let above =
        (1..path.0.len()).any(|n| view.managed_leaf(&KeyPath(path.0[..n].to_vec())).is_some());
    if above {
        return Some("its section is set by the administrator".to_owned());
    }
    by_hermes
}

/// Whether what the catalogue knows below a path are the elements of a list.
fn is_list(path: &KeyPath) -> bool {
    catalog().has_children(&path.child(Step::Index(0)))
        && !catalog().has_children(&path.child(Step::Key("x".to_owned())))
}

/// What is wrong with a value in the file.
pub(super) fn fault(path: &KeyPath, setting: Option<&Setting>, value: &Value) -> Option<Fault> {
    if let Some(setting) = setting {
        return setting.check(value).err();
    }
    let list = matches!(value, Value::List(_)) && is_list(path);
    if list {
        return None;
    }
    if catalog().has_children(path) && !matches!(value, Value::Null | Value::Map(_)) {
        return Some(Fault {
            text: format!(
                "is a section of Hermes; {} cannot stand for it",
                value.kind()
            ),
            severity: Severity::Error,
        });
    }
    Some(Fault {
        text: "is not known to Hermes".to_owned(),
        severity: Severity::Info,
    })
}

fn section_of(path: &KeyPath, setting: Option<&Setting>) -> String {
    if let Some(setting) = setting {
        // `<platform>.dm_policy` belongs to the section of its platform, where there is one.
        if setting.path.starts_with('<')
            && let Some(Step::Key(root)) = path.0.first()
            && catalog().is_section(root)
        {
            return root.clone();
        }
        return setting.section.clone();
    }
    let Some(Step::Key(root)) = path.0.first() else {
        return "unknown".to_owned();
    };
    if path.0.len() < 2 {
        return "unknown".to_owned();
    }
    let section = catalog().section_of_root(root);
    section.unwrap_or("unknown").to_owned()
}

fn label(path: &KeyPath, section: &str) -> String {
    let text = path.to_string();
    match text.strip_prefix(section).and_then(|t| t.strip_prefix('.')) {
        Some(rest) => rest.to_owned(),
        None => text,
    }
}
