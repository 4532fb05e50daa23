//! What opening and editing a YAML file costs, against a bare event parse of the same bytes.
//!
//! `cargo bench --bench yaml` prints ratios; each is followed by the budget it must keep. With
//! `--check` a broken budget makes the run fail. Memory is the peak of a process of its own.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::panic,
    clippy::exit
)]

use hermes_tui::document::yaml::{YamlDocument, count_events};
use hermes_tui::document::{Change, KeyPath, Value};
use std::fmt::Write as _;
use std::hint::black_box;
use std::process::Command;
use std::time::Duration;

/// A configuration of about `lines` lines and 100 bytes a line.
fn sample(lines: usize) -> String {
    let mut out = String::from("# generated\nmodel:\n  default: vendor/large\n");
    let mut n = 3;
    let mut section = 0;
    while n < lines {
        section += 1;
        let _ = write!(
            out,
            "\n# {section:05} ------------------------------------------------------------------------------\nsection_{section}:\n  enabled: true  # whether this part of the program runs at all; the default is to run it always\n  limits: {{context: 131072, output: 8192, retries: 3, timeout: 30.5, name: \"quoted: text\", on: off}}\n  base_url: \"https://api.example.test/v1/with/a/rather/long/path/{section}?and=a&query=string#frag\"\n"
        );
        n += 6;
        for item in 0..6 {
            let _ = writeln!(
                out,
                "  entry_{item}_with_a_long_name: some plain words that fill the line up to the usual width of about one hundred and some bytes {section}"
            );
            n += 1;
        }
        out += "  list:\n    - first element with enough text to look like something that a person would write\n    - second: 2  # a comment behind the value that explains what the number is good for here\n      third: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22]\n";
        n += 4;
    }
    out
}

/// Processor time of this process so far, which other load on the machine does not lengthen.
fn processor() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(
        u64::try_from(now.tv_sec).unwrap(),
        u32::try_from(now.tv_nsec).unwrap(),
    )
}

/// The best of several runs: noise only ever adds.
fn best<T>(runs: usize, mut work: impl FnMut() -> T) -> Duration {
    (0..runs)
        .map(|_| {
            let start = processor();
            black_box(work());
            processor().saturating_sub(start)
        })
        .min()
        .unwrap_or_default()
}

struct Figures {
    bytes: usize,
    events: Duration,
    open: Duration,
    edit: Duration,
    add: Duration,
    leaves: Duration,
}

fn measure(text: &str, runs: usize) -> Figures {
    let bytes = text.as_bytes();
    let document = YamlDocument::parse(bytes).unwrap();
    let middle = text.matches("\nsection_").count() / 2;
    let section = format!("section_{middle}");
    let change = Change::Set(Value::Str("https://changed.example.test/".into()));
    let path = KeyPath::of(&[&section, "base_url"]);
    let fresh = KeyPath::of(&[&section, "new", "nested"]);
    Figures {
        bytes: bytes.len(),
        events: best(runs, || count_events(bytes).unwrap()),
        open: best(runs, || YamlDocument::parse(bytes).unwrap()),
        edit: best(runs, || document.edit(&path, &change).unwrap()),
        add: best(runs, || document.edit(&fresh, &change).unwrap()),
        leaves: best(runs, || document.leaves()),
    }
}

/// Peak resident memory of this process so far, in bytes.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.trim().trim_end_matches(" kB").trim().parse().ok())
        .map_or(0, |kb: usize| kb * 1024)
}

/// One step in a process of its own; prints the bytes that the step added to the peak.
fn memory_child(what: &str, lines: usize) {
    let text = sample(lines);
    let before = peak();
    let document = YamlDocument::parse(text.as_bytes()).unwrap();
    if what == "edit" {
        let change = Change::Set(Value::Int(1));
        let path = KeyPath::of(&["section_7", "base_url"]);
        black_box(document.edit(&path, &change).unwrap());
    }
    black_box(&document);
    println!("{}", peak() - before);
}

fn memory_of(what: &str, lines: usize) -> usize {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--memory", what, &lines.to_string()])
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout)
        .trim()
        .parse()
        .unwrap_or(0)
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if let Some(at) = args.iter().position(|a| a == "--memory") {
        return memory_child(&args[at + 1], args[at + 2].parse().unwrap());
    }
    let small = measure(&sample(11_000), 9);
    let large = measure(&sample(111_000), 7);
    let mb = |n: usize| n as f64 / 1e6;
    println!(
        "{:>9} {:>11} {:>9} {:>9} {:>9} {:>9}",
        "file", "bare parse", "open", "edit", "add", "leaves"
    );
    for f in [&small, &large] {
        println!(
            "{:>6.1} MB {:>8.1} ms {:>6.1} ms {:>6.1} ms {:>6.1} ms {:>6.1} ms",
            mb(f.bytes),
            f.events.as_secs_f64() * 1e3,
            f.open.as_secs_f64() * 1e3,
            f.edit.as_secs_f64() * 1e3,
            f.add.as_secs_f64() * 1e3,
            f.leaves.as_secs_f64() * 1e3,
        );
    }
    let ratio = |a: Duration, b: Duration| a.as_secs_f64() / b.as_secs_f64();
    let size = large.bytes as f64;
    let rows = [
        (
            "open / bare parse, 1 MB",
            ratio(small.open, small.events),
            1.5,
        ),
        (
            "open / bare parse, 10 MB",
            ratio(large.open, large.events),
            1.5,
        ),
        (
            "edit with proof / bare parse, 1 MB",
            ratio(small.edit, small.events),
            3.0,
        ),
        (
            "edit with proof / bare parse, 10 MB",
            ratio(large.edit, large.events),
            3.0,
        ),
        (
            "new key with proof / bare parse, 10 MB",
            ratio(large.add, large.events),
            3.0,
        ),
        ("open, 1 to 10 MB", ratio(large.open, small.open), 11.0),
        ("edit, 1 to 10 MB", ratio(large.edit, small.edit), 11.0),
        (
            "peak memory of open / file, 10 MB",
            memory_of("open", 111_000) as f64 / size,
            12.0,
        ),
        (
            "peak memory of open and edit / file, 10 MB",
            memory_of("edit", 111_000) as f64 / size,
            12.0,
        ),
    ];
    let mut broken = 0;
    for (name, value, budget) in rows {
        let verdict = if value <= budget { "ok" } else { "TOO MUCH" };
        broken += usize::from(value > budget);
        println!("{name:<44} {value:>6.2}  (at most {budget}) {verdict}");
    }
    if broken > 0 && args.iter().any(|a| a == "--check") {
        std::process::exit(1);
    }
}
