//! Keys while something floats above the tabs: editors, lists, review, receipt, help, questions.

use std::fmt::Write as _;

use super::super::action::Action;
use super::super::browse;
use super::super::key::Key;
use super::super::model::{ChoiceFor, ChoiceItem, Cursor, Layer, Model, Purpose, Target};
use super::super::text::count;
use super::{Effect, accept, field_key, main_screen, open};
use crate::catalog;
use crate::document::{Change, KeyPath, Step, Value};
use crate::settings;
use crate::writer::Resolution;

/// One key for the topmost layer.
pub fn act(model: &mut Model, action: Option<Action>, key: Key) -> Effect {
    match model.layers.last_mut() {
        Some(Layer::Editor(_)) => editor(model, action, key),
        Some(Layer::Choice(_)) => return choice(model, action, key),
        Some(Layer::Items(_)) => items(model, action),
        Some(Layer::Review { .. }) => return review(model, action),
        Some(Layer::Receipt { .. } | Layer::Page { .. }) => return receipt(model, action),
        Some(Layer::Help { .. }) => help(model, action, key),
        Some(Layer::ConfirmQuit) => return confirm_quit(model, action),
        Some(Layer::Draft(_)) => return draft(model, action),
        Some(Layer::Welcome) => return welcome(action),
        None => {}
    }
    Effect::None
}

fn editor(model: &mut Model, action: Option<Action>, key: Key) {
    let Some(Layer::Editor(editor)) = model.layers.last_mut() else {
        return;
    };
    match action {
        Some(Action::Activate) => {
            editor.guard = None;
            accept::accept(model);
        }
        Some(Action::Back | Action::Quit) => match editor.guard.take() {
            Some(guard) => editor.field = tui_input::Input::new(guard.raw),
            None => {
                model.layers.pop();
            }
        },
        Some(Action::Reveal) if editor.secret => editor.masked = !editor.masked,
        _ => {
            if field_key(&mut editor.field, key) {
                editor.error = None;
                editor.warned = false;
            }
        }
    }
}

/// The items of a choice that pass its filter.
pub fn filtered(items: &[ChoiceItem], filter: &str) -> Vec<usize> {
    let texts: Vec<browse::Searched> = items
        .iter()
        .map(|i| browse::Searched {
            name: i.label.clone(),
            more: String::new(),
        })
        .collect();
    browse::matches(filter, &texts)
}

fn choice(model: &mut Model, action: Option<Action>, key: Key) -> Effect {
    let page = isize::try_from(model.size.1 / 2).unwrap_or(8);
    let Some(Layer::Choice(choice)) = model.layers.last_mut() else {
        return Effect::None;
    };
    let shown = filtered(&choice.items, choice.filter.value());
    match action {
        Some(Action::Up) => choice.cursor.step(-1, shown.len()),
        Some(Action::Down) => choice.cursor.step(1, shown.len()),
        Some(Action::PageUp) => choice.cursor.step(-page, shown.len()),
        Some(Action::PageDown) => choice.cursor.step(page, shown.len()),
        Some(Action::First) => choice.cursor.step(isize::MIN / 2, shown.len()),
        Some(Action::Last) => choice.cursor.step(isize::MAX / 2, shown.len()),
        Some(Action::Back | Action::Quit) => {
            model.layers.pop();
        }
        Some(Action::Activate) => {
            let Some(item) = shown
                .get(choice.cursor.at)
                .map(|i| choice.items[*i].clone())
            else {
                return Effect::None;
            };
            let purpose = choice.purpose.clone();
            model.layers.pop();
            match (purpose, item.value) {
                (ChoiceFor::Value(target), Some(value)) => open::stage_value(model, &target, value),
                (ChoiceFor::Value(target), None) => open::text_field(model, &target),
                (ChoiceFor::Profile, Some(Value::Str(name))) => return Effect::Profile(name),
                (ChoiceFor::Backup(entries), Some(Value::Int(at))) => {
                    let entry = usize::try_from(at)
                        .ok()
                        .and_then(|at| entries.get(at).cloned());
                    return entry.map_or(Effect::None, |e| Effect::Restore(Box::new(e)));
                }
                (ChoiceFor::Conflict(journal), Some(Value::Int(at))) => {
                    let resolution = match at {
                        0 => Resolution::KeepFile,
                        1 => Resolution::TakeOld,
                        _ => Resolution::TakeNew,
                    };
                    return Effect::Settle(journal, resolution);
                }
                (ChoiceFor::Profile | ChoiceFor::Backup(_) | ChoiceFor::Conflict(_), _) => {}
            }
        }
        _ => {
            if field_key(&mut choice.filter, key) {
                choice.cursor = Cursor::default();
            }
        }
    }
    Effect::None
}

/// The path of an element or entry of the list or map at `path`.
pub fn child(value: &Value, path: &KeyPath, at: usize) -> Option<KeyPath> {
    let step = match value {
        Value::List(list) if at < list.len() => Step::Index(i64::try_from(at).ok()?),
        Value::Map(map) => match &map.get(at)?.0 {
            Value::Str(s) => Step::Key(s.clone()),
            Value::Int(i) => Step::Index(i64::try_from(*i).ok()?),
            Value::Bool(b) => Step::Bool(*b),
            _ => return None,
        },
        _ => return None,
    };
    Some(path.child(step))
}

fn items(model: &mut Model, action: Option<Action>) {
    let Some(Layer::Items(items)) = model.layers.last() else {
        return;
    };
    let (here, at) = (items.target.clone(), items.cursor.at);
    let path = here.path().cloned().unwrap_or_default();
    let value = open::shown_value(model, &here).or_else(|| model.staged_value(&here));
    let value = value.unwrap_or(Value::Null);
    let len = match &value {
        Value::List(list) => list.len(),
        Value::Map(map) => map.len(),
        _ => 0,
    };
    let page = isize::try_from(model.size.1 / 2).unwrap_or(8);
    let mut step = |delta: isize| {
        if let Some(Layer::Items(items)) = model.layers.last_mut() {
            items.cursor.step(delta, len);
        }
    };
    match action {
        Some(Action::Up) => step(-1),
        Some(Action::Down) => step(1),
        Some(Action::PageUp) => step(-page),
        Some(Action::PageDown) => step(page),
        Some(Action::First) => step(isize::MIN / 2),
        Some(Action::Last) => step(isize::MAX / 2),
        Some(Action::Back | Action::Quit) => {
            model.layers.pop();
        }
        Some(Action::Undo) => main_screen::undo(model),
        Some(Action::Redo) => main_screen::redo(model),
        Some(Action::Activate) => match child(&value, &path, at) {
            Some(child) => {
                into_file(model, &here, &value);
                open::editor(model, &here.at(child));
            }
            None if len == 0 => add_item(model, &here, &value),
            None => model.complain("this key has no text form here: Esc, then e opens the file"),
        },
        Some(Action::Add) => add_item(model, &here, &value),
        Some(Action::Delete) => {
            if let Some(child) = child(&value, &path, at) {
                into_file(model, &here, &value);
                let label = format!("remove {child}");
                open::stage_edit(model, label, here.at(child).edit(Change::Remove));
                if let Some(Layer::Items(items)) = model.layers.last_mut() {
                    items.cursor.step(0, len.saturating_sub(1));
                }
            }
        }
        Some(action @ (Action::MoveUp | Action::MoveDown)) => {
            if !matches!(value, Value::List(_)) {
                model.say("the order of these entries means nothing to Hermes");
                return;
            }
            let to = if action == Action::MoveUp {
                at.checked_sub(1)
            } else {
                Some(at + 1)
            };
            let Some(to) = to.filter(|t| *t < len) else {
                return;
            };
            into_file(model, &here, &value);
            let change = Change::Move { from: at, to };
            let label = format!("move an element of {}", here.key());
            open::stage_edit(model, label, here.edit(change));
            if let Some(Layer::Items(items)) = model.layers.last_mut()
                && model.status.is_none()
            {
                items.cursor.at = to;
            }
        }
        _ => {}
    }
}

/// A list that so far only exists as a default has to be in the file before one of its elements
/// can change.
fn into_file(model: &mut Model, target: &Target, value: &Value) {
    if model.staged_value(target).is_none() && !matches!(value, Value::Null) {
        open::stage_value(model, target, value.clone());
    }
}

fn add_item(model: &mut Model, target: &Target, value: &Value) {
    let is_map = match value {
        Value::Map(_) => true,
        Value::List(_) => false,
        _ => target
            .path()
            .and_then(|path| open::row(model, path))
            .and_then(|r| r.setting)
            .is_some_and(|s| s.kind == catalog::Kind::Map),
    };
    into_file(model, target, value);
    if is_map {
        let title = format!("Name of the new entry in {}", target.key());
        open::ask(model, Purpose::NewEntry(target.clone()), &title, "");
    } else {
        let title = format!("New element of {}", target.key());
        open::ask(model, Purpose::NewElement(target.clone()), &title, "");
    }
}

fn scroll(at: &mut usize, action: Option<Action>, page: usize) {
    match action {
        Some(Action::Up) => *at = at.saturating_sub(1),
        // The view stops the scroll at the last line.
        Some(Action::Down) => *at += 1,
        Some(Action::PageUp) => *at = at.saturating_sub(page),
        Some(Action::PageDown) => *at += page,
        _ => {}
    }
}

fn review(model: &mut Model, action: Option<Action>) -> Effect {
    let page = usize::from(model.size.1.saturating_sub(6)).max(1);
    match action {
        Some(Action::Activate) => Effect::Save,
        Some(Action::Back | Action::Quit) => {
            model.layers.pop();
            Effect::None
        }
        Some(Action::Delete) => {
            main_screen::undo(model);
            model.layers.pop();
            if model.unsaved.is_empty() {
                Effect::None
            } else {
                Effect::Review
            }
        }
        Some(Action::Copy) => Effect::Copy(as_commands(model)),
        other => {
            if let Some(Layer::Review { scroll: at, .. }) = model.layers.last_mut() {
                scroll(at, other, page);
            }
            Effect::None
        }
    }
}

/// The staged changes as commands for this home; secrets are left for standard input.
fn as_commands(model: &Model) -> String {
    let mut out = String::new();
    let home = quote(&model.session.home.path.to_string_lossy());
    for target in &model.unsaved {
        let file = target.file().name();
        let key = quote(&target.key());
        let value = model.staged_value(target);
        let (flag, hidden) = match target {
            Target::Env(name) => ("--env", catalog::catalog().is_secret_name(name)),
            Target::Config(path) => {
                let safe = value.as_ref().map(|v| settings::hide_secrets(path, v));
                ("--config", safe != value)
            }
            // There is no command for these files; a line that says so is better than none.
            Target::Other(_, path) => {
                let _ = writeln!(out, "# {path} of {file}: in the editor");
                continue;
            }
        };
        let head = format!("hermes-tui --home {home} {flag}");
        let _ = match value {
            None => writeln!(out, "{head} unset {key}"),
            Some(Value::Str(_)) if hidden => writeln!(out, "{head} set {key} --stdin"),
            Some(_) if hidden => writeln!(out, "# {key} holds a secret: in the editor"),
            Some(Value::Str(text)) => {
                writeln!(out, "{head} set --string {key} {}", quote(&text))
            }
            Some(other) => {
                let text = crate::document::yaml::scalar_text(&other);
                writeln!(out, "{head} set {key} {}", quote(&text))
            }
        };
    }
    out
}

/// A word for a POSIX shell.
fn quote(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:@%+=,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

fn receipt(model: &mut Model, action: Option<Action>) -> Effect {
    let page = usize::from(model.size.1.saturating_sub(6)).max(1);
    match action {
        Some(Action::Back | Action::Quit | Action::Activate) => {
            model.layers.pop();
            Effect::None
        }
        Some(Action::Copy) => {
            let text = super::super::view::receipt::plain_text(model).join("\n");
            Effect::Copy(text)
        }
        other => {
            if let Some(Layer::Receipt { scroll: at, .. } | Layer::Page { scroll: at, .. }) =
                model.layers.last_mut()
            {
                scroll(at, other, page);
            }
            Effect::None
        }
    }
}

fn help(model: &mut Model, action: Option<Action>, key: Key) {
    let page = usize::from(model.size.1.saturating_sub(6)).max(1);
    let Some(Layer::Help { filter, scroll: at }) = model.layers.last_mut() else {
        return;
    };
    match action {
        Some(Action::Back | Action::Quit | Action::Activate) => {
            model.layers.pop();
        }
        Some(action) => scroll(at, Some(action), page),
        None => {
            if field_key(filter, key) {
                *at = 0;
            }
        }
    }
}

fn confirm_quit(model: &mut Model, action: Option<Action>) -> Effect {
    match action {
        Some(Action::Review) => {
            model.layers.pop();
            Effect::Review
        }
        Some(Action::Discard) => {
            model.log.clear();
            model.draft_due = true;
            model.restage();
            Effect::Quit
        }
        Some(_) => {
            model.layers.pop();
            Effect::None
        }
        None => Effect::None,
    }
}

fn draft(model: &mut Model, action: Option<Action>) -> Effect {
    match action {
        Some(Action::Activate) => {
            if let Some(Layer::Draft(log)) = model.layers.pop() {
                let wanted = log.steps().len();
                model.log = log;
                let lost = model.restage();
                if lost.is_empty() {
                    model.say(format!(
                        "{} taken up: s reviews and saves",
                        count(wanted, "change")
                    ));
                } else {
                    model.complain(format!(
                        "{} no longer fit the files: {}",
                        count(lost.len(), "change"),
                        lost.join("; ")
                    ));
                }
            }
            Effect::None
        }
        Some(Action::Discard) => {
            model.layers.pop();
            Effect::DropDraft
        }
        Some(Action::Quit) => Effect::Quit,
        Some(_) => {
            model.layers.pop();
            Effect::None
        }
        None => Effect::None,
    }
}

fn welcome(action: Option<Action>) -> Effect {
    match action {
        Some(Action::Activate) => Effect::CreateHome,
        Some(Action::Quit) => Effect::Quit,
        _ => Effect::None,
    }
}
