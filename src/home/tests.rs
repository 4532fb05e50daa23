use std::fs;

use super::*;

/// A scratch machine: a user home, an own passwd file, no policy folder.
struct Scratch {
    dir: tempfile::TempDir,
    machine: Machine,
}

impl Scratch {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("user");
        fs::create_dir_all(&home).unwrap();
        fs::File::create(dir.path().join("passwd")).unwrap();
        let machine = Machine {
            passwd: dir.path().join("passwd"),
            policy_dir: dir.path().join("policy"),
            uid: 4242,
            is_root: false,
        };
        Self { dir, machine }
    }

    fn path(&self, rest: &str) -> PathBuf {
        self.dir.path().join(rest)
    }

    fn make(&self, rest: &str) -> PathBuf {
        let path = self.path(rest);
        fs::create_dir_all(&path).unwrap();
        path
    }

    #[allow(clippy::disallowed_methods)] // a test's own scratch file
    fn file(&self, rest: &str, text: impl AsRef<[u8]>) {
        let path = self.path(rest);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn env(&self, vars: &[(&str, &str)]) -> Environment {
        let home = self.path("user");
        let mut out = Environment {
            cwd: self.dir.path().to_path_buf(),
            ..Environment::default()
        };
        out.vars.insert("HOME".into(), home.into());
        for (name, value) in vars {
            out.vars.insert(name.into(), value.into());
        }
        out
    }

    fn resolve(&self, vars: &[(&str, &str)], profile: Option<&str>) -> Result<Home, HomeError> {
        let request = HomeRequest {
            home: None,
            profile: profile.map(str::to_owned),
        };
        resolve_on(&request, &self.env(vars), &self.machine)
    }
}

#[test]
fn nothing_set_is_the_users_own_home() {
    let s = Scratch::new();
    let home = s.resolve(&[], None).unwrap();
    assert_eq!(home.path, s.path("user/.hermes"));
    assert_eq!((home.origin, home.exists), (Origin::Default, false));
    assert_eq!(home.profile, "default");
}

#[test]
fn a_blank_variable_counts_as_unset_but_hides_active_profile() {
    let s = Scratch::new();
    s.make("user/.hermes/profiles/work");
    s.file("user/.hermes/active_profile", "work");
    assert_eq!(s.resolve(&[], None).unwrap().profile, "work");
    let home = s.resolve(&[("HERMES_HOME", "  ")], None).unwrap();
    assert_eq!(home.path, s.path("user/.hermes"));
    assert_eq!(home.origin, Origin::Default);
}

#[test]
fn the_variable_is_neither_expanded_nor_made_absolute() {
    let s = Scratch::new();
    for value in ["~/x", "rel/h"] {
        let home = s.resolve(&[("HERMES_HOME", value)], None).unwrap();
        assert_eq!(home.path, Path::new(value));
        assert_eq!(home.origin, Origin::EnvVar);
    }
    s.make("rel/h");
    assert!(
        s.resolve(&[("HERMES_HOME", "./rel//h/")], None)
            .unwrap()
            .exists
    );
}

#[test]
fn active_profile_wins_over_a_variable_that_names_the_root() {
    let s = Scratch::new();
    let profile = s.make("other/profiles/work");
    s.file("other/active_profile", "  Work\n");
    let other = s.path("other").display().to_string();
    let home = s.resolve(&[("HERMES_HOME", &other)], None).unwrap();
    assert_eq!(home.path, profile);
    assert_eq!(home.origin, Origin::ActiveProfile("work".into()));
    assert_eq!(home.origin.to_string(), "active_profile work");
    assert_eq!(home.root, s.path("other"));
    let child = [
        ("HERMES_HOME", other.as_str()),
        ("HERMES_S6_SUPERVISED_CHILD", "1"),
    ];
    assert_eq!(s.resolve(&child, None).unwrap().path, s.path("other"));
}

#[test]
fn a_variable_inside_profiles_is_taken_as_it_is() {
    let s = Scratch::new();
    s.make("other/profiles/work");
    s.file("other/active_profile", "work");
    let ghost = s.path("other/profiles/ghost").display().to_string();
    let home = s.resolve(&[("HERMES_HOME", &ghost)], None).unwrap();
    assert_eq!(home.origin, Origin::ProfilesDir);
    assert_eq!((home.profile.as_str(), home.exists), ("ghost", false));
    let listed: Vec<_> = home
        .profiles
        .iter()
        .map(|p| (p.name.as_str(), p.active))
        .collect();
    assert_eq!(listed, [("default", false), ("work", true)]);
}

#[test]
fn unreadable_or_default_active_profile_means_the_root() {
    let s = Scratch::new();
    s.make("user/.hermes");
    for text in [&b"\xff\xfe"[..], b"", b"default", b" \n", b"Default"] {
        s.file("user/.hermes/active_profile", text);
        assert_eq!(s.resolve(&[], None).unwrap().path, s.path("user/.hermes"));
    }
    for (text, reserved) in [("root", true), ("no:x", false)] {
        s.file("user/.hermes/active_profile", text);
        let error = s.resolve(&[], None).unwrap_err();
        assert!(matches!(error, HomeError::BadProfile { reserved: r, .. } if r == reserved));
    }
    s.file("user/.hermes/active_profile", "gone");
    let error = s.resolve(&[], None).unwrap_err().to_string();
    assert!(
        error.contains("'gone'") && error.contains("profile use default"),
        "{error}"
    );
}

#[test]
fn the_flag_names_a_profile_below_the_root() {
    let s = Scratch::new();
    let work = s.make("user/.hermes/profiles/work");
    s.file("user/.hermes/active_profile", "gone");
    let home = s.resolve(&[], Some("Work")).unwrap();
    assert_eq!(
        (home.path, home.origin),
        (work, Origin::ProfileFlag("work".into()))
    );
    let root = s.resolve(&[], Some("default")).unwrap();
    assert_eq!(root.path, s.path("user/.hermes"));
    let inside = s.path("user/.hermes/profiles/other").display().to_string();
    let home = s
        .resolve(&[("HERMES_HOME", &inside)], Some("work"))
        .unwrap();
    assert_eq!(home.root, s.path("user/.hermes"));
    let error = s.resolve(&[], Some("nope")).unwrap_err().to_string();
    assert!(error.contains("hermes profile create nope"), "{error}");
}

#[test]
fn home_flag_is_exact_and_profiles_are_looked_for_below_it() {
    let s = Scratch::new();
    s.make("x/profiles/work");
    s.file("x/active_profile", "work");
    let env = s.env(&[("HERMES_HOME", "/elsewhere")]);
    let mut request = HomeRequest {
        home: Some(s.path("x")),
        profile: None,
    };
    let home = resolve_on(&request, &env, &s.machine).unwrap();
    assert_eq!((home.path, home.origin), (s.path("x"), Origin::Flag));
    request.profile = Some("work".into());
    let home = resolve_on(&request, &env, &s.machine).unwrap();
    assert_eq!(home.path, s.path("x/profiles/work"));
    assert_eq!(home.root_auth_path(), Some(s.path("x/auth.json")));
}

#[test]
fn sudo_finds_the_callers_profile_only_as_root_and_only_by_name() {
    let mut s = Scratch::new();
    let caller = s.make("ann/.hermes/profiles/work");
    let line = format!("ann:x:1000:1000::{}:/bin/sh\n", s.path("ann").display());
    s.file("passwd", line);
    let vars = [("SUDO_USER", "ann")];
    assert!(s.resolve(&vars, Some("work")).is_err());
    s.machine.is_root = true;
    let home = s.resolve(&vars, Some("work")).unwrap();
    assert_eq!((home.path, home.root), (caller, s.path("ann/.hermes")));
    assert_eq!(s.resolve(&vars, None).unwrap().path, s.path("user/.hermes"));
    assert!(s.resolve(&[("SUDO_USER", "root")], Some("work")).is_err());
}

#[test]
fn without_home_the_password_file_is_asked() {
    let s = Scratch::new();
    let mut env = s.env(&[]);
    env.vars.remove(std::ffi::OsStr::new("HOME"));
    let request = HomeRequest::default();
    let error = resolve_on(&request, &env, &s.machine).unwrap_err();
    assert_eq!(error, HomeError::NoUserHome);
    s.file("passwd", "me:x:4242:1::/srv/me:/bin/sh\n");
    let home = resolve_on(&request, &env, &s.machine).unwrap();
    assert_eq!(home.path, Path::new("/srv/me/.hermes"));
}

#[test]
fn any_text_in_the_variable_or_a_marker_file_means_managed() {
    let s = Scratch::new();
    let by = |vars: &[(&str, &str)]| s.resolve(vars, None).unwrap().managed.map(|m| m.by);
    assert_eq!(by(&[]), None);
    assert_eq!(by(&[("HERMES_MANAGED", "  ")]), None);
    for (text, name) in [
        ("1", "NixOS"),
        ("Brew", "Homebrew"),
        ("false", "false"),
        ("0", "0"),
    ] {
        assert_eq!(by(&[("HERMES_MANAGED", text)]).as_deref(), Some(name));
    }
    s.file("user/.hermes/.env", "HERMES_MANAGED=acme\n");
    assert_eq!(by(&[]).as_deref(), Some("acme"));
    s.file("user/.hermes/.env", "HERMES_MANAGED=\n");
    assert_eq!(by(&[("HERMES_MANAGED", "1")]), None);
    s.file("user/.hermes/.managed", "");
    assert_eq!(by(&[]).as_deref(), Some("NixOS"));
}

#[test]
fn the_policy_folder_is_the_variables_or_the_machines() {
    let s = Scratch::new();
    assert_eq!(s.resolve(&[], None).unwrap().scope, None);
    s.file("policy/config.yaml", "a: 1\n");
    let scope = s.resolve(&[], None).unwrap().scope.unwrap();
    assert_eq!(scope.config.as_deref(), Some(&b"a: 1\n"[..]));
    assert_eq!((scope.env, scope.unreadable.len()), (None, 0));
    assert_eq!(
        s.resolve(&[("HERMES_MANAGED_DIR", "gone")], None)
            .unwrap()
            .scope,
        None
    );
    s.file("mine/.env", "A=1\n");
    let scope = s
        .resolve(&[("HERMES_MANAGED_DIR", "mine")], None)
        .unwrap()
        .scope
        .unwrap();
    assert_eq!((scope.dir, scope.config), (s.path("mine"), None));
}

#[test]
fn a_file_in_its_place_is_an_error() {
    let s = Scratch::new();
    s.file("user/.hermes", "");
    let error = s.resolve(&[], None).unwrap_err().to_string();
    assert!(
        error.contains("not a directory") && error.contains("--home"),
        "{error}"
    );
}
