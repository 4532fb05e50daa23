//! The rules of `src/lib.rs` that no compiler checks: imports point down, colours are the
//! terminal's own, files stay small.
#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used)]

use std::path::{Path, PathBuf};

const CORE: &[&str] = &["document", "catalog", "edit", "settings", "plan"];
const SYSTEM: &[&str] = &["home", "mount", "writer", "session"];
const FRONT: &[&str] = &["cli", "commands", "tui"];

fn sources() -> Vec<(PathBuf, String)> {
    fn walk(dir: &Path, out: &mut Vec<(PathBuf, String)>) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, out);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                out.push((path, text));
            }
        }
    }
    let mut out = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut out);
    out.sort();
    assert!(out.len() > 10, "the sources were not found");
    out
}

/// The part of a file that is not its tests.
fn code(path: &Path, text: &str) -> String {
    if path.file_name().is_some_and(|name| name == "tests.rs") {
        return String::new();
    }
    text.split("#[cfg(test)]\nmod tests {")
        .next()
        .unwrap()
        .to_owned()
}

/// The module below `src` that a file belongs to: `document`, `main`, …
fn module(path: &Path) -> String {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let first = path.strip_prefix(src).unwrap().components().next().unwrap();
    first
        .as_os_str()
        .to_string_lossy()
        .trim_end_matches(".rs")
        .to_owned()
}

fn layer(module: &str) -> Option<usize> {
    [CORE, SYSTEM, FRONT]
        .iter()
        .position(|layer| layer.contains(&module))
}

/// Every `crate::name` and the names in `crate::{a, b::c}` of code lines, with the line's number.
fn used_modules(text: &str) -> Vec<(usize, String)> {
    let mut out = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("//") {
            continue;
        }
        for (at, _) in line.match_indices("crate::") {
            let rest = &line[at + "crate::".len()..];
            if let Some(group) = rest.strip_prefix('{') {
                let (mut depth, mut name) = (0, String::new());
                // The group may go on over several lines; the names of modules stand at depth 0.
                let tail: String = group.to_owned()
                    + "\n"
                    + &text.lines().skip(number + 1).collect::<Vec<_>>().join("\n");
                let mut inside_path = false;
                for c in tail.chars() {
                    match c {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => {
                            out.push((number + 1, std::mem::take(&mut name)));
                            inside_path = false;
                        }
                        ':' if depth == 0 => inside_path = true,
                        c if depth == 0 && !inside_path && !c.is_whitespace() => name.push(c),
                        _ => {}
                    }
                }
                if !name.is_empty() {
                    out.push((number + 1, name));
                }
            } else {
                let name: String = rest
                    .chars()
                    .take_while(|c| c.is_alphanumeric() || *c == '_')
                    .collect();
                out.push((number + 1, name));
            }
        }
    }
    out
}

#[test]
fn the_search_finds_every_form_of_import() {
    let text = "use crate::a::b;\n// crate::no\nuse crate::{\n  c::{d, e},\n  f,\n};\nlet x = crate::g::h();\n";
    let names: Vec<String> = used_modules(text).into_iter().map(|(_, n)| n).collect();
    assert_eq!(names, ["a", "c", "f", "g"]);
}

#[test]
fn every_module_belongs_to_a_layer() {
    let unknown: Vec<String> = sources()
        .iter()
        .map(|(path, _)| module(path))
        .filter(|m| layer(m).is_none() && m != "lib" && m != "main")
        .collect();
    assert_eq!(unknown, Vec::<String>::new());
}

#[test]
fn imports_point_down() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let Some(own) = layer(&module(&path)) else {
            continue;
        };
        for (line, name) in used_modules(&text) {
            if layer(&name).is_some_and(|other| other > own) {
                wrong.push(format!("{}:{line} uses crate::{name}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_core_touches_nothing_outside() {
    const OUTSIDE: &[&str] = &[
        "std::fs",
        "std::env",
        "std::process",
        "std::net",
        "std::time::SystemTime",
        "std::time::Instant",
        "rustix::",
        "std::io::stdin",
        "std::io::stdout",
    ];
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        if layer(&module(&path)) != Some(0) {
            continue;
        }
        for (number, line) in code(&path, &text).lines().enumerate() {
            let is_comment = line.trim_start().starts_with("//");
            if let Some(name) = OUTSIDE.iter().find(|o| !is_comment && line.contains(**o)) {
                wrong.push(format!("{}:{} uses {name}", path.display(), number + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn colours_are_the_terminals_own() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        for (number, line) in text.lines().enumerate() {
            if [
                "Color::Rgb",
                "Color::Indexed",
                "Color::AnsiValue",
                "38;2;",
                "48;2;",
                "38;5;",
                "48;5;",
            ]
            .iter()
            .any(|c| line.contains(c))
            {
                wrong.push(format!("{}:{}", path.display(), number + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_stay_small() {
    let long: Vec<String> = sources()
        .iter()
        .filter(|(path, _)| path.file_name().is_none_or(|name| name != "tests.rs"))
        .map(|(path, text)| (path, text.lines().count()))
        .filter(|(_, lines)| *lines > 600)
        .map(|(path, lines)| format!("{lines} {}", path.display()))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn users_files_are_written_by_the_writer_only() {
    const WRITES: &[&str] = &[
        "clippy::disallowed_methods",
        "File::create",
        "OpenOptions::",
        "fs::copy(",
    ];
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        // The demo fills a directory of its own.
        if module(&path) == "writer" || path.ends_with("commands/demo.rs") {
            continue;
        }
        for (number, line) in code(&path, &text).lines().enumerate() {
            if WRITES.iter().any(|c| line.contains(c)) {
                wrong.push(format!("{}:{} {}", path.display(), number + 1, line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
