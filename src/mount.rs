//! Which mount holds a path: the kernel's own list (`/proc/self/mountinfo`), parsed.
//!
//! Responsible for: parsing that list, undoing its `\012` escapes, and finding one mount by its id
//! (`STATX_MNT_ID`) or, on kernels without it, by path. Not responsible for: reading the list (the
//! writer does, so that its fault tests reach that call too) and for deciding anything.
//!
//! Equal device numbers do not prove that a rename works: a bind mount of the same filesystem has
//! the same device and still refuses it. Only the mount id tells two mounts apart.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

/// One line of `/proc/self/mountinfo`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mount {
    /// The mount's id, the same number that `statx` gives as `stx_mnt_id`.
    pub id: u64,
    /// The id of the mount that this one sits on.
    #[serde(skip)]
    pub parent: u64,
    /// Device number as `major:minor`.
    pub device: String,
    /// The path inside the filesystem that is shown at `point` (not `/` for a bind mount).
    #[serde(serialize_with = "lossy")]
    pub root: PathBuf,
    /// Where the mount is attached.
    #[serde(serialize_with = "lossy")]
    pub point: PathBuf,
    /// Filesystem type, such as `ext4` or `fuse.bindfs`.
    pub fs_type: String,
    /// What is mounted: a device, an export, or a plain word such as `tmpfs`.
    pub source: String,
    /// Options of this mount, comma separated (`rw,relatime`).
    pub options: String,
    /// Options of the filesystem behind it (`rw,size=64k`).
    pub super_options: String,
}

/// Write a path as text; bytes that are not UTF-8 become replacement characters.
pub(crate) fn lossy<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&path.to_string_lossy())
}

impl Mount {
    /// Whether the mount, or the filesystem behind it, takes no writes.
    pub fn read_only(&self) -> bool {
        let ro = |text: &str| text.split(',').any(|option| option == "ro");
        ro(&self.options) || ro(&self.super_options)
    }

    /// Whether the file shown here was deleted after it was mounted (`…//deleted`).
    pub fn deleted(&self) -> bool {
        self.root.as_os_str().as_bytes().ends_with(b"//deleted")
    }

    /// Whether overwriting existing bytes needs new blocks, so that a full disk can refuse it.
    pub fn copy_on_write(&self) -> bool {
        matches!(
            self.fs_type.as_str(),
            "btrfs" | "zfs" | "bcachefs" | "overlay" | "f2fs" | "nilfs2"
        )
    }
}

/// All mounts that this process sees, in the kernel's order (a later one covers an earlier one).
#[derive(Debug, Clone, Default)]
pub struct Mounts(Vec<Mount>);

impl Mounts {
    /// Parse the text of `/proc/self/mountinfo`. Lines that do not have its shape are left out.
    pub fn parse(text: &[u8]) -> Self {
        Self(text.split(|b| *b == b'\n').filter_map(parse_line).collect())
    }

    /// The mount with this id.
    pub fn by_id(&self, id: u64) -> Option<&Mount> {
        self.0.iter().find(|mount| mount.id == id)
    }

    /// The mount whose point is the longest prefix of `real`, an absolute path without links.
    /// Of several mounts on one point the last one is on top.
    pub fn holding(&self, real: &Path) -> Option<&Mount> {
        self.0
            .iter()
            .filter(|mount| real.starts_with(&mount.point))
            .max_by_key(|mount| mount.point.components().count())
    }

    /// All mounts.
    pub fn iter(&self) -> impl Iterator<Item = &Mount> {
        self.0.iter()
    }
}

/// `36 35 98:0 /root /point rw,noatime master:1 - ext4 /dev/sda rw,errors=continue`
fn parse_line(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|b| *b == b' ');
    let mut next = || fields.next().filter(|field| !field.is_empty());
    let id = number(next()?)?;
    let parent = number(next()?)?;
    let device = text(next()?);
    let root = path(next()?);
    let point = path(next()?);
    let options = text(next()?);
    // Optional fields, any number of them, end at a lone dash.
    while next()? != b"-" {}
    let fs_type = text(next()?);
    // An empty source is legal and is written as an empty field.
    let source = text(fields.next()?);
    let super_options = text(fields.next().unwrap_or_default());
    Some(Mount {
        id,
        parent,
        device,
        root,
        point,
        fs_type,
        source,
        options,
        super_options,
    })
}

fn number(field: &[u8]) -> Option<u64> {
    std::str::from_utf8(field).ok()?.parse().ok()
}

fn text(field: &[u8]) -> String {
    String::from_utf8_lossy(&unescape(field)).into_owned()
}

fn path(field: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(unescape(field)))
}

/// Undo the kernel's `\ooo` escapes (blank, tab, newline, backslash, hash).
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, tail)) = rest.split_first() {
        if let (b'\\', Some([a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7'])) =
            (*first, tail.first_chunk::<3>())
        {
            out.push((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'));
            rest = &tail[3..];
        } else {
            out.push(*first);
            rest = tail;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &[u8] = b"\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n\
30 22 0:25 / /mnt/my\\040data rw,nosuid shared:2 master:3 - tmpfs tmpfs rw,size=64k\n\
31 22 254:0 /srv/env//deleted /home/u/.env ro,relatime - ext4 /dev/vda rw\n\
32 22 0:25 / /mnt/a\\012b rw - fuse.bindfs  rw\n\
not a mount line\n\
33 22 0:30 / /mnt/my\\040data rw - btrfs /dev/vdb\\134x rw,subvol=/\n";

    #[test]
    fn reads_every_field_and_escape() {
        let mounts = Mounts::parse(SAMPLE);
        assert_eq!(mounts.iter().count(), 5);
        let data = mounts.by_id(30).unwrap();
        assert_eq!(data.point, Path::new("/mnt/my data"));
        assert_eq!(
            (
                data.fs_type.as_str(),
                data.source.as_str(),
                data.options.as_str(),
                data.super_options.as_str()
            ),
            ("tmpfs", "tmpfs", "rw,nosuid", "rw,size=64k")
        );
        assert_eq!(mounts.by_id(32).unwrap().point, Path::new("/mnt/a\nb"));
        assert_eq!(mounts.by_id(32).unwrap().source, "");
        assert_eq!(mounts.by_id(33).unwrap().source, "/dev/vdb\\x");
    }

    #[test]
    fn the_longest_and_last_mount_holds_a_path() {
        let mounts = Mounts::parse(SAMPLE);
        let id = |path: &str| mounts.holding(Path::new(path)).map(|mount| mount.id);
        assert_eq!(id("/etc/passwd"), Some(22));
        assert_eq!(
            id("/mnt/my data/x"),
            Some(33),
            "a later mount covers an earlier one"
        );
        assert_eq!(
            id("/mnt/my database"),
            Some(22),
            "a prefix of a name is not a prefix of a path"
        );
        assert_eq!(id("/home/u/.env"), Some(31));
    }

    #[test]
    fn read_only_and_deleted_are_seen() {
        let mounts = Mounts::parse(SAMPLE);
        let env = mounts.by_id(31).unwrap();
        assert!(env.read_only() && env.deleted());
        assert!(!mounts.by_id(22).unwrap().read_only());
        assert!(mounts.by_id(33).unwrap().copy_on_write());
    }
}
