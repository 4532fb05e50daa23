//! Colours and signs. Colours are the terminal's own sixteen, and none of them carries a meaning
//! alone: every state has a sign as well.

use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier, Style};

/// What the terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Theme {
    /// Colours are wanted (`NO_COLOR` is not set).
    pub color: bool,
    /// Only ASCII can be shown (`--ascii`, or a locale that is not UTF-8).
    pub ascii: bool,
}

impl Default for Theme {
    fn default() -> Self {
        Self {
            color: true,
            ascii: false,
        }
    }
}

/// The one accent colour.
pub const ACCENT: Style = Style::new().fg(Color::Cyan);
/// Secondary text.
pub const DIM: Style = Style::new().add_modifier(Modifier::DIM);
/// Names that matter.
pub const BOLD: Style = Style::new()
    .add_modifier(Modifier::BOLD)
    .remove_modifier(Modifier::DIM);
/// Changed and not saved.
pub const UNSAVED: Style = Style::new().fg(Color::Yellow);
/// Wrong.
pub const BAD: Style = Style::new().fg(Color::Red);
/// Right, done.
pub const GOOD: Style = Style::new().fg(Color::Green);
/// The row with the cursor.
pub const CURSOR: Style = Style::new().add_modifier(Modifier::REVERSED);
/// The cursor's row in a pane that has not the focus.
pub const CURSOR_AWAY: Style = Style::new().add_modifier(Modifier::BOLD);

/// Unsaved.
pub const SIGN_UNSAVED: &str = "●";
/// A problem.
pub const SIGN_BAD: &str = "!";
/// Managed by an administrator.
pub const SIGN_MANAGED: &str = "#";
/// Set in the file.
pub const SIGN_SET: &str = "*";
/// Done.
pub const SIGN_OK: &str = "✓";
/// Failed.
pub const SIGN_FAILED: &str = "✗";
/// The current row of a pane.
pub const SIGN_HERE: &str = "▸";

impl Theme {
    /// Rewrite a finished frame for a terminal without colours or without Unicode. Every
    /// replacement is one column wide, so the layout stays.
    pub fn adapt(self, buffer: &mut Buffer) {
        for cell in &mut buffer.content {
            if !self.color {
                cell.fg = Color::Reset;
                cell.bg = Color::Reset;
            }
            if self.ascii && !cell.symbol().is_ascii() {
                let plain = match cell.symbol() {
                    "●" => "o",
                    "✗" => "x",
                    "▸" | "→" => ">",
                    "…" => "~",
                    "•" => "*",
                    "─" | "—" | "–" => "-",
                    "│" => "|",
                    "┌" | "┐" | "└" | "┘" | "├" | "┤" | "┬" | "┴" | "┼" => "+",
                    "↑" => "^",
                    "↓" | "✓" => "v",
                    "←" => "<",
                    "⏎" => "=",
                    "·" => ".",
                    _ => "?",
                };
                cell.set_symbol(plain);
            }
        }
    }
}
