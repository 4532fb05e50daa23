//! The process environment, read once.
//!
//! Responsible for: carrying variables and the working directory as values. Not responsible for:
//! what they mean.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Variables and working directory at the start of the program.
#[derive(Clone, Default)]
pub struct Environment {
    /// Every variable.
    pub vars: BTreeMap<OsString, OsString>,
    /// Relative paths count from here.
    pub cwd: PathBuf,
}

impl Environment {
    /// Read this process; `main` does it once.
    pub fn of_process() -> Self {
        Self {
            vars: std::env::vars_os().collect(),
            // Without a working directory only absolute paths work, and those need none.
            cwd: std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/")),
        }
    }

    /// A variable, as text; `None` when it is not set or not UTF-8.
    pub fn var(&self, name: &str) -> Option<&str> {
        self.var_os(name)?.to_str()
    }

    /// A variable as it is.
    pub fn var_os(&self, name: &str) -> Option<&OsStr> {
        self.vars.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// A variable without blanks around it; `None` when nothing is left.
    pub fn trimmed(&self, name: &str) -> Option<&str> {
        self.var(name)
            .map(str::trim)
            .filter(|text| !text.is_empty())
    }

    /// Whether a variable holds at least one byte.
    pub fn is_set(&self, name: &str) -> bool {
        self.var_os(name).is_some_and(|text| !text.is_empty())
    }

    /// A path as seen from the working directory.
    pub fn absolute(&self, path: &Path) -> PathBuf {
        self.cwd.join(path)
    }
}

/// Values may be secrets: only names are shown.
impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Environment")
            .field("vars", &self.vars.keys().collect::<Vec<_>>())
            .field("cwd", &self.cwd)
            .finish()
    }
}
