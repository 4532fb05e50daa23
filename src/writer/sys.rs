//! The system calls that a save is made of, behind one trait.
//!
//! Responsible for: being thin. Each method is one kernel call (or a loop over one), so that the
//! fault tests can make the *k*-th call fail, write short, or be the last one that happened. Not
//! responsible for: retries, paths in errors and every decision; see `kernel` for the first two.

use std::ffi::{OsStr, OsString};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use rustix::fs::{
    Access, AtFlags, FallocateFlags, FlockOperation, Gid, Mode, OFlags, RenameFlags,
    StatxAttributes, StatxFlags, Uid, XattrFlags,
};
use rustix::io::Errno;

/// What `statx` says about one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// Device number, major and minor.
    pub device: (u32, u32),
    /// Inode number.
    pub inode: u64,
    /// Type and permission bits, as in `st_mode`.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Number of hard links.
    pub links: u32,
    /// Size in bytes.
    pub size: u64,
    /// Last change of the content: seconds and nanoseconds.
    pub modified: (i64, u32),
    /// Last change of content or metadata: seconds and nanoseconds.
    pub changed: (i64, u32),
    /// The mount that the path leads to; `None` before Linux 5.8.
    pub mount: Option<u64>,
    /// Whether the path is the root of a mount; `None` where the kernel does not say.
    pub mount_root: Option<bool>,
    /// `chattr +i`.
    pub immutable: bool,
    /// `chattr +a`.
    pub append_only: bool,
}

impl Stat {
    /// The type bits of the mode.
    pub fn kind(&self) -> u32 {
        self.mode & 0o170_000
    }

    /// Whether it is a regular file.
    pub fn is_file(&self) -> bool {
        self.kind() == 0o100_000
    }

    /// Whether it is a symbolic link.
    pub fn is_link(&self) -> bool {
        self.kind() == 0o120_000
    }

    /// The permission bits, set-id and sticky included.
    pub fn permissions(&self) -> u32 {
        self.mode & 0o7777
    }

    /// Whether two paths lead to one inode.
    pub fn same_file(&self, other: &Self) -> bool {
        self.device == other.device && self.inode == other.inode
    }

    /// `major:minor`.
    pub fn device_text(&self) -> String {
        format!("{}:{}", self.device.0, self.device.1)
    }
}

/// Free space as `statfs` counts it for this user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// Bytes that this user can still store.
    pub free: u64,
    /// Bytes of one block.
    pub block: u64,
    /// Free inodes; `None` where the filesystem has no fixed number.
    pub inodes: Option<u64>,
}

type Called<T> = Result<T, Errno>;

/// The kernel, as far as a save needs it.
///
/// Directories are held as descriptors and names are relative to them, so that a directory that is
/// renamed or replaced in the middle of a save cannot send a later step elsewhere.
#[allow(missing_docs)] // each method is the call it is named after
pub trait Sys {
    fn open(&self, dir: BorrowedFd<'_>, name: &Path, flags: OFlags, mode: u32) -> Called<OwnedFd>;
    fn stat(&self, dir: BorrowedFd<'_>, name: &Path, flags: AtFlags) -> Called<Stat>;
    fn readlink(&self, dir: BorrowedFd<'_>, name: &Path) -> Called<OsString>;
    fn access(&self, dir: BorrowedFd<'_>, name: &Path, access: Access) -> Called<()>;
    fn list(&self, dir: BorrowedFd<'_>) -> Called<Vec<OsString>>;
    fn mkdir(&self, dir: BorrowedFd<'_>, name: &Path, mode: u32) -> Called<()>;
    fn unlink(&self, dir: BorrowedFd<'_>, name: &Path) -> Called<()>;
    fn rename(
        &self,
        from: BorrowedFd<'_>,
        old: &Path,
        to: BorrowedFd<'_>,
        new: &Path,
    ) -> Called<()>;
    fn rename_new(
        &self,
        from: BorrowedFd<'_>,
        old: &Path,
        to: BorrowedFd<'_>,
        new: &Path,
    ) -> Called<()>;
    fn write(&self, file: BorrowedFd<'_>, bytes: &[u8]) -> Called<usize>;
    fn pwrite(&self, file: BorrowedFd<'_>, bytes: &[u8], at: u64) -> Called<usize>;
    fn pread(&self, file: BorrowedFd<'_>, buffer: &mut [u8], at: u64) -> Called<usize>;
    fn fsync(&self, file: BorrowedFd<'_>) -> Called<()>;
    fn syncfs(&self, file: BorrowedFd<'_>) -> Called<()>;
    fn truncate(&self, file: BorrowedFd<'_>, size: u64) -> Called<()>;
    fn allocate(&self, file: BorrowedFd<'_>, size: u64) -> Called<()>;
    fn chown(&self, file: BorrowedFd<'_>, uid: u32, gid: u32) -> Called<()>;
    fn chmod(&self, file: BorrowedFd<'_>, mode: u32) -> Called<()>;
    fn xattr_names(&self, file: BorrowedFd<'_>) -> Called<Vec<OsString>>;
    fn xattr(&self, file: BorrowedFd<'_>, name: &OsStr) -> Called<Vec<u8>>;
    fn set_xattr(&self, file: BorrowedFd<'_>, name: &OsStr, value: &[u8]) -> Called<()>;
    fn remove_xattr(&self, file: BorrowedFd<'_>, name: &OsStr) -> Called<()>;
    fn lock(&self, file: BorrowedFd<'_>) -> Called<()>;
    fn space(&self, file: BorrowedFd<'_>) -> Called<Space>;
    fn mountinfo(&self) -> Called<Vec<u8>>;
    fn random(&self) -> Called<u32>;
}

/// The running kernel.
#[derive(Debug, Clone, Copy, Default)]
pub struct Linux;

impl Sys for Linux {
    fn open(&self, dir: BorrowedFd<'_>, name: &Path, flags: OFlags, mode: u32) -> Called<OwnedFd> {
        rustix::fs::openat(
            dir,
            name,
            flags | OFlags::CLOEXEC,
            Mode::from_raw_mode(mode),
        )
    }

    fn stat(&self, dir: BorrowedFd<'_>, name: &Path, flags: AtFlags) -> Called<Stat> {
        let stat = rustix::fs::statx(
            dir,
            name,
            flags,
            StatxFlags::BASIC_STATS | StatxFlags::MNT_ID,
        )?;
        let has = |flag| stat.stx_attributes.contains(flag);
        Ok(Stat {
            device: (stat.stx_dev_major, stat.stx_dev_minor),
            inode: stat.stx_ino,
            mode: u32::from(stat.stx_mode),
            uid: stat.stx_uid,
            gid: stat.stx_gid,
            links: stat.stx_nlink,
            size: stat.stx_size,
            modified: (stat.stx_mtime.tv_sec, stat.stx_mtime.tv_nsec),
            changed: (stat.stx_ctime.tv_sec, stat.stx_ctime.tv_nsec),
            mount: (stat.stx_mask & StatxFlags::MNT_ID.bits() != 0).then_some(stat.stx_mnt_id),
            mount_root: stat
                .stx_attributes_mask
                .contains(StatxAttributes::MOUNT_ROOT)
                .then(|| has(StatxAttributes::MOUNT_ROOT)),
            immutable: has(StatxAttributes::IMMUTABLE),
            append_only: has(StatxAttributes::APPEND),
        })
    }

    fn readlink(&self, dir: BorrowedFd<'_>, name: &Path) -> Called<OsString> {
        let text = rustix::fs::readlinkat(dir, name, Vec::new())?;
        Ok(OsString::from_vec(text.into_bytes()))
    }

    fn access(&self, dir: BorrowedFd<'_>, name: &Path, access: Access) -> Called<()> {
        rustix::fs::accessat(dir, name, access, AtFlags::EACCESS)
    }

    fn list(&self, dir: BorrowedFd<'_>) -> Called<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(dir)? {
            let name = entry?.file_name().to_bytes().to_vec();
            if name != b"." && name != b".." {
                names.push(OsString::from_vec(name));
            }
        }
        Ok(names)
    }

    fn mkdir(&self, dir: BorrowedFd<'_>, name: &Path, mode: u32) -> Called<()> {
        rustix::fs::mkdirat(dir, name, Mode::from_raw_mode(mode))
    }

    fn unlink(&self, dir: BorrowedFd<'_>, name: &Path) -> Called<()> {
        rustix::fs::unlinkat(dir, name, AtFlags::empty())
    }

    fn rename(
        &self,
        from: BorrowedFd<'_>,
        old: &Path,
        to: BorrowedFd<'_>,
        new: &Path,
    ) -> Called<()> {
        rustix::fs::renameat(from, old, to, new)
    }

    fn rename_new(
        &self,
        from: BorrowedFd<'_>,
        old: &Path,
        to: BorrowedFd<'_>,
        new: &Path,
    ) -> Called<()> {
        rustix::fs::renameat_with(from, old, to, new, RenameFlags::NOREPLACE)
    }

    fn write(&self, file: BorrowedFd<'_>, bytes: &[u8]) -> Called<usize> {
        rustix::io::write(file, bytes)
    }

    fn pwrite(&self, file: BorrowedFd<'_>, bytes: &[u8], at: u64) -> Called<usize> {
        rustix::io::pwrite(file, bytes, at)
    }

    fn pread(&self, file: BorrowedFd<'_>, buffer: &mut [u8], at: u64) -> Called<usize> {
        rustix::io::pread(file, buffer, at)
    }

    fn fsync(&self, file: BorrowedFd<'_>) -> Called<()> {
        rustix::fs::fsync(file)
    }

    fn syncfs(&self, file: BorrowedFd<'_>) -> Called<()> {
        rustix::fs::syncfs(file)
    }

    fn truncate(&self, file: BorrowedFd<'_>, size: u64) -> Called<()> {
        rustix::fs::ftruncate(file, size)
    }

    fn allocate(&self, file: BorrowedFd<'_>, size: u64) -> Called<()> {
        rustix::fs::fallocate(file, FallocateFlags::KEEP_SIZE, 0, size)
    }

    fn chown(&self, file: BorrowedFd<'_>, uid: u32, gid: u32) -> Called<()> {
        rustix::fs::fchown(file, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)))
    }

    fn chmod(&self, file: BorrowedFd<'_>, mode: u32) -> Called<()> {
        rustix::fs::fchmod(file, Mode::from_raw_mode(mode))
    }

    fn xattr_names(&self, file: BorrowedFd<'_>) -> Called<Vec<OsString>> {
        let list = grow(|buffer| rustix::fs::flistxattr(file, buffer))?;
        Ok(list
            .split(|byte| *byte == 0)
            .filter(|name| !name.is_empty())
            .map(|name| OsStr::from_bytes(name).to_owned())
            .collect())
    }

    fn xattr(&self, file: BorrowedFd<'_>, name: &OsStr) -> Called<Vec<u8>> {
        grow(|buffer| rustix::fs::fgetxattr(file, name, buffer))
    }

    fn set_xattr(&self, file: BorrowedFd<'_>, name: &OsStr, value: &[u8]) -> Called<()> {
        rustix::fs::fsetxattr(file, name, value, XattrFlags::empty())
    }

    fn remove_xattr(&self, file: BorrowedFd<'_>, name: &OsStr) -> Called<()> {
        rustix::fs::fremovexattr(file, name)
    }

    fn lock(&self, file: BorrowedFd<'_>) -> Called<()> {
        rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive)
    }

    fn space(&self, file: BorrowedFd<'_>) -> Called<Space> {
        let fs = rustix::fs::fstatvfs(file)?;
        Ok(Space {
            free: fs.f_bavail.saturating_mul(fs.f_frsize),
            block: fs.f_frsize.max(1),
            inodes: (fs.f_files > 0).then_some(fs.f_favail),
        })
    }

    fn mountinfo(&self) -> Called<Vec<u8>> {
        std::fs::read("/proc/self/mountinfo")
            .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
    }

    fn random(&self) -> Called<u32> {
        let mut bytes = [0u8; 4];
        rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
        Ok(u32::from_ne_bytes(bytes))
    }
}

/// Call with a larger buffer until the answer fits; attributes may grow between two calls.
fn grow(mut call: impl FnMut(&mut [u8]) -> Called<usize>) -> Called<Vec<u8>> {
    let mut buffer = vec![0u8; 1024];
    loop {
        match call(&mut buffer) {
            Ok(length) => {
                buffer.truncate(length);
                return Ok(buffer);
            }
            Err(Errno::RANGE) if buffer.len() < 1 << 20 => buffer.resize(buffer.len() * 8, 0),
            Err(errno) => return Err(errno),
        }
    }
}
