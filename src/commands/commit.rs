//! From edits to saved files, or to what a save would do.
//!
//! Responsible for: applying the edits of one command and telling what happened to each file. Not
//! responsible for: making the edits.

use serde_json::{Value as Json, json};

use super::target::Target;
use super::{Context, Ending, Failure, receipt};
use crate::edit::{Edit, EditLog, FileId, Step};
use crate::session::{self, CommitError, FilePlan, OnConflict, Outcome, Session};

/// What one command wants.
pub(super) struct Wanted {
    /// The key the command was about.
    pub(super) target: Target,
    /// For the headline, behind the key: "set", "removed".
    pub(super) done: &'static str,
    /// The edits, in order.
    pub(super) edits: Vec<Edit>,
    /// What the user should know.
    pub(super) warnings: Vec<String>,
}

/// Save, or say what a save would do.
pub(super) fn run(
    context: &mut Context<'_>,
    session: &Session,
    wanted: Wanted,
) -> Result<Ending, Failure> {
    if !context.global.json {
        for warning in &wanted.warnings {
            context.warn(warning)?;
        }
    }
    if context.global.dry_run {
        return preview(context, session, wanted);
    }
    let mut saved: Vec<Outcome> = Vec::new();
    for file in [FileId::Config, FileId::Env] {
        let edits: Vec<Edit> = wanted
            .edits
            .iter()
            .filter(|e| e.file() == file)
            .cloned()
            .collect();
        if edits.is_empty() {
            continue;
        }
        let outcome = session::commit(&session.home, file, &edits, None, OnConflict::Overwrite);
        if let Err(error) = &outcome.result {
            return Err(failed(error, &wanted.target, &saved));
        }
        saved.push(outcome);
    }
    report(context, &wanted, &saved)
}

/// Several files are not one transaction: the failure says what was written before it.
fn failed(error: &CommitError, target: &Target, saved: &[Outcome]) -> Failure {
    let mut failure = match error {
        CommitError::Write(error) => receipt::failure(error),
        other => Failure::new(other.to_string()),
    }
    .key(target.key());
    if let Some(first) = saved.first() {
        failure.message = format!(
            "{} (written before that: {})",
            failure.message,
            first.file.name()
        );
    }
    failure
}

fn report(
    context: &mut Context<'_>,
    wanted: &Wanted,
    saved: &[Outcome],
) -> Result<Ending, Failure> {
    let key = wanted.target.key();
    let mut files = Vec::new();
    let mut text = Vec::new();
    let mut warnings = wanted.warnings.clone();
    let mut any_change = false;
    for outcome in saved {
        let Ok(save) = &outcome.result else { continue };
        let changed = outcome.changed > 0;
        any_change |= changed;
        let name = outcome.file.name();
        let headline = if changed {
            let lines = if outcome.changed == 1 {
                "line"
            } else {
                "lines"
            };
            format!(
                "{name}: {key} {} ({} {lines} changed)",
                wanted.done, outcome.changed
            )
        } else {
            format!("{name}: nothing to change, {key} is as asked for already")
        };
        text.extend(receipt::lines(&headline, save));
        text.extend(outcome.notes.iter().map(|n| format!("  note    {n}")));
        warnings.extend(outcome.notes.iter().cloned());
        files.push(json!({
            "file": name,
            "changed": changed,
            "lines_changed": outcome.changed,
            "rebased": outcome.rebased,
            "report": receipt::json(save)?,
        }));
    }
    if context.global.json {
        context.print_json(&json!({
            "ok": true,
            "dry_run": false,
            "key": key,
            "file": wanted.target.file().name(),
            "changed": any_change,
            "files": files,
            "warnings": warnings,
        }))?;
    } else if !context.global.quiet {
        for line in text {
            writeln!(context.io.out, "{line}")?;
        }
    }
    Ok(Ending::Done)
}

fn preview(
    context: &mut Context<'_>,
    session: &Session,
    wanted: Wanted,
) -> Result<Ending, Failure> {
    let key = wanted.target.key();
    let mut log = EditLog::default();
    log.push(Step {
        label: key.clone(),
        edits: wanted.edits,
    });
    let plans = session
        .review(&log)
        .map_err(|error| failed(&error, &wanted.target, &[]))?;
    if context.global.json {
        let files = plans.iter().map(plan_json).collect::<Result<Vec<_>, _>>()?;
        context.print_json(&json!({
            "ok": true,
            "dry_run": true,
            "key": key,
            "file": wanted.target.file().name(),
            "changed": !plans.is_empty(),
            "files": files,
            "warnings": wanted.warnings,
        }))?;
        return Ok(Ending::Done);
    }
    if plans.is_empty() {
        writeln!(
            context.io.out,
            "nothing would change: {key} is as asked for already"
        )?;
    }
    for plan in &plans {
        writeln!(
            context.io.out,
            "{}: {} of {} lines would change",
            plan.file.name(),
            plan.diff.changed,
            plan.diff.changed + plan.diff.kept
        )?;
        for line in &plan.diff.lines {
            writeln!(
                context.io.out,
                "{:>6} {}{}",
                line.number, line.sign, line.text
            )?;
        }
        for line in receipt::predicted(&plan.prediction) {
            writeln!(context.io.out, "{line}")?;
        }
        for note in &plan.edited.notes {
            writeln!(context.io.out, "  note    {note}")?;
        }
    }
    Ok(Ending::Done)
}

fn plan_json(plan: &FilePlan) -> Result<Json, Failure> {
    let diff: Vec<Json> = plan
        .diff
        .lines
        .iter()
        .map(|l| json!({ "sign": l.sign.to_string(), "line": l.number, "text": l.text }))
        .collect();
    Ok(json!({
        "file": plan.file.name(),
        "path": plan.path.to_string_lossy(),
        "changed": true,
        "lines_changed": plan.diff.changed,
        "diff": diff,
        "prediction": receipt::json(&plan.prediction)?,
        "notes": plan.edited.notes,
    }))
}
