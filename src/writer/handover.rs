//! A staged file that the caller made: renaming it over the target, and removing it afterwards.
//!
//! Responsible for: the first rung of [`atomic_replace`](super::atomic_replace), and for touching
//! the caller's file only when the save has succeeded. Not responsible for: the rungs below.

use std::ffi::OsString;
use std::path::PathBuf;

use rustix::io::Errno;

use super::checks;
use super::kernel::{Dir, File};
use super::replace::{self, StageFail};
use super::report::{Durable, MetadataReport, Strategy};
use super::resolve::Place;
use super::strategy::{Done, Save, Seen, Source, Stop, rename_reason};
use super::sys::Stat;

/// A caller's staged file.
pub(crate) struct Handed {
    pub path: PathBuf,
    pub dir: Dir,
    pub name: OsString,
    pub file: File,
    pub stat: Stat,
    pub bytes: Vec<u8>,
}

/// What became of the rename of a handed file.
pub(crate) enum Handover {
    Done(Box<Done>),
    InPlace(String),
    Copy(Strategy),
}

impl Save<'_> {
    /// Rename the caller's staged file over the target, if that can work.
    pub fn rename_handed(&mut self, place: &Place, seen: &Seen) -> Result<Handover, Stop> {
        let kernel = self.kernel;
        let Source::Handed(handed) = &self.source else {
            return Ok(Handover::Copy(Strategy::Replace));
        };
        if handed.stat.links > 1 {
            self.warnings
                .push("the staged file has other hard links, so it was copied".to_owned());
            return Ok(Handover::Copy(Strategy::Restaged));
        }
        let dir_mount = kernel.stat_dir(&place.dir).ok().and_then(|stat| stat.mount);
        let other_mount =
            dir_mount.is_some() && handed.stat.mount.is_some() && dir_mount != handed.stat.mount;
        let mut prepared = None;
        if !other_mount {
            // On one mount the file lies where others see it anyway; it gets the target's look
            // before it becomes the target.
            let filled = self.with_look(place, seen, |save, look| {
                let Source::Handed(handed) = &save.source else {
                    return None;
                };
                Some(replace::fill(
                    &save.kernel,
                    &handed.file,
                    None,
                    look,
                    &mut save.warnings,
                ))
            })?;
            match filled {
                Some(Ok(filled)) => prepared = Some(filled),
                Some(Err(StageFail::Closed { why, attempt })) if seen.stat.is_some() => {
                    self.attempts.extend(attempt);
                    return Ok(Handover::InPlace(why));
                }
                Some(Err(
                    StageFail::Closed {
                        attempt: Some(attempt),
                        ..
                    }
                    | StageFail::Fatal { attempt, .. },
                )) => {
                    let step = "preparing the staged file";
                    let mount = seen.mount.as_ref();
                    return Err(checks::explain(&kernel, place, mount, step, &attempt, 0).into());
                }
                _ => {}
            }
        }
        self.back_up(place, seen);
        self.still_as_seen(place, seen)?;
        let Source::Handed(handed) = &self.source else {
            return Ok(Handover::Copy(Strategy::Replace));
        };
        match replace::commit(&kernel, &handed.dir, &handed.name, place) {
            Ok(true) => {}
            Ok(false) => return Err(Stop::Moved),
            Err(attempt) if attempt.is(Errno::BUSY) && seen.stat.is_some() => {
                let why = rename_reason(&attempt);
                self.attempts.push(attempt);
                return Ok(Handover::InPlace(why));
            }
            Err(attempt)
                if [Errno::XDEV, Errno::PERM, Errno::ACCESS, Errno::ROFS]
                    .iter()
                    .any(|errno| attempt.is(*errno)) =>
            {
                self.attempts.push(attempt);
                return Ok(Handover::Copy(Strategy::Restaged));
            }
            Err(attempt) => {
                let mount = seen.mount.as_ref();
                return Err(checks::explain(
                    &kernel,
                    place,
                    mount,
                    "renaming the staged file",
                    &attempt,
                    0,
                )
                .into());
            }
        }
        self.consumed = true;
        let (metadata, file_durable) = match prepared {
            Some(prepared) => prepared,
            // The mounts looked different and were not; the look follows now.
            None => self.dress_renamed(place, seen)?,
        };
        let dir = match &self.source {
            Source::Handed(handed) => {
                let synced = kernel.sync_dir(&place.dir, &handed.file);
                self.dir_synced(synced)
            }
            Source::Bytes(_) => false,
        };
        Ok(Handover::Done(Box::new(Done {
            strategy: Strategy::Replace,
            reason: "the staged file was renamed over the target".to_owned(),
            metadata,
            durable: Durable {
                file: file_durable,
                dir,
            },
            journal: None,
        })))
    }

    /// Give the target's look to a handed file that has taken its place already.
    fn dress_renamed(
        &mut self,
        place: &Place,
        seen: &Seen,
    ) -> Result<(MetadataReport, bool), Stop> {
        let filled = self.with_look(place, seen, |save, look| match &save.source {
            Source::Handed(handed) => Some(replace::fill(
                &save.kernel,
                &handed.file,
                None,
                look,
                &mut save.warnings,
            )),
            Source::Bytes(_) => None,
        })?;
        if let Some(Ok(filled)) = filled {
            return Ok(filled);
        }
        self.warnings.push(
            "the staged file was renamed, but mode and owner of the target could not be kept"
                .to_owned(),
        );
        Ok((MetadataReport::none("the staged file kept its own"), false))
    }

    /// Remove the caller's staged file, now that its content is in the target.
    pub fn clean_up(&mut self) {
        let Source::Handed(handed) = &self.source else {
            return;
        };
        if self.consumed {
            return;
        }
        let result = match self.kernel.stat(&handed.dir, &handed.name) {
            Ok(stat) if stat.same_file(&handed.stat) => {
                self.kernel.unlink(&handed.dir, &handed.name)
            }
            Ok(_) => Ok(()),
            Err(attempt) => Err(attempt),
        };
        match result {
            Err(attempt) if !attempt.is(Errno::NOENT) => self.warnings.push(format!(
                "the save succeeded, but {} could not be removed: {attempt}",
                handed.path.display()
            )),
            _ => {}
        }
    }
}
