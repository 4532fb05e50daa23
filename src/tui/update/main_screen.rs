//! Keys on the five tabs while nothing floats above them.

use std::time::Instant;

use super::super::action::{Action, Tab};
use super::super::browse;
use super::super::model::{Cursor, Layer, Model, REVEAL_FOR, Search, TabState, Target};
use super::{Effect, fix, open, pick};
use crate::document::{Change, KeyPath, Value};
use crate::edit::{FileId, Name};

impl TabState {
    /// The pane that a search narrows.
    pub fn searched_pane(&self) -> usize {
        // On Models the list of model names is the third pane; elsewhere the rows are the second.
        if self.pane == 2 { 2 } else { 1 }
    }
}

/// Rows in each pane of the shown tab.
fn lengths(model: &Model) -> [usize; 3] {
    match model.tab {
        Tab::Models => [
            model.derived.slots.len(),
            model.derived.providers.len(),
            pick::model_names(model).len(),
        ],
        Tab::Keys | Tab::Settings => {
            let list = browse::browse(model);
            [list.groups.len(), list.rows.len(), 0]
        }
        Tab::Problems => [model.derived.problems.len(), 0, 0],
        Tab::Storage => [model.storage.len(), 0, 0],
    }
}

/// Panes of a tab that can have the focus.
fn panes(tab: Tab) -> usize {
    match tab {
        Tab::Models => 3,
        Tab::Keys | Tab::Settings => 2,
        Tab::Problems | Tab::Storage => 1,
    }
}

/// Move the cursor of the focused pane.
pub fn step(model: &mut Model, delta: isize) {
    let lengths = lengths(model);
    let searching = model.here().search.is_some();
    let state = model.here_mut();
    let pane = if searching {
        state.searched_pane()
    } else {
        state.pane
    };
    let before = state.cursors[pane].at;
    state.cursors[pane].step(delta, lengths[pane]);
    if state.cursors[pane].at != before {
        // What is to the right follows from what is selected on the left.
        for later in &mut state.cursors[pane + 1..] {
            *later = Cursor::default();
        }
        if model.tab == Tab::Models && pane == 0 {
            pick::follow_slot(model);
        }
    }
}

/// The rows that one page holds, about.
fn page(model: &Model) -> isize {
    isize::try_from(model.size.1.saturating_sub(10).max(3)).unwrap_or(10)
}

/// What is under the cursor, when it is a setting or a variable.
pub fn target_here(model: &Model) -> Option<Target> {
    match model.tab {
        Tab::Settings => {
            let row = &model.derived.rows[browse::selected(model)?];
            Some(Target::Config(row.path.clone()))
        }
        Tab::Keys => {
            let row = &model.derived.keys[browse::selected(model)?];
            Some(Target::Env(row.name.clone()))
        }
        _ => None,
    }
}

/// One action.
pub fn act(model: &mut Model, action: Action) -> Effect {
    match action {
        Action::Up => step(model, -1),
        Action::Down => step(model, 1),
        Action::PageUp => step(model, -page(model)),
        Action::PageDown => step(model, page(model)),
        Action::First => step(model, isize::MIN / 2),
        Action::Last => step(model, isize::MAX / 2),
        Action::NextPane => {
            let count = panes(model.tab);
            let state = model.here_mut();
            state.pane = (state.pane + 1) % count;
        }
        Action::PrevPane => {
            let count = panes(model.tab);
            let state = model.here_mut();
            state.pane = (state.pane + count - 1) % count;
        }
        Action::Tab(tab) => model.tab = tab,
        Action::NextTab => model.tab = Tab::ALL[(model.tab.index() + 1) % 5],
        Action::PrevTab => model.tab = Tab::ALL[(model.tab.index() + 4) % 5],
        Action::Search => search(model),
        Action::Activate => activate(model),
        Action::Toggle => toggle(model),
        Action::CycleNext => cycle(model, 1),
        Action::CyclePrev => cycle(model, -1),
        Action::Reset | Action::Delete => reset(model),
        Action::SetDefault => set_default(model),
        Action::Undo => undo(model),
        Action::Redo => redo(model),
        Action::Reveal => reveal(model),
        Action::Add => open::add(model),
        Action::MoveUp => pick::move_fallback(model, -1),
        Action::MoveDown => pick::move_fallback(model, 1),
        Action::Fix => fix::fix(model),
        Action::Help => {
            model.layers.push(Layer::Help {
                filter: tui_input::Input::default(),
                scroll: 0,
            });
        }
        Action::Back => back(model),
        Action::Profile => open::profiles(model),
        Action::Review => {
            if model.unsaved.is_empty() {
                model.say("nothing is unsaved");
            } else {
                return Effect::Review;
            }
        }
        Action::External => {
            let (file, line) = place_here(model);
            return Effect::External(file, line);
        }
        Action::Backups => open::backups(model),
        Action::Probe => return Effect::Probe,
        Action::Reload => return Effect::Reload,
        Action::Suspend => return Effect::Suspend,
        Action::Quit => {
            if model.unsaved.is_empty() {
                return Effect::Quit;
            }
            model.layers.push(Layer::ConfirmQuit);
        }
        Action::Copy | Action::Discard => {}
    }
    Effect::None
}

fn search(model: &mut Model) {
    if matches!(model.tab, Tab::Problems | Tab::Storage) {
        // What people look for is nearly always a setting.
        model.tab = Tab::Settings;
    }
    let tab = model.tab;
    let state = model.here_mut();
    state.pane = if tab == Tab::Models { 2 } else { 1 };
    // A new search each time: what was typed before is seldom wanted again.
    state.search = Some(Search {
        typing: true,
        ..Search::default()
    });
    let pane = state.searched_pane();
    state.cursors[pane] = Cursor::default();
}

fn back(model: &mut Model) {
    let state = model.here_mut();
    if state.search.take().is_some() {
        // Keep the row that was found under the cursor.
        return;
    }
    state.pane = state.pane.saturating_sub(1);
}

fn activate(model: &mut Model) {
    match model.tab {
        Tab::Models => pick::activate(model),
        Tab::Keys | Tab::Settings => {
            if model.here().pane == 0 && model.here().search.is_none() {
                model.here_mut().pane = 1;
            } else if let Some(target) = target_here(model) {
                open::editor(model, &target);
            }
        }
        Tab::Problems => {
            let at = model.here().cursors[0].at;
            let Some(problem) = model.derived.problems.get(at) else {
                return;
            };
            match fix::problem_target(problem) {
                Some(target) => {
                    if !browse::jump(model, &target) {
                        model.say("that key has no row of its own: e opens the file there");
                    }
                }
                None => model.say("this one is about the whole file: e opens it"),
            }
        }
        Tab::Storage => open_stored(model),
    }
}

/// Enter on the Storage tab: the two main files have tabs of their own, the others open as a tree.
fn open_stored(model: &mut Model) {
    let Some(row) = model.storage.get(model.here().cursors[0].at) else {
        return;
    };
    match row.name.as_str() {
        "config.yaml" => model.tab = Tab::Settings,
        ".env" => model.tab = Tab::Keys,
        name => {
            let target = Target::Other(Name::of(name), KeyPath::default());
            let held = model.staged_value(&target);
            if matches!(held, Some(Value::Map(_) | Value::List(_)))
                || model.session.fault(target.file()).is_some()
            {
                open::editor(model, &target);
            } else {
                let name = name.to_owned();
                model.say(format!("{name} is not there yet, and only Hermes makes it"));
            }
        }
    }
}

/// The setting under the cursor, if its file can be edited.
fn editable_here(model: &mut Model) -> Option<Target> {
    let target = target_here(model)?;
    if model.here().pane == 0 && model.here().search.is_none() {
        model.say("Tab goes to the rows: this key works on one of them");
        return None;
    }
    if let Some(reason) = open::locked(model, &target) {
        model.complain(reason);
        return None;
    }
    Some(target)
}

fn toggle(model: &mut Model) {
    let Some(target) = editable_here(model) else {
        return;
    };
    let Target::Config(path) = &target else {
        model.say("Space switches true and false; ⏎ edits this one");
        return;
    };
    let row = model.derived.rows.iter().find(|r| &r.path == path);
    match row.and_then(|r| r.effective.clone().or_else(|| r.default.clone())) {
        Some(Value::Bool(now)) => open::stage_value(model, &target, Value::Bool(!now)),
        None if row.is_some_and(open::is_bool) => {
            open::stage_value(model, &target, Value::Bool(true));
        }
        _ => model.say("Space switches true and false; ⏎ edits this one"),
    }
}

fn cycle(model: &mut Model, delta: isize) {
    let Some(target) = editable_here(model) else {
        return;
    };
    let choices = open::choices(model, &target);
    if choices.is_empty() {
        model.say("h and l go through fixed choices; ⏎ edits this one");
        return;
    }
    let now = open::shown_value(model, &target);
    let at = choices.iter().position(|c| Some(c) == now.as_ref());
    let len = choices.len();
    let next = match at {
        Some(i) => (i + len).wrapping_add_signed(delta) % len,
        None => 0,
    };
    open::stage_value(model, &target, choices[next].clone());
}

fn reset(model: &mut Model) {
    if model.tab == Tab::Models {
        pick::reset(model);
        return;
    }
    let Some(target) = editable_here(model) else {
        return;
    };
    if model.staged_value(&target).is_none() {
        model.say(format!(
            "{} is not set in {}",
            target.key(),
            target.file().name()
        ));
        return;
    }
    let label = format!("remove {}", target.key());
    match open::try_stage(model, label, target.edit(Change::Remove)) {
        Ok(()) => model.say(format!("{} removed: u takes it back", target.key())),
        Err(reason) => model.complain(reason),
    }
}

fn set_default(model: &mut Model) {
    let Some(target) = editable_here(model) else {
        return;
    };
    let Target::Config(path) = &target else {
        model.say("variables have no default; r removes it");
        return;
    };
    let default = model
        .derived
        .rows
        .iter()
        .find(|r| &r.path == path)
        .and_then(|r| r.default.clone());
    match default {
        Some(value) => open::stage_value(model, &target, value),
        None => model.say(format!(
            "{} has no default that could be written",
            target.key()
        )),
    }
}

pub fn undo(model: &mut Model) {
    match model.log.undo().map(|s| s.label.clone()) {
        Some(label) => {
            model.draft_due = true;
            model.restage();
            model.say(format!("taken back: {label}"));
        }
        None => model.say("nothing to take back"),
    }
}

pub fn redo(model: &mut Model) {
    match model.log.redo().map(|s| s.label.clone()) {
        Some(label) => {
            model.draft_due = true;
            let lost = model.restage();
            match lost.first() {
                Some(reason) => model.complain(reason.clone()),
                None => model.say(format!("done again: {label}")),
            }
        }
        None => model.say("nothing to do again"),
    }
}

fn reveal(model: &mut Model) {
    let Some(target) = target_here(model) else {
        return;
    };
    if model.is_revealed(&target) {
        model.revealed = None;
    } else {
        model.revealed = Some((target, Instant::now() + REVEAL_FOR));
    }
}

/// The file and 1-based line of what is under the cursor, for the user's editor.
fn place_here(model: &Model) -> (FileId, usize) {
    match model.tab {
        Tab::Problems => {
            let at = model.here().cursors[0].at;
            model
                .derived
                .problems
                .get(at)
                .map_or((FileId::Config, 1), |p| {
                    (fix::problem_file(p), p.line.unwrap_or(1))
                })
        }
        Tab::Storage => {
            let at = model.here().cursors[0].at;
            let name = model
                .storage
                .get(at)
                .map_or("config.yaml", |r| r.name.as_str());
            match name {
                "config.yaml" => (FileId::Config, 1),
                ".env" => (FileId::Env, 1),
                other => (FileId::Other(Name::of(other)), 1),
            }
        }
        Tab::Models => (FileId::Config, 1),
        Tab::Keys | Tab::Settings => match target_here(model) {
            Some(Target::Config(path)) => {
                let line = model.session.config.doc().and_then(|d| d.line(&path));
                (FileId::Config, line.unwrap_or(1))
            }
            Some(Target::Env(name)) => {
                let line = model.derived.keys.iter().find(|k| k.name == name);
                (
                    FileId::Env,
                    line.and_then(|k| k.lines.last().copied()).unwrap_or(1),
                )
            }
            Some(Target::Other(..)) | None => (FileId::Config, 1),
        },
    }
}
