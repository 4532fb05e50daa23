//! The state of the screen. Everything shown is a function of it.
//!
//! Responsible for: what is loaded, staged, selected and open. Not responsible for: what a key
//! does ([`super::update`]) or how it looks ([`super::view`]).

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use tui_input::Input;

use super::action::Tab;
pub use super::layer::{Choice, ChoiceFor, ChoiceItem, Editor, Items, Layer, PasteGuard, Purpose};
use super::models::{ProviderItem, Slot, provider_items, slots};
pub use super::target::{Target, text_of};
use super::theme::Theme;
use crate::document::dotenv::EnvDocument;
use crate::document::{KeyPath, Value};
use crate::edit::{Edit, EditLog, FileId, Step};
use crate::plan::PlanError;
use crate::session::{Loaded, Session, Staged};
use crate::settings::{self, KeyRow, Problem, Row};
use crate::writer::Prediction;

/// A selected row and how far the list is scrolled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cursor {
    /// The selected row.
    pub at: usize,
    /// The first row shown.
    pub top: usize,
}

impl Cursor {
    /// Move by `delta` rows; stays inside `len`.
    pub fn step(&mut self, delta: isize, len: usize) {
        self.at = self
            .at
            .saturating_add_signed(delta)
            .min(len.saturating_sub(1));
    }

    /// The rows to show in `height` lines, with the selected one among them.
    pub fn window(&self, len: usize, height: usize) -> std::ops::Range<usize> {
        let height = height.max(1);
        let at = self.at.min(len.saturating_sub(1));
        let mut top = self.top.min(len.saturating_sub(height));
        if at < top {
            top = at;
        } else if at >= top + height {
            top = at + 1 - height;
        }
        top..len.min(top + height)
    }
}

/// A search in one tab.
#[derive(Debug, Clone, Default)]
pub struct Search {
    /// What was typed.
    pub field: Input,
    /// Keys go to the field (until Enter or Esc).
    pub typing: bool,
}

/// The state of one tab.
#[derive(Debug, Clone, Default)]
pub struct TabState {
    /// The pane with the focus.
    pub pane: usize,
    /// One cursor per pane.
    pub cursors: [Cursor; 3],
    /// The search, if one is on.
    pub search: Option<Search>,
}

/// A line for the user, shown until the next key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// The text.
    pub text: String,
    /// It tells of something that did not work.
    pub bad: bool,
}

/// A row of the storage tab.
#[derive(Debug, Clone)]
pub struct StorageRow {
    /// The name inside the home.
    pub name: String,
    /// What the file is for.
    pub about: &'static str,
    /// What a save would meet.
    pub prediction: Prediction,
    /// Whether the content is whole, for the state files: what is wrong with it, if anything.
    pub content: Result<String, String>,
    /// The prediction was proved, not only computed.
    pub proved: bool,
}

/// Everything computed from the staged documents, anew after each change.
#[derive(Debug, Clone, Default)]
pub struct Derived {
    /// Settings.
    pub rows: Vec<Row>,
    /// Variables.
    pub keys: Vec<KeyRow>,
    /// Problems.
    pub problems: Vec<Problem>,
    /// Places where a model is chosen.
    pub slots: Vec<Slot>,
    /// Providers, those that can be used first.
    pub providers: Vec<ProviderItem>,
}

/// The whole state.
#[derive(Debug)]
pub struct Model {
    /// The home and its files as loaded.
    pub session: Session,
    /// Changes that are not saved.
    pub log: EditLog,
    /// The documents with those changes.
    pub staged: Staged,
    /// What follows from the staged documents.
    pub derived: Derived,
    /// The loaded value of every target that the log touches, to tell what is unsaved.
    pub before: BTreeMap<Target, Option<String>>,
    /// Targets whose staged value differs from the loaded one.
    pub unsaved: Vec<Target>,
    /// The tab shown.
    pub tab: Tab,
    /// Each tab's state.
    pub tabs: [TabState; 5],
    /// What floats above.
    pub layers: Vec<Layer>,
    /// A line for the user.
    pub status: Option<Status>,
    /// A secret shown in the clear, and until when.
    pub revealed: Option<(Target, Instant)>,
    /// Files of the home, for the storage tab and the title.
    pub storage: Vec<StorageRow>,
    /// The last receipt of each file, as lines.
    pub receipts: BTreeMap<FileId, Vec<String>>,
    /// The draft file is older than the log.
    pub draft_due: bool,
    /// Colours and signs.
    pub theme: Theme,
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
    /// The user's own home directory, shown as `~`.
    pub user_home: Option<PathBuf>,
}

/// How long a revealed secret stays in the clear.
pub const REVEAL_FOR: Duration = Duration::from_secs(10);

impl Model {
    /// A model over a freshly opened home.
    pub fn new(session: Session, theme: Theme) -> Self {
        let staged = Staged {
            config: session.config.doc().cloned(),
            env: session.env.doc().cloned(),
            others: BTreeMap::new(),
        };
        let mut model = Self {
            session,
            log: EditLog::default(),
            staged,
            derived: Derived::default(),
            before: BTreeMap::new(),
            unsaved: Vec::new(),
            tab: Tab::Models,
            tabs: Default::default(),
            layers: Vec::new(),
            status: None,
            revealed: None,
            storage: Vec::new(),
            receipts: BTreeMap::new(),
            draft_due: false,
            theme,
            size: (80, 24),
            user_home: None,
        };
        model.derive();
        model
    }

    /// The shown tab's state.
    pub fn here(&self) -> &TabState {
        &self.tabs[self.tab.index()]
    }

    /// The shown tab's state, to change it.
    pub fn here_mut(&mut self) -> &mut TabState {
        &mut self.tabs[self.tab.index()]
    }

    /// Tell the user something.
    pub fn say(&mut self, text: impl Into<String>) {
        self.status = Some(Status {
            text: text.into(),
            bad: false,
        });
    }

    /// Tell the user about something that did not work.
    pub fn complain(&mut self, text: impl Into<String>) {
        self.status = Some(Status {
            text: text.into(),
            bad: true,
        });
    }

    /// Stage a step. It is taken only when the documents can take it; otherwise nothing changes
    /// and the reason comes back.
    pub fn stage(&mut self, label: impl Into<String>, edits: Vec<Edit>) -> Result<(), PlanError> {
        let mut log = self.log.clone();
        log.push(Step {
            label: label.into(),
            edits,
        });
        let staged = self.session.stage(&log)?;
        self.log = log;
        self.staged = staged;
        self.draft_due = true;
        self.derive();
        Ok(())
    }

    /// The home as people write it.
    pub fn shown_home(&self) -> String {
        let path = &self.session.home.path;
        match self
            .user_home
            .as_ref()
            .and_then(|h| path.strip_prefix(h).ok())
        {
            Some(rest) if rest.as_os_str().is_empty() => "~".into(),
            Some(rest) => format!("~/{}", rest.display()),
            None => path.display().to_string(),
        }
    }

    /// Bring the staged documents in step with the log after undo, redo or a reload. Steps that the
    /// files can no longer take are left out and named.
    pub fn restage(&mut self) -> Vec<String> {
        let mut lost = Vec::new();
        if let Ok(staged) = self.session.stage(&self.log) {
            self.staged = staged;
        } else {
            // Step by step, so that exactly the ones that no longer fit are left out.
            let steps = self.log.steps().to_vec();
            self.log.clear();
            self.staged = self.loaded();
            for step in steps {
                let mut log = self.log.clone();
                log.push(step.clone());
                match self.session.stage(&log) {
                    Ok(staged) => {
                        self.log = log;
                        self.staged = staged;
                    }
                    Err(error) => lost.push(format!("{}: {error}", step.label)),
                }
            }
            self.draft_due = true;
        }
        self.derive();
        lost
    }

    /// The documents without any change.
    fn loaded(&self) -> Staged {
        Staged {
            config: self.session.config.doc().cloned(),
            env: self.session.env.doc().cloned(),
            others: BTreeMap::new(),
        }
    }

    /// Compute everything that follows from the staged documents.
    pub fn derive(&mut self) {
        let layers = self.session.staged_layers(&self.staged);
        let rows = settings::rows(&layers);
        let keys = settings::key_rows(&layers);
        let mut problems = settings::problems(&layers);
        for (file, error) in self.session.parse_errors() {
            problems.insert(0, settings::parse_problem(file, error));
        }
        let slots = slots(&layers);
        let providers = provider_items(&layers, &keys, &self.session.hermes_state);
        self.derived = Derived {
            rows,
            keys,
            problems,
            slots,
            providers,
        };
        let mut targets: Vec<Target> = self
            .log
            .edits()
            .map(|e| match e {
                Edit::Config { path, .. } => Target::Config(list_root(path)),
                Edit::Env { name, .. } => Target::Env(name.clone()),
                Edit::Other { file, path, .. } => Target::Other(*file, list_root(path)),
            })
            .collect();
        targets.sort();
        targets.dedup();
        self.unsaved = targets
            .into_iter()
            .filter(|t| self.loaded_value(t) != self.staged_value(t) || self.is_respelled(t))
            .collect();
    }

    /// The staged value of a target.
    pub fn staged_value(&self, target: &Target) -> Option<Value> {
        match target {
            Target::Config(path) => self.staged.config.as_ref()?.get(path),
            Target::Env(name) => self.staged.env.as_ref()?.get_load_env(name).map(Value::Str),
            Target::Other(name, path) => match self.staged.others.get(name) {
                Some(doc) => doc.get(path),
                None => self.loaded_value(target),
            },
        }
    }

    /// The value of a target in the file as loaded.
    pub fn loaded_value(&self, target: &Target) -> Option<Value> {
        match target {
            Target::Config(path) => self.session.config.doc()?.get(path),
            Target::Env(name) => self.session.env.doc()?.get_load_env(name).map(Value::Str),
            Target::Other(name, path) => self
                .session
                .others
                .get(name)
                .and_then(Loaded::doc)?
                .get(path),
        }
    }

    /// Whether a variable is written differently, though its value is the same: a duplicate went, or
    /// it was put into the form that all readers agree on.
    fn is_respelled(&self, target: &Target) -> bool {
        let Target::Env(name) = target else {
            return false;
        };
        let lines = |doc: Option<&EnvDocument>| -> Vec<Vec<u8>> {
            doc.into_iter()
                .flat_map(|doc| {
                    let of_name = doc.entries().iter().filter(|e| e.name == *name);
                    of_name.map(|e| doc.bytes()[e.spans.whole.clone()].to_vec())
                })
                .collect()
        };
        lines(self.session.env.doc()) != lines(self.staged.env.as_ref())
    }

    /// Whether something at or below a path is unsaved.
    pub fn is_unsaved(&self, target: &Target) -> bool {
        self.unsaved.iter().any(|u| match (u, target) {
            (Target::Config(u), Target::Config(t)) => t.contains(u) || u.contains(t),
            (Target::Other(a, u), Target::Other(b, t)) => {
                a == b && (t.contains(u) || u.contains(t))
            }
            (u, t) => u == t,
        })
    }

    /// Whether a secret is shown in the clear now.
    pub fn is_revealed(&self, target: &Target) -> bool {
        self.revealed.as_ref().is_some_and(|(t, _)| t == target)
    }

    /// Let time pass: hides a revealed secret whose time is over. Returns whether anything on the
    /// screen changed.
    pub fn tick(&mut self, now: Instant) -> bool {
        if self
            .revealed
            .as_ref()
            .is_some_and(|(_, until)| *until <= now)
        {
            self.revealed = None;
            return true;
        }
        false
    }
}

/// Edits of list elements count as one change of the list: indices shift when elements move.
fn list_root(path: &KeyPath) -> KeyPath {
    use crate::document::Step;
    let end = path
        .0
        .iter()
        .position(|s| matches!(s, Step::Index(_)))
        .unwrap_or(path.0.len());
    KeyPath(path.0[..end].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_selected_row_is_always_in_the_window() {
        for len in 0..30 {
            for at in 0..30 {
                for top in 0..30 {
                    for height in 0..9 {
                        let window = Cursor { at, top }.window(len, height);
                        assert!(window.end <= len);
                        if len > 0 {
                            assert!(
                                window.contains(&at.min(len - 1)),
                                "{len} {at} {top} {height}"
                            );
                        }
                    }
                }
            }
        }
    }
}
