//! `restore`: the copies that are kept of changed files.
//!
//! Responsible for: listing them and bringing one back. Not responsible for: making and pruning
//! them ([`crate::writer::backup`]).

use std::path::Path;

use serde_json::json;

use super::files::report_saved;
use super::{Context, Ending, Failure, receipt};
use crate::session;
use crate::writer::backup::{self, Entry};

pub(super) fn run(
    context: &mut Context<'_>,
    file: Option<&Path>,
    made: Option<&str>,
) -> Result<Ending, Failure> {
    let home = context.home()?;
    let entries = backup::list(&home.path);
    let Some(file) = file else {
        return list(context, &entries);
    };
    let wanted = home.path.join(file);
    let of_file: Vec<&Entry> = entries
        .iter()
        .filter(|e| e.original == wanted || e.original == file)
        .collect();
    let entry = match made {
        Some(made) => of_file.iter().find(|e| e.made == made),
        None => of_file.first(),
    };
    let Some(entry) = entry else {
        let what = match made {
            Some(made) => format!("{} has no copy made {made}", file.display()),
            None => format!("no copy of {} is kept", file.display()),
        };
        return Err(Failure::new(format!("{what}; nothing was changed"))
            .hint("`hermes-tui restore` lists every copy there is"));
    };
    if let Some(managed) = &home.managed {
        return Err(Failure::new(format!(
            "{}: this home is managed by {}: {}; nothing was changed",
            file.display(),
            managed.by,
            managed.why
        )));
    }
    if context.global.dry_run {
        return list(context, &[(*entry).clone()]);
    }
    let report = backup::restore(entry, &session::options(&home))
        .map_err(|error| receipt::failure(&error))?;
    report_saved(context, &entry.original, &report)
}

fn list(context: &mut Context<'_>, entries: &[Entry]) -> Result<Ending, Failure> {
    if context.global.json {
        context.print_json(&json!({ "ok": true, "copies": receipt::json(&entries)? }))?;
        return Ok(Ending::Done);
    }
    if entries.is_empty() && !context.global.quiet {
        writeln!(
            context.io.out,
            "no copies are kept yet: the first change of a file makes one"
        )?;
    }
    for entry in entries {
        writeln!(
            context.io.out,
            "{}  {:>9}  {}",
            entry.made,
            entry.bytes,
            entry.original.display()
        )?;
    }
    Ok(Ending::Done)
}
