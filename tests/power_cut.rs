//! A power cut at every step, on real filesystems in loop images.
//!
//! The program is killed at a call that changes a file and the image is copied at once: that is what
//! the disk held at that moment, without anything that was only in memory. The copy is mounted and
//! recovered. Once more with another file synced in between, which makes the filesystem write out
//! what it would otherwise have kept for later.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods
)]

mod writer_support;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use writer_support::inject::{Injector, Mode};
use writer_support::{Mounts, private_mounts, put, scratch, sh, skip, text, works};

struct Disk {
    base: PathBuf,
    injector: Injector,
    fs: &'static str,
    hard_link: bool,
    foreign_sync: bool,
    old: Vec<u8>,
    new: Vec<u8>,
}

impl Disk {
    fn mount(&self, image: &str) {
        // The copy of an XFS image has the identity of the original, which is still known.
        let options = if self.fs == "xfs" {
            "loop,nouuid"
        } else {
            "loop"
        };
        sh(&format!(
            "cd {}; mount -o {options} {image} disk",
            self.base.display()
        ));
    }

    fn unmount(&self) {
        sh(&format!("umount {}/disk", self.base.display()));
    }

    fn home(&self) -> PathBuf {
        self.base.join("disk/home")
    }

    fn now(&self) -> Vec<u8> {
        std::fs::read(self.home().join(".env")).unwrap_or_default()
    }

    /// An image with the old content, all of it on the disk.
    fn make(&self) {
        let size = match self.fs {
            "xfs" => "320m",
            "btrfs" => "120m",
            _ => "24m",
        };
        let force = if self.fs == "ext4" { "-Fq" } else { "-qf" };
        sh(&format!(
            "cd {}; rm -f base.img; truncate -s {size} base.img; mkfs.{} {force} base.img; mkdir -p disk",
            self.base.display(),
            self.fs
        ));
        self.mount("base.img");
        std::fs::create_dir(self.home()).unwrap();
        put(&self.home().join(".env"), &self.old, 0o600);
        if self.hard_link {
            std::fs::hard_link(self.home().join(".env"), self.home().join("alias")).unwrap();
        }
        sh(&format!("sync -f {}", self.home().display()));
        self.unmount();
    }

    /// Save with the program killed at call `k` (0: not at all), cut the power, and look at the disk
    /// before and after recovery. Answers the exit code, and what was there.
    fn cut(&self, k: usize) -> (i32, Vec<u8>, Vec<u8>) {
        let copy = |from: &str, to: &str| {
            sh(&format!(
                "cd {}; cp --sparse=always {from} {to}",
                self.base.display()
            ));
        };
        copy("base.img", "work.img");
        self.mount("work.img");
        let from = self.base.join("new");
        put(&from, &self.new, 0o600);
        let (home, target) = (self.home(), self.home().join(".env"));
        let args: [&OsStr; 6] = [
            "write".as_ref(),
            target.as_ref(),
            "--from".as_ref(),
            from.as_ref(),
            "--home".as_ref(),
            home.as_ref(),
        ];
        let mode = if k == 0 { Mode::Count } else { Mode::Kill };
        let code = self.injector.run(mode, k, &args);
        if self.foreign_sync {
            let other = std::fs::File::create(self.base.join("disk/other")).unwrap();
            std::io::Write::write_all(&mut &other, b"x").unwrap();
            other.sync_all().unwrap();
        }
        copy("work.img", "cut.img");
        self.unmount();
        self.mount("cut.img");
        let before = self.now();
        self.injector
            .plain(&["recover".as_ref(), "--home".as_ref(), home.as_ref()]);
        let after = self.now();
        self.unmount();
        (code, before, after)
    }

    fn sweep(&self) {
        self.make();
        let (code, disk, _) = self.cut(0);
        let calls = self.injector.calls();
        assert_eq!(code, 0);
        assert!(
            disk == self.new,
            "{}: exit 0, but the disk does not hold the new bytes",
            self.fs
        );
        let (mut old, mut new, mut repaired) = (0, 0, 0);
        for (k, call) in calls.iter().enumerate() {
            let (_, before, after) = self.cut(k + 1);
            let at = format!(
                "{} hard_link={} cut at {}: {call}",
                self.fs,
                self.hard_link,
                k + 1
            );
            assert!(
                after == self.old || after == self.new,
                "{at}: {} bytes of neither",
                after.len()
            );
            old += usize::from(after == self.old);
            new += usize::from(after == self.new);
            repaired += usize::from(before != after);
        }
        println!(
            "FIGURE power cut {}, {}{}: {} points, old {old}, new {new}, of these repaired {repaired}, bad 0; exit 0 is on the disk",
            self.fs,
            if self.hard_link {
                "in place"
            } else {
                "replace"
            },
            if self.foreign_sync {
                ", another file synced"
            } else {
                ""
            },
            calls.len()
        );
    }
}

fn power_cut(fs: &'static str, name: &str) {
    let Mounts::Inside = private_mounts(name) else {
        return;
    };
    // Asking for a free loop device is no proof: a user namespace sees them and may not use them.
    let attach = "image=$(mktemp); truncate -s 1M $image; device=$(losetup -f --show $image); \
                  losetup -d $device; rm $image";
    if !Path::new("/dev/loop-control").exists()
        || !works(&format!("command -v mkfs.{fs} && {attach}"))
    {
        return skip(name, &format!("needs root, loop devices and mkfs.{fs}"));
    }
    let dir = scratch();
    let base = dir.path().to_owned();
    for hard_link in [false, true] {
        for foreign_sync in [false, true] {
            let injector = match Injector::build(&base, &base.join("disk")) {
                Ok(injector) => injector,
                Err(why) => return skip(name, &why),
            };
            let disk = Disk {
                base: base.clone(),
                injector,
                fs,
                hard_link,
                foreign_sync,
                old: text("OLDSECRET", 20_000),
                new: text("NEWSECRET", 24_000),
            };
            disk.sweep();
        }
    }
}

#[test]
fn ext4() {
    power_cut("ext4", "ext4");
}

#[test]
fn xfs() {
    power_cut("xfs", "xfs");
}

#[test]
fn btrfs() {
    power_cut("btrfs", "btrfs");
}
