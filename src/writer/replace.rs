//! Staging beside the target and renaming over it.
//!
//! Responsible for: the staged file (private, locked, complete, synced, with the original's
//! metadata) and the one rename that makes it the target. Not responsible for: what to do when a
//! step fails; the failure says whether another way is open.

use std::ffi::{OsStr, OsString};
use std::rc::Rc;

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::errors::Attempt;
use super::kernel::{Dir, File, Kernel, Step};
use super::metadata::{self, Metadata};
use super::report::MetadataReport;
use super::resolve::Place;
use super::sys::Stat;

/// The ending of staged files.
pub(crate) const TEMP: &str = "tmp";

/// A file that is removed again unless it is kept.
pub(crate) struct Staged<'a> {
    kernel: Kernel<'a>,
    dir: &'a Dir,
    pub name: OsString,
    pub file: Rc<File>,
    armed: bool,
}

impl Staged<'_> {
    /// The file has its final name, or is to be left for recovery.
    pub fn keep(&mut self) {
        self.armed = false;
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        if self.armed {
            // If this fails too, the next run finds the file by its free lock and removes it.
            let _ = self.kernel.unlink(self.dir, &self.name);
        }
    }
}

/// Create a private file under a name of its own in `dir`, with its lock held.
pub(crate) fn create<'a>(kernel: &Kernel<'a>, dir: &'a Dir) -> Step<Staged<'a>> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
    let mut last = None;
    for _ in 0..16 {
        let name = kernel.random_name(TEMP);
        let file = match kernel.open(dir, &name, flags, 0o600) {
            Ok(file) => file,
            Err(attempt) if attempt.is(Errno::EXIST) => {
                last = Some(attempt);
                continue;
            }
            Err(attempt) => return Err(attempt),
        };
        let mut staged = Staged {
            kernel: *kernel,
            dir,
            name,
            file: Rc::new(file),
            armed: true,
        };
        // Between the creation and the lock a sweeper may take the file for a dead one. It holds
        // the lock while it removes it, so either the lock is busy or the file has no link left.
        match kernel.lock(&staged.file) {
            Err(attempt) if attempt.is(Errno::WOULDBLOCK) => {
                staged.keep();
                last = Some(attempt);
                continue;
            }
            // A filesystem without flock: sweepers do not remove anything there either.
            Err(_) => return Ok(staged),
            Ok(()) => {}
        }
        if kernel.stat_file(&staged.file)?.links > 0 {
            return Ok(staged);
        }
        staged.keep();
    }
    Err(last.unwrap_or_else(|| Attempt::new("openat", &dir.path, Errno::EXIST)))
}

/// Why a staged file did not come about.
#[derive(Debug)]
pub(crate) enum StageFail {
    /// This way is closed, but writing in place may be open.
    Closed {
        why: String,
        attempt: Option<Attempt>,
    },
    /// The save ends here.
    Fatal {
        step: &'static str,
        attempt: Attempt,
    },
}

/// What the staged file is to look like.
pub(crate) enum Look<'m> {
    /// Like the file it replaces.
    Same(&'m Metadata),
    /// Like a new file: this mode, in a directory like this.
    New { mode: u32, dir: &'m Stat },
}

/// Put bytes and metadata into a staged file and sync it. The boolean says whether the filesystem
/// took the sync.
pub(crate) fn fill(
    kernel: &Kernel<'_>,
    file: &File,
    bytes: Option<&[u8]>,
    look: &Look<'_>,
    warnings: &mut Vec<String>,
) -> Result<(MetadataReport, bool), StageFail> {
    let fatal = |step: &'static str| move |attempt: Attempt| StageFail::Fatal { step, attempt };
    if let Some(bytes) = bytes {
        kernel
            .write_all(file, bytes)
            .map_err(fatal("writing the staged copy"))?;
        let size = kernel
            .stat_file(file)
            .map_err(fatal("checking the staged copy"))?
            .size;
        if size != bytes.len() as u64 {
            let attempt = Attempt::new("write", &file.path, Errno::IO);
            return Err(fatal("checking the size of the staged copy")(attempt));
        }
    }
    let report = match look {
        Look::Same(want) => metadata::apply(kernel, file, want).map_err(closed)?,
        Look::New { mode, dir } => metadata::fresh(kernel, file, dir, *mode, warnings)
            .map_err(fatal("making the new file private"))?,
    };
    let synced = sync(kernel, file, warnings).map_err(fatal("syncing the staged copy"))?;
    Ok((report, synced))
}

fn closed(lost: metadata::NotReproducible) -> StageFail {
    match lost.attempt {
        Some(attempt) if attempt.is_storage_failure() => StageFail::Fatal {
            step: "copying the metadata",
            attempt,
        },
        attempt => StageFail::Closed {
            why: format!("{} cannot be put on a new file", lost.what),
            attempt,
        },
    }
}

/// Sync a file. A filesystem that knows no sync is a warning, any other failure an error: after a
/// failed sync the kernel may have dropped the very pages that were to be stored.
pub(crate) fn sync(kernel: &Kernel<'_>, file: &File, warnings: &mut Vec<String>) -> Step<bool> {
    match kernel.fsync(file) {
        Ok(()) => Ok(true),
        Err(attempt) if attempt.is(Errno::INVAL) || attempt.is(Errno::NOTSUP) => {
            warnings.push(format!("the filesystem does not sync files: {attempt}"));
            Ok(false)
        }
        Err(attempt) => Err(attempt),
    }
}

/// Whether creating the staged file failed for a reason that leaves the file itself writable.
pub(crate) fn staging_is_closed(attempt: &Attempt) -> bool {
    [Errno::ACCESS, Errno::PERM, Errno::ROFS, Errno::NAMETOOLONG]
        .iter()
        .any(|errno| attempt.is(*errno))
}

/// Whether a failed rename leaves the file itself writable.
pub(crate) fn rename_is_closed(attempt: &Attempt) -> bool {
    [Errno::BUSY, Errno::XDEV, Errno::PERM]
        .iter()
        .any(|errno| attempt.is(*errno))
}

/// Whether the target is still what it was when `old` was read. `Ok(false)` means that somebody
/// else changed, replaced or removed it.
pub(crate) fn is_as_seen(kernel: &Kernel<'_>, place: &Place, old: Option<&[u8]>) -> Step<bool> {
    let now = match kernel.stat(&place.dir, &place.name) {
        Ok(stat) => Some(stat),
        Err(attempt) if attempt.is(Errno::NOENT) => None,
        Err(attempt) => return Err(attempt),
    };
    let (now, seen, old) = match (now, &place.stat, old) {
        (None, None, _) => return Ok(true),
        (Some(now), Some(seen), Some(old)) => (now, seen, old),
        _ => return Ok(false),
    };
    let same = now.same_file(seen)
        && now.mode == seen.mode
        && (now.uid, now.gid, now.links, now.size) == (seen.uid, seen.gid, seen.links, seen.size)
        && now.mount == seen.mount;
    if !same {
        return Ok(false);
    }
    // Time stamps are too coarse to be trusted for this; the bytes are few.
    let file = match place.open(kernel, OFlags::RDONLY) {
        Ok(file) => file,
        Err(attempt) if attempt.is(Errno::NOENT) || attempt.is(Errno::LOOP) => return Ok(false),
        Err(attempt) => return Err(attempt),
    };
    Ok(kernel.read_all(&file, now.size)? == old)
}

/// Rename `name` of `from` over the target, which must not exist if it was not there before.
/// `Ok(false)` means that somebody else created it meanwhile.
pub(crate) fn commit(kernel: &Kernel<'_>, from: &Dir, name: &OsStr, place: &Place) -> Step<bool> {
    if place.stat.is_some() {
        return kernel
            .rename(from, name, &place.dir, &place.name)
            .map(|()| true);
    }
    match kernel.rename_new(from, name, &place.dir, &place.name) {
        Ok(()) => Ok(true),
        Err(attempt) if attempt.is(Errno::EXIST) => Ok(false),
        // NOREPLACE is not known everywhere (NFS, FUSE).
        Err(attempt)
            if attempt.is(Errno::INVAL)
                || attempt.is(Errno::NOSYS)
                || attempt.is(Errno::NOTSUP) =>
        {
            if !is_as_seen(kernel, place, None)? {
                return Ok(false);
            }
            kernel
                .rename(from, name, &place.dir, &place.name)
                .map(|()| true)
        }
        Err(attempt) => Err(attempt),
    }
}
