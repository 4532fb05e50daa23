//! From a path to the place of a file: the link chain, walked by hand.
//!
//! Responsible for: following links one at a time (each is recorded, at most 40), ending with a
//! descriptor of the real directory and the name in it, and saying why a path leads nowhere. Not
//! responsible for: whether the file found there may be written.
//!
//! The writer's own link walk must not be more generous than the kernel's: at each link the kernel
//! is asked whether it would follow it (`protected_symlinks`, `nosymfollow`).

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::errors::{Attempt, FailureKind, SaveError};
use super::kernel::{Dir, File, Kernel};
use super::report::Hop;
use super::sys::Stat;
use crate::mount::{Mount, Mounts};

/// The kernel's own limit.
const MAX_HOPS: usize = 40;

/// Where a file is, or would be.
#[derive(Debug)]
pub(crate) struct Place {
    pub requested: PathBuf,
    pub hops: Vec<Hop>,
    /// The real directory, opened with `O_PATH`.
    pub dir: Dir,
    pub name: OsString,
    /// `None` if the name does not exist.
    pub stat: Option<Stat>,
}

impl Place {
    pub fn real(&self) -> PathBuf {
        self.dir.path.join(&self.name)
    }

    /// Look at the name once more.
    pub fn refresh(&mut self, kernel: &Kernel<'_>) -> Result<(), SaveError> {
        self.stat = match kernel.stat(&self.dir, &self.name) {
            Ok(stat) => Some(stat),
            Err(attempt) if attempt.is(Errno::NOENT) => None,
            Err(attempt) => {
                return Err(SaveError::call(
                    &self.requested,
                    "looking at the target",
                    attempt,
                ));
            }
        };
        Ok(())
    }

    /// Open the file that was seen, for reading or for reading and writing, and nothing else.
    pub fn open(&self, kernel: &Kernel<'_>, access: OFlags) -> Result<File, Attempt> {
        let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        kernel.open(&self.dir, &self.name, flags, 0)
    }
}

/// Follow `target` to its real place. With `create_dirs` missing directories are made, but never
/// through a dangling link.
pub(crate) fn resolve(
    kernel: &Kernel<'_>,
    target: &Path,
    create_dirs: bool,
) -> Result<Place, SaveError> {
    let requested = std::path::absolute(target).map_err(|_| {
        SaveError::refused(
            FailureKind::ParentMissing,
            target,
            "the path is empty or has no base",
        )
    })?;
    if target.as_os_str().as_bytes().ends_with(b"/") {
        return Err(SaveError::refused(
            FailureKind::NotRegular,
            &requested,
            "the path ends in a slash, so it names a directory",
        ));
    }
    let mut walk = Walk {
        kernel: *kernel,
        requested: &requested,
        dir: kernel.open_root().map_err(|attempt| {
            SaveError::call(&requested, "opening the root directory", attempt)
        })?,
        pending: steps(&requested),
        hops: Vec::new(),
    };
    while let Some(name) = walk.pending.pop_front() {
        if !walk.pending.is_empty() || name == ".." {
            walk.descend(&name, create_dirs)?;
        } else if !walk.follow(&name)? {
            let Walk { dir, hops, .. } = walk;
            let mut place = Place {
                requested: requested.clone(),
                hops,
                dir,
                name,
                stat: None,
            };
            place.refresh(kernel)?;
            return Ok(place);
        }
    }
    Err(SaveError::refused(
        FailureKind::NotRegular,
        &requested,
        format!("{} is a directory", walk.dir.path.display()),
    ))
}

struct Walk<'a> {
    kernel: Kernel<'a>,
    requested: &'a Path,
    dir: Dir,
    pending: VecDeque<OsString>,
    hops: Vec<Hop>,
}

impl Walk<'_> {
    /// Go one directory further; a link is replaced by what it says.
    fn descend(&mut self, name: &OsStr, create: bool) -> Result<(), SaveError> {
        match self.kernel.open_dir(&self.dir, name) {
            Ok(dir) => {
                self.dir = dir;
                Ok(())
            }
            // With O_NOFOLLOW a link answers ENOTDIR or ELOOP, depending on the kernel.
            Err(attempt) if attempt.is(Errno::NOTDIR) || attempt.is(Errno::LOOP) => {
                if self.follow(name)? {
                    Ok(())
                } else {
                    let reason =
                        format!("{} is not a directory", self.dir.path.join(name).display());
                    Err(
                        SaveError::call(self.requested, "following the path", attempt)
                            .with_kind(FailureKind::ParentMissing)
                            .with_reason(reason),
                    )
                }
            }
            Err(attempt) if attempt.is(Errno::NOENT) && create => {
                match self.kernel.mkdir(&self.dir, name, 0o700) {
                    Err(attempt) if !attempt.is(Errno::EXIST) => {
                        return Err(SaveError::call(
                            self.requested,
                            "creating the directory",
                            attempt,
                        ));
                    }
                    _ => {}
                }
                self.descend(name, false)
            }
            Err(attempt) if attempt.is(Errno::NOENT) => {
                let missing = self.dir.path.join(name);
                let via = match self.hops.last() {
                    Some(hop) => format!(" (the link {} points there)", hop.link.display()),
                    None => String::new(),
                };
                Err(
                    SaveError::call(self.requested, "following the path", attempt)
                        .with_kind(FailureKind::ParentMissing)
                        .with_reason(format!(
                            "the directory {} does not exist{via}",
                            missing.display()
                        )),
                )
            }
            Err(attempt) => Err(SaveError::call(
                self.requested,
                "following the path",
                attempt,
            )),
        }
    }

    /// If `name` is a link, record it, queue what it says, and answer true.
    fn follow(&mut self, name: &OsStr) -> Result<bool, SaveError> {
        let text = match self.kernel.readlink(&self.dir, name) {
            Ok(text) => text,
            // Not a link, or not there at all.
            Err(attempt) if attempt.is(Errno::INVAL) || attempt.is(Errno::NOENT) => {
                return Ok(false);
            }
            Err(attempt) => return Err(SaveError::call(self.requested, "reading a link", attempt)),
        };
        let link = self.dir.path.join(name);
        self.hops.push(Hop {
            link: link.clone(),
            to: PathBuf::from(&text),
        });
        if self.hops.len() > MAX_HOPS {
            return Err(self.looping(&link, None));
        }
        match self.would_follow(name) {
            Err(attempt) if attempt.is(Errno::LOOP) => {
                return Err(match self.unfollowed() {
                    Some(point) => self.forbidden(&link, attempt, &format!(": {point}")),
                    None => self.looping(&link, Some(attempt)),
                });
            }
            Err(attempt) if attempt.is(Errno::ACCESS) => {
                return Err(self.forbidden(&link, attempt, ""));
            }
            // Whatever else is wrong with the link's target shows when the walk gets there.
            _ => {}
        }
        let target = PathBuf::from(text);
        if target.is_absolute() {
            self.dir = self.kernel.open_root().map_err(|attempt| {
                SaveError::call(self.requested, "opening the root directory", attempt)
            })?;
        }
        for step in steps(&target).into_iter().rev() {
            self.pending.push_front(step);
        }
        Ok(true)
    }

    /// Ask the kernel whether it follows a link to its end. When another process renames something
    /// meanwhile, Linux walks the chain again without starting its count of links anew, so a long
    /// chain answers ELOOP now and then; only an answer that stays is believed.
    fn would_follow(&self, name: &OsStr) -> Result<(), Attempt> {
        const TRIES: usize = 20;
        let mut answer = Ok(());
        for _ in 0..TRIES {
            answer = self.kernel.open(&self.dir, name, OFlags::PATH, 0).map(drop);
            if !matches!(&answer, Err(attempt) if attempt.is(Errno::LOOP)) {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        answer
    }

    /// The mount that is mounted so that no link on it is followed, if this is why.
    fn unfollowed(&self) -> Option<String> {
        let mount = mount_of_dir(&self.kernel, &self.dir)?;
        mount
            .options
            .split(',')
            .any(|option| option == "nosymfollow")
            .then(|| format!("{} is mounted nosymfollow", mount.point.display()))
    }

    fn forbidden(&self, link: &Path, attempt: Attempt, why: &str) -> SaveError {
        SaveError::call(self.requested, "following a link", attempt)
            .with_kind(FailureKind::NotWritable)
            .with_reason(format!(
                "the kernel does not let this user follow the link {}{why}",
                link.display()
            ))
    }

    fn looping(&self, link: &Path, attempt: Option<Attempt>) -> SaveError {
        let error = SaveError::refused(
            FailureKind::Loop,
            self.requested,
            format!(
                "too many levels of links: {} leads in a loop",
                link.display()
            ),
        );
        match attempt {
            Some(attempt) => error.with_attempt(attempt),
            None => error,
        }
    }
}

fn steps(path: &Path) -> VecDeque<OsString> {
    path.components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some(OsString::from("..")),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
        })
        .collect()
}

/// The mount that holds a place: by the id that `statx` gave, else by path.
pub(crate) fn mount_of(kernel: &Kernel<'_>, place: &Place) -> Option<Mount> {
    // Without /proc the report has no mount; a save must not fail for that.
    let mounts = Mounts::parse(&kernel.mountinfo().ok()?);
    let id = match &place.stat {
        Some(stat) => stat.mount,
        None => kernel.stat_dir(&place.dir).ok()?.mount,
    };
    id.and_then(|id| mounts.by_id(id))
        .or_else(|| mounts.holding(&place.real()))
        .cloned()
}

/// The mount that holds an open directory.
pub(crate) fn mount_of_dir(kernel: &Kernel<'_>, dir: &Dir) -> Option<Mount> {
    let mounts = Mounts::parse(&kernel.mountinfo().ok()?);
    let id = kernel.stat_dir(dir).ok()?.mount;
    id.and_then(|id| mounts.by_id(id))
        .or_else(|| mounts.holding(&dir.path))
        .cloned()
}
