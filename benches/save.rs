//! What one save costs, against the bare calls that any durable save needs.
//!
//! The bare save is write, fsync, rename, fsync of the directory, without a look at links, mounts,
//! metadata, locks or leftovers. Both are measured in turns in the same run, so that a busy disk
//! meets both. `cargo bench --bench save` prints the ratio of the medians per filesystem; the goal
//! is 1.5 or less for 20 kB on a disk.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::disallowed_methods)]

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use hermes_tui::writer::{Options, Strategy, write};

const BYTES: usize = 20_000;
const ROUNDS: usize = 200;

fn content(round: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(BYTES + 40);
    let mut line = 0;
    while out.len() < BYTES {
        writeln!(out, "VAR_{line:04}=value-{round}-{line:04}-abcdefghij").unwrap();
        line += 1;
    }
    out
}

fn bare(dir: &Path, target: &Path, bytes: &[u8]) {
    let tmp = dir.join("bare.new");
    let mut file = std::fs::File::create(&tmp).unwrap();
    file.write_all(bytes).unwrap();
    file.sync_all().unwrap();
    std::fs::rename(&tmp, target).unwrap();
    std::fs::File::open(dir).unwrap().sync_all().unwrap();
}

fn timed(call: impl FnOnce()) -> Duration {
    let start = Instant::now();
    call();
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn measure(name: &str, parent: &Path) {
    let Ok(home) = tempfile::tempdir_in(parent) else {
        println!("{name}: {} cannot be written to", parent.display());
        return;
    };
    let dir = home.path();
    let (plain, saved, linked) = (
        dir.join("bare.env"),
        dir.join("saved.env"),
        dir.join("linked.env"),
    );
    let options = Options::new(dir).without_backup();
    for path in [&plain, &saved, &linked] {
        bare(dir, path, &content(usize::MAX));
    }
    std::fs::hard_link(&linked, dir.join("alias")).unwrap();
    let (mut bare_times, mut replace, mut backup, mut in_place) = (vec![], vec![], vec![], vec![]);
    for round in 0..ROUNDS {
        let bytes = content(round);
        bare_times.push(timed(|| bare(dir, &plain, &bytes)));
        replace.push(timed(|| {
            let report = write(&saved, &bytes, &options).unwrap();
            assert_eq!(report.strategy, Strategy::Replace);
            assert!(report.durable.file && report.durable.dir);
        }));
        // The first save of a run copies the old content as well.
        let bytes = content(round + ROUNDS);
        backup.push(timed(|| {
            write(&saved, &bytes, &Options::new(dir)).unwrap();
        }));
        in_place.push(timed(|| {
            write(&linked, &bytes, &options).unwrap();
        }));
    }
    let base = median(bare_times);
    println!("{name}: bare write+fsync+rename+fsync(dir) of {BYTES} bytes: {base:?}");
    for (what, times) in [
        ("replace", replace),
        ("replace with a backup", backup),
        ("in place under a journal", in_place),
    ] {
        let time = median(times);
        println!(
            "  {what}: {time:?}, ratio {:.2}",
            time.as_secs_f64() / base.as_secs_f64()
        );
    }
}

fn main() {
    // A disk first; memory shows what is left when syncing costs nothing.
    measure(
        "disk",
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("target")
            .as_path(),
    );
    measure("memory", Path::new("/dev/shm"));
}
