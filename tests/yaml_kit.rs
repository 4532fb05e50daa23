//! The YAML kit: every case, every scalar, and what must hold for any change.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::naive_bytecount,
    clippy::format_push_string
)]

#[path = "kit/yaml/cases.rs"]
mod cases;
#[path = "kit/yaml/judge.rs"]
mod judge;

use cases::{Case, all, documents};
use hermes_tui::document::splice::inverse;
use hermes_tui::document::yaml::YamlDocument;
use hermes_tui::document::{Change, Edited, KeyPath, Step, Value, apply};
use judge::{judge, other_text_is_right, same, spoken};
use serde_json::Value as Json;
use std::fmt::Write as _;

fn run(case: &Case, input: &[u8]) -> Result<Edited, String> {
    let document = YamlDocument::parse(input).map_err(|e| e.to_string())?;
    document
        .edit(&case.op.path(), &case.op.change())
        .map_err(|e| e.to_string())
}

/// Fails with all findings at once, so that one run shows them all.
fn report(what: &str, findings: &[String]) {
    let mut text = String::new();
    for finding in findings.iter().take(20) {
        let _ = writeln!(text, "  {finding}");
    }
    assert!(findings.is_empty(), "{what}: {}\n{text}", findings.len());
}

#[test]
fn every_case_gives_the_asked_data_and_moves_no_other_byte() {
    let documents = documents();
    let cases = all();
    assert_eq!(cases.len(), 2_913);
    let mut findings = Vec::new();
    for case in &cases {
        let input = &documents[&case.doc];
        let wanted = |what: &str| case.accept.iter().any(|a| a == what);
        match run(case, input) {
            Ok(_) if !wanted("edit") => findings.push(format!("{}: not refused", case.name)),
            Err(_) if wanted("error") => {}
            Err(error) => findings.push(format!("{}: {error}", case.name)),
            Ok(edited) => {
                if let Err(error) = judge(case, input, &edited.bytes) {
                    findings.push(format!(
                        "{} {} {}: {error}",
                        case.name,
                        case.op.kind,
                        spoken(&case.op.path())
                    ));
                }
            }
        }
    }
    report("cases", &findings);
}

#[test]
fn the_bytes_are_those_of_the_house_style() {
    let documents = documents();
    let mut findings = Vec::new();
    let (mut compared, mut left_out) = (0, 0);
    for case in &all() {
        let input = &documents[&case.doc];
        let (Some(want), Ok(edited)) = (&case.expect_text, run(case, input)) else {
            continue;
        };
        if other_text_is_right(case, input) {
            left_out += 1;
            continue;
        }
        compared += 1;
        if edited.bytes != want.as_bytes() {
            findings.push(format!(
                "{}: want {want:?}, got {:?}",
                case.name,
                String::from_utf8_lossy(&edited.bytes)
            ));
        }
    }
    report("texts", &findings);
    assert!(compared >= 1_260, "only {compared} texts were compared");
    assert!(left_out <= 70, "{left_out} texts were left out");
}

#[test]
fn the_judge_refuses_an_unchanged_file_and_a_stray_byte() {
    let documents = documents();
    let mut judged = 0;
    for case in all() {
        let input = &documents[&case.doc];
        if case.expect_data.is_none() || !case.changes {
            continue;
        }
        judged += 1;
        assert!(judge(&case, input, input).is_err(), "{}", case.name);
        if let (Some(text), true) = (&case.expect_text, case.keep_suffix > 0) {
            let stray = format!("{text}# stray\n");
            assert!(
                judge(&case, input, stray.as_bytes()).is_err(),
                "{}",
                case.name
            );
        }
    }
    assert!(judged > 2_500);
}

#[test]
fn splices_lead_there_and_back() {
    let documents = documents();
    for case in all() {
        let input = &documents[&case.doc];
        let Ok(edited) = run(&case, input) else {
            continue;
        };
        let name = &case.name;
        let made = apply(input, &edited.splices).unwrap();
        assert_eq!(made, edited.bytes, "{name}");
        let back = inverse(input, &edited.splices);
        assert_eq!(&apply(&edited.bytes, &back).unwrap(), input, "{name}");
        for splice in &edited.splices {
            assert!(splice.span.start >= case.keep_prefix, "{name}");
            assert!(splice.span.end <= input.len() - case.keep_suffix, "{name}");
        }
        if edited.bytes == *input {
            assert!(edited.splices.is_empty(), "{name}");
        }
    }
}

#[test]
fn reading_changes_nothing_and_every_leaf_can_be_found() {
    for (name, input) in documents() {
        let Ok(document) = YamlDocument::parse(&input) else {
            continue;
        };
        assert_eq!(document.bytes(), input, "{name}");
        for leaf in document.leaves() {
            let found = document.get(&leaf.path).unwrap();
            let nan = matches!((&found, &leaf.value), (Value::Float(a), Value::Float(b)) if a.is_nan() && b.is_nan());
            assert!(found == leaf.value || nan, "{name}: {}", leaf.path);
            assert_eq!(document.line(&leaf.path).is_some(), leaf.line > 0);
        }
    }
}

#[test]
fn several_changes_compose_into_splices_of_the_first_text() {
    let documents = documents();
    let mut tried = 0;
    for (name, input) in &documents {
        let Ok(document) = YamlDocument::parse(input) else {
            continue;
        };
        let Value::Map(entries) = document.root() else {
            continue;
        };
        let keys = entries.iter().filter_map(|(k, _)| k.as_str());
        let mut changes: Vec<(KeyPath, Change)> = keys
            .filter(|k| *k != "zz")
            .map(|k| (KeyPath::of(&[k]), Change::Set(Value::Str("now".into()))))
            .collect();
        changes.push((KeyPath::of(&["zz", "deep"]), Change::Set(Value::Int(1))));
        changes.push((
            KeyPath::of(&["zz", "list"]),
            Change::Append(Value::Bool(true)),
        ));
        changes.push((KeyPath::of(&["zz", "deep"]), Change::Set(Value::Int(2))));
        changes.push((KeyPath::of(&["zz", "list"]), Change::Remove));
        let Ok(edited) = document.edit_all(&changes) else {
            continue;
        };
        tried += 1;
        assert_eq!(
            apply(input, &edited.splices).unwrap(),
            edited.bytes,
            "{name}"
        );
        let back = inverse(input, &edited.splices);
        assert_eq!(&apply(&edited.bytes, &back).unwrap(), input, "{name}");
        let new = YamlDocument::parse(&edited.bytes).unwrap();
        assert_eq!(new.get(&KeyPath::of(&["zz", "deep"])), Some(Value::Int(2)));
        assert_eq!(new.get(&KeyPath::of(&["zz", "list"])), None);
        // Setting everything back to what it was needs no splice at all where that is scalars.
        let mut there_and_back = changes.clone();
        there_and_back.push((KeyPath::of(&["zz"]), Change::Remove));
        assert!(document.edit_all(&there_and_back).is_ok(), "{name}");
    }
    assert!(tried > 50, "{tried}");
}

/// What the kit says of a text in one context, against what the engine reads there.
fn reads_as(text: &str, file: &str, path: &KeyPath, want: &Json) -> Result<(), String> {
    let got = YamlDocument::parse(file.as_bytes());
    if want["type"] == "error" {
        // A flow list that holds nothing is an error for the kit as well.
        return match got {
            Err(_) => Ok(()),
            Ok(document) if document.get(path).is_none() => Ok(()),
            Ok(_) => Err(format!("{text:?}: read, but PyYAML refuses it")),
        };
    }
    let document = got.map_err(|e| format!("{text:?}: {e}"))?;
    let value = document.get(path).ok_or("nothing there")?;
    if same(&want["value"], &value) {
        Ok(())
    } else {
        Err(format!("{text:?}: want {want}, got {value:?}"))
    }
}

#[test]
fn scalars_are_typed_as_pyyaml_types_them() {
    let key = KeyPath::of(&["k"]);
    let first = KeyPath(vec![Step::Index(0)]);
    let mut findings = Vec::new();
    for source in [
        include_str!("kit/yaml/scalars/read.json"),
        include_str!("kit/yaml/scalars/generated.json"),
    ] {
        let rows: Vec<Json> = serde_json::from_str(source).unwrap();
        assert!(rows.len() > 250);
        for row in rows {
            let text = row["text"].as_str().unwrap();
            let block = reads_as(text, &format!("k: {text}\n"), &key, &row["block"]);
            let flow = reads_as(text, &format!("[{text}]\n"), &first, &row["flow"]);
            findings.extend(block.err());
            findings.extend(flow.err());
        }
    }
    report("scalars", &findings);
}

#[test]
fn strings_stand_plain_only_where_every_reader_agrees() {
    let rows: Vec<Json> =
        serde_json::from_str(include_str!("kit/yaml/scalars/write.json")).unwrap();
    assert!(rows.len() > 150);
    for row in rows {
        let text = row["value"].as_str().unwrap();
        let value = Value::Str(text.to_owned());
        let places = [
            ("k: old\nz: 1\n", KeyPath::of(&["k"]), "plain_ok_block"),
            ("[old, z]\n", KeyPath(vec![Step::Index(0)]), "plain_ok_flow"),
        ];
        for (file, path, allowed) in places {
            let document = YamlDocument::parse(file.as_bytes()).unwrap();
            let edited = document.edit(&path, &Change::Set(value.clone())).unwrap();
            let new = YamlDocument::parse(&edited.bytes).unwrap();
            assert_eq!(new.get(&path), Some(value.clone()), "{text:?}");
            let raw = new.raw(&path).unwrap();
            let plain = raw == text;
            if row[allowed] == false {
                assert!(!plain, "{text:?} stands plain");
            }
            let cases_differ = plain != (row[allowed] == true);
            let op = serde_json::json!({"kind": "set", "path": [], "value": text});
            let case: Case = serde_json::from_value(
                serde_json::json!({"name": "", "doc": "", "op": op, "accept": []}),
            )
            .unwrap();
            // A lone dash is plain for both of Hermes' readers, but not for YAML 1.2.
            assert!(
                !cases_differ || text == "-" || other_text_is_right(&case, file.as_bytes()),
                "{text:?} is quoted for no reason"
            );
        }
    }
}
