//! What a caller of the writer relies on: comparing, locking, backups, readers, the report's shape.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods
)]

mod writer_support;

use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hermes_tui::writer::{
    self, FailureKind, Options, Strategy, backup, lock, observe, predict, probe, read, recover,
    write,
};
use writer_support::{get, leftovers, mode, put, scratch, text};

#[test]
fn the_same_bytes_write_nothing() {
    let home = scratch();
    let target = home.path().join("config.yaml");
    put(&target, b"a: 1\n", 0o640);
    let before = std::fs::metadata(&target).unwrap();
    let report = write(&target, b"a: 1\n", &Options::new(home.path())).unwrap();
    let after = std::fs::metadata(&target).unwrap();
    assert_eq!(report.strategy, Strategy::Unchanged);
    assert_eq!(
        (before.ino(), before.ctime_nsec()),
        (after.ino(), after.ctime_nsec())
    );
    assert_eq!(
        std::fs::read_dir(home.path()).unwrap().count(),
        1,
        "no backup, no lock, nothing"
    );
}

#[test]
fn a_change_since_loading_is_noticed() {
    let home = scratch();
    let target = home.path().join("config.yaml");
    let options = Options::new(home.path());
    put(&target, b"a: 1\n", 0o600);
    let base = read(&target).unwrap().unwrap();
    put(&target, b"a: 1\nb: 2 # by somebody else\n", 0o600);
    let error = write(&target, b"a: 9\n", &options.clone().expecting(base)).unwrap_err();
    assert_eq!(error.kind, FailureKind::Changed);
    assert_eq!(get(&target), b"a: 1\nb: 2 # by somebody else\n");
    assert!(error.hint().contains("Load the file again"));
    // An absent file counts as empty, in both directions.
    let fresh = home.path().join(".env");
    assert_eq!(read(&fresh).unwrap(), None);
    write(&fresh, b"A=1\n", &options.clone().expecting(Vec::new())).unwrap();
    let error = write(&fresh, b"B=1\n", &options.clone().expecting(Vec::new())).unwrap_err();
    assert_eq!(error.kind, FailureKind::Changed);
    std::fs::remove_file(&fresh).unwrap();
    let error = write(&fresh, b"B=1\n", &options.expecting(b"A=1\n".to_vec())).unwrap_err();
    assert_eq!(error.kind, FailureKind::Changed);
    assert!(
        !fresh.exists(),
        "a file that was removed is not brought back"
    );
}

#[test]
fn missing_directories_are_created_only_when_asked() {
    let home = scratch();
    let target = home.path().join("new/deep/config.yaml");
    let mut options = Options::new(home.path());
    let error = write(&target, b"a: 1\n", &options).unwrap_err();
    assert_eq!(error.kind, FailureKind::ParentMissing);
    options.create_dirs = true;
    write(&target, b"a: 1\n", &options).unwrap();
    assert_eq!(
        (mode(&home.path().join("new")), mode(&target)),
        (0o700, 0o600)
    );
}

#[test]
fn predictions_touch_nothing() {
    let home = scratch();
    let target = home.path().join("config.yaml");
    put(&target, b"a: 1\n", 0o600);
    symlink("config.yaml", home.path().join("link")).unwrap();
    let list = || {
        let mut names: Vec<_> = std::fs::read_dir(home.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();
        let meta = std::fs::metadata(&target).unwrap();
        (names, meta.ino(), meta.mtime_nsec(), meta.ctime_nsec())
    };
    let before = list();
    let options = Options::new(home.path());
    for path in ["config.yaml", "link", "absent"] {
        assert_eq!(
            predict(&home.path().join(path), &options).strategy,
            Some(Strategy::Replace)
        );
        let proved = probe(&home.path().join(path), &options);
        assert!(proved.proven && proved.attempts.is_empty());
    }
    assert_eq!(list(), before);
    let seen = observe(&home.path().join("link")).unwrap();
    assert_eq!(
        (seen.hops.len(), seen.size, seen.mode),
        (1, Some(5), Some(0o600))
    );
    assert!(seen.free_bytes.unwrap() > 0 && seen.mount.is_some());
}

#[test]
fn threads_that_edit_one_file_lose_nothing() {
    for round in 0..20 {
        let home = scratch();
        let target = home.path().join(".env");
        put(&target, text("base", 2000), 0o600);
        std::thread::scope(|scope| {
            for key in 0..12 {
                let target = &target;
                let options = Options::new(home.path()).without_backup();
                scope.spawn(move || {
                    // What a program does: read, edit, save; and again on the fresh text.
                    loop {
                        let base = read(target).unwrap().unwrap();
                        let mut edited = base.clone();
                        edited.extend(format!("KEY_{key}=1\n").bytes());
                        match write(target, &edited, &options.clone().expecting(base)) {
                            Ok(_) => break,
                            Err(error) => assert_eq!(error.kind, FailureKind::Changed, "{error}"),
                        }
                    }
                });
            }
        });
        let now = String::from_utf8(get(&target)).unwrap();
        for key in 0..12 {
            assert!(
                now.contains(&format!("KEY_{key}=1\n")),
                "round {round}: KEY_{key} is lost"
            );
        }
        assert_eq!(leftovers(home.path()), []);
    }
}

#[test]
fn readers_never_see_a_torn_file() {
    let home = scratch();
    let target = home.path().join("feishu_seen_message_ids.json");
    let versions: Vec<Vec<u8>> = (0..4)
        .map(|version| text(&format!("v{version}"), 20_000 + 3000 * version))
        .collect();
    put(&target, &versions[0], 0o600);
    let done = Arc::new(AtomicBool::new(false));
    let (reads, torn) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let now = get(&target);
                    reads.fetch_add(1, Ordering::Relaxed);
                    if !versions.contains(&now) {
                        torn.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        let options = Options::new(home.path()).without_backup();
        for save in 1..=1000 {
            let report = write(&target, &versions[save % 4], &options).unwrap();
            assert_eq!(report.strategy, Strategy::Replace);
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(torn.into_inner(), 0);
    let reads = reads.into_inner();
    assert!(reads > 100, "only {reads} reads");
    println!("FIGURE 1000 saves, {reads} reads by 4 readers, 0 torn");
}

/// The program itself, for what needs processes.
fn program(home: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hermes-tui"));
    command
        .arg("--home")
        .arg(home)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command
}

#[test]
fn processes_that_set_keys_at_once_lose_nothing() {
    let (mut kept_yaml, mut kept_env) = (0, 0);
    for _ in 0..20 {
        let home = scratch();
        let (config, env) = (home.path().join("config.yaml"), home.path().join(".env"));
        put(&config, b"# kept by hand\nagent:\n  max_turns: 60\n", 0o600);
        put(&env, b"# keys\nA=1\n", 0o600);
        let mut running = Vec::new();
        for key in 0..12 {
            let name = format!("notes.n{key}");
            running.push(
                program(home.path(), &["set", "--config", &name, "yes"])
                    .spawn()
                    .unwrap(),
            );
            let name = format!("RACE_{key}_API_KEY");
            running.push(
                program(home.path(), &["set", "--env", &name, "sk-1"])
                    .spawn()
                    .unwrap(),
            );
        }
        for child in running {
            let output = child.wait_with_output().unwrap();
            assert!(
                output.status.success(),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
        let (yaml, dotenv) = (get(&config), get(&env));
        let (yaml, dotenv) = (
            String::from_utf8(yaml).unwrap(),
            String::from_utf8(dotenv).unwrap(),
        );
        kept_yaml += (0..12)
            .filter(|key| yaml.contains(&format!("  n{key}: ")))
            .count();
        kept_env += (0..12)
            .filter(|key| dotenv.contains(&format!("RACE_{key}_API_KEY=")))
            .count();
        assert!(yaml.starts_with("# kept by hand\n") && dotenv.starts_with("# keys\n"));
        assert_eq!(leftovers(home.path()), []);
    }
    println!(
        "FIGURE 12 parallel set, 20 rounds: {kept_yaml} of 240 kept in YAML, {kept_env} of 240 in .env"
    );
    assert_eq!((kept_yaml, kept_env), (240, 240));
}

#[test]
fn auth_json_waits_for_hermes() {
    let home = scratch();
    let target = home.path().join("auth.json");
    put(&target, b"{}\n", 0o600);
    let options = Options::new(home.path()).without_backup();
    let held = std::fs::File::create(home.path().join("auth.lock")).unwrap();
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let started = Instant::now();
    std::thread::scope(|scope| {
        let save = scope.spawn(|| write(&target, b"{\"version\":1}\n", &options));
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(
            get(&target),
            b"{}\n",
            "saved although Hermes holds its lock"
        );
        drop(held);
        save.join().unwrap().unwrap();
    });
    assert!(started.elapsed() >= Duration::from_millis(300));
    assert_eq!(get(&target), b"{\"version\":1}\n");
    // Other files do not wait for it.
    let held = std::fs::File::open(home.path().join("auth.lock")).unwrap();
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).unwrap();
    write(&home.path().join(".env"), b"A=1\n", &options).unwrap();
}

#[test]
fn a_lock_covers_reading_and_saving() {
    let home = scratch();
    let target = home.path().join("config.yaml");
    put(&target, b"a: 1\n", 0o600);
    let mut mine = Options::new(home.path()).without_backup();
    mine.held = Some(Arc::new(lock(&target, &mine).unwrap()));
    let mut others = Options::new(home.path());
    others.lock_wait = Duration::from_millis(50);
    let error = write(&target, b"a: 2\n", &others).unwrap_err();
    assert_eq!(error.kind, FailureKind::Locked);
    assert!(
        error.to_string().contains(&*home.path().to_string_lossy()),
        "{error}"
    );
    // The holder itself is not kept out.
    write(&target, b"a: 3\n", &mine).unwrap();
    drop(mine);
    write(&target, b"a: 4\n", &others).unwrap();
    assert_eq!(
        std::fs::read_dir(home.path()).unwrap().count(),
        2,
        "the file and its backups; locking leaves nothing behind"
    );
}

#[test]
fn one_private_backup_per_run_and_content() {
    let home = scratch();
    let target = home.path().join("cron/jobs.json");
    std::fs::create_dir(home.path().join("cron")).unwrap();
    put(&target, b"first\n", 0o644);
    let run = Options::new(home.path());
    let report = write(&target, b"second\n", &run).unwrap();
    let copy = report.backup.unwrap();
    assert_eq!(
        (get(&copy).as_slice(), mode(&copy)),
        (&b"first\n"[..], 0o600)
    );
    assert_eq!(mode(&home.path().join("backups")), 0o700);
    assert_eq!(
        write(&target, b"third\n", &run).unwrap().backup,
        None,
        "once per run"
    );
    // Another run with content that is there already.
    put(&target, b"first\n", 0o644);
    assert_eq!(
        write(&target, b"fourth\n", &Options::new(home.path()))
            .unwrap()
            .backup,
        None
    );
    let report = write(&target, b"fifth\n", &Options::new(home.path())).unwrap();
    assert!(report.backup.is_some(), "another run, another content");
    let list = backup::list(home.path());
    assert_eq!(list.len(), 2);
    assert!(list.iter().all(|entry| entry.original == target));
}

#[test]
fn backups_are_bounded_in_number_and_age() {
    let home = scratch();
    let target = home.path().join(".env");
    put(&target, b"0\n", 0o600);
    for save in 1..15 {
        write(
            &target,
            format!("{save}\n").as_bytes(),
            &Options::new(home.path()),
        )
        .unwrap();
    }
    assert_eq!(backup::list(home.path()).len(), 10);
    // What others keep there is not ours to count or remove.
    let folder = home.path().join("backups");
    put(&folder.join("notes.bak"), b"x", 0o600);
    put(
        &folder.join(".env.20200101T000000Z.0123456789ab.bak"),
        b"old",
        0o600,
    );
    let mut options = Options::new(home.path());
    options.backup.count = 50;
    write(&target, b"new\n", &options).unwrap();
    assert!(folder.join("notes.bak").exists());
    assert!(
        !folder
            .join(".env.20200101T000000Z.0123456789ab.bak")
            .exists(),
        "too old"
    );
    assert_eq!(backup::list(home.path()).len(), 11);
}

#[test]
fn a_backup_can_be_restored_and_damage_is_noticed() {
    let home = scratch();
    let real = home.path().join("real.env");
    put(&real, b"A=1\n", 0o640);
    let target = home.path().join(".env");
    symlink("real.env", &target).unwrap();
    write(&target, b"A=2\n", &Options::new(home.path())).unwrap();
    let list = backup::list(home.path());
    assert_eq!(list[0].original, target);
    let report = backup::restore(&list[0], &Options::new(home.path())).unwrap();
    assert_eq!(report.strategy, Strategy::Replace);
    assert!(target.is_symlink());
    assert_eq!((get(&real).as_slice(), mode(&real)), (&b"A=1\n"[..], 0o640));
    assert_eq!(
        backup::list(home.path()).len(),
        2,
        "what the restore replaced was copied as well"
    );
    put(&list[0].copy, b"A=3\n", 0o600);
    let error = backup::restore(&list[0], &Options::new(home.path())).unwrap_err();
    assert_eq!(error.kind, FailureKind::BadSource);
    assert_eq!(get(&real), b"A=1\n");
}

#[test]
fn a_backup_that_cannot_be_made_is_a_warning() {
    let home = scratch();
    let target = home.path().join(".env");
    put(&target, b"A=1\n", 0o600);
    put(&home.path().join("backups"), b"a file in its place", 0o600);
    let report = write(&target, b"A=2\n", &Options::new(home.path())).unwrap();
    assert_eq!(get(&target), b"A=2\n");
    assert!(
        report.warnings[0].starts_with("no backup was made"),
        "{:?}",
        report.warnings
    );
}

#[test]
fn the_report_has_every_documented_field() {
    let home = scratch();
    let target = home.path().join(".env");
    put(&target, b"A=1\n", 0o600);
    std::fs::hard_link(&target, home.path().join("alias")).unwrap();
    let report = write(&target, b"A=2\n", &Options::new(home.path())).unwrap();
    let json = serde_json::to_value(&report).unwrap();
    for field in [
        "requested",
        "hops",
        "real",
        "mount",
        "device",
        "inode",
        "links",
        "strategy",
        "reason",
        "created",
        "attempts",
        "metadata",
        "durable",
        "journal",
        "recovered",
        "backup",
        "warnings",
        "bytes",
        "duration_us",
    ] {
        assert!(json.get(field).is_some(), "{field} is missing: {json}");
    }
    for field in ["id", "point", "root", "fs_type", "source", "options"] {
        assert!(
            json["mount"].get(field).is_some(),
            "mount.{field} is missing"
        );
    }
    for field in ["mode", "owner", "acl", "xattr", "label"] {
        let state = json["metadata"][field]["state"].as_str().unwrap();
        assert!(["kept", "lost", "n/a"].contains(&state), "{field}: {state}");
    }
    for field in ["path", "fs_type", "survives"] {
        assert!(
            json["journal"].get(field).is_some(),
            "journal.{field} is missing"
        );
    }
    assert_eq!(json["strategy"], "in_place");
    assert_eq!(json["links"], 2);
    assert!(!json.to_string().contains("A=2"), "content in a report");
    assert!(recover(&Options::new(home.path())).is_empty());
    let _ = writer::errno_name(rustix::io::Errno::XDEV);
}
