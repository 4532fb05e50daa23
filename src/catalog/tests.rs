//! The catalogue as a whole: it loads, it is complete, and it does not contradict itself.

use super::*;
use crate::document::Value;

fn path(text: &str) -> KeyPath {
    KeyPath(
        KeyPath::split(text)
            .into_iter()
            .map(|s| s.parse().map_or(Step::Key(s), Step::Index))
            .collect(),
    )
}

fn setting(text: &str) -> &'static Setting {
    catalog()
        .setting(&path(text))
        .unwrap_or_else(|| panic!("{text} is not known"))
}

fn s(text: &str) -> Value {
    Value::Str(text.to_owned())
}

#[test]
fn everything_loads_and_nothing_is_missing() {
    let c = catalog();
    assert_eq!(c.settings().len(), 925);
    assert_eq!(c.settings().iter().filter(|s| !s.optional).count(), 592);
    assert_eq!(c.keys().len(), 484);
    assert_eq!(c.keys().iter().filter(|k| k.repair_knows()).count(), 336);
    assert_eq!(c.providers().len(), 41);
    assert_eq!(c.groups().len(), 8);
    assert_eq!(c.keys_meta().denied.len(), 30);
    assert_eq!(c.keys_meta().denied_later.len(), 15);
    assert_eq!(c.keys_meta().terminal.len(), 29);
    assert_eq!(c.settings_meta().config_version, 33);
    let mut paths: Vec<&str> = c.settings().iter().map(|s| s.path.as_str()).collect();
    paths.sort_unstable();
    paths.dedup();
    assert_eq!(paths.len(), 925);
}

#[test]
fn every_setting_is_sound() {
    for s in catalog().settings() {
        assert!(!s.help.is_empty() && !s.help.ends_with('.'), "{}", s.path);
        assert!(s.help.chars().count() <= 90, "{}: {}", s.path, s.help);
        assert_eq!(s.takes(Kind::Enum), !s.choices.is_empty(), "{}", s.path);
        assert!(
            !(s.min.is_some() && s.max.is_some()) || s.min < s.max,
            "{}",
            s.path
        );
        if let Some(default) = &s.default {
            assert_eq!(s.check(default), Ok(()), "{}", s.path);
        }
        for choice in &s.choices {
            assert_eq!(s.check(choice), Ok(()), "{} {choice:?}", s.path);
        }
        if let Some(other) = s.replaced_by.as_deref() {
            let other = path(other);
            let c = catalog();
            assert!(
                c.setting(&other).is_some() || c.has_children(&other),
                "{}",
                s.path
            );
        }
        assert!(s.restart_needed().is_some() == s.apply.is_some());
    }
}

#[test]
fn every_enum_default_is_among_its_words() {
    for s in catalog().settings().iter().filter(|s| s.takes(Kind::Enum)) {
        if let Some(default) = &s.default {
            assert!(s.choices.contains(default), "{} {default:?}", s.path);
        }
    }
}

#[test]
fn every_pattern_means_itself() {
    for s in catalog().settings() {
        let mut steps = Vec::new();
        for (i, segment) in s.pattern.0.iter().enumerate() {
            steps.push(match segment {
                Segment::Name(n) => Step::Key(n.clone()),
                Segment::Any(_) if i == 0 => Step::Key("irc".into()),
                Segment::Any(_) => Step::Key("my own.name".into()),
                Segment::Item => Step::Index(3),
            });
        }
        let path = KeyPath(steps);
        let found = catalog().setting(&path).unwrap();
        assert_eq!(found.path, s.path, "{path}");
    }
}

#[test]
fn choices_read_back_as_typed() {
    for s in catalog().settings() {
        for choice in &s.choices {
            let text = match choice {
                Value::Str(t) => t.clone(),
                other => word(other).unwrap(),
            };
            let Ok(Parsed::Value(parsed)) = s.parse(&text) else {
                panic!("{} {text}", s.path)
            };
            let as_bool = matches!(&parsed, Value::Bool(b) if b.to_string() == text);
            assert!(parsed == *choice || as_bool, "{} {text} {parsed:?}", s.path);
        }
    }
}

#[test]
fn keys_point_at_known_things() {
    let c = catalog();
    for k in c.keys() {
        assert!(is_env_name(&k.name), "{}", k.name);
        assert!(!k.help.is_empty() && !k.help.ends_with('.'), "{}", k.name);
        assert_eq!(k.kind == Kind::Enum, !k.choices.is_empty(), "{}", k.name);
        if let Some(provider) = &k.provider {
            assert!(c.provider(provider).is_some(), "{}", k.name);
        }
        if let Some(mirror) = &k.mirrors {
            assert!(c.setting(&path(mirror)).is_some(), "{} {mirror}", k.name);
            assert!(k.beats_config.is_some(), "{}", k.name);
        }
        for other in &k.aliases {
            assert!(c.key(other).is_some(), "{} {other}", k.name);
        }
        if let Some(other) = &k.replaced_by {
            let known = c.key(other).is_some() || c.setting(&path(other)).is_some();
            assert!(known, "{} {other}", k.name);
        }
    }
    for (name, variable) in &c.keys_meta().terminal {
        let setting = setting(&format!("terminal.{name}"));
        assert_eq!(setting.env.as_deref(), Some(variable.as_str()), "{name}");
        assert_eq!(setting.env_wins, Some(false), "{name}");
    }
}

#[test]
fn providers_point_at_known_things() {
    let c = catalog();
    for p in c.providers() {
        assert_eq!(c.provider(&p.id).unwrap().id, p.id);
        for name in p.key_env.iter().chain(&p.url_env) {
            assert!(c.key(name).is_some(), "{} {name}", p.id);
        }
        if let Some(model) = &p.model {
            assert!(p.models.contains(model), "{} {model}", p.id);
        }
        for alias in &p.aliases {
            assert_eq!(c.provider(alias).unwrap().id, p.id, "{alias}");
        }
    }
    for g in c.groups() {
        for member in &g.members {
            assert!(c.provider(member).is_some(), "{} {member}", g.id);
        }
    }
    assert_eq!(c.provider("qwen").unwrap().id, "qwen-oauth");
    assert_eq!(c.provider("nim").unwrap().id, "nvidia");
    assert!(c.provider("custom:attic-box").is_none());
}

#[test]
fn particular_patterns_win() {
    assert_eq!(
        setting("providers.box.base_url").path,
        "providers.<id>.base_url"
    );
    assert_eq!(
        setting("custom_providers.0.model").path,
        "custom_providers[].model"
    );
    assert_eq!(setting("whatsapp.dm_policy").path, "whatsapp.dm_policy");
    assert_eq!(setting("irc.dm_policy").path, "<platform>.dm_policy");
    assert_eq!(
        setting("display.platforms.telegram.streaming").path,
        "display.platforms.telegram.streaming"
    );
    assert_eq!(
        setting("providers.box.baseUrl").path,
        "providers.<id>.base_url"
    );
    assert_eq!(setting("providers.box.api").path, "providers.<id>.base_url");
    assert!(catalog().setting(&path("agent.dm_policy")).is_none());
    assert!(catalog().has_children(&path("providers.box")));
    assert!(catalog().has_children(&path("terminal")));
    assert!(!catalog().has_children(&path("terminal.cwd")));
}

#[test]
fn near_names_are_proposed() {
    let c = catalog();
    assert_eq!(
        c.closest_setting("agent.max_turn").as_deref(),
        Some("agent.max_turns")
    );
    assert_eq!(
        c.closest_setting("providers.my-box.base_ur").as_deref(),
        Some("providers.my-box.base_url")
    );
    assert_eq!(
        c.closest_setting("terminal.environment_hint").as_deref(),
        Some("agent.environment_hint")
    );
    assert_eq!(c.closest_setting("MIRA_BACKUP_TARGET"), None);
    assert_eq!(
        c.closest_key("OPENROUTER_APIKEY"),
        Some("OPENROUTER_API_KEY")
    );
    assert_eq!(c.closest_key("MIRA_PRIVATE_NOTE"), None);
}

#[test]
fn keys_go_to_the_right_file() {
    for env in [
        "OPENROUTER_API_KEY",
        "MY_OWN_TOKEN",
        "WHATEVER_PASSWORD",
        "TELEGRAM_ALLOWED_USERS",
        "TERMINAL_ENV",
    ] {
        assert_eq!(route(env), Target::Env, "{env}");
    }
    for config in [
        "agent.max_turns",
        "timezone",
        "MIRA_BACKUP_TARGET",
        "model.api_key",
        "my_token",
        "a.B_TOKEN",
    ] {
        assert_eq!(route(config), Target::Config, "{config}");
    }
}

#[test]
fn words_are_typed_by_the_setting() {
    let v = |p: &str, t: &str| match setting(p).parse(t) {
        Ok(Parsed::Value(v)) => v,
        other => panic!("{p} {t}: {other:?}"),
    };
    assert_eq!(v("agent.max_turns", "42"), Value::Int(42));
    assert_eq!(v("compression.enabled", "off"), Value::Bool(false));
    assert_eq!(v("compression.threshold", "0.75"), Value::Float(0.75));
    assert_eq!(v("compression.threshold", "1"), Value::Int(1));
    assert_eq!(v("approvals.mode", "off"), s("off"));
    assert_eq!(v("approvals.mode", "Manual"), s("manual"));
    assert_eq!(v("approvals.cron_mode", "allow"), s("allow"));
    assert_eq!(v("tools.tool_search.enabled", "on"), s("on"));
    assert_eq!(v("agent.verify_on_stop", "true"), Value::Bool(true));
    assert_eq!(v("agent.verify_on_stop", "no"), Value::Bool(false));
    assert_eq!(v("tts.xai.sample_rate", "44100"), Value::Int(44_100));
    assert_eq!(v("display.skin", "my-own"), s("my-own"));
    assert_eq!(v("agent.environment_hint", "yes"), s("yes"));
    assert_eq!(v("max_concurrent_sessions", "null"), Value::Null);
    assert_eq!(
        v("discord.dm_role_auth_guild", "12345678901234567890"),
        s("12345678901234567890")
    );
    assert_eq!(v("telegram.allowed_chats", "1,2"), s("1,2"));
    assert_eq!(v("agent.max_turns", "${TURNS}"), s("${TURNS}"));
    assert_eq!(
        setting("telegram.allowed_chats").parse("[1, 2]"),
        Ok(Parsed::Flow)
    );
    assert_eq!(setting("toolsets").parse("web"), Ok(Parsed::Flow));
    assert_eq!(
        setting("agent.max_turns").parse("abc"),
        Err("needs a whole number, 1 or more".into())
    );
    assert_eq!(
        setting("terminal.backend").parse("dcoker"),
        Err("needs one of local, docker, ssh, modal, daytona, singularity".into())
    );
    assert!(setting("compression.threshold").parse("high").is_err());
    assert!(setting("worktree").parse("maybe").is_err());
}

#[test]
fn values_are_judged_as_hermes_reads_them() {
    let severity = |p: &str, v: Value| setting(p).check(&v).err().map(|f| f.severity);
    let error = Some(Severity::Error);
    let warning = Some(Severity::Warning);
    assert_eq!(severity("agent.max_turns", s("abc")), error);
    assert_eq!(severity("agent.max_turns", s("60")), warning);
    assert_eq!(severity("agent.max_turns", Value::Bool(true)), error);
    assert_eq!(severity("agent.max_turns", Value::Null), warning);
    assert_eq!(
        severity("agent.max_turns", Value::Int(0)),
        Some(Severity::Info)
    );
    assert_eq!(severity("agent.api_max_retries", Value::Int(0)), warning);
    assert_eq!(severity("agent.max_turns", s("${TURNS}")), None);
    assert_eq!(severity("max_concurrent_sessions", Value::Null), None);
    assert_eq!(severity("compression.threshold", s("1e-1")), warning);
    assert_eq!(severity("compression.enabled", s("on")), warning);
    assert_eq!(severity("voice.auto_tts", s("on")), None);
    // `off` without quotes.
    assert_eq!(severity("approvals.mode", Value::Bool(false)), None);
    assert_eq!(severity("approvals.mode", Value::Bool(true)), error);
    assert_eq!(
        severity("display.memory_notifications", Value::Bool(false)),
        warning
    );
    assert_eq!(severity("display.tool_progress", Value::Bool(false)), None);
    assert_eq!(severity("terminal.backend", s("dcoker")), error);
    assert_eq!(severity("terminal.backend", s("Docker")), None);
    assert_eq!(severity("display.skin", s("own")), None);
    assert_eq!(severity("display.language", Value::Bool(false)), error);
    assert_eq!(
        severity("agent.environment_hint", Value::Bool(false)),
        warning
    );
    assert_eq!(severity("toolsets", s("web")), error);
    assert_eq!(
        severity("toolsets", Value::List(vec![s("web"), Value::Bool(true)])),
        warning
    );
    assert_eq!(severity("custom_providers", Value::Map(vec![])), error);
    assert_eq!(severity("providers", Value::List(vec![])), error);
    assert_eq!(severity("providers", Value::Null), None);
    assert_eq!(
        severity("providers.box.key_env", s("sk-or-v1-123")),
        warning
    );
    assert_eq!(
        severity(
            "credential_pool_strategies",
            Value::Map(vec![(s("x"), s("best"))])
        ),
        error
    );
    let text = setting("agent.max_turns")
        .check(&s("hunter2"))
        .unwrap_err()
        .text;
    assert!(!text.contains("hunter2"));
}

#[test]
fn secrets_are_known_by_name_and_place() {
    let c = catalog();
    for name in [
        "OPENROUTER_API_KEY",
        "MY_OWN_TOKEN",
        "X_PASSWORD",
        "EMAIL_PASSWORD",
    ] {
        assert!(c.is_secret_name(name), "{name}");
    }
    for name in [
        "TERMINAL_SSH_KEY",
        "TELEGRAM_ALLOWED_USERS",
        "MIRA_PRIVATE_NOTE",
    ] {
        assert!(!c.is_secret_name(name), "{name}");
    }
    for p in [
        "model.api_key",
        "auxiliary.vision.api_key",
        "providers.box.api_key",
        "providers.box.extra_headers.Authorization",
        "mcp_servers.tickets.headers.Authorization",
        "mcp_servers.lab.env.LAB_MODE",
        "my_own.client_secret",
        "X_API_KEY",
    ] {
        assert!(c.is_secret_path(&path(p)), "{p}");
    }
    for p in [
        "agent.max_turns",
        "providers.box.key_env",
        "model.max_tokens",
        "toolsets",
        "display.skin",
    ] {
        assert!(!c.is_secret_path(&path(p)), "{p}");
    }
    assert!(c.is_denied("LD_PRELOAD") && !c.is_denied("OPENROUTER_API_KEY"));
    assert!(c.is_known_env("FAL_KEY") && !c.is_known_env("MIRA_PRIVATE_NOTE"));
    assert!(c.is_placeholder("CHANGEME ") && !c.is_placeholder(""));
}

#[test]
fn values_of_variables_are_judged() {
    let bad = |name: &str, value: &str| catalog().key(name).unwrap().check(value).is_err();
    assert!(bad("TELEGRAM_BOT_TOKEN", "abc"));
    assert!(!bad(
        "TELEGRAM_BOT_TOKEN",
        "1234567890:FAKEFAKEFAKEFAKEFAKEFAKEFAKEFAKEFAK"
    ));
    assert!(bad("SIGNAL_ACCOUNT", "0043123"));
    assert!(!bad("SIGNAL_ACCOUNT", "+43123456"));
    assert!(bad("MATRIX_USER_ID", "mira"));
    assert!(bad("API_SERVER_PORT", "http"));
    assert!(bad("TERMINAL_ENV", "dcoker"));
    assert!(!bad("TERMINAL_ENV", ""));
    assert!(
        catalog()
            .key("XAI_API_KEY")
            .unwrap()
            .prefix_hint("sk-1")
            .is_some()
    );
}
