//! Saving a file so that at every moment either the old or the new content is whole.
//!
//! ```no_run
//! use hermes_tui::writer::{Options, write};
//!
//! let options = Options::new("/home/me/.hermes");
//! let report = write("/home/me/.hermes/.env".as_ref(), b"KEY=value\n", &options)?;
//! println!("{} through {}", report.strategy, report.real.display());
//! # Ok::<(), hermes_tui::writer::SaveError>(())
//! ```
//!
//! Symbolic links are followed and stay links; owner, mode, ACL, attributes, label and hard links
//! stay. A bare rename cannot do that across mounts, and a copy over the open file loses both
//! versions when the disk is full; so a save takes the first of these ways that is open:
//!
//! | strategy | when | readers see | after a crash |
//! |----------|------|-------------|---------------|
//! | `unchanged` | the file holds the bytes already | – | – |
//! | `replace` | usually: stage beside the real file, sync, rename over it | old or new | old or new |
//! | `restaged` | [`atomic_replace`] was handed a file of another mount | old or new | old or new |
//! | `in_place` | a file mounted singly (rename: EBUSY), hard links, a directory that takes no new file, metadata that no new file can have | old, new, or for a moment a mixture | old or new *after [`recover`]* |
//!
//! `in_place` works under a journal that holds both versions; it is never entered after ENOSPC,
//! EDQUOT, EIO or EFBIG. Everything else is refused with a [`SaveError`] before anything is touched.
//!
//! **Guaranteed**: one whole version is on disk at all times; an error means that the target holds
//! the old content (or that [`Intact::NeedsRecovery`] names the journal); success means that it
//! holds the new one, synced as far as [`Durable`] says; no staged file, journal or backup can be
//! read by anybody who cannot read the target.
//!
//! **Not guaranteed**: against a program that writes between the last comparison and the rename
//! (there is no compare-and-rename call); free space on copy-on-write filesystems; NFS with several
//! clients; disks that lie about flushing; inode flags, birth time and project quota.
//!
//! `docs/WRITER.md` has the reasons, the sources and the figures.

mod checks;
mod errors;
mod handover;
mod in_place;
mod journal;
mod kernel;
mod lock;
mod metadata;
mod options;
mod predict;
mod recovery;
mod replace;
mod report;
mod resolve;
mod rung;
mod signals;
mod strategy;
mod torn;

pub mod backup;
pub mod sys;

use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

pub use errors::{Attempt, Failure, FailureKind, Intact, SaveError, Shortage, errno_name};
pub use lock::{Lock, lock};
pub use options::{Backup, Options};
pub use predict::{observe, predict, probe};
pub use recovery::{Resolution, recover, recover_with, resolve_conflict};
pub use report::{
    Durable, Fate, Hop, Inodes, JournalReport, Kept, MetadataReport, Outcome, Prediction, Recovery,
    SaveReport, Strategy, Survives, Target,
};
pub use signals::ignore_file_size_signal;

use handover::Handed;
use kernel::Kernel;
use strategy::{Source, save};
use sys::{Linux, Sys};

/// Make `target` hold exactly `bytes`. Links on the way are followed; a missing file is created
/// with [`Options::create_mode`].
pub fn write(target: &Path, bytes: &[u8], options: &Options) -> Result<SaveReport, SaveError> {
    save(&Linux, target, Source::Bytes(bytes), options)
}

/// [`write`] on another kernel, for fault tests.
#[doc(hidden)]
pub fn write_with(
    sys: &dyn Sys,
    target: &Path,
    bytes: &[u8],
    options: &Options,
) -> Result<SaveReport, SaveError> {
    save(sys, target, Source::Bytes(bytes), options)
}

/// Make the finished file `tmp` the content of `target`, wherever the two lie.
///
/// What a bare `rename(tmp, target)` does, but links stay links, `target` keeps its mode, owner, ACL
/// and hard links, and another mount is no obstacle. `tmp` is removed, but only after success.
pub fn atomic_replace(
    tmp: &Path,
    target: &Path,
    options: &Options,
) -> Result<SaveReport, SaveError> {
    atomic_replace_with(&Linux, tmp, target, options)
}

/// [`atomic_replace`] on another kernel, for fault tests.
#[doc(hidden)]
pub fn atomic_replace_with(
    sys: &dyn Sys,
    tmp: &Path,
    target: &Path,
    options: &Options,
) -> Result<SaveReport, SaveError> {
    let kernel = Kernel(sys);
    let place = resolve::resolve(&kernel, tmp, false)?;
    let bad = |why: String| SaveError::refused(FailureKind::BadSource, tmp, why);
    let Some(stat) = place.stat.clone() else {
        return Err(bad("the staged file does not exist".to_owned()));
    };
    if !stat.is_file() {
        return Err(bad("the staged file is not a regular file".to_owned()));
    }
    let reading = |attempt| SaveError::call(tmp, "reading the staged file", attempt);
    let file = place.open(&kernel, OFlags::RDONLY).map_err(reading)?;
    let stat = kernel.stat_file(&file).map_err(reading)?;
    let bytes = kernel.read_all(&file, stat.size).map_err(reading)?;
    // A target that cannot be reached is the save's error to tell.
    if let Ok(target) = resolve::resolve(&kernel, target, false)
        && target.stat.is_some_and(|target| target.same_file(&stat))
    {
        return Err(bad(
            "the staged file and the target are the same file".to_owned()
        ));
    }
    let handed = Handed {
        path: place.requested.clone(),
        dir: place.dir,
        name: place.name,
        file,
        stat,
        bytes,
    };
    save(sys, target, Source::Handed(Box::new(handed)), options)
}

/// Read a file and follow its links as a save would, for a caller that will edit it.
///
/// `Ok(None)` means that the file does not exist but could be created there.
pub fn read(target: &Path) -> Result<Option<Vec<u8>>, SaveError> {
    let kernel = Kernel(&Linux);
    let place = resolve::resolve(&kernel, target, false)?;
    let Some(stat) = &place.stat else {
        return Ok(None);
    };
    if !stat.is_file() {
        checks::check(&kernel, &place, None)?;
    }
    let failed = |attempt: Attempt| {
        let kind = if attempt.is(Errno::ACCESS) {
            FailureKind::Unreadable
        } else {
            FailureKind::Io
        };
        SaveError::call(target, "reading the file", attempt).with_kind(kind)
    };
    let file = place.open(&kernel, OFlags::RDONLY).map_err(failed)?;
    kernel.read_all(&file, stat.size).map(Some).map_err(failed)
}
