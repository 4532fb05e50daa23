//! What the writer's integration tests share: scratch folders, private mounts, skips, comparing.

#![allow(dead_code)] // each test binary uses its own part

pub mod faulty;
pub mod inject;

use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Set in a process that runs inside private mounts.
const INSIDE: &str = "HERMES_TUI_TEST_INSIDE";
/// With this a skip is a failure.
const NO_SKIP: &str = "HERMES_TUI_NO_SKIP";

/// A counted, printed skip; a failure where nothing may be skipped.
pub fn skip(name: &str, reason: &str) {
    assert!(
        std::env::var_os(NO_SKIP).is_none(),
        "{name} may not be skipped here: {reason}"
    );
    // Not println!: the test harness would swallow it.
    let _ = writeln!(std::io::stderr(), "SKIP {name}: {reason}");
}

/// Whether this process may mount things in its own namespace.
pub enum Mounts {
    /// It runs inside: do the test.
    Inside,
    /// The test has been run in another process, or skipped.
    Elsewhere,
}

/// Run the test called `name` again inside private mounts: as root with `unshare -m`, as a plain
/// user with a user namespace if the kernel gives one, else it is skipped.
pub fn private_mounts(name: &str) -> Mounts {
    if std::env::var_os(INSIDE).is_some_and(|inside| inside == *name) {
        return Mounts::Inside;
    }
    let root = is_root();
    let namespace: &[&str] = if root { &["-m"] } else { &["-Urm"] };
    let works = Command::new("unshare")
        .args(namespace)
        .args([
            "--propagation",
            "private",
            "mount",
            "-t",
            "tmpfs",
            "none",
            "/mnt",
        ])
        .output()
        .is_ok_and(|output| output.status.success());
    if !works {
        skip(
            name,
            "no private mounts here (needs root or user namespaces, and unshare)",
        );
        return Mounts::Elsewhere;
    }
    let output = Command::new("unshare")
        .args(namespace)
        .args(["--propagation", "private"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .env(INSIDE, name)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    // The harness writes "test NAME ... " in front of what the test prints first.
    for line in text.lines() {
        for word in ["SKIP ", "FIGURE "] {
            if let Some(at) = line.find(word) {
                println!("{}", &line[at..]);
            }
        }
    }
    assert!(output.status.success(), "inside private mounts:\n{text}");
    assert!(
        text.contains("1 passed"),
        "the inner run did not run {name}:\n{text}"
    );
    Mounts::Elsewhere
}

pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Run a shell command that must work.
pub fn sh(command: &str) {
    let output = Command::new("sh").args(["-ec", command]).output().unwrap();
    assert!(
        output.status.success(),
        "{command}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Whether a shell command works.
pub fn works(command: &str) -> bool {
    Command::new("sh")
        .args(["-ec", command])
        .output()
        .is_ok_and(|output| output.status.success())
}

/// A folder that vanishes; in memory where that is possible, because every save syncs.
pub fn scratch() -> tempfile::TempDir {
    let shm = Path::new("/dev/shm");
    tempfile::Builder::new()
        .prefix("hermes-tui-test-")
        .tempdir_in(if fits(shm) {
            shm.to_owned()
        } else {
            std::env::temp_dir()
        })
        .unwrap()
}

/// A folder on another filesystem than [`scratch`], if there is one.
pub fn scratch_elsewhere() -> Option<tempfile::TempDir> {
    let near = device(scratch().path());
    [
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")),
        std::env::temp_dir(),
        PathBuf::from("/run/shm"),
    ]
    .into_iter()
    .filter(|path| fits(path) && device(path) != near)
    .find_map(|path| {
        tempfile::Builder::new()
            .prefix("hermes-tui-test-")
            .tempdir_in(path)
            .ok()
    })
}

fn fits(path: &Path) -> bool {
    tempfile::tempdir_in(path).is_ok()
}

pub fn device(path: &Path) -> u64 {
    std::fs::metadata(path).unwrap().dev()
}

/// Write a fixture. (The lint that keeps `std::fs::write` out of the program does not mean tests.)
pub fn put(path: &Path, bytes: impl AsRef<[u8]>, mode: u32) {
    std::fs::write(path, bytes).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

pub fn get(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

pub fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().mode() & 0o7777
}

/// Every regular file below `dir` whose name is one of ours, with its mode.
pub fn leftovers(dir: &Path) -> Vec<(PathBuf, u32)> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let path = entry.path();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            out.extend(leftovers(&path));
        } else if kind.is_file() && path.file_name().is_some_and(is_ours) {
            out.push((path.clone(), mode(&path)));
        }
    }
    out
}

fn is_ours(name: &OsStr) -> bool {
    name.to_string_lossy().starts_with(".hermes-tui-")
}

/// A settings file of about this many bytes, every line different, marked with `tag`.
pub fn text(tag: &str, bytes: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for line in 0.. {
        if out.len() >= bytes {
            break;
        }
        out.extend(format!("VAR_{line:04}={tag}-{line:04}-abcdefghij\n").bytes());
    }
    out
}
