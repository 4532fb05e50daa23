//! Problems that only show when both files are looked at.

use super::{File, Fix, Problem};
use crate::catalog::{Parsed, Provider, Severity, catalog};
use crate::document::{KeyPath, Step, Value};
use crate::settings::keys::is_no_secret;
use crate::settings::show::show;
use crate::settings::view::{View, step_of};

pub(super) fn find(view: &View<'_>, out: &mut Vec<Problem>) {
    let Some(config) = &view.config else { return };
    let mut work = Work {
        view,
        root: &config.root,
        out,
    };
    work.mirrors();
    work.providers();
    work.endpoints();
    work.templates();
    work.services();
}

struct Work<'v, 'a> {
    view: &'v View<'a>,
    root: &'v Value,
    out: &'v mut Vec<Problem>,
}

impl Work<'_, '_> {
    fn add(
        &mut self,
        severity: Severity,
        path: &KeyPath,
        title: String,
        detail: String,
        fix: Option<Fix>,
    ) {
        self.out.push(Problem {
            severity,
            file: File::Config,
            key: path.to_string(),
            line: self.view.line(path),
            title,
            detail,
            fix,
        });
    }

    /// Settings that a variable says as well, and says otherwise.
    fn mirrors(&mut self) {
        for setting in catalog().settings() {
            let (Some(name), Some(wins)) = (&setting.env, setting.env_wins) else {
                continue;
            };
            let Some(path) = setting.pattern.to_path() else {
                continue;
            };
            let Some(value) = self.view.user(&path).cloned() else {
                continue;
            };
            let Some(text) = self.view.filled(name) else {
                continue;
            };
            let same = match setting.parse(&text) {
                Ok(Parsed::Value(v)) => v == value || show(&v) == show(&value),
                _ => false,
            } || same_words(&value, &text);
            if same || matches!(&value, Value::Str(s) if crate::catalog::is_template(s)) {
                continue;
            }
            let shown = (!setting.secret).then(|| env_text(&value)).flatten();
            if wins {
                self.add(
                    Severity::Warning,
                    &path,
                    format!("{name} in .env is used instead"),
                    format!(
                        "The variable beats config.yaml here, so this line has no effect. {}.",
                        setting.help
                    ),
                    Some(Fix::UnsetEnv(name.clone())),
                );
            } else if setting.path.starts_with("terminal.") && !is_placeholder_cwd(&path, &value) {
                self.add(
                    Severity::Warning,
                    &path,
                    format!("{name} in .env says something else"),
                    "The gateway and the command line use config.yaml; tools started in another way read the variable.".to_owned(),
                    shown.map(|text| Fix::SetEnv(name.clone(), text)),
                );
            }
        }
    }

    /// Every place that names a provider.
    fn providers(&mut self) {
        let mut places = Vec::new();
        places_of_providers(self.root, &KeyPath::default(), &mut places);
        let mut told: Vec<String> = Vec::new();
        for (path, id, keyed) in places {
            self.provider(&path, &id, keyed, &mut told);
        }
    }

    fn provider(&mut self, path: &KeyPath, id: &str, keyed: bool, told: &mut Vec<String>) {
        let id = id.trim();
        if id.is_empty() || id == "auto" || id == "main" || crate::catalog::is_template(id) {
            return;
        }
        if let Some(name) = id.strip_prefix("custom:") {
            if !self.has_endpoint(name) {
                self.add(
                    Severity::Error,
                    path,
                    "names an endpoint that does not exist".to_owned(),
                    format!("Neither providers nor custom_providers has an entry {name}."),
                    None,
                );
            }
            return;
        }
        if self.has_endpoint(id) {
            return;
        }
        let Some(provider) = catalog().provider(id) else {
            self.add(
                Severity::Warning,
                path,
                "names a provider that Hermes does not know".to_owned(),
                "It may come from a plugin. Otherwise pick one on the Models screen.".to_owned(),
                None,
            );
            return;
        };
        if !provider.id.eq_ignore_ascii_case(id) {
            self.add(
                Severity::Info,
                path,
                format!("{id} is another name of {}", provider.id),
                "The parts of Hermes do not agree on other names; the id is safe.".to_owned(),
                Some(Fix::SetConfig(
                    path.clone(),
                    Value::Str(provider.id.clone()),
                )),
            );
        }
        if keyed || !provider.needs_key() || told.contains(&provider.id) {
            return;
        }
        if !self.has_key(provider) {
            told.push(provider.id.clone());
            let names = provider.key_env.join(" or ");
            self.add(
                Severity::Warning,
                path,
                format!("{} has no key in .env", provider.label),
                format!("Set {names}. Hermes also finds keys in the shell it is started from and in auth.json."),
                None,
            );
        }
    }

    fn has_key(&self, provider: &Provider) -> bool {
        provider
            .key_env
            .iter()
            .any(|n| self.view.filled(n).is_some_and(|v| !is_no_secret(&v)))
    }

    fn has_endpoint(&self, name: &str) -> bool {
        let folded = |s: &str| s.trim().to_lowercase().replace(' ', "-");
        let want = folded(name);
        let named = match at(self.root, &["providers"]) {
            Some(Value::Map(fields)) => fields
                .iter()
                .any(|(k, _)| k.as_str().is_some_and(|k| folded(k) == want)),
            _ => false,
        };
        named
            || match at(self.root, &["custom_providers"]) {
                Some(Value::List(items)) => items.iter().any(|e| {
                    at(e, &["name"])
                        .and_then(Value::as_str)
                        .is_some_and(|n| folded(n) == want)
                }),
                _ => false,
            }
    }

    /// Endpoints whose key is in a variable that is not set.
    fn endpoints(&mut self) {
        let mut places = Vec::new();
        key_variables(self.root, &KeyPath::default(), &mut places);
        for (path, name) in places {
            if self.view.filled(&name).is_none() {
                self.add(
                    Severity::Warning,
                    &path,
                    format!("{name} is not set in .env"),
                    "The endpoint takes its key from this variable. Hermes also finds it in the shell it is started from.".to_owned(),
                    None,
                );
            }
        }
    }

    /// `${NAME}` with a name that is not set stays as it is.
    fn templates(&mut self) {
        let mut places = Vec::new();
        templates(self.root, &KeyPath::default(), &mut places);
        for (path, name) in places {
            if self.view.variable(&name).is_none() && !of_shell(&name) {
                self.add(
                    Severity::Warning,
                    &path,
                    format!("refers to {name}, which is not set in .env"),
                    format!(
                        "Unless the shell sets it, Hermes uses the text ${{{name}}} as it stands."
                    ),
                    None,
                );
            }
        }
    }

    /// Web services that are chosen but have no key.
    fn services(&mut self) {
        for key in catalog().keys() {
            let Some((setting, wanted)) = key.related.as_deref().and_then(|r| r.split_once('='))
            else {
                continue;
            };
            // Memory services also run on a server of one's own, without a key.
            if !setting.starts_with("web.") || self.view.filled(&key.name).is_some() {
                continue;
            }
            let path = KeyPath::of(&setting.split('.').collect::<Vec<_>>());
            let chosen = self.view.user(&path).and_then(Value::as_str) == Some(wanted);
            if chosen && wanted != "firecrawl" {
                self.add(
                    Severity::Warning,
                    &path,
                    format!("{wanted} needs {}, which is not set in .env", key.name),
                    format!(
                        "{}. Hermes also finds it in the shell it is started from.",
                        key.help
                    ),
                    None,
                );
            }
        }
    }
}

/// Whether every process has the variable anyway.
fn of_shell(name: &str) -> bool {
    matches!(
        name,
        "HOME" | "USER" | "LOGNAME" | "PWD" | "PATH" | "SHELL" | "LANG" | "HOSTNAME" | "TMPDIR"
    ) || name.starts_with("XDG_")
        || name.starts_with("HERMES_HOME")
}

/// A value as Hermes copies it into a variable.
fn env_text(value: &Value) -> Option<String> {
    match value {
        Value::Str(s) => Some(s.clone()),
        Value::Bool(b) => Some(if *b { "true" } else { "false" }.to_owned()),
        Value::Int(i) => Some(i.to_string()),
        Value::Float(_) => Some(show(value)),
        _ => None,
    }
}

/// Whether a variable says the same as a list or text: `a,b`, `["a", "b"]` and a list are one.
fn same_words(value: &Value, text: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        text.split([',', '[', ']', '{', '}', ':', '"', '\'', ' '])
            .filter(|w| !w.is_empty())
            .map(str::to_lowercase)
            .collect()
    };
    words(&show(value)) == words(text)
}

fn is_placeholder_cwd(path: &KeyPath, value: &Value) -> bool {
    *path == KeyPath::of(&["terminal", "cwd"])
        && matches!(value.as_str(), Some("." | "auto" | "cwd"))
}

fn at<'v>(value: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, name| match value {
        Value::Map(fields) => fields
            .iter()
            .find(|(k, _)| k.as_str() == Some(name))
            .map(|(_, v)| v),
        _ => None,
    })
}

/// Visit every value with its path.
fn visit<'v>(value: &'v Value, at: &KeyPath, see: &mut dyn FnMut(&KeyPath, &'v Value, &'v Value)) {
    let mut child = |step: Step, inner: &'v Value| {
        let path = at.child(step);
        see(&path, inner, value);
        visit(inner, &path, see);
    };
    match value {
        Value::Map(fields) => {
            for (key, inner) in fields {
                if let Some(step) = step_of(key) {
                    child(step, inner);
                }
            }
        }
        Value::List(items) => {
            for (i, inner) in (0i64..).zip(items) {
                child(Step::Index(i), inner);
            }
        }
        _ => {}
    }
}

/// Settings that hold a provider id, and whether a key of their own stands beside them.
fn places_of_providers(root: &Value, start: &KeyPath, out: &mut Vec<(KeyPath, String, bool)>) {
    visit(root, start, &mut |path, value, parent| {
        let Some(id) = value.as_str() else { return };
        let provider = catalog()
            .setting(path)
            .is_some_and(|s| s.kind == crate::catalog::Kind::Provider && !s.deprecated);
        if !provider {
            return;
        }
        let own = |name: &str| {
            at(parent, &[name])
                .and_then(Value::as_str)
                .is_some_and(|v| !v.is_empty())
        };
        let keyed = own("api_key") || own("key_env") || own("base_url") && id == "custom";
        out.push((path.clone(), id.to_owned(), keyed));
    });
}

/// Settings that hold the name of a variable with a key.
fn key_variables(root: &Value, start: &KeyPath, out: &mut Vec<(KeyPath, String)>) {
    visit(root, start, &mut |path, value, parent| {
        let Some(name) = value.as_str() else { return };
        let names_key = catalog()
            .setting(path)
            .is_some_and(|s| s.path.ends_with("key_env"));
        let off = || at(parent, &["enabled"]) == Some(&Value::Bool(false));
        if names_key && crate::catalog::is_env_name(name) && !off() {
            out.push((path.clone(), name.to_owned()));
        }
    });
}

/// Every `${NAME}`.
fn templates(root: &Value, start: &KeyPath, out: &mut Vec<(KeyPath, String)>) {
    visit(root, start, &mut |path, value, _| {
        let Some(text) = value.as_str() else { return };
        for name in template_names(text) {
            // Newer versions also understand `${env:NAME}`.
            let name = name.strip_prefix("env:").unwrap_or(name);
            if crate::catalog::is_env_name(name) {
                out.push((path.clone(), name.to_owned()));
            }
        }
    });
}

fn template_names(text: &str) -> impl Iterator<Item = &str> {
    text.split("${")
        .skip(1)
        .filter_map(|rest| rest.split_once('}').map(|(name, _)| name))
}

/// Every variable that the file refers to by name.
pub(super) fn references(root: &Value) -> impl Iterator<Item = String> {
    let mut places = Vec::new();
    templates(root, &KeyPath::default(), &mut places);
    key_variables(root, &KeyPath::default(), &mut places);
    places.into_iter().map(|(_, name)| name)
}
