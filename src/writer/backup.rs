//! Copies of the old content, before the first change of a file in a run.
//!
//! Responsible for: private copies under `<home>/backups/`, each content once, bounded in number and
//! age, and getting one back. Not responsible for: failing a save; a copy that cannot be made is a
//! warning. The copies are not synced one by one: they guard against a wrong edit, the writer
//! against a lost one.
//!
//! A copy is named `<file>.<UTC time>.<first 12 hex digits of its SHA-256>.bak`, where the file is
//! its path below the home (or its absolute path, if it lies elsewhere) with `/` written as `%2F`.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::OFlags;
use rustix::io::Errno;
use serde::Serialize;

use super::errors::{FailureKind, SaveError};
use super::journal::sha256;
use super::kernel::{Dir, Kernel, Step};
use super::options::Options;
use super::replace;
use super::report::SaveReport;
use super::resolve::Place;
use super::sys::Linux;
use crate::mount::lossy;

/// The folder in the home.
pub(crate) const FOLDER: &str = "backups";
const ENDING: &str = ".bak";
const HASH_DIGITS: usize = 12;

/// One copy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// The file that it is a copy of.
    #[serde(serialize_with = "lossy")]
    pub original: PathBuf,
    /// The copy.
    #[serde(serialize_with = "lossy")]
    pub copy: PathBuf,
    /// When it was made: `20260131T235959Z`.
    pub made: String,
    /// The first 12 hex digits of the SHA-256 of its content.
    pub hash: String,
    /// Its size in bytes.
    pub bytes: u64,
}

/// All copies in a home, the newest first.
pub fn list(home: &Path) -> Vec<Entry> {
    let kernel = Kernel(&Linux);
    let Ok(dir) = kernel.open_dir_path(&home.join(FOLDER)) else {
        return Vec::new();
    };
    let mut out = entries(&kernel, &dir, home);
    out.sort_by(|a, b| (&b.made, &b.copy).cmp(&(&a.made, &a.copy)));
    out
}

/// Save a copy over its original, with all that a save does: links, owner and mode of the original
/// stay, and what it holds now is copied first.
pub fn restore(entry: &Entry, options: &Options) -> Result<SaveReport, SaveError> {
    let kernel = Kernel(&Linux);
    let unusable = |why: &str| SaveError::refused(FailureKind::BadSource, &entry.copy, why);
    let (Some(parent), Some(name)) = (entry.copy.parent(), entry.copy.file_name()) else {
        return Err(unusable("this is not a backup"));
    };
    let bytes = kernel
        .open_dir_path(parent)
        .and_then(|dir| kernel.open(&dir, name, OFlags::RDONLY | OFlags::NOFOLLOW, 0))
        .and_then(|file| kernel.read_all(&file, entry.bytes))
        .map_err(|attempt| SaveError::call(&entry.copy, "reading the backup", attempt))?;
    if !sha256(&bytes).starts_with(&entry.hash) {
        return Err(unusable(
            "the backup is damaged: its content does not match its name",
        ));
    }
    super::write(&entry.original, &bytes, options)
}

/// Copy `old` unless this run has done so, or the same content is there already.
pub(crate) fn before_change(
    kernel: &Kernel<'_>,
    place: &Place,
    old: &[u8],
    options: &Options,
    warnings: &mut Vec<String>,
) -> Option<PathBuf> {
    let real = place.real();
    if !options.backup.enabled || options.backup.count == 0 || options.backup.is_done(&real) {
        return None;
    }
    match copy(kernel, place, old, options) {
        Ok(path) => {
            options.backup.mark_done(&real);
            path
        }
        Err(attempt) => {
            warnings.push(format!("no backup was made: {attempt}"));
            None
        }
    }
}

fn copy(
    kernel: &Kernel<'_>,
    place: &Place,
    old: &[u8],
    options: &Options,
) -> Step<Option<PathBuf>> {
    let home = match kernel.open_dir_path(&options.home) {
        Ok(home) => home,
        // Without a home there is no place for backups either.
        Err(attempt) if attempt.is(Errno::NOENT) => return Ok(None),
        Err(attempt) => return Err(attempt),
    };
    let dir = match kernel.open_dir(&home, OsStr::new(FOLDER)) {
        Err(attempt) if attempt.is(Errno::NOENT) => {
            kernel.mkdir(&home, OsStr::new(FOLDER), 0o700)?;
            let dir = kernel.open_dir(&home, OsStr::new(FOLDER))?;
            give_to_owner(kernel, &home, &dir);
            dir
        }
        // The folder may be a link that somebody made on purpose.
        Err(_) => kernel.open_dir_path(&options.home.join(FOLDER))?,
        Ok(dir) => dir,
    };
    let original = below_home(place, options);
    let hash = sha256(old)[..HASH_DIGITS].to_owned();
    let mut known: Vec<Entry> = entries(kernel, &dir, &options.home)
        .into_iter()
        .filter(|entry| entry.original == options.home.join(&original))
        .collect();
    if known.iter().any(|entry| entry.hash == hash) {
        return Ok(None);
    }
    let mut name = file_name(&original, &stamp(SystemTime::now()), &hash);
    if name.len() > 255 {
        // The name would not fit; the hash of the path stands for it, and restoring needs a target.
        let short = PathBuf::from(format!(
            "path-{}",
            &sha256(original.as_os_str().as_bytes())[..16]
        ));
        name = file_name(&short, &stamp(SystemTime::now()), &hash);
    }
    let mut staged = replace::create(kernel, &dir)?;
    kernel.write_all(&staged.file, old)?;
    give_file(kernel, &home, &staged.file);
    kernel.rename(&dir, &staged.name, &dir, &name)?;
    staged.keep();
    known.sort_by(|a, b| a.made.cmp(&b.made));
    prune(kernel, &dir, &known, options);
    Ok(Some(options.home.join(FOLDER).join(name)))
}

/// Root's backups in another user's home would be in that user's way.
fn give_to_owner(kernel: &Kernel<'_>, home: &Dir, dir: &Dir) {
    if let Ok(open) = kernel.readable(dir) {
        give_file(kernel, home, &open);
    }
}

fn give_file(kernel: &Kernel<'_>, home: &Dir, file: &super::kernel::File) {
    if let (Ok(home), Ok(have)) = (kernel.stat_dir(home), kernel.stat_file(file))
        && have.uid == 0
        && home.uid != 0
    {
        // Where this is not possible, root's private copy is still a copy.
        let _ = kernel.chown(file, home.uid, home.gid);
    }
}

/// The path below the home by which the file was asked for, else its absolute path.
fn below_home(place: &Place, options: &Options) -> PathBuf {
    let home = std::path::absolute(&options.home).unwrap_or_else(|_| options.home.clone());
    match place.requested.strip_prefix(home) {
        Ok(below) => below.to_owned(),
        Err(_) => place.requested.clone(),
    }
}

/// Remove copies beyond the number and the age; `known` is sorted by age, without the one just made.
fn prune(kernel: &Kernel<'_>, dir: &Dir, known: &[Entry], options: &Options) {
    let oldest = stamp(
        SystemTime::now()
            .checked_sub(options.backup.max_age)
            .unwrap_or(UNIX_EPOCH),
    );
    let too_many = (known.len() + 1).saturating_sub(options.backup.count);
    for (index, entry) in known.iter().enumerate() {
        if (index < too_many || entry.made < oldest)
            && let Some(name) = entry.copy.file_name()
        {
            // An old copy that stays is not worth a warning.
            let _ = kernel.unlink(dir, name);
        }
    }
}

fn file_name(original: &Path, made: &str, hash: &str) -> OsString {
    let mut name = Vec::new();
    for byte in original.as_os_str().as_bytes() {
        match byte {
            b'/' => name.extend(b"%2F"),
            b'%' => name.extend(b"%25"),
            other => name.push(*other),
        }
    }
    name.extend(format!(".{made}.{hash}{ENDING}").bytes());
    OsString::from_vec(name)
}

/// The parts of a copy's name: original below the home, time, hash.
fn parse_name(name: &OsStr) -> Option<(PathBuf, String, String)> {
    let rest = name.as_bytes().strip_suffix(ENDING.as_bytes())?;
    let mut parts = rest.rsplitn(3, |byte| *byte == b'.');
    let hash = std::str::from_utf8(parts.next()?).ok()?;
    let made = std::str::from_utf8(parts.next()?).ok()?;
    let encoded = parts.next()?;
    let is_hash = hash.len() == HASH_DIGITS && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_time = made.len() == 16 && made.as_bytes()[8] == b'T' && made.ends_with('Z');
    if !is_hash || !is_time || encoded.is_empty() {
        return None;
    }
    let mut original = Vec::with_capacity(encoded.len());
    let mut rest = encoded;
    while let Some((first, tail)) = rest.split_first() {
        match (*first, tail.first_chunk::<2>()) {
            (b'%', Some(b"2F")) => {
                original.push(b'/');
                rest = &tail[2..];
            }
            (b'%', Some(b"25")) => {
                original.push(b'%');
                rest = &tail[2..];
            }
            _ => {
                original.push(*first);
                rest = tail;
            }
        }
    }
    Some((
        PathBuf::from(OsString::from_vec(original)),
        made.to_owned(),
        hash.to_owned(),
    ))
}

fn entries(kernel: &Kernel<'_>, dir: &Dir, home: &Path) -> Vec<Entry> {
    let names = kernel.list(dir).unwrap_or_default();
    names
        .into_iter()
        .filter_map(|name| {
            let (original, made, hash) = parse_name(&name)?;
            let stat = kernel
                .stat(dir, &name)
                .ok()
                .filter(super::sys::Stat::is_file)?;
            Some(Entry {
                original: home.join(original),
                copy: home.join(FOLDER).join(&name),
                made,
                hash,
                bytes: stat.size,
            })
        })
        .collect()
}

/// A moment as `20260131T235959Z`, which sorts by time.
fn stamp(at: SystemTime) -> String {
    let seconds = at
        .duration_since(UNIX_EPOCH)
        .unwrap_or(Duration::ZERO)
        .as_secs();
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    format!(
        "{year:04}{month:02}{day:02}T{:02}{:02}{:02}Z",
        of_day / 3600,
        of_day / 60 % 60,
        of_day % 60
    )
}

/// Year, month and day of a day number since 1970-01-01, in the Gregorian calendar.
fn civil(days: u64) -> (u64, u64, u64) {
    // Count from 1 March of the year 0, so that the leap day is the last day of a year.
    let days = days + 719_468;
    let era = days / 146_097;
    let of_era = days % 146_097;
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_whatever_the_path_holds() {
        for original in [
            "config.yaml",
            ".env",
            "cron/jobs.json",
            "/etc/x%2Fy",
            "a.b.c/d e",
        ] {
            let name = file_name(Path::new(original), "20260131T235959Z", "0123456789ab");
            assert!(!name.as_bytes().contains(&b'/'));
            let (back, made, hash) = parse_name(&name).unwrap();
            assert_eq!(
                (back.as_path(), made.as_str(), hash.as_str()),
                (Path::new(original), "20260131T235959Z", "0123456789ab")
            );
        }
        for other in [
            "config.yaml.bak",
            "config.yaml.corrupt.20260131-235959.bak",
            ".20260131T235959Z.0123456789ab.bak",
        ] {
            assert!(
                parse_name(OsStr::new(other)).is_none(),
                "{other} is not ours"
            );
        }
    }

    #[test]
    fn the_calendar_knows_leap_years() {
        for (seconds, text) in [
            (0, "19700101T000000Z"),
            (951_782_399, "20000228T235959Z"),
            (951_782_400, "20000229T000000Z"),
            (951_868_800, "20000301T000000Z"),
            (4_107_542_399, "21000228T235959Z"),
            (4_107_542_400, "21000301T000000Z"),
            (1_735_689_599, "20241231T235959Z"),
        ] {
            assert_eq!(stamp(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }
}
