//! The Problems tab: what Hermes will misread or ignore.

use ratatui::buffer::Buffer;
use ratatui::style::Style;

use super::super::model::Model;
use super::super::text;
use super::super::theme;
use super::super::update::problem_file;
use super::Frames;
use super::browse::put_help;
use super::draw::{piece, pieces, put, row_style};
use crate::catalog::Severity;
use crate::settings::Problem;

/// Draw the tab.
pub fn draw(buffer: &mut Buffer, frames: Frames, model: &Model) {
    let area = frames.body;
    let problems = &model.derived.problems;
    if problems.is_empty() {
        let line = format!(
            "{} Hermes reads these files as they are meant",
            theme::SIGN_OK
        );
        put(
            buffer,
            area.x + 1,
            area.y,
            area.width - 1,
            &line,
            theme::GOOD,
        );
        return;
    }
    let cursor = model.here().cursors[0];
    let at = cursor.at.min(problems.len() - 1);
    let width = usize::from(area.width);
    let place = if width < 60 { 0 } else { 18 };
    let key = if width < 60 {
        width / 3
    } else {
        (width / 3).min(40)
    };
    let title = width.saturating_sub(3 + key + 1 + place);
    for (y, i) in (area.y..).zip(cursor.window(problems.len(), usize::from(area.height))) {
        let problem = &problems[i];
        let (sign, style) = sign(problem);
        let mut line = vec![
            piece(" ", Style::new()),
            piece(sign, style),
            piece(" ", Style::new()),
            piece(
                text::pad(&text::fit_middle(&problem.key, key), key),
                Style::new(),
            ),
            piece(" ", Style::new()),
            piece(text::pad(&problem.title, title.saturating_sub(1)), style),
            piece(" ", Style::new()),
        ];
        if place > 0 {
            let file = problem_file(problem).name();
            let text = problem
                .line
                .map_or_else(|| file.to_owned(), |l| format!("{file}:{l}"));
            line.push(piece(text, theme::DIM));
        }
        pieces(buffer, area.x, y, area.width, &line);
        if i == at {
            row_style(buffer, area.x, y, area.width, theme::CURSOR);
        }
    }
    let problem = &problems[at];
    let mut lines = vec![
        (
            if problem.key.is_empty() {
                problem.title.clone()
            } else {
                format!("{}: {}", problem.key, problem.title)
            },
            theme::BOLD,
        ),
        (problem.detail.clone(), Style::new()),
    ];
    lines.push(match &problem.fix {
        Some(fix) => (format!("f: {fix}   ⏎ goes there"), theme::ACCENT),
        None if problem.key.is_empty() => ("e opens the file there".into(), theme::DIM),
        None => ("⏎ goes there, e opens the file".into(), theme::DIM),
    });
    put_help(buffer, frames, &lines);
}

fn sign(problem: &Problem) -> (&'static str, Style) {
    match problem.severity {
        Severity::Error => (theme::SIGN_BAD, theme::BAD),
        Severity::Warning => ("?", theme::UNSAVED),
        Severity::Info => ("i", theme::DIM),
    }
}
