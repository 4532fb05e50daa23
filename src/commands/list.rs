//! `list`: what the files set, secrets masked.
//!
//! Responsible for: choosing rows and printing them. Not responsible for: what the rows are
//! ([`crate::settings`]).

use serde_json::{Value as Json, json};

use super::target::{self, Target};
use super::{Context, Ending, Failure, render};
use crate::document::KeyPath;
use crate::edit::FileId;
use crate::session::Session;
use crate::settings::{self, KeyState, Origin};

/// One line of the list.
struct Line {
    key: String,
    file: FileId,
    /// Masked already.
    shown: String,
    value: Json,
    origin: &'static str,
    secret: bool,
}

pub(super) fn run(
    context: &mut Context<'_>,
    key: Option<&str>,
    all: bool,
) -> Result<Ending, Failure> {
    let session = context.open()?;
    let directory = context.env.absolute(&session.home.path);
    let below = key
        .map(|key| target::parse(key, context.global, &session))
        .transpose()?;
    for file in [FileId::Config, FileId::Env] {
        if let Some(fault) = session.fault(file) {
            context.warn(&format!(
                "{}: {fault}; its values are not listed",
                session.path(file).display()
            ))?;
        }
    }
    let (env_only, config_only) = (context.global.env, context.global.config);
    let mut lines = Vec::new();
    if !env_only {
        lines.extend(settings_lines(&session, below.as_ref(), all));
    }
    if !config_only {
        lines.extend(variable_lines(&session, below.as_ref(), all));
    }
    if context.global.json {
        let rows: Vec<Json> = lines
            .iter()
            .map(|l| {
                json!({
                    "key": l.key, "file": l.file.name(), "value": l.value, "origin": l.origin, "secret": l.secret,
                })
            })
            .collect();
        context.print_json(
            &json!({ "ok": true, "home": directory.to_string_lossy(), "rows": rows }),
        )?;
        return Ok(Ending::Done);
    }
    let width = lines
        .iter()
        .map(|l| l.key.chars().count())
        .max()
        .unwrap_or(0)
        .min(44);
    for line in &lines {
        let note = if line.origin == "file" {
            String::new()
        } else {
            format!("  ({})", line.origin)
        };
        let text = format!(
            "{:<width$}  {}{note}",
            line.key,
            crate::plan::visible(&line.shown)
        );
        writeln!(context.io.out, "{}", text.trim_end())?;
    }
    Ok(Ending::Done)
}

fn settings_lines(session: &Session, below: Option<&Target>, all: bool) -> Vec<Line> {
    let wanted = |path: &KeyPath| match below {
        None => true,
        Some(Target::Config(at)) => at.contains(path),
        Some(Target::Env(_)) => false,
    };
    settings::rows(&session.layers())
        .into_iter()
        .filter(|row| wanted(&row.path))
        .filter(|row| all || row.value.is_some() || row.origin != Origin::Default)
        .map(|row| Line {
            key: row.path.to_string(),
            file: FileId::Config,
            shown: row.shown(),
            value: row.effective.as_ref().map_or(Json::Null, |v| {
                render::json(&settings::hide_secrets(&row.path, v))
            }),
            origin: match row.origin {
                Origin::Default => "default",
                Origin::File => "file",
                Origin::Managed => "managed",
                Origin::Env => "env",
            },
            secret: row.secret,
        })
        .collect()
}

fn variable_lines(session: &Session, below: Option<&Target>, all: bool) -> Vec<Line> {
    let wanted = |name: &str| match below {
        None => true,
        Some(Target::Env(at)) => at == name,
        Some(Target::Config(_)) => false,
    };
    settings::key_rows(&session.layers())
        .into_iter()
        .filter(|row| wanted(&row.name))
        .filter(|row| all || row.state != KeyState::Missing)
        .map(|row| Line {
            file: FileId::Env,
            value: Json::String(row.masked.clone()),
            origin: match row.state {
                KeyState::Managed => "managed",
                KeyState::Missing => "default",
                KeyState::Set | KeyState::Empty | KeyState::Placeholder => "file",
            },
            key: row.name,
            shown: row.masked,
            secret: row.secret,
        })
        .collect()
}
