//! The review: what a save would write, and how.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::super::keymap::Context;
use super::super::model::Model;
use super::super::text;
use super::super::theme;
use super::draw::{Line, boxed, lines, piece};
use crate::session::FilePlan;
use crate::writer::{Prediction, Strategy};

/// Draw the box; returns the scroll that was possible.
pub fn draw(
    buffer: &mut Buffer,
    area: Rect,
    model: &Model,
    plans: &[FilePlan],
    scroll: usize,
) -> usize {
    let title = format!(
        "Review: {} in {}",
        text::count(model.unsaved.len(), "change"),
        text::count(plans.len(), "file")
    );
    let width = usize::from(area.width).saturating_sub(4);
    let content: Vec<Line> = plans.iter().flat_map(|p| file(p, width)).collect();
    let height = u16::try_from(content.len() + 2)
        .unwrap_or(u16::MAX)
        .min(area.height);
    let hint = super::hints(
        Context::Review,
        usize::from(area.width) - 6,
        model.theme.ascii,
    );
    let frame = super::draw::centered(area, area.width, height);
    let inner = boxed(buffer, frame, &title, &hint);
    let inner = Rect::new(
        inner.x + 1,
        inner.y,
        inner.width.saturating_sub(1),
        inner.height,
    );
    lines(buffer, inner, &content, scroll)
}

/// Where a save would land: real path, file system type and mount point.
pub fn target_line(name: &str, prediction: &Prediction, width: usize) -> Vec<Line> {
    let Some(target) = &prediction.target else {
        return vec![vec![piece(name.to_owned(), theme::BOLD)]];
    };
    let mount = target.mount.as_ref().map_or_else(String::new, |m| {
        let single = if target.mount_root {
            ", bind-mounted file"
        } else {
            ""
        };
        format!("{} {}{single}", m.fs_type, m.point.display())
    });
    let real = target.real.display().to_string();
    let arrow = if target.hops.is_empty() { "" } else { "→ " };
    let room = width.saturating_sub(text::width(name) + text::width(&mount) + 6);
    if room >= 20 {
        return vec![vec![
            piece(name.to_owned(), theme::BOLD),
            piece(
                format!("  {arrow}{}", text::fit_middle(&real, room)),
                Style::new(),
            ),
            piece(format!("  {mount}"), theme::ACCENT),
        ]];
    }
    vec![
        vec![
            piece(name.to_owned(), theme::BOLD),
            piece(format!("  {mount}"), theme::ACCENT),
        ],
        vec![piece(
            format!(
                "  {arrow}{}",
                text::fit_middle(&real, width.saturating_sub(4))
            ),
            Style::new(),
        )],
    ]
}

/// What the writer expects to do, in words.
fn strategy(prediction: &Prediction) -> (String, Style) {
    if let Some(refusal) = &prediction.refusal {
        return (format!("would be refused: {refusal}"), theme::BAD);
    }
    let words = match prediction.strategy {
        Some(Strategy::Replace) => "will be replaced atomically",
        Some(Strategy::Restaged) => "will be staged on the target's file system, then replaced",
        Some(Strategy::InPlace) => "will be rewritten in place, under a journal",
        Some(Strategy::Unchanged) => "stays as it is",
        None => "no way to save was found",
    };
    let style = if prediction.strategy == Some(Strategy::InPlace) {
        theme::UNSAVED
    } else {
        theme::GOOD
    };
    // The reason says both why and what then.
    let text = if prediction.strategy == Some(Strategy::InPlace) {
        prediction.reason.clone()
    } else {
        words.to_owned()
    };
    (text, style)
}

fn file(plan: &FilePlan, width: usize) -> Vec<Line> {
    let mut out = target_line(plan.file.name(), &plan.prediction, width);
    let (words, style) = strategy(&plan.prediction);
    for part in text::wrap(&words, width.saturating_sub(2), 2) {
        out.push(vec![piece(format!("  {part}"), style)]);
    }
    if plan.rebased {
        out.push(vec![piece(
            "  the file changed on disk since it was loaded; your changes go into the newer text",
            theme::UNSAVED,
        )]);
    }
    let digits = plan
        .diff
        .lines
        .iter()
        .map(|l| l.number)
        .max()
        .unwrap_or(1)
        .to_string()
        .len()
        .max(3);
    for line in &plan.diff.lines {
        let style = if line.sign == '-' {
            theme::BAD
        } else {
            theme::GOOD
        };
        // Whole lines: what differs may stand at the end.
        let room = width.saturating_sub(digits + 5).max(10);
        for (i, part) in text::cut(&line.text, room).into_iter().enumerate() {
            let head = if i == 0 {
                (format!("  {:>digits$} │", line.number), line.sign)
            } else {
                (format!("  {:>digits$} │", ""), ' ')
            };
            out.push(vec![
                piece(head.0, theme::DIM),
                piece(format!("{}{part}", head.1), style),
            ]);
        }
    }
    let kept = format!(
        "  {} {}, {} {} byte for byte",
        text::count(plan.diff.changed, "line"),
        if plan.diff.changed == 1 {
            "changes"
        } else {
            "change"
        },
        plan.diff.kept,
        if plan.diff.kept == 1 { "stays" } else { "stay" },
    );
    out.push(vec![piece(kept, theme::DIM)]);
    for note in &plan.edited.notes {
        for part in text::wrap(note, width.saturating_sub(2), 2) {
            out.push(vec![piece(format!("  {part}"), theme::UNSAVED)]);
        }
    }
    out.push(Vec::new());
    out
}
