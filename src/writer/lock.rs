//! Keeping our own processes apart, and keeping out of the way of programs that lock.
//!
//! Responsible for: an exclusive `flock` on the directory of the real file (nothing is left behind),
//! and on the lock file of another program for the few files that have one. Not responsible for:
//! programs that take no lock; comparing before the commit is for them.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::errors::{Attempt, FailureKind, SaveError};
use super::kernel::{Dir, File, Kernel};
use super::options::Options;
use super::resolve::{Place, resolve};
use super::sys::Linux;

/// Files of Hermes that have a lock of their own: the file, the directory it is in (any, if
/// empty), its lock file, and how long Hermes itself waits for it.
const FOREIGN: [(&str, &str, &str, Duration); 2] = [
    ("auth.json", "", "auth.lock", Duration::from_secs(15)),
    ("jobs.json", "cron", ".jobs.lock", Duration::from_secs(30)),
];

/// A held lock; it ends when this is dropped, and with the process in any case.
#[derive(Debug)]
pub struct Lock {
    /// Held for its lock only.
    _files: Vec<File>,
    inode: Option<((u32, u32), u64)>,
}

/// Take the lock that a save of `target` takes, so that reading, editing and saving are one step
/// among processes of ours. Pass it on in [`Options::held`].
pub fn lock(target: &Path, options: &Options) -> Result<Lock, SaveError> {
    let kernel = Kernel(&Linux);
    let place = resolve(&kernel, target, options.create_dirs)?;
    acquire(&kernel, &place, options, &mut Vec::new())
}

pub(crate) fn acquire(
    kernel: &Kernel<'_>,
    place: &Place,
    options: &Options,
    warnings: &mut Vec<String>,
) -> Result<Lock, SaveError> {
    let seen = kernel.stat_dir(&place.dir).map_err(|attempt| {
        SaveError::call(&place.requested, "looking at the directory", attempt)
    })?;
    let inode = Some((seen.device, seen.inode));
    let mut files = Vec::new();
    if options
        .held
        .as_ref()
        .is_some_and(|held| held.inode == inode)
    {
        return Ok(Lock {
            _files: files,
            inode,
        });
    }
    // The foreign lock first: it may take long, and our own is not to be held meanwhile.
    if let Some((dir, name, wait)) = foreign(kernel, place) {
        match kernel.open(
            &dir,
            &name,
            OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW,
            0o600,
        ) {
            Ok(file) => {
                give_to_owner(kernel, &dir, &file);
                files.extend(wait_for(kernel, file, wait, place, warnings)?);
            }
            Err(attempt) => warnings.push(format!("not locked against Hermes: {attempt}")),
        }
    }
    match kernel.readable(&place.dir) {
        Ok(file) => files.extend(wait_for(kernel, file, options.lock_wait, place, warnings)?),
        Err(attempt) => match kernel
            .open_dir_path(&options.home)
            .and_then(|home| kernel.readable(&home))
        {
            Ok(file) => files.extend(wait_for(kernel, file, options.lock_wait, place, warnings)?),
            Err(_) => warnings.push(format!(
                "not locked against other processes of ours: {attempt}"
            )),
        },
    }
    Ok(Lock {
        _files: files,
        inode,
    })
}

/// A lock file that root has just created in another user's home must not lock that user out.
fn give_to_owner(kernel: &Kernel<'_>, dir: &Dir, file: &File) {
    if let (Ok(dir), Ok(have)) = (kernel.stat_dir(dir), kernel.stat_file(file))
        && have.uid == 0
        && dir.uid != 0
        && have.size == 0
    {
        // Where this is not possible, Hermes reports a file that it may not open.
        let _ = kernel.chown(file, dir.uid, dir.gid);
    }
}

/// The lock file that another program uses for this file.
fn foreign(kernel: &Kernel<'_>, place: &Place) -> Option<(Dir, OsString, Duration)> {
    let parent = place.requested.parent()?;
    let name = place.requested.file_name()?;
    let (_, _, lock, wait) = FOREIGN.iter().find(|(file, dir, _, _)| {
        name == *file && (dir.is_empty() || parent.file_name() == Some(OsStr::new(dir)))
    })?;
    Some((
        kernel.open_dir_path(parent).ok()?,
        OsString::from(lock),
        *wait,
    ))
}

fn wait_for(
    kernel: &Kernel<'_>,
    file: File,
    wait: Duration,
    place: &Place,
    warnings: &mut Vec<String>,
) -> Result<Option<File>, SaveError> {
    let started = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        match kernel.lock(&file) {
            Ok(()) => return Ok(Some(file)),
            Err(attempt) if attempt.is(Errno::WOULDBLOCK) => {
                if started.elapsed() >= wait {
                    return Err(busy(place, &file.path, wait, attempt));
                }
                std::thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(25));
            }
            Err(attempt) => {
                // A filesystem without flock; comparing before the commit still protects.
                warnings.push(format!("not locked against other processes: {attempt}"));
                return Ok(None);
            }
        }
    }
}

fn busy(place: &Place, path: &Path, wait: Duration, attempt: Attempt) -> SaveError {
    SaveError::refused(
        FailureKind::Locked,
        &place.requested,
        format!(
            "another program holds the lock on {} for more than {} s",
            path.display(),
            wait.as_secs()
        ),
    )
    .with_attempt(attempt)
}
