//! Which directory is HERMES_HOME, and why.
//!
//! Responsible for: the directory that `hermes` 0.19 would use in the same situation, its
//! profiles, and what makes it read-only (package manager, administrator's policy). Not
//! responsible for: creating it, reading its files.

mod environment;
mod managed;
mod passwd;
mod profile;
mod real_path;

use std::fmt;
use std::path::{Component, Path, PathBuf};

pub use environment::Environment;
pub use managed::{Managed, ManagedScope};
pub use profile::Profile;

/// What the command line asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HomeRequest {
    /// `--home DIR`: taken as it is, whatever `active_profile` says.
    pub home: Option<PathBuf>,
    /// `-p NAME`: a profile below the root.
    pub profile: Option<String>,
}

/// Why a home was chosen. Shown as a short phrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// `--home`.
    Flag,
    /// `-p NAME`.
    ProfileFlag(String),
    /// `HERMES_HOME` lies in a folder called `profiles`, so `active_profile` is not asked.
    ProfilesDir,
    /// The root's `active_profile` names it, even over a `HERMES_HOME` that is the root.
    ActiveProfile(String),
    /// `HERMES_HOME`.
    EnvVar,
    /// `~/.hermes`.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("--home"),
            Self::ProfileFlag(name) => write!(f, "-p {name}"),
            Self::ProfilesDir => f.write_str("HERMES_HOME (a profile)"),
            Self::ActiveProfile(name) => write!(f, "active_profile {name}"),
            Self::EnvVar => f.write_str("HERMES_HOME"),
            Self::Default => f.write_str("default"),
        }
    }
}

/// A resolved home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    /// The directory, as Hermes names it; relative when `HERMES_HOME` or `--home` is.
    pub path: PathBuf,
    /// Where `profiles/` and `active_profile` are.
    pub root: PathBuf,
    /// Why this one.
    pub origin: Origin,
    /// Name of the profile; `default` when the home is not inside `profiles/`.
    pub profile: String,
    /// What can be chosen instead, the root first.
    pub profiles: Vec<Profile>,
    /// A package manager owns the install.
    pub managed: Option<Managed>,
    /// An administrator pins values.
    pub scope: Option<ManagedScope>,
    /// The directory is there.
    pub exists: bool,
    /// A copy of each file is kept before its first change.
    pub backups: bool,
}

impl Home {
    /// `config.yaml`
    pub fn config_path(&self) -> PathBuf {
        self.path.join("config.yaml")
    }

    /// `.env`
    pub fn env_path(&self) -> PathBuf {
        self.path.join(".env")
    }

    /// `auth.json`
    pub fn auth_path(&self) -> PathBuf {
        self.path.join("auth.json")
    }

    /// The root's `auth.json`, which a profile falls back to; `None` for the root itself.
    pub fn root_auth_path(&self) -> Option<PathBuf> {
        (self.path != self.root).then(|| self.root.join("auth.json"))
    }
}

/// Why no home can be named.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HomeError {
    /// The profile has no folder.
    #[error(
        "profile '{name}' does not exist: {} is no directory; {}",
        path.display(),
        if *from_file {
            format!("choose another with -p, or run `hermes profile use default` \
                     ({} names it)", root.join("active_profile").display())
        } else {
            format!("run `hermes profile create {name}`, or choose another with -p")
        }
    )]
    NoProfile {
        /// Its name.
        name: String,
        /// Where it would be.
        path: PathBuf,
        /// The root it was looked for in.
        root: PathBuf,
        /// `active_profile` names it, not the command line.
        from_file: bool,
    },
    /// No profile can have this name.
    #[error(
        "'{name}' cannot be a profile name: {}",
        if *reserved {
            "Hermes keeps it for itself; choose another"
        } else {
            "use up to 64 of a-z, 0-9, - and _, beginning with a letter or a digit"
        }
    )]
    BadProfile {
        /// The name as given.
        name: String,
        /// It is well formed but taken.
        reserved: bool,
    },
    /// The path is there and is not a directory.
    #[error(
        "{} is not a directory, so it cannot be the Hermes home ({origin}); name another with --home",
        path.display()
    )]
    NotADirectory {
        /// The path.
        path: PathBuf,
        /// Why it was chosen.
        origin: Origin,
    },
    /// No home folder of the user is known.
    #[error(
        "the home folder of this user is not known (HOME is not set); set HOME or HERMES_HOME, or \
         name the directory with --home"
    )]
    NoUserHome,
}

/// Facts about the machine, apart so that tests can have their own.
#[derive(Debug, Clone)]
pub(crate) struct Machine {
    pub passwd: PathBuf,
    pub policy_dir: PathBuf,
    pub uid: u32,
    pub is_root: bool,
}

impl Machine {
    fn here() -> Self {
        Self {
            passwd: PathBuf::from("/etc/passwd"),
            policy_dir: PathBuf::from("/etc/hermes"),
            uid: rustix::process::getuid().as_raw(),
            is_root: rustix::process::geteuid().is_root(),
        }
    }
}

/// Find the home.
///
/// `-p NAME` is read as Hermes reads `--profile=NAME` (trimmed, lower case). With the two-word
/// form Hermes ignores a name that cannot be one and goes on with another home; here it is an
/// error, because an editor must not write into a home that nobody named.
///
/// # Errors
/// [`HomeError`]; its texts say what to do.
pub fn resolve(request: &HomeRequest, env: &Environment) -> Result<Home, HomeError> {
    resolve_on(request, env, &Machine::here())
}

/// [`resolve`] on a given machine.
pub(crate) fn resolve_on(
    request: &HomeRequest,
    env: &Environment,
    machine: &Machine,
) -> Result<Home, HomeError> {
    let (path, root, origin) = choose(request, env, machine)?;
    let full = env.absolute(&path);
    if full.exists() && !full.is_dir() {
        return Err(HomeError::NotADirectory { path, origin });
    }
    let full_root = env.absolute(&root);
    let mut profiles = profile::list(&full_root);
    for profile in &mut profiles {
        // Named as the home is named, relative or not.
        if let Ok(rest) = profile.path.strip_prefix(&full_root) {
            profile.path = plain(&root.join(rest));
        }
    }
    let profile = path
        .strip_prefix(root.join("profiles"))
        .ok()
        .and_then(|rest| rest.to_str())
        .filter(|name| !name.is_empty() && !name.contains('/'))
        .unwrap_or("default")
        .to_owned();
    Ok(Home {
        exists: full.is_dir(),
        backups: true,
        managed: managed::managed(&full, env),
        scope: managed::scope(env, &machine.policy_dir),
        path,
        root,
        origin,
        profile,
        profiles,
    })
}

/// Path, root and reason.
fn choose(
    request: &HomeRequest,
    env: &Environment,
    machine: &Machine,
) -> Result<(PathBuf, PathBuf, Origin), HomeError> {
    if let Some(dir) = &request.home {
        let dir = plain(dir);
        let root = parent_of_profiles(&dir).unwrap_or_else(|| dir.clone());
        return match &request.profile {
            None => Ok((dir, root, Origin::Flag)),
            Some(name) => named(name, root, false, env, machine),
        };
    }
    // Hermes trims HERMES_HOME when it names the home, but not when it looks for profiles.
    let raw = env.var_os("HERMES_HOME").filter(|text| !text.is_empty());
    let given = raw.map(|text| plain(Path::new(text)));
    let root = match &given {
        Some(given) => root_of(given, env, machine),
        None => native(env, machine)?,
    };
    if let Some(name) = &request.profile {
        return named(name, root, false, env, machine);
    }
    let inside = given.as_deref().and_then(parent_of_profiles).is_some();
    if !inside
        && !env.is_set("HERMES_S6_SUPERVISED_CHILD")
        && let Some(name) = profile::active(&env.absolute(&root))
    {
        return named(&name, root, true, env, machine);
    }
    let trimmed = raw.and_then(|text| match text.to_str() {
        Some(text) => Some(text.trim())
            .filter(|t| !t.is_empty())
            .map(PathBuf::from),
        None => Some(PathBuf::from(text)),
    });
    match trimmed {
        Some(path) if inside => Ok((plain(&path), root, Origin::ProfilesDir)),
        Some(path) => Ok((plain(&path), root, Origin::EnvVar)),
        None => {
            let native = native(env, machine)?;
            Ok((native.clone(), native, Origin::Default))
        }
    }
}

/// A profile by name.
fn named(
    name: &str,
    root: PathBuf,
    from_file: bool,
    env: &Environment,
    machine: &Machine,
) -> Result<(PathBuf, PathBuf, Origin), HomeError> {
    let canonical = profile::canonical(name)?;
    let origin = if from_file {
        Origin::ActiveProfile(canonical.clone())
    } else {
        Origin::ProfileFlag(canonical.clone())
    };
    if canonical == "default" {
        return Ok((root.clone(), root, origin));
    }
    let path = root.join("profiles").join(&canonical);
    if env.absolute(&path).is_dir() {
        return Ok((path, root, origin));
    }
    if let Some(root) = sudo_root(env, machine) {
        // Hermes looks for the name as it was given here.
        let path = root.join("profiles").join(name);
        if path.is_dir() {
            return Ok((path, root, origin));
        }
    }
    Err(HomeError::NoProfile {
        name: canonical,
        path,
        root,
        from_file,
    })
}

/// As root through sudo, profiles of the user who called it count as well.
fn sudo_root(env: &Environment, machine: &Machine) -> Option<PathBuf> {
    let user = env.trimmed("SUDO_USER").filter(|user| *user != "root")?;
    if !machine.is_root {
        return None;
    }
    Some(passwd::home_of_name(&machine.passwd, user)?.join(".hermes"))
}

/// `~/.hermes`
fn native(env: &Environment, machine: &Machine) -> Result<PathBuf, HomeError> {
    let home = match env.var_os("HOME") {
        Some(home) if home.is_empty() => PathBuf::from("/"),
        Some(home) => PathBuf::from(home),
        None => passwd::home_of_uid(&machine.passwd, machine.uid).ok_or(HomeError::NoUserHome)?,
    };
    Ok(plain(&home).join(".hermes"))
}

/// The root for a `HERMES_HOME`: the native home when it lies inside, the folder above `profiles`,
/// or itself.
fn root_of(given: &Path, env: &Environment, machine: &Machine) -> PathBuf {
    if let Ok(native) = native(env, machine) {
        let real = real_path::resolve(&env.absolute(given));
        if real.starts_with(real_path::resolve(&env.absolute(&native))) {
            return native;
        }
    }
    parent_of_profiles(given).unwrap_or_else(|| given.to_path_buf())
}

/// `<root>` of `<root>/profiles/<name>`.
fn parent_of_profiles(path: &Path) -> Option<PathBuf> {
    let profiles = path.parent()?;
    if profiles.file_name()? != "profiles" {
        return None;
    }
    let root = profiles.parent()?;
    Some(if root.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        root.to_path_buf()
    })
}

/// Without `.` steps and doubled slashes, as Python's `Path` prints it.
fn plain(path: &Path) -> PathBuf {
    let out: PathBuf = path
        .components()
        .filter(|c| *c != Component::CurDir)
        .collect();
    if out.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        out
    }
}

#[cfg(test)]
mod tests;
