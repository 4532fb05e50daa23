//! `.env` against the real readers: Hermes 0.19 (python-dotenv and `load_env`), dotenvy, `sh`.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use hermes_tui::document::dotenv::{Accept, EnvChange, EnvDocument, EnvRules};
use serde::Deserialize;

#[path = "interop/peer.rs"]
mod peer;

#[derive(Deserialize)]
struct Read {
    load_env: BTreeMap<String, String>,
    process: Option<BTreeMap<String, String>>,
}

/// What the real Hermes reads from each file.
fn hermes(python: &Path, files: &[Vec<u8>]) -> Vec<Read> {
    let home = tempfile::tempdir().unwrap();
    let home = home.path().to_str().unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kit/dotenv/peer.py");
    let mut input = String::new();
    for bytes in files {
        input.push_str("{\"hex\": \"");
        for byte in bytes {
            write!(input, "{byte:02x}").unwrap();
        }
        input.push_str("\"}\n");
    }
    let vars = [("HERMES_HOME", home), ("HOME", home), ("PYTHONUTF8", "1")];
    let (out, ok) = peer::run(python, &[script, home], &vars, &input);
    assert!(ok, "peer.py failed");
    let read: Vec<Read> = out
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert_eq!(read.len(), files.len());
    read
}

/// Names that the repair pass of the real Hermes knows and that the tests use.
const KNOWN: [&str; 5] = [
    "FAL_KEY",
    "GLM_API_KEY",
    "LM_API_KEY",
    "OPENAI_BASE_URL",
    "TAVILY_API_KEY",
];

fn known(name: &str) -> bool {
    KNOWN.contains(&name)
}

fn rules() -> EnvRules<'static> {
    EnvRules {
        known: &known,
        credential: &|_| false,
        denied: &|_| false,
        accept: Accept::default(),
    }
}

/// A small generator of its own, so that a failure can be run again.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 11) % n as u64).unwrap()
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    fn text(&mut self, pieces: &[&str], longest: usize) -> String {
        (0..self.below(longest + 1))
            .map(|_| self.pick(pieces))
            .collect()
    }

    /// A value such as people have, or one made of what hurts.
    fn value(&mut self) -> String {
        const PLAIN: [&str; 12] = [
            "a",
            "Z",
            "0",
            "sk-",
            "_",
            "/",
            "+",
            "=",
            ".",
            ":",
            "@",
            "https://x/?a=1&b=2",
        ];
        const HARD: [&str; 34] = [
            " ", "\t", "'", "\"", "\\", "#", " #", "$", "${", "}", "`", "$(", ")", "(", ";", "&",
            "|", "<", ">", "*", "?", "[", "]", "!", "~", "%", "^", "a", "b1", "=", "FAL_KEY=", "é",
            "\u{2028}", "\u{a0}",
        ];
        const WINDOWS: [&str; 7] = ["C:", "\\", "dir", " ", "\\n", "\\t", "x"];
        match self.below(10) {
            0..3 => self.text(&PLAIN, 12),
            3..4 => self.text(&WINDOWS, 8),
            4 => (0..self.below(20))
                .map(|_| char::from(u8::try_from(32 + self.below(95)).unwrap()))
                .collect(),
            _ => self.text(&HARD, 9),
        }
    }
}

/// 20,000 values: every reader gives them back, or the refusal or note names the one that cannot.
#[test]
fn random_values_round_trip_through_every_reader() {
    let Some(python) = peer::python("random_values_round_trip_through_every_reader") else {
        return;
    };
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let start = "# keys\nexport FIRST='1 2'\nSECOND=\"it's\"\n";
    let (mut files, mut wanted) = (Vec::new(), Vec::new());
    let (mut refused, mut noted, mut plain) = (0, 0, 0);
    let mut reasons: BTreeSet<String> = BTreeSet::new();
    for _ in 0..400 {
        let mut doc = EnvDocument::parse(start.as_bytes()).unwrap();
        let mut values: Vec<(String, String, bool)> = Vec::new();
        for n in 0..50 {
            let value = random.value();
            // A known name at the start of a line is what the repair pass looks for.
            let name = if n == 0 {
                "TAVILY_API_KEY".to_owned()
            } else {
                format!("V{n}")
            };
            match doc.edit(&name, &EnvChange::set(value.clone()), &rules()) {
                Ok(edited) => {
                    let everybody = edited.notes.is_empty();
                    for note in &edited.notes {
                        assert!(note.contains("shell") || note.contains("dotenvy"), "{note}");
                    }
                    noted += usize::from(!everybody);
                    plain += usize::from(everybody);
                    doc = EnvDocument::parse(&edited.bytes).unwrap();
                    values.push((name, value, everybody));
                }
                Err(error) => {
                    refused += 1;
                    reasons.insert(error.to_string().replace(&name, "NAME"));
                }
            }
        }
        files.push(doc.bytes().to_vec());
        wanted.push(values);
    }
    for reason in &reasons {
        let named = ["python-dotenv", "load_env", "repair pass", "shell"];
        assert!(named.iter().any(|r| reason.contains(r)), "{reason}");
    }
    for (read, values) in hermes(&python, &files).into_iter().zip(&wanted) {
        let process = read.process.unwrap();
        for (name, value, _) in values {
            let ascii: String = value.chars().filter(char::is_ascii).collect();
            let held = if name.ends_with("_KEY") {
                &ascii
            } else {
                value
            };
            assert_eq!(process.get(name), Some(held), "python-dotenv, {name}");
            assert_eq!(read.load_env.get(name), Some(value), "load_env, {name}");
        }
        the_others_agree(values);
    }
    println!("20000 values: {plain} read by all four, {noted} with a note, {refused} refused");
    for reason in reasons {
        println!("  refused: {reason}");
    }
}

/// dotenvy and a shell read a file of the values that everybody is said to read.
fn the_others_agree(values: &[(String, String, bool)]) {
    let changes: Vec<(String, EnvChange)> = values
        .iter()
        .filter(|(_, _, everybody)| *everybody)
        .map(|(name, value, _)| (name.clone(), EnvChange::set(value.clone())))
        .collect();
    let doc = EnvDocument::parse(b"").unwrap();
    let file = doc.edit_all(&changes, &rules()).unwrap().bytes;
    let rust: BTreeMap<String, String> = dotenvy::from_read_iter(file.as_slice())
        .map(Result::unwrap)
        .collect();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("env");
    std::fs::write(&path, file).unwrap();
    let args = [
        "-c",
        "set -a; . \"$1\"; env -0",
        "sh",
        path.to_str().unwrap(),
    ];
    let (out, ok) = peer::run(Path::new("/bin/sh"), &args, &[("HOME", "/nowhere")], "");
    assert!(ok);
    let read: BTreeMap<&str, &str> = out.split('\0').filter_map(|v| v.split_once('=')).collect();
    for (name, value, everybody) in values {
        if *everybody {
            assert_eq!(read.get(name.as_str()), Some(&value.as_str()), "sh, {name}");
            assert_eq!(rust.get(name), Some(value), "dotenvy, {name}");
        }
    }
}

/// 20,000 files made of what the readers differ about read exactly as Hermes reads them.
#[test]
fn random_files_read_as_hermes_reads_them() {
    const PIECES: [&str; 46] = [
        "K",
        "A",
        "FAL_KEY",
        "GLM_API_KEY",
        "LM_API_KEY",
        "OPENAI_BASE_URL",
        "B_TOKEN",
        "=",
        "=",
        "=",
        "=",
        "\n",
        "\n",
        "\n",
        "\n",
        "\r\n",
        "\r",
        " ",
        " ",
        "\t",
        "'",
        "'",
        "\"",
        "\"",
        "\\",
        "\\\\",
        "#",
        " # ",
        "$",
        "${",
        "}",
        "${A}",
        "${K:-d}",
        ":",
        ":-",
        "export ",
        "export\t",
        "x",
        "é",
        "\u{a0}",
        "\u{2028}",
        "\u{1d}",
        "\u{feff}",
        "://",
        "?",
        "&",
    ];
    let Some(python) = peer::python("random_files_read_as_hermes_reads_them") else {
        return;
    };
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let files: Vec<Vec<u8>> = (0..20_000)
        .map(|_| {
            let mut text = random.text(&PIECES, 30).into_bytes();
            if random.below(20) == 0 {
                text.insert(random.below(text.len() + 1), 0xe9);
            }
            text
        })
        .collect();
    let mut compared = 0;
    for (file, read) in files.iter().zip(hermes(&python, &files)) {
        let doc = EnvDocument::parse_with(file, &known).unwrap();
        let shown = String::from_utf8_lossy(file);
        assert_eq!(doc.load_env_values(), read.load_env, "load_env: {shown:?}");
        if let Some(process) = read.process {
            assert_eq!(doc.values(&|_| None), process, "process: {shown:?}");
            compared += 1;
        }
    }
    println!("20000 files: all equal for load_env, {compared} equal for a running Hermes");
    assert!(compared > 19_000);
}
