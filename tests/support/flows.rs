//! What a user does in the editor, step by step, waiting for the screen after each.

use super::pty::Terminal;

/// Search the settings for `agent.max_turns` and give it another value.
pub fn set_max_turns(terminal: &mut Terminal, value: &str) {
    terminal.wait_for("Settings");
    terminal.keys("3");
    terminal.wait_for("sections");
    terminal.keys("/max_turns");
    terminal.wait_for("max_turns");
    terminal.keys("<ret><ret><C-u>");
    terminal.keys(value);
    terminal.keys("<ret>");
    terminal.wait_for("●");
}

/// Review and save what is staged; leaves the receipt closed.
pub fn save(terminal: &mut Terminal) {
    terminal.keys("s");
    terminal.wait_for("Review");
    terminal.keys("<ret>");
    terminal.wait_for("Saved");
    terminal.keys("<ret>");
    terminal.wait_gone("Saved");
}

/// Leave with nothing unsaved.
pub fn quit(terminal: &mut Terminal) {
    terminal.keys("q");
}

/// Wait until the edits of an earlier session are offered.
pub fn wait_for_draft(terminal: &mut Terminal) {
    terminal.wait_for("unsaved");
}

/// Leave from wherever we are, without saving.
pub fn leave(terminal: &mut Terminal) {
    terminal.signal(rustix::process::Signal::TERM);
    terminal.wait_exit();
}
