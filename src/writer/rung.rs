//! The rung of the ladder that writes in place: when it is open, and how it is reported.
//!
//! Responsible for: running a [`Rewrite`] and telling its result or failure in the
//! words of the report. Not responsible for: the order of its steps.

use rustix::io::Errno;

use super::errors::{FailureKind, Intact, SaveError};
use super::in_place::{InPlaceFail, Rewrite};
use super::metadata;
use super::report::{Durable, Fate, Strategy};
use super::resolve::Place;
use super::strategy::{Done, Save, Seen, Stop};
use super::{backup, checks};

impl Save<'_> {
    pub fn in_place(&mut self, place: &Place, seen: &Seen, why: &str) -> Result<Done, Stop> {
        let (Some(old), Some(stat)) = (&seen.old, &seen.stat) else {
            return Err(SaveError::refused(
                FailureKind::NotWritable,
                &place.requested,
                format!("the file does not exist and cannot be created: {why}"),
            )
            .into());
        };
        let kernel = self.kernel;
        let new = self.source.bytes();
        let rewrite = Rewrite {
            kernel,
            place,
            seen: stat,
            old,
            new,
            mount: seen.mount.as_ref(),
            options: self.options,
        };
        let mut backup = None;
        let result = rewrite.run(&mut self.warnings, |warnings| {
            backup = backup::before_change(&kernel, place, old, self.options, warnings);
        });
        self.backup = backup.or_else(|| self.backup.take());
        match result {
            Ok(journal) => {
                let mut metadata = metadata::stayed(seen.metadata.as_ref());
                if let Ok(now) = kernel.stat(&place.dir, &place.name)
                    && now.permissions() != stat.permissions()
                {
                    // The kernel clears set-id bits of a file that is written to.
                    metadata.mode = Fate::lost(format!(
                        "it is {:04o} now, it was {:04o}",
                        now.permissions(),
                        stat.permissions()
                    ));
                }
                Ok(Done {
                    strategy: Strategy::InPlace,
                    reason: format!(
                        "{why}; written into the existing file under a journal, verified"
                    ),
                    metadata,
                    // The name was not touched, so it is as durable as it was.
                    durable: Durable {
                        file: true,
                        dir: true,
                    },
                    journal: Some(journal),
                })
            }
            Err(InPlaceFail::Moved) => Err(Stop::Moved),
            Err(InPlaceFail::Failed(error)) => {
                let grown = (new.len() as u64).saturating_sub(old.len() as u64);
                let about_file = error
                    .attempt
                    .as_ref()
                    .is_none_or(|attempt| attempt.path == place.real());
                let needed = if about_file {
                    grown
                } else {
                    (old.len() + new.len()) as u64
                };
                let explained = match &error.attempt {
                    Some(attempt)
                        if error.intact == Intact::NothingChanged
                            && (attempt.is(Errno::ROFS)
                                || attempt.is(Errno::ACCESS)
                                || attempt.is(Errno::PERM)) =>
                    {
                        let step = error.step.clone();
                        let attempts = error.attempts.clone();
                        checks::explain(&kernel, place, seen.mount.as_ref(), &step, attempt, needed)
                            .with_attempts(attempts)
                    }
                    _ => checks::with_space(&kernel, place, error, needed),
                };
                Err(explained.into())
            }
        }
    }
}
