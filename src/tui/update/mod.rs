//! What a key does: the model after it, and what is left to do outside.
//!
//! Responsible for: turning keys and pastes into a changed [`Model`] and an [`Effect`].
//! Not responsible for: IO. Effects are carried out by [`super::effects`].

mod accept;
mod fix;
mod floating;
mod main_screen;
mod open;
mod pick;

use std::path::PathBuf;

use tui_input::{Input, InputRequest};

use super::action::Action;
use super::key::Key;
use super::keymap::{self, Context};
use super::model::{Layer, Model, PasteGuard};
use crate::edit::FileId;
use crate::writer::{Resolution, backup};

pub use fix::problem_file;
pub use floating::{child, filtered};
pub use open::shown_value;
pub use pick::{follow_slot, is as is_provider, model_names, provider_here, slot_here};

/// What has to happen outside of the model.
#[derive(Debug, Clone)]
pub enum Effect {
    /// Nothing.
    None,
    /// Leave the program.
    Quit,
    /// Read the files and show what a save would do.
    Review,
    /// Save.
    Save,
    /// Read the files again.
    Reload,
    /// Open a file in the user's editor, at a 1-based line.
    External(FileId, usize),
    /// Prove for every file that a save would work.
    Probe,
    /// Open another profile.
    Profile(String),
    /// Go to the background.
    Suspend,
    /// Put a text on the terminal's clipboard.
    Copy(String),
    /// Make the home.
    CreateHome,
    /// Remove the draft of an earlier session.
    DropDraft,
    /// Bring a copy of a file back.
    Restore(Box<backup::Entry>),
    /// Settle the conflict of this journal.
    Settle(PathBuf, Resolution),
}

/// The context of the topmost layer.
pub fn context(model: &Model) -> Context {
    match model.layers.last() {
        None if model.here().search.as_ref().is_some_and(|s| s.typing) => Context::Field,
        None => Context::Main,
        Some(Layer::Editor(_)) => Context::Field,
        Some(Layer::Choice(_)) => Context::Choice,
        Some(Layer::Items(_)) => Context::Items,
        Some(Layer::Review { .. }) => Context::Review,
        Some(Layer::Receipt { .. } | Layer::Page { .. }) => Context::Receipt,
        Some(Layer::Help { .. }) => Context::Help,
        Some(Layer::ConfirmQuit) => Context::Confirm,
        Some(Layer::Draft(_)) => Context::Draft,
        Some(Layer::Welcome) => Context::Welcome,
    }
}

/// One key.
pub fn key(model: &mut Model, key: Key) -> Effect {
    model.status = None;
    let context = context(model);
    let action = keymap::lookup(context, key);
    match context {
        Context::Main => match action {
            Some(action) => main_screen::act(model, action),
            None => Effect::None,
        },
        Context::Field if model.layers.is_empty() => {
            search_key(model, action, key);
            Effect::None
        }
        _ => floating::act(model, action, key),
    }
}

/// Text pasted at once. It never triggers anything: it only goes into an open field.
pub fn paste(model: &mut Model, text: &str) -> Effect {
    model.status = None;
    match model.layers.last_mut() {
        Some(Layer::Editor(editor)) => {
            let (clean, found) = if editor.secret {
                guard(text)
            } else {
                plain(text)
            };
            let before = editor.field.value().to_owned();
            let at = editor.field.cursor();
            insert(&mut editor.field, &clean);
            editor.error = None;
            editor.guard = found.map(|found| {
                let head: String = before.chars().take(at).collect();
                let tail: String = before.chars().skip(at).collect();
                PasteGuard {
                    found,
                    raw: format!("{head}{text}{tail}"),
                }
            });
        }
        Some(Layer::Choice(choice)) => insert(&mut choice.filter, &plain(text).0),
        Some(Layer::Help { filter, .. }) => insert(filter, &plain(text).0),
        None => {
            if let Some(search) = &mut model.here_mut().search
                && search.typing
            {
                insert(&mut search.field, &plain(text).0);
            } else {
                model.say("pasted text is ignored here: open a field first");
            }
        }
        Some(_) => {}
    }
    Effect::None
}

fn insert(field: &mut Input, text: &str) {
    let at = field.cursor();
    let count = text.chars().count();
    let mut all: String = field.value().chars().take(at).collect();
    all.push_str(text);
    all.extend(field.value().chars().skip(at));
    *field = Input::new(all).with_cursor(at + count);
}

/// Pasted text for an ordinary field: terminal control sequences and the line break at the end go.
fn plain(text: &str) -> (String, Option<String>) {
    let text = strip_escapes(text);
    let clean: String = text
        .trim_end_matches(['\r', '\n'])
        .chars()
        .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
        .collect();
    (clean, None)
}

/// Pasted text for a secret: what cannot belong to a key is taken out and named.
fn guard(text: &str) -> (String, Option<String>) {
    let stripped = strip_escapes(text);
    let mut found = Vec::new();
    let mut note = |count: usize, one: &str, many: &str| match count {
        0 => {}
        1 => found.push(format!("1 {one}")),
        n => found.push(format!("{n} {many}")),
    };
    let escapes = text.matches('\u{1b}').count();
    note(
        escapes,
        "terminal control sequence",
        "terminal control sequences",
    );
    let is_zero_width = |c: &char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{ad}');
    note(
        stripped.chars().filter(is_zero_width).count(),
        "zero-width character",
        "zero-width characters",
    );
    let trimmed = stripped.trim();
    note(
        trimmed.chars().filter(|c| c.is_control()).count(),
        "line break or control character",
        "line breaks or control characters",
    );
    let clean: String = trimmed
        .chars()
        .filter(|c| !c.is_control() && !is_zero_width(c))
        .collect();
    let clean = clean.trim().to_owned();
    let blanks = stripped.trim_end_matches(['\r', '\n']).chars().count() - trimmed.chars().count();
    note(blanks, "blank around it", "blanks around it");
    if found.is_empty() {
        (clean, None)
    } else {
        (clean, Some(found.join(", ")))
    }
}

/// Take out CSI and other escape sequences, the bracketed-paste markers among them.
fn strip_escapes(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            out.push(c);
            continue;
        }
        if chars.peek() == Some(&'[') {
            chars.next();
            for c in chars.by_ref() {
                if ('@'..='~').contains(&c) {
                    break;
                }
            }
        }
    }
    out
}

/// Readline keys of a text field. Returns whether the key was one.
fn field_key(field: &mut Input, key: Key) -> bool {
    use crossterm::event::KeyCode as K;
    let request = match (key.code, key.ctrl, key.alt) {
        (K::Left, false, false) | (K::Char('b'), true, false) => InputRequest::GoToPrevChar,
        (K::Right, false, false) | (K::Char('f'), true, false) => InputRequest::GoToNextChar,
        (K::Left, true, _) | (K::Char('b'), false, true) => InputRequest::GoToPrevWord,
        (K::Right, true, _) | (K::Char('f'), false, true) => InputRequest::GoToNextWord,
        (K::Home, ..) | (K::Char('a'), true, false) => InputRequest::GoToStart,
        (K::End, ..) | (K::Char('e'), true, false) => InputRequest::GoToEnd,
        (K::Backspace, false, false) | (K::Char('h'), true, false) => InputRequest::DeletePrevChar,
        (K::Delete, ..) | (K::Char('d'), true, false) => InputRequest::DeleteNextChar,
        (K::Char('w'), true, false) | (K::Backspace, _, true) | (K::Backspace, true, _) => {
            InputRequest::DeletePrevWord
        }
        (K::Char('d'), false, true) => InputRequest::DeleteNextWord,
        (K::Char('u'), true, false) => InputRequest::DeleteFromStart,
        (K::Char('k'), true, false) => InputRequest::DeleteTillEnd,
        (K::Char('y'), true, false) => InputRequest::Yank,
        (K::Char(c), false, false) => InputRequest::InsertChar(c),
        _ => return false,
    };
    field.handle(request);
    true
}

/// A key while the search field of a tab has the focus.
fn search_key(model: &mut Model, action: Option<Action>, key: Key) {
    let state = model.here_mut();
    let Some(search) = &mut state.search else {
        return;
    };
    match action {
        Some(Action::Activate) => {
            search.typing = false;
            if search.field.value().is_empty() {
                state.search = None;
            }
        }
        Some(Action::Back | Action::Quit) => {
            state.search = None;
            state.cursors[1] = super::model::Cursor::default();
        }
        _ => match key.code {
            // The list can be walked without leaving the field.
            crossterm::event::KeyCode::Up => main_screen::step(model, -1),
            crossterm::event::KeyCode::Down => main_screen::step(model, 1),
            _ => {
                if field_key(&mut search.field, key) {
                    let pane = state.searched_pane();
                    state.cursors[pane] = super::model::Cursor::default();
                }
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pasted_key_loses_what_cannot_belong_to_it_and_says_so() {
        let (clean, found) = guard("\u{1b}[200~sk-\u{200b}abc\u{1b}[201~\n");
        assert_eq!(clean, "sk-abc");
        let found = found.unwrap();
        assert!(found.contains("2 terminal control sequences"), "{found}");
        assert!(found.contains("1 zero-width character"), "{found}");
        assert_eq!(
            guard("sk-abc\n"),
            ("sk-abc".into(), None),
            "a final line break is no news"
        );
        assert_eq!(guard(" a\nb ").0, "ab");
    }
}
