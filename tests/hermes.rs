//! The real Hermes 0.19.0 reads what we wrote. `HERMES_PEER_PYTHON` names the Python of a virtual
//! environment that has it.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    clippy::disallowed_methods
)]

mod support;

use std::path::{Path, PathBuf};

use support::peer::Peer;

/// A copy of the sample home without its active profile, so that `hermes` reads this very home.
fn sample(dir: &Path) -> PathBuf {
    let home = dir.join("home");
    support::copy_tree(&support::sample_home(), &home);
    let _ = std::fs::remove_file(home.join("active_profile"));
    home
}

fn set(dir: &Path, home: &Path, args: &[&str]) {
    let output = support::program(dir)
        .arg("--home")
        .arg(home)
        .arg("set")
        .args(args)
        .output()
        .unwrap();
    let (out, err) = support::text(&output);
    assert!(output.status.success(), "set {args:?}: {out}{err}");
}

#[test]
fn hermes_reads_the_settings_we_wrote() {
    let Some(peer) = Peer::find("hermes_reads_the_settings_we_wrote") else {
        return;
    };
    let dir = support::scratch();
    let home = sample(dir.path());
    let values = [
        ("model.default", "anthropic/claude-opus-4.8"),
        ("agent.max_turns", "91"),
        ("display.show_reasoning", "true"),
        ("compression.threshold", "0.75"),
        ("approvals.mode", "off"),
        ("agent.environment_hint", "on: a #1 \"board\""),
        ("display.timestamp_format", "12:30"),
        ("tts.edge.voice", "0123"),
        ("fallback_providers.1.model", "1e3"),
    ];
    for (key, value) in values {
        set(dir.path(), &home, &[key, value]);
    }
    for (key, value) in values {
        assert_eq!(peer.get(&home, key), value, "{key}");
    }
    set(dir.path(), &home, &["toolsets", "[web, \"off\", file]"]);
    assert_eq!(peer.get(&home, "toolsets"), "- web\n- 'off'\n- file");
}

#[test]
fn hermes_and_we_agree_on_what_is_set() {
    let Some(peer) = Peer::find("hermes_and_we_agree_on_what_is_set") else {
        return;
    };
    let dir = support::scratch();
    let home = sample(dir.path());
    for key in [
        "model.default",
        "model.provider",
        "agent.max_turns",
        "terminal.backend",
        "toolsets",
        "approvals.deny",
        "display.show_reasoning",
        "compression.threshold",
        "agent.disabled_toolsets",
        "fallback_providers",
        "platforms.telegram.reply_to_mode",
        "telegram.channel_prompts",
        "browser.inactivity_timeout",
        "auxiliary.title_generation.model",
        "FAL_KEY",
        "TAVILY_API_KEY",
    ] {
        let output = support::program(dir.path())
            .arg("--home")
            .arg(&home)
            .args(["get", key])
            .output()
            .unwrap();
        let (out, err) = support::text(&output);
        assert!(output.status.success(), "get {key}: {err}");
        assert_eq!(
            out.strip_suffix('\n').unwrap(),
            peer.get(&home, key),
            "{key}"
        );
    }
}

#[test]
fn every_reader_sees_the_variables_we_wrote_and_no_other_change() {
    let name = "every_reader_sees_the_variables_we_wrote_and_no_other_change";
    let Some(peer) = Peer::find(name) else { return };
    let dir = support::scratch();
    let home = sample(dir.path());
    let mut want = peer.read(&home);
    for (key, value) in [
        ("OPENROUTER_API_KEY", "sk-or-v1-new#tail"),
        ("FEISHU_APP_SECRET", "it's a \"secret\" \\ with $signs"),
        ("EXA_API_KEY", "a new one"),
        ("SLACK_BOT_TOKEN", "xoxb-FAKE-2"),
        ("GITHUB_TOKEN", ""),
    ] {
        set(dir.path(), &home, &["--env", key, value]);
        want["dotenv"][key] = value.into();
        want["load_env"][key] = value.into();
    }
    // A comment behind a value is part of it for load_env; setting the value ends that.
    set(
        dir.path(),
        &home,
        &["--env", "MCP_TICKETS_API_KEY", "fake-2"],
    );
    want["dotenv"]["MCP_TICKETS_API_KEY"] = "fake-2".into();
    want["load_env"]["MCP_TICKETS_API_KEY"] = "fake-2".into();
    assert_eq!(peer.read(&home), want);
}
