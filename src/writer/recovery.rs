//! What an interrupted save left behind, and putting it right.
//!
//! Responsible for: finding journals and staged files of dead processes, deciding by content what
//! an in-place write left in its file, and redoing or undoing it. Not responsible for: the decision
//! itself (`torn`) and the format (`journal`).
//!
//! A leftover is dead if its lock is free; process ids are not asked, they are reused.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::errors::Attempt;
use super::in_place::overwrite;
use super::journal::{self, JOURNAL, Journal};
use super::kernel::{Dir, File, Kernel};
use super::lock;
use super::options::Options;
use super::replace::TEMP;
use super::report::{Outcome, Recovery};
use super::resolve::{Place, resolve};
use super::sys::{Linux, Sys};
use super::torn::{Content, classify};

/// Put right what earlier runs left behind, everywhere a save for this home may have left it.
///
/// To be called at start, before files are loaded. Nothing is printed and nothing fails: what could
/// not be done is in the list.
pub fn recover(options: &Options) -> Vec<Recovery> {
    recover_with(&Linux, options)
}

/// [`recover`] on another kernel, for fault tests.
#[doc(hidden)]
pub fn recover_with(sys: &dyn Sys, options: &Options) -> Vec<Recovery> {
    let kernel = Kernel(sys);
    let mut out = Vec::new();
    for path in search_dirs(&kernel, options) {
        sweep(&kernel, &path, options, None, &mut out);
    }
    out
}

/// The same for one place, before it is saved and with its lock held: staged files beside it and
/// journals about it. Journals about other files need other locks and wait for [`recover`].
pub(crate) fn before_save(kernel: &Kernel<'_>, place: &Place, options: &Options) -> Vec<Recovery> {
    let mut out = Vec::new();
    let mut paths = vec![place.dir.path.clone(), options.home.clone()];
    paths.extend(options.state_dir.clone());
    let mut seen = BTreeSet::new();
    for path in paths {
        if seen.insert(path.clone()) {
            sweep(kernel, &path, options, Some(place), &mut out);
        }
    }
    out
}

/// Directories in which journals and staged files for this home may lie: the home, its backups, the
/// state directory, and wherever links in the home lead.
pub(crate) fn search_dirs(kernel: &Kernel<'_>, options: &Options) -> Vec<PathBuf> {
    let mut found = vec![
        options.home.clone(),
        options.home.join(super::backup::FOLDER),
    ];
    found.extend(options.state_dir.clone());
    if let Ok(home) = kernel.open_dir_path(&options.home) {
        let listed = kernel.list(&home);
        for name in listed.unwrap_or_default() {
            let is_link = kernel.stat(&home, &name).is_ok_and(|stat| stat.is_link());
            let path = options.home.join(&name);
            if let Some(place) = is_link
                .then(|| resolve(kernel, &path, false).ok())
                .flatten()
            {
                found.push(place.dir.path.clone());
                found.push(place.real());
            }
        }
    }
    // The same directory by two paths is swept once.
    let mut seen = BTreeSet::new();
    found.retain(|path| {
        kernel
            .open_dir_path(path)
            .and_then(|dir| kernel.stat_dir(&dir))
            .is_ok_and(|stat| seen.insert((stat.device, stat.inode)))
    });
    found
}

/// Look through one directory. With `only`, journals about other files are left alone.
fn sweep(
    kernel: &Kernel<'_>,
    path: &Path,
    options: &Options,
    only: Option<&Place>,
    out: &mut Vec<Recovery>,
) {
    let Ok(dir) = kernel.open_dir_path(path) else {
        return;
    };
    let Ok(names) = kernel.list(&dir) else { return };
    for name in names {
        if journal::is_ours(&name, TEMP) {
            out.extend(remove_temp(kernel, &dir, &name));
        } else if journal::is_ours(&name, JOURNAL) {
            out.extend(replay(kernel, &dir, &name, options, only));
        }
    }
}

fn entry(leftover: PathBuf, outcome: Outcome, detail: impl Into<String>) -> Recovery {
    Recovery {
        leftover,
        target: None,
        outcome,
        detail: detail.into(),
        since: None,
    }
}

/// Remove a staged file of a dead process. It is not read: it may hold secrets, and whatever it was
/// to become did not happen.
fn remove_temp(kernel: &Kernel<'_>, dir: &Dir, name: &OsStr) -> Option<Recovery> {
    let path = dir.path.join(name);
    let left = |attempt: &Attempt| {
        let detail =
            format!("a staged file of an interrupted save could not be removed: {attempt}");
        Some(entry(path.clone(), Outcome::TempLeft, detail))
    };
    let file = match kernel.open(
        dir,
        name,
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK,
        0,
    ) {
        Ok(file) => file,
        Err(attempt) if attempt.is(Errno::NOENT) => return None,
        Err(attempt) => return left(&attempt),
    };
    match kernel.stat_file(&file) {
        Ok(stat) if stat.is_file() && stat.links == 1 => {}
        // Not something that this program makes.
        Ok(_) => return None,
        Err(attempt) => return left(&attempt),
    }
    match kernel.lock(&file) {
        Ok(()) => {}
        // Its writer lives.
        Err(attempt) if attempt.is(Errno::WOULDBLOCK) => return None,
        Err(attempt) => return left(&attempt),
    }
    match kernel.unlink(dir, name) {
        Ok(()) => Some(entry(
            path.clone(),
            Outcome::TempRemoved,
            "a staged file of an interrupted save was removed; its target was never touched by it",
        )),
        Err(attempt) if attempt.is(Errno::NOENT) => None,
        Err(attempt) => left(&attempt),
    }
}

/// A journal that is ours to act on.
struct Found {
    file: File,
    journal: Journal,
    place: Place,
    /// Keeps other processes away from the target; empty if the caller holds that lock.
    _lock: Option<lock::Lock>,
}

impl Found {
    /// Let go of the locks and keep what was read.
    fn into_journal(self) -> Journal {
        self.journal
    }
}

fn replay(
    kernel: &Kernel<'_>,
    dir: &Dir,
    name: &OsStr,
    options: &Options,
    only: Option<&Place>,
) -> Option<Recovery> {
    let found = match find(kernel, dir, name, options, only) {
        Ok(found) => found?,
        Err(recovery) => return Some(recovery),
    };
    let (outcome, detail) = settle(kernel, &found);
    let done = matches!(outcome, Outcome::Whole | Outcome::Redone | Outcome::Undone);
    let mut detail = detail;
    if done {
        if let Err(attempt) = kernel.unlink(dir, name) {
            detail =
                format!("{detail}; the journal could not be removed, which is harmless: {attempt}");
        } else {
            // Should this be lost in a power cut, the next run finds the file whole and drops it.
            let _ = kernel.sync_dir(dir, &found.file);
        }
    }
    Some(Recovery {
        leftover: dir.path.join(name),
        target: Some(found.journal.target),
        outcome,
        detail,
        since: Some(found.journal.header.since),
    })
}

/// Open, lock and check a journal and the place of its target.
fn find(
    kernel: &Kernel<'_>,
    dir: &Dir,
    name: &OsStr,
    options: &Options,
    only: Option<&Place>,
) -> Result<Option<Found>, Recovery> {
    let path = dir.path.join(name);
    let unusable = |outcome, detail: String| Err(entry(path.clone(), outcome, detail));
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let opened = kernel
        .open(dir, name, OFlags::RDWR | flags, 0)
        .or_else(|_| kernel.open(dir, name, OFlags::RDONLY | flags, 0));
    let read = opened.and_then(|file| {
        let stat = kernel.stat_file(&file)?;
        let bytes = kernel.read_all(&file, stat.size)?;
        Ok((file, stat, bytes))
    });
    let (file, stat, bytes) = match read {
        Ok(read) => read,
        Err(attempt) if attempt.is(Errno::NOENT) => return Ok(None),
        Err(attempt) => {
            return unusable(
                Outcome::Unreadable,
                format!("the journal cannot be read: {attempt}"),
            );
        }
    };
    let journal = match journal::decode(&bytes) {
        Ok(journal) => journal,
        Err(why) => return unusable(Outcome::Unreadable, format!("{why}; it was not used")),
    };
    if only.is_some_and(|place| place.real() != journal.target) {
        return Ok(None);
    }
    let with_target = |outcome, detail: String| {
        Err(Recovery {
            target: Some(journal.target.clone()),
            since: Some(journal.header.since),
            ..entry(path.clone(), outcome, detail)
        })
    };
    let place = match resolve(kernel, &journal.target, false) {
        Ok(place) => place,
        Err(error) => {
            return with_target(
                Outcome::Failed,
                format!("its file cannot be reached: {}", error.reason),
            );
        }
    };
    let owner = place.stat.as_ref().map(|stat| stat.uid);
    if !stat.is_file() || stat.permissions() & 0o022 != 0 || !trusted(stat.uid, owner) {
        return with_target(
            Outcome::Unreadable,
            "the journal belongs to another user or others may write it; it was not used"
                .to_owned(),
        );
    }
    // The target's lock before the journal's, as a save does it.
    let held = match only {
        Some(_) => None,
        None => match lock::acquire(kernel, &place, options, &mut Vec::new()) {
            Ok(held) => Some(held),
            Err(error) => return with_target(Outcome::InUse, error.reason.clone()),
        },
    };
    match kernel.lock(&file) {
        Err(attempt) if attempt.is(Errno::WOULDBLOCK) => {
            return with_target(
                Outcome::InUse,
                "another process is saving this file now".to_owned(),
            );
        }
        // Without flock the target's own lock has to do.
        _ => {}
    }
    // Its writer may have finished while we waited.
    if !kernel.stat_file(&file).is_ok_and(|stat| stat.links > 0) {
        return Ok(None);
    }
    let mut place = place;
    if let Err(error) = place.refresh(kernel) {
        return with_target(Outcome::Failed, error.reason.clone());
    }
    Ok(Some(Found {
        file,
        journal,
        place,
        _lock: held,
    }))
}

/// A journal says what to write into a file, so it must come from somebody who may write that file
/// anyway: ourselves, or the file's owner.
fn trusted(journal: u32, target: Option<u32>) -> bool {
    journal == rustix::process::geteuid().as_raw() || target == Some(journal)
}

/// Look at the target and make it whole.
fn settle(kernel: &Kernel<'_>, found: &Found) -> (Outcome, String) {
    let Journal { old, new, .. } = &found.journal;
    match &found.place.stat {
        None => {
            let detail = "its file is gone; the journal is kept, it holds the last content";
            return (Outcome::Conflict, detail.to_owned());
        }
        Some(stat) if !stat.is_file() => {
            let detail = "something that is not a file is in its place; the journal is kept";
            return (Outcome::Conflict, detail.to_owned());
        }
        Some(_) => {}
    }
    let opened = found.place.open(kernel, OFlags::RDWR);
    let writable = opened.is_ok();
    let read = opened
        .or_else(|_| found.place.open(kernel, OFlags::RDONLY))
        .and_then(|file| {
            let size = kernel.stat_file(&file)?.size;
            let bytes = kernel.read_all(&file, size)?;
            Ok((file, bytes))
        });
    let (file, now) = match read {
        Ok(read) => read,
        Err(attempt) => {
            return (
                Outcome::Failed,
                format!("the file cannot be opened: {attempt}"),
            );
        }
    };
    let which = match classify(&now, old, new) {
        Content::New => "new",
        Content::Old => "old",
        Content::Foreign => {
            let detail =
                "the file holds something else by now (edited by hand?); file and journal are kept";
            return (Outcome::Conflict, detail.to_owned());
        }
        Content::Torn if writable => return repair(kernel, &file, old, new),
        Content::Torn => {
            let detail =
                "the file is torn and may not be written by this user; file and journal are kept";
            return (Outcome::Failed, detail.to_owned());
        }
    };
    // What is read may still be in memory only, and the journal is about to go.
    match kernel.fsync(&file) {
        Ok(()) => (
            Outcome::Whole,
            format!("the file holds the whole {which} content; the journal was removed"),
        ),
        Err(attempt) => (
            Outcome::Failed,
            format!("the file is whole but cannot be synced: {attempt}"),
        ),
    }
}

/// Write the new content again; if that does not work, the old one.
fn repair(kernel: &Kernel<'_>, file: &File, old: &[u8], new: &[u8]) -> (Outcome, String) {
    // Everything, not the difference alone: a disk may have torn a block around it.
    let redo = match overwrite(kernel, file, new, (0, new.len())) {
        Ok(()) => {
            let detail = "the save was interrupted; its new content was written again and verified";
            return (Outcome::Redone, detail.to_owned());
        }
        Err(attempt) => attempt,
    };
    match overwrite(kernel, file, old, (0, old.len())) {
        Ok(()) => (
            Outcome::Undone,
            format!(
                "the save was interrupted; its new content could not be written ({redo}), the old one was put back"
            ),
        ),
        Err(undo) => (
            Outcome::Failed,
            format!(
                "neither version could be written ({redo}; {undo}); the journal is kept, it holds both"
            ),
        ),
    }
}

/// What to do with a journal that ended in a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolution {
    /// The file is right as it is; remove the journal.
    KeepFile,
    /// Save the journal's old content over the file, then remove the journal.
    TakeOld,
    /// Save the journal's new content over the file, then remove the journal.
    TakeNew,
}

/// Settle a conflict by hand. `journal` is the [`Recovery::leftover`] of an earlier [`recover`].
pub fn resolve_conflict(
    journal: &Path,
    resolution: Resolution,
    options: &Options,
) -> Result<Option<super::SaveReport>, super::SaveError> {
    use super::errors::{FailureKind, SaveError};
    let kernel = Kernel(&Linux);
    let place = resolve(&kernel, journal, false)?;
    let bad = |why: String| SaveError::refused(FailureKind::BadSource, journal, why);
    if !journal::is_ours(&place.name, JOURNAL) {
        return Err(bad("this is not a journal of hermes-tui".to_owned()));
    }
    let found = match find(&kernel, &place.dir, &place.name, options, None) {
        Ok(Some(found)) => found,
        Ok(None) => return Err(bad("the journal is gone".to_owned())),
        Err(recovery) => {
            // A damaged journal can only be thrown away.
            if resolution == Resolution::KeepFile && recovery.outcome == Outcome::Unreadable {
                kernel
                    .unlink(&place.dir, &place.name)
                    .map_err(|attempt| SaveError::call(journal, "removing the journal", attempt))?;
                return Ok(None);
            }
            return Err(bad(recovery.detail));
        }
    };
    // Both locks end here: the save takes them itself.
    let read = found.into_journal();
    let content = match resolution {
        Resolution::KeepFile => None,
        Resolution::TakeOld => Some(read.old),
        Resolution::TakeNew => Some(read.new),
    };
    let report = match content {
        Some(bytes) => Some(super::write(&read.target, &bytes, options)?),
        None => None,
    };
    match kernel.unlink(&place.dir, &place.name) {
        Err(attempt) if !attempt.is(Errno::NOENT) => {
            Err(SaveError::call(journal, "removing the journal", attempt))
        }
        _ => Ok(report),
    }
}
