//! The black-box cases (`tests/kit/blackbox`) against this build: files in, one command, judged by
//! python-dotenv, PyYAML and Hermes' own reader.
#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used)]

mod support;

use std::path::Path;
use std::process::Command;

use support::peer::Peer;

#[test]
fn every_case_passes() {
    let test = "every_case_passes";
    let Some(peer) = Peer::find(test) else { return };
    let kit = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kit/blackbox");
    let dir = support::scratch();
    let results = dir.path().join("results.json");
    let output = Command::new(peer.python())
        .arg(kit.join("run_cases.py"))
        .args([
            "-q",
            "-v",
            "--cmd-all-ops",
            "--env-flag=--env",
            "--config-flag=--config",
        ])
        .args(["--path-style", "backslash"])
        .args([
            "--cmd",
            &format!(
                "'{}' --home {{home}} {{op}} {{flag}} {{key}} {{value}}",
                support::BIN
            ),
        ])
        .arg("--json")
        .arg(&results)
        .output()
        .unwrap();
    let (out, err) = support::text(&output);
    let json =
        std::fs::read(&results).unwrap_or_else(|e| panic!("the runner failed ({e}): {out}{err}"));
    let score: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let count = |what: &str| score["total"][what].as_u64().unwrap();
    if count("skip") > 0 {
        support::skip(
            test,
            &format!("{} of the cases need root or mounts", count("skip")),
        );
    }
    assert_eq!(count("fail"), 0, "{out}{err}");
    assert!(count("pass") > 150, "{out}{err}");
}
