//! What a save did, or would do: the shape that the screen shows, `--json` prints and tests compare.
//!
//! Responsible for: plain data. Field names and their values are stable. Not responsible for:
//! filling them in.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use super::errors::{Attempt, lossy_option};
use crate::mount::{Mount, lossy};

/// One link that was followed on the way to the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hop {
    /// Where the link is.
    #[serde(serialize_with = "lossy")]
    pub link: PathBuf,
    /// What it says, relative or absolute, as it stands in the link.
    #[serde(serialize_with = "lossy")]
    pub to: PathBuf,
}

/// How the new content got there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// The file held these bytes already; nothing was written.
    Unchanged,
    /// Staged beside the file and renamed over it: readers see the old or the new file.
    Replace,
    /// The caller's staged file lay on another mount, so it was copied beside the target first.
    Restaged,
    /// Written into the existing file under a journal: inode, links, owner and ACL stay, readers
    /// may see a mixture for a moment.
    InPlace,
}

impl Strategy {
    /// The stable name: `unchanged`, `replace`, `restaged` or `in_place`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Replace => "replace",
            Self::Restaged => "restaged",
            Self::InPlace => "in_place",
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether one piece of metadata is on the file after the save.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Kept {
    /// It is as it was.
    #[serde(rename = "kept")]
    Kept,
    /// It could not be kept; the reason is beside it.
    #[serde(rename = "lost")]
    Lost,
    /// The file had none, or the filesystem knows none.
    #[serde(rename = "n/a")]
    NotApplicable,
}

/// One piece of metadata after a save.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fate {
    /// Kept, lost or not applicable.
    pub state: Kept,
    /// Why, where it is not simply kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Fate {
    pub(crate) fn kept() -> Self {
        Self {
            state: Kept::Kept,
            why: None,
        }
    }

    pub(crate) fn none(why: &str) -> Self {
        Self {
            state: Kept::NotApplicable,
            why: Some(why.to_owned()),
        }
    }

    pub(crate) fn lost(why: impl Into<String>) -> Self {
        Self {
            state: Kept::Lost,
            why: Some(why.into()),
        }
    }
}

/// What became of everything on the file that is not its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MetadataReport {
    /// Permission bits.
    pub mode: Fate,
    /// Owner and group.
    pub owner: Fate,
    /// The POSIX access control list.
    pub acl: Fate,
    /// Extended attributes other than ACL and label.
    pub xattr: Fate,
    /// The security label (SELinux, Smack).
    pub label: Fate,
}

impl MetadataReport {
    /// All of it `n/a`, for this reason.
    pub(crate) fn none(why: &str) -> Self {
        let fate = || Fate::none(why);
        Self {
            mode: fate(),
            owner: fate(),
            acl: fate(),
            xattr: fate(),
            label: fate(),
        }
    }

    /// All of it kept: the inode is the same.
    pub(crate) fn kept() -> Self {
        Self {
            mode: Fate::kept(),
            owner: Fate::kept(),
            acl: Fate::kept(),
            xattr: Fate::kept(),
            label: Fate::kept(),
        }
    }
}

/// What was synced to the disk before the save returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Default)]
pub struct Durable {
    /// The content of the file.
    pub file: bool,
    /// The name in its directory.
    pub dir: bool,
}

/// Inode numbers around a save.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Default)]
pub struct Inodes {
    /// Before; `None` if the file did not exist.
    pub before: Option<u64>,
    /// After.
    pub after: Option<u64>,
}

/// What the journal would have outlived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Survives {
    /// The end of this program; it lay in memory.
    Kill,
    /// A reboot as well, but not the removal of the container whose layer it lay on.
    Reboot,
    /// The removal of the container as well.
    Container,
}

/// The journal that protected an in-place write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JournalReport {
    /// Where it was; it is removed after a successful save.
    #[serde(serialize_with = "lossy")]
    pub path: PathBuf,
    /// The type of the filesystem it lay on.
    pub fs_type: String,
    /// What it would have outlived.
    pub survives: Survives,
}

/// What was done about something that an earlier run left behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The file was torn; the new content was written again and verified.
    Redone,
    /// The file was torn; the new content could not be written, the old one was put back.
    Undone,
    /// The file was whole; the journal was removed.
    Whole,
    /// The file holds something else; file and journal were left alone.
    Conflict,
    /// The file is torn and could not be repaired now; file and journal were left alone.
    Failed,
    /// The journal is damaged or not trustworthy; it was left alone and not used.
    Unreadable,
    /// Another process is working with it right now.
    InUse,
    /// A staged file of a dead process was removed.
    TempRemoved,
    /// A staged file of a dead process could not be removed.
    TempLeft,
}

impl Outcome {
    /// Whether somebody has to look at it.
    pub fn needs_attention(self) -> bool {
        matches!(
            self,
            Self::Conflict | Self::Failed | Self::Unreadable | Self::TempLeft
        )
    }
}

/// One thing that an earlier run left behind, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Recovery {
    /// The journal or the staged file.
    #[serde(serialize_with = "lossy")]
    pub leftover: PathBuf,
    /// The file that it was about, if known.
    #[serde(serialize_with = "lossy_option")]
    pub target: Option<PathBuf>,
    /// What was done.
    pub outcome: Outcome,
    /// Why, in a sentence.
    pub detail: String,
    /// Seconds since 1970 when the interrupted save began, if known.
    pub since: Option<u64>,
}

/// The report of one save that succeeded.
#[derive(Debug, Clone, Serialize)]
pub struct SaveReport {
    /// The file as it was asked for, made absolute.
    #[serde(serialize_with = "lossy")]
    pub requested: PathBuf,
    /// Every link on the way, in order.
    pub hops: Vec<Hop>,
    /// The file behind all links.
    #[serde(serialize_with = "lossy")]
    pub real: PathBuf,
    /// The mount that holds the file.
    pub mount: Option<Mount>,
    /// Device number, `major:minor`.
    pub device: String,
    /// Inode numbers before and after.
    pub inode: Inodes,
    /// Hard links to the file after the save.
    pub links: u32,
    /// How it was done.
    pub strategy: Strategy,
    /// Why that way, in words.
    pub reason: String,
    /// Whether the file did not exist before.
    pub created: bool,
    /// Calls that failed and led to the strategy.
    pub attempts: Vec<Attempt>,
    /// What became of mode, owner, ACL, attributes and label.
    pub metadata: MetadataReport,
    /// What was synced.
    pub durable: Durable,
    /// The journal, for `in_place`.
    pub journal: Option<JournalReport>,
    /// What earlier runs had left behind and what was done about it.
    pub recovered: Vec<Recovery>,
    /// The copy of the old content, if one was made.
    #[serde(serialize_with = "lossy_option")]
    pub backup: Option<PathBuf>,
    /// What is worth knowing although the save succeeded.
    pub warnings: Vec<String>,
    /// Size of the file now, in bytes.
    pub bytes: u64,
    /// How long it took, in microseconds.
    pub duration_us: u64,
}

/// A file as the writer sees it, for the screen.
#[derive(Debug, Clone, Serialize)]
pub struct Target {
    /// The file as it was asked for, made absolute.
    #[serde(serialize_with = "lossy")]
    pub requested: PathBuf,
    /// Every link on the way, in order.
    pub hops: Vec<Hop>,
    /// The file behind all links.
    #[serde(serialize_with = "lossy")]
    pub real: PathBuf,
    /// The mount that holds the file, or would hold it.
    pub mount: Option<Mount>,
    /// Whether the path itself is a mount point (a file mounted singly).
    pub mount_root: bool,
    /// Whether the file exists.
    pub exists: bool,
    /// Device number, `major:minor`.
    pub device: String,
    /// Inode number.
    pub inode: Option<u64>,
    /// Hard links.
    pub links: Option<u32>,
    /// Size in bytes.
    pub size: Option<u64>,
    /// Permission bits, such as `0600` in octal.
    pub mode: Option<u32>,
    /// Owner's user number.
    pub uid: Option<u32>,
    /// Group number.
    pub gid: Option<u32>,
    /// Whether it carries an access control list.
    pub acl: bool,
    /// Names of the other extended attributes.
    pub xattrs: Vec<String>,
    /// Bytes free for this user on its filesystem.
    pub free_bytes: Option<u64>,
    /// Inodes free there.
    pub free_inodes: Option<u64>,
}

/// What a save would do, without doing it.
#[derive(Debug, Clone, Serialize)]
pub struct Prediction {
    /// The file as it is now; `None` if the path leads nowhere.
    #[serde(flatten)]
    pub target: Option<Target>,
    /// How a save would be done; `None` if it would be refused.
    pub strategy: Option<Strategy>,
    /// Why that way, or why not, in words.
    pub reason: String,
    /// Why it would be refused.
    pub refusal: Option<super::SaveError>,
    /// Whether it was proved by trying everything but the last step (`probe`).
    pub proven: bool,
    /// Calls that failed while proving it.
    pub attempts: Vec<Attempt>,
    /// Where the journal would be, for `in_place`.
    #[serde(serialize_with = "lossy_option")]
    pub journal: Option<PathBuf>,
}
