//! The real program in a real pseudo-terminal.
#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used)]

mod support;

use support::pty::{Terminal, command};

#[test]
fn the_harness_reads_types_and_waits() {
    let dir = support::scratch();
    let mut shell = command("sh", dir.path());
    shell.args([
        "-c",
        "printf 'ready> '; read x; printf 'got %s\\n' \"$x\"; exit 3",
    ]);
    let mut terminal = Terminal::start(shell, 40, 5);
    terminal.wait_for("ready>");
    terminal.keys("a b<ret>");
    terminal.wait_for("got a b");
    assert_eq!(terminal.wait_exit().exit_code(), 3);
    terminal.assert_restored();
}

#[test]
#[should_panic(expected = "alternate screen")]
fn the_harness_notices_a_terminal_that_was_left_behind() {
    let dir = support::scratch();
    let mut shell = command("sh", dir.path());
    shell.args(["-c", "printf '\\033[?1049h\\033[?25lhello'"]);
    let mut terminal = Terminal::start(shell, 40, 5);
    terminal.wait_exit();
    terminal.assert_restored();
}
