//! Every system call of a save fails once, in every way, in every kind of place; in process.
//!
//! After each fault: the target is the old or the new content (for an in-place write: after
//! recovery), success means the new one, an error the old one, links and hard links and mode stay,
//! nothing that was left is readable more widely than the target, and the next save sweeps it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods
)]

mod writer_support;

use std::path::Path;

use hermes_tui::writer::{
    self, FailureKind, Intact, Options, Outcome, SaveError, SaveReport, Strategy,
    atomic_replace_with, recover, recover_with, write_with,
};
use rustix::io::Errno;
use writer_support::faulty::{ERRORS, Fault, Faulty, Rules, Scene, changes, inode};
use writer_support::{
    Mounts, get, leftovers, mode, private_mounts, put, scratch, scratch_elsewhere, skip, text,
};

/// The kinds of place that a file can be in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    /// With a mode and an attribute that have to be put on the new file.
    Dressed,
    Absent,
    LinkElsewhere,
    FileMount,
    HardLink,
    ClosedDir,
}

/// A sweep's figures.
#[derive(Default)]
struct Tally {
    faults: usize,
    old: usize,
    new: usize,
    recovered: usize,
}

struct Lab {
    kind: Kind,
    near: tempfile::TempDir,
    far: Option<tempfile::TempDir>,
    /// The file mount is real, so no rule stands for it.
    real: bool,
    old: Vec<u8>,
    new: Vec<u8>,
}

impl Lab {
    fn new(kind: Kind, old: usize, new: usize) -> Self {
        Self {
            kind,
            near: scratch(),
            far: (kind == Kind::LinkElsewhere)
                .then(scratch_elsewhere)
                .flatten(),
            real: false,
            old: text("OLDSECRET", old),
            new: text("NEWSECRET", new),
        }
    }

    /// Lay everything out anew.
    fn scene(&self) -> Scene {
        let home = self.near.path().join("home");
        let target = home.join(".env");
        let aside = self.near.path().join("aside");
        if self.real {
            // The first time there is nothing to unmount.
            let _ = rustix::mount::unmount(&target, rustix::mount::UnmountFlags::DETACH);
        }
        for dir in [&home, &aside] {
            let _ = std::fs::remove_dir_all(dir);
            std::fs::create_dir(dir).unwrap();
        }
        let mut scene = Scene {
            home,
            alias: None,
            rules: Rules::default(),
            target,
        };
        let file = aside.join("file");
        match self.kind {
            Kind::Plain => put(&scene.target, &self.old, 0o600),
            Kind::Dressed => {
                put(&scene.target, &self.old, 0o640);
                dress(&scene.target);
            }
            Kind::Absent => {}
            Kind::LinkElsewhere => {
                let far = self.far.as_ref().map_or(aside.as_path(), |far| far.path());
                for entry in std::fs::read_dir(far).unwrap() {
                    std::fs::remove_file(entry.unwrap().path()).unwrap();
                }
                put(&far.join("env"), &self.old, 0o600);
                std::os::unix::fs::symlink(far.join("env"), &scene.target).unwrap();
            }
            Kind::FileMount if self.real => {
                put(&file, &self.old, 0o600);
                put(&scene.target, b"", 0o600);
                rustix::mount::mount_bind(&file, &scene.target).unwrap();
                scene.alias = Some(file);
            }
            Kind::FileMount => {
                put(&scene.target, &self.old, 0o600);
                scene.rules.busy = Some(".env".into());
            }
            Kind::HardLink => {
                put(&scene.target, &self.old, 0o600);
                std::fs::hard_link(&scene.target, &file).unwrap();
                scene.alias = Some(file);
            }
            Kind::ClosedDir => {
                put(&file, &self.old, 0o600);
                std::os::unix::fs::symlink(&file, &scene.target).unwrap();
                scene.rules.closed_dir = Some(inode(&aside));
            }
        }
        scene
    }

    fn options(&self, scene: &Scene) -> Options {
        let options = Options::new(&scene.home);
        if self.kind == Kind::Absent {
            options
        } else {
            options.expecting(self.old.clone())
        }
    }

    fn has_old(&self, scene: &Scene) -> bool {
        if self.kind == Kind::Absent {
            !scene.target.exists()
        } else {
            std::fs::read(&scene.target).is_ok_and(|now| now == self.old)
        }
    }

    fn has_new(&self, scene: &Scene) -> bool {
        std::fs::read(&scene.target).is_ok_and(|now| now == self.new)
    }

    fn save(&self, scene: &Scene, faulty: &Faulty) -> Result<SaveReport, SaveError> {
        write_with(faulty, &scene.target, &self.new, &self.options(scene))
    }

    /// One run with these faults, and everything that must be true afterwards.
    fn run(&self, faults: &[(usize, Fault)], tally: &mut Tally) {
        let scene = self.scene();
        let kernel = Faulty::new(&scene.rules, faults);
        let result = self.save(&scene, &kernel);
        let at = format!(
            "{:?} {faults:?} at {:?}",
            self.kind,
            fault_names(&kernel, faults)
        );
        self.judge(&scene, &kernel, &result, &at, tally);
    }

    fn judge(
        &self,
        scene: &Scene,
        faulty: &Faulty,
        result: &Result<SaveReport, SaveError>,
        at: &str,
        tally: &mut Tally,
    ) {
        tally.faults += 1;
        if !faulty.is_dead() {
            match &result {
                Ok(report) => {
                    assert!(self.has_new(scene), "{at}: success without the new bytes");
                    assert!(
                        report.strategy == self.usual() || report.strategy == Strategy::InPlace,
                        "{at}: {}",
                        report.strategy
                    );
                }
                Err(error) => match error.intact {
                    Intact::NothingChanged | Intact::Restored => {
                        assert!(
                            self.has_old(scene),
                            "{at}: an error, but not the old bytes: {error}"
                        );
                    }
                    Intact::NeedsRecovery => {
                        let journal = error.journal.as_ref().unwrap();
                        assert!(journal.exists(), "{at}: the journal is gone: {error}");
                    }
                },
            }
        }
        self.nothing_is_wider(scene, at);
        let before = self.has_old(scene) || self.has_new(scene);
        let found = recover(&Options::new(&scene.home));
        assert!(
            self.has_old(scene) || self.has_new(scene),
            "{at}: neither version after recovery: {found:?}"
        );
        tally.recovered += usize::from(!before);
        tally.old += usize::from(self.has_old(scene));
        tally.new += usize::from(self.has_new(scene));
        self.everything_stays(scene, at);
        // The next save finds nothing in its way and leaves nothing behind.
        let next = text("NEXT", 2500);
        let report = write_with(
            &Faulty::new(&scene.rules, &[]),
            &scene.target,
            &next,
            &Options::new(&scene.home),
        )
        .unwrap_or_else(|error| panic!("{at}: the next save failed: {error}"));
        assert_eq!(get(&scene.target), next, "{at}");
        assert!(report.warnings.is_empty(), "{at}: {:?}", report.warnings);
        let mut left = leftovers(self.near.path());
        left.extend(self.far.iter().flat_map(|far| leftovers(far.path())));
        assert!(left.is_empty(), "{at}: left behind: {left:?}");
        self.everything_stays(scene, at);
    }

    fn mode(&self) -> u32 {
        if self.kind == Kind::Dressed {
            0o640
        } else {
            0o600
        }
    }

    fn usual(&self) -> Strategy {
        match self.kind {
            Kind::Plain | Kind::Dressed | Kind::Absent | Kind::LinkElsewhere => Strategy::Replace,
            Kind::FileMount | Kind::HardLink | Kind::ClosedDir => Strategy::InPlace,
        }
    }

    fn nothing_is_wider(&self, scene: &Scene, at: &str) {
        let mut left = leftovers(self.near.path());
        left.extend(self.far.iter().flat_map(|far| leftovers(far.path())));
        if let Ok(backups) = std::fs::read_dir(scene.home.join("backups")) {
            left.extend(
                backups
                    .map(|entry| entry.unwrap().path())
                    .map(|path| (path.clone(), mode(&path))),
            );
        }
        for (path, mode) in left {
            assert_eq!(
                mode & 0o177 & !self.mode(),
                0,
                "{at}: {} has mode {mode:o}",
                path.display()
            );
        }
    }

    fn everything_stays(&self, scene: &Scene, at: &str) {
        if matches!(self.kind, Kind::LinkElsewhere | Kind::ClosedDir) {
            assert!(scene.target.is_symlink(), "{at}: the link is gone");
        }
        if scene.target.exists() {
            assert_eq!(mode(&scene.target), self.mode(), "{at}");
            if self.kind == Kind::Dressed {
                let mut note = [0u8; 16];
                let length = rustix::fs::getxattr(&scene.target, NOTE, &mut note).unwrap();
                assert_eq!(&note[..length], b"kept", "{at}");
            }
        }
        if let Some(alias) = &scene.alias {
            assert_eq!(
                get(alias),
                get(&scene.target),
                "{at}: the other name shows another file"
            );
        }
    }

    /// Every call × every fault.
    fn sweep(&self) -> Tally {
        let mut tally = Tally::default();
        let scene = self.scene();
        let probe = Faulty::new(&scene.rules, &[]);
        let report = self.save(&scene, &probe).unwrap();
        assert_eq!(report.strategy, self.usual());
        assert!(report.warnings.is_empty(), "{:?}", report.warnings);
        let faults = ERRORS.iter().map(|errno| Fault::Fail(*errno)).chain([
            Fault::Short,
            Fault::Stop,
            Fault::ShortStop,
        ]);
        for fault in faults {
            for k in 1..=probe.calls() {
                self.run(&[(k, fault)], &mut tally);
            }
        }
        tally
    }
}

fn fault_names(kernel: &Faulty, faults: &[(usize, Fault)]) -> Vec<&'static str> {
    let log = kernel.log.borrow();
    faults
        .iter()
        .map(|(k, _)| log.get(k - 1).copied().unwrap_or("-"))
        .collect()
}

fn figure(name: &str, tally: &Tally) {
    println!(
        "FIGURE {name}: {} faults, old {}, new {}, of these repaired {}, torn 0, lost 0",
        tally.faults, tally.old, tally.new, tally.recovered
    );
}

/// Same size, growing and shrinking.
const SIZES: [(usize, usize); 3] = [(3000, 3000), (1500, 6000), (6000, 1500)];

fn sweep_all_sizes(kind: Kind, name: &str, real: bool) {
    let mut sum = Tally::default();
    for (old, new) in SIZES {
        let mut lab = Lab::new(kind, old, new);
        lab.real = real;
        let tally = lab.sweep();
        sum.faults += tally.faults;
        sum.old += tally.old;
        sum.new += tally.new;
        sum.recovered += tally.recovered;
        if real {
            rustix::mount::unmount(
                lab.near.path().join("home/.env"),
                rustix::mount::UnmountFlags::DETACH,
            )
            .unwrap();
        }
    }
    figure(name, &sum);
}

#[test]
fn a_plain_file() {
    sweep_all_sizes(Kind::Plain, "plain", false);
}

#[test]
fn a_file_with_a_mode_and_attributes() {
    let probe = scratch();
    put(&probe.path().join("x"), b"", 0o600);
    if !try_dress(&probe.path().join("x")) {
        skip(
            "a_file_with_a_mode_and_attributes",
            "no user attributes on this filesystem",
        );
        return;
    }
    sweep_all_sizes(Kind::Dressed, "mode and attributes", false);
}

const NOTE: &str = "user.note";

fn try_dress(path: &Path) -> bool {
    let flags = rustix::fs::XattrFlags::empty();
    rustix::fs::setxattr(path, NOTE, b"kept", flags).is_ok()
}

fn dress(path: &Path) {
    assert!(try_dress(path));
}

#[test]
fn a_file_that_does_not_exist_yet() {
    let tally = Lab::new(Kind::Absent, 3000, 3000).sweep();
    figure("new file", &tally);
}

#[test]
fn a_link_to_another_filesystem() {
    let name = "a_link_to_another_filesystem";
    if scratch_elsewhere().is_none() {
        skip(
            name,
            "there is no second filesystem to write to; links on one filesystem were swept",
        );
    }
    sweep_all_sizes(Kind::LinkElsewhere, "link across filesystems", false);
}

#[test]
fn a_file_that_cannot_be_renamed_over() {
    sweep_all_sizes(Kind::FileMount, "rename answers EBUSY", false);
}

#[test]
fn a_file_that_is_really_mounted() {
    if let Mounts::Inside = private_mounts("a_file_that_is_really_mounted") {
        sweep_all_sizes(Kind::FileMount, "bind-mounted file", true);
    }
}

#[test]
fn a_file_with_two_names() {
    sweep_all_sizes(Kind::HardLink, "hard link", false);
}

#[test]
fn a_directory_that_takes_no_new_file() {
    sweep_all_sizes(Kind::ClosedDir, "unwritable directory", false);
}

#[test]
fn a_storage_error_never_leads_to_a_riskier_way() {
    for kind in [Kind::Plain, Kind::LinkElsewhere] {
        let lab = Lab::new(kind, 3000, 3000);
        let scene = lab.scene();
        let probe = Faulty::new(&scene.rules, &[]);
        lab.save(&scene, &probe).unwrap();
        for errno in [Errno::NOSPC, Errno::DQUOT, Errno::IO, Errno::FBIG] {
            for k in 1..=probe.calls() {
                let scene = lab.scene();
                let faulty = Faulty::new(&scene.rules, &[(k, Fault::Fail(errno))]);
                if let Ok(report) = lab.save(&scene, &faulty) {
                    assert_eq!(
                        report.strategy,
                        Strategy::Replace,
                        "{kind:?}: {errno:?} at call {k}"
                    );
                }
            }
        }
    }
}

#[test]
fn two_faults_in_a_row_lose_nothing() {
    let mut tally = Tally::default();
    for (kind, old, new) in [
        (Kind::HardLink, 1500, 4000),
        (Kind::HardLink, 4000, 1500),
        (Kind::FileMount, 3000, 3000),
        (Kind::Plain, 3000, 3000),
    ] {
        let lab = Lab::new(kind, old, new);
        for (first, second) in [
            (Fault::Fail(Errno::IO), Fault::Fail(Errno::IO)),
            (Fault::Fail(Errno::IO), Fault::Stop),
            (Fault::Fail(Errno::IO), Fault::ShortStop),
            (Fault::Short, Fault::Fail(Errno::NOSPC)),
            (Fault::Fail(Errno::NOSPC), Fault::Fail(Errno::IO)),
        ] {
            let mut k = 1;
            loop {
                // The second fault is wherever the way after the first one leads.
                let scene = lab.scene();
                let probe = Faulty::new(&scene.rules, &[(k, first)]);
                let _ = lab.save(&scene, &probe);
                let log = probe.log.borrow().clone();
                if k > log.len() {
                    break;
                }
                if changes(log[k - 1]) {
                    for (j, name) in log.iter().enumerate().skip(k) {
                        if changes(name) {
                            lab.run(&[(k, first), (j + 1, second)], &mut tally);
                        }
                    }
                }
                k += 1;
            }
        }
    }
    figure("two faults", &tally);
}

#[test]
fn a_failed_rollback_says_so_and_recovery_repairs_it() {
    // Every write after the first fails, so the rollback fails as well.
    let lab = Lab::new(Kind::HardLink, 3000, 3000);
    let scene = lab.scene();
    let probe = Faulty::new(&scene.rules, &[]);
    lab.save(&scene, &probe).unwrap();
    let at = probe
        .log
        .borrow()
        .iter()
        .position(|name| *name == "pwrite")
        .unwrap()
        + 1;
    let scene = lab.scene();
    let faulty = Faulty::new(
        &scene.rules,
        &[
            (at, Fault::Short),
            (at + 1, Fault::Fail(Errno::IO)),
            (at + 2, Fault::Fail(Errno::IO)),
        ],
    );
    let error = lab.save(&scene, &faulty).unwrap_err();
    assert_eq!(
        (error.kind, error.intact),
        (FailureKind::NeedsRecovery, Intact::NeedsRecovery),
        "{error}"
    );
    assert!(error.hint().contains("recover"), "{}", error.hint());
    assert!(
        !lab.has_old(&scene) && !lab.has_new(&scene),
        "the file should be torn here"
    );
    let found = recover(&Options::new(&scene.home));
    let outcomes: Vec<Outcome> = found.iter().map(|recovery| recovery.outcome).collect();
    assert_eq!(outcomes, [Outcome::Redone], "{found:?}");
    assert!(lab.has_new(&scene));
}

#[test]
fn a_fault_during_recovery_keeps_a_whole_copy() {
    let mut tally = Tally::default();
    for (old, new) in SIZES {
        let lab = Lab::new(Kind::HardLink, old, new);
        let torn = || {
            let scene = lab.scene();
            let probe = Faulty::new(&scene.rules, &[]);
            lab.save(&scene, &probe).unwrap();
            let at = probe
                .log
                .borrow()
                .iter()
                .position(|name| *name == "pwrite")
                .unwrap()
                + 1;
            let scene = lab.scene();
            let faulty = Faulty::new(&scene.rules, &[(at, Fault::ShortStop)]);
            let _ = lab.save(&scene, &faulty);
            assert!(
                !lab.has_old(&scene) && !lab.has_new(&scene),
                "the file should be torn here"
            );
            scene
        };
        let scene = torn();
        let probe = Faulty::new(&scene.rules, &[]);
        recover_with(&probe, &Options::new(&scene.home));
        assert!(lab.has_new(&scene));
        for fault in ERRORS.iter().map(|errno| Fault::Fail(*errno)).chain([
            Fault::Short,
            Fault::Stop,
            Fault::ShortStop,
        ]) {
            for k in 1..=probe.calls() {
                let scene = torn();
                let faulty = Faulty::new(&scene.rules, &[(k, fault)]);
                recover_with(&faulty, &Options::new(&scene.home));
                let at = format!(
                    "recovery, {fault:?} at {k} {:?}",
                    fault_names(&faulty, &[(k, fault)])
                );
                let whole = lab.has_old(&scene) || lab.has_new(&scene);
                let journals = leftovers(lab.near.path())
                    .iter()
                    .any(|(path, _)| path.extension().is_some_and(|ending| ending == "journal"));
                assert!(whole || journals, "{at}: both versions are lost");
                recover(&Options::new(&scene.home));
                assert!(
                    lab.has_old(&scene) || lab.has_new(&scene),
                    "{at}: not repaired by the next run"
                );
                assert!(leftovers(lab.near.path()).is_empty(), "{at}");
                tally.faults += 1;
                tally.old += usize::from(lab.has_old(&scene));
                tally.new += usize::from(lab.has_new(&scene));
                tally.recovered += usize::from(!whole);
            }
        }
    }
    figure("fault during recovery", &tally);
}

#[test]
fn a_handed_file_is_removed_after_success_only() {
    let far = scratch_elsewhere();
    if far.is_none() {
        skip(
            "a_handed_file_is_removed_after_success_only",
            "no second filesystem for the restaged half",
        );
    }
    let mut tally = Tally::default();
    for (kind, other_mount) in [
        (Kind::Plain, false),
        (Kind::Plain, true),
        (Kind::HardLink, true),
        (Kind::FileMount, false),
    ] {
        let far = match (&far, other_mount) {
            (Some(far), true) => Some(far.path()),
            (None, true) => continue,
            (_, false) => None,
        };
        let lab = Lab::new(kind, 3000, 4000);
        let run = |faults: &[(usize, Fault)]| {
            let scene = lab.scene();
            let tmp = far.unwrap_or(&scene.home).join("handed.new");
            put(&tmp, &lab.new, 0o600);
            let kernel = Faulty::new(&scene.rules, faults);
            let result = atomic_replace_with(&kernel, &tmp, &scene.target, &lab.options(&scene));
            (scene, tmp, kernel, result)
        };
        let (_, tmp, probe, report) = run(&[]);
        let report = report.unwrap();
        let expected = match (kind, other_mount) {
            (Kind::Plain, true) => Strategy::Restaged,
            (Kind::Plain, false) => Strategy::Replace,
            _ => Strategy::InPlace,
        };
        assert_eq!(report.strategy, expected);
        assert!(!tmp.exists());
        for fault in ERRORS.iter().map(|errno| Fault::Fail(*errno)).chain([
            Fault::Short,
            Fault::Stop,
            Fault::ShortStop,
        ]) {
            for k in 1..=probe.calls() {
                let (scene, tmp, faulty, result) = run(&[(k, fault)]);
                let at = format!(
                    "handed {kind:?} {fault:?} at {k} {:?}",
                    fault_names(&faulty, &[(k, fault)])
                );
                let whole_tmp = std::fs::read(&tmp).is_ok_and(|bytes| bytes == lab.new);
                if faulty.is_dead() {
                    assert!(
                        whole_tmp || lab.has_new(&scene),
                        "{at}: the new content is lost"
                    );
                } else if let Err(error) = &result {
                    assert!(
                        whole_tmp,
                        "{at}: an error, but the handed file is gone: {error}"
                    );
                }
                let _ = std::fs::remove_file(&tmp);
                check_handed(&lab, &scene, &faulty, result, &at, &mut tally);
            }
        }
    }
    figure("handed file", &tally);
}

fn check_handed(
    lab: &Lab,
    scene: &Scene,
    faulty: &Faulty,
    result: Result<SaveReport, SaveError>,
    at: &str,
    tally: &mut Tally,
) {
    // A handed file may come by any of the ways; the rest is judged like a write.
    let result = result.map(|mut report| {
        if report.strategy == Strategy::Restaged || report.strategy == Strategy::Replace {
            report.strategy = lab.usual();
        }
        report
    });
    lab.judge(scene, faulty, &result, at, tally);
}

#[test]
fn the_report_tells_the_calls_that_failed() {
    let lab = Lab::new(Kind::FileMount, 3000, 3000);
    let scene = lab.scene();
    let report = lab.save(&scene, &Faulty::new(&scene.rules, &[])).unwrap();
    let told: Vec<(&str, &str, &Path)> = report
        .attempts
        .iter()
        .map(|attempt| {
            (
                attempt.syscall,
                attempt.name.as_str(),
                attempt.path.as_path(),
            )
        })
        .collect();
    assert_eq!(told, [("renameat", "EBUSY", scene.target.as_path())]);
    assert!(report.journal.is_some());
    assert!(report.durable.file && report.durable.dir);
    assert_eq!(report.inode.before, report.inode.after);
    let _ = writer::predict(&scene.target, &Options::new(&scene.home));
}

#[test]
fn a_link_that_the_kernel_refuses_is_not_followed() {
    // What fs.protected_symlinks answers for another user's link in a sticky directory.
    let lab = Lab::new(Kind::ClosedDir, 3000, 3000);
    let scene = lab.scene();
    let probe = Faulty::new(&Rules::default(), &[]);
    lab.save(&scene, &probe).unwrap();
    let scene = lab.scene();
    let log = probe.log.borrow();
    // The first readlink that is followed by an open is the one of the link itself.
    let at = log
        .windows(2)
        .position(|pair| pair == ["readlink", "open"])
        .unwrap()
        + 2;
    let faulty = Faulty::new(&Rules::default(), &[(at, Fault::Fail(Errno::ACCESS))]);
    let error = lab.save(&scene, &faulty).unwrap_err();
    assert_eq!(error.kind, FailureKind::NotWritable);
    assert!(
        error
            .to_string()
            .contains("does not let this user follow the link"),
        "{error}"
    );
    assert!(lab.has_old(&scene));
}
