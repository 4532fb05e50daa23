//! Rows and problems of large files.

#![allow(clippy::unwrap_used)]

use hermes_tui::document::yaml::YamlDocument;
use hermes_tui::settings::{Layers, problems, rows};

/// Processor time of this thread in nanoseconds: what else the machine does is not counted.
fn cpu() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

#[test]
fn cost_grows_with_the_file_and_not_with_its_square() {
    let text = |n: usize| {
        let lines: Vec<String> = (0..n).map(|i| format!("  name_{i}: value {i}\n")).collect();
        YamlDocument::parse(format!("mine:\n{}", lines.concat()).as_bytes()).unwrap()
    };
    let cost = |config: &YamlDocument| {
        let layers = Layers {
            config: Some(config),
            ..Layers::default()
        };
        (0..2)
            .map(|_| {
                let start = cpu();
                assert!(rows(&layers).len() > 500);
                problems(&layers);
                cpu() - start
            })
            .min()
            .unwrap()
    };
    let (small, large) = (cost(&text(500)), cost(&text(5_000)));
    // Ten times the file; a square would be a hundred times.
    assert!(large < small * 40, "{small:?} {large:?}");
}
