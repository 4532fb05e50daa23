//! Opening an editor for a row, and staging values.

use tui_input::Input;

use super::super::action::Tab;
use super::super::model::{
    Choice, ChoiceFor, ChoiceItem, Cursor, Editor, Items, Layer, Model, Purpose, Target, text_of,
};
use crate::catalog::{self, Kind};
use crate::document::{Change, KeyPath, Value};
use crate::edit::{Edit, FileId};
use crate::plan;
use crate::settings::Row;
use crate::writer::backup;

/// The target of an edit.
pub fn target_of(edit: &Edit) -> Target {
    match edit {
        Edit::Config { path, .. } => Target::Config(path.clone()),
        Edit::Env { name, .. } => Target::Env(name.clone()),
        Edit::Other { file, path, .. } => Target::Other(*file, path.clone()),
    }
}

/// Why a target cannot be edited, if so.
pub fn locked(model: &Model, target: &Target) -> Option<String> {
    if let Some(managed) = &model.session.home.managed {
        return Some(format!(
            "this home is managed by {}: {}",
            managed.by, managed.why
        ));
    }
    if let Some(reason) = model.session.fault(target.file()) {
        return Some(format!(
            "{} is read-only here: {reason}; e opens it",
            target.file().name()
        ));
    }
    match target {
        // The administrator's layer knows nothing of these files.
        Target::Other(..) => None,
        Target::Config(path) => {
            let managed = model.session.managed_config.as_ref()?;
            let over = managed
                .leaves()
                .into_iter()
                .find(|l| path.contains(&l.path) || l.path.contains(path))?;
            Some(format!(
                "{} is set by the administrator; your value would have no effect",
                over.path
            ))
        }
        Target::Env(name) => {
            let managed = model.session.managed_env.as_ref()?;
            managed.get_load_env(name).map(|_| {
                format!("{name} is set by the administrator; your value would have no effect")
            })
        }
    }
}

/// Whether a row holds true or false.
pub fn is_bool(row: &Row) -> bool {
    row.setting
        .is_some_and(|s| s.takes(Kind::Bool) && s.choices.is_empty())
}

/// The row of a path.
pub fn row<'a>(model: &'a Model, path: &KeyPath) -> Option<&'a Row> {
    model.derived.rows.iter().find(|r| &r.path == path)
}

/// The value that a row shows: the one in the file, else the default.
pub fn shown_value(model: &Model, target: &Target) -> Option<Value> {
    match target {
        Target::Config(path) => match row(model, path) {
            Some(row) => row.effective.clone().or_else(|| row.default.clone()),
            None => model.staged_value(target),
        },
        Target::Env(_) | Target::Other(..) => model.staged_value(target),
    }
}

/// The fixed choices of a target, if it has any.
pub fn choices(model: &Model, target: &Target) -> Vec<Value> {
    match target {
        Target::Other(..) => Vec::new(),
        Target::Config(path) => match row(model, path).and_then(|r| r.setting) {
            Some(s) if s.kind == Kind::Bool && s.choices.is_empty() => {
                vec![Value::Bool(true), Value::Bool(false)]
            }
            Some(s) => s.choices.clone(),
            None => Vec::new(),
        },
        Target::Env(name) => catalog::catalog()
            .key(name)
            .map(|k| k.choices.iter().map(|c| Value::Str(c.clone())).collect())
            .unwrap_or_default(),
    }
}

/// Whether more than the fixed choices is legal.
fn choices_open(model: &Model, target: &Target) -> bool {
    match target {
        Target::Config(path) => row(model, path)
            .and_then(|r| r.setting)
            .is_some_and(|s| s.choices_open),
        Target::Env(_) | Target::Other(..) => true,
    }
}

/// Open the editor that fits a target.
pub fn editor(model: &mut Model, target: &Target) {
    if let Some(reason) = locked(model, target) {
        model.complain(reason);
        return;
    }
    let value = shown_value(model, target);
    if let Some(path) = target.path() {
        let is_container = matches!(value, Some(Value::List(_) | Value::Map(_)));
        let wants_container = row(model, path)
            .filter(|_| target.file() == FileId::Config)
            .and_then(|r| r.setting)
            .is_some_and(|s| matches!(s.kind, Kind::List | Kind::Map));
        if is_container || (wants_container && matches!(value, None | Some(Value::Null))) {
            model.layers.push(Layer::Items(Items {
                target: target.clone(),
                cursor: Cursor::default(),
            }));
            return;
        }
    }
    let options = choices(model, target);
    if options.is_empty() {
        text_field(model, target);
    } else {
        choice(model, target, &options, value.as_ref());
    }
}

fn choice(model: &mut Model, target: &Target, options: &[Value], now: Option<&Value>) {
    let default = match target {
        Target::Config(path) => row(model, path).and_then(|r| r.default.clone()),
        Target::Env(_) | Target::Other(..) => None,
    };
    let mut items: Vec<ChoiceItem> = options
        .iter()
        .map(|value| {
            let mut note = Vec::new();
            if Some(value) == now {
                note.push("now");
            }
            if Some(value) == default.as_ref() {
                note.push("default");
            }
            let text = text_of(value);
            ChoiceItem {
                label: if text.is_empty() {
                    "(empty)".into()
                } else {
                    text
                },
                note: note.join(", "),
                value: Some(value.clone()),
            }
        })
        .collect();
    if choices_open(model, target) {
        items.push(ChoiceItem {
            label: "other…".into(),
            note: String::new(),
            value: None,
        });
    }
    let at = options.iter().position(|v| Some(v) == now).unwrap_or(0);
    model.layers.push(Layer::Choice(Box::new(Choice {
        purpose: ChoiceFor::Value(target.clone()),
        title: target.key(),
        items,
        filter: Input::default(),
        cursor: Cursor { at, top: 0 },
    })));
}

/// Open a text field over a target.
pub fn text_field(model: &mut Model, target: &Target) {
    let (secret, hint) = match target {
        Target::Config(path) => {
            let row = row(model, path);
            let secret = row.map_or_else(|| catalog::catalog().is_secret_path(path), |r| r.secret);
            (
                secret,
                row.and_then(|r| r.setting)
                    .map(catalog::Setting::needs)
                    .unwrap_or_default(),
            )
        }
        Target::Other(_, path) => (catalog::catalog().is_secret_path(path), String::new()),
        Target::Env(name) => {
            let c = catalog::catalog();
            let hint = c
                .key(name)
                .map(|k| k.kind.noun().to_owned())
                .unwrap_or_default();
            (c.is_secret_name(name), hint)
        }
    };
    // A secret is replaced as a whole: nobody edits the middle of a key, and it stays unseen.
    let text = if secret {
        String::new()
    } else {
        shown_value(model, target)
            .map(|v| text_of(&v))
            .unwrap_or_default()
    };
    model.layers.push(Layer::Editor(Box::new(Editor {
        target: Purpose::Value(target.clone()),
        title: target.key(),
        hint,
        field: Input::new(text),
        masked: secret,
        secret,
        error: None,
        guard: None,
        warned: false,
    })));
}

/// Open a field that asks for something new.
pub fn ask(model: &mut Model, purpose: Purpose, title: &str, hint: &str) {
    model.layers.push(Layer::Editor(Box::new(Editor {
        target: purpose,
        title: title.into(),
        hint: hint.into(),
        field: Input::default(),
        masked: false,
        secret: false,
        error: None,
        guard: None,
        warned: false,
    })));
}

/// `a`: add what the tab is about.
pub fn add(model: &mut Model) {
    let (file, purpose, title, hint) = match model.tab {
        Tab::Keys => (
            FileId::Env,
            Purpose::NewVariable,
            "Name of the new variable",
            "letters, digits and _, such as OPENROUTER_API_KEY",
        ),
        Tab::Settings => (
            FileId::Config,
            Purpose::NewSetting,
            "Path of the setting",
            r"names with dots between them; \. is a dot inside a name",
        ),
        Tab::Models => {
            super::pick::to_add_fallback(model);
            return;
        }
        Tab::Problems | Tab::Storage => return,
    };
    if model.session.home.managed.is_some() || model.session.fault(file).is_some() {
        let target = match file {
            FileId::Env => Target::Env(String::new()),
            FileId::Config | FileId::Other(_) => Target::Config(KeyPath::default()),
        };
        if let Some(reason) = locked(model, &target) {
            model.complain(reason);
            return;
        }
    }
    ask(model, purpose, title, hint);
}

/// Choose among the profiles.
pub fn profiles(model: &mut Model) {
    let items: Vec<ChoiceItem> = model
        .session
        .home
        .profiles
        .iter()
        .map(|p| ChoiceItem {
            label: p.name.clone(),
            note: if p.name == model.session.home.profile {
                "now".into()
            } else {
                String::new()
            },
            value: Some(Value::Str(p.name.clone())),
        })
        .collect();
    if items.len() < 2 {
        model.say("this home has no other profile");
        return;
    }
    if !model.unsaved.is_empty() {
        model.complain("save or take back your changes before you go to another profile");
        return;
    }
    let at = items.iter().position(|i| i.note == "now").unwrap_or(0);
    model.layers.push(Layer::Choice(Box::new(Choice {
        purpose: ChoiceFor::Profile,
        title: "Profile".into(),
        items,
        filter: Input::default(),
        cursor: Cursor { at, top: 0 },
    })));
}

/// List the copies kept of the file under the cursor.
pub fn backups(model: &mut Model) {
    if model.tab != Tab::Storage {
        model.say("copies of files are on the Storage tab: 5 goes there");
        return;
    }
    if let Some(managed) = &model.session.home.managed {
        let reason = format!("this home is managed by {}: {}", managed.by, managed.why);
        model.complain(reason);
        return;
    }
    if !model.unsaved.is_empty() {
        model.complain("save or take back your changes before you bring a copy back");
        return;
    }
    let Some(row) = model.storage.get(model.here().cursors[0].at) else {
        return;
    };
    let name = row.name.clone();
    let home = &model.session.home.path;
    let entries: Vec<backup::Entry> = backup::list(home)
        .into_iter()
        .filter(|e| e.original == home.join(&name))
        .collect();
    if entries.is_empty() {
        model.say(format!(
            "no copy of {name} is kept yet: its first change makes one"
        ));
        return;
    }
    let items = entries
        .iter()
        .zip(0..)
        .map(|(entry, at)| ChoiceItem {
            label: readable(&entry.made),
            note: format!("{} bytes", entry.bytes),
            value: Some(Value::Int(at)),
        })
        .collect();
    model.layers.push(Layer::Choice(Box::new(Choice {
        purpose: ChoiceFor::Backup(entries),
        title: format!("Bring back a copy of {name}"),
        items,
        filter: Input::default(),
        cursor: Cursor::default(),
    })));
}

/// `20261201T120000Z` → `2026-12-01 12:00:00 UTC`.
fn readable(made: &str) -> String {
    match (made.get(..8), made.get(9..15)) {
        (Some(day), Some(time)) if made.is_ascii() => format!(
            "{}-{}-{} {}:{}:{} UTC",
            &day[..4],
            &day[4..6],
            &day[6..],
            &time[..2],
            &time[2..4],
            &time[4..]
        ),
        _ => made.to_owned(),
    }
}

/// Stage a value for a target and say so when it cannot be done.
pub fn stage_value(model: &mut Model, target: &Target, value: Value) {
    let label = format!("set {}", target.key());
    stage_edit(model, label, target.edit(Change::Set(value)));
}

/// Stage one edit with what has to go along with it.
pub fn stage_edit(model: &mut Model, label: String, edit: Edit) {
    if let Err(reason) = try_stage(model, label, edit) {
        model.complain(reason);
    }
}

/// Stage one edit with what has to go along with it; the reason when it cannot be done.
pub fn try_stage(model: &mut Model, label: String, edit: Edit) -> Result<(), String> {
    let edits = plan::with_companions(edit, model.staged.env.as_ref());
    model.stage(label, edits).map_err(|e| e.to_string())
}
