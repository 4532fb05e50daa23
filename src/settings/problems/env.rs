//! Problems of `.env` alone.

use std::collections::HashSet;

use super::{File, Fix, Problem};
use crate::catalog::{Severity, catalog};
use crate::document::dotenv::{Entry, EnvProblem, ProblemKind};
use crate::settings::keys::{KeyState, env_problems, readers, state};
use crate::settings::view::View;

pub(super) fn find(view: &View<'_>, out: &mut Vec<Problem>) {
    let Some(env) = view.layers().env else { return };
    let mut told: HashSet<(String, ProblemKind)> = HashSet::new();
    // What is no secret is told below, once.
    let masked: HashSet<&str> = env
        .entries()
        .iter()
        .filter(|e| e.in_force && no_secret(e))
        .map(|e| e.name.as_str())
        .collect();
    for found in env_problems(env) {
        let of_mask = matches!(
            found.kind,
            ProblemKind::Placeholder | ProblemKind::NonAsciiCredential
        );
        if found.kind == ProblemKind::Placeholder
            || of_mask && found.name.as_deref().is_some_and(|n| masked.contains(n))
        {
            continue;
        }
        // One word about a name that is there three times is enough.
        let once = (found.name.clone().unwrap_or_default(), found.kind);
        if found.name.is_none() || told.insert(once) {
            out.push(of_document(found));
        }
    }
    let mut meant = Meant::new(view);
    let mut seen = HashSet::new();
    for entry in env.entries() {
        if entry.in_force && seen.insert(entry.name.as_str()) {
            of_name(view, entry, &mut meant, out);
        }
    }
}

fn of_document(found: EnvProblem) -> Problem {
    let name = found.name.unwrap_or_default();
    let severity = match found.kind {
        ProblemKind::Bom | ProblemKind::UnbalancedQuote => Severity::Error,
        ProblemKind::Reference | ProblemKind::BadName => Severity::Info,
        _ => Severity::Warning,
    };
    let rewrite = !name.is_empty()
        && readers(found.kind)
        && !matches!(
            found.kind,
            ProblemKind::Bom | ProblemKind::Reference | ProblemKind::MultiLine
        );
    let fix = match found.kind {
        ProblemKind::Duplicate => Some(Fix::DedupeEnv(name.clone())),
        // What nobody reads has no value that could be written again.
        ProblemKind::UnbalancedQuote => None,
        ProblemKind::DeniedName => Some(Fix::UnsetEnv(name.clone())),
        _ if rewrite => Some(Fix::RewriteEnv(name.clone())),
        _ => None,
    };
    let (title, detail) = words(found.kind, &found.text);
    Problem {
        severity,
        file: File::Env,
        key: name,
        line: Some(found.line),
        title,
        detail,
        fix,
    }
}

/// A short clause and a sentence for what the document found.
fn words(kind: ProblemKind, text: &str) -> (String, String) {
    let title = match kind {
        ProblemKind::Bom => "a byte-order mark hides it from a running Hermes",
        ProblemKind::NotUtf8 => "the file is not UTF-8",
        ProblemKind::InlineComment => "a comment stands behind the value",
        ProblemKind::Escapes => "backslashes are read in two ways",
        ProblemKind::Reference => "refers to another variable",
        ProblemKind::MultiLine => "the value takes several lines",
        ProblemKind::UnbalancedQuote => "a quote is not closed",
        ProblemKind::ExportTab => "a tab stands behind export",
        ProblemKind::QuotedKey => "the name stands in quotes",
        ProblemKind::ReadersDisagree => "is read in two ways",
        ProblemKind::Duplicate => "is set more than once",
        ProblemKind::Junk => "a line that sets nothing",
        ProblemKind::BadName => "an unusual name",
        ProblemKind::Glued => "two assignments on one line",
        ProblemKind::NonAsciiCredential => "a secret with characters that Hermes drops",
        ProblemKind::DeniedName => "Hermes refuses to write this name",
        ProblemKind::Placeholder => "not a secret",
    };
    let mut chars = text.chars();
    let sentence: String = chars
        .next()
        .map(|first| {
            // A name at the start of a sentence keeps its letters.
            let rest: String = chars.collect();
            if rest.starts_with(|c: char| c.is_lowercase()) {
                format!("{}{rest}.", first.to_uppercase())
            } else {
                format!("{first}{rest}.")
            }
        })
        .unwrap_or_default();
    (title.to_owned(), sentence)
}

/// Whether Hermes takes the value for "not set", or it can only be a mask. The text of the file
/// counts, since Hermes drops the signs that masks are made of.
fn no_secret(entry: &Entry) -> bool {
    let written = entry.template.as_deref();
    state(written, catalog().is_secret_name(&entry.name), true) == KeyState::Placeholder
}

fn of_name(view: &View<'_>, entry: &Entry, meant: &mut Meant, out: &mut Vec<Problem>) {
    let name = entry.name.as_str();
    let mut add = |severity, title: &str, detail: String, fix| {
        out.push(Problem {
            severity,
            file: File::Env,
            key: name.to_owned(),
            line: Some(entry.line),
            title: title.to_owned(),
            detail,
            fix,
        });
    };
    let value = view.user_variable(name).unwrap_or_default();
    if no_secret(entry) {
        let (title, detail) = if value.trim().chars().count() < 4 {
            (
                "is too short to be a key, or only a mask of one",
                "Hermes takes it for \"not set\". Enter the key again.",
            )
        } else {
            (
                "holds a mask or sample text instead of a key",
                "Hermes takes sample texts for \"not set\" and sends a mask as if it were the key. Enter the key again.",
            )
        };
        add(
            Severity::Error,
            title,
            detail.to_owned(),
            Some(Fix::UnsetEnv(name.to_owned())),
        );
        return;
    }
    let Some(info) = catalog().key(name) else {
        if let Some(near) = meant.find(view, name) {
            add(
                Severity::Warning,
                &format!("is not known to Hermes; did you mean {near}?"),
                "Hermes does not read it.".to_owned(),
                Some(Fix::RenameEnv {
                    from: name.to_owned(),
                    to: near.to_owned(),
                }),
            );
        }
        return;
    };
    if info.process_only {
        add(
            Severity::Warning,
            "has no effect here",
            format!(
                "{}. It is read from the environment Hermes is started in, not from .env.",
                info.help
            ),
            Some(Fix::UnsetEnv(name.to_owned())),
        );
        return;
    }
    if info.deprecated {
        let (detail, fix) = match info.replaced_by.as_deref() {
            Some(new) if catalog().key(new).is_some() => (
                format!("{}. Today it is {new}.", info.help),
                view.variable(new).is_none().then(|| Fix::RenameEnv {
                    from: name.to_owned(),
                    to: new.to_owned(),
                }),
            ),
            Some(new) => (
                format!("{}. Today it is {new} in config.yaml.", info.help),
                None,
            ),
            None => (format!("{}.", info.help), None),
        };
        add(Severity::Info, "is an older name", detail, fix);
        return;
    }
    if let Err(fault) = info.check(value) {
        add(fault.severity, &fault.text, format!("{}.", info.help), None);
        return;
    }
    if info.risky && crate::catalog::bool_word(value) == Some(true) {
        add(
            Severity::Info,
            "switches a safety off",
            format!("{}.", info.help),
            None,
        );
    }
}

/// Names that are nearly ones Hermes knows.
struct Meant {
    /// Names that config.yaml refers to are the user's own.
    referred: HashSet<String>,
    /// How many more names are looked up: each costs the whole catalogue, and a file with more
    /// unknown names than this is not a file with typing mistakes.
    left: usize,
}

impl Meant {
    fn new(view: &View<'_>) -> Self {
        let config = view.config.as_ref();
        Self {
            referred: config
                .map(|c| super::cross::references(&c.root).collect())
                .unwrap_or_default(),
            left: 100,
        }
    }

    /// The name that was probably meant.
    fn find(&mut self, view: &View<'_>, name: &str) -> Option<&'static str> {
        if self.left == 0 || self.referred.contains(name) {
            return None;
        }
        self.left -= 1;
        catalog()
            .closest_key(name)
            .filter(|near| view.variable(near).is_none())
    }
}
