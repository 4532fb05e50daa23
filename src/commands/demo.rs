//! The throw-away home of `--demo`.
//!
//! Responsible for: a private copy of the embedded sample home, which is gone when the value is.
//! Not responsible for: anything that happens in it.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

macro_rules! sample {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_bytes!(concat!("../../assets/sample_home/", $name)))),*]
    };
}

/// The sample home: every value in it is made up.
const FILES: &[(&str, &[u8])] = sample![
    ".env",
    "active_profile",
    "auth.json",
    "channel_directory.json",
    "config.yaml",
    "cron/jobs.json",
    "feishu_seen_message_ids.json",
    "profiles/work/.env",
    "profiles/work/config.yaml",
    "profiles/work/profile.yaml",
];

/// Where a second filesystem is usually found.
const ELSEWHERE: &[&str] = &["/dev/shm", "/run/lock", "/var/tmp"];

/// A sample home that lasts as long as this value.
#[derive(Debug)]
pub struct Demo {
    /// The home: a link to another filesystem where there is one, so that the mount shown is a
    /// real one.
    pub home: PathBuf,
    _dir: TempDir,
    _elsewhere: Option<TempDir>,
}

impl Demo {
    /// Make one below `temp_dir`.
    ///
    /// # Errors
    /// When the directory or a file in it cannot be made.
    pub fn create(temp_dir: &Path) -> io::Result<Self> {
        let dir = private_dir(temp_dir)?;
        let home = dir.path().join(".hermes");
        let elsewhere = second_filesystem(dir.path());
        match &elsewhere {
            Some(other) => {
                let real = other.path().join("hermes");
                fill(&real)?;
                symlink(&real, &home)?;
            }
            None => fill(&home)?,
        }
        Ok(Self {
            home,
            _dir: dir,
            _elsewhere: elsewhere,
        })
    }
}

fn private_dir(parent: &Path) -> io::Result<TempDir> {
    // tempfile makes directories 0700.
    tempfile::Builder::new()
        .prefix("hermes-tui-demo-")
        .tempdir_in(parent)
}

fn second_filesystem(beside: &Path) -> Option<TempDir> {
    let device = std::fs::metadata(beside).ok()?.dev();
    ELSEWHERE.iter().find_map(|parent| {
        let is_other = std::fs::metadata(parent).is_ok_and(|m| m.dev() != device);
        if is_other {
            private_dir(Path::new(parent)).ok()
        } else {
            None
        }
    })
}

fn fill(home: &Path) -> io::Result<()> {
    let mut private = DirBuilder::new();
    private.mode(0o700).recursive(true);
    private.create(home)?;
    for (name, content) in FILES {
        let path = home.join(name);
        if let Some(parent) = path.parent() {
            private.create(parent)?;
        }
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        file.write_all(content)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copy_is_whole_private_and_gone_afterwards() {
        let parent = tempfile::tempdir().unwrap();
        let demo = Demo::create(parent.path()).unwrap();
        let home = demo.home.clone();
        for (name, content) in FILES {
            assert_eq!(std::fs::read(home.join(name)).unwrap(), *content, "{name}");
            assert_eq!(
                std::fs::metadata(home.join(name)).unwrap().mode() & 0o777,
                0o600,
                "{name}"
            );
        }
        let real = home.canonicalize().unwrap();
        assert_eq!(std::fs::metadata(&real).unwrap().mode() & 0o777, 0o700);
        drop(demo);
        assert!(!home.exists() && !real.exists());
        assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 0);
    }
}
