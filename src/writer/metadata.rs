//! Everything on a file that is not its content: read from the original, put on the staged file.
//!
//! Responsible for: owner, group, mode, ACL, extended attributes and security label, in the order
//! that does not lose any (owner first: a change of owner clears set-id bits and capabilities; mode
//! last: until then the staged file is private). Not responsible for: what happens when it cannot
//! be reproduced; the ladder then writes in place. Inode flags (`chattr`), birth time and project
//! quota are not copied.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use rustix::io::Errno;

use super::errors::Attempt;
use super::kernel::{File, Kernel, Step};
use super::report::{Fate, MetadataReport};
use super::sys::Stat;

pub(crate) const ACL: &str = "system.posix_acl_access";
/// Hashes and signatures of the content: they belong to the old bytes and are made by the kernel.
const BOUND_TO_CONTENT: [&str; 2] = ["security.ima", "security.evm"];
const LABELS: [&str; 3] = ["security.selinux", "security.SMACK64", "security.apparmor"];

/// What the original carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Metadata {
    pub uid: u32,
    pub gid: u32,
    pub mode: u32,
    pub xattrs: Vec<(OsString, Vec<u8>)>,
}

/// Why the metadata cannot be put on another inode.
#[derive(Debug)]
pub(crate) struct NotReproducible {
    pub what: String,
    pub attempt: Option<Attempt>,
}

/// Whether the filesystem simply knows no extended attributes.
fn unsupported(attempt: &Attempt) -> bool {
    attempt.is(Errno::NOTSUP) || attempt.is(Errno::NOSYS)
}

/// Names and values of the attributes of an open file.
fn read_xattrs(kernel: &Kernel<'_>, file: &File) -> Step<Vec<(OsString, Vec<u8>)>> {
    let names = match kernel.xattr_names(file) {
        Ok(names) => names,
        Err(attempt) if unsupported(&attempt) => return Ok(Vec::new()),
        Err(attempt) => return Err(attempt),
    };
    let mut out = Vec::with_capacity(names.len());
    for name in names {
        match kernel.xattr(file, &name) {
            Ok(value) => out.push((name, value)),
            // Removed in between, or listed but not readable in this context.
            Err(attempt) if attempt.is(Errno::NODATA) || unsupported(&attempt) => {}
            Err(attempt) => return Err(attempt),
        }
    }
    Ok(out)
}

/// Read what the original carries.
pub(crate) fn capture(kernel: &Kernel<'_>, file: &File, stat: &Stat) -> Step<Metadata> {
    Ok(Metadata {
        uid: stat.uid,
        gid: stat.gid,
        mode: stat.permissions(),
        xattrs: read_xattrs(kernel, file)?,
    })
}

/// Put `want` on the staged file, then look whether it is really there: some filesystems take the
/// calls and ignore them.
pub(crate) fn apply(
    kernel: &Kernel<'_>,
    file: &File,
    want: &Metadata,
) -> Result<MetadataReport, NotReproducible> {
    let lost = |what: &str| {
        let what = what.to_owned();
        move |attempt: Attempt| NotReproducible {
            what,
            attempt: Some(attempt),
        }
    };
    let have = kernel.stat_file(file).map_err(lost("the staged file"))?;
    if (have.uid, have.gid) != (want.uid, want.gid) {
        kernel
            .chown(file, want.uid, want.gid)
            .map_err(lost("owner and group"))?;
    }
    apply_xattrs(kernel, file, want)?;
    let have = kernel.stat_file(file).map_err(lost("the staged file"))?;
    if have.permissions() != want.mode {
        kernel.chmod(file, want.mode).map_err(lost("the mode"))?;
    }
    let have = kernel.stat_file(file).map_err(lost("the staged file"))?;
    if (have.uid, have.gid) != (want.uid, want.gid) {
        return Err(NotReproducible {
            what: "owner and group (the filesystem ignores chown)".to_owned(),
            attempt: None,
        });
    }
    if have.permissions() != want.mode {
        return Err(NotReproducible {
            what: "the mode (the filesystem ignores chmod)".to_owned(),
            attempt: None,
        });
    }
    Ok(report_on(want))
}

fn apply_xattrs(kernel: &Kernel<'_>, file: &File, want: &Metadata) -> Result<(), NotReproducible> {
    let failed = |name: &OsStr, attempt: Attempt| NotReproducible {
        what: describe(name),
        attempt: Some(attempt),
    };
    let have =
        read_xattrs(kernel, file).map_err(|attempt| failed(OsStr::new("attributes"), attempt))?;
    for (name, value) in &want.xattrs {
        let bound = BOUND_TO_CONTENT.iter().any(|bound| name == bound);
        if bound || have.iter().any(|(n, v)| n == name && v == value) {
            continue;
        }
        kernel
            .set_xattr(file, name, value)
            .map_err(|attempt| failed(name, attempt))?;
    }
    // A directory with a default ACL gives it to every new file, and the mode would then open it to
    // users whom the original keeps out.
    let inherited = |list: &[(OsString, Vec<u8>)]| list.iter().any(|(name, _)| name == ACL);
    if inherited(&have) && !inherited(&want.xattrs) {
        remove_acl(kernel, file).map_err(|attempt| failed(OsStr::new(ACL), attempt))?;
    }
    Ok(())
}

fn remove_acl(kernel: &Kernel<'_>, file: &File) -> Step<()> {
    match kernel.remove_xattr(file, OsStr::new(ACL)) {
        Err(attempt) if !attempt.is(Errno::NODATA) => Err(attempt),
        _ => Ok(()),
    }
}

/// Make a file that did not exist before private, and give it to the owner of its directory when
/// root creates it: a file of root's in a service's home is a file the service cannot read.
pub(crate) fn fresh(
    kernel: &Kernel<'_>,
    file: &File,
    dir: &Stat,
    mode: u32,
    warnings: &mut Vec<String>,
) -> Step<MetadataReport> {
    let mut report = MetadataReport::none("the file is new");
    let have = kernel.stat_file(file)?;
    if have.uid == 0 && dir.uid != 0 {
        match kernel.chown(file, dir.uid, dir.gid) {
            Ok(()) => report.owner = Fate::none("given to the owner of the directory"),
            Err(attempt) if attempt.is_storage_failure() => return Err(attempt),
            Err(attempt) => warnings.push(format!("the new file stays root's: {attempt}")),
        }
    }
    match kernel.xattr(file, OsStr::new(ACL)) {
        Ok(_) => remove_acl(kernel, file)?,
        Err(attempt) if attempt.is_storage_failure() => return Err(attempt),
        // No ACL, which is the usual case, or a filesystem without them.
        Err(_) => {}
    }
    if kernel.stat_file(file)?.permissions() != mode {
        if let Err(attempt) = kernel.chmod(file, mode) {
            if attempt.is_storage_failure() {
                return Err(attempt);
            }
            report.mode = Fate::lost(attempt.to_string());
        }
        let now = kernel.stat_file(file)?.permissions();
        if now != mode {
            warnings.push(format!(
                "the filesystem gives the new file mode {now:04o}, not {mode:04o}"
            ));
        }
    }
    Ok(report)
}

/// The report on metadata that was put on in full.
fn report_on(want: &Metadata) -> MetadataReport {
    let has = |test: &dyn Fn(&OsStr) -> bool, none: &str| {
        if want.xattrs.iter().any(|(name, _)| test(name)) {
            Fate::kept()
        } else {
            Fate::none(none)
        }
    };
    MetadataReport {
        mode: Fate::kept(),
        owner: Fate::kept(),
        acl: has(&|name| name == ACL, "the file has no ACL"),
        xattr: has(&is_plain, "the file has no extended attributes"),
        label: has(&is_label, "the file has no security label"),
    }
}

/// The report for an inode that stayed, from what it carries.
pub(crate) fn stayed(carried: Option<&Metadata>) -> MetadataReport {
    match carried {
        Some(carried) => report_on(carried),
        None => MetadataReport::kept(),
    }
}

fn is_label(name: &OsStr) -> bool {
    LABELS.iter().any(|label| name == *label)
}

pub(crate) fn is_plain(name: &OsStr) -> bool {
    name != ACL && !is_label(name) && !BOUND_TO_CONTENT.iter().any(|bound| name == *bound)
}

fn describe(name: &OsStr) -> String {
    if name == ACL {
        "the ACL".to_owned()
    } else if is_label(name) {
        "the security label".to_owned()
    } else if name.as_bytes().contains(&b'.') {
        format!("the extended attribute {}", name.to_string_lossy())
    } else {
        "the extended attributes".to_owned()
    }
}
