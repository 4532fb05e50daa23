//! What a save did, in a few lines and as JSON.
//!
//! Responsible for: the receipt of one file, and the failure of one. Not responsible for: saving.

use serde_json::Value as Json;

use super::Failure;
use crate::writer::{Attempt, Hop, Prediction, SaveError, SaveReport, Strategy};

/// The receipt of one file. `headline` says what was done to it.
pub(super) fn lines(headline: &str, report: &SaveReport) -> Vec<String> {
    let mut out = vec![headline.to_owned()];
    if report.strategy == Strategy::Unchanged {
        return out;
    }
    out.push(format!(
        "  target  {}{}",
        report.real.display(),
        via(&report.hops)
    ));
    if let Some(mount) = &report.mount {
        out.push(format!(
            "  mount   {}  {}  {}  {}",
            mount.point.display(),
            mount.fs_type,
            mount.source,
            mount.options
        ));
    }
    out.push(format!("  path    {}: {}", report.strategy, report.reason));
    out.extend(report.attempts.iter().map(tried));
    if let Some(backup) = &report.backup {
        out.push(format!("  backup  {}", backup.display()));
    }
    out.extend(
        report
            .recovered
            .iter()
            .map(|r| format!("  found   {}: {}", r.leftover.display(), r.detail)),
    );
    out.extend(report.warnings.iter().map(|w| format!("  note    {w}")));
    out
}

/// What a save would do, in lines below a headline.
pub(super) fn predicted(prediction: &Prediction) -> Vec<String> {
    let mut out = Vec::new();
    if let Some(target) = &prediction.target {
        out.push(format!(
            "  target  {}{}",
            target.real.display(),
            via(&target.hops)
        ));
        if let Some(mount) = &target.mount {
            out.push(format!(
                "  mount   {}  {}  {}  {}",
                mount.point.display(),
                mount.fs_type,
                mount.source,
                mount.options
            ));
        }
    }
    let verb = if prediction.proven { "proved" } else { "path" };
    out.push(match prediction.strategy {
        Some(strategy) => format!("  {verb:<7} {strategy}: {}", prediction.reason),
        None => format!("  refused {}", prediction.reason),
    });
    out.extend(prediction.attempts.iter().map(tried));
    out
}

/// A failed save as a failure of the command.
pub(super) fn failure(error: &SaveError) -> Failure {
    let mut failure = Failure::new(error.to_string()).hint(error.hint());
    failure.report = serde_json::to_value(error).ok().map(Box::new);
    failure
}

/// A report as JSON.
pub(super) fn json(report: &impl serde::Serialize) -> Result<Json, Failure> {
    Ok(serde_json::to_value(report)?)
}

fn tried(attempt: &Attempt) -> String {
    format!("  tried   {attempt}")
}

fn via(hops: &[Hop]) -> String {
    let links: Vec<String> = hops
        .iter()
        .map(|hop| format!("  via {} -> {}", hop.link.display(), hop.to.display()))
        .collect();
    links.concat()
}
