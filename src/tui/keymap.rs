//! The one table of keys: dispatch, the hint bar and the help are all read from it.

use super::action::{Action, Tab};
use super::key::Key;

/// Where a binding holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Context {
    /// The five tabs.
    Main,
    /// A text field; keys that are not bound here type text.
    Field,
    /// A list of choices.
    Choice,
    /// The elements of a list or map.
    Items,
    /// The changes before a save.
    Review,
    /// What a save did.
    Receipt,
    /// The list of keys.
    Help,
    /// A question.
    Confirm,
    /// The offer of a draft from an earlier session.
    Draft,
    /// No home yet.
    Welcome,
}

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Binding {
    /// Where it holds.
    pub context: Context,
    /// The keys in the notation of [`Key::parse`]; the first one is shown.
    pub keys: &'static [&'static str],
    /// What it means.
    pub action: Action,
    /// One or two words for the hint bar; empty keeps it out of there.
    pub hint: &'static str,
    /// One line for the help.
    pub help: &'static str,
}

macro_rules! table {
    ($( $context:ident: $( [$($key:literal),+] $action:expr, $hint:literal, $help:literal; )+ )+) => {
        &[ $( $( Binding {
            context: Context::$context,
            keys: &[$($key),+],
            action: $action,
            hint: $hint,
            help: $help,
        }, )+ )+ ]
    };
}

use Action as A;

/// All keys of the program. Within a context the order is the order of the hint bar.
pub const TABLE: &[Binding] = table! {
    Main:
        ["<up>", "k"] A::Up, "↑↓ move", "one row up";
        ["<down>", "j"] A::Down, "", "one row down";
        ["<ret>"] A::Activate, "⏎ edit", "edit the row, choose, jump to it";
        ["s", "<C-s>"] A::Review, "s review", "look at the changes, then save";
        ["f"] A::Fix, "", "do what the problem suggests";
        ["b"] A::Backups, "", "bring a copy of the file back";
        ["p"] A::Probe, "", "prove for every file that a save would work";
        ["v"] A::Reveal, "", "show the secret under the cursor for ten seconds";
        ["a"] A::Add, "", "add a key, a setting, a fallback";
        ["/"] A::Search, "/ search", "search; Esc ends it";
        ["?"] A::Help, "? help", "all keys";
        ["q", "<C-c>", "<C-q>"] A::Quit, "q quit", "leave; asks when something is unsaved";
        ["<tab>"] A::NextPane, "Tab pane", "next pane";
        ["<space>"] A::Toggle, "Space toggle", "switch true and false";
        ["r"] A::Reset, "r reset", "remove the value from the file: the default holds again";
        ["u"] A::Undo, "u undo", "take the last change back";
        ["<C-r>"] A::Redo, "", "do the change again that was taken back";
        ["l"] A::CycleNext, "", "next choice of a fixed set";
        ["h"] A::CyclePrev, "", "choice before";
        ["D"] A::SetDefault, "", "write the default into the file";
        ["d"] A::Review, "", "the difference to the files on disk";
        ["x", "<del>"] A::Delete, "", "remove the entry under the cursor";
        ["K"] A::MoveUp, "", "move a fallback up";
        ["J"] A::MoveDown, "", "move a fallback down";
        ["e"] A::External, "", "open the file in $EDITOR, at this line";
        ["P"] A::Profile, "", "work on another profile";
        ["R"] A::Reload, "", "read the files again";
        ["<pgup>", "<C-b>"] A::PageUp, "", "one page up";
        ["<pgdn>", "<C-f>"] A::PageDown, "", "one page down";
        ["g", "<home>"] A::First, "", "first row";
        ["G", "<end>"] A::Last, "", "last row";
        ["<s-tab>", "<left>"] A::PrevPane, "", "pane before";
        ["<right>"] A::NextPane, "", "next pane";
        ["1"] A::Tab(Tab::Models), "", "Models";
        ["2"] A::Tab(Tab::Keys), "", "Keys";
        ["3"] A::Tab(Tab::Settings), "", "Settings";
        ["4"] A::Tab(Tab::Problems), "", "Problems";
        ["5"] A::Tab(Tab::Storage), "", "Storage";
        ["]"] A::NextTab, "", "next tab";
        ["["] A::PrevTab, "", "tab before";
        ["<esc>"] A::Back, "", "clear the search, back to the first pane";
        ["<C-z>"] A::Suspend, "", "put the program in the background";
    Field:
        ["<ret>"] A::Activate, "⏎ accept", "take the value";
        ["<esc>"] A::Back, "Esc leave unchanged", "leave the value as it was";
        ["<C-t>"] A::Reveal, "Ctrl+T show", "show what is typed into a secret field";
        ["<C-c>"] A::Quit, "", "leave the value as it was";
    Choice:
        ["<up>", "<C-p>"] A::Up, "↑↓ move", "one row up";
        ["<down>", "<C-n>"] A::Down, "", "one row down";
        ["<ret>"] A::Activate, "⏎ choose", "take this choice";
        ["<esc>"] A::Back, "Esc leave unchanged", "leave the value as it was";
        ["<pgup>"] A::PageUp, "", "one page up";
        ["<pgdn>"] A::PageDown, "", "one page down";
        ["<home>"] A::First, "", "first choice";
        ["<end>"] A::Last, "", "last choice";
        ["<C-c>"] A::Quit, "", "leave the value as it was";
    Items:
        ["<up>", "k"] A::Up, "↑↓ move", "one row up";
        ["<down>", "j"] A::Down, "", "one row down";
        ["<ret>"] A::Activate, "⏎ edit", "edit the element, open what it holds";
        ["a"] A::Add, "a add", "add an element";
        ["d", "x", "<del>"] A::Delete, "d remove", "remove the element";
        ["K"] A::MoveUp, "K/J move it", "move the element up";
        ["J"] A::MoveDown, "", "move the element down";
        ["u"] A::Undo, "u undo", "take the last change back";
        ["<C-r>"] A::Redo, "", "do the change again that was taken back";
        ["<pgup>"] A::PageUp, "", "one page up";
        ["<pgdn>"] A::PageDown, "", "one page down";
        ["g", "<home>"] A::First, "", "first row";
        ["G", "<end>"] A::Last, "", "last row";
        ["<esc>", "q", "<left>"] A::Back, "Esc done", "back";
        ["<C-c>"] A::Quit, "", "back";
    Review:
        ["<ret>"] A::Activate, "⏎ save", "save these changes";
        ["x"] A::Delete, "x drop last change", "take the last change back";
        ["y"] A::Copy, "y copy as commands", "copy the changes as hermes-tui commands, secrets left out";
        ["<up>", "k"] A::Up, "", "scroll up";
        ["<down>", "j"] A::Down, "", "scroll down";
        ["<pgup>"] A::PageUp, "", "one page up";
        ["<pgdn>", "<space>"] A::PageDown, "", "one page down";
        ["<esc>", "q"] A::Back, "Esc back", "back without saving";
        ["<C-c>"] A::Quit, "", "back without saving";
    Receipt:
        ["<ret>", "<esc>", "q"] A::Back, "⏎ close", "close the receipt";
        ["y"] A::Copy, "y copy", "copy the receipt";
        ["<up>", "k"] A::Up, "", "scroll up";
        ["<down>", "j"] A::Down, "", "scroll down";
        ["<pgup>"] A::PageUp, "", "one page up";
        ["<pgdn>", "<space>"] A::PageDown, "", "one page down";
        ["<C-c>"] A::Quit, "", "close the receipt";
    Help:
        ["<esc>", "<ret>"] A::Back, "Esc close", "close the help";
        ["<up>"] A::Up, "↑↓ scroll", "scroll up";
        ["<down>"] A::Down, "", "scroll down";
        ["<pgup>"] A::PageUp, "", "one page up";
        ["<pgdn>"] A::PageDown, "type to filter", "one page down";
        ["<C-c>"] A::Quit, "", "close the help";
    Confirm:
        ["s"] A::Review, "s review", "look at the changes, then save";
        ["y", "d"] A::Discard, "y leave", "leave; the changes are dropped";
        ["<esc>", "n", "q"] A::Back, "Esc stay", "back to the editor";
        ["<C-c>"] A::Quit, "", "back to the editor";
    Draft:
        ["<ret>"] A::Activate, "⏎ take them up", "continue with the unsaved changes";
        ["x", "d"] A::Discard, "x drop them", "remove the draft";
        ["<esc>", "q", "<C-c>"] A::Quit, "Esc leave", "leave; the draft stays for the next start";
    Welcome:
        ["<ret>"] A::Activate, "⏎ create it", "make the home with an empty config.yaml and .env";
        ["<esc>", "q", "<C-c>"] A::Quit, "q quit", "leave; nothing was made";
};

/// What a key means in a context.
pub fn lookup(context: Context, key: Key) -> Option<Action> {
    TABLE
        .iter()
        .filter(|b| b.context == context)
        .find(|b| {
            b.keys
                .iter()
                .any(|k| Key::parse(k).is_some_and(|p| p == [key]))
        })
        .map(|b| b.action)
}

/// What the hint bar says of a binding on a tab: keys that do nothing there are left out, and what
/// Enter does has its own word.
pub fn hint_on(binding: &Binding, tab: Tab) -> &'static str {
    match (binding.action, tab) {
        (A::Activate, Tab::Models) => "⏎ choose",
        (A::Activate, Tab::Problems) => "⏎ go there",
        (A::Reset, Tab::Keys) => "r remove",
        (A::Add, Tab::Keys | Tab::Settings) => "a add",
        (A::Add, Tab::Models) => "a fallback",
        (A::Reveal, Tab::Keys) => "v show",
        (A::Fix, Tab::Problems) => "f fix",
        (A::Probe, Tab::Storage) => "p prove it",
        (A::Backups, Tab::Storage) => "b copies",
        (A::External, Tab::Problems | Tab::Storage) => "e open in $EDITOR",
        (A::Toggle, Tab::Settings) => binding.hint,
        (A::Activate, Tab::Storage) => "⏎ open",
        (A::Reset | A::NextPane, Tab::Storage | Tab::Problems) | (A::Toggle, _) => "",
        _ => binding.hint,
    }
}

/// The bindings of a context in table order.
pub fn bindings(context: Context) -> impl Iterator<Item = &'static Binding> {
    TABLE.iter().filter(move |b| b.context == context)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_readable_and_bound_once_per_context() {
        let mut seen = Vec::new();
        for binding in TABLE {
            for text in binding.keys {
                let keys = Key::parse(text).unwrap_or_default();
                assert_eq!(keys.len(), 1, "{text} is not one key");
                assert!(
                    !seen.contains(&(binding.context, keys[0])),
                    "{text} is bound twice in {:?}",
                    binding.context
                );
                seen.push((binding.context, keys[0]));
            }
        }
    }

    #[test]
    fn escape_or_quit_leads_out_of_every_context() {
        for context in TABLE.iter().map(|b| b.context) {
            let escape = lookup(context, Key::parse("<esc>").unwrap()[0]);
            assert!(
                matches!(escape, Some(Action::Back | Action::Quit)),
                "{context:?}"
            );
        }
    }
}
