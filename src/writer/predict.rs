//! What a save would do: looked up (`predict`) or tried up to the last step (`probe`).
//!
//! Responsible for: the Storage tab's view of a file and the strategy before a save. Not responsible
//! for: saving. A prediction reads only; a probe creates and removes files of its own, and neither
//! opens the target for writing.

use std::ffi::OsStr;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, OFlags};
use rustix::io::Errno;

use super::checks;
use super::errors::{Attempt, FailureKind, SaveError};
use super::journal;
use super::kernel::{Kernel, Step};
use super::metadata::{self, ACL, Metadata, is_plain};
use super::options::Options;
use super::replace::{self, Look, StageFail};
use super::report::{Prediction, Strategy, Target};
use super::resolve::{self, Place};
use super::sys::{Linux, Stat};
use crate::mount::Mount;

/// The link chain, mount and metadata of a file, for showing.
pub fn observe(target: &Path) -> Result<Target, SaveError> {
    let kernel = Kernel(&Linux);
    let place = resolve::resolve(&kernel, target, false)?;
    let mount = resolve::mount_of(&kernel, &place);
    Ok(describe(&kernel, &place, mount))
}

/// What a save of `target` would do. Nothing is written, created or locked.
pub fn predict(target: &Path, options: &Options) -> Prediction {
    foresee(target, options, false)
}

/// The same, proved: a staged file of the target's size is created where a save would create it,
/// given the target's metadata, and removed. The target itself is not touched.
pub fn probe(target: &Path, options: &Options) -> Prediction {
    foresee(target, options, true)
}

fn describe(kernel: &Kernel<'_>, place: &Place, mount: Option<Mount>) -> Target {
    let stat = place.stat.as_ref();
    let file = stat
        .filter(|stat| stat.is_file())
        .and_then(|_| place.open(kernel, OFlags::RDONLY).ok());
    let names = file
        .as_ref()
        .and_then(|file| kernel.xattr_names(file).ok())
        .unwrap_or_default();
    // A file mounted singly is not on its directory's filesystem.
    let space = match &file {
        Some(file) => kernel.space(file.fd.as_fd(), &file.path),
        None => kernel.space(place.dir.fd.as_fd(), &place.dir.path),
    }
    .ok();
    let dir_device = || {
        kernel
            .stat_dir(&place.dir)
            .map(|dir| dir.device_text())
            .unwrap_or_default()
    };
    Target {
        requested: place.requested.clone(),
        hops: place.hops.clone(),
        real: place.real(),
        mount,
        mount_root: is_mount_root(stat),
        exists: stat.is_some(),
        device: stat.map_or_else(dir_device, Stat::device_text),
        inode: stat.map(|stat| stat.inode),
        links: stat.map(|stat| stat.links),
        size: stat.map(|stat| stat.size),
        mode: stat.map(Stat::permissions),
        uid: stat.map(|stat| stat.uid),
        gid: stat.map(|stat| stat.gid),
        acl: names.iter().any(|name| name == ACL),
        xattrs: names
            .iter()
            .filter(|name| is_plain(name))
            .map(|name| name.to_string_lossy().into_owned())
            .collect(),
        free_bytes: space.map(|space| space.free),
        free_inodes: space.and_then(|space| space.inodes),
    }
}

fn is_mount_root(stat: Option<&Stat>) -> bool {
    stat.is_some_and(|stat| stat.mount_root == Some(true))
}

/// A way and the reason for it, or why there is none.
type Foreseen = Result<(Strategy, String), SaveError>;

fn foresee(target: &Path, options: &Options, prove: bool) -> Prediction {
    let kernel = Kernel(&Linux);
    let mut attempts = Vec::new();
    let mut found = None;
    let mut journal = None;
    let way: Foreseen = (|| {
        let place = resolve::resolve(&kernel, target, false)?;
        let mount = resolve::mount_of(&kernel, &place);
        found = Some(describe(&kernel, &place, mount.clone()));
        checks::check(&kernel, &place, mount.as_ref())?;
        let metadata = read_metadata(&kernel, &place)?;
        let mut way = guess(&kernel, &place, mount.as_ref())?;
        if prove {
            way = try_staging(
                &kernel,
                &place,
                mount.as_ref(),
                metadata.as_ref(),
                options,
                way,
                &mut attempts,
            )?;
        }
        if way.0 == Strategy::InPlace {
            journal = Some(journal_place(&kernel, &place, options, prove)?);
        }
        Ok(way)
    })();
    match way {
        Ok((strategy, reason)) => Prediction {
            target: found,
            strategy: Some(strategy),
            reason,
            refusal: None,
            proven: prove,
            attempts,
            journal,
        },
        Err(error) => Prediction {
            target: found,
            strategy: None,
            reason: error.reason.clone(),
            refusal: Some(error),
            proven: prove,
            attempts,
            journal: None,
        },
    }
}

fn read_metadata(kernel: &Kernel<'_>, place: &Place) -> Result<Option<Metadata>, SaveError> {
    let Some(stat) = &place.stat else {
        return Ok(None);
    };
    let unreadable = |attempt: Attempt| {
        let kind = if attempt.is(Errno::ACCESS) {
            FailureKind::Unreadable
        } else {
            FailureKind::Io
        };
        SaveError::call(&place.requested, "reading the file", attempt).with_kind(kind)
    };
    let file = place.open(kernel, OFlags::RDONLY).map_err(unreadable)?;
    metadata::capture(kernel, &file, stat)
        .map(Some)
        .map_err(unreadable)
}

/// The way a save would take, by the same conditions, without trying.
fn guess(kernel: &Kernel<'_>, place: &Place, mount: Option<&Mount>) -> Foreseen {
    let dir_open = kernel.access(
        &place.dir,
        OsStr::new("."),
        Access::WRITE_OK | Access::EXEC_OK,
    );
    let dir = kernel.stat_dir(&place.dir).map_err(|attempt| {
        SaveError::call(&place.requested, "looking at the directory", attempt)
    })?;
    let Some(stat) = &place.stat else {
        return match dir_open {
            Ok(()) => Ok((
                Strategy::Replace,
                "the file is new and can be created there".to_owned(),
            )),
            Err(attempt) => Err(checks::explain(
                kernel,
                place,
                mount,
                "looking whether the file can be created",
                &attempt,
                0,
            )),
        };
    };
    let me = rustix::process::geteuid().as_raw();
    let in_place = |why: String| Ok((Strategy::InPlace, why));
    if stat.links > 1 {
        return in_place(format!(
            "the file has {} hard links, and a rename would split them: in place, under a journal",
            stat.links
        ));
    }
    if is_mount_root(Some(stat)) {
        return in_place(
            "rename is impossible here (mount point): in place, under a journal".to_owned(),
        );
    }
    if let Err(attempt) = dir_open {
        return in_place(format!(
            "no file can be created beside it ({}): in place, under a journal",
            attempt.name
        ));
    }
    if dir.immutable || dir.append_only {
        return in_place(
            "the directory is immutable or append-only: in place, under a journal".to_owned(),
        );
    }
    let sticky = dir.mode & 0o1000 != 0;
    if sticky && me != 0 && me != dir.uid && me != stat.uid {
        return in_place(
            "the directory is sticky and the file another user's: in place, under a journal"
                .to_owned(),
        );
    }
    if me != 0 && (stat.uid != me || !in_group(stat.gid)) {
        return in_place(format!(
            "owner {}:{} cannot be given to a new file: in place, under a journal",
            stat.uid, stat.gid
        ));
    }
    Ok((
        Strategy::Replace,
        "staged beside the target and renamed over it".to_owned(),
    ))
}

fn in_group(gid: u32) -> bool {
    rustix::process::getegid().as_raw() == gid
        || rustix::process::getgroups()
            .is_ok_and(|groups| groups.iter().any(|group| group.as_raw() == gid))
}

/// Stage a file of the target's size and look, and remove it.
fn try_staging(
    kernel: &Kernel<'_>,
    place: &Place,
    mount: Option<&Mount>,
    metadata: Option<&Metadata>,
    options: &Options,
    way: (Strategy, String),
    attempts: &mut Vec<Attempt>,
) -> Foreseen {
    if place.stat.as_ref().is_some_and(|stat| stat.links > 1) {
        return Ok(way);
    }
    let size = place.stat.as_ref().map_or(0, |stat| stat.size);
    let exists = place.stat.is_some();
    let staged = match replace::create(kernel, &place.dir) {
        Ok(staged) => staged,
        Err(attempt) if exists && replace::staging_is_closed(&attempt) => {
            let why = format!(
                "no file can be created beside it ({}): in place, under a journal",
                attempt.name
            );
            attempts.push(attempt);
            return Ok((Strategy::InPlace, why));
        }
        Err(attempt) => {
            return Err(checks::explain(
                kernel,
                place,
                mount,
                "creating a staged copy",
                &attempt,
                size,
            ));
        }
    };
    let zeros = vec![0u8; usize::try_from(size).unwrap_or(0)];
    let dir = kernel.stat_dir(&place.dir).map_err(|attempt| {
        SaveError::call(&place.requested, "looking at the directory", attempt)
    })?;
    let look = match metadata {
        Some(want) => Look::Same(want),
        None => Look::New {
            mode: options.create_mode,
            dir: &dir,
        },
    };
    let filled = replace::fill(kernel, &staged.file, Some(&zeros), &look, &mut Vec::new());
    drop(staged);
    match filled {
        // Only the rename itself is left; a mount point is known to refuse it.
        Ok(_) => Ok(way),
        Err(StageFail::Closed { why, attempt }) => {
            attempts.extend(attempt);
            Ok((
                Strategy::InPlace,
                format!("{why}: in place, under a journal"),
            ))
        }
        Err(StageFail::Fatal { step, attempt }) => {
            Err(checks::explain(kernel, place, mount, step, &attempt, size))
        }
    }
}

/// The directory that would take the journal.
fn journal_place(
    kernel: &Kernel<'_>,
    place: &Place,
    options: &Options,
    prove: bool,
) -> Result<PathBuf, SaveError> {
    let size = place.stat.as_ref().map_or(0, |stat| stat.size);
    let zeros = vec![0u8; usize::try_from(size.saturating_mul(2)).unwrap_or(0)];
    let usable = |path: &Path| -> Step<()> {
        // The state directory is created when it is needed; until then its parent decides.
        let mut path = path;
        if options.state_dir.as_deref() == Some(path) {
            while let (Err(_), Some(parent)) = (kernel.open_dir_path(path), path.parent()) {
                path = parent;
            }
        }
        let dir = kernel.open_dir_path(path)?;
        if !prove {
            return kernel.access(&dir, OsStr::new("."), Access::WRITE_OK | Access::EXEC_OK);
        }
        let staged = replace::create(kernel, &dir)?;
        kernel.write_all(&staged.file, &zeros)
    };
    let mut last = None;
    for path in journal::places(kernel, place, options) {
        match usable(&path) {
            Ok(()) => return Ok(path),
            Err(attempt) => last = Some(attempt),
        }
    }
    let step = "looking for a place for the journal";
    Err(match last {
        Some(attempt) => checks::explain(kernel, place, None, step, &attempt, zeros.len() as u64),
        None => SaveError::refused(
            FailureKind::NotWritable,
            &place.requested,
            "there is no place for a journal",
        ),
    })
}
