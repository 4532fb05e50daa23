//! What floats above the tabs: fields, lists, the review, the receipt, questions.
//!
//! Responsible for: their state. What their keys do is in [`super::update`], how they look in
//! [`super::view`].

use std::path::PathBuf;

use tui_input::Input;

use super::model::Cursor;
use super::target::Target;
use crate::document::Value;
use crate::edit::{EditLog, FileId};
use crate::session::{FilePlan, Outcome};
use crate::writer::backup;

/// A text field over one target.
#[derive(Debug, Clone)]
pub struct Editor {
    /// What is edited.
    pub target: Purpose,
    /// The line above the field.
    pub title: String,
    /// What may be typed, for the line below the field.
    pub hint: String,
    /// The text so far.
    pub field: Input,
    /// Show bullets in the place of the text.
    pub masked: bool,
    /// It is a secret: length and last four are shown, Ctrl+T switches `masked`.
    pub secret: bool,
    /// Why the text cannot be taken, after an attempt.
    pub error: Option<String>,
    /// What a paste brought along that does not belong into a key.
    pub guard: Option<PasteGuard>,
    /// Enter was refused once for a reason the user may overrule by pressing it again.
    pub warned: bool,
}

/// What the text of an [`Editor`] is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purpose {
    /// The value of a target.
    Value(Target),
    /// The name of a new variable in `.env`.
    NewVariable,
    /// The path of a new setting in `config.yaml`.
    NewSetting,
    /// The name of a new entry in the map at the path.
    NewEntry(Target),
    /// A new element at the end of the list at the path.
    NewElement(Target),
    /// A model name for the slot, at the provider with this id.
    ModelName {
        /// Index into the slots.
        slot: usize,
        /// Index into the providers.
        provider: usize,
    },
}

/// Stray characters that a paste brought along.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PasteGuard {
    /// What was found, in words.
    pub found: String,
    /// The text as it was pasted, for those who want it so.
    pub raw: String,
}

/// A list of choices over one target.
#[derive(Debug, Clone)]
pub struct Choice {
    /// What is chosen.
    pub purpose: ChoiceFor,
    /// The line above the list.
    pub title: String,
    /// The choices.
    pub items: Vec<ChoiceItem>,
    /// The filter typed so far.
    pub filter: Input,
    /// The selected one among those that pass the filter.
    pub cursor: Cursor,
}

/// What a [`Choice`] is for.
#[derive(Debug, Clone)]
pub enum ChoiceFor {
    /// The value of a target.
    Value(Target),
    /// Another profile to work on.
    Profile,
    /// A copy to bring back.
    Backup(Vec<backup::Entry>),
    /// Which content is right, after a save was interrupted and somebody else wrote since.
    Conflict(PathBuf),
}

/// One row of a [`Choice`].
#[derive(Debug, Clone)]
pub struct ChoiceItem {
    /// The text.
    pub label: String,
    /// A remark behind it ("now", "default").
    pub note: String,
    /// What choosing it means; `None` opens a text field ("other…").
    pub value: Option<Value>,
}

/// The elements of a list or map, opened for editing.
#[derive(Debug, Clone)]
pub struct Items {
    /// Where it stands.
    pub target: Target,
    /// The selected element.
    pub cursor: Cursor,
}

/// What floats above the tabs, the topmost last.
#[derive(Debug)]
pub enum Layer {
    /// A text field.
    Editor(Box<Editor>),
    /// A list of choices.
    Choice(Box<Choice>),
    /// A list or map.
    Items(Items),
    /// The changes before a save.
    Review {
        /// One entry per file.
        plans: Vec<FilePlan>,
        /// Lines scrolled.
        scroll: usize,
    },
    /// What a save did.
    Receipt {
        /// One entry per file that was tried.
        outcomes: Vec<Outcome>,
        /// Files that were not tried because one before failed.
        untried: Vec<FileId>,
        /// What takes effect when.
        effects: Vec<String>,
        /// Lines scrolled.
        scroll: usize,
    },
    /// A page of text.
    Page {
        /// The line in the frame.
        title: String,
        /// The text; wrapped when shown.
        lines: Vec<String>,
        /// Lines scrolled.
        scroll: usize,
    },
    /// The list of keys.
    Help {
        /// What was typed to find one.
        filter: Input,
        /// Lines scrolled.
        scroll: usize,
    },
    /// Leave with unsaved changes?
    ConfirmQuit,
    /// Unsaved edits of an earlier session.
    Draft(EditLog),
    /// There is no home yet.
    Welcome,
}
