//! The home as a program that uses the library sees it.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;

use hermes_tui::home::{Environment, HomeError, HomeRequest, Origin, resolve};

fn env(dir: &Path, vars: &[(&str, &str)]) -> Environment {
    let mut env = Environment {
        cwd: dir.to_path_buf(),
        ..Environment::default()
    };
    env.vars.insert("HOME".into(), dir.into());
    for (name, value) in vars {
        env.vars.insert(name.into(), value.into());
    }
    env
}

#[test]
fn a_home_names_its_files_and_says_why_it_was_chosen() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join(".hermes");
    let work = root.join("profiles/work");
    std::fs::create_dir_all(&work).unwrap();
    let profile = |name: Option<&str>| HomeRequest {
        home: None,
        profile: name.map(str::to_owned),
    };
    let home = resolve(&profile(None), &env(dir.path(), &[])).unwrap();
    assert_eq!(home.config_path(), root.join("config.yaml"));
    assert_eq!(home.env_path(), root.join(".env"));
    assert_eq!(home.root_auth_path(), None);
    let home = resolve(&profile(Some("work")), &env(dir.path(), &[])).unwrap();
    assert_eq!(home.auth_path(), work.join("auth.json"));
    assert_eq!(home.root_auth_path(), Some(root.join("auth.json")));
    assert_eq!((home.profile.as_str(), home.exists), ("work", true));
    let shown: Vec<String> = [
        Origin::Flag,
        home.origin,
        Origin::ProfilesDir,
        Origin::ActiveProfile("work".into()),
        Origin::EnvVar,
        Origin::Default,
    ]
    .iter()
    .map(ToString::to_string)
    .collect();
    let wanted = [
        "--home",
        "-p work",
        "HERMES_HOME (a profile)",
        "active_profile work",
        "HERMES_HOME",
        "default",
    ];
    assert_eq!(shown, wanted);
}

#[test]
fn errors_say_what_to_do_next() {
    let dir = tempfile::tempdir().unwrap();
    let ask = |name: &str| HomeRequest {
        home: None,
        profile: Some(name.to_owned()),
    };
    let error = resolve(&ask("gone"), &env(dir.path(), &[])).unwrap_err();
    assert!(matches!(error, HomeError::NoProfile { .. }));
    assert!(error.to_string().contains("hermes profile create gone"));
    for (name, word) in [("sudo", "choose another"), ("a b\x1b[31m", "a-z")] {
        let text = resolve(&ask(name), &env(dir.path(), &[]))
            .unwrap_err()
            .to_string();
        assert!(text.contains(word) && !text.contains('\x1b'), "{text}");
    }
}

#[test]
fn an_environment_never_shows_its_values() {
    let env = env(Path::new("/"), &[("FAL_KEY", "sekret")]);
    assert!(!format!("{env:?}").contains("sekret"));
    assert_eq!((env.var("FAL_KEY"), env.var("NO")), (Some("sekret"), None));
}
