//! What keys ask for outside of the model: reading, saving, the user's editor, the clipboard.

use std::io;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::model::{Layer, Model, StorageRow, Target};
use super::text;
use super::update::Effect;
use super::view;
use crate::catalog;
use crate::document::json::JsonDocument;
use crate::document::{KeyPath, Value};
use crate::edit::FileId;
use crate::home;
use crate::session::{self, Session};
use crate::settings;
use crate::writer::{self, SaveError, SaveReport, backup};

/// What the loop has to do after an effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Go on.
    Continue,
    /// Leave.
    Quit,
    /// Give the terminal back, stop, and take it again.
    Suspend,
    /// Give the terminal to the user's editor with this file and 1-based line, then read again.
    Edit(std::path::PathBuf, usize),
    /// Send this text to the terminal's clipboard.
    Copy(String),
}

/// Carry out one effect.
pub fn perform(model: &mut Model, effect: Effect, environment: &home::Environment) -> Next {
    match effect {
        Effect::None => {}
        Effect::Quit => return Next::Quit,
        Effect::Suspend => return Next::Suspend,
        Effect::External(file, line) => return Next::Edit(model.session.path(file), line),
        Effect::Copy(text) => {
            model.say("copied to the terminal's clipboard");
            return Next::Copy(text);
        }
        Effect::Review => review(model),
        Effect::Save => save(model),
        Effect::Reload => {
            reload(model);
            if model.status.is_none() {
                model.say("read again");
            }
        }
        Effect::Probe => {
            model.storage = storage(&model.session, Depth::Prove);
            model.tab = super::action::Tab::Storage;
            model.say("every file was tried without touching it");
        }
        Effect::Profile(name) => profile(model, &name, environment),
        Effect::CreateHome => create_home(model),
        Effect::Restore(entry) => {
            let result = backup::restore(&entry, &session::options(&model.session.home));
            wrote(model, "Brought back", result.map(Some));
        }
        Effect::Settle(journal, resolution) => {
            let options = session::options(&model.session.home);
            let result = writer::resolve_conflict(&journal, resolution, &options);
            wrote(model, "Settled", result);
        }
        Effect::DropDraft => {
            model.draft_due = true;
            model.say("the draft is gone");
        }
    }
    Next::Continue
}

fn review(model: &mut Model) {
    match model.session.review(&model.log) {
        Ok(plans) if plans.is_empty() => model.say("the files already say all of that"),
        Ok(plans) => model.layers.push(Layer::Review { plans, scroll: 0 }),
        Err(error) => model.complain(error.to_string()),
    }
}

fn save(model: &mut Model) {
    model.layers.retain(|l| !matches!(l, Layer::Review { .. }));
    let targets = model.unsaved.clone();
    let stays: Vec<bool> = targets
        .iter()
        .map(|t| model.staged_value(t).is_some())
        .collect();
    let files: Vec<FileId> = {
        let mut files: Vec<FileId> = model.log.edits().map(crate::edit::Edit::file).collect();
        files.sort_unstable();
        files.dedup();
        files
    };
    let outcomes = model.session.save(&mut model.log);
    model.draft_due = true;
    let untried = files
        .into_iter()
        .filter(|f| !outcomes.iter().any(|o| o.file == *f))
        .collect();
    let saved: Vec<FileId> = outcomes
        .iter()
        .filter(|o| o.result.is_ok())
        .map(|o| o.file)
        .collect();
    let done = targets
        .iter()
        .zip(stays)
        .filter(|(t, _)| saved.contains(&t.file()));
    let effects = takes_effect(done);
    model.restage();
    model.storage = storage(&model.session, Depth::Look);
    model.layers.push(Layer::Receipt {
        outcomes,
        untried,
        effects,
        scroll: 0,
    });
    for file in [FileId::Config, FileId::Env] {
        let lines = view::receipt::lines_of(model, file);
        if !lines.is_empty() {
            model.receipts.insert(file, lines);
        }
    }
}

/// Show what a restore came to, and read the files again.
fn wrote(model: &mut Model, title: &str, result: Result<Option<SaveReport>, SaveError>) {
    match result {
        Ok(Some(report)) => {
            let lines = view::receipt::report_text(&report);
            model.layers.push(Layer::Page {
                title: title.into(),
                lines,
                scroll: 0,
            });
        }
        Ok(None) => model.say("the file stays as it is; the journal is gone"),
        Err(error) => model.complain(format!("{error}; {}", error.hint())),
    }
    reload(model);
}

/// When saved changes take effect, one line per moment. Each target comes with whether it is set
/// now.
fn takes_effect<'a>(targets: impl Iterator<Item = (&'a Target, bool)>) -> Vec<String> {
    let mut by_moment: Vec<(String, Vec<String>)> = Vec::new();
    for (target, is_set) in targets {
        let moment = match target {
            Target::Config(path) => catalog::catalog().setting(path).map_or_else(
                || "when Hermes reads it next".into(),
                settings::takes_effect,
            ),
            Target::Other(..) => "when Hermes reads the file next".into(),
            Target::Env(_) if is_set => "with the next message".into(),
            Target::Env(_) => "after a restart of the gateway".into(),
        };
        match by_moment.iter_mut().find(|(m, _)| *m == moment) {
            Some((_, keys)) => keys.push(target.key()),
            None => by_moment.push((moment, vec![target.key()])),
        }
    }
    by_moment
        .into_iter()
        .map(|(moment, keys)| format!("{moment}: {}", keys.join(", ")))
        .collect()
}

/// Read the files again; the unsaved changes stay as far as they still fit.
pub fn reload(model: &mut Model) {
    model.session.reload();
    let lost = model.restage();
    model.storage = storage(&model.session, Depth::Look);
    if let Some(reason) = lost.first() {
        model.complain(format!(
            "a change no longer fits and was taken back: {reason}"
        ));
    }
}

fn profile(model: &mut Model, name: &str, environment: &home::Environment) {
    let root = model.session.home.root.clone();
    let request = home::HomeRequest {
        home: Some(root),
        profile: Some(name.to_owned()),
    };
    match home::resolve(&request, environment) {
        Ok(home) => {
            let home = home::Home {
                backups: model.session.home.backups,
                ..home
            };
            let mut other = super::run::open(home, environment, model.theme);
            other.size = model.size;
            other.tab = model.tab;
            *model = other;
            model.say(format!("profile {name}"));
        }
        Err(error) => model.complain(error.to_string()),
    }
}

fn create_home(model: &mut Model) {
    match session::create_home(&model.session.home) {
        Ok(()) => {
            model.layers.clear();
            let home = home::Home {
                exists: true,
                ..model.session.home.clone()
            };
            model.session = Session::open(home);
            model.restage();
            model.storage = storage(&model.session, Depth::Look);
            model.say("created; nothing is set yet: every row shows Hermes' default");
        }
        Err(error) => model.complain(error.to_string()),
    }
}

/// How closely to look at the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Compute what a save would do.
    Look,
    /// Prove it with a temporary file beside each target.
    Prove,
}

/// The rows of the storage tab.
pub fn storage(session: &Session, depth: Depth) -> Vec<StorageRow> {
    let home = &session.home.path;
    let options = session::options(&session.home);
    session
        .files()
        .into_iter()
        .map(|(name, about)| {
            let path = home.join(&name);
            let prediction = match depth {
                Depth::Look => writer::predict(&path, &options),
                Depth::Prove => writer::probe(&path, &options),
            };
            let content = content(session, &name, &path);
            StorageRow {
                name,
                about,
                prediction,
                content,
                proved: depth == Depth::Prove,
            }
        })
        .collect()
}

/// What a file holds, in a few words, or what is wrong with it.
fn content(session: &Session, name: &str, path: &Path) -> Result<String, String> {
    match name {
        "config.yaml" => match session.fault(FileId::Config) {
            Some(reason) => Err(reason),
            None => Ok(session.config.doc().map_or("not there yet".into(), |d| {
                text::count(d.leaves().len(), "value")
            })),
        },
        ".env" => match session.fault(FileId::Env) {
            Some(reason) => Err(reason),
            None => Ok(session.env.doc().map_or("not there yet".into(), |d| {
                text::count(d.entries().len(), "variable")
            })),
        },
        _ => {
            let bytes = match std::fs::read(path) {
                Ok(bytes) => bytes,
                Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok("not there yet".into()),
                Err(e) => return Err(e.to_string()),
            };
            if bytes.is_empty() {
                return Err("empty: what it held is lost".into());
            }
            let doc = JsonDocument::parse(&bytes).map_err(|e| e.to_string())?;
            let count = |key: &str| match doc.get(&KeyPath::of(&[key])) {
                Some(Value::List(l)) => l.len(),
                Some(Value::Map(m)) => m.len(),
                _ => 0,
            };
            Ok(match name {
                "feishu_seen_message_ids.json" => text::count(count("message_ids"), "message id"),
                "channel_directory.json" => text::count(count("platforms"), "platform"),
                "cron/jobs.json" => text::count(count("jobs"), "job"),
                _ => "whole".into(),
            })
        }
    }
}

/// Send a text to the terminal's clipboard (OSC 52): it works over SSH as well.
pub fn copy(out: &mut impl io::Write, text: &str) -> io::Result<()> {
    write!(out, "\x1b]52;c;{}\x07", BASE64_STANDARD.encode(text))?;
    out.flush()
}
