//! The home against `hermes config path` of the real Hermes 0.19.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods
)]

use std::fs;
use std::path::{Path, PathBuf};

use hermes_tui::home::{Environment, HomeRequest, resolve};

#[path = "interop/peer.rs"]
mod peer;

/// One situation. `{}` stands for the scratch directory.
#[derive(Default)]
struct Case {
    about: &'static str,
    dirs: &'static [&'static str],
    files: &'static [(&'static str, &'static [u8])],
    links: &'static [(&'static str, &'static str)],
    vars: &'static [(&'static str, &'static str)],
    profile: Option<&'static str>,
}

const CASES: [Case; 24] = [
    Case {
        about: "nothing set",
        ..EMPTY
    },
    Case {
        about: "the variable",
        vars: &[("HERMES_HOME", "{}/h")],
        ..EMPTY
    },
    Case {
        about: "a relative variable",
        vars: &[("HERMES_HOME", "rel/./h/")],
        ..EMPTY
    },
    Case {
        about: "no tilde",
        vars: &[("HERMES_HOME", "~/h")],
        ..EMPTY
    },
    Case {
        about: "a blank variable hides active_profile",
        dirs: &["user/.hermes/profiles/work"],
        files: &[("user/.hermes/active_profile", b"work")],
        vars: &[("HERMES_HOME", "   ")],
        ..EMPTY
    },
    Case {
        about: "blanks around the variable",
        vars: &[("HERMES_HOME", " {}/h ")],
        ..EMPTY
    },
    Case {
        about: "an empty variable",
        dirs: &["user/.hermes/profiles/work"],
        files: &[("user/.hermes/active_profile", b"work")],
        vars: &[("HERMES_HOME", "")],
        ..EMPTY
    },
    Case {
        about: "active_profile of the native home",
        dirs: &["user/.hermes/profiles/work"],
        files: &[("user/.hermes/active_profile", b" Work \n")],
        ..EMPTY
    },
    Case {
        about: "active_profile of another root",
        dirs: &["h/profiles/work"],
        files: &[("h/active_profile", b"work")],
        vars: &[("HERMES_HOME", "{}/h")],
        ..EMPTY
    },
    Case {
        about: "the variable is a profile",
        dirs: &["h/profiles/work"],
        files: &[("h/active_profile", b"work")],
        vars: &[("HERMES_HOME", "{}/h/profiles/other")],
        ..EMPTY
    },
    Case {
        about: "a relative profile",
        dirs: &["profiles/work"],
        vars: &[("HERMES_HOME", "profiles/work")],
        ..EMPTY
    },
    Case {
        about: "a folder inside the native home uses its active_profile",
        dirs: &["user/.hermes/profiles/work", "user/.hermes/sub"],
        files: &[("user/.hermes/active_profile", b"work")],
        vars: &[("HERMES_HOME", "{}/user/.hermes/sub")],
        ..EMPTY
    },
    Case {
        about: "a link into the native home counts as inside",
        dirs: &["user/.hermes/profiles/work"],
        files: &[("user/.hermes/active_profile", b"work")],
        links: &[("user/.hermes", "link")],
        vars: &[("HERMES_HOME", "{}/link")],
        ..EMPTY
    },
    Case {
        about: "active_profile that is no text",
        dirs: &["user/.hermes"],
        files: &[("user/.hermes/active_profile", b"\xff\xfe")],
        ..EMPTY
    },
    Case {
        about: "active_profile without a folder",
        dirs: &["user/.hermes"],
        files: &[("user/.hermes/active_profile", b"gone")],
        ..EMPTY
    },
    Case {
        about: "active_profile with a reserved name",
        dirs: &["user/.hermes/profiles/root"],
        files: &[("user/.hermes/active_profile", b"root")],
        ..EMPTY
    },
    Case {
        about: "active_profile says default in capitals",
        dirs: &["user/.hermes"],
        files: &[("user/.hermes/active_profile", b"DEFAULT")],
        ..EMPTY
    },
    Case {
        about: "a supervised child does not follow active_profile",
        dirs: &["h/profiles/work"],
        files: &[("h/active_profile", b"work")],
        vars: &[("HERMES_HOME", "{}/h"), ("HERMES_S6_SUPERVISED_CHILD", "1")],
        ..EMPTY
    },
    Case {
        about: "the flag",
        dirs: &["h/profiles/work"],
        vars: &[("HERMES_HOME", "{}/h")],
        profile: Some("work"),
        ..EMPTY
    },
    Case {
        about: "the flag from inside another profile",
        dirs: &["h/profiles/work", "h/profiles/other"],
        vars: &[("HERMES_HOME", "{}/h/profiles/other")],
        profile: Some("Work"),
        ..EMPTY
    },
    Case {
        about: "the flag names the root",
        dirs: &["h/profiles/work"],
        files: &[("h/active_profile", b"work")],
        vars: &[("HERMES_HOME", "{}/h")],
        profile: Some("default"),
        ..EMPTY
    },
    Case {
        about: "the flag without a folder",
        dirs: &["h"],
        vars: &[("HERMES_HOME", "{}/h")],
        profile: Some("work"),
        ..EMPTY
    },
    Case {
        about: "the flag with a bad name",
        dirs: &["h"],
        vars: &[("HERMES_HOME", "{}/h")],
        profile: Some("no:x"),
        ..EMPTY
    },
    Case {
        about: "a relative root and the flag",
        dirs: &["rel/profiles/work"],
        vars: &[("HERMES_HOME", "rel")],
        profile: Some("work"),
        ..EMPTY
    },
];

const EMPTY: Case = Case {
    about: "",
    dirs: &[],
    files: &[],
    links: &[],
    vars: &[],
    profile: None,
};

#[test]
fn every_situation_resolves_as_hermes_resolves_it() {
    let Some(python) = peer::python("every_situation_resolves_as_hermes_resolves_it") else {
        return;
    };
    let mut errors = 0;
    for case in &CASES {
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path().canonicalize().unwrap();
        fs::create_dir_all(dir.join("user")).unwrap();
        for sub in case.dirs {
            fs::create_dir_all(dir.join(sub)).unwrap();
        }
        for (name, bytes) in case.files {
            fs::write(dir.join(name), bytes).unwrap();
        }
        for (target, link) in case.links {
            std::os::unix::fs::symlink(dir.join(target), dir.join(link)).unwrap();
        }
        // Ours first: Hermes makes folders while it looks.
        let ours = ours(case, &dir);
        let theirs = theirs(case, &dir, &python);
        assert_eq!(ours, theirs, "{}", case.about);
        errors += usize::from(theirs.is_none());
    }
    assert_eq!(errors, 4, "situations that both refuse");
    println!(
        "{} situations, all as `hermes config path` says",
        CASES.len()
    );
}

fn vars(case: &Case, dir: &Path) -> Vec<(String, String)> {
    let dir = dir.to_str().unwrap();
    let mut vars = vec![("HOME".to_owned(), format!("{dir}/user"))];
    for (name, value) in case.vars {
        vars.push(((*name).to_owned(), value.replace("{}", dir)));
    }
    vars
}

fn ours(case: &Case, dir: &Path) -> Option<PathBuf> {
    let mut env = Environment {
        cwd: dir.to_path_buf(),
        ..Environment::default()
    };
    for (name, value) in vars(case, dir) {
        env.vars.insert(name.into(), value.into());
    }
    let request = HomeRequest {
        home: None,
        profile: case.profile.map(str::to_owned),
    };
    resolve(&request, &env).ok().map(|home| home.config_path())
}

/// `None` when Hermes ends with an error.
fn theirs(case: &Case, dir: &Path, python: &Path) -> Option<PathBuf> {
    let vars = vars(case, dir);
    let mut vars: Vec<(&str, &str)> = vars.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    vars.push(("PYTHONUTF8", "1"));
    let hermes = python.with_file_name("hermes");
    let flag = case
        .profile
        .map_or(String::new(), |name| format!("'--profile={name}'"));
    let script = format!(
        "cd '{}' && exec '{}' {flag} config path",
        dir.display(),
        hermes.display()
    );
    let (out, ok) = peer::run(Path::new("/bin/sh"), &["-c", &script], &vars, "");
    ok.then(|| PathBuf::from(out.trim_end_matches('\n')))
}
