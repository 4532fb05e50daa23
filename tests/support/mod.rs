//! What several integration tests need: scratch homes, a second filesystem, skips that count.
//!
//! Each test binary uses a part of it.
#![allow(dead_code, clippy::disallowed_methods)]

pub mod flows;
pub mod peer;
pub mod pty;

use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The program under test.
pub const BIN: &str = env!("CARGO_BIN_EXE_hermes-tui");

/// Say that a test cannot run here, and why. Where nothing may be skipped this is a failure.
pub fn skip(test: &str, reason: &str) {
    // Not eprintln!: the test harness would swallow it.
    let _ = writeln!(std::io::stderr(), "SKIP {test}: {reason}");
    assert!(
        std::env::var_os("HERMES_TUI_NO_SKIP").is_none(),
        "{test} was skipped ({reason}), and HERMES_TUI_NO_SKIP is set"
    );
}

/// Whether a program can be run.
pub fn has(program: &str) -> bool {
    Command::new("sh")
        .args(["-c", "command -v \"$1\"", "sh", program])
        .output()
        .is_ok_and(|o| o.status.success())
}

/// Whether we are root.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The sample home that comes with the program.
pub fn sample_home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/sample_home")
}

/// A private directory for one test.
pub fn scratch() -> tempfile::TempDir {
    tempfile::Builder::new()
        .prefix("hermes-tui-test-")
        .tempdir()
        .unwrap()
}

/// Copy a directory tree; every file becomes 0600, every directory 0700, as Hermes keeps them.
pub fn copy_tree(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    std::fs::set_permissions(to, std::fs::Permissions::from_mode(0o700)).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            put(&target, std::fs::read(entry.path()).unwrap());
        }
    }
}

/// Write a file of the test's own, 0600.
pub fn put(path: &Path, bytes: impl AsRef<[u8]>) {
    let mut file = std::fs::File::create(path).unwrap();
    file.set_permissions(std::fs::Permissions::from_mode(0o600))
        .unwrap();
    file.write_all(bytes.as_ref()).unwrap();
}

/// The program with a clean environment whose HOME is `dir`; nothing of the caller's own set-up
/// reaches it.
pub fn program(dir: &Path) -> Command {
    let mut command = Command::new(BIN);
    clean_env(&mut command, dir);
    command.current_dir(dir).stdin(std::process::Stdio::null());
    command
}

/// Nothing in the environment but what a login shell sets.
pub fn clean_env(command: &mut Command, dir: &Path) {
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", dir)
        .env("LANG", "C.UTF-8")
        .env("TERM", "xterm-256color")
        .env("TMPDIR", std::env::temp_dir());
}

/// What a run printed, as text.
pub fn text(output: &Output) -> (String, String) {
    (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

/// A private directory on another filesystem than `beside`, or `None` where there is none.
pub fn other_filesystem(beside: &Path) -> Option<tempfile::TempDir> {
    let device = std::fs::metadata(beside).ok()?.dev();
    ["/dev/shm", "/run", "/var/tmp", "/tmp"]
        .iter()
        .find_map(|root| {
            let dir = tempfile::Builder::new()
                .prefix("hermes-tui-test-")
                .tempdir_in(root)
                .ok()?;
            (std::fs::metadata(dir.path()).ok()?.dev() != device).then_some(dir)
        })
}

/// Run the test with this name once more inside a mount namespace of its own, where it may mount
/// what it likes. Returns `true` when we are already inside and the test should do its work;
/// `false` when it has been done (or skipped, which has been said).
///
/// # Panics
/// When the test failed inside.
pub fn in_own_mounts(test: &str) -> bool {
    if std::env::var_os("HERMES_TUI_OWN_MOUNTS").is_some() {
        return true;
    }
    let unshare: &[&str] = if is_root() { &["-m"] } else { &["-rm"] };
    let probe = Command::new("unshare")
        .args(unshare)
        .args([
            "--propagation",
            "private",
            "sh",
            "-c",
            "mount -t tmpfs none /mnt",
        ])
        .output();
    match probe {
        Ok(o) if o.status.success() => {}
        Ok(o) => {
            let why = String::from_utf8_lossy(&o.stderr).trim().to_owned();
            skip(test, &format!("no mount namespace of our own: {why}"));
            return false;
        }
        Err(e) => {
            skip(test, &format!("unshare cannot be run: {e}"));
            return false;
        }
    }
    let output = Command::new("unshare")
        .args(unshare)
        .args(["--propagation", "private"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env("HERMES_TUI_OWN_MOUNTS", "1")
        .output()
        .unwrap();
    let (out, err) = text(&output);
    assert!(
        output.status.success(),
        "inside its own mounts:\n{out}\n{err}"
    );
    assert!(
        out.contains("1 passed"),
        "{test} is not the name of this test:\n{out}"
    );
    false
}

/// Run a command of the set-up; it must succeed.
pub fn run(program: &str, args: &[&str]) {
    let output = Command::new(program)
        .args(args)
        .output()
        .unwrap_or_else(|e| panic!("{program}: {e}"));
    let (_, err) = text(&output);
    assert!(output.status.success(), "{program} {args:?}: {err}");
}
