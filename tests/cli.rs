//! The command line's contract, on the real program: output, exit codes, `--json` fields.
#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used)]

mod support;

use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::{Value as Json, json};
use support::pty::{Terminal, command};
use support::text;

/// A copy of the sample home in a directory of its own.
struct Home {
    dir: tempfile::TempDir,
    path: PathBuf,
}

impl Home {
    fn sample() -> Self {
        let dir = support::scratch();
        let path = dir.path().join("home");
        support::copy_tree(&support::sample_home(), &path);
        Self { dir, path }
    }

    fn with(files: &[(&str, &str)]) -> Self {
        let dir = support::scratch();
        let path = dir.path().join("home");
        std::fs::create_dir(&path).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
        for (name, content) in files {
            support::put(&path.join(name), content);
        }
        Self { dir, path }
    }

    fn command(&self, args: &[&str]) -> std::process::Command {
        let mut command = support::program(self.dir.path());
        command.arg("--home").arg(&self.path).args(args);
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Run; it must end well. Standard output without its last line end.
    fn ok(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let (out, err) = text(&output);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {out}{err}");
        out.strip_suffix('\n').unwrap_or(&out).to_owned()
    }

    /// Run; it must be refused with exit code 1 and no file changed. What it said.
    fn refused(&self, args: &[&str]) -> String {
        let before = self.all_files();
        let output = self.run(args);
        let (out, err) = text(&output);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {out}{err}");
        assert_eq!(out, "", "{args:?}: errors do not belong on standard output");
        assert_eq!(
            self.all_files(),
            before,
            "{args:?} was refused and yet something changed"
        );
        err
    }

    fn json(&self, args: &[&str]) -> Json {
        let out = self.ok(&[args, &["--json"]].concat());
        serde_json::from_str(&out).unwrap_or_else(|e| panic!("{args:?}: {e} in {out}"))
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path.join(name)).unwrap()
    }

    fn all_files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        fn walk(dir: &Path, out: &mut Vec<(PathBuf, Vec<u8>)>) {
            for entry in std::fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    walk(&path, out);
                } else if path.extension().is_none_or(|e| e != "lock") {
                    out.push((path.clone(), std::fs::read(&path).unwrap_or_default()));
                }
            }
        }
        let mut out = Vec::new();
        walk(&self.path, &mut out);
        out.sort();
        out
    }
}

/// The secrets of the sample home: none of them may ever be shown unasked.
const SECRETS: &[&str] = &[
    "FAKE00000",
    "FAKEdeepseek",
    "local-FAKE",
    "fake club",
    "tvly-FAKE",
    "fal_FAKE",
    "sk_FAKE",
    "github_pat_FAKE",
    "FAKEFAKE",
    "FAKE.discord",
    "xoxb-FAKE",
    "xapp-1",
    "fake-feishu",
    "fake app pass",
    "fake-ticket",
    "fake-nous",
    "FAKEspare",
];

fn assert_no_secret(text: &str) {
    for secret in SECRETS {
        assert!(!text.contains(secret), "{secret} is shown in:\n{text}");
    }
}

// ── get ──────────────────────────────────────────────────────────────────────────────────────

#[test]
fn get_prints_the_effective_value_plainly() {
    let home = Home::sample();
    for (key, value) in [
        ("model.default", "z-ai/glm-5.2"),
        ("agent.max_turns", "60"),
        ("compression.threshold", "0.6"),
        ("display.show_reasoning", "false"),
        ("display.platforms.telegram.tool_progress", "off"),
        ("fallback_providers.1.provider", "custom:attic-box"),
        ("toolsets", "- hermes-cli\n- web"),
        ("agent.disabled_toolsets", "[]"),
        ("terminal.docker_forward_env", "- TZ\n- HTTP_PROXY"),
        ("terminal.docker_env", "LANG: C.UTF-8"),
        (
            "telegram.channel_prompts.-1001234567890",
            "Answer in German, be brief.",
        ),
        ("auxiliary.title_generation.model", ""),
        ("FAL_KEY", "fal_FAKE-0000-0001"),
        ("CLUB_PROXY_API_KEY", "fake club # key"),
        ("SLACK_BOT_TOKEN", "xoxb-FAKE-000000000001"),
    ] {
        assert_eq!(home.ok(&["get", key]), value, "{key}");
    }
    // Not in the file: the default is in force.
    assert_eq!(home.ok(&["get", "approvals.timeout"]), "60");
}

#[test]
fn get_reports_what_is_not_set() {
    let home = Home::sample();
    let err = home.refused(&["get", "zz.nope"]);
    assert!(err.contains("zz.nope") && err.contains("not set"), "{err}");
    let err = home.refused(&["get", "EXA_API_KEY"]);
    assert!(err.contains("EXA_API_KEY") && err.contains(".env"), "{err}");
    let err = home.refused(&["get", "agent.max_turn"]);
    assert!(
        err.contains("agent.max_turns"),
        "the closest name is offered: {err}"
    );
}

#[test]
fn get_as_json_has_stable_fields() {
    let home = Home::sample();
    assert_eq!(
        home.json(&["get", "agent.max_turns"]),
        json!({
            "ok": true, "key": "agent.max_turns", "file": "config.yaml", "value": 60,
            "origin": "file", "secret": false, "masked": false,
        })
    );
    let row = home.json(&["get", "approvals.timeout"]);
    assert_eq!(
        (&row["value"], &row["origin"]),
        (&json!(60), &json!("default"))
    );
    let row = home.json(&["get", "FAL_KEY"]);
    assert_eq!(row["file"], ".env");
    assert_eq!(row["secret"], true);
    assert_eq!(
        home.json(&["get", "toolsets"])["value"],
        json!(["hermes-cli", "web"])
    );

    let output = home.run(&["get", "zz.nope", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let answer: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["ok"], false);
    assert_eq!(answer["error"]["key"], "zz.nope");
}

#[test]
fn a_secret_is_masked_on_a_terminal_unless_asked_for() {
    let home = Home::sample();
    let on_a_terminal = |args: &[&str]| {
        let mut program = command(support::BIN, home.dir.path());
        program.arg("--home");
        program.arg(&home.path);
        program.args(args);
        let mut terminal = Terminal::start(program, 80, 10);
        assert_eq!(terminal.wait_exit().exit_code(), 0);
        terminal.screen()
    };
    let masked = on_a_terminal(&["get", "TAVILY_API_KEY"]);
    assert_no_secret(&masked);
    assert!(!masked.trim().is_empty());
    assert!(
        on_a_terminal(&["get", "TAVILY_API_KEY", "--reveal"]).contains("tvly-FAKE0000000000001")
    );
    assert!(on_a_terminal(&["get", "agent.max_turns"]).contains("60"));
}

// ── set and unset ────────────────────────────────────────────────────────────────────────────

#[test]
fn set_changes_the_value_and_not_one_byte_beyond_it() {
    let home = Home::sample();
    let before = home.read("config.yaml");
    home.ok(&["set", "model.default", "anthropic/claude-opus-4.8"]);
    assert_eq!(
        home.read("config.yaml"),
        before.replace("z-ai/glm-5.2", "anthropic/claude-opus-4.8")
    );

    let before = home.read(".env");
    home.ok(&["set", "TAVILY_API_KEY", "tvly-new"]);
    assert_eq!(
        home.read(".env"),
        before.replace("tvly-FAKE0000000000001", "tvly-new")
    );
}

#[test]
fn values_are_typed_by_the_catalogue() {
    let home = Home::with(&[("config.yaml", "agent:\n  max_turns: 1\n")]);
    home.ok(&["set", "approvals.mode", "off"]);
    home.ok(&["set", "agent.max_turns", "90"]);
    home.ok(&["set", "display.compact", "yes"]);
    home.ok(&["set", "my.own.list", "[a, 1, off]"]);
    home.ok(&["set", "--string", "my.own.text", "12"]);
    let value = |key: &str| home.json(&["get", key])["value"].clone();
    assert_eq!(value("approvals.mode"), "off");
    assert_eq!(value("agent.max_turns"), 90);
    assert_eq!(value("display.compact"), true);
    assert_eq!(value("my.own.list"), json!(["a", 1, false]));
    assert_eq!(value("my.own.text"), "12");
}

#[test]
fn a_value_known_to_be_wrong_needs_force() {
    let home = Home::sample();
    let err = home.refused(&["set", "agent.max_turns", "many"]);
    assert!(
        err.contains("agent.max_turns") && err.contains("--force"),
        "{err}"
    );
    home.ok(&["set", "--force", "agent.max_turns", "many"]);
    assert_eq!(home.ok(&["get", "agent.max_turns"]), "many");
}

#[test]
fn an_unknown_key_is_written_with_a_warning() {
    let home = Home::sample();
    let output = home.run(&["set", "agent.max_turn", "3"]);
    let (_, err) = text(&output);
    assert!(output.status.success());
    assert!(
        err.contains("agent.max_turn ") && err.contains("agent.max_turns"),
        "{err}"
    );
    let report = home.json(&["set", "agent.max_turnz", "3"]);
    assert!(
        report["warnings"][0]
            .as_str()
            .unwrap()
            .contains("agent.max_turns"),
        "{report}"
    );
}

#[test]
fn set_reads_a_secret_from_standard_input() {
    let home = Home::sample();
    let mut child = home
        .command(&["set", "EXA_API_KEY", "--stdin"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"exa-secret-value-123\n")
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let (out, err) = text(&output);
    assert!(output.status.success(), "{err}");
    assert!(
        !out.contains("exa-secret") && !err.contains("exa-secret"),
        "{out}{err}"
    );
    assert!(
        home.read(".env")
            .contains("\nEXA_API_KEY=exa-secret-value-123\n")
    );
}

#[test]
fn setting_what_is_set_writes_nothing() {
    let home = Home::sample();
    let path = home.path.join("config.yaml");
    let inode = std::fs::metadata(&path).unwrap().ino();
    let report = home.json(&["set", "agent.max_turns", "60"]);
    assert_eq!(report["changed"], false);
    assert_eq!(
        std::fs::metadata(&path).unwrap().ino(),
        inode,
        "the file was replaced all the same"
    );
}

#[test]
fn a_dry_run_shows_the_change_and_writes_nothing() {
    let home = Home::sample();
    let before = home.all_files();
    let out = home.ok(&["set", "agent.max_turns", "90", "--dry-run"]);
    assert!(
        out.contains("-  max_turns: 60") && out.contains("+  max_turns: 90"),
        "{out}"
    );
    let out = home.ok(&["set", "TAVILY_API_KEY", "tvly-verysecretvalue", "--dry-run"]);
    assert_no_secret(&out);
    assert!(!out.contains("verysecret"), "{out}");
    let out = home.ok(&["unset", "FAL_KEY", "--dry-run"]);
    assert_no_secret(&out);
    let report = home.json(&["set", "agent.max_turns", "90", "--dry-run"]);
    assert_eq!(report["dry_run"], true);
    assert_eq!(report["files"][0]["file"], "config.yaml");
    assert!(report["files"][0]["prediction"].is_object(), "{report}");
    assert_eq!(report["files"][0]["diff"].as_array().unwrap().len(), 2);
    assert_eq!(home.all_files(), before);
}

#[test]
fn set_reports_how_the_file_was_written() {
    let home = Home::sample();
    let report = home.json(&["set", "agent.max_turns", "90"]);
    assert_eq!(report["ok"], true);
    assert_eq!(report["key"], "agent.max_turns");
    assert_eq!(report["changed"], true);
    let file = &report["files"][0];
    assert_eq!(file["file"], "config.yaml");
    assert_eq!(file["report"]["strategy"], "replace");
    assert!(file["report"]["mount"]["point"].is_string(), "{report}");
    assert_eq!(home.ok(&["set", "agent.max_turns", "91", "--quiet"]), "");
}

#[test]
fn a_known_variable_goes_to_env_and_a_flag_decides_otherwise() {
    let home = Home::with(&[("config.yaml", "model: a\n"), (".env", "A=1\n")]);
    home.ok(&["set", "OPENROUTER_API_KEY", "sk-1"]);
    home.ok(&["set", "MY_OWN_SECRET", "sk-2"]);
    home.ok(&["set", "my_own", "3"]);
    home.ok(&["set", "--env", "PLAIN", "4"]);
    home.ok(&["set", "--config", "SOME_API_KEY", "5"]);
    assert_eq!(
        home.read(".env"),
        "A=1\nOPENROUTER_API_KEY=sk-1\nMY_OWN_SECRET=sk-2\nPLAIN=4\n"
    );
    assert_eq!(
        home.read("config.yaml"),
        "model: a\nmy_own: 3\nSOME_API_KEY: 5\n"
    );
}

#[test]
fn a_terminal_setting_keeps_its_variable_in_step() {
    let home = Home::sample();
    home.ok(&["set", "terminal.backend", "ssh"]);
    assert!(
        home.read(".env").contains("\nTERMINAL_ENV=ssh\n"),
        "an existing line is kept in step"
    );
    home.ok(&["set", "terminal.timeout", "99"]);
    assert!(
        !home.read(".env").contains("TERMINAL_TIMEOUT"),
        "no line is added"
    );
    home.ok(&["unset", "terminal.backend"]);
    assert!(!home.read(".env").contains("TERMINAL_ENV"));
}

#[test]
fn a_model_given_to_the_section_means_its_default() {
    let home = Home::sample();
    let before = home.read("config.yaml");
    home.ok(&["set", "model", "vendor/new"]);
    assert_eq!(
        home.read("config.yaml"),
        before.replace("z-ai/glm-5.2", "vendor/new")
    );
}

#[test]
fn unset_takes_the_key_out() {
    let home = Home::sample();
    let before = home.read("config.yaml");
    home.ok(&["unset", "agent.gateway_timeout"]);
    assert_eq!(
        home.read("config.yaml"),
        before.replace("  gateway_timeout: 2400\n", "")
    );
    let before = home.read(".env");
    home.ok(&["unset", "FAL_KEY"]);
    assert_eq!(
        home.read(".env"),
        before.replace("FAL_KEY=fal_FAKE-0000-0001\n", "")
    );
    let err = home.refused(&["unset", "FAL_KEY"]);
    assert!(err.contains("FAL_KEY") && err.contains("not set"), "{err}");
}

#[test]
fn a_broken_config_is_never_written_and_env_stays_editable() {
    for broken in [
        "a: [1, 2\n",
        "a:\n\t- b\n",
        "- a\n- b\n",
        "a: 1\n---\nb: 2\n",
        "a: 1\nb:\n  c: 1\n   d: 2\n",
    ] {
        let home = Home::with(&[("config.yaml", broken), (".env", "A=1\n")]);
        let err = home.refused(&["set", "agent.max_turns", "5"]);
        assert!(
            err.contains("config.yaml") && err.contains("line "),
            "{broken:?}: {err}"
        );
        home.refused(&["unset", "a"]);
        home.ok(&["set", "EXA_API_KEY", "x"]);
        assert_eq!(home.read(".env"), "A=1\nEXA_API_KEY=x\n");
    }
    let home = Home::with(&[]);
    support::put(&home.path.join("config.yaml"), b"model: caf\xe9\n");
    let err = home.refused(&["set", "agent.max_turns", "5"]);
    assert!(err.contains("line 1"), "{err}");
}

// ── managed ──────────────────────────────────────────────────────────────────────────────────

#[test]
fn a_managed_install_is_read_only() {
    let home = Home::with(&[
        ("config.yaml", "agent:\n  max_turns: 1\n"),
        (".managed", ""),
    ]);
    for args in [
        &["set", "agent.max_turns", "2"][..],
        &["unset", "agent.max_turns"],
        &["set", "FAL_KEY", "x"],
    ] {
        let err = home.refused(args);
        assert!(err.contains("managed"), "{err}");
    }
    assert_eq!(home.ok(&["get", "agent.max_turns"]), "1");
}

#[test]
fn an_administrators_keys_cannot_be_changed_nor_their_parents() {
    let home = Home::sample();
    let managed = home.dir.path().join("managed");
    std::fs::create_dir(&managed).unwrap();
    support::put(&managed.join("config.yaml"), "agent:\n  max_turns: 7\n");
    support::put(
        &managed.join(".env"),
        "TAVILY_API_KEY=tvly-from-the-administrator\n",
    );
    let run = |args: &[&str]| {
        home.command(args)
            .env("HERMES_MANAGED_DIR", &managed)
            .output()
            .unwrap()
    };

    let (out, _) = text(&run(&["get", "agent.max_turns"]));
    assert_eq!(out, "7\n");
    let (out, _) = text(&run(&["get", "agent.max_turns", "--json"]));
    assert_eq!(
        serde_json::from_str::<Json>(&out).unwrap()["origin"],
        "managed"
    );
    for args in [
        &["set", "agent.max_turns", "9"][..],
        &["set", "agent", "{}"],
        &["unset", "agent"],
        &["unset", "agent.max_turns"],
        &["set", "TAVILY_API_KEY", "x"],
        &["unset", "TAVILY_API_KEY"],
    ] {
        let before = home.all_files();
        let output = run(args);
        let (_, err) = text(&output);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {err}");
        assert!(err.contains("administrator"), "{args:?}: {err}");
        assert_eq!(home.all_files(), before);
    }
    assert!(
        run(&["set", "agent.gateway_timeout", "9"]).status.success(),
        "a sibling is free"
    );
}

// ── list, doctor, path ───────────────────────────────────────────────────────────────────────

#[test]
fn list_shows_what_is_set_and_hides_secrets() {
    let home = Home::sample();
    let out = home.ok(&["list"]);
    assert_no_secret(&out);
    for part in [
        "agent.max_turns",
        "60",
        "TAVILY_API_KEY",
        "fallback_providers",
    ] {
        assert!(out.contains(part), "{part} is missing in:\n{out}");
    }
    assert!(!out.contains("approvals.timeout"), "a default is not set");
    assert!(home.ok(&["list", "--all"]).contains("approvals.timeout"));
    assert!(!home.ok(&["list", "--env"]).contains("agent.max_turns"));
    let out = home.ok(&["list", "agent"]);
    assert!(
        out.contains("agent.max_turns") && !out.contains("compression"),
        "{out}"
    );

    let json = home.json(&["list"]);
    assert_no_secret(&json.to_string());
    let rows = json["rows"].as_array().unwrap();
    let row = rows.iter().find(|r| r["key"] == "agent.max_turns").unwrap();
    assert_eq!(
        row,
        &json!({
            "key": "agent.max_turns", "file": "config.yaml", "value": 60, "origin": "file", "secret": false,
        })
    );
}

#[test]
fn doctor_finds_what_hermes_would_misread() {
    let home = Home::with(&[
        (
            "config.yaml",
            "mcp_servers:\n  a: {}\nagent:\n  max_turns: many\nmcp_servers:\n  b: {}\n",
        ),
        (
            ".env",
            "MINIMAX_BASE_URL=https://mm.example/v1  # official\nOPENAI_API_KEY=***\n",
        ),
    ]);
    std::fs::set_permissions(
        home.path.join(".env"),
        std::fs::Permissions::from_mode(0o644),
    )
    .unwrap();
    let output = home.run(&["doctor"]);
    let (out, err) = text(&output);
    assert_eq!(output.status.code(), Some(1), "{out}{err}");
    for part in [
        "mcp_servers",
        "agent.max_turns",
        "MINIMAX_BASE_URL",
        "OPENAI_API_KEY",
        "0644",
    ] {
        assert!(out.contains(part), "{part} is missing in:\n{out}");
    }
    let output = home.run(&["doctor", "--json"]);
    let json: Json = serde_json::from_slice(&output.stdout).unwrap();
    let first = &json["problems"][0];
    for field in ["severity", "file", "key", "line", "message"] {
        assert!(first.get(field).is_some(), "{field} is missing in {first}");
    }
}

#[test]
fn doctor_names_the_line_of_a_broken_file() {
    let home = Home::with(&[("config.yaml", "a: 1\nb:\n  c: 1\n   d: 2\n")]);
    let output = home.run(&["doctor"]);
    let (out, _) = text(&output);
    assert_eq!(output.status.code(), Some(1));
    assert!(out.contains("line 4"), "{out}");
}

#[test]
fn doctor_probes_without_touching_a_file() {
    let home = Home::sample();
    let before = home.all_files();
    let (out, err) = text(&home.run(&["doctor", "--probe"]));
    assert_no_secret(&format!("{out}{err}"));
    for part in [
        "config.yaml",
        ".env",
        "feishu_seen_message_ids.json",
        "channel_directory.json",
        "replace",
    ] {
        assert!(out.contains(part), "{part} is missing in:\n{out}");
    }
    assert_eq!(home.all_files(), before);
}

#[test]
fn path_prints_where_things_are() {
    let home = Home::sample();
    assert_eq!(Path::new(&home.ok(&["path"])), home.path);
    assert_eq!(
        Path::new(&home.ok(&["path", "config"])),
        home.path.join("config.yaml")
    );
    assert_eq!(
        Path::new(&home.ok(&["path", "env"])),
        home.path.join(".env")
    );
    let json = home.json(&["path"]);
    for field in ["home", "config", "env", "origin"] {
        assert!(json[field].is_string(), "{field} in {json}");
    }
}

#[test]
fn a_profile_is_a_home_of_its_own() {
    let home = Home::sample();
    let output = support::program(home.dir.path())
        .env("HERMES_HOME", &home.path)
        .args(["-p", "work", "get", "model.default"])
        .output()
        .unwrap();
    assert_eq!(text(&output).0, "claude-sonnet-5\n");
    let output = support::program(home.dir.path())
        .env("HERMES_HOME", &home.path)
        .args(["get", "model.default", "-p", "default"])
        .output()
        .unwrap();
    assert_eq!(text(&output).0, "z-ai/glm-5.2\n");
    let output = support::program(home.dir.path())
        .env("HERMES_HOME", &home.path)
        .args(["get", "model.default", "-p", "nope"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).1.contains("nope"));
}

#[test]
fn a_home_that_is_not_there_is_never_made_silently() {
    let dir = support::scratch();
    let home = dir.path().join("nowhere");
    for args in [&["set", "model", "x"][..], &["get", "model"], &["list"]] {
        let output = support::program(dir.path())
            .arg("--home")
            .arg(&home)
            .args(args)
            .output()
            .unwrap();
        let (_, err) = text(&output);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {err}");
        assert!(err.contains("nowhere"), "{err}");
        assert!(!home.exists());
    }
}

// ── write, replace, recover ──────────────────────────────────────────────────────────────────

#[test]
fn write_replaces_a_file_from_standard_input_or_a_file() {
    let home = Home::sample();
    let target = home.path.join("channel_directory.json");
    let mut child = home
        .command(&["write", target.to_str().unwrap()])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"{}\n").unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(home.read("channel_directory.json"), "{}\n");

    let source = home.dir.path().join("new.json");
    support::put(&source, "{\"a\": 1}\n");
    let json = home.json(&[
        "write",
        target.to_str().unwrap(),
        "--from",
        source.to_str().unwrap(),
    ]);
    assert_eq!(json["report"]["strategy"], "replace");
    assert_eq!(home.read("channel_directory.json"), "{\"a\": 1}\n");
    assert!(source.exists());
}

#[test]
fn replace_works_across_filesystems_and_keeps_mode_and_owner() {
    let test = "replace_works_across_filesystems_and_keeps_mode_and_owner";
    let home = Home::sample();
    let Some(other) = support::other_filesystem(&home.path) else {
        return support::skip(test, "there is no second writable filesystem");
    };
    for name in ["feishu_seen_message_ids.json", "channel_directory.json"] {
        let target = home.path.join(name);
        std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o640)).unwrap();
        if support::is_root() {
            std::os::unix::fs::chown(&target, Some(10000), Some(10000)).unwrap();
        }
        let before = std::fs::metadata(&target).unwrap();
        let tmp = other.path().join("new.json");
        support::put(&tmp, "{\"new\": true}");
        let json = home.json(&["replace", tmp.to_str().unwrap(), target.to_str().unwrap()]);
        assert_eq!(json["report"]["strategy"], "restaged", "{json}");
        assert!(json.to_string().contains("EXDEV"), "{json}");
        assert_eq!(home.read(name), "{\"new\": true}");
        let after = std::fs::metadata(&target).unwrap();
        assert_eq!(
            (after.mode(), after.uid(), after.gid()),
            (before.mode(), before.uid(), before.gid())
        );
        assert!(!tmp.exists(), "TMP goes after success");

        // The same in words.
        support::put(&tmp, "{}");
        let out = home.ok(&["replace", tmp.to_str().unwrap(), target.to_str().unwrap()]);
        assert!(out.contains("restaged") && out.contains("EXDEV"), "{out}");
    }
}

#[test]
fn a_failed_replace_keeps_both_files() {
    let home = Home::sample();
    let tmp = home.dir.path().join("new.json");
    support::put(&tmp, "{}");
    let err = home.refused(&[
        "replace",
        tmp.to_str().unwrap(),
        home.path.join("cron").to_str().unwrap(),
    ]);
    assert!(err.contains("cron"), "{err}");
    assert!(tmp.exists());
    home.refused(&[
        "replace",
        "/nowhere/at/all",
        home.path.join(".env").to_str().unwrap(),
    ]);
}

#[test]
fn recover_with_nothing_to_do_says_so() {
    let home = Home::sample();
    assert!(home.ok(&["recover"]).contains("nothing"));
    assert_eq!(home.json(&["recover"])["ok"], true);
}

// ── the rest ─────────────────────────────────────────────────────────────────────────────────

#[test]
fn the_demo_home_is_gone_afterwards() {
    let dir = support::scratch();
    let output = support::program(dir.path())
        .env("TMPDIR", dir.path())
        .args(["--demo", "path", "--json"])
        .output()
        .unwrap();
    let json: Json = serde_json::from_slice(&output.stdout).unwrap();
    let home = PathBuf::from(json["home"].as_str().unwrap());
    assert!(home.starts_with(dir.path()), "{json}");
    assert_eq!(
        std::fs::read_dir(dir.path()).unwrap().count(),
        0,
        "something was left behind"
    );
    let output = support::program(dir.path())
        .args(["--demo", "get", "agent.max_turns"])
        .output()
        .unwrap();
    assert_eq!(text(&output).0, "60\n");
}

#[test]
fn completions_are_printed() {
    let dir = support::scratch();
    let output = support::program(dir.path())
        .args(["completions", "bash"])
        .output()
        .unwrap();
    assert!(output.status.success());
    assert!(text(&output).0.contains("complete -F _hermes"));
}

#[test]
fn wrong_usage_is_exit_code_two() {
    let dir = support::scratch();
    for args in [
        &["nonsense"][..],
        &["set", "k"],
        &["get"],
        &["--env", "--config", "list"],
    ] {
        let output = support::program(dir.path()).args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert_eq!(text(&output).0, "");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let home = Home::sample();
    let mut child = home
        .command(&["list", "--all"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(text(&output).1, "", "no complaint");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn no_terminal_means_one_sentence_and_exit_code_one() {
    let home = Home::sample();
    for term in ["xterm-256color", "dumb"] {
        let output = home.command(&[]).env("TERM", term).output().unwrap();
        let (out, err) = text(&output);
        assert_eq!(output.status.code(), Some(1), "{err}");
        assert_eq!(out, "");
        assert!(!err.contains('\x1b'), "{err:?}");
        assert_eq!(err.trim_end().lines().count(), 1, "{err}");
        assert!(err.contains("terminal"), "{err}");
    }
}

#[test]
fn no_secret_is_ever_in_an_error_or_a_receipt() {
    let home = Home::sample();
    let long = "sk-verysecretverysecretverysecret";
    for args in [
        &[
            "set",
            "OPENROUTER_API_KEY",
            "sk-verysecretverysecretverysecret\nX",
        ][..],
        &[
            "set",
            "OPENROUTER_API_KEY",
            "sk-verysecretverysecretverysecret${HOME}",
        ],
        &["set", "OPENROUTER_API_KEY", long],
        &["set", "OPENROUTER_API_KEY", long, "--json"],
        &["set", "auxiliary.vision.api_key", long],
        &["set", "auxiliary.vision.api_key", long, "--dry-run"],
        &["unset", "OPENROUTER_API_KEY"],
        &["list", "--json"],
        &["doctor"],
        &["doctor", "--json"],
    ] {
        let (out, err) = text(&home.run(args));
        assert_no_secret(&format!("{out}{err}"));
        assert!(
            !out.contains("verysecretvery") && !err.contains("verysecretvery"),
            "{args:?}: {out}{err}"
        );
    }
}

#[test]
fn lists_are_edited_by_index() {
    let home = Home::with(&[("config.yaml", "model: vendor/x\ntoolsets: [web, file]\n")]);
    home.ok(&["set", "toolsets.1", "browser"]);
    assert_eq!(
        home.read("config.yaml"),
        "model: vendor/x\ntoolsets: [web, browser]\n"
    );
    let err = home.refused(&["set", "toolsets.5", "browser"]);
    assert!(err.contains("index 5") && err.contains("0 to 1"), "{err}");
    let err = home.refused(&["set", "toolsets.first", "browser"]);
    assert!(err.contains("list"), "{err}");
    home.ok(&["set", "fallback_providers.0.model", "m"]);
    assert_eq!(
        home.json(&["get", "fallback_providers"])["value"],
        json!([{"model": "m"}])
    );
    home.ok(&["unset", "toolsets.0"]);
    assert_eq!(home.json(&["get", "toolsets"])["value"], json!(["browser"]));
}

#[test]
fn the_short_form_of_model_is_read_and_grown() {
    let home = Home::with(&[("config.yaml", "model: vendor/x # mine\n")]);
    assert_eq!(home.ok(&["get", "model.default"]), "vendor/x");
    home.ok(&["set", "model.default", "vendor/y"]);
    assert_eq!(home.read("config.yaml"), "model: vendor/y # mine\n");
    home.ok(&["set", "model.provider", "openrouter"]);
    assert_eq!(home.json(&["get", "model"])["value"]["default"], "vendor/y");
    assert_eq!(home.ok(&["get", "model.provider"]), "openrouter");
    assert!(home.read("config.yaml").contains("# mine"));
}

#[test]
fn one_word_never_takes_the_place_of_many_values() {
    let home = Home::sample();
    for key in [
        "agent",
        "providers.club",
        "quick_commands",
        "approvals.deny",
    ] {
        home.refused(&["set", key, "word"]);
    }
    home.ok(&["set", "--force", "quick_commands.disk", "word"]);
}

#[test]
fn a_mask_or_a_placeholder_is_no_secret() {
    let home = Home::sample();
    for value in ["***", "sk-or...1111", "your_api_key_here", "••••0000"] {
        let err = home.refused(&["set", "OPENROUTER_API_KEY", value]);
        assert!(
            err.contains("placeholder") && err.contains("--force"),
            "{err}"
        );
    }
    home.refused(&["set", "auxiliary.vision.api_key", "***"]);
    home.ok(&["set", "OPENROUTER_API_KEY", "***", "--force"]);
}
