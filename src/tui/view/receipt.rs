//! The receipt: what a save did to each file, and why it went that way.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::super::keymap::Context;
use super::super::model::{Layer, Model};
use super::super::text;
use super::super::theme;
use super::draw::{Line, boxed, centered, lines, piece};
use crate::edit::FileId;
use crate::session::{CommitError, Outcome};
use crate::writer::{Attempt, SaveReport, Strategy};

/// Draw the box; returns the scroll that was possible.
pub fn draw(
    buffer: &mut Buffer,
    area: Rect,
    outcomes: &[Outcome],
    untried: &[FileId],
    effects: &[String],
    scroll: usize,
) -> usize {
    let width = usize::from(area.width).saturating_sub(4);
    let content = content(outcomes, untried, effects, width);
    let failed = outcomes.iter().any(|o| o.result.is_err());
    let title = if failed {
        "Not everything was saved"
    } else {
        "Saved"
    };
    let height = u16::try_from(content.len() + 2)
        .unwrap_or(u16::MAX)
        .min(area.height);
    let hint = super::hints(Context::Receipt, usize::from(area.width) - 6, false);
    let inner = boxed(buffer, centered(area, area.width, height), title, &hint);
    let inner = Rect::new(
        inner.x + 1,
        inner.y,
        inner.width.saturating_sub(1),
        inner.height,
    );
    lines(buffer, inner, &content, scroll)
}

fn content(
    outcomes: &[Outcome],
    untried: &[FileId],
    effects: &[String],
    width: usize,
) -> Vec<Line> {
    let mut out: Vec<Line> = Vec::new();
    for outcome in outcomes {
        out.extend(one(outcome, width));
    }
    for file in untried {
        out.push(vec![
            piece("- ", theme::UNSAVED),
            piece(format!("{:<14}", file.name()), theme::BOLD),
            piece("not tried; its changes are still unsaved", theme::UNSAVED),
        ]);
    }
    if outcomes.iter().any(|o| o.result.is_ok()) {
        for effect in effects {
            for part in text::wrap(&format!("takes effect {effect}"), width, 2) {
                out.push(vec![piece(part, theme::DIM)]);
            }
        }
    }
    out
}

fn field(name: &str, value: &str, width: usize, style: Style) -> Vec<Line> {
    let room = width.saturating_sub(10).max(10);
    text::wrap(value, room, 0)
        .into_iter()
        .enumerate()
        .map(|(i, part)| {
            let label = if i == 0 {
                format!("  {name:<8}")
            } else {
                " ".repeat(10)
            };
            vec![piece(label, theme::DIM), piece(part, style)]
        })
        .collect()
}

fn one(outcome: &Outcome, width: usize) -> Vec<Line> {
    let mut out: Vec<Line> = Vec::new();
    let name = format!("{:<14}", outcome.file.name());
    match &outcome.result {
        Ok(report) => {
            out.push(vec![
                piece(format!("{} ", theme::SIGN_OK), theme::GOOD),
                piece(name, theme::BOLD),
                piece(
                    match report.strategy {
                        Strategy::Unchanged => "already as wanted, not written".to_owned(),
                        _ => format!("{} changed", text::count(outcome.changed, "line")),
                    },
                    Style::new(),
                ),
            ]);
            out.extend(report_lines(report, width));
        }
        Err(error) => {
            out.push(vec![
                piece(format!("{} ", theme::SIGN_FAILED), theme::BAD),
                piece(name, theme::BOLD),
                piece("not saved", theme::BAD),
            ]);
            out.extend(failure_lines(error, width));
        }
    }
    if outcome.rebased {
        out.extend(field(
            "merged",
            "the file had changed underneath: your changes went into the newer text",
            width,
            theme::UNSAVED,
        ));
    }
    for note in &outcome.notes {
        out.extend(field("note", note, width, theme::UNSAVED));
    }
    out
}

/// How a save went, in words.
fn path_words(report: &SaveReport) -> String {
    let synced = match (report.durable.file, report.durable.dir) {
        (true, true) => "file and directory synced",
        (true, false) => "file synced",
        _ => "not synced",
    };
    match report.strategy {
        Strategy::Unchanged => "nothing had to be written".into(),
        Strategy::Replace if report.created => format!("created atomically; {synced}"),
        Strategy::Replace => format!("replaced atomically; {synced}"),
        Strategy::Restaged => {
            format!("restaged beside the target, then replaced atomically; {synced}")
        }
        Strategy::InPlace => {
            "→ rewritten in place under a journal, read back, journal removed".into()
        }
    }
}

/// A refused attempt in words.
fn attempt_words(attempt: &Attempt) -> String {
    format!(
        "{} refused: {}, {}",
        attempt.syscall, attempt.name, attempt.text
    )
}

fn report_lines(report: &SaveReport, width: usize) -> Vec<Line> {
    let mut out = field(
        "target",
        &report.real.display().to_string(),
        width,
        Style::new(),
    );
    for hop in &report.hops {
        let link = format!("{} → {}", hop.link.display(), hop.to.display());
        out.extend(field("via", &link, width, theme::DIM));
    }
    if let Some(mount) = &report.mount {
        let single = if mount.point == report.real {
            "   (single-file bind mount)"
        } else {
            ""
        };
        let text = format!(
            "{}   {}   {}   {}{single}",
            mount.point.display(),
            mount.fs_type,
            mount.source,
            mount.options
        );
        out.extend(field("mount", &text, width, Style::new()));
    }
    let mut label = "path";
    for attempt in &report.attempts {
        out.extend(field(label, &attempt_words(attempt), width, theme::UNSAVED));
        label = "";
    }
    if report.strategy == Strategy::InPlace && report.attempts.is_empty() {
        out.extend(field(label, &report.reason, width, theme::UNSAVED));
        label = "";
    }
    out.extend(field(
        label,
        &format!("{} ({})", path_words(report), report.strategy),
        width,
        theme::GOOD,
    ));
    if let Some(backup) = &report.backup {
        // The folder is always the one in the home.
        let name = backup.file_name().unwrap_or(backup.as_os_str());
        let text = format!("backups/{}", name.to_string_lossy());
        out.extend(field("backup", &text, width, theme::DIM));
    }
    for recovery in &report.recovered {
        out.extend(field("found", &recovery.detail, width, theme::UNSAVED));
    }
    for warning in &report.warnings {
        out.extend(field("note", warning, width, theme::UNSAVED));
    }
    out
}

fn failure_lines(error: &CommitError, width: usize) -> Vec<Line> {
    let mut out = field("why", &error.to_string(), width, theme::BAD);
    match error {
        CommitError::Write(error) => {
            for attempt in &error.attempts {
                out.extend(field(
                    "tried",
                    &attempt_words(attempt),
                    width,
                    theme::UNSAVED,
                ));
            }
            out.extend(field("do", &error.hint(), width, Style::new()));
        }
        CommitError::Conflict { .. } => out.extend(field(
            "do",
            "R reads the file again; then decide which value you want",
            width,
            Style::new(),
        )),
        _ => out.extend(field("state", "nothing was changed", width, Style::new())),
    }
    out
}

/// A report as plain lines.
pub fn report_text(report: &SaveReport) -> Vec<String> {
    report_lines(report, 100).iter().map(joined).collect()
}

/// The receipt or page on top as plain lines, for the clipboard.
pub fn plain_text(model: &Model) -> Vec<String> {
    let all = match model.layers.last() {
        Some(Layer::Receipt {
            outcomes,
            untried,
            effects,
            ..
        }) => content(outcomes, untried, effects, 100),
        Some(Layer::Page { lines, .. }) => return lines.clone(),
        _ => return Vec::new(),
    };
    all.iter().map(joined).collect()
}

fn joined(line: &Line) -> String {
    line.iter()
        .map(|(t, _)| t.as_ref())
        .collect::<String>()
        .trim_end()
        .to_owned()
}

/// The lines about one file of the receipt on top.
pub fn lines_of(model: &Model, file: FileId) -> Vec<String> {
    match model.layers.last() {
        Some(Layer::Receipt { outcomes, .. }) => outcomes
            .iter()
            .filter(|o| o.file == file)
            .flat_map(|o| one(o, 100))
            .map(|l| joined(&l))
            .collect(),
        _ => Vec::new(),
    }
}
