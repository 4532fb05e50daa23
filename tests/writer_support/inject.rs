//! The real program under an injector that interferes with one system call.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What the injector does at the chosen call.
#[derive(Debug, Clone, Copy)]
pub enum Mode {
    Count,
    Kill,
    Short,
    ShortKill,
    Fail(i32),
}

/// The errors that are injected at every call, with their names.
pub const ERRORS: [(i32, &str); 9] = [
    (5, "EIO"),
    (28, "ENOSPC"),
    (13, "EACCES"),
    (30, "EROFS"),
    (18, "EXDEV"),
    (16, "EBUSY"),
    (4, "EINTR"),
    (1, "EPERM"),
    (122, "EDQUOT"),
];

/// The compiled injector and the program that it runs.
pub struct Injector {
    tool: PathBuf,
    program: PathBuf,
    log: PathBuf,
    /// Only calls about files below this count.
    prefix: PathBuf,
}

impl Injector {
    /// Compile the injector into `dir`. The error says what is missing.
    pub fn build(dir: &Path, prefix: &Path) -> Result<Self, String> {
        let tool = dir.join("injector");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/writer_support/injector.c");
        let output = Command::new("gcc")
            .args(["-O1", "-Wall", "-o"])
            .arg(&tool)
            .arg(source)
            .output()
            .map_err(|error| format!("needs gcc: {error}"))?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(format!("the injector does not compile here: {text}"));
        }
        let this = Self {
            tool,
            program: PathBuf::from(env!("CARGO_BIN_EXE_hermes-tui")),
            log: dir.join("injector.log"),
            prefix: prefix.to_owned(),
        };
        let output = Command::new(&this.tool)
            .arg(&this.prefix)
            .args(["count", "0"])
            .arg(&this.log)
            .args(["--", "true"])
            .status();
        if output.is_ok_and(|status| status.success()) {
            Ok(this)
        } else {
            Err("ptrace is not allowed here".to_owned())
        }
    }

    /// Run the program with these arguments and answer its exit code (128 + signal if killed).
    pub fn run(&self, mode: Mode, k: usize, args: &[&std::ffi::OsStr]) -> i32 {
        let mode = match mode {
            Mode::Count => "count".to_owned(),
            Mode::Kill => "kill".to_owned(),
            Mode::Short => "short".to_owned(),
            Mode::ShortKill => "shortkill".to_owned(),
            Mode::Fail(errno) => errno.to_string(),
        };
        Command::new(&self.tool)
            .arg(&self.prefix)
            .args([mode, k.to_string()])
            .arg(&self.log)
            .arg("--")
            .arg(&self.program)
            .args(args)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .stdin(Stdio::null())
            .status()
            .unwrap()
            .code()
            .unwrap_or(125)
    }

    /// Run the program without interference.
    pub fn plain(&self, args: &[&std::ffi::OsStr]) -> i32 {
        Command::new(&self.program)
            .args(args)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .stdin(Stdio::null())
            .status()
            .unwrap()
            .code()
            .unwrap_or(125)
    }

    /// The calls of the last run that were counted or hit.
    pub fn calls(&self) -> Vec<String> {
        std::fs::read_to_string(&self.log)
            .unwrap()
            .lines()
            .map(str::to_owned)
            .collect()
    }

    /// The name of the program, for figures.
    pub fn name(&self) -> String {
        self.program
            .file_name()
            .unwrap()
            .to_string_lossy()
            .into_owned()
    }
}
