//! The real Hermes as a witness.
//!
//! `HERMES_PEER_PYTHON` names the Python of a virtual environment with `hermes-agent` 0.19.0. When
//! it is not set the test prints one line and counts as skipped; with `HERMES_TUI_NO_SKIP` set
//! (as in CI) that is a failure.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The peer's Python, or `None` after printing why the test is skipped.
pub fn python(test: &str) -> Option<PathBuf> {
    if let Some(python) = std::env::var_os("HERMES_PEER_PYTHON") {
        return Some(python.into());
    }
    assert!(
        std::env::var_os("HERMES_TUI_NO_SKIP").is_none(),
        "{test}: HERMES_PEER_PYTHON is not set, and HERMES_TUI_NO_SKIP forbids skipping"
    );
    // Not println!: the test harness would swallow it.
    let _ = writeln!(
        std::io::stderr(),
        "SKIP {test}: HERMES_PEER_PYTHON is not set"
    );
    None
}

/// Run a program with an environment of its own and text on its standard input.
pub fn run(program: &Path, args: &[&str], vars: &[(&str, &str)], input: &str) -> (String, bool) {
    let mut child = Command::new(program)
        .args(args)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .envs(vars.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || {
            let _ = stdin.write_all(input.as_bytes());
        });
        child.wait_with_output().unwrap()
    });
    (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        output.status.success(),
    )
}
