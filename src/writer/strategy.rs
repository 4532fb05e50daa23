//! The ladder: which way a save takes, and when it stops.
//!
//! Responsible for: the order `unchanged`, `replace` (or the rename of a staged file handed in),
//! `restaged`, `in_place`, the conditions between them, and the report. Not responsible for: how
//! each way works.
//!
//! A step down is taken by *(call, error)*, never by the error alone, and never after the storage
//! itself said no (ENOSPC, EDQUOT, EIO, EFBIG): a risky way is not tried on a failing disk.

use std::path::{Path, PathBuf};
use std::time::Instant;

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::checks;
use super::errors::{Attempt, FailureKind, SaveError};
use super::handover::{Handed, Handover};
use super::kernel::{DirSync, File, Kernel};
use super::metadata::{self, Metadata};
use super::options::Options;
use super::replace::{self, Look, StageFail};
use super::report::{
    Durable, Inodes, JournalReport, MetadataReport, Outcome, Recovery, SaveReport, Strategy,
};
use super::resolve::{self, Place};
use super::sys::{Stat, Sys};
use super::{backup, lock, recovery};
use crate::mount::Mount;

/// How often a save starts again because somebody else changed the file in between.
const ROUNDS: usize = 8;

/// Where the new content comes from.
pub(crate) enum Source<'a> {
    Bytes(&'a [u8]),
    /// A staged file that the caller made.
    Handed(Box<Handed>),
}

impl Source<'_> {
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Handed(handed) => &handed.bytes,
        }
    }
}

/// Why one round did not end in a report.
pub(crate) enum Stop {
    /// Somebody else changed the target; look again.
    Moved,
    Failed(SaveError),
}

impl From<SaveError> for Stop {
    fn from(error: SaveError) -> Self {
        Self::Failed(error)
    }
}

/// What the target held when this round began.
pub(crate) struct Seen {
    pub old: Option<Vec<u8>>,
    pub stat: Option<Stat>,
    pub metadata: Option<Metadata>,
    pub mount: Option<Mount>,
}

/// How a round ended well.
pub(crate) struct Done {
    pub strategy: Strategy,
    pub reason: String,
    pub metadata: MetadataReport,
    pub durable: Durable,
    pub journal: Option<JournalReport>,
}

pub(crate) struct Save<'a> {
    pub kernel: Kernel<'a>,
    pub options: &'a Options,
    pub source: Source<'a>,
    pub started: Instant,
    pub attempts: Vec<Attempt>,
    pub warnings: Vec<String>,
    pub recovered: Vec<Recovery>,
    pub backup: Option<PathBuf>,
    /// The handed file became the target itself.
    pub consumed: bool,
}

pub(crate) fn save(
    sys: &dyn Sys,
    target: &Path,
    source: Source<'_>,
    options: &Options,
) -> Result<SaveReport, SaveError> {
    let mut save = Save {
        kernel: Kernel(sys),
        options,
        source,
        started: Instant::now(),
        attempts: Vec::new(),
        warnings: Vec::new(),
        recovered: Vec::new(),
        backup: None,
        consumed: false,
    };
    for _ in 0..ROUNDS {
        save.attempts.clear();
        save.warnings.clear();
        match save.round(target) {
            Ok(report) => return Ok(report),
            Err(Stop::Moved) => {}
            Err(Stop::Failed(error)) => {
                let mut attempts = std::mem::take(&mut save.attempts);
                attempts.extend(error.attempts.iter().cloned());
                return Err(error.with_attempts(attempts));
            }
        }
    }
    Err(SaveError::refused(
        FailureKind::Changed,
        target,
        format!("another program keeps changing it: {ROUNDS} tries found it different each time"),
    ))
}

impl Save<'_> {
    fn round(&mut self, target: &Path) -> Result<SaveReport, Stop> {
        let kernel = self.kernel;
        let mut place = resolve::resolve(&kernel, target, self.options.create_dirs)?;
        let _lock = lock::acquire(&kernel, &place, self.options, &mut self.warnings)?;
        let found = recovery::before_save(&kernel, &place, self.options);
        unsettled(&place, &found)?;
        self.recovered.extend(found);
        // Waiting for the lock and recovering take time.
        place.refresh(&kernel)?;
        if place.stat.as_ref().is_some_and(Stat::is_link) {
            return Err(Stop::Moved);
        }
        let seen = self.look(&place)?;
        let done = self.climb(&place, &seen)?;
        self.clean_up();
        Ok(self.report(&place, &seen, done))
    }

    /// Check the target and read what it holds and carries.
    fn look(&self, place: &Place) -> Result<Seen, Stop> {
        let kernel = &self.kernel;
        let mount = resolve::mount_of(kernel, place);
        checks::check(kernel, place, mount.as_ref())?;
        let Some(stat) = place.stat.clone() else {
            return Ok(Seen {
                old: None,
                stat: None,
                metadata: None,
                mount,
            });
        };
        let unreadable = |attempt: Attempt| {
            let kind = if attempt.is(Errno::ACCESS) || attempt.is(Errno::PERM) {
                FailureKind::Unreadable
            } else {
                FailureKind::Io
            };
            SaveError::call(&place.requested, "reading the file", attempt).with_kind(kind)
        };
        let file = match place.open(kernel, OFlags::RDONLY) {
            Ok(file) => file,
            Err(attempt) if attempt.is(Errno::NOENT) || attempt.is(Errno::LOOP) => {
                return Err(Stop::Moved);
            }
            Err(attempt) => return Err(unreadable(attempt).into()),
        };
        let now = kernel.stat_file(&file).map_err(unreadable)?;
        if !now.same_file(&stat) {
            return Err(Stop::Moved);
        }
        let old = kernel.read_all(&file, now.size).map_err(unreadable)?;
        let metadata = metadata::capture(kernel, &file, &stat).map_err(unreadable)?;
        Ok(Seen {
            old: Some(old),
            stat: Some(stat),
            metadata: Some(metadata),
            mount,
        })
    }

    fn climb(&mut self, place: &Place, seen: &Seen) -> Result<Done, Stop> {
        let old = seen.old.as_deref();
        if old == Some(self.source.bytes()) {
            return Ok(Done {
                strategy: Strategy::Unchanged,
                reason: "the file holds these bytes already; nothing was written".to_owned(),
                metadata: metadata::stayed(seen.metadata.as_ref()),
                durable: Durable::default(),
                journal: None,
            });
        }
        if let Some(expected) = &self.options.expected
            && expected.as_slice() != old.unwrap_or_default()
        {
            return Err(Stop::Failed(SaveError::refused(
                FailureKind::Changed,
                &place.requested,
                "it was changed by another program since it was loaded",
            )));
        }
        let links = seen.stat.as_ref().map_or(1, |stat| stat.links);
        if links > 1 {
            let why = format!("the file has {links} hard links, and a rename would split them");
            return self.in_place(place, seen, &why);
        }
        let handed = match &self.source {
            Source::Handed(_) => self.rename_handed(place, seen)?,
            Source::Bytes(_) => Handover::Copy(Strategy::Replace),
        };
        match handed {
            Handover::Done(done) => Ok(*done),
            Handover::InPlace(why) => self.in_place(place, seen, &why),
            Handover::Copy(strategy) => self.stage_and_rename(place, seen, strategy),
        }
    }

    /// `replace` and `restaged`: a file of our own beside the target, then one rename.
    fn stage_and_rename(
        &mut self,
        place: &Place,
        seen: &Seen,
        strategy: Strategy,
    ) -> Result<Done, Stop> {
        let kernel = self.kernel;
        let needed = self.source.bytes().len() as u64;
        let mut staged = match replace::create(&kernel, &place.dir) {
            Ok(staged) => staged,
            Err(attempt) if seen.stat.is_some() && replace::staging_is_closed(&attempt) => {
                let why = format!("no file can be created beside it ({})", attempt.name);
                self.attempts.push(attempt);
                return self.in_place(place, seen, &why);
            }
            Err(attempt) => {
                let mount = seen.mount.as_ref();
                return Err(checks::explain(
                    &kernel,
                    place,
                    mount,
                    "creating the staged copy",
                    &attempt,
                    needed,
                )
                .into());
            }
        };
        let filled = self.with_look(place, seen, |save, look| {
            let bytes = save.source.bytes();
            replace::fill(
                &save.kernel,
                &staged.file,
                Some(bytes),
                look,
                &mut save.warnings,
            )
        })?;
        let (metadata, file_durable) = match filled {
            Ok(filled) => filled,
            Err(StageFail::Closed { why, attempt }) => {
                self.attempts.extend(attempt);
                drop(staged);
                return self.in_place(place, seen, &why);
            }
            Err(StageFail::Fatal { step, attempt }) => {
                // Free space is counted once ours is given back.
                drop(staged);
                let mount = seen.mount.as_ref();
                return Err(checks::explain(&kernel, place, mount, step, &attempt, needed).into());
            }
        };
        self.back_up(place, seen);
        self.still_as_seen(place, seen)?;
        match replace::commit(&kernel, &place.dir, &staged.name, place) {
            Ok(true) => staged.keep(),
            Ok(false) => return Err(Stop::Moved),
            Err(attempt) if seen.stat.is_some() && replace::rename_is_closed(&attempt) => {
                let why = rename_reason(&attempt);
                self.attempts.push(attempt);
                drop(staged);
                return self.in_place(place, seen, &why);
            }
            Err(attempt) => {
                let mount = seen.mount.as_ref();
                return Err(checks::explain(
                    &kernel,
                    place,
                    mount,
                    "renaming the staged copy",
                    &attempt,
                    needed,
                )
                .into());
            }
        }
        let dir = self.sync_dir(place, &staged.file);
        let reason = match strategy {
            Strategy::Restaged => {
                "the staged file lay on another mount; copied beside the target and renamed over it"
            }
            _ if seen.stat.is_none() => "the file is new; staged beside its name and renamed to it",
            _ => "staged beside the target and renamed over it",
        };
        Ok(Done {
            strategy,
            reason: reason.to_owned(),
            metadata,
            durable: Durable {
                file: file_durable,
                dir,
            },
            journal: None,
        })
    }

    /// Call with the look that the staged file is to have.
    pub fn with_look<T>(
        &mut self,
        place: &Place,
        seen: &Seen,
        call: impl FnOnce(&mut Self, &Look<'_>) -> T,
    ) -> Result<T, Stop> {
        if let Some(want) = &seen.metadata {
            return Ok(call(self, &Look::Same(want)));
        }
        let dir = self.kernel.stat_dir(&place.dir).map_err(|attempt| {
            SaveError::call(&place.requested, "looking at the directory", attempt)
        })?;
        let mode = self.options.create_mode;
        Ok(call(self, &Look::New { mode, dir: &dir }))
    }

    /// Copy the old content, once the new one is safely staged: on a disk that is nearly full the
    /// copy must not take the room that the save needs.
    pub fn back_up(&mut self, place: &Place, seen: &Seen) {
        if let Some(old) = &seen.old {
            let made =
                backup::before_change(&self.kernel, place, old, self.options, &mut self.warnings);
            self.backup = made.or_else(|| self.backup.take());
        }
    }

    pub fn still_as_seen(&self, place: &Place, seen: &Seen) -> Result<(), Stop> {
        match replace::is_as_seen(&self.kernel, place, seen.old.as_deref()) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Stop::Moved),
            Err(attempt) => {
                Err(
                    SaveError::call(&place.requested, "looking at the target again", attempt)
                        .into(),
                )
            }
        }
    }

    fn sync_dir(&mut self, place: &Place, file: &File) -> bool {
        let synced = self.kernel.sync_dir(&place.dir, file);
        self.dir_synced(synced)
    }

    /// The new file is in place by now, so a directory that cannot be synced is a warning.
    pub fn dir_synced(&mut self, synced: Result<DirSync, Attempt>) -> bool {
        match synced {
            Ok(DirSync::Directory) => true,
            Ok(DirSync::Filesystem) => {
                self.warnings.push(
                    "the directory may not be opened, so its whole filesystem was synced instead"
                        .to_owned(),
                );
                true
            }
            Err(attempt) => {
                self.warnings.push(format!(
                    "the new file is in place, but a power cut may bring the old one back: {attempt}"
                ));
                false
            }
        }
    }

    fn report(&mut self, place: &Place, seen: &Seen, done: Done) -> SaveReport {
        let after = self.kernel.stat(&place.dir, &place.name).ok();
        let mount = match &seen.stat {
            Some(_) => seen.mount.clone(),
            None => resolve::mount_of_dir(&self.kernel, &place.dir),
        };
        let known = after.as_ref().or(seen.stat.as_ref());
        SaveReport {
            requested: place.requested.clone(),
            hops: place.hops.clone(),
            real: place.real(),
            mount,
            device: known.map(Stat::device_text).unwrap_or_default(),
            inode: Inodes {
                before: seen.stat.as_ref().map(|stat| stat.inode),
                after: after.as_ref().map(|stat| stat.inode),
            },
            links: known.map_or(1, |stat| stat.links),
            strategy: done.strategy,
            reason: done.reason,
            created: seen.stat.is_none(),
            attempts: std::mem::take(&mut self.attempts),
            metadata: done.metadata,
            durable: done.durable,
            journal: done.journal,
            recovered: std::mem::take(&mut self.recovered),
            backup: self.backup.take(),
            warnings: std::mem::take(&mut self.warnings),
            bytes: self.source.bytes().len() as u64,
            duration_us: u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX),
        }
    }
}

pub(crate) fn rename_reason(attempt: &Attempt) -> String {
    if attempt.is(Errno::BUSY) {
        "rename refused: EBUSY, the file is a mount point".to_owned()
    } else {
        format!("rename refused: {}, {}", attempt.name, attempt.text)
    }
}

/// A torn file that could not be repaired must not be built upon.
fn unsettled(place: &Place, found: &[Recovery]) -> Result<(), SaveError> {
    let real = place.real();
    let bad = found.iter().find(|recovery| {
        matches!(recovery.outcome, Outcome::Failed | Outcome::InUse)
            && recovery.target.as_ref() == Some(&real)
    });
    match bad {
        Some(bad) if bad.outcome == Outcome::InUse => Err(SaveError::refused(
            FailureKind::Locked,
            &place.requested,
            bad.detail.clone(),
        )),
        Some(bad) => Err(SaveError::refused(
            FailureKind::NeedsRecovery,
            &place.requested,
            format!(
                "an earlier save was interrupted and is not settled: {}",
                bad.detail
            ),
        )),
        None => Ok(()),
    }
}
