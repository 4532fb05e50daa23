//! Problems of whole files, found through the real documents.

use super::*;
use crate::document::dotenv::EnvDocument;
use crate::document::yaml::YamlDocument;
use crate::settings::{Layers, takes_effect};

fn find(config: &str, env: &str) -> Vec<Problem> {
    find_managed(config, env, "", "")
}

fn find_managed(config: &str, env: &str, managed: &str, managed_env: &str) -> Vec<Problem> {
    let config = YamlDocument::parse(config.as_bytes()).unwrap();
    let env = EnvDocument::parse(env.as_bytes()).unwrap();
    let managed = YamlDocument::parse(managed.as_bytes()).unwrap();
    let managed_env = EnvDocument::parse(managed_env.as_bytes()).unwrap();
    problems(&Layers {
        config: Some(&config),
        env: Some(&env),
        managed_config: Some(&managed),
        managed_env: Some(&managed_env),
    })
}

fn brief(list: &[Problem]) -> Vec<String> {
    list.iter()
        .map(|p| format!("{:?} {} {}", p.severity, p.key, p.title))
        .collect()
}

#[track_caller]
fn one(config: &str, env: &str) -> Problem {
    let mut found = find(config, env);
    assert_eq!(found.len(), 1, "{:#?}", brief(&found));
    found.remove(0)
}

fn path(text: &str) -> KeyPath {
    KeyPath::of(&text.split('.').collect::<Vec<_>>())
}

fn s(text: &str) -> Value {
    Value::Str(text.to_owned())
}

#[test]
fn the_sample_home_has_one_problem() {
    let config = include_str!("../../../assets/sample_home/config.yaml");
    let env = include_str!("../../../assets/sample_home/.env");
    let found = one(config, env);
    assert_eq!(found.key, "MCP_TICKETS_API_KEY");
    assert_eq!(found.line, Some(34));
    assert_eq!(
        found.fix,
        Some(Fix::RewriteEnv("MCP_TICKETS_API_KEY".into()))
    );
    let work = include_str!("../../../assets/sample_home/profiles/work/config.yaml");
    let work_env = include_str!("../../../assets/sample_home/profiles/work/.env");
    assert_eq!(brief(&find(work, work_env)), Vec::<String>::new());
}

#[test]
fn a_section_twice_is_told_with_its_lines() {
    let found = one("mcp_servers:\n  a: {}\nz: {}\nmcp_servers:\n  b: {}\n", "");
    assert_eq!((found.key.as_str(), found.line), ("mcp_servers", Some(4)));
    assert!(found.detail.contains("line 1"), "{}", found.detail);
}

#[test]
fn wrong_values_are_told_and_mended() {
    let found = one("agent:\n  max_turns: abc\n", "");
    assert_eq!(found.severity, Severity::Error);
    assert_eq!(found.line, Some(2));
    assert!(found.title.contains("a whole number"), "{}", found.title);
    assert!(found.detail.contains("90"), "{}", found.detail);
    assert_eq!(found.fix, Some(Fix::UnsetConfig(path("agent.max_turns"))));

    let fix = |yaml: &str| one(yaml, "").fix;
    assert_eq!(
        fix("agent:\n  max_turns: '60'\n"),
        Some(Fix::SetConfig(path("agent.max_turns"), Value::Int(60)))
    );
    assert_eq!(
        fix("terminal:\n  backend: dcoker\n"),
        Some(Fix::SetConfig(path("terminal.backend"), s("docker")))
    );
    assert_eq!(
        fix("display:\n  memory_notifications: off\n"),
        Some(Fix::SetConfig(
            path("display.memory_notifications"),
            s("off")
        ))
    );
    assert_eq!(
        fix("compression:\n  threshold: 5e-1\n"),
        Some(Fix::SetConfig(
            path("compression.threshold"),
            Value::Float(0.5)
        ))
    );
    assert_eq!(
        fix("toolsets: web\n"),
        Some(Fix::UnsetConfig(path("toolsets")))
    );
    assert_eq!(fix("custom_providers:\n  name: x\n"), None);
    // Read as they are meant.
    for yaml in [
        "approvals:\n  mode: off\n",
        "agent:\n  max_turns: ${TURNS}\n",
        "terminal:\n",
        "model: some/model\n",
        "platforms:\n  telegram:\n    reply_to_mode: off\n",
    ] {
        assert_eq!(
            brief(&find(yaml, "TURNS=5\n")),
            Vec::<String>::new(),
            "{yaml}"
        );
    }
}

#[test]
fn unknown_names_are_told_where_it_helps() {
    let found = one("agent:\n  max_turn: 5\n", "");
    assert!(found.title.contains("agent.max_turns"), "{}", found.title);
    assert_eq!(
        found.fix,
        Some(Fix::MoveConfig {
            from: path("agent.max_turn"),
            to: path("agent.max_turns")
        })
    );
    let found = one("timezne: Europe/Vienna\n", "");
    assert_eq!(found.severity, Severity::Warning);
    assert!(found.detail.contains("variable"), "{}", found.detail);
    assert_eq!(
        one("agent:\n  frobnicate: 5\n", "").severity,
        Severity::Info
    );
    // Names of one's own.
    assert_eq!(
        brief(&find("MY_SKILL_VAR: x\nmine:\n  a: 1\n  b: [1]\n", "")),
        Vec::<String>::new()
    );
    assert_eq!(
        one("platforms:\n  slack:\n    show_reasoning: true\n", "").fix,
        Some(Fix::MoveConfig {
            from: path("platforms.slack.show_reasoning"),
            to: path("display.platforms.slack.show_reasoning")
        })
    );
    // Nothing is proposed that is already there.
    assert_eq!(
        one("agent:\n  max_turns: 9\n  max_turn: 5\n", "").severity,
        Severity::Info
    );
}

#[test]
fn a_scalar_in_the_place_of_a_section_is_an_error() {
    for yaml in [
        "terminal: docker\n",
        "display: [a]\n",
        "providers:\n  box: http://x\n",
    ] {
        let found = one(yaml, "");
        assert_eq!(found.severity, Severity::Error, "{yaml}");
        assert!(found.title.contains("section"), "{}", found.title);
    }
    assert_eq!(
        brief(&find(
            "hooks:\n  pre_tool_call:\n    - command: ./x\n  on_session_end: []\n",
            ""
        )),
        Vec::<String>::new()
    );
    let found = one("- a\n- b\n", "");
    assert_eq!(found.severity, Severity::Error);
}

#[test]
fn older_and_dead_names_are_told() {
    let found = one("max_turns: 7\n", "");
    assert_eq!(found.severity, Severity::Info);
    assert_eq!(
        found.fix,
        Some(Fix::MoveConfig {
            from: path("max_turns"),
            to: path("agent.max_turns")
        })
    );
    assert_eq!(
        one("max_turns: 7\nagent:\n  max_turns: 9\n", "").fix,
        Some(Fix::UnsetConfig(path("max_turns")))
    );
    assert_eq!(
        one("display:\n  show_cost: true\n", "").fix,
        Some(Fix::UnsetConfig(path("display.show_cost")))
    );
    // Defaults that older versions wrote out say nothing.
    assert_eq!(
        brief(&find(
            "display:\n  show_cost: false\n  tool_progress_overrides: {}\n",
            ""
        )),
        Vec::<String>::new()
    );
    assert_eq!(
        one("", "QQ_HOME_CHANNEL=1\n").fix,
        Some(Fix::RenameEnv {
            from: "QQ_HOME_CHANNEL".into(),
            to: "QQBOT_HOME_CHANNEL".into()
        })
    );
}

#[test]
fn lines_that_readers_take_differently_are_told() {
    let found = one("", "MINIMAX_BASE_URL=https://mm.example/v1  # official\n");
    assert_eq!(found.key, "MINIMAX_BASE_URL");
    assert_eq!(found.fix, Some(Fix::RewriteEnv("MINIMAX_BASE_URL".into())));
    let found = one("", "FAL_KEY=fal_one_one\nFAL_KEY=fal_two_two\n");
    assert_eq!(found.fix, Some(Fix::DedupeEnv("FAL_KEY".into())));
    let found = find("", "\u{feff}FAL_KEY=fal_one_one\n");
    assert!(
        found
            .iter()
            .any(|p| p.severity == Severity::Error && p.key == "FAL_KEY"),
        "{:?}",
        brief(&found)
    );
}

#[test]
fn masks_are_no_secrets() {
    for value in ["***", "sk-o...1234", "changeme", "••••f3a9", "x"] {
        let found = one("", &format!("OPENAI_API_KEY={value}\n"));
        assert_eq!(found.key, "OPENAI_API_KEY");
        assert_eq!(found.severity, Severity::Error, "{value}");
        assert_eq!(found.fix, Some(Fix::UnsetEnv("OPENAI_API_KEY".into())));
    }
    let found = one(
        "providers:\n  box:\n    base_url: http://x/v1\n    api_key: '***'\n",
        "",
    );
    assert_eq!(found.key, "providers.box.api_key");
    assert_eq!(found.line, Some(4));
    assert_eq!(brief(&find("", "OPENAI_API_KEY=\n")), Vec::<String>::new());
    // A server of one's own that takes any key.
    let own = "providers:\n  box:\n    base_url: http://x/v1\n    api_key: none\n";
    assert_eq!(brief(&find(own, "")), Vec::<String>::new());
}

#[test]
fn both_files_are_looked_at_together() {
    let found = one("terminal:\n  timeout: 240\n", "TERMINAL_TIMEOUT=180\n");
    assert_eq!(
        found.fix,
        Some(Fix::SetEnv("TERMINAL_TIMEOUT".into(), "240".into()))
    );
    let found = one(
        "discord:\n  require_mention: true\n",
        "DISCORD_REQUIRE_MENTION=false\n",
    );
    assert_eq!(found.key, "discord.require_mention");
    assert_eq!(
        found.fix,
        Some(Fix::UnsetEnv("DISCORD_REQUIRE_MENTION".into()))
    );
    for (yaml, env) in [
        (
            "discord:\n  require_mention: true\n",
            "DISCORD_REQUIRE_MENTION=True\n",
        ),
        (
            "terminal:\n  docker_volumes: ['/a:/b']\n",
            "TERMINAL_DOCKER_VOLUMES='[\"/a:/b\"]'\n",
        ),
        ("terminal:\n  cwd: .\n", "TERMINAL_HOME_MODE=real\n"),
        (
            "telegram:\n  allowed_chats: [1, 2]\n",
            "TELEGRAM_ALLOWED_CHATS=1,2\n",
        ),
        (
            "terminal:\n  container_cpu: 2\n",
            "TERMINAL_CONTAINER_CPU=2\n",
        ),
    ] {
        assert_eq!(brief(&find(yaml, env)), Vec::<String>::new(), "{yaml}");
    }
}

#[test]
fn providers_need_their_key_and_their_name() {
    let found = one("model:\n  default: m\n  provider: deepseek\n", "");
    assert_eq!(found.key, "model.provider");
    assert!(
        found.detail.contains("DEEPSEEK_API_KEY"),
        "{}",
        found.detail
    );
    let found = one("model:\n  default: m\n  provider: custom:box\n", "");
    assert_eq!(found.severity, Severity::Error);
    let found = one(
        "model:\n  default: m\n  provider: kimi\n",
        "KIMI_API_KEY=sk-kimi-1\n",
    );
    assert_eq!(
        found.fix,
        Some(Fix::SetConfig(path("model.provider"), s("kimi-coding")))
    );
    assert_eq!(
        one("model:\n  provider: nobody\n", "").severity,
        Severity::Warning
    );
    let found = one(
        "providers:\n  box:\n    base_url: http://x/v1\n    key_env: BOX_API_KEY\n",
        "",
    );
    assert_eq!(found.key, "providers.box.key_env");
    let found = one("mcp_servers:\n  a:\n    url: ${NOWHERE}\n", "");
    assert!(found.title.contains("NOWHERE"), "{}", found.title);
    let found = one("web:\n  backend: exa\n", "");
    assert!(found.title.contains("EXA_API_KEY"), "{}", found.title);
    for (yaml, env) in [
        ("model:\n  provider: auto\n", ""),
        ("model:\n  provider: nous\n", ""),
        ("model:\n  provider: zai\n", "ZAI_API_KEY=abcdefgh\n"),
        ("model:\n  provider: custom\n  base_url: http://x/v1\n", ""),
        (
            "auxiliary:\n  vision:\n    provider: deepseek\n    api_key: sk-1234567890\n",
            "",
        ),
        (
            "providers:\n  My Box:\n    base_url: http://x/v1\nmodel:\n  provider: custom:my-box\n",
            "",
        ),
    ] {
        assert_eq!(brief(&find(yaml, env)), Vec::<String>::new(), "{yaml}");
    }
    let keys = find_managed(
        "model:\n  provider: deepseek\n",
        "",
        "",
        "DEEPSEEK_API_KEY=sk-managed-1\n",
    );
    assert_eq!(brief(&keys), Vec::<String>::new());
}

#[test]
fn nearly_right_names_of_variables_are_told() {
    let found = one("", "OPENROUTER_APIKEY=sk-or-v1-abcdefgh\n");
    assert_eq!(
        found.fix,
        Some(Fix::RenameEnv {
            from: "OPENROUTER_APIKEY".into(),
            to: "OPENROUTER_API_KEY".into()
        })
    );
    let used = find(
        "mcp_servers:\n  a:\n    url: ${OPENROUTER_APIKEY}\n",
        "OPENROUTER_APIKEY=abcdefgh\n",
    );
    assert_eq!(brief(&used), Vec::<String>::new());
    assert_eq!(
        one("", "HERMES_MANAGED_DIR=/x\n").fix,
        Some(Fix::UnsetEnv("HERMES_MANAGED_DIR".into()))
    );
    assert_eq!(
        one("", "TELEGRAM_ALLOW_ALL_USERS=true\n").severity,
        Severity::Info
    );
    assert_eq!(
        one("", "API_SERVER_PORT=http\n").severity,
        Severity::Warning
    );
}

#[test]
fn no_problem_shows_a_secret() {
    let config = "model:\n  default: m\n  provider: custom\n  base_url: http://x/v1\n  api_key: [hunter2hunter2]\nagent:\n  max_turns: hunter2hunter2\nterminal:\n  sudo_password: hunter2hunter2\n  backend: hunter2hunter2\nMY_API_KEY: hunter2hunter2\nproviders:\n  b:\n    key_env: hunter2-hunter2\n";
    let env = "SUDO_PASSWORD=other\nOPENAI_API_KEY='hunter2hunter2' # x\nTELEGRAM_BOT_TOKEN=hunter2hunter2\nTERMINAL_TIMEOUT=hunter2hunter2\nHERMES_MANAGED=hunter2hunter2\n";
    let found = find(config, env);
    assert!(found.len() >= 6, "{:#?}", brief(&found));
    let text = format!("{found:?}");
    assert!(!text.contains("hunter2hunter2"), "{text}");
}

#[test]
fn a_broken_file_is_a_problem_with_its_line() {
    let error = YamlDocument::parse(b"a: 1\nb:\n  c: 1\n   d: 2\n").unwrap_err();
    let found = parse_problem(File::Config, &error);
    assert!(
        found.title.contains("line 4") || found.title.contains("line 3"),
        "{}",
        found.title
    );
}

#[test]
fn every_title_is_a_clause() {
    let found = find(
        "terminal: x\nmax_turns: 7\ntimezne: x\n",
        "FAL_KEY=a#b # c\nfoo\n",
    );
    for p in found {
        assert!(!p.title.ends_with('.') && p.detail.ends_with('.'), "{p:?}");
    }
    let _ = takes_effect;
}
