//! What a key can mean. The key table ([`super::keymap`]) maps keys to these.

/// The five tabs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tab {
    /// Which model answers, and from where.
    Models,
    /// API keys and other variables of `.env`.
    Keys,
    /// Every setting of `config.yaml`.
    Settings,
    /// What Hermes will misread or ignore.
    Problems,
    /// Where the files really are, and how a save would go.
    Storage,
}

impl Tab {
    /// All tabs, in order.
    pub const ALL: [Self; 5] = [
        Self::Models,
        Self::Keys,
        Self::Settings,
        Self::Problems,
        Self::Storage,
    ];

    /// The word in the tab bar.
    pub fn title(self) -> &'static str {
        match self {
            Self::Models => "Models",
            Self::Keys => "Keys",
            Self::Settings => "Settings",
            Self::Problems => "Problems",
            Self::Storage => "Storage",
        }
    }

    /// Position in [`Tab::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }
}

/// One thing that the user can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// One row up.
    Up,
    /// One row down.
    Down,
    /// One page up.
    PageUp,
    /// One page down.
    PageDown,
    /// To the first row.
    First,
    /// To the last row.
    Last,
    /// To the next pane.
    NextPane,
    /// To the pane before.
    PrevPane,
    /// To this tab.
    Tab(Tab),
    /// One tab to the right.
    NextTab,
    /// One tab to the left.
    PrevTab,
    /// Start or continue a search.
    Search,
    /// Edit, open, choose, confirm: what Enter does here.
    Activate,
    /// Switch a true/false value.
    Toggle,
    /// The choice before.
    CyclePrev,
    /// The choice after.
    CycleNext,
    /// Remove the value from the file, so that the default holds.
    Reset,
    /// Write the default into the file.
    SetDefault,
    /// Take the last change back.
    Undo,
    /// Do it again.
    Redo,
    /// Show or hide the secret under the cursor.
    Reveal,
    /// Look at all changes before saving.
    Review,
    /// Open the file in the user's editor.
    External,
    /// Choose another profile.
    Profile,
    /// Show all keys.
    Help,
    /// Leave the program.
    Quit,
    /// Back: close what is open, clear the search.
    Back,
    /// Put the program in the background.
    Suspend,
    /// Read the files again.
    Reload,
    /// Add an entry.
    Add,
    /// Remove an entry.
    Delete,
    /// Move an entry up.
    MoveUp,
    /// Move an entry down.
    MoveDown,
    /// Do what the problem suggests.
    Fix,
    /// List the copies kept of a file.
    Backups,
    /// Prove that a save would work.
    Probe,
    /// Copy to the terminal's clipboard.
    Copy,
    /// Leave and drop the unsaved changes.
    Discard,
}
