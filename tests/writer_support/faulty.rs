//! A kernel that fails on demand: the real one behind a counter.

use std::cell::{Cell, RefCell};
use std::ffi::{OsStr, OsString};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use hermes_tui::writer::sys::{Linux, Space, Stat, Sys};
use rustix::fs::{Access, AtFlags, OFlags};
use rustix::io::Errno;

/// What happens at one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The call is not made and fails with this error.
    Fail(Errno),
    /// A write stores half of its bytes; other calls are made.
    Short,
    /// Neither this call nor any later one is made: the process is dead from here on.
    Stop,
    /// A write stores half of its bytes, and then the process is dead.
    ShortStop,
}

/// Rules that stand for a kind of place, where no real mounts can be had.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// Renaming to this name answers EBUSY, as for a file that is mounted singly.
    pub busy: Option<OsString>,
    /// No file can be created in the directory of this file (by its inode), as without permission.
    pub closed_dir: Option<u64>,
}

/// The real kernel with faults at chosen calls, counted from 1.
#[derive(Default)]
pub struct Faulty {
    pub rules: Rules,
    faults: Vec<(usize, Fault)>,
    count: Cell<usize>,
    dead: Cell<bool>,
    /// Every call that was asked for, by name.
    pub log: RefCell<Vec<&'static str>>,
}

impl Faulty {
    pub fn new(rules: &Rules, faults: &[(usize, Fault)]) -> Self {
        Self {
            rules: rules.clone(),
            faults: faults.to_vec(),
            ..Self::default()
        }
    }

    pub fn calls(&self) -> usize {
        self.count.get()
    }

    pub fn is_dead(&self) -> bool {
        self.dead.get()
    }

    /// Count a call; `Ok(true)` means that a write is to store half.
    fn enter(&self, name: &'static str) -> Result<bool, Errno> {
        if self.dead.get() {
            // Whatever a dead process would have done is not done.
            return Err(Errno::IO);
        }
        let at = self.count.get() + 1;
        self.count.set(at);
        self.log.borrow_mut().push(name);
        match self.faults.iter().find(|(k, _)| *k == at) {
            None => Ok(false),
            Some((_, Fault::Fail(errno))) => Err(*errno),
            Some((_, Fault::Short)) => Ok(true),
            Some((_, Fault::Stop)) => {
                self.dead.set(true);
                Err(Errno::IO)
            }
            Some((_, Fault::ShortStop)) => {
                self.dead.set(true);
                Ok(true)
            }
        }
    }
}

type Called<T> = Result<T, Errno>;

/// A method that counts and then calls the real one.
macro_rules! counted {
    ($($name:ident($($arg:ident: $type:ty),*) -> $out:ty;)*) => {
        $(fn $name(&self, $($arg: $type),*) -> Called<$out> {
            if self.enter(stringify!($name))? && self.is_dead() {
                return Err(Errno::IO);
            }
            Linux.$name($($arg),*)
        })*
    };
}

impl Sys for Faulty {
    counted! {
        stat(dir: BorrowedFd<'_>, name: &Path, flags: AtFlags) -> Stat;
        readlink(dir: BorrowedFd<'_>, name: &Path) -> OsString;
        access(dir: BorrowedFd<'_>, name: &Path, access: Access) -> ();
        list(dir: BorrowedFd<'_>) -> Vec<OsString>;
        mkdir(dir: BorrowedFd<'_>, name: &Path, mode: u32) -> ();
        unlink(dir: BorrowedFd<'_>, name: &Path) -> ();
        rename_new(from: BorrowedFd<'_>, old: &Path, to: BorrowedFd<'_>, new: &Path) -> ();
        pread(file: BorrowedFd<'_>, buffer: &mut [u8], at: u64) -> usize;
        fsync(file: BorrowedFd<'_>) -> ();
        syncfs(file: BorrowedFd<'_>) -> ();
        truncate(file: BorrowedFd<'_>, size: u64) -> ();
        allocate(file: BorrowedFd<'_>, size: u64) -> ();
        chown(file: BorrowedFd<'_>, uid: u32, gid: u32) -> ();
        chmod(file: BorrowedFd<'_>, mode: u32) -> ();
        xattr_names(file: BorrowedFd<'_>) -> Vec<OsString>;
        xattr(file: BorrowedFd<'_>, name: &OsStr) -> Vec<u8>;
        set_xattr(file: BorrowedFd<'_>, name: &OsStr, value: &[u8]) -> ();
        remove_xattr(file: BorrowedFd<'_>, name: &OsStr) -> ();
        lock(file: BorrowedFd<'_>) -> ();
        space(file: BorrowedFd<'_>) -> Space;
        mountinfo() -> Vec<u8>;
        random() -> u32;
    }

    fn open(&self, dir: BorrowedFd<'_>, name: &Path, flags: OFlags, mode: u32) -> Called<OwnedFd> {
        if self.enter("open")? && self.is_dead() {
            return Err(Errno::IO);
        }
        if flags.contains(OFlags::CREATE) && self.rules.closed_dir.is_some() {
            let here = Linux.stat(dir, Path::new(""), AtFlags::EMPTY_PATH)?;
            if self.rules.closed_dir == Some(here.inode) {
                return Err(Errno::ACCESS);
            }
        }
        Linux.open(dir, name, flags, mode)
    }

    fn rename(
        &self,
        from: BorrowedFd<'_>,
        old: &Path,
        to: BorrowedFd<'_>,
        new: &Path,
    ) -> Called<()> {
        if self.enter("rename")? && self.is_dead() {
            return Err(Errno::IO);
        }
        if self.rules.busy.as_deref() == Some(new.as_os_str()) {
            return Err(Errno::BUSY);
        }
        Linux.rename(from, old, to, new)
    }

    fn write(&self, file: BorrowedFd<'_>, bytes: &[u8]) -> Called<usize> {
        let short = self.enter("write")?;
        Linux.write(file, half(bytes, short))
    }

    fn pwrite(&self, file: BorrowedFd<'_>, bytes: &[u8], at: u64) -> Called<usize> {
        let short = self.enter("pwrite")?;
        Linux.pwrite(file, half(bytes, short), at)
    }
}

fn half(bytes: &[u8], short: bool) -> &[u8] {
    if short {
        &bytes[..bytes.len().div_ceil(2)]
    } else {
        bytes
    }
}

/// The calls that can change a filesystem.
pub fn changes(name: &str) -> bool {
    matches!(
        name,
        "mkdir"
            | "unlink"
            | "rename"
            | "rename_new"
            | "write"
            | "pwrite"
            | "fsync"
            | "syncfs"
            | "truncate"
            | "allocate"
            | "chown"
            | "chmod"
            | "set_xattr"
            | "remove_xattr"
            | "open"
    )
}

/// The inode of a directory, for [`Rules::closed_dir`].
pub fn inode(path: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).unwrap().ino()
}

/// The errors of the sweep.
pub const ERRORS: [Errno; 10] = [
    Errno::IO,
    Errno::NOSPC,
    Errno::DQUOT,
    Errno::FBIG,
    Errno::ACCESS,
    Errno::PERM,
    Errno::ROFS,
    Errno::XDEV,
    Errno::BUSY,
    Errno::INTR,
];

/// Where a scenario's files are.
pub struct Scene {
    pub home: PathBuf,
    /// The path that is saved to.
    pub target: PathBuf,
    /// Another name that must go on showing the same file.
    pub alias: Option<PathBuf>,
    pub rules: Rules,
}
