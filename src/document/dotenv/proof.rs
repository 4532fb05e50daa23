//! The proof of one change: both texts are read again and compared.
//!
//! Responsible for: only the edited name changed for python-dotenv and `load_env`, and it reads as
//! wanted; notes where another reader or another name is affected. Not responsible for: making
//! the change.

use std::collections::{BTreeMap, BTreeSet};

use super::interpolate::references;
use super::{Entry, EnvDocument, entries, names};
use crate::document::Splice;

/// What the name shall hold afterwards.
pub(super) enum Wanted {
    /// This value for every reader.
    Value(String),
    /// The template it holds already; the readers may disagree about it as before.
    Kept(String),
    /// Nothing.
    Gone,
}

/// Compare; the notes for the user, or what differed.
pub(super) fn prove(
    before: &EnvDocument,
    after: &EnvDocument,
    splices: &[Splice],
    name: &str,
    wanted: &Wanted,
) -> Result<Vec<String>, String> {
    let mut notes = Vec::new();
    same_elsewhere(before, after, name)?;
    same_elsewhere_load_env(before, after, splices, name)?;
    let holds = last(&after.bindings).remove(name).flatten();
    let expected = match wanted {
        Wanted::Value(v) | Wanted::Kept(v) => Some(v),
        Wanted::Gone => None,
    };
    if holds.as_ref() != expected {
        return Err("python-dotenv would read something else".into());
    }
    let line_reader = after.get_load_env(name);
    match wanted {
        Wanted::Value(v) if line_reader.as_ref() != Some(v) => notes.push(shadowed(after, name)),
        Wanted::Gone if line_reader.is_some() => notes.push(shadowed(after, name)),
        _ => {}
    }
    if let Wanted::Value(value) = wanted
        && !dotenvy_reads(&after.bytes, name, value)
        && dotenvy_is_at_ease(before)
    {
        notes.push(format!(
            "programs that use dotenvy do not read {name} so, because of another line of the file"
        ));
    }
    notes.extend(dependents(before, after, name));
    Ok(notes)
}

/// Every name with what it holds in the end.
fn last(bindings: &[(String, Option<String>)]) -> BTreeMap<&str, Option<String>> {
    bindings
        .iter()
        .map(|(name, value)| (name.as_str(), value.clone()))
        .collect()
}

fn same_elsewhere(before: &EnvDocument, after: &EnvDocument, name: &str) -> Result<(), String> {
    let others = |doc: &EnvDocument| -> BTreeMap<String, Option<String>> {
        last(&doc.bindings)
            .into_iter()
            .map(|(n, v)| (n.trim_start_matches('\u{feff}').to_owned(), v))
            .filter(|(n, _)| n != name && !n.is_empty())
            .collect()
    };
    let (old, new) = (others(before), others(after));
    if old == new {
        return Ok(());
    }
    // Hermes' repair pass turns foreign bytes into U+FFFD when it has something to repair; a
    // change that leaves it nothing to repair brings the bytes back.
    if !before.utf8 && lossy(&old) == lossy(&new) {
        return Ok(());
    }
    let odd = old
        .iter()
        .find(|(n, v)| new.get(*n) != Some(v))
        .map(|(n, _)| n);
    let odd = odd.or_else(|| new.keys().find(|n| !old.contains_key(*n)));
    Err(match odd {
        Some(odd) => {
            format!(
                "{} would change for python-dotenv as well; a quote nearby is not closed",
                names::shown(odd)
            )
        }
        None => "another name would change for python-dotenv".into(),
    })
}

fn lossy(map: &BTreeMap<String, Option<String>>) -> Vec<(String, Option<String>)> {
    let plain = |s: &str| s.chars().filter(char::is_ascii).collect::<String>();
    map.iter()
        .map(|(n, v)| (plain(n), v.as_deref().map(plain)))
        .collect()
}

/// The same for `load_env`; what it read inside the replaced text does not count.
fn same_elsewhere_load_env(
    before: &EnvDocument,
    after: &EnvDocument,
    splices: &[Splice],
    name: &str,
) -> Result<(), String> {
    let touched: Vec<&Entry> = before
        .entries
        .iter()
        .filter(|e| {
            e.name == name
                && splices
                    .iter()
                    .any(|s| s.span.start <= e.spans.whole.end && e.spans.whole.start <= s.span.end)
        })
        .collect();
    let inside = |at: usize| {
        touched
            .iter()
            .any(|e| (e.spans.whole.start..e.spans.whole.end).contains(&at))
    };
    let old: BTreeMap<&str, &str> = before
        .lines
        .iter()
        .filter(|l| l.name != name && !inside(l.at))
        .map(|l| (l.name.as_str(), l.value.as_str()))
        .collect();
    let new: BTreeMap<&str, &str> = after
        .lines
        .iter()
        .filter(|l| l.name != name)
        .map(|l| (l.name.as_str(), l.value.as_str()))
        .collect();
    if old == new {
        Ok(())
    } else {
        Err("another name would change for Hermes' `load_env`".into())
    }
}

fn shadowed(doc: &EnvDocument, name: &str) -> String {
    let line = doc.lines.iter().rev().find(|l| l.name == name);
    let number = line.map_or(0, |l| 1 + entries::count_lines(&doc.bytes[..l.at]));
    format!(
        "`hermes config` shows another value for {name}: it takes line {number}, inside a value of \
         several lines, for an assignment"
    )
}

/// dotenvy as an independent second reader.
fn dotenvy_reads(bytes: &[u8], name: &str, value: &str) -> bool {
    let read = dotenvy::from_read_iter(bytes)
        .filter_map(Result::ok)
        .filter(|(n, _)| n == name)
        .last();
    read.is_some_and(|(_, v)| v == value)
}

/// Whether dotenvy could read the whole file before; else a note at each change is only noise.
fn dotenvy_is_at_ease(doc: &EnvDocument) -> bool {
    dotenvy::from_read_iter(doc.bytes.as_slice()).all(|r| r.is_ok())
}

/// Names whose value changes with this one because they refer to it.
fn dependents(before: &EnvDocument, after: &EnvDocument, name: &str) -> Option<String> {
    let refers = before
        .bindings
        .iter()
        .any(|(_, v)| v.as_deref().is_some_and(|v| references(v).contains(&name)));
    if !refers {
        return None;
    }
    let (old, new) = (before.values(&|_| None), after.values(&|_| None));
    let changed: BTreeSet<&str> = new
        .iter()
        .filter(|(n, v)| n.as_str() != name && old.get(*n) != Some(v))
        .map(|(n, _)| n.as_str())
        .collect();
    if changed.is_empty() {
        return None;
    }
    let (refer, change) = if changed.len() == 1 {
        ("refers", "changes")
    } else {
        ("refer", "change")
    };
    let list = changed.into_iter().collect::<Vec<_>>().join(", ");
    Some(format!("{list} {refer} to {name} and {change} with it"))
}
