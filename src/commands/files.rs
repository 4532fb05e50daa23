//! `write`, `replace` and `recover`: the writer for any file.
//!
//! Responsible for: handing paths and bytes to the writer, and its report to the user. Not
//! responsible for: how a file is replaced ([`crate::writer`]).

use std::path::Path;

use serde_json::json;

use super::{Context, Ending, Failure, receipt};
use crate::cli::Settle;
use crate::session;
use crate::writer::{self, Options, Resolution, SaveError, SaveReport};

pub(super) fn write(
    context: &mut Context<'_>,
    target: &Path,
    from: Option<&Path>,
) -> Result<Ending, Failure> {
    let options = options_for(context, target);
    if context.global.dry_run {
        return predict(context, target, &options);
    }
    let mut bytes = Vec::new();
    match from {
        Some(path) if path != Path::new("-") => {
            bytes = std::fs::read(path).map_err(|e| {
                Failure::new(format!(
                    "{}: cannot be read: {e}; nothing was written",
                    path.display()
                ))
                .hint("name a readable file with --from, or give the content on standard input")
            })?;
        }
        _ => {
            context.io.input.read_to_end(&mut bytes).map_err(|e| {
                Failure::new(format!(
                    "standard input cannot be read: {e}; nothing was written"
                ))
            })?;
        }
    }
    let result = writer::write(target, &bytes, &options);
    report(context, target, result)
}

pub(super) fn replace(
    context: &mut Context<'_>,
    tmp: &Path,
    target: &Path,
) -> Result<Ending, Failure> {
    let options = options_for(context, target);
    if context.global.dry_run {
        return predict(context, target, &options);
    }
    let result = writer::atomic_replace(tmp, target, &options);
    report(context, target, result)
}

pub(super) fn recover(context: &mut Context<'_>) -> Result<Ending, Failure> {
    if context.global.dry_run {
        return Err(Failure::new(
            "recover cannot be tried out: what is left of an interrupted save was not touched",
        )
        .hint("run it without --dry-run; it only repairs what an interrupted save left behind"));
    }
    let home = context.home()?;
    let found = writer::recover(&session::options(&home));
    let attention = found.iter().any(|r| r.outcome.needs_attention());
    if context.global.json {
        context.print_json(&json!({ "ok": !attention, "recovered": receipt::json(&found)? }))?;
    } else if found.is_empty() {
        if !context.global.quiet {
            writeln!(context.io.out, "nothing to recover")?;
        }
    } else {
        for recovery in &found {
            let about = recovery.target.as_deref().unwrap_or(&recovery.leftover);
            writeln!(context.io.out, "{}: {}", about.display(), recovery.detail)?;
            if recovery.outcome.needs_attention() {
                writeln!(context.io.out, "  kept    {}", recovery.leftover.display())?;
            }
        }
    }
    Ok(if attention {
        Ending::FoundFaults
    } else {
        Ending::Done
    })
}

/// Settle a conflict as the user decided.
pub(super) fn settle(
    context: &mut Context<'_>,
    journal: &Path,
    with: Settle,
) -> Result<Ending, Failure> {
    if context.global.dry_run {
        return Err(
            Failure::new("settling a conflict cannot be tried out: nothing was touched").hint(
                "the journal holds both versions; run it without --dry-run when you have decided",
            ),
        );
    }
    let home = context.home()?;
    let resolution = match with {
        Settle::File => Resolution::KeepFile,
        Settle::Old => Resolution::TakeOld,
        Settle::New => Resolution::TakeNew,
    };
    let report = writer::resolve_conflict(journal, resolution, &session::options(&home))
        .map_err(|error| receipt::failure(&error))?;
    match report {
        Some(saved) => {
            let target = saved.requested.clone();
            report_saved(context, &target, &saved)
        }
        None if context.global.json => {
            context.print_json(&json!({ "ok": true, "report": null }))?;
            Ok(Ending::Done)
        }
        None => {
            if !context.global.quiet {
                writeln!(
                    context.io.out,
                    "the file stays as it is; the journal is gone"
                )?;
            }
            Ok(Ending::Done)
        }
    }
}

/// Any file may be written, also without a Hermes home: journals then lie beside it.
fn options_for(context: &Context<'_>, target: &Path) -> Options {
    if let Ok(home) = context.home() {
        return session::options(&home);
    }
    let beside = target.parent().filter(|p| !p.as_os_str().is_empty());
    Options::new(beside.unwrap_or(Path::new("."))).without_backup()
}

fn predict(context: &mut Context<'_>, target: &Path, options: &Options) -> Result<Ending, Failure> {
    let prediction = writer::predict(target, options);
    if context.global.json {
        let prediction = receipt::json(&prediction)?;
        context.print_json(&json!({ "ok": true, "dry_run": true, "prediction": prediction }))?;
    } else {
        writeln!(context.io.out, "{}: would be written", target.display())?;
        for line in receipt::predicted(&prediction) {
            writeln!(context.io.out, "{line}")?;
        }
    }
    Ok(Ending::Done)
}

fn report(
    context: &mut Context<'_>,
    target: &Path,
    result: Result<SaveReport, SaveError>,
) -> Result<Ending, Failure> {
    let report = result.map_err(|error| receipt::failure(&error))?;
    report_saved(context, target, &report)
}

/// The receipt of one file.
pub(super) fn report_saved(
    context: &mut Context<'_>,
    target: &Path,
    report: &SaveReport,
) -> Result<Ending, Failure> {
    if context.global.json {
        let report = receipt::json(report)?;
        context.print_json(&json!({ "ok": true, "dry_run": false, "report": report }))?;
    } else if !context.global.quiet {
        let headline = format!(
            "{}: {} bytes, {}",
            target.display(),
            report.bytes,
            report.strategy
        );
        for line in receipt::lines(&headline, report) {
            writeln!(context.io.out, "{line}")?;
        }
    }
    Ok(Ending::Done)
}
