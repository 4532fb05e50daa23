//! System calls with their paths: what the rest of the writer calls.
//!
//! Responsible for: retrying interrupted calls, turning an errno into an [`Attempt`] that names the
//! file, and the loops that a single call does not finish (write everything, read everything). Not
//! responsible for: what a failure means.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, OFlags};
use rustix::io::Errno;

use super::errors::Attempt;
use super::sys::{Space, Stat, Sys};

/// An open directory and the path it was reached by, without links.
#[derive(Debug)]
pub(crate) struct Dir {
    pub fd: OwnedFd,
    pub path: PathBuf,
}

/// An open file and its path.
#[derive(Debug)]
pub(crate) struct File {
    pub fd: OwnedFd,
    pub path: PathBuf,
}

/// The result of one step.
pub(crate) type Step<T> = Result<T, Attempt>;

/// How the directory entry of a name was made durable.
pub(crate) enum DirSync {
    /// By syncing the directory.
    Directory,
    /// The directory may not be opened for reading, so its whole filesystem was synced.
    Filesystem,
}

/// The calls of [`Sys`], retried and with paths.
#[derive(Clone, Copy)]
pub(crate) struct Kernel<'a>(pub &'a dyn Sys);

/// A call that a signal interrupted has done nothing; it is made again.
fn again<T>(mut call: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            other => return other,
        }
    }
}

impl Kernel<'_> {
    pub fn open_root(&self) -> Step<Dir> {
        let path = Path::new("/");
        let flags = OFlags::PATH | OFlags::DIRECTORY;
        let fd = again(|| self.0.open(rustix::fs::CWD, path, flags, 0))
            .map_err(|errno| Attempt::new("openat", path, errno))?;
        Ok(Dir {
            fd,
            path: path.to_owned(),
        })
    }

    /// Open a directory by an absolute path, following links.
    pub fn open_dir_path(&self, path: &Path) -> Step<Dir> {
        let flags = OFlags::PATH | OFlags::DIRECTORY;
        let fd = again(|| self.0.open(rustix::fs::CWD, path, flags, 0))
            .map_err(|errno| Attempt::new("openat", path, errno))?;
        Ok(Dir {
            fd,
            path: path.to_owned(),
        })
    }

    /// Open a directory inside `dir` without following a link.
    pub fn open_dir(&self, dir: &Dir, name: &OsStr) -> Step<Dir> {
        let path = if name == ".." {
            dir.path.parent().unwrap_or(&dir.path).to_owned()
        } else {
            dir.path.join(name)
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW;
        let fd = again(|| self.0.open(dir.fd.as_fd(), Path::new(name), flags, 0))
            .map_err(|errno| Attempt::new("openat", &path, errno))?;
        Ok(Dir { fd, path })
    }

    pub fn open(&self, dir: &Dir, name: &OsStr, flags: OFlags, mode: u32) -> Step<File> {
        let path = dir.path.join(name);
        let fd = again(|| self.0.open(dir.fd.as_fd(), Path::new(name), flags, mode))
            .map_err(|errno| Attempt::new("openat", &path, errno))?;
        Ok(File { fd, path })
    }

    /// Open the directory itself for reading: needed to list, lock or sync it.
    pub fn readable(&self, dir: &Dir) -> Step<File> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let fd = again(|| self.0.open(dir.fd.as_fd(), Path::new("."), flags, 0))
            .map_err(|errno| Attempt::new("openat", &dir.path, errno))?;
        Ok(File {
            fd,
            path: dir.path.clone(),
        })
    }

    /// `statx` of a name, of the link itself if it is one.
    pub fn stat(&self, dir: &Dir, name: &OsStr) -> Step<Stat> {
        again(|| {
            self.0
                .stat(dir.fd.as_fd(), Path::new(name), AtFlags::SYMLINK_NOFOLLOW)
        })
        .map_err(|errno| Attempt::new("statx", &dir.path.join(name), errno))
    }

    pub fn stat_fd(&self, fd: BorrowedFd<'_>, path: &Path) -> Step<Stat> {
        again(|| self.0.stat(fd, Path::new(""), AtFlags::EMPTY_PATH))
            .map_err(|errno| Attempt::new("statx", path, errno))
    }

    pub fn stat_file(&self, file: &File) -> Step<Stat> {
        self.stat_fd(file.fd.as_fd(), &file.path)
    }

    pub fn stat_dir(&self, dir: &Dir) -> Step<Stat> {
        self.stat_fd(dir.fd.as_fd(), &dir.path)
    }

    pub fn readlink(&self, dir: &Dir, name: &OsStr) -> Step<OsString> {
        again(|| self.0.readlink(dir.fd.as_fd(), Path::new(name)))
            .map_err(|errno| Attempt::new("readlinkat", &dir.path.join(name), errno))
    }

    pub fn access(&self, dir: &Dir, name: &OsStr, access: Access) -> Step<()> {
        again(|| self.0.access(dir.fd.as_fd(), Path::new(name), access))
            .map_err(|errno| Attempt::new("faccessat2", &dir.path.join(name), errno))
    }

    /// The names in a directory, without `.` and `..`.
    pub fn list(&self, dir: &Dir) -> Step<Vec<OsString>> {
        // A descriptor opened with O_PATH cannot be listed.
        let open = self.readable(dir)?;
        again(|| self.0.list(open.fd.as_fd()))
            .map_err(|errno| Attempt::new("getdents64", &dir.path, errno))
    }

    pub fn mkdir(&self, dir: &Dir, name: &OsStr, mode: u32) -> Step<()> {
        again(|| self.0.mkdir(dir.fd.as_fd(), Path::new(name), mode))
            .map_err(|errno| Attempt::new("mkdirat", &dir.path.join(name), errno))
    }

    pub fn unlink(&self, dir: &Dir, name: &OsStr) -> Step<()> {
        again(|| self.0.unlink(dir.fd.as_fd(), Path::new(name)))
            .map_err(|errno| Attempt::new("unlinkat", &dir.path.join(name), errno))
    }

    /// Rename over `new`. The path in an error is the one that was to be replaced.
    pub fn rename(&self, from: &Dir, old: &OsStr, to: &Dir, new: &OsStr) -> Step<()> {
        again(|| {
            self.0.rename(
                from.fd.as_fd(),
                Path::new(old),
                to.fd.as_fd(),
                Path::new(new),
            )
        })
        .map_err(|errno| Attempt::new("renameat", &to.path.join(new), errno))
    }

    /// Rename to `new`, which must not exist.
    pub fn rename_new(&self, from: &Dir, old: &OsStr, to: &Dir, new: &OsStr) -> Step<()> {
        again(|| {
            self.0.rename_new(
                from.fd.as_fd(),
                Path::new(old),
                to.fd.as_fd(),
                Path::new(new),
            )
        })
        .map_err(|errno| Attempt::new("renameat2", &to.path.join(new), errno))
    }

    /// Write all bytes to a new file. A write that stores nothing counts as no space.
    pub fn write_all(&self, file: &File, bytes: &[u8]) -> Step<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            match again(|| self.0.write(file.fd.as_fd(), rest)) {
                Ok(0) => return Err(Attempt::new("write", &file.path, Errno::NOSPC)),
                Ok(n) => rest = rest.get(n..).unwrap_or_default(),
                Err(errno) => return Err(Attempt::new("write", &file.path, errno)),
            }
        }
        Ok(())
    }

    /// Write all bytes at an offset of an existing file.
    pub fn write_at(&self, file: &File, bytes: &[u8], at: u64) -> Step<()> {
        let (mut rest, mut at) = (bytes, at);
        while !rest.is_empty() {
            match again(|| self.0.pwrite(file.fd.as_fd(), rest, at)) {
                Ok(0) => return Err(Attempt::new("pwrite64", &file.path, Errno::NOSPC)),
                Ok(n) => {
                    rest = rest.get(n..).unwrap_or_default();
                    at += n as u64;
                }
                Err(errno) => return Err(Attempt::new("pwrite64", &file.path, errno)),
            }
        }
        Ok(())
    }

    /// Read a file from its start to its end, wherever its offset stands.
    pub fn read_all(&self, file: &File, expected: u64) -> Step<Vec<u8>> {
        // One byte more than expected, so that the usual file ends in the first read.
        let first = usize::try_from(expected)
            .unwrap_or(0)
            .saturating_add(1)
            .max(512);
        let mut bytes = vec![0u8; first];
        let mut length = 0;
        loop {
            if length == bytes.len() {
                bytes.resize(length * 2, 0);
            }
            let at = length as u64;
            match again(|| self.0.pread(file.fd.as_fd(), &mut bytes[length..], at)) {
                Ok(0) => break,
                Ok(n) => length += n,
                Err(errno) => return Err(Attempt::new("pread64", &file.path, errno)),
            }
        }
        bytes.truncate(length);
        Ok(bytes)
    }

    pub fn fsync(&self, file: &File) -> Step<()> {
        again(|| self.0.fsync(file.fd.as_fd()))
            .map_err(|errno| Attempt::new("fsync", &file.path, errno))
    }

    /// Make the names in a directory durable. `inside` is an open file of the same filesystem, for
    /// a directory that may be written but not read.
    pub fn sync_dir(&self, dir: &Dir, inside: &File) -> Step<DirSync> {
        match self.readable(dir) {
            Ok(open) => self.fsync(&open).map(|()| DirSync::Directory),
            Err(attempt) if attempt.is(Errno::ACCESS) => again(|| self.0.syncfs(inside.fd.as_fd()))
                .map(|()| DirSync::Filesystem)
                .map_err(|errno| Attempt::new("syncfs", &dir.path, errno)),
            Err(attempt) => Err(attempt),
        }
    }

    pub fn truncate(&self, file: &File, size: u64) -> Step<()> {
        again(|| self.0.truncate(file.fd.as_fd(), size))
            .map_err(|errno| Attempt::new("ftruncate", &file.path, errno))
    }

    pub fn allocate(&self, file: &File, size: u64) -> Step<()> {
        again(|| self.0.allocate(file.fd.as_fd(), size))
            .map_err(|errno| Attempt::new("fallocate", &file.path, errno))
    }

    pub fn chown(&self, file: &File, uid: u32, gid: u32) -> Step<()> {
        again(|| self.0.chown(file.fd.as_fd(), uid, gid))
            .map_err(|errno| Attempt::new("fchown", &file.path, errno))
    }

    pub fn chmod(&self, file: &File, mode: u32) -> Step<()> {
        again(|| self.0.chmod(file.fd.as_fd(), mode))
            .map_err(|errno| Attempt::new("fchmod", &file.path, errno))
    }

    pub fn xattr_names(&self, file: &File) -> Step<Vec<OsString>> {
        again(|| self.0.xattr_names(file.fd.as_fd()))
            .map_err(|errno| Attempt::new("flistxattr", &file.path, errno))
    }

    pub fn xattr(&self, file: &File, name: &OsStr) -> Step<Vec<u8>> {
        again(|| self.0.xattr(file.fd.as_fd(), name))
            .map_err(|errno| Attempt::new("fgetxattr", &file.path, errno))
    }

    pub fn set_xattr(&self, file: &File, name: &OsStr, value: &[u8]) -> Step<()> {
        again(|| self.0.set_xattr(file.fd.as_fd(), name, value))
            .map_err(|errno| Attempt::new("fsetxattr", &file.path, errno))
    }

    pub fn remove_xattr(&self, file: &File, name: &OsStr) -> Step<()> {
        again(|| self.0.remove_xattr(file.fd.as_fd(), name))
            .map_err(|errno| Attempt::new("fremovexattr", &file.path, errno))
    }

    pub fn lock(&self, file: &File) -> Step<()> {
        again(|| self.0.lock(file.fd.as_fd()))
            .map_err(|errno| Attempt::new("flock", &file.path, errno))
    }

    pub fn space(&self, fd: BorrowedFd<'_>, path: &Path) -> Step<Space> {
        again(|| self.0.space(fd)).map_err(|errno| Attempt::new("fstatfs", path, errno))
    }

    pub fn mountinfo(&self) -> Step<Vec<u8>> {
        again(|| self.0.mountinfo())
            .map_err(|errno| Attempt::new("read", Path::new("/proc/self/mountinfo"), errno))
    }

    /// Eight hex digits for a name nobody else uses. The kernel's generator is not worth failing
    /// for: without it the clock and the process id serve, since every name is created with `O_EXCL`.
    pub fn random_name(&self, ending: &str) -> OsString {
        let number = again(|| self.0.random()).unwrap_or_else(|_| {
            let now = std::time::SystemTime::now()
                .duration_since(std::time::UNIX_EPOCH)
                .map_or(0, |since| since.subsec_nanos());
            now ^ std::process::id().rotate_left(16)
        });
        OsString::from(format!(".hermes-tui-{number:08x}.{ending}"))
    }
}
