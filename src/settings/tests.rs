//! Rows of whole files, through the real documents.

use super::*;
use crate::catalog::{Category, Severity};
use crate::document::{KeyPath, Step, Value};

fn yaml(text: &str) -> YamlDocument {
    YamlDocument::parse(text.as_bytes()).unwrap()
}

fn env(text: &str) -> EnvDocument {
    EnvDocument::parse(text.as_bytes()).unwrap()
}

fn row<'r>(rows: &'r [Row], path: &str) -> &'r Row {
    rows.iter()
        .find(|r| r.path.to_string() == path)
        .unwrap_or_else(|| panic!("no row {path}"))
}

fn s(text: &str) -> Value {
    Value::Str(text.to_owned())
}

fn sample() -> (YamlDocument, EnvDocument) {
    (
        yaml(include_str!("../../assets/sample_home/config.yaml")),
        env(include_str!("../../assets/sample_home/.env")),
    )
}

#[test]
fn the_sample_home_gives_the_rows_one_expects() {
    let (config, variables) = sample();
    let rows = rows(&Layers {
        config: Some(&config),
        env: Some(&variables),
        ..Layers::default()
    });
    let turns = row(&rows, "agent.max_turns");
    assert_eq!(
        (turns.section.as_str(), turns.label.as_str()),
        ("agent", "max_turns")
    );
    assert_eq!(turns.origin, Origin::File);
    assert_eq!(turns.value, Some(Value::Int(60)));
    assert_eq!(turns.default, Some(Value::Int(90)));
    assert_eq!(turns.line, Some(56));
    let verbose = row(&rows, "agent.verbose");
    assert_eq!((verbose.origin, verbose.line), (Origin::Default, None));
    // Entries that people name themselves.
    let name = row(&rows, "providers.attic-box.name");
    assert_eq!(
        (name.section.as_str(), name.label.as_str()),
        ("providers", "attic-box.name")
    );
    assert_eq!(
        row(&rows, "fallback_providers.0.provider").value,
        Some(s("deepseek"))
    );
    assert_eq!(
        row(&rows, "custom_providers.0.models.llama-tiny.context_length").value,
        Some(Value::Int(4096))
    );
    assert_eq!(
        row(&rows, "platforms.telegram.home_channel.chat_id").value,
        Some(s("777000111"))
    );
    // Lists and sections that are edited as one.
    assert!(
        matches!(&row(&rows, "fallback_providers").value, Some(Value::List(l)) if l.len() == 2)
    );
    assert!(matches!(
        &row(&rows, "terminal.docker_env").value,
        Some(Value::Map(_))
    ));
    assert!(
        !rows
            .iter()
            .any(|r| r.path.to_string().starts_with("terminal.docker_env."))
    );
    assert!(
        !rows
            .iter()
            .any(|r| r.path.to_string() == "providers.attic-box")
    );
    // What the file holds besides.
    let own = row(&rows, "MIRA_BACKUP_TARGET");
    assert!(own.is_unknown() && own.section == "unknown");
    // Secrets.
    let headers = row(&rows, "mcp_servers.tickets.headers");
    assert!(headers.secret);
    assert!(headers.shown().contains("${MCP_TICKETS_API_KEY}"));
    assert!(!rows.iter().any(|r| {
        r.fault
            .as_ref()
            .is_some_and(|f| f.severity > Severity::Info)
    }));
    // Older names only where the file has them.
    assert!(
        !rows
            .iter()
            .any(|r| r.setting.is_some_and(|s| s.deprecated || s.dead))
    );
    // Every path once, sections together.
    let mut paths: Vec<_> = rows.iter().map(|r| r.path.clone()).collect();
    paths.sort();
    paths.dedup();
    assert_eq!(paths.len(), rows.len());
    let mut sections: Vec<_> = rows.iter().map(|r| r.section.as_str()).collect();
    sections.dedup();
    let count = sections.len();
    sections.sort_unstable();
    sections.dedup();
    assert_eq!(sections.len(), count);
}

#[test]
fn every_leaf_of_a_file_is_in_a_row() {
    let (config, _) = sample();
    let rows = rows(&Layers {
        config: Some(&config),
        ..Layers::default()
    });
    for leaf in config.leaves() {
        let shown = rows
            .iter()
            .any(|r| r.path.contains(&leaf.path) && r.value.is_some());
        assert!(shown, "{}", leaf.path);
    }
}

#[test]
fn rows_without_any_file_are_the_defaults() {
    let rows = rows(&Layers::default());
    assert!(rows.len() > 600, "{}", rows.len());
    assert!(
        rows.iter()
            .all(|r| r.origin == Origin::Default && r.value.is_none())
    );
    assert_eq!(row(&rows, "terminal.backend").shown(), "local");
}

#[test]
fn the_administrator_wins_leaf_by_leaf() {
    let config = yaml("model:\n  default: mine\n  provider: nous\napprovals:\n  deny: [a]\n");
    let managed =
        yaml("model:\n  default: theirs\napprovals:\n  deny: []\nirc:\n  dm_policy: open\n");
    let rows = rows(&Layers {
        config: Some(&config),
        managed_config: Some(&managed),
        ..Layers::default()
    });
    let default = row(&rows, "model.default");
    assert_eq!(
        (default.origin, &default.effective),
        (Origin::Managed, &Some(s("theirs")))
    );
    assert_eq!(default.value, Some(s("mine")));
    assert!(default.locked.is_some());
    let provider = row(&rows, "model.provider");
    assert_eq!(
        (provider.origin, provider.locked.is_some()),
        (Origin::File, false)
    );
    assert!(row(&rows, "model").locked.is_some());
    let deny = row(&rows, "approvals.deny");
    assert_eq!(
        (deny.origin, deny.shown().as_str()),
        (Origin::Managed, "[]")
    );
    assert_eq!(row(&rows, "irc.dm_policy").origin, Origin::Managed);
    assert!(row(&rows, "_config_version").locked.is_some());
}

#[test]
fn variables_that_beat_the_file_are_in_force() {
    let config = yaml("discord:\n  require_mention: true\nterminal:\n  timeout: 240\n");
    let variables = env(
        "DISCORD_REQUIRE_MENTION=false\nTERMINAL_TIMEOUT=10\nTERMINAL_ENV=docker\nTELEGRAM_REACTIONS=\n",
    );
    let rows = rows(&Layers {
        config: Some(&config),
        env: Some(&variables),
        ..Layers::default()
    });
    let mention = row(&rows, "discord.require_mention");
    assert_eq!(
        (mention.origin, &mention.effective),
        (Origin::Env, &Some(Value::Bool(false)))
    );
    // Here the file wins, but only where it says something.
    assert_eq!(row(&rows, "terminal.timeout").origin, Origin::File);
    let backend = row(&rows, "terminal.backend");
    assert_eq!(
        (backend.origin, &backend.effective),
        (Origin::Env, &Some(s("docker")))
    );
    // An empty variable beats nothing.
    assert_eq!(row(&rows, "telegram.reactions").origin, Origin::Default);
}

#[test]
fn unknown_and_broken_parts_keep_their_rows() {
    let config = yaml(
        "terminal: docker\nmine:\n  a:\n    b: 1\n  c: []\nagent:\n  frob: 2\ntelegram:\n  frob: 1\n3: x\n",
    );
    let rows = rows(&Layers {
        config: Some(&config),
        ..Layers::default()
    });
    let terminal = row(&rows, "terminal");
    assert_eq!(terminal.fault.as_ref().unwrap().severity, Severity::Error);
    assert_eq!(row(&rows, "mine.a.b").section, "unknown");
    assert!(row(&rows, "mine.c").is_unknown());
    assert_eq!(row(&rows, "agent.frob").section, "agent");
    assert_eq!(row(&rows, "telegram.frob").section, "telegram");
    let number = rows
        .iter()
        .find(|r| r.path == KeyPath(vec![Step::Index(3)]))
        .unwrap();
    assert_eq!(number.line, Some(10));
}

#[test]
fn secrets_of_rows_are_masked() {
    let config = yaml(
        "model:\n  api_key: hunter2hunter2\nMY_TOKEN: hunter2hunter2\ncustom_providers:\n  - name: x\n    api_key: hunter2hunter2\nproviders:\n  b:\n    extra_headers: {X-Api-Key: hunter2hunter2}\n",
    );
    let rows = rows(&Layers {
        config: Some(&config),
        ..Layers::default()
    });
    let mut hidden = 0;
    for row in &rows {
        assert!(!row.shown().contains("hunter2"), "{}", row.path);
        if row.shown().contains("••••ter2") {
            assert!(row.secret, "{}", row.path);
            hidden += 1;
        }
    }
    // The two sections that hold one are rows, too.
    assert_eq!(hidden, 7);
}

#[test]
fn key_rows_tell_the_state_of_every_variable() {
    let (config, variables) = sample();
    let managed = env("FAL_KEY=fal_managed_by_admin\n");
    let rows = key_rows(&Layers {
        config: Some(&config),
        env: Some(&variables),
        managed_config: None,
        managed_env: Some(&managed),
    });
    let key = |name: &str| rows.iter().find(|r| r.name == name).unwrap();
    let router = key("OPENROUTER_API_KEY");
    assert_eq!(
        (router.state, router.masked.as_str()),
        (KeyState::Set, "••••0000")
    );
    assert_eq!(
        (router.provider, router.lines.as_slice()),
        (Some("openrouter"), &[2][..])
    );
    assert_eq!(router.fingerprint.as_ref().map(String::len), Some(8));
    assert_eq!(key("ANTHROPIC_API_KEY").state, KeyState::Missing);
    assert_eq!(key("SUDO_PASSWORD").state, KeyState::Empty);
    assert_eq!(key("FAL_KEY").state, KeyState::Managed);
    assert_eq!(key("TELEGRAM_ALLOWED_USERS").masked, "777000111,777000222");
    assert!(key("MCP_TICKETS_API_KEY").readers_differ.is_some());
    assert!(router.readers_differ.is_none());
    let own = key("MIRA_PRIVATE_NOTE");
    assert_eq!(
        (own.category, own.info.is_none()),
        (Category::Unknown, true)
    );
    assert!(
        !rows
            .iter()
            .any(|r| r.name == "LLM_MODEL" || r.name == "HERMES_HOME")
    );
    assert!(!format!("{rows:?}").contains("FAKE0000"));
    let order: Vec<_> = rows.iter().map(|r| r.category).collect();
    assert!(order.is_sorted());
}

#[test]
fn duplicates_placeholders_and_aliases_are_seen() {
    let variables = env(
        "FAL_KEY=one_one_one\nFAL_KEY=two_two_two\nEXA_API_KEY=***\nGEMINI_API_KEY=AIzafake\nGROQ_API_KEY=abc\n",
    );
    let rows = key_rows(&Layers {
        env: Some(&variables),
        ..Layers::default()
    });
    let key = |name: &str| rows.iter().find(|r| r.name == name).unwrap();
    assert_eq!(
        (key("FAL_KEY").duplicates, key("FAL_KEY").lines.len()),
        (1, 2)
    );
    assert_eq!(key("FAL_KEY").value.as_deref(), Some("two_two_two"));
    assert_eq!(key("EXA_API_KEY").state, KeyState::Placeholder);
    assert_eq!(key("GROQ_API_KEY").state, KeyState::Placeholder);
    assert_eq!(key("GOOGLE_API_KEY").aliases, ["GEMINI_API_KEY"]);
}
