//! Saving through `hermes_tui::writer` from another program.
//!
//! ```text
//! atomic_save write TARGET --from FILE [--home DIR]   make TARGET hold FILE's bytes
//! atomic_save replace TMP TARGET [--home DIR]         what a bare rename would do, across mounts too
//! atomic_save predict TARGET [--home DIR]             what a save would do
//! atomic_save probe TARGET [--home DIR]               the same, proved
//! atomic_save recover [--home DIR]                    put right what an interrupted save left
//! ```
//!
//! `--no-backup` leaves out the copy of the old content. Reports and errors are JSON on stdout; the
//! exit code is 0 for done and 1 for refused or failed.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::path::PathBuf;
use std::process::ExitCode;

use hermes_tui::writer::{self, Options, SaveError, SaveReport};

fn main() -> ExitCode {
    // Without this a write beyond `ulimit -f` kills the program; with it the save fails cleanly.
    if let Err(error) = writer::ignore_file_size_signal() {
        eprintln!("SIGXFSZ stays deadly: {error}");
    }
    let mut words = Vec::new();
    let (mut from, mut home, mut backup) = (None, None, true);
    let mut rest = std::env::args_os().skip(1);
    while let Some(word) = rest.next() {
        match word.to_str() {
            Some("--from") => from = rest.next(),
            Some("--home") => home = rest.next(),
            Some("--no-backup") => backup = false,
            _ => words.push(PathBuf::from(word)),
        }
    }
    // An example is its own edge of the program.
    #[allow(clippy::disallowed_methods)]
    let home = home.or_else(|| std::env::var_os("HERMES_HOME"));
    let mut options = Options::new(home.unwrap_or_else(|| ".".into()));
    if !backup {
        options = options.without_backup();
    }

    let words: Vec<&std::path::Path> = words.iter().map(PathBuf::as_path).collect();
    match (words.first().and_then(|word| word.to_str()), &words[1..]) {
        (Some("write"), [target]) => {
            let Some(bytes) = from.and_then(|from| std::fs::read(from).ok()) else {
                eprintln!("--from FILE is missing or cannot be read");
                return ExitCode::from(2);
            };
            finish(writer::write(target, &bytes, &options))
        }
        (Some("replace"), [tmp, target]) => finish(writer::atomic_replace(tmp, target, &options)),
        (Some("predict"), [target]) => show(&writer::predict(target, &options)),
        (Some("probe"), [target]) => show(&writer::probe(target, &options)),
        (Some("recover"), []) => show(&writer::recover(&options)),
        _ => {
            eprintln!("see the head of examples/atomic_save.rs");
            ExitCode::from(2)
        }
    }
}

fn finish(result: Result<SaveReport, SaveError>) -> ExitCode {
    match result {
        Ok(report) => show(&report),
        Err(error) => {
            eprintln!("{error}\n{}", error.hint());
            show(&error);
            ExitCode::from(1)
        }
    }
}

fn show(value: &impl serde::Serialize) -> ExitCode {
    match serde_json::to_string_pretty(value) {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("the report has no JSON form: {error}");
            ExitCode::from(1)
        }
    }
}
