//! Writing into the existing file, under a journal.
//!
//! Responsible for: the order that never leaves both versions lost: journal on disk, space reserved,
//! bytes written, size cut, synced, read back, journal gone; and the way back when a step fails. Not
//! responsible for: deciding that this way is to be taken.

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::errors::{Attempt, FailureKind, SaveError};
use super::journal::{self, Written};
use super::kernel::{File, Kernel, Step};
use super::options::Options;
use super::report::JournalReport;
use super::resolve::Place;
use super::sys::Stat;
use crate::mount::Mount;

/// What came of it when it did not work.
pub(crate) enum InPlaceFail {
    /// Somebody else changed the file before we touched it.
    Moved,
    /// The save ends here.
    Failed(SaveError),
}

/// The part of `want` that differs from `have`, as a start and an end. Fewer bytes written means
/// fewer that can be torn and a shorter moment in which readers see a mixture.
pub(crate) fn difference(want: &[u8], have: &[u8]) -> (usize, usize) {
    let start = want.iter().zip(have).take_while(|(a, b)| a == b).count();
    let end = if want.len() == have.len() {
        let tail = want
            .iter()
            .rev()
            .zip(have.iter().rev())
            .take_while(|(a, b)| a == b)
            .count();
        want.len().saturating_sub(tail)
    } else {
        want.len()
    };
    (start, end.max(start))
}

/// Write `want[range]` at its place, cut the file to `want`, sync, and read all of it back.
pub(crate) fn overwrite(
    kernel: &Kernel<'_>,
    file: &File,
    want: &[u8],
    range: (usize, usize),
) -> Step<()> {
    let bytes = want.get(range.0..range.1).unwrap_or_default();
    kernel.write_at(file, bytes, range.0 as u64)?;
    let length = want.len() as u64;
    // Only now, and only to shrink: a file that is cut first is a file that is lost.
    if kernel.stat_file(file)?.size > length {
        kernel.truncate(file, length)?;
    }
    kernel.fsync(file)?;
    if kernel.read_all(file, length)? == want {
        Ok(())
    } else {
        // The call succeeded, the bytes are others: the storage lies.
        Err(Attempt::new("pread64", &file.path, Errno::IO))
    }
}

/// One rewrite: the file as it was seen, and both versions of its content.
pub(crate) struct Rewrite<'a> {
    pub kernel: Kernel<'a>,
    pub place: &'a Place,
    pub seen: &'a Stat,
    pub old: &'a [u8],
    pub new: &'a [u8],
    pub mount: Option<&'a Mount>,
    pub options: &'a Options,
}

impl Rewrite<'_> {
    /// Replace the old content by the new one. `ready` is called once everything is prepared and
    /// room is reserved, just before the first byte is written.
    pub fn run(
        &self,
        warnings: &mut Vec<String>,
        ready: impl FnOnce(&mut Vec<String>),
    ) -> Result<JournalReport, InPlaceFail> {
        let Self {
            kernel,
            place,
            old,
            new,
            ..
        } = self;
        let mut failed = Vec::new();
        let versions = (*old, *new);
        let Some(journal) = journal::write(
            kernel,
            place,
            self.seen,
            versions,
            self.options,
            &mut failed,
        ) else {
            return Err(InPlaceFail::Failed(no_journal(place, failed)));
        };
        let file = match self.prepare() {
            Ok(Some(file)) => file,
            Ok(None) => {
                journal.remove(kernel, warnings);
                return Err(InPlaceFail::Moved);
            }
            Err(why) => {
                journal.remove(kernel, warnings);
                return Err(InPlaceFail::Failed(match why {
                    Unprepared::Call(step, attempt) => {
                        SaveError::call(&place.requested, step, attempt)
                    }
                    Unprepared::NoRoom(needed) => SaveError::refused(
                        FailureKind::NoSpace,
                        &place.requested,
                        format!("writing in place needs {needed} free bytes on this filesystem"),
                    ),
                }));
            }
        };
        ready(warnings);
        if let Err(cause) = overwrite(kernel, &file, new, difference(new, old)) {
            return Err(InPlaceFail::Failed(
                self.roll_back(&file, journal, cause, warnings),
            ));
        }
        let report = journal.report.clone();
        journal.remove(kernel, warnings);
        Ok(report)
    }

    /// Open the file, make sure that it is the one that was read and still holds what was read, and
    /// reserve the space. `Ok(None)`: somebody else was faster.
    fn prepare(&self) -> Result<Option<File>, Unprepared> {
        let kernel = &self.kernel;
        let file = match self.place.open(kernel, OFlags::RDWR) {
            Ok(file) => file,
            Err(attempt) if attempt.is(Errno::NOENT) || attempt.is(Errno::LOOP) => return Ok(None),
            Err(attempt) => return Err(Unprepared::Call("opening the file for writing", attempt)),
        };
        let now = kernel
            .stat_file(&file)
            .map_err(|attempt| Unprepared::Call("checking the open file", attempt))?;
        // OverlayFS shows another inode number once the file is copied up; its content decides then.
        let overlay = self.mount.is_some_and(|mount| mount.fs_type == "overlay");
        if !now.is_file() || !(now.same_file(self.seen) || overlay) {
            return Ok(None);
        }
        let bytes = kernel
            .read_all(&file, now.size)
            .map_err(|attempt| Unprepared::Call("reading the open file", attempt))?;
        if bytes != self.old {
            return Ok(None);
        }
        reserve(kernel, &file, self.old.len(), self.new.len(), self.mount)?;
        Ok(Some(file))
    }

    /// Put the old content back after a failed write.
    fn roll_back(
        &self,
        file: &File,
        journal: Written,
        cause: Attempt,
        warnings: &mut Vec<String>,
    ) -> SaveError {
        let error = SaveError::call(&self.place.requested, "writing in place", cause);
        match overwrite(&self.kernel, file, self.old, difference(self.old, self.new)) {
            Ok(()) => {
                journal.remove(&self.kernel, warnings);
                error.restored()
            }
            Err(second) => {
                let reason = format!(
                    "{}; putting the old content back failed as well: {second}",
                    error.reason
                );
                error.with_reason(reason).torn(journal.path())
            }
        }
    }
}

/// Why the file was not opened for writing.
enum Unprepared {
    /// A call failed.
    Call(&'static str, Attempt),
    /// The filesystem has less than this many bytes left.
    NoRoom(u64),
}

/// Make sure that the bytes have room before the first one is written.
fn reserve(
    kernel: &Kernel<'_>,
    file: &File,
    old: usize,
    new: usize,
    mount: Option<&Mount>,
) -> Result<(), Unprepared> {
    use std::os::fd::AsFd;
    let call = |attempt| Unprepared::Call("reserving space", attempt);
    let mut reserved = true;
    // The whole length, not the tail alone: a file with holes needs room in the middle.
    if new > 0 {
        match kernel.allocate(file, new as u64) {
            Ok(()) => {}
            Err(attempt)
                if [Errno::NOTSUP, Errno::NOSYS, Errno::INVAL, Errno::NODEV]
                    .iter()
                    .any(|errno| attempt.is(*errno)) =>
            {
                reserved = false;
            }
            Err(attempt) => return Err(call(attempt)),
        }
    }
    let needed = if mount.is_some_and(Mount::copy_on_write) {
        // Every byte goes to a new block here, whatever is reserved.
        new as u64
    } else if reserved {
        0
    } else {
        new.saturating_sub(old) as u64
    };
    if needed > 0
        && kernel
            .space(file.fd.as_fd(), &file.path)
            .map_err(call)?
            .free
            < needed
    {
        return Err(Unprepared::NoRoom(needed));
    }
    Ok(())
}

fn no_journal(place: &Place, mut failed: Vec<Attempt>) -> SaveError {
    let step = "writing the journal that an in-place write needs";
    // Of several places that refused, a full or broken disk says more than a forbidden directory.
    let at = failed.iter().position(Attempt::is_storage_failure);
    let cause = match at {
        Some(at) => Some(failed.remove(at)),
        None => failed.pop(),
    };
    match cause {
        Some(cause) => SaveError::call(&place.requested, step, cause).with_attempts(failed),
        None => SaveError::refused(
            FailureKind::NotWritable,
            &place.requested,
            "there is no place for a journal",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_written() {
        for (want, have, range) in [
            (&b"abcdef"[..], &b"abXdef"[..], (2, 3)),
            (b"abcdef", b"abcdef", (6, 6)),
            (b"abcdefgh", b"abc", (3, 8)),
            (b"abc", b"abcdef", (3, 3)),
            (b"aXc", b"abcdef", (1, 3)),
            (b"", b"abc", (0, 0)),
            (b"aaaa", b"aaaaaa", (4, 4)),
        ] {
            assert_eq!(difference(want, have), range, "{want:?} over {have:?}");
        }
    }
}
