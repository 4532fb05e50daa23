//! `path`: where the home and its files are.
//!
//! Responsible for: printing paths and why this home was chosen. Not responsible for: choosing.

use serde_json::json;

use super::{Context, Ending, Failure};
use crate::cli::PathKind;

pub(super) fn run(context: &mut Context<'_>, what: PathKind) -> Result<Ending, Failure> {
    let home = context.any_home()?;
    let absolute = |path: &std::path::Path| context.env.absolute(path);
    let paths = [
        absolute(&home.path),
        absolute(&home.config_path()),
        absolute(&home.env_path()),
    ];
    if context.global.json {
        let [directory, config, env] = paths.map(|p| p.to_string_lossy().into_owned());
        context.print_json(&json!({
            "ok": true,
            "home": directory,
            "config": config,
            "env": env,
            "root": absolute(&home.root).to_string_lossy(),
            "origin": home.origin.to_string(),
            "profile": home.profile,
            "profiles": home.profiles.iter().map(|p| &p.name).collect::<Vec<_>>(),
            "exists": home.exists,
            "managed": home.managed.as_ref().map(|m| &m.by),
            "managed_dir": home.scope.as_ref().map(|s| s.dir.to_string_lossy()),
        }))?;
    } else {
        let [directory, config, env] = paths;
        let path = match what {
            PathKind::Home => directory,
            PathKind::Config => config,
            PathKind::Env => env,
        };
        // The bytes of the path, which need not be UTF-8.
        context
            .io
            .out
            .write_all(std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str()))?;
        writeln!(context.io.out)?;
    }
    Ok(Ending::Done)
}
