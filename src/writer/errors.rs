//! What can go wrong in a save, in types and in words.
//!
//! Responsible for: one failed system call ([`Attempt`]), the error of a whole save ([`SaveError`])
//! with what is still intact and what to do next. Not responsible for: deciding what is an error.

use std::fmt;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use serde::Serialize;

use crate::mount::lossy;

/// One system call that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Attempt {
    /// The call, as `strace` names it: `renameat`, `openat`, `fchown`.
    pub syscall: &'static str,
    /// The file it was about.
    #[serde(serialize_with = "lossy")]
    pub path: PathBuf,
    /// The error number, such as 18.
    pub errno: i32,
    /// Its name, such as `EXDEV`; `E18` for one without a name here.
    pub name: String,
    /// What it means, in words.
    pub text: String,
}

impl Attempt {
    pub(crate) fn new(syscall: &'static str, path: &Path, errno: Errno) -> Self {
        let number = errno.raw_os_error();
        Self {
            syscall,
            path: path.to_owned(),
            errno: number,
            name: errno_name(errno).map_or_else(|| format!("E{number}"), str::to_owned),
            text: errno_text(errno),
        }
    }

    /// Whether the call failed with this error.
    pub fn is(&self, errno: Errno) -> bool {
        self.errno == errno.raw_os_error()
    }

    /// Whether the storage itself said no: the ladder must not go on to a riskier step after that.
    pub fn is_storage_failure(&self) -> bool {
        [Errno::NOSPC, Errno::DQUOT, Errno::IO, Errno::FBIG]
            .iter()
            .any(|errno| self.is(*errno))
    }
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {}: {} ({})",
            self.syscall,
            self.path.display(),
            self.text,
            self.name
        )
    }
}

/// The kind of a failure; stable names for scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The links lead in a circle, or the chain is longer than 40.
    Loop,
    /// The target is a directory, a FIFO, a socket or a device.
    NotRegular,
    /// The file behind the path was deleted while it is still mounted or held.
    Deleted,
    /// The file carries the immutable attribute (`chattr +i`).
    Immutable,
    /// The file carries the append-only attribute (`chattr +a`).
    AppendOnly,
    /// This user may not write the file.
    NotWritable,
    /// The mount or the filesystem is read-only.
    ReadOnly,
    /// This user may not read the file, so it cannot be compared or backed up.
    Unreadable,
    /// A directory on the way to the target does not exist.
    ParentMissing,
    /// The file is not what the edit was based on; read it again and apply the edit to that.
    Changed,
    /// Another program holds the lock.
    Locked,
    /// No space, no inodes, or no quota left.
    NoSpace,
    /// The file would be larger than this process may write, or than the filesystem allows.
    TooLarge,
    /// The staged file handed in cannot be used.
    BadSource,
    /// Any other failed system call.
    Io,
    /// The file may be torn; the journal holds both versions and the next start repairs it.
    NeedsRecovery,
}

/// What the target holds after the failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Intact {
    /// The target was not touched.
    NothingChanged,
    /// It was being rewritten in place, and the old content was put back and verified.
    Restored,
    /// It may be torn; the journal holds the old and the new content.
    NeedsRecovery,
}

/// How much space was missing, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Shortage {
    /// Bytes that the failed step had to store.
    pub needed: u64,
    /// Bytes that this user could still store there.
    pub free: u64,
    /// Free inodes there; `None` where the filesystem does not count them.
    pub free_inodes: Option<u64>,
    /// The mount point of the filesystem that is full.
    #[serde(serialize_with = "lossy")]
    pub mount: PathBuf,
    /// Its type.
    pub fs_type: String,
}

/// Everything known about a save that did not happen.
#[derive(Debug, Clone, Serialize)]
pub struct Failure {
    /// The kind, for scripts and for deciding what to offer.
    pub kind: FailureKind,
    /// The file as it was asked for.
    #[serde(serialize_with = "lossy")]
    pub path: PathBuf,
    /// What was being done, in words.
    pub step: String,
    /// The call that ended it, if it was one.
    pub attempt: Option<Attempt>,
    /// Calls that had failed before and had been worked around.
    pub attempts: Vec<Attempt>,
    /// Why, in a sentence.
    pub reason: String,
    /// What the target holds now.
    pub intact: Intact,
    /// The journal that holds both versions, if the target needs recovery.
    #[serde(serialize_with = "lossy_option")]
    pub journal: Option<PathBuf>,
    /// How much space was missing, if that was the reason.
    pub space: Option<Shortage>,
}

#[allow(clippy::ref_option)] // the shape that serde calls
pub(crate) fn lossy_option<S: serde::Serializer>(
    path: &Option<PathBuf>,
    to: S,
) -> Result<S::Ok, S::Error> {
    match path {
        Some(path) => lossy(path, to),
        None => to.serialize_none(),
    }
}

/// The error of [`write`](super::write) and [`atomic_replace`](super::atomic_replace).
///
/// It says what was tried, what is intact and, in [`hint`](SaveError::hint), what to do next. It
/// never holds a byte of the file's content. All fields are reachable through `Deref`.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct SaveError(Box<Failure>);

impl Deref for SaveError {
    type Target = Failure;

    fn deref(&self) -> &Failure {
        &self.0
    }
}

impl SaveError {
    /// An error without a failed call: the writer refused by itself.
    pub(crate) fn refused(kind: FailureKind, path: &Path, reason: impl Into<String>) -> Self {
        Self(Box::new(Failure {
            kind,
            path: path.to_owned(),
            step: "checking the target".to_owned(),
            attempt: None,
            attempts: Vec::new(),
            reason: reason.into(),
            intact: Intact::NothingChanged,
            journal: None,
            space: None,
        }))
    }

    /// An error caused by one failed call before anything was touched.
    pub(crate) fn call(path: &Path, step: impl Into<String>, attempt: Attempt) -> Self {
        let kind = if attempt.is(Errno::NOSPC) || attempt.is(Errno::DQUOT) {
            FailureKind::NoSpace
        } else if attempt.is(Errno::FBIG) {
            FailureKind::TooLarge
        } else if attempt.is(Errno::ROFS) {
            FailureKind::ReadOnly
        } else if attempt.is(Errno::LOOP) {
            FailureKind::Loop
        } else {
            FailureKind::Io
        };
        let mut error = Self::refused(kind, path, attempt.text.clone());
        error.0.step = step.into();
        error.0.reason = attempt.to_string();
        error.0.attempt = Some(attempt);
        error
    }

    pub(crate) fn with_kind(mut self, kind: FailureKind) -> Self {
        self.0.kind = kind;
        self
    }

    pub(crate) fn with_reason(mut self, reason: impl Into<String>) -> Self {
        self.0.reason = reason.into();
        self
    }

    pub(crate) fn with_attempt(mut self, attempt: Attempt) -> Self {
        self.0.attempt = Some(attempt);
        self
    }

    pub(crate) fn with_attempts(mut self, attempts: Vec<Attempt>) -> Self {
        self.0.attempts = attempts;
        self
    }

    pub(crate) fn with_space(mut self, space: Shortage) -> Self {
        self.0.space = Some(space);
        self
    }

    pub(crate) fn restored(mut self) -> Self {
        self.0.intact = Intact::Restored;
        self
    }

    pub(crate) fn torn(mut self, journal: PathBuf) -> Self {
        self.0.kind = FailureKind::NeedsRecovery;
        self.0.intact = Intact::NeedsRecovery;
        self.0.journal = Some(journal);
        self
    }

    /// What to do next, in a sentence.
    pub fn hint(&self) -> String {
        match self.kind {
            FailureKind::Loop => "Repair the link; `ls -l` on it shows where it points.".into(),
            FailureKind::NotRegular => "Name a regular file.".into(),
            FailureKind::Deleted => {
                "Mount or link an existing file here; what is shown now vanishes with the mount."
                    .into()
            }
            FailureKind::Immutable => format!("`chattr -i {}` lifts it.", self.path.display()),
            FailureKind::AppendOnly => format!("`chattr -a {}` lifts it.", self.path.display()),
            FailureKind::NotWritable | FailureKind::Unreadable => {
                "Run as the user that owns the file, or have its owner change the mode.".into()
            }
            FailureKind::ReadOnly => {
                "Remount it read-write, or edit the file where it comes from.".into()
            }
            FailureKind::ParentMissing => {
                "Create the directory, or repair the link that leads there.".into()
            }
            FailureKind::Changed => {
                "Load the file again and apply the change to what it holds now.".into()
            }
            FailureKind::Locked => "Wait for the other program, or end it, and save again.".into(),
            FailureKind::NoSpace => match &self.space {
                Some(space) => format!("Free space on {} and save again.", space.mount.display()),
                None => "Free space there and save again.".into(),
            },
            FailureKind::TooLarge => {
                "Raise the file size limit (`ulimit -f`) and save again.".into()
            }
            FailureKind::BadSource => "Hand over a regular file that nobody else links to.".into(),
            FailureKind::Io => {
                "Nothing needs to be undone; look into the cause and save again.".into()
            }
            FailureKind::NeedsRecovery => match &self.journal {
                Some(journal) => format!(
                    "Run `hermes-tui recover`; until then keep {}: it holds both versions.",
                    journal.display()
                ),
                None => "Run `hermes-tui recover`.".into(),
            },
        }
    }
}

impl fmt::Display for SaveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        if self.attempt.is_some() {
            write!(f, "{}: ", self.step)?;
        }
        write!(f, "{}", self.reason)?;
        if let Some(space) = &self.space {
            write!(
                f,
                "; {} bytes were needed and {} are free on {} ({}), {} missing",
                space.needed,
                space.free,
                space.mount.display(),
                space.fs_type,
                space.needed.saturating_sub(space.free)
            )?;
            if space.free_inodes == Some(0) {
                write!(f, ", and no inode is left")?;
            }
        }
        let intact = match self.intact {
            Intact::NothingChanged => "nothing was changed",
            Intact::Restored => "the old content was put back and verified",
            Intact::NeedsRecovery => "the file may hold parts of both versions",
        };
        write!(f, "; {intact}")
    }
}

impl std::error::Error for SaveError {}

fn errno_text(errno: Errno) -> String {
    let text = std::io::Error::from(errno).to_string();
    // std appends " (os error 18)"; the number and name are fields of their own here.
    match text.rfind(" (os error") {
        Some(at) => text[..at].to_owned(),
        None => text,
    }
}

/// The symbolic name of an error number.
pub fn errno_name(errno: Errno) -> Option<&'static str> {
    const NAMES: &[(Errno, &str)] = &[
        (Errno::PERM, "EPERM"),
        (Errno::NOENT, "ENOENT"),
        (Errno::INTR, "EINTR"),
        (Errno::IO, "EIO"),
        (Errno::NXIO, "ENXIO"),
        (Errno::BADF, "EBADF"),
        (Errno::AGAIN, "EAGAIN"),
        (Errno::NOMEM, "ENOMEM"),
        (Errno::ACCESS, "EACCES"),
        (Errno::BUSY, "EBUSY"),
        (Errno::EXIST, "EEXIST"),
        (Errno::XDEV, "EXDEV"),
        (Errno::NODEV, "ENODEV"),
        (Errno::NOTDIR, "ENOTDIR"),
        (Errno::ISDIR, "EISDIR"),
        (Errno::INVAL, "EINVAL"),
        (Errno::NFILE, "ENFILE"),
        (Errno::MFILE, "EMFILE"),
        (Errno::TXTBSY, "ETXTBSY"),
        (Errno::FBIG, "EFBIG"),
        (Errno::NOSPC, "ENOSPC"),
        (Errno::ROFS, "EROFS"),
        (Errno::MLINK, "EMLINK"),
        (Errno::RANGE, "ERANGE"),
        (Errno::NAMETOOLONG, "ENAMETOOLONG"),
        (Errno::NOLCK, "ENOLCK"),
        (Errno::NOSYS, "ENOSYS"),
        (Errno::NOTEMPTY, "ENOTEMPTY"),
        (Errno::LOOP, "ELOOP"),
        (Errno::NODATA, "ENODATA"),
        (Errno::OVERFLOW, "EOVERFLOW"),
        (Errno::NOTSUP, "EOPNOTSUPP"),
        (Errno::TIMEDOUT, "ETIMEDOUT"),
        (Errno::STALE, "ESTALE"),
        (Errno::DQUOT, "EDQUOT"),
        (Errno::NOTCONN, "ENOTCONN"),
    ];
    NAMES
        .iter()
        .find(|(known, _)| *known == errno)
        .map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_where_how_much_and_what_next() {
        let attempt = Attempt::new("write", Path::new("/v/.hermes-tui-0.tmp"), Errno::NOSPC);
        let error = SaveError::call(Path::new("/v/.env"), "writing the staged copy", attempt)
            .with_space(Shortage {
                needed: 20_000,
                free: 4_096,
                free_inodes: Some(9),
                mount: "/v".into(),
                fs_type: "tmpfs".into(),
            });
        assert_eq!(error.kind, FailureKind::NoSpace);
        let text = error.to_string();
        for part in [
            "/v/.env",
            "write",
            "ENOSPC",
            "20000",
            "4096",
            "15904 missing",
            "nothing was changed",
        ] {
            assert!(text.contains(part), "{part} is not in: {text}");
        }
        assert!(error.hint().contains("/v"));
        let json = serde_json::to_value(&error).unwrap();
        assert_eq!(json["kind"], "no_space");
        assert_eq!(json["attempt"]["errno"], 28);
    }

    #[test]
    fn only_storage_failures_end_the_ladder() {
        for (errno, ends) in [
            (Errno::NOSPC, true),
            (Errno::DQUOT, true),
            (Errno::IO, true),
            (Errno::FBIG, true),
            (Errno::BUSY, false),
            (Errno::ROFS, false),
        ] {
            assert_eq!(
                Attempt::new("write", Path::new("/x"), errno).is_storage_failure(),
                ends
            );
        }
    }
}
