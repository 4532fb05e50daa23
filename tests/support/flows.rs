//! What a user does in the editor, step by step, waiting for the screen after each.

use super::pty::Terminal;

/// The settings tab with the cursor on `agent.max_turns`, which gets another value.
pub fn set_max_turns(terminal: &mut Terminal, value: &str) {
    terminal.wait_for("3 Settings");
    terminal.keys("3");
    terminal.wait_for("approvals");
    terminal.keys("/max_turns");
    terminal.wait_for("2 of ");
    // The first ends the typing, the second opens the row.
    terminal.keys("<ret><ret>");
    terminal.wait_for("┌ agent.max_turns");
    terminal.keys("<C-u>");
    terminal.keys(value);
    terminal.keys("<ret>");
    terminal.wait_gone("┌ agent.max_turns");
    terminal.wait_for("unsaved");
}

/// The models tab: `DeepSeek` and its first model for the main slot.
pub fn pick_deepseek(terminal: &mut Terminal) {
    terminal.wait_for("1 Models");
    terminal.keys("1");
    terminal.wait_for("The model that answers");
    terminal.keys("<ret>");
    terminal.wait_for("One key for many vendors");
    terminal.keys("jj");
    terminal.wait_for("DeepSeek   deepseek");
    terminal.keys("<ret>");
    terminal.wait_for("▸ deepseek-");
    terminal.keys("<ret>");
    terminal.wait_for("unsaved");
}

/// The keys tab: another value for the Tavily key.
pub fn set_tavily_key(terminal: &mut Terminal, value: &str) {
    terminal.keys("2");
    terminal.wait_for("set by you");
    terminal.keys("/tavily");
    terminal.wait_for("1 of ");
    // The first ends the typing, the second opens the row.
    terminal.keys("<ret><ret>");
    terminal.wait_for("the old one stays unseen");
    terminal.keys(value);
    terminal.keys("<ret>");
    terminal.wait_gone("the old one stays unseen");
}

/// Review and save what is staged. Returns the receipt's screen and closes it.
pub fn save(terminal: &mut Terminal) -> String {
    terminal.keys("s");
    terminal.wait_for("┌ Review: ");
    terminal.keys("<ret>");
    terminal.wait_for("┌ Saved");
    // The box's last line is drawn last.
    terminal.wait_for("⏎ close");
    let receipt = terminal.screen();
    terminal.keys("<ret>");
    terminal.wait_gone("┌ Saved");
    receipt
}

/// Leave with nothing unsaved.
pub fn quit(terminal: &mut Terminal) {
    terminal.keys("q");
}
