//! The real program, killed at every call that changes a file, and with every error at each of them.
//!
//! After each fault `recover` runs. Counted: the file holds the old or the new content, exit code 0
//! means the new one, nothing is readable more widely than the file, links and hard links stay, and
//! nothing of ours is left.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods
)]

mod writer_support;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use writer_support::inject::{ERRORS, Injector, Mode};
use writer_support::{Mounts, get, leftovers, mode, private_mounts, put, sh, skip, text, works};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Plain,
    LinkElsewhere,
    FileMount,
    HardLink,
    ClosedDir,
}

struct Matrix {
    base: PathBuf,
    injector: Injector,
    place: Place,
    old: Vec<u8>,
    new: Vec<u8>,
}

#[derive(Default)]
struct Tally {
    points: usize,
    old: usize,
    new: usize,
    repaired: usize,
}

impl Matrix {
    fn home(&self) -> PathBuf {
        self.base.join("home")
    }

    fn target(&self) -> PathBuf {
        self.home().join(".env")
    }

    /// Another path to the same file.
    fn real(&self) -> PathBuf {
        match self.place {
            Place::Plain => self.target(),
            Place::LinkElsewhere => self.base.join("far/env"),
            Place::FileMount | Place::HardLink => self.base.join("aside/env"),
            Place::ClosedDir => self.base.join("closed/env"),
        }
    }

    fn lay_out(&self) {
        if self.place == Place::ClosedDir && self.base.join("closed").exists() {
            sh(&format!("chattr -i {}", self.base.join("closed").display()));
        }
        for mount in [self.target(), self.base.join("far")] {
            // The first time there is nothing to unmount.
            let _ = rustix::mount::unmount(&mount, rustix::mount::UnmountFlags::DETACH);
        }
        for dir in ["home", "aside", "far", "closed"] {
            let dir = self.base.join(dir);
            let _ = std::fs::remove_dir_all(&dir);
            std::fs::create_dir(&dir).unwrap();
        }
        let (target, real) = (self.target(), self.real());
        match self.place {
            Place::Plain => put(&target, &self.old, 0o600),
            Place::LinkElsewhere => {
                let flags = rustix::mount::MountFlags::empty();
                rustix::mount::mount("far", self.base.join("far"), "tmpfs", flags, None).unwrap();
                put(&real, &self.old, 0o600);
                std::os::unix::fs::symlink(&real, &target).unwrap();
            }
            Place::FileMount => {
                put(&real, &self.old, 0o600);
                put(&target, b"", 0o600);
                rustix::mount::mount_bind(&real, &target).unwrap();
            }
            Place::HardLink => {
                put(&target, &self.old, 0o600);
                std::fs::hard_link(&target, &real).unwrap();
            }
            Place::ClosedDir => {
                put(&real, &self.old, 0o600);
                std::os::unix::fs::symlink(&real, &target).unwrap();
                sh(&format!("chattr +i {}", self.base.join("closed").display()));
            }
        }
    }

    fn save(&self, mode: Mode, k: usize) -> i32 {
        let from = self.base.join("new");
        put(&from, &self.new, 0o600);
        let (target, home) = (self.target(), self.home());
        let args: [&OsStr; 6] = [
            "write".as_ref(),
            target.as_ref(),
            "--from".as_ref(),
            from.as_ref(),
            "--home".as_ref(),
            home.as_ref(),
        ];
        self.injector.run(mode, k, &args)
    }

    fn recover(&self) -> i32 {
        let home = self.home();
        self.injector
            .plain(&["recover".as_ref(), "--home".as_ref(), home.as_ref()])
    }

    fn is_old(&self) -> bool {
        std::fs::read(self.target()).is_ok_and(|now| now == self.old)
    }

    fn is_new(&self) -> bool {
        std::fs::read(self.target()).is_ok_and(|now| now == self.new)
    }

    /// One fault, and what must be true afterwards.
    fn point(&self, mode: Mode, k: usize, tally: &mut Tally) {
        self.lay_out();
        let code = self.save(mode, k);
        let at = format!(
            "{:?} {mode:?} at {k} ({:?})",
            self.place,
            self.injector.calls().last()
        );
        if code == 0 {
            assert!(self.is_new(), "{at}: exit 0 without the new bytes");
        } else if !matches!(mode, Mode::Kill | Mode::ShortKill) {
            assert_eq!(code, 1, "{at}");
            assert!(self.is_old(), "{at}: exit 1, but not the old bytes");
        }
        nothing_is_wider(&self.base, &at);
        let whole = self.is_old() || self.is_new();
        self.recover();
        assert!(
            self.is_old() || self.is_new(),
            "{at}: neither version after recovery"
        );
        assert_eq!(leftovers(&self.base), [], "{at}");
        assert_eq!(
            get(&self.real()),
            get(&self.target()),
            "{at}: the two paths show two files"
        );
        assert_eq!(self.mode_of_target(), 0o600, "{at}");
        if matches!(self.place, Place::LinkElsewhere | Place::ClosedDir) {
            assert!(self.target().is_symlink(), "{at}: the link is gone");
        }
        tally.points += 1;
        tally.old += usize::from(self.is_old());
        tally.new += usize::from(self.is_new());
        tally.repaired += usize::from(!whole);
    }

    fn mode_of_target(&self) -> u32 {
        mode(&self.target())
    }

    /// How many calls there are to interfere with.
    fn points(&self) -> usize {
        self.lay_out();
        let code = self.save(Mode::Count, 0);
        let calls = self.injector.calls();
        assert_eq!(code, 0, "the save works without a fault: {calls:?}");
        assert!(self.is_new());
        assert!(calls.len() >= 6, "too few calls were counted: {calls:?}");
        calls.len()
    }
}

fn nothing_is_wider(dir: &Path, at: &str) {
    for entry in std::fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() {
            nothing_is_wider(&path, at);
        } else if kind.is_file() {
            let holds = String::from_utf8_lossy(&get(&path)).contains("SECRET");
            assert!(
                !holds || mode(&path).is_multiple_of(0o100),
                "{at}: {} is too open",
                path.display()
            );
        }
    }
}

/// Same size, growing and shrinking.
const SIZES: [(usize, usize); 3] = [(20_000, 20_000), (20_000, 29_000), (20_000, 9_000)];

fn matrix(place: Place, name: &str) {
    let Mounts::Inside = private_mounts(name) else {
        return;
    };
    let base = std::env::temp_dir().join(format!("hermes-tui-kill-{}", std::process::id()));
    std::fs::create_dir_all(&base).unwrap();
    sh(&format!(
        "mount -t tmpfs -o mode=755 kill {}",
        base.display()
    ));
    std::fs::create_dir(base.join("tools")).unwrap();
    let injector = match Injector::build(&base.join("tools"), &base) {
        Ok(injector) => injector,
        Err(why) => return skip(name, &why),
    };
    if place == Place::ClosedDir
        && !works(&format!(
            "chattr +i {0}/tools && chattr -i {0}/tools",
            base.display()
        ))
    {
        return skip(name, "chattr does not work here");
    }
    let mut matrix = Matrix {
        base,
        injector,
        place,
        old: Vec::new(),
        new: Vec::new(),
    };
    let mut killed = Tally::default();
    let mut failed = Tally::default();
    for (index, (old, new)) in SIZES.into_iter().enumerate() {
        matrix.old = text("OLDSECRET", old);
        matrix.new = text("NEWSECRET", new);
        let points = matrix.points();
        for k in 1..=points {
            for mode in [Mode::Kill, Mode::ShortKill] {
                matrix.point(mode, k, &mut killed);
            }
            matrix.point(Mode::Short, k, &mut failed);
            // The errors do not depend on the sizes; one round of them is enough.
            for (errno, _) in ERRORS.iter().filter(|_| index == 0) {
                matrix.point(Mode::Fail(*errno), k, &mut failed);
            }
        }
    }
    for (what, tally) in [("killed", &killed), ("errors and short writes", &failed)] {
        println!(
            "FIGURE {} {place:?}, {what}: {} points, old {}, new {}, of these repaired {}, neither 0, too open 0",
            matrix.injector.name(),
            tally.points,
            tally.old,
            tally.new,
            tally.repaired
        );
    }
    if place == Place::ClosedDir {
        sh(&format!("chattr -i {}/closed", matrix.base.display()));
    }
    sh(&format!(
        "umount -R -l {0}; rmdir {0}",
        matrix.base.display()
    ));
}

#[test]
fn plain() {
    matrix(Place::Plain, "plain");
}

#[test]
fn link_elsewhere() {
    matrix(Place::LinkElsewhere, "link_elsewhere");
}

#[test]
fn file_mount() {
    matrix(Place::FileMount, "file_mount");
}

#[test]
fn hard_link() {
    matrix(Place::HardLink, "hard_link");
}

#[test]
fn closed_directory() {
    matrix(Place::ClosedDir, "closed_directory");
}
