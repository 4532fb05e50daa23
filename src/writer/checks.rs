//! What has to be true of a target before anything is touched, and errors that say why not.
//!
//! Responsible for: the refusals (type, deleted, attributes, permission, read-only) and for adding
//! mount and free space to a failure. Not responsible for: choosing a way to write.

use std::os::fd::AsFd;

use rustix::fs::Access;
use rustix::io::Errno;

use super::errors::{Attempt, FailureKind, SaveError, Shortage};
use super::kernel::{Dir, Kernel};
use super::resolve::{Place, mount_of, mount_of_dir};
use super::sys::Stat;
use crate::mount::Mount;

/// Refuse what must not be written, in the order of how much it explains.
pub(crate) fn check(
    kernel: &Kernel<'_>,
    place: &Place,
    mount: Option<&Mount>,
) -> Result<(), SaveError> {
    let Some(stat) = &place.stat else {
        return Ok(());
    };
    let real = place.real();
    let refuse = |kind, reason: String| Err(SaveError::refused(kind, &place.requested, reason));
    if !stat.is_file() {
        return refuse(
            FailureKind::NotRegular,
            format!(
                "{} is {}, not a regular file",
                real.display(),
                kind_word(stat)
            ),
        );
    }
    if stat.links == 0 {
        return refuse(
            FailureKind::Deleted,
            format!(
                "the file shown at {} was deleted where it comes from; what is written to it would vanish",
                real.display()
            ),
        );
    }
    if stat.immutable {
        return refuse(
            FailureKind::Immutable,
            format!("{} is immutable (chattr +i)", real.display()),
        );
    }
    if stat.append_only {
        return refuse(
            FailureKind::AppendOnly,
            format!("{} is append-only (chattr +a)", real.display()),
        );
    }
    // Asked, not tried: opening for writing makes OverlayFS copy the file up.
    match kernel.access(&place.dir, &place.name, Access::WRITE_OK) {
        Ok(()) => Ok(()),
        Err(attempt) if attempt.is(Errno::NOSYS) || attempt.is(Errno::INVAL) => Ok(()),
        Err(attempt) => Err(explain(
            kernel,
            place,
            mount,
            "checking the permission to write",
            &attempt,
            0,
        )),
    }
}

fn kind_word(stat: &Stat) -> &'static str {
    match stat.kind() {
        0o040_000 => "a directory",
        0o010_000 => "a FIFO",
        0o140_000 => "a socket",
        0o020_000 => "a character device",
        0o060_000 => "a block device",
        _ => "something else",
    }
}

/// An error about a failed call, with the reason that a person would name: the mount that is
/// read-only, the disk that is full, the user who may not.
pub(crate) fn explain(
    kernel: &Kernel<'_>,
    place: &Place,
    mount: Option<&Mount>,
    step: &str,
    attempt: &Attempt,
    needed: u64,
) -> SaveError {
    let error = SaveError::call(&place.requested, step, attempt.clone());
    if attempt.is(Errno::ROFS) {
        // The mount of the call's own file: a writable file may be mounted in a read-only directory.
        let of_dir = mount_of_dir(kernel, &place.dir);
        let mount = if attempt.path == place.real() {
            mount
        } else {
            of_dir.as_ref()
        };
        return error.with_reason(match mount {
            Some(mount) => format!(
                "{} is read-only: mount {} ({}, {}, {})",
                attempt.path.display(),
                mount.point.display(),
                mount.fs_type,
                mount.source,
                mount.options
            ),
            None => format!("{} is on a read-only filesystem", attempt.path.display()),
        });
    }
    if attempt.is(Errno::ACCESS) || attempt.is(Errno::PERM) {
        let who = rustix::process::geteuid().as_raw();
        let owner = match &place.stat {
            Some(stat) => format!(
                " (owner {}:{}, mode {:04o})",
                stat.uid,
                stat.gid,
                stat.permissions()
            ),
            None => String::new(),
        };
        let reason = format!("user {who} may not do that{owner}: {attempt}");
        return error
            .with_kind(FailureKind::NotWritable)
            .with_reason(reason);
    }
    with_space(kernel, place, error, needed)
}

/// Add free space and mount to an error about a full disk.
pub(crate) fn with_space(
    kernel: &Kernel<'_>,
    place: &Place,
    error: SaveError,
    needed: u64,
) -> SaveError {
    if error.kind != FailureKind::NoSpace {
        return error;
    }
    // The filesystem of the failed call: the journal may lie elsewhere.
    let failed = error
        .attempt
        .as_ref()
        .and_then(|attempt| attempt.path.parent());
    let elsewhere = failed
        .filter(|path| *path != place.dir.path)
        .and_then(|path| kernel.open_dir_path(path).ok());
    let shortage = match (&elsewhere, &place.stat) {
        (Some(dir), _) => shortage(kernel, dir, mount_of_dir(kernel, dir), needed),
        // A file mounted singly: its filesystem is not the directory's.
        (None, Some(_))
            if error
                .attempt
                .as_ref()
                .is_none_or(|attempt| attempt.path == place.real()) =>
        {
            let file = place.open(kernel, rustix::fs::OFlags::PATH).ok();
            file.and_then(|file| {
                let space = kernel.space(file.fd.as_fd(), &file.path).ok()?;
                Some(fill(space, mount_of(kernel, place), needed))
            })
        }
        _ => shortage(kernel, &place.dir, mount_of_dir(kernel, &place.dir), needed),
    };
    match shortage {
        Some(shortage) => error.with_space(shortage),
        None => error,
    }
}

fn shortage(kernel: &Kernel<'_>, dir: &Dir, mount: Option<Mount>, needed: u64) -> Option<Shortage> {
    let space = kernel.space(dir.fd.as_fd(), &dir.path).ok()?;
    Some(fill(space, mount, needed))
}

fn fill(space: super::sys::Space, mount: Option<Mount>, needed: u64) -> Shortage {
    let (point, fs_type) = match mount {
        Some(mount) => (mount.point, mount.fs_type),
        None => (std::path::PathBuf::from("?"), "unknown".to_owned()),
    };
    Shortage {
        needed: needed.div_ceil(space.block) * space.block,
        free: space.free,
        free_inodes: space.inodes,
        mount: point,
        fs_type,
    }
}
