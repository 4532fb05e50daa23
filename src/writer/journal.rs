//! The journal of an in-place write: both versions of the file, on disk before the first byte moves.
//!
//! Responsible for: its format, where it lies, writing it durably, reading it back. Not responsible
//! for: acting on one that was found; see `recovery`.
//!
//! ```text
//! hermes-tui journal 1\n
//! {"target": hex of the real path, "device": …, "inode": …, "old_len": …, "old_sha256": …, …}\n
//! <old bytes><new bytes>
//! \n<SHA-256 of everything before, in hex>\n
//! ```

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::errors::Attempt;
use super::kernel::{Dir, File, Kernel, Step};
use super::options::Options;
use super::report::{JournalReport, Survives};
use super::resolve::{Place, mount_of_dir};
use super::sys::Stat;
use super::{recovery, replace};
use crate::mount::Mount;

const MAGIC: &[u8] = b"hermes-tui journal 1\n";
/// The ending of journals.
pub(crate) const JOURNAL: &str = "journal";

/// The header line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Header {
    /// The real path in hex: it may hold any byte.
    target: String,
    /// The same, for people.
    pub shown: String,
    pub device: String,
    pub inode: u64,
    pub old_len: u64,
    pub new_len: u64,
    pub old_sha256: String,
    pub new_sha256: String,
    /// Seconds since 1970.
    pub since: u64,
}

impl Header {
    pub fn target(&self) -> Option<PathBuf> {
        let bytes: Option<Vec<u8>> = self
            .target
            .as_bytes()
            .chunks(2)
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
            .collect();
        bytes.map(|bytes| PathBuf::from(OsString::from_vec(bytes)))
    }
}

/// A journal that was read and whose checksums are right.
#[derive(Debug)]
pub(crate) struct Journal {
    pub header: Header,
    pub target: PathBuf,
    pub old: Vec<u8>,
    pub new: Vec<u8>,
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
            let _ = write!(out, "{byte:02x}");
            out
        })
}

pub(crate) fn encode(real: &Path, stat: &Stat, old: &[u8], new: &[u8]) -> Vec<u8> {
    let header = Header {
        target: hex(real.as_os_str().as_bytes()),
        shown: real.to_string_lossy().into_owned(),
        device: stat.device_text(),
        inode: stat.inode,
        old_len: old.len() as u64,
        new_len: new.len() as u64,
        old_sha256: sha256(old),
        new_sha256: sha256(new),
        since: SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_secs()),
    };
    let mut out = MAGIC.to_vec();
    // A struct of strings and numbers always has a JSON form.
    out.extend(serde_json::to_vec(&header).unwrap_or_default());
    out.push(b'\n');
    out.extend_from_slice(old);
    out.extend_from_slice(new);
    let sum = sha256(&out);
    out.push(b'\n');
    out.extend_from_slice(sum.as_bytes());
    out.push(b'\n');
    out
}

/// Read a journal; the error says in words what is wrong with it.
pub(crate) fn decode(bytes: &[u8]) -> Result<Journal, String> {
    let damaged = |what: &str| format!("the journal is damaged: {what}");
    // "\n" + 64 hex digits + "\n"
    let split = bytes
        .len()
        .checked_sub(66)
        .ok_or_else(|| damaged("it is too short"))?;
    let (body, tail) = bytes.split_at(split);
    if tail != format!("\n{}\n", sha256(body)).as_bytes() {
        return Err(damaged("its checksum is wrong"));
    }
    let rest = body
        .strip_prefix(MAGIC)
        .ok_or_else(|| damaged("it has an unknown format"))?;
    let end = rest
        .iter()
        .position(|byte| *byte == b'\n')
        .ok_or_else(|| damaged("it has no header"))?;
    let (line, data) = (&rest[..end], &rest[end + 1..]);
    let header: Header =
        serde_json::from_slice(line).map_err(|_| damaged("its header cannot be read"))?;
    let old_len = usize::try_from(header.old_len).map_err(|_| damaged("a length is too large"))?;
    let (old, new) = data
        .split_at_checked(old_len)
        .ok_or_else(|| damaged("it is shorter than its header says"))?;
    if new.len() as u64 != header.new_len
        || sha256(old) != header.old_sha256
        || sha256(new) != header.new_sha256
    {
        return Err(damaged("its content is not what its header says"));
    }
    let target = header
        .target()
        .filter(|path| path.is_absolute())
        .ok_or_else(|| damaged("its path cannot be read"))?;
    Ok(Journal {
        target,
        old: old.to_vec(),
        new: new.to_vec(),
        header,
    })
}

/// A journal on disk, its lock held: other processes see that its writer lives.
pub(crate) struct Written {
    pub dir: Dir,
    pub name: OsString,
    pub report: JournalReport,
    file: Rc<File>,
}

impl Written {
    pub fn path(&self) -> PathBuf {
        self.dir.path.join(&self.name)
    }

    /// Remove the journal durably. Failing is harmless: the file is whole, so the next run drops it.
    pub fn remove(self, kernel: &Kernel<'_>, warnings: &mut Vec<String>) {
        if let Err(attempt) = kernel.unlink(&self.dir, &self.name) {
            warnings.push(format!(
                "the journal could not be removed, the next run drops it: {attempt}"
            ));
        } else if let Err(attempt) = kernel.sync_dir(&self.dir, &self.file) {
            warnings.push(format!(
                "the removal of the journal was not synced: {attempt}"
            ));
        }
    }
}

/// Directories that may hold the journal of a place, best first.
///
/// Best is a directory on the file's own filesystem, so that the journal lives as long as the file;
/// but only one that the next start looks into: the home, and the directories that links in it lead
/// to. The file's own directory comes last for a file that nothing in the home leads to.
pub(crate) fn places(kernel: &Kernel<'_>, place: &Place, options: &Options) -> Vec<PathBuf> {
    let device = place.stat.as_ref().map(|stat| stat.device);
    let on_device = |path: &Path| {
        kernel
            .open_dir_path(path)
            .and_then(|dir| kernel.stat_dir(&dir))
            .ok()
            .map(|stat| stat.device)
            == device
    };
    let own = place.dir.path.clone();
    let found_at_start = || {
        let searched = recovery::search_dirs(kernel, options);
        let inode = |path: &Path| {
            let stat = kernel
                .open_dir_path(path)
                .and_then(|dir| kernel.stat_dir(&dir));
            stat.ok().map(|stat| (stat.device, stat.inode))
        };
        let own = inode(&own);
        own.is_some() && searched.iter().any(|path| inode(path) == own)
    };
    let mut out = Vec::new();
    if on_device(&options.home) {
        out.push(options.home.clone());
    }
    if on_device(&own) && found_at_start() {
        out.push(own.clone());
    }
    out.push(options.home.clone());
    out.extend(options.state_dir.clone());
    out.push(own);
    let mut seen = std::collections::BTreeSet::new();
    out.retain(|path| seen.insert(path.clone()));
    out
}

/// Write the journal in the first directory that takes it. The attempts that failed come back with
/// it, or instead of it; the last one decides about the error.
pub(crate) fn write(
    kernel: &Kernel<'_>,
    place: &Place,
    stat: &Stat,
    versions: (&[u8], &[u8]),
    options: &Options,
    failed: &mut Vec<Attempt>,
) -> Option<Written> {
    let bytes = encode(&place.real(), stat, versions.0, versions.1);
    for path in places(kernel, place, options) {
        match write_in(kernel, &path, &bytes, options) {
            Ok(written) => return Some(written),
            Err(attempt) => {
                // A full or broken disk under the file itself: writing into the file would be next
                // to fail, half-way.
                let same_disk = kernel
                    .open_dir_path(&path)
                    .and_then(|dir| kernel.stat_dir(&dir))
                    .is_ok_and(|dir| dir.device == stat.device);
                let ends = attempt.is_storage_failure() && same_disk;
                failed.push(attempt);
                if ends {
                    return None;
                }
            }
        }
    }
    None
}

fn write_in(kernel: &Kernel<'_>, path: &Path, bytes: &[u8], options: &Options) -> Step<Written> {
    if options.state_dir.as_deref() == Some(path) {
        make_dirs(kernel, path)?;
    }
    let dir = kernel.open_dir_path(path)?;
    let mut staged = replace::create(kernel, &dir)?;
    kernel.write_all(&staged.file, bytes)?;
    kernel.fsync(&staged.file)?;
    let name = kernel.random_name(JOURNAL);
    kernel.rename(&dir, &staged.name, &dir, &name)?;
    staged.name.clone_from(&name);
    kernel.sync_dir(&dir, &staged.file)?;
    staged.keep();
    let file = Rc::clone(&staged.file);
    drop(staged);
    let report = report(mount_of_dir(kernel, &dir).as_ref(), dir.path.join(&name));
    Ok(Written {
        dir,
        name,
        report,
        file,
    })
}

pub(crate) fn report(mount: Option<&Mount>, path: PathBuf) -> JournalReport {
    let fs_type = mount.map_or_else(|| "unknown".to_owned(), |mount| mount.fs_type.clone());
    JournalReport {
        path,
        survives: survives(&fs_type),
        fs_type,
    }
}

/// What a file on a filesystem of this type outlives.
pub(crate) fn survives(fs_type: &str) -> Survives {
    match fs_type {
        "tmpfs" | "ramfs" | "devtmpfs" | "rootfs" | "unknown" => Survives::Kill,
        "overlay" | "aufs" | "fuse.fuse-overlayfs" => Survives::Reboot,
        _ => Survives::Container,
    }
}

/// Create a directory and its missing parents, private.
pub(crate) fn make_dirs(kernel: &Kernel<'_>, path: &Path) -> Step<Dir> {
    match kernel.open_dir_path(path) {
        Err(attempt) if attempt.is(rustix::io::Errno::NOENT) => {
            let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
                return Err(attempt);
            };
            let parent = make_dirs(kernel, parent)?;
            match kernel.mkdir(&parent, name, 0o700) {
                Err(attempt) if !attempt.is(rustix::io::Errno::EXIST) => Err(attempt),
                _ => kernel.open_dir_path(path),
            }
        }
        other => other,
    }
}

/// Whether a name is one of ours with this ending: `.hermes-tui-<8 hex>.<ending>`.
pub(crate) fn is_ours(name: &OsStr, ending: &str) -> bool {
    let Some(middle) = name
        .as_bytes()
        .strip_prefix(b".hermes-tui-")
        .and_then(|rest| rest.strip_suffix(ending.as_bytes()))
        .and_then(|rest| rest.strip_suffix(b"."))
    else {
        return false;
    };
    middle.len() == 8
        && middle
            .iter()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat() -> Stat {
        Stat {
            device: (8, 1),
            inode: 42,
            mode: 0o100_600,
            uid: 0,
            gid: 0,
            links: 1,
            size: 3,
            modified: (0, 0),
            changed: (0, 0),
            mount: None,
            mount_root: None,
            immutable: false,
            append_only: false,
        }
    }

    #[test]
    fn a_journal_reads_back_and_every_flipped_byte_is_noticed() {
        let real = Path::new(OsStr::from_bytes(b"/v/na\nme\xff"));
        let bytes = encode(real, &stat(), b"old\n", b"new and longer\n");
        let journal = decode(&bytes).unwrap();
        assert_eq!(journal.target, real);
        assert_eq!(
            (journal.old.as_slice(), journal.new.as_slice()),
            (&b"old\n"[..], &b"new and longer\n"[..])
        );
        assert_eq!(journal.header.inode, 42);
        for at in 0..bytes.len() {
            let mut bad = bytes.clone();
            bad[at] ^= 1;
            assert!(decode(&bad).is_err(), "a flip at byte {at} went unnoticed");
            assert!(
                decode(&bytes[..at]).is_err(),
                "a cut at byte {at} went unnoticed"
            );
        }
    }

    #[test]
    fn only_our_names_are_ours() {
        for (name, ours) in [
            (".hermes-tui-0123abcd.tmp", true),
            (".hermes-tui-0123abcd.journal", false),
            (".hermes-tui-0123ABCD.tmp", false),
            (".hermes-tui-0123abc.tmp", false),
            (".hermes-tui-0123abcdtmp", false),
            ("config.yaml.tmp", false),
        ] {
            assert_eq!(is_ours(OsStr::new(name), "tmp"), ours, "{name}");
        }
    }

    #[test]
    fn what_a_journal_outlives_depends_on_its_filesystem() {
        assert_eq!(survives("tmpfs"), Survives::Kill);
        assert_eq!(survives("overlay"), Survives::Reboot);
        assert_eq!(survives("ext4"), Survives::Container);
    }
}
