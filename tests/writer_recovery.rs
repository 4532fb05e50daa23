//! Recovery as a property: whatever mixture of both versions an interrupted in-place write leaves is
//! made whole, and whatever somebody else wrote is left alone.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods
)]

mod writer_support;

use std::path::{Path, PathBuf};

use hermes_tui::writer::{
    Options, Outcome, Recovery, Resolution, recover, resolve_conflict, write, write_with,
};
use proptest::prelude::*;
use writer_support::faulty::{Fault, Faulty, Rules};
use writer_support::{get, leftovers, put, scratch, text};

/// A home with a hard-linked file and the journal of a save of it that died before its first byte.
struct Interrupted {
    dir: tempfile::TempDir,
    target: PathBuf,
}

impl Interrupted {
    fn new(old: &[u8], new: &[u8]) -> Self {
        let dir = scratch();
        let target = dir.path().join("config.yaml");
        put(&target, old, 0o600);
        std::fs::hard_link(&target, dir.path().join("alias")).unwrap();
        let this = Self { dir, target };
        let probe = Faulty::new(&Rules::default(), &[]);
        write_with(&probe, &this.target, new, &this.options()).unwrap();
        put(&this.target, old, 0o600);
        // Dead just before the first byte, whichever call that is.
        let names = probe.log.borrow();
        let at = names
            .iter()
            .rposition(|name| matches!(*name, "pwrite" | "truncate"))
            .map(|last| {
                names[..last]
                    .iter()
                    .rposition(|name| *name == "pwrite")
                    .unwrap_or(last)
            })
            .unwrap();
        let dead = Faulty::new(&Rules::default(), &[(at + 1, Fault::Stop)]);
        let _ = write_with(&dead, &this.target, new, &this.options());
        assert_eq!(
            this.journals().len(),
            1,
            "the journal should be on disk now"
        );
        assert_eq!(get(&this.target), old);
        this
    }

    fn options(&self) -> Options {
        Options::new(self.dir.path()).without_backup()
    }

    fn journals(&self) -> Vec<(PathBuf, u32)> {
        leftovers(self.dir.path())
    }

    fn now(&self, bytes: &[u8]) -> Vec<Recovery> {
        put(&self.target, bytes, 0o600);
        recover(&self.options())
    }
}

/// Content with no zero bytes, so that a hole can be told from it.
fn content() -> impl Strategy<Value = Vec<u8>> {
    (1usize..9000, any::<u64>()).prop_map(|(length, seed)| {
        let mut state = seed | 1;
        (0..length)
            .map(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                state.to_be_bytes()[1].max(1)
            })
            .collect()
    })
}

/// What one block holds after an interruption: from which version, up to where, and then what.
fn pieces() -> impl Strategy<Value = Vec<(u8, usize, u8)>> {
    prop::collection::vec((0u8..3, 0usize..512, 0u8..3), 20)
}

fn source<'a>(which: u8, old: &'a [u8], new: &'a [u8]) -> &'a [u8] {
    match which {
        0 => old,
        1 => new,
        _ => &[],
    }
}

/// A file as long as one of the versions, or anything between, made of blocks of both and of zeros.
fn mixture(old: &[u8], new: &[u8], length: usize, pieces: &[(u8, usize, u8)]) -> Vec<u8> {
    (0..length)
        .map(|at| {
            let (first, cut, then) = pieces[at / 512 % pieces.len()];
            let which = if at % 512 < cut { first } else { then };
            source(which, old, new).get(at).copied().unwrap_or(0)
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, rng_seed: proptest::test_runner::RngSeed::Fixed(0x4845_524d_4553), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_mixture_of_both_versions_is_made_whole(
        old in content(), new in content(), pieces in pieces(), between in 0usize..=1000,
    ) {
        prop_assume!(old != new);
        let shorter = old.len().min(new.len());
        let length = shorter + (old.len().max(new.len()) - shorter) * between / 1000;
        let torn = mixture(&old, &new, length, &pieces);
        let lab = Interrupted::new(&old, &new);
        let found = lab.now(&torn);
        let after = get(&lab.target);
        prop_assert!(after == old || after == new, "{found:?}");
        prop_assert!(lab.journals().is_empty(), "{found:?}");
        prop_assert_eq!(found.len(), 1);
        let whole = torn == old || torn == new;
        prop_assert_eq!(found[0].outcome, if whole { Outcome::Whole } else { Outcome::Redone });
    }

    #[test]
    fn every_foreign_edit_is_left_alone(
        old in content(), new in content(), pieces in pieces(), at in 0usize..9000, byte in 1u8.., kind in 0u8..4,
    ) {
        prop_assume!(old != new);
        let length = old.len().max(new.len());
        let mut edited = mixture(&old, &new, length, &pieces);
        let at = at % edited.len();
        match kind {
            // One byte that neither version has there.
            0 => {
                prop_assume!(old.get(at) != Some(&byte) && new.get(at) != Some(&byte));
                edited[at] = byte;
            }
            // A line more, or less, than either version is long.
            1 => edited.extend(b"\nADDED=by hand\n"),
            2 => edited.truncate(old.len().min(new.len()).saturating_sub(1)),
            // A line typed in at the top, which moves everything down.
            _ => {
                prop_assume!(edited.len() > 600);
                edited.splice(0..0, *b"# typed by hand\n");
                edited.truncate(length);
            }
        }
        prop_assume!(edited != old && edited != new);
        let lab = Interrupted::new(&old, &new);
        let found = lab.now(&edited);
        prop_assert_eq!(found.len(), 1);
        prop_assert_eq!(found[0].outcome, Outcome::Conflict);
        prop_assert_eq!(get(&lab.target), edited);
        prop_assert_eq!(lab.journals().len(), 1, "the journal must stay");
    }
}

#[test]
fn a_conflict_can_be_settled_each_way() {
    let (old, new) = (text("old", 2000), text("new", 2000));
    for (resolution, expected) in [
        (Resolution::KeepFile, b"by hand\n".to_vec()),
        (Resolution::TakeOld, old.clone()),
        (Resolution::TakeNew, new.clone()),
    ] {
        let lab = Interrupted::new(&old, &new);
        let found = lab.now(b"by hand\n");
        assert_eq!(found[0].outcome, Outcome::Conflict);
        assert!(found[0].outcome.needs_attention());
        resolve_conflict(&found[0].leftover, resolution, &lab.options()).unwrap();
        assert_eq!(get(&lab.target), expected, "{resolution:?}");
        assert!(lab.journals().is_empty());
        assert!(recover(&lab.options()).is_empty());
    }
}

#[test]
fn a_conflict_does_not_stand_in_the_way_of_the_next_save() {
    let lab = Interrupted::new(&text("old", 2000), &text("new", 2000));
    lab.now(b"by hand\n");
    let report = write(&lab.target, b"next\n", &lab.options()).unwrap();
    assert_eq!(get(&lab.target), b"next\n");
    assert_eq!(report.recovered[0].outcome, Outcome::Conflict);
    assert_eq!(lab.journals().len(), 1);
}

#[test]
fn the_next_save_recovers_first() {
    let (old, new) = (text("old", 2000), text("new", 3000));
    let lab = Interrupted::new(&old, &new);
    let mut torn = new[..2500].to_vec();
    torn[..100].copy_from_slice(&old[..100]);
    put(&lab.target, &torn, 0o600);
    // An edit based on the torn bytes must not be saved over the repaired file.
    let error = write(&lab.target, b"x\n", &lab.options().expecting(torn)).unwrap_err();
    assert_eq!(error.kind, hermes_tui::writer::FailureKind::Changed);
    assert_eq!(get(&lab.target), new);
}

#[test]
fn a_damaged_journal_is_reported_and_not_used() {
    let (old, new) = (text("old", 2000), text("new", 2000));
    let lab = Interrupted::new(&old, &new);
    let journal = lab.journals()[0].0.clone();
    let mut bytes = get(&journal);
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x20;
    put(&journal, &bytes, 0o600);
    let found = recover(&lab.options());
    assert_eq!(found[0].outcome, Outcome::Unreadable);
    assert!(found[0].detail.contains("checksum"), "{}", found[0].detail);
    assert_eq!(get(&lab.target), old);
    assert!(journal.exists());
    // It can be thrown away, and nothing else.
    assert!(resolve_conflict(&journal, Resolution::TakeNew, &lab.options()).is_err());
    resolve_conflict(&journal, Resolution::KeepFile, &lab.options()).unwrap();
    assert!(!journal.exists());
    assert_eq!(get(&lab.target), old);
}

#[test]
fn a_journal_that_others_may_write_is_not_trusted() {
    let (old, new) = (text("old", 2000), text("new", 2000));
    let lab = Interrupted::new(&old, &new);
    let journal = lab.journals()[0].0.clone();
    put(&journal, get(&journal), 0o622);
    let mut torn = old.clone();
    torn[..300].copy_from_slice(&new[..300]);
    let found = lab.now(&torn);
    assert_eq!(found[0].outcome, Outcome::Unreadable, "{found:?}");
    assert_eq!(get(&lab.target), torn);
}

#[test]
fn another_users_journal_is_not_trusted_unless_the_file_is_theirs() {
    if !writer_support::is_root() {
        writer_support::skip(
            "another_users_journal",
            "needs root, to give files to others",
        );
        return;
    }
    let (old, new) = (text("old", 2000), text("new", 2000));
    let lab = Interrupted::new(&old, &new);
    let journal = lab.journals()[0].0.clone();
    std::os::unix::fs::chown(&journal, Some(12345), Some(12345)).unwrap();
    let mut torn = old.clone();
    torn[..300].copy_from_slice(&new[..300]);
    assert_eq!(lab.now(&torn)[0].outcome, Outcome::Unreadable);
    assert_eq!(
        get(&lab.target),
        torn,
        "root must not act on a journal that somebody planted"
    );
    std::os::unix::fs::chown(&lab.target, Some(12345), Some(12345)).unwrap();
    assert_eq!(recover(&lab.options())[0].outcome, Outcome::Redone);
    assert_eq!(get(&lab.target), new);
}

#[test]
fn a_file_that_is_gone_is_a_conflict() {
    let lab = Interrupted::new(&text("old", 2000), &text("new", 2000));
    std::fs::remove_file(&lab.target).unwrap();
    let found = recover(&lab.options());
    assert_eq!(found[0].outcome, Outcome::Conflict);
    assert_eq!(lab.journals().len(), 1);
}

#[test]
fn a_journal_is_found_whatever_the_working_directory_and_wherever_links_lead() {
    // The file lies outside the home; a link in the home leads there.
    let (old, new) = (text("old", 2000), text("new", 2000));
    let lab = Interrupted::new(&old, &new);
    let journal = lab.journals()[0].0.clone();
    let home = scratch();
    std::os::unix::fs::symlink(&lab.target, home.path().join("config.yaml")).unwrap();
    let mut torn = old.clone();
    torn[..300].copy_from_slice(&new[..300]);
    put(&lab.target, &torn, 0o600);
    let found = recover(&Options::new(home.path()));
    assert_eq!(found[0].leftover, journal);
    assert_eq!(found[0].outcome, Outcome::Redone);
    assert_eq!(get(&lab.target), new);
}

#[test]
fn only_staged_files_of_dead_processes_are_removed() {
    let home = scratch();
    let path = |name: &str| home.path().join(name);
    put(&path(".hermes-tui-00000001.tmp"), b"SECRET=1\n", 0o600);
    put(&path(".hermes-tui-00000002.tmp"), b"SECRET=2\n", 0o600);
    // Somebody else's, under the names that other programs use.
    for name in [
        "config.yaml.tmp",
        ".env_abc.tmp",
        ".hermes-tui-1.tmp",
        "auth.json.tmp.1.2",
    ] {
        put(&path(name), b"x", 0o600);
    }
    let live = std::fs::File::open(path(".hermes-tui-00000002.tmp")).unwrap();
    rustix::fs::flock(&live, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let found = recover(&Options::new(home.path()));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].outcome, Outcome::TempRemoved);
    assert_eq!(found[0].leftover, path(".hermes-tui-00000001.tmp"));
    assert!(!path(".hermes-tui-00000001.tmp").exists());
    assert!(
        path(".hermes-tui-00000002.tmp").exists(),
        "its writer lives"
    );
    for name in [
        "config.yaml.tmp",
        ".env_abc.tmp",
        ".hermes-tui-1.tmp",
        "auth.json.tmp.1.2",
    ] {
        assert!(path(name).exists(), "{name} is not ours");
    }
    drop(live);
    assert_eq!(recover(&Options::new(home.path())).len(), 1);
    assert!(
        leftovers(home.path())
            .iter()
            .all(|(path, _)| path.file_name() == Path::new("x/.hermes-tui-1.tmp").file_name())
    );
}

#[test]
fn a_journal_lies_only_where_the_next_start_looks() {
    // A link two levels down leads out of the home. Its directory is not looked through at start,
    // so the journal of a save through it has to lie in the home.
    let (home, out) = (scratch(), scratch());
    let target = out.path().join("jobs.json");
    put(&target, text("old", 2000), 0o600);
    std::fs::hard_link(&target, out.path().join("alias")).unwrap();
    std::fs::create_dir(home.path().join("cron")).unwrap();
    let link = home.path().join("cron/jobs.json");
    std::os::unix::fs::symlink(&target, &link).unwrap();
    let options = Options::new(home.path()).without_backup();
    let probe = Faulty::new(&Rules::default(), &[]);
    let new = text("new", 2000);
    let report = write_with(&probe, &link, &new, &options).unwrap();
    assert!(report.journal.unwrap().path.starts_with(home.path()));
    let at = probe
        .log
        .borrow()
        .iter()
        .rposition(|name| *name == "pwrite")
        .unwrap()
        + 1;
    put(&target, text("old", 2000), 0o600);
    let _ = write_with(
        &Faulty::new(&Rules::default(), &[(at, Fault::ShortStop)]),
        &link,
        &new,
        &options,
    );
    assert_ne!(get(&target), new);
    let found = recover(&options);
    assert_eq!(found[0].outcome, Outcome::Redone, "{found:?}");
    assert_eq!(get(&target), new);
}
