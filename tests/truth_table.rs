//! Every kind of place a file can be in, on real mounts: the strategy, the error numbers and the
//! message that must come of it. Each row runs alone, in a mount namespace of its own.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods
)]

mod writer_support;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use hermes_tui::writer::{
    FailureKind, Intact, Kept, Options, SaveError, SaveReport, Strategy, atomic_replace, predict,
    probe, write,
};
use serde_json::Value;
use writer_support::{Mounts, get, leftovers, mode, private_mounts, put, sh, skip, text, works};

/// A memory filesystem of this row's own, with a home in it.
struct Lab {
    row: &'static str,
    base: PathBuf,
    home: PathBuf,
    old: Vec<u8>,
    new: Vec<u8>,
}

impl Lab {
    fn new(row: &'static str) -> Self {
        let base = std::env::temp_dir().join(format!("hermes-tui-row-{}", std::process::id()));
        std::fs::create_dir_all(&base).unwrap();
        sh(&format!(
            "mount -t tmpfs -o mode=755,size=64m row {}",
            base.display()
        ));
        let home = base.join("home");
        std::fs::create_dir(&home).unwrap();
        Self {
            row,
            home,
            old: text("old", 3000),
            new: text("new", 3600),
            base,
        }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.base.join(path)
    }

    /// A folder with a filesystem of its own.
    fn disk(&self, name: &str, options: &str) -> PathBuf {
        let path = self.at(name);
        std::fs::create_dir(&path).unwrap();
        sh(&format!(
            "mount -t tmpfs -o {options} {name} {}",
            path.display()
        ));
        path
    }

    fn options(&self) -> Options {
        Options::new(&self.home).without_backup()
    }

    fn save(&self, target: &Path) -> Result<SaveReport, SaveError> {
        write(target, &self.new, &self.options())
    }

    /// The save works, this way, and a prediction and a probe had said so.
    fn saved(&self, target: &Path, strategy: Strategy) -> SaveReport {
        let foreseen = predict(target, &self.options());
        let proved = probe(target, &self.options());
        let report = self
            .save(target)
            .unwrap_or_else(|error| panic!("{}: {error}", self.row));
        assert_eq!(report.strategy, strategy, "{}: {}", self.row, report.reason);
        assert_eq!(proved.strategy, Some(strategy), "probe: {}", proved.reason);
        assert_eq!(
            foreseen.strategy,
            Some(strategy),
            "predict: {}",
            foreseen.reason
        );
        assert_eq!(get(target), self.new);
        assert_eq!(leftovers(&self.base), [], "{}", self.row);
        report
    }

    /// The save is refused with this kind, everything is as it was, and the probe had said so.
    fn refused(&self, target: &Path, kind: FailureKind) -> SaveError {
        let proved = probe(target, &self.options());
        let error = self.save(target).unwrap_err();
        assert_eq!(error.kind, kind, "{}: {error}", self.row);
        assert_eq!(error.intact, Intact::NothingChanged);
        let told = proved.refusal.as_ref().map(|refusal| refusal.kind);
        assert_eq!(told, Some(kind), "probe: {}", proved.reason);
        assert_eq!(leftovers(&self.base), [], "{}", self.row);
        assert!(!error.hint().is_empty());
        error
    }

    /// The same as an unprivileged user, in another process.
    fn as_user(&self, job: &Value) -> Value {
        let exe = self.at("worker");
        if !exe.exists() {
            // The build folder may be closed to other users.
            std::fs::copy(std::env::current_exe().unwrap(), &exe).unwrap();
        }
        let output = Command::new("setpriv")
            .args(["--reuid=10001", "--regid=10001", "--clear-groups", "--"])
            .arg(&exe)
            .args(["--exact", "worker", "--nocapture", "--test-threads=1"])
            .env(JOB, job.to_string())
            .output()
            .unwrap();
        answer(&output)
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        sh(&format!(
            "umount -R -l {} && rmdir {}",
            self.base.display(),
            self.base.display()
        ));
    }
}

fn answer(output: &std::process::Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text
        .lines()
        .find_map(|line| line.split_once("JOB ").map(|(_, json)| json))
        .unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)));
    serde_json::from_str(line).unwrap()
}

const JOB: &str = "HERMES_TUI_TEST_JOB";

/// Not a test by itself: the half of a row that runs as somebody else. Without a job it does nothing.
#[test]
fn worker() {
    let Some(job) = std::env::var_os(JOB) else {
        return;
    };
    let job: Value = serde_json::from_slice(job.as_bytes()).unwrap();
    if let Some(limit) = job["limit"].as_u64() {
        hermes_tui::writer::ignore_file_size_signal().unwrap();
        let limit = rustix::process::Rlimit {
            current: Some(limit),
            maximum: Some(limit),
        };
        rustix::process::setrlimit(rustix::process::Resource::Fsize, limit).unwrap();
    }
    let options = Options::new(job["home"].as_str().unwrap()).without_backup();
    let target = PathBuf::from(job["target"].as_str().unwrap());
    let json = match write(&target, job["text"].as_str().unwrap().as_bytes(), &options) {
        Ok(report) => serde_json::to_value(report),
        Err(error) => serde_json::to_value(&error),
    };
    println!("JOB {}", json.unwrap());
}

/// Whether this process is root of the machine and not of a user namespace.
fn real_root() -> bool {
    std::fs::read_to_string("/proc/self/uid_map")
        .is_ok_and(|map| map.split_whitespace().nth(2) == Some("4294967295"))
}

/// Skip a row that needs more than private mounts.
fn needs(row: &str, has: bool, what: &str) -> bool {
    if !has {
        skip(row, what);
    }
    has
}

fn errnos(report: &SaveReport) -> Vec<(&str, &str)> {
    report
        .attempts
        .iter()
        .map(|attempt| (attempt.syscall, attempt.name.as_str()))
        .collect()
}

macro_rules! rows {
    ($($name:ident($lab:ident) $body:block)*) => {
        $(#[test]
        fn $name() {
            if let Mounts::Inside = private_mounts(stringify!($name)) {
                let $lab = &Lab::new(stringify!($name));
                $body
            }
        })*
    };
}

rows! {
    link_to_a_directory_on_another_filesystem(lab) {
        let far = lab.disk("far", "size=1m");
        put(&far.join("config.yaml"), &lab.old, 0o640);
        symlink(&far, lab.at("dot-hermes")).unwrap();
        let target = lab.at("dot-hermes/config.yaml");
        let report = lab.saved(&target, Strategy::Replace);
        assert_eq!(report.hops.len(), 1);
        assert_eq!(report.hops[0].link, lab.at("dot-hermes"));
        assert_eq!(report.real, far.join("config.yaml"));
        let mount = report.mount.unwrap();
        assert_eq!((mount.point.as_path(), mount.fs_type.as_str()), (far.as_path(), "tmpfs"));
        assert!(mount.super_options.contains("size=1024k"), "{}", mount.super_options);
        assert_eq!(mode(&target), 0o640);
    }

    link_to_a_file_on_another_filesystem(lab) {
        let far = lab.disk("far", "size=1m");
        put(&far.join("env"), &lab.old, 0o600);
        symlink("../far/env", lab.home.join(".env")).unwrap();
        let report = lab.saved(&lab.home.join(".env"), Strategy::Replace);
        assert_eq!(report.mount.unwrap().point, far);
        assert!(lab.home.join(".env").is_symlink());
        assert!(report.attempts.is_empty());
    }

    dangling_link_with_a_parent(lab) {
        let far = lab.disk("far", "size=1m");
        symlink(far.join("later"), lab.home.join(".env")).unwrap();
        let report = lab.saved(&lab.home.join(".env"), Strategy::Replace);
        assert!(report.created && lab.home.join(".env").is_symlink());
        assert_eq!(mode(&far.join("later")), 0o600, "a new file is private");
        assert_eq!(report.mount.unwrap().point, far);
    }

    dangling_link_without_a_parent(lab) {
        let link = lab.home.join(".env");
        symlink("nowhere/env", &link).unwrap();
        let error = lab.refused(&link, FailureKind::ParentMissing);
        let text = error.to_string();
        assert!(text.contains("home/nowhere does not exist") && text.contains("home/.env points there"), "{text}");
        assert_eq!(error.attempt.as_ref().unwrap().name, "ENOENT");
        assert!(link.is_symlink());
    }

    links_in_a_loop(lab) {
        symlink("b", lab.home.join("a")).unwrap();
        symlink("a", lab.home.join("b")).unwrap();
        symlink("config.yaml", lab.home.join("config.yaml")).unwrap();
        for name in ["a", "config.yaml"] {
            let error = lab.refused(&lab.home.join(name), FailureKind::Loop);
            assert!(error.to_string().contains("leads in a loop"), "{error}");
            assert_eq!(error.attempt.as_ref().unwrap().name, "ELOOP");
            assert!(lab.home.join(name).is_symlink(), "the link must stay");
        }
    }

    forty_links_are_followed(lab) {
        put(&lab.home.join("link-0"), &lab.old, 0o600);
        for hop in 1..=40 {
            symlink(format!("link-{}", hop - 1), lab.home.join(format!("link-{hop}"))).unwrap();
        }
        let report = lab.saved(&lab.home.join("link-40"), Strategy::Replace);
        assert_eq!(report.hops.len(), 40);
        assert_eq!(report.real, lab.home.join("link-0"));
        symlink("link-40", lab.home.join("link-41")).unwrap();
        lab.refused(&lab.home.join("link-41"), FailureKind::Loop);
    }

    file_mounted_singly(lab) {
        put(&lab.at("host.env"), &lab.old, 0o640);
        let target = lab.home.join(".env");
        put(&target, b"", 0o600);
        sh(&format!("mount --bind {} {}", lab.at("host.env").display(), target.display()));
        let before = std::fs::metadata(&target).unwrap().ino();
        let report = lab.saved(&target, Strategy::InPlace);
        assert_eq!(errnos(&report), [("renameat", "EBUSY")]);
        assert!(report.reason.contains("rename refused: EBUSY, the file is a mount point"), "{}", report.reason);
        assert_eq!(report.mount.unwrap().point, target);
        assert_eq!(report.inode.after, Some(before));
        assert_eq!(get(&lab.at("host.env")), lab.new);
        assert_eq!(mode(&target), 0o640);
        let foreseen = predict(&target, &lab.options());
        assert!(foreseen.target.unwrap().mount_root);
    }

    file_mounted_singly_and_read_only(lab) {
        put(&lab.at("host.env"), &lab.old, 0o600);
        let target = lab.home.join(".env");
        put(&target, b"", 0o600);
        sh(&format!(
            "mount --bind {0} {1}; mount -o remount,bind,ro {1}",
            lab.at("host.env").display(),
            target.display()
        ));
        let error = lab.refused(&target, FailureKind::ReadOnly);
        assert!(error.to_string().contains(&format!("mount {}", target.display())), "{error}");
        assert_eq!(error.attempt.as_ref().unwrap().name, "EROFS");
        assert_eq!(get(&target), lab.old);
    }

    writable_file_in_a_read_only_directory(lab) {
        put(&lab.at("host.env"), &lab.old, 0o600);
        let target = lab.home.join(".env");
        put(&target, b"", 0o600);
        sh(&format!(
            "mount --bind {0} {0}; mount -o remount,bind,ro {0}; mount --bind {1} {2}",
            lab.home.display(),
            lab.at("host.env").display(),
            target.display()
        ));
        // Without a writable place for the journal nothing may be risked.
        let error = lab.refused(&target, FailureKind::ReadOnly);
        assert!(error.to_string().contains("journal"), "{error}");
        assert_eq!(get(&target), lab.old);
        let mut options = lab.options();
        options.state_dir = Some(lab.at("state/hermes-tui"));
        let report = write(&target, &lab.new, &options).unwrap();
        assert_eq!(report.strategy, Strategy::InPlace);
        assert_eq!(errnos(&report), [("openat", "EROFS")]);
        assert!(report.journal.unwrap().path.starts_with(lab.at("state/hermes-tui")));
        assert_eq!(mode(&lab.at("state/hermes-tui")), 0o700);
        assert_eq!(get(&lab.at("host.env")), lab.new);
    }

    read_only_mount(lab) {
        let far = lab.disk("far", "size=1m");
        put(&far.join("env"), &lab.old, 0o600);
        sh(&format!("mount -o remount,bind,ro {}", far.display()));
        symlink(far.join("env"), lab.home.join(".env")).unwrap();
        symlink(far.join("new"), lab.home.join("new")).unwrap();
        for name in [".env", "new"] {
            let error = lab.refused(&lab.home.join(name), FailureKind::ReadOnly);
            let text = error.to_string();
            assert!(text.contains(&format!("mount {} (tmpfs", far.display())), "{text}");
            assert!(text.contains("read-only"), "{text}");
        }
    }

    nested_bind_of_one_filesystem(lab) {
        // One device number, two mounts: only the mount id tells.
        std::fs::create_dir(lab.at("inner")).unwrap();
        put(&lab.at("inner/env"), &lab.old, 0o600);
        sh(&format!("mount --bind {0} {0}", lab.at("inner").display()));
        let target = lab.at("inner/env");
        lab.saved(&target, Strategy::Replace);
        let tmp = lab.home.join("handed");
        put(&tmp, b"handed\n", 0o644);
        assert_eq!(writer_support::device(&tmp), writer_support::device(&target));
        let report = atomic_replace(&tmp, &target, &lab.options()).unwrap();
        assert_eq!(report.strategy, Strategy::Restaged);
        assert_eq!(errnos(&report), [("renameat", "EXDEV")]);
        assert_eq!((get(&target).as_slice(), mode(&target)), (&b"handed\n"[..], 0o600));
        assert!(!tmp.exists());
    }

    handed_file_on_another_filesystem(lab) {
        let far = lab.disk("far", "size=1m");
        let target = lab.home.join("channel_directory.json");
        put(&target, &lab.old, 0o640);
        if real_root() {
            chown(&target, Some(10_000), Some(10_000)).unwrap();
        }
        let before = std::fs::metadata(&target).unwrap();
        let tmp = far.join("handed");
        put(&tmp, &lab.new, 0o600);
        let report = atomic_replace(&tmp, &target, &lab.options()).unwrap();
        assert_eq!(report.strategy, Strategy::Restaged);
        assert_eq!(errnos(&report), [("renameat", "EXDEV")]);
        let after = std::fs::metadata(&target).unwrap();
        assert_eq!((after.mode(), after.uid(), after.gid()), (before.mode(), before.uid(), before.gid()));
        assert!(!tmp.exists());
        // Refused: the handed file stays.
        put(&tmp, &lab.old, 0o600);
        symlink("loop", lab.home.join("loop")).unwrap();
        atomic_replace(&tmp, &lab.home.join("loop"), &lab.options()).unwrap_err();
        assert_eq!(get(&tmp), lab.old);
        // The same file on both sides is a mistake, not a reason to remove it.
        symlink(&target, lab.home.join("alias")).unwrap();
        let error = atomic_replace(&target, &lab.home.join("alias"), &lab.options()).unwrap_err();
        assert_eq!(error.kind, FailureKind::BadSource);
        assert_eq!(get(&target), lab.new);
    }

    btrfs_subvolume(lab) {
        if needs(lab.row, real_root() && works("command -v mkfs.btrfs"), "needs root and mkfs.btrfs") {
            let disk = lab.at("disk");
            std::fs::create_dir(&disk).unwrap();
            sh(&format!(
                "truncate -s 200m {0}.img; mkfs.btrfs -qf {0}.img; mount -o loop {0}.img {0}; btrfs subvolume create {0}/sub",
                disk.display()
            ));
            let target = disk.join("sub/env");
            put(&target, &lab.old, 0o600);
            let report = lab.saved(&target, Strategy::Replace);
            assert_eq!(report.mount.unwrap().fs_type, "btrfs");
            let tmp = disk.join("handed");
            put(&tmp, b"handed\n", 0o600);
            let report = atomic_replace(&tmp, &target, &lab.options()).unwrap();
            assert_eq!((report.strategy, errnos(&report)), (Strategy::Restaged, vec![("renameat", "EXDEV")]));
            // In place, where every overwritten byte needs a new block.
            std::fs::hard_link(&target, disk.join("sub/alias")).unwrap();
            lab.saved(&target, Strategy::InPlace);
        }
    }

    directory_not_ours_file_ours(lab) {
        if needs(lab.row, real_root(), "needs root, to act as another user") {
            let dir = lab.at("closed");
            std::fs::create_dir(&dir).unwrap();
            put(&dir.join("env"), &lab.old, 0o600);
            chown(dir.join("env"), Some(10_001), Some(10_001)).unwrap();
            chown(&lab.home, Some(10_001), Some(10_001)).unwrap();
            let got = lab.as_user(&job(lab, &dir.join("env")));
            assert_eq!(got["strategy"], "in_place", "{got}");
            assert_eq!(got["attempts"][0]["name"], "EACCES");
            assert_eq!(got["attempts"][0]["syscall"], "openat");
            assert_eq!(get(&dir.join("env")), lab.new);
        }
    }

    file_not_ours_directory_ours(lab) {
        if needs(lab.row, real_root(), "needs root, to act as another user") {
            let target = lab.home.join("config.yaml");
            put(&target, &lab.old, 0o644);
            chown(&lab.home, Some(10_001), Some(10_001)).unwrap();
            let got = lab.as_user(&job(lab, &target));
            // A rename would work, and would give the file to another owner.
            assert_eq!(got["kind"], "not_writable", "{got}");
            assert_eq!(got["attempt"]["name"], "EACCES");
            assert!(got["reason"].as_str().unwrap().contains("owner 0:0, mode 0644"), "{got}");
            assert_eq!((get(&target), std::fs::metadata(&target).unwrap().uid()), (lab.old.clone(), 0));
            // Where its mode lets us write, the owner stays.
            put(&target, &lab.old, 0o666);
            let got = lab.as_user(&job(lab, &target));
            assert_eq!(got["strategy"], "in_place", "{got}");
            assert_eq!((&got["attempts"][0]["syscall"], &got["attempts"][0]["name"]), (&"fchown".into(), &"EPERM".into()));
            assert_eq!((get(&target), std::fs::metadata(&target).unwrap().uid()), (lab.new.clone(), 0));
        }
    }

    directory_that_cannot_be_read(lab) {
        if needs(lab.row, real_root(), "needs root, to act as another user") {
            let dir = lab.at("drop");
            std::fs::create_dir(&dir).unwrap();
            put(&dir.join("env"), &lab.old, 0o600);
            for path in [&dir, &dir.join("env"), &lab.home] {
                chown(path, Some(10_001), Some(10_001)).unwrap();
            }
            sh(&format!("chmod 0300 {}", dir.display()));
            let got = lab.as_user(&job(lab, &dir.join("env")));
            assert_eq!(got["strategy"], "replace", "{got}");
            assert_eq!(got["durable"]["dir"], true);
            assert!(got["warnings"][0].as_str().unwrap().contains("whole filesystem was synced"), "{got}");
            assert_eq!(get(&dir.join("env")), lab.new);
        }
    }

    sticky_directory_and_another_users_file(lab) {
        if needs(lab.row, real_root(), "needs root, to act as another user") {
            let dir = lab.at("sticky");
            std::fs::create_dir(&dir).unwrap();
            put(&dir.join("env"), &lab.old, 0o666);
            chown(dir.join("env"), Some(10_002), Some(10_002)).unwrap();
            chown(&lab.home, Some(10_001), Some(10_001)).unwrap();
            sh(&format!("chmod 1777 {}", dir.display()));
            let got = lab.as_user(&job(lab, &dir.join("env")));
            assert_eq!(got["strategy"], "in_place", "{got}");
            assert_eq!(got["attempts"][0]["name"], "EPERM");
            assert_eq!(get(&dir.join("env")), lab.new);
            assert_eq!(std::fs::metadata(dir.join("env")).unwrap().uid(), 10_002);
            // Root, with fs.protected_regular: no O_CREAT on the way, so nothing is refused.
            write(&dir.join("env"), b"root\n", &lab.options()).unwrap();
            assert_eq!(std::fs::metadata(dir.join("env")).unwrap().uid(), 10_002);
        }
    }

    link_that_the_kernel_would_not_follow(lab) {
        let dir = lab.disk("strict", "size=1m,nosymfollow");
        put(&lab.home.join("real"), &lab.old, 0o600);
        symlink(lab.home.join("real"), dir.join("env")).unwrap();
        let error = lab.refused(&dir.join("env"), FailureKind::NotWritable);
        assert!(error.to_string().contains("nosymfollow"), "{error}");
        assert_eq!(error.attempt.as_ref().unwrap().name, "ELOOP");
        // The other rule of that kind is a setting of the machine, which a test must not change; in
        // `faults` the kernel's answer is put in its place.
        let protected = std::fs::read_to_string("/proc/sys/fs/protected_symlinks").is_ok_and(|on| on.trim() == "1");
        if protected && real_root() {
            let dir = lab.at("sticky");
            std::fs::create_dir(&dir).unwrap();
            sh(&format!("chmod 1777 {}", dir.display()));
            symlink(lab.home.join("real"), dir.join("env")).unwrap();
            std::os::unix::fs::lchown(dir.join("env"), Some(10_002), Some(10_002)).unwrap();
            let error = lab.refused(&dir.join("env"), FailureKind::NotWritable);
            assert!(error.to_string().contains("does not let this user follow the link"), "{error}");
        }
        assert_eq!(get(&lab.home.join("real")), lab.old);
    }

    immutable_and_append_only_files(lab) {
        let target = lab.home.join("config.yaml");
        put(&target, &lab.old, 0o600);
        if needs(lab.row, works(&format!("chattr +i {0} && chattr -i {0}", target.display())), "chattr does not work here") {
            for (letter, kind, word) in [("i", FailureKind::Immutable, "immutable"), ("a", FailureKind::AppendOnly, "append-only")] {
                sh(&format!("chattr +{letter} {}", target.display()));
                let error = lab.refused(&target, kind);
                assert!(error.to_string().contains(word) && error.hint().contains("chattr -"), "{error} {}", error.hint());
                assert_eq!(get(&target), lab.old);
                sh(&format!("chattr -{letter} {}", target.display()));
            }
        }
    }

    immutable_directory(lab) {
        let dir = lab.at("fixed");
        std::fs::create_dir(&dir).unwrap();
        put(&dir.join("env"), &lab.old, 0o600);
        if needs(lab.row, works(&format!("chattr +i {}", dir.display())), "chattr does not work here") {
            let report = lab.saved(&dir.join("env"), Strategy::InPlace);
            assert_eq!(errnos(&report), [("openat", "EPERM")]);
            sh(&format!("chattr -i {}", dir.display()));
        }
    }

    full_filesystem(lab) {
        for (name, fill) in [("full", "400000"), ("nearly", "58000")] {
            let far = lab.disk(name, "size=64k");
            put(&far.join("env"), &lab.old, 0o600);
            assert!(!works(&format!("head -c {fill} /dev/zero > {}/fill", far.display())) || name == "nearly");
            let link = lab.home.join(name);
            symlink(far.join("env"), &link).unwrap();
            let big = text("new", 9000);
            let error = write(&link, &big, &lab.options()).unwrap_err();
            assert_eq!(error.kind, FailureKind::NoSpace, "{error}");
            let space = error.space.as_ref().unwrap();
            assert_eq!((space.needed, space.mount.as_path()), (12_288, far.as_path()));
            assert!(error.to_string().contains(&format!("{} missing", space.needed - space.free)), "{error}");
            assert_eq!(get(&link), lab.old);
            assert_eq!(leftovers(&lab.base), []);
        }
    }

    full_filesystem_behind_a_mounted_file(lab) {
        let far = lab.disk("far", "size=64k");
        put(&far.join("env"), &lab.old, 0o600);
        assert!(!works(&format!("head -c 400000 /dev/zero > {}/fill", far.display())));
        let target = lab.home.join(".env");
        put(&target, b"", 0o600);
        sh(&format!("mount --bind {} {}", far.join("env").display(), target.display()));
        let error = write(&target, &text("new", 9000), &lab.options()).unwrap_err();
        assert_eq!(error.kind, FailureKind::NoSpace, "{error}");
        assert_eq!(error.attempts[0].name, "EBUSY");
        assert_eq!(error.attempt.as_ref().unwrap().syscall, "fallocate");
        assert_eq!(error.space.as_ref().unwrap().mount, target);
        assert_eq!(get(&target), lab.old);
        assert_eq!(leftovers(&lab.base), []);
        // What fits into the room that the file has already is saved.
        let same = text("NEW", lab.old.len());
        let report = write(&target, &same[..lab.old.len()], &lab.options()).unwrap();
        assert_eq!(report.strategy, Strategy::InPlace);
    }

    no_inode_left(lab) {
        let far = lab.disk("far", "size=1m,nr_inodes=3");
        put(&far.join("env"), &lab.old, 0o600);
        put(&far.join("last"), b"", 0o600);
        let error = lab.refused(&far.join("env"), FailureKind::NoSpace);
        assert_eq!(error.space.as_ref().unwrap().free_inodes, Some(0));
        assert!(error.to_string().contains("no inode is left"), "{error}");
        assert_eq!(get(&far.join("env")), lab.old);
    }

    overlay(lab) {
        let layers = lab.disk("layers", "size=1m");
        let lower = lab.disk("lower", "size=1m");
        let merged = lab.at("merged");
        for dir in [&layers.join("up"), &layers.join("work"), &merged] {
            std::fs::create_dir(dir).unwrap();
        }
        put(&lower.join("env"), &lab.old, 0o600);
        put(&lower.join("linked"), &lab.old, 0o600);
        std::fs::hard_link(lower.join("linked"), lower.join("alias")).unwrap();
        put(&lower.join("big"), vec![b'x'; 200_000], 0o600);
        let mount = format!(
            "mount -t overlay -o lowerdir={},upperdir={},workdir={} overlay {}",
            lower.display(), layers.join("up").display(), layers.join("work").display(), merged.display()
        );
        if needs(lab.row, works(&mount), "overlay cannot be mounted here") {
            let report = lab.saved(&merged.join("env"), Strategy::Replace);
            assert_eq!(report.mount.unwrap().fs_type, "overlay");
            assert_eq!(get(&lower.join("env")), lab.old, "the lower layer stays");
            lab.saved(&merged.join("linked"), Strategy::InPlace);
            // The upper layer is full: opening with O_TRUNC would leave the file empty.
            assert!(!works(&format!("head -c 4000000 /dev/zero > {}/fill", layers.display())));
            let error = write(&merged.join("big"), &lab.new, &lab.options()).unwrap_err();
            assert_eq!(error.kind, FailureKind::NoSpace, "{error}");
            assert_eq!(get(&merged.join("big")).len(), 200_000);
        }
    }

    filesystem_without_chmod_and_chown(lab) {
        let source = lab.disk("source", "size=1m");
        let view = lab.at("view");
        std::fs::create_dir(&view).unwrap();
        put(&source.join("same"), &lab.old, 0o600);
        put(&source.join("wide"), &lab.old, 0o640);
        let mount = format!("bindfs --chown-deny --chmod-deny {} {}", source.display(), view.display());
        if needs(lab.row, Path::new("/dev/fuse").exists() && works(&mount), "needs bindfs and /dev/fuse") {
            let report = lab.saved(&view.join("same"), Strategy::Replace);
            assert!(report.mount.unwrap().fs_type.contains("fuse"));
            let foreseen = probe(&view.join("wide"), &lab.options());
            assert_eq!(foreseen.strategy, Some(Strategy::InPlace), "{}", foreseen.reason);
            let report = lab.save(&view.join("wide")).unwrap();
            assert_eq!(report.strategy, Strategy::InPlace);
            assert_eq!(errnos(&report), [("fchmod", "EPERM")]);
            assert_eq!((get(&source.join("wide")), mode(&source.join("wide"))), (lab.new.clone(), 0o640));
            sh(&format!("umount {}", view.display()));
        }
    }

    owner_that_the_user_namespace_does_not_know(lab) {
        if needs(lab.row, real_root() && works("unshare -Ur true"), "needs root and user namespaces") {
            let target = lab.home.join("config.yaml");
            put(&target, &lab.old, 0o666);
            chown(&target, Some(10_000), Some(10_000)).unwrap();
            let output = Command::new("unshare")
                .args(["-Ur", "--"])
                .arg(std::env::current_exe().unwrap())
                .args(["--exact", "worker", "--nocapture", "--test-threads=1"])
                .env(JOB, job(lab, &target).to_string())
                .output()
                .unwrap();
            let got = answer(&output);
            assert_eq!(got["strategy"], "in_place", "{got}");
            assert_eq!((&got["attempts"][0]["syscall"], &got["attempts"][0]["name"]), (&"fchown".into(), &"EINVAL".into()));
            assert_eq!((get(&target), std::fs::metadata(&target).unwrap().uid()), (lab.new.clone(), 10_000));
        }
    }

    what_is_no_regular_file(lab) {
        let dir = lab.home.join("dir");
        std::fs::create_dir(&dir).unwrap();
        let fifo = lab.home.join("fifo");
        sh(&format!("mkfifo {}", fifo.display()));
        let socket = lab.home.join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        for (path, word) in [
            (dir.as_path(), "a directory"),
            (&fifo, "a FIFO"),
            (&socket, "a socket"),
            (Path::new("/dev/null"), "a character device"),
        ] {
            let error = lab.refused(path, FailureKind::NotRegular);
            assert!(error.to_string().contains(word), "{error}");
        }
        assert!(std::fs::metadata(&fifo).unwrap().file_type().is_fifo());
        assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
        let error = lab.save(Path::new(&format!("{}/", dir.display()))).unwrap_err();
        assert_eq!(error.kind, FailureKind::NotRegular);
    }

    name_of_255_bytes(lab) {
        let target = lab.home.join("x".repeat(255));
        put(&target, &lab.old, 0o600);
        lab.saved(&target, Strategy::Replace);
        // And with a hard link: the journal's name must fit as well.
        std::fs::hard_link(&target, lab.home.join("alias")).unwrap();
        write(&target, &lab.old, &lab.options()).unwrap();
        lab.saved(&target, Strategy::InPlace);
        // A backup of it gets a shorter name.
        let report = write(&target, b"z\n", &Options::new(&lab.home)).unwrap();
        assert!(report.backup.unwrap().exists() && report.warnings.is_empty());
    }

    newlines_and_blanks_in_names(lab) {
        let far = lab.at("a mount\npoint\\012 #1");
        std::fs::create_dir(&far).unwrap();
        assert!(Command::new("mount").args(["-t", "tmpfs", "so urce"]).arg(&far).status().unwrap().success());
        let target = far.join(OsStr::from_bytes(b"na\nme\xff"));
        put(&target, &lab.old, 0o600);
        let report = lab.saved(&target, Strategy::Replace);
        let mount = report.mount.as_ref().unwrap();
        assert_eq!((mount.point.as_path(), mount.source.as_str()), (far.as_path(), "so urce"));
        std::fs::hard_link(&target, far.join("alias")).unwrap();
        write(&target, &lab.old, &lab.options()).unwrap();
        let report = lab.saved(&target, Strategy::InPlace);
        serde_json::to_string(&report).unwrap();
    }

    file_size_limit(lab) {
        let target = lab.home.join("config.yaml");
        put(&target, &lab.old, 0o600);
        for hard_link in [false, true] {
            if hard_link {
                std::fs::hard_link(&target, lab.home.join("alias")).unwrap();
            }
            let mut job = job(lab, &target);
            job["limit"] = 2000.into();
            let output = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "worker", "--nocapture", "--test-threads=1"])
                .env(JOB, job.to_string())
                .output()
                .unwrap();
            let got = answer(&output);
            assert_eq!(got["kind"], "too_large", "{got}");
            assert_eq!(got["attempt"]["name"], "EFBIG");
            assert_eq!(get(&target), lab.old);
            assert_eq!(leftovers(&lab.base), []);
        }
    }

    file_deleted_behind_its_mount(lab) {
        put(&lab.at("host.env"), &lab.old, 0o600);
        let target = lab.home.join(".env");
        put(&target, b"", 0o600);
        sh(&format!("mount --bind {} {}", lab.at("host.env").display(), target.display()));
        std::fs::remove_file(lab.at("host.env")).unwrap();
        let error = lab.refused(&target, FailureKind::Deleted);
        assert!(error.to_string().contains("would vanish"), "{error}");
        assert_eq!(get(&target), lab.old);
    }

    owner_mode_acl_and_attributes_stay(lab) {
        let usable = real_root() && works("command -v setfacl && command -v setfattr");
        if needs(lab.row, usable, "needs root, setfacl and setfattr") {
            for links in [1, 2] {
                let target = lab.home.join(format!("config-{links}.yaml"));
                put(&target, &lab.old, 0o640);
                chown(&target, Some(10_000), Some(10_000)).unwrap();
                sh(&format!("setfacl -m u:10005:r,m::rw {0}; setfattr -n user.note -v kept {0}", target.display()));
                if links == 2 {
                    std::fs::hard_link(&target, lab.home.join("alias")).unwrap();
                }
                let seen = || {
                    let output = Command::new("sh")
                        .args(["-ec", "getfacl -cnp \"$1\"; getfattr -d -m - \"$1\"; stat -c %u:%g:%a:%h \"$1\"", "sh"])
                        .arg(&target)
                        .output()
                        .unwrap();
                    String::from_utf8(output.stdout).unwrap()
                };
                let before = seen();
                assert!(before.contains("user:10005:r--") && before.contains("user.note"), "{before}");
                let strategy = if links == 1 { Strategy::Replace } else { Strategy::InPlace };
                let report = lab.saved(&target, strategy);
                assert_eq!(seen(), before, "{strategy}");
                for fate in [&report.metadata.mode, &report.metadata.owner, &report.metadata.acl, &report.metadata.xattr] {
                    assert_eq!(fate.state, Kept::Kept, "{:?}", report.metadata);
                }
            }
        }
    }

    inherited_acl_does_not_open_a_secret(lab) {
        if needs(lab.row, works("command -v setfacl"), "needs setfacl") {
            let target = lab.home.join(".env");
            put(&target, &lab.old, 0o640);
            sh(&format!("setfacl -d -m u:0:rwx,g::rwx,o::rx {}", lab.home.display()));
            let acl = |path: &Path| {
                let output = Command::new("getfacl").args(["-cnp"]).arg(path).output().unwrap();
                String::from_utf8(output.stdout).unwrap()
            };
            let before = acl(&target);
            lab.saved(&target, Strategy::Replace);
            assert_eq!(acl(&target), before);
            let fresh = lab.home.join("new.env");
            lab.saved(&fresh, Strategy::Replace);
            assert_eq!((mode(&fresh), acl(&fresh).contains("user:0:")), (0o600, false));
        }
    }

    new_file_in_another_users_home(lab) {
        if needs(lab.row, real_root(), "needs root, to act for another user") {
            chown(&lab.home, Some(10_000), Some(10_000)).unwrap();
            let target = lab.home.join(".env");
            lab.saved(&target, Strategy::Replace);
            let meta = std::fs::metadata(&target).unwrap();
            assert_eq!((meta.uid(), meta.gid(), mode(&target)), (10_000, 10_000, 0o600));
            // Its backup belongs to that user as well, and is private.
            let report = write(&target, b"A=1\n", &Options::new(&lab.home)).unwrap();
            let copy = report.backup.unwrap();
            assert_eq!((std::fs::metadata(&copy).unwrap().uid(), mode(&copy)), (10_000, 0o600));
            assert_eq!(std::fs::metadata(lab.home.join("backups")).unwrap().uid(), 10_000);
        }
    }

    the_report_equals_what_the_kernel_saw(lab) {
        if needs(lab.row, works("command -v strace && strace -o /dev/null true"), "needs a working strace") {
            put(&lab.at("host.env"), &lab.old, 0o600);
            let target = lab.home.join(".env");
            put(&target, b"", 0o600);
            sh(&format!("mount --bind {} {}", lab.at("host.env").display(), target.display()));
            let trace = lab.at("trace");
            let output = Command::new("strace")
                .args(["-f", "-e", "trace=rename,renameat,renameat2,fsync,pwrite64,fallocate", "-o"])
                .arg(&trace)
                .arg(std::env::current_exe().unwrap())
                .args(["--exact", "worker", "--nocapture", "--test-threads=1"])
                .env(JOB, job(lab, &target).to_string())
                .output()
                .unwrap();
            let got = answer(&output);
            let trace = std::fs::read_to_string(trace).unwrap();
            let failed: Vec<&str> = trace.lines().filter(|line| line.contains("= -1 ")).collect();
            let told = got["attempts"].as_array().unwrap();
            assert_eq!(failed.len(), told.len(), "{failed:?} {told:?}");
            for (line, attempt) in failed.iter().zip(told) {
                for part in ["syscall", "name"] {
                    assert!(line.contains(attempt[part].as_str().unwrap()), "{line} {attempt}");
                }
            }
            assert_eq!(got["durable"]["file"], true);
            // The order that the guarantee rests on.
            let order: Vec<&str> = trace
                .lines()
                .filter(|line| line.contains(" = "))
                .filter_map(|line| line.split_whitespace().nth(1)?.split('(').next())
                .collect();
            assert_eq!(
                order,
                ["fsync", "renameat", "fsync", "renameat", "fsync", "fallocate", "pwrite64", "fsync", "fsync"],
                "staged and refused; journal, its name, its directory; room, bytes, sync; journal gone"
            );
        }
    }
}

fn job(lab: &Lab, target: &Path) -> Value {
    serde_json::json!({
        "home": lab.home,
        "target": target,
        "text": String::from_utf8(lab.new.clone()).unwrap(),
    })
}
