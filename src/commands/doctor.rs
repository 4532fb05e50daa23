//! `doctor`: everything Hermes would misread, ignore or refuse.
//!
//! Responsible for: gathering problems of the values, the files and the mounts, and printing them.
//! Not responsible for: finding those of the values ([`crate::settings`]), mending anything.

use std::os::unix::fs::MetadataExt as _;

use serde_json::{Value as Json, json};

use super::{Context, Ending, Failure, receipt};
use crate::catalog::Severity;
use crate::document::ParseError;
use crate::plan;
use crate::session::STORED;
use crate::session::{self, Loaded, Session};
use crate::settings::{self, File, Problem};
use crate::writer::{self, Prediction};

pub(super) fn run(context: &mut Context<'_>, probe: bool) -> Result<Ending, Failure> {
    let session = context.open()?;
    let mut problems = unreadable(&session);
    problems.extend(open_to_others(&session));
    problems.extend(settings::problems(&session.layers()));
    let probes = if probe { probes(&session) } else { Vec::new() };
    let refused = probes.iter().any(|(_, p)| p.strategy.is_none());
    if context.global.json {
        let list: Vec<Json> = problems.iter().map(problem_json).collect();
        let mut answer = json!({ "ok": !has_errors(&problems) && !refused, "problems": list });
        if probe {
            answer["probes"] = probes
                .iter()
                .map(|(name, p)| Ok(json!({ "name": name, "prediction": receipt::json(p)? })))
                .collect::<Result<Json, Failure>>()?;
        }
        context.print_json(&answer)?;
    } else {
        print(context, &problems, &probes)?;
    }
    Ok(if has_errors(&problems) || refused {
        Ending::FoundFaults
    } else {
        Ending::Done
    })
}

fn has_errors(problems: &[Problem]) -> bool {
    problems.iter().any(|p| p.severity == Severity::Error)
}

fn print(
    context: &mut Context<'_>,
    problems: &[Problem],
    probes: &[(&str, Prediction)],
) -> Result<(), Failure> {
    let out = &mut context.io.out;
    for problem in problems {
        let place = match problem.line {
            Some(line) => format!("{}: line {line}", problem.file.label()),
            None => problem.file.label().to_owned(),
        };
        let key = if problem.key.is_empty() {
            String::new()
        } else {
            format!("{}: ", problem.key)
        };
        writeln!(
            out,
            "{:<7} {place}: {}",
            word(problem.severity),
            plan::visible(&format!("{key}{}", problem.title))
        )?;
        if !problem.detail.is_empty() {
            writeln!(out, "        {}", plan::visible(&problem.detail))?;
        }
        if let Some(fix) = &problem.fix {
            writeln!(out, "        f in the editor: {fix}")?;
        }
    }
    for (name, prediction) in probes {
        writeln!(out, "{name}")?;
        for line in receipt::predicted(prediction) {
            writeln!(out, "{line}")?;
        }
    }
    match problems.len() {
        0 => writeln!(out, "no problems found")?,
        1 => writeln!(out, "1 problem found")?,
        n => writeln!(out, "{n} problems found")?,
    }
    Ok(())
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "info",
    }
}

fn problem_json(problem: &Problem) -> Json {
    json!({
        "severity": word(problem.severity),
        "file": problem.file.label(),
        "key": (!problem.key.is_empty()).then_some(&problem.key),
        "line": problem.line,
        "message": problem.title,
        "detail": problem.detail,
        "fix": problem.fix.as_ref().map(ToString::to_string),
    })
}

/// Files that cannot be read or understood.
fn unreadable(session: &Session) -> Vec<Problem> {
    fn of<D>(file: File, loaded: &Loaded<D>) -> Option<Problem> {
        match loaded {
            Loaded::Absent | Loaded::Ready { .. } => None,
            Loaded::Broken { error } => Some(settings::parse_problem(file, error)),
            Loaded::Unreadable { reason } => Some(Problem {
                severity: Severity::Error,
                file,
                key: String::new(),
                line: None,
                title: format!("the file cannot be read: {reason}"),
                detail: "Run as the user that owns it, or have its owner change the mode."
                    .to_owned(),
                fix: None,
            }),
        }
    }
    let mut out: Vec<Problem> = [
        of(File::Config, &session.config),
        of(File::Env, &session.env),
    ]
    .into_iter()
    .flatten()
    .collect();
    if let Some(scope) = &session.home.scope {
        let broken = |error: ParseError, file| settings::parse_problem(file, &error);
        let config = scope
            .config
            .as_deref()
            .and_then(|b| plan::parse_config(b).err());
        let env = scope.env.as_deref().and_then(|b| plan::parse_env(b).err());
        out.extend(config.map(|e| broken(e, File::ManagedConfig)));
        out.extend(env.map(|e| broken(e, File::ManagedEnv)));
        out.extend(scope.unreadable.iter().map(|path| Problem {
            severity: Severity::Warning,
            file: if path.ends_with(".env") {
                File::ManagedEnv
            } else {
                File::ManagedConfig
            },
            key: String::new(),
            line: None,
            title: format!("{} cannot be read", path.display()),
            detail: "Hermes ignores it, so nothing in it is enforced.".to_owned(),
            fix: None,
        }));
    }
    out
}

/// A `.env` that others can read gives the keys away.
fn open_to_others(session: &Session) -> Option<Problem> {
    let path = session.home.env_path();
    let mode = std::fs::metadata(&path).ok()?.mode() & 0o7777;
    (mode & 0o077 != 0).then(|| Problem {
        severity: Severity::Warning,
        file: File::Env,
        key: String::new(),
        line: None,
        title: format!("the file has mode {mode:04o}: others than its owner can get at the keys"),
        detail: format!("Close it with: chmod 600 '{}'", path.display()),
        fix: None,
    })
}

/// Whether a save would work, for every file that Hermes or we write; proved without touching one.
fn probes(session: &Session) -> Vec<(&'static str, Prediction)> {
    let options = session::options(&session.home);
    STORED
        .iter()
        .map(|(name, _)| {
            (
                *name,
                writer::probe(&session.home.path.join(name), &options),
            )
        })
        .collect()
}
