//! The Storage tab: where each file really is, and how a save would go.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::super::model::{Model, StorageRow};
use super::super::text;
use super::super::theme;
use super::Frames;
use super::draw::{Line, clear, lines, piece, pieces, put, row_style, rule};
use crate::edit::FileId;
use crate::writer::{Prediction, Strategy};

/// Draw the tab.
pub fn draw(buffer: &mut Buffer, frames: Frames, model: &Model) {
    let body = Rect {
        height: frames.body.height,
        ..frames.body
    };
    let rows = &model.storage;
    let cursor = model.here().cursors[0];
    let at = cursor.at.min(rows.len().saturating_sub(1));
    if rows.is_empty() {
        put(
            buffer,
            body.x + 1,
            body.y,
            body.width - 1,
            "there is no home yet",
            theme::DIM,
        );
        return;
    }
    let list = if frames.compact {
        body.height
    } else {
        u16::try_from(rows.len())
            .unwrap_or(u16::MAX)
            .min(body.height / 2)
    };
    list_of(
        buffer,
        Rect {
            height: list,
            ..body
        },
        rows,
        model,
        at,
    );
    let lines_here = detail(model, &rows[at], usize::from(body.width).saturating_sub(2));
    if frames.compact {
        if let Some(first) = lines_here.get(2) {
            pieces(
                buffer,
                frames.help.x,
                frames.help.y,
                frames.help.width,
                first,
            );
        }
        return;
    }
    // The whole lower part belongs to the file under the cursor: the rule above the help goes.
    let top = body.y + list;
    let rest = Rect::new(body.x, top, body.width, frames.help.bottom() - top);
    clear(buffer, rest);
    rule(buffer, rest, rest.y);
    let inside = Rect::new(
        rest.x + 1,
        rest.y + 1,
        rest.width - 1,
        rest.height.saturating_sub(1),
    );
    lines(buffer, inside, &lines_here, 0);
}

fn list_of(buffer: &mut Buffer, area: Rect, rows: &[StorageRow], model: &Model, at: usize) {
    let cursor = model.here().cursors[0];
    let width = usize::from(area.width);
    let name = if width < 60 { width / 2 } else { 30 };
    let how = if width < 60 { width - name - 3 } else { 22 };
    for (y, i) in (area.y..).zip(cursor.window(rows.len(), usize::from(area.height))) {
        let row = &rows[i];
        let (sign, style, words) = verdict(row);
        let mut line = vec![
            piece(" ", Style::new()),
            piece(sign, style),
            piece(" ", Style::new()),
            piece(
                text::pad(&text::fit_middle(&row.name, name - 1), name),
                Style::new(),
            ),
            piece(text::pad(&words, how), style),
        ];
        if width >= 60 {
            let room = width.saturating_sub(3 + name + how);
            let (content, style) = match &row.content {
                Ok(text) => (text.clone(), theme::DIM),
                Err(text) => (text.clone(), theme::BAD),
            };
            line.push(piece(text::pad(&content, room), style));
        }
        pieces(buffer, area.x, y, area.width, &line);
        if i == at {
            row_style(buffer, area.x, y, area.width, theme::CURSOR);
        }
    }
}

/// The sign, its style and a few words about what a save would meet.
fn verdict(row: &StorageRow) -> (&'static str, Style, String) {
    let exists = row.prediction.target.as_ref().is_some_and(|t| t.exists);
    if row.prediction.refusal.is_some() {
        return (theme::SIGN_FAILED, theme::BAD, "would be refused".into());
    }
    if row.content.is_err() {
        return (
            theme::SIGN_BAD,
            theme::BAD,
            strategy_words(&row.prediction).into(),
        );
    }
    let words = strategy_words(&row.prediction);
    let words = if row.proved {
        format!("{words}, proved")
    } else {
        words.to_owned()
    };
    if exists {
        (theme::SIGN_OK, theme::GOOD, words)
    } else {
        (" ", theme::DIM, words)
    }
}

/// What the writer would do, in a word or two.
pub fn strategy_words(prediction: &Prediction) -> &'static str {
    match prediction.strategy {
        Some(Strategy::Replace) => "replace",
        Some(Strategy::Restaged) => "restaged",
        Some(Strategy::InPlace) => "in place, journal",
        Some(Strategy::Unchanged) => "unchanged",
        None => "refused",
    }
}

/// `12.3 GiB`
pub fn bytes(n: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut unit = 0;
    let mut whole = n;
    let mut rest = 0;
    while whole >= 1024 && unit + 1 < UNITS.len() {
        rest = whole % 1024;
        whole /= 1024;
        unit += 1;
    }
    if unit == 0 {
        format!("{whole} B")
    } else {
        format!("{whole}.{} {}", rest * 10 / 1024, UNITS[unit])
    }
}

fn field(name: &str, value: &str, width: usize, style: Style) -> Vec<Line> {
    let room = width.saturating_sub(9).max(10);
    text::wrap(value, room, 2)
        .into_iter()
        .enumerate()
        .map(|(i, part)| {
            let label = if i == 0 {
                format!("{name:<9}")
            } else {
                " ".repeat(9)
            };
            vec![piece(label, theme::DIM), piece(part, style)]
        })
        .collect()
}

/// Everything known about one file.
fn detail(model: &Model, row: &StorageRow, width: usize) -> Vec<Line> {
    let mut out: Vec<Line> = Vec::new();
    let prediction = &row.prediction;
    let state = match &row.content {
        Ok(text) | Err(text) => text.clone(),
    };
    out.push(vec![
        piece(row.name.clone(), theme::BOLD),
        piece(format!("   {} · ", row.about), theme::DIM),
        piece(
            state,
            if row.content.is_ok() {
                theme::DIM
            } else {
                theme::BAD
            },
        ),
    ]);
    if let Some(target) = &prediction.target {
        for hop in &target.hops {
            let text = format!("{} → {}", hop.link.display(), hop.to.display());
            out.extend(field("link", &text, width, Style::new()));
        }
        out.extend(field(
            "real",
            &target.real.display().to_string(),
            width,
            Style::new(),
        ));
    }
    out.extend(save_lines(row, width));
    if let Some(target) = &prediction.target {
        if let Some(mount) = &target.mount {
            let mut text = format!(
                "{}  {}  {}  {}",
                mount.point.display(),
                mount.fs_type,
                mount.source,
                mount.options
            );
            if target.mount_root {
                text.push_str("  (the file itself is a mount point)");
            }
            out.extend(field("mount", &text, width, Style::new()));
        }
        if let Some(mode) = target.mode {
            let mut text = format!(
                "{:04o}  owner {}:{}",
                mode & 0o7777,
                target.uid.unwrap_or_default(),
                target.gid.unwrap_or_default()
            );
            if let Some(size) = target.size {
                text = format!("{}  {text}", bytes(size));
            }
            if let Some(links) = target.links.filter(|n| *n > 1) {
                text = format!("{text}  {links} hard links");
            }
            if target.acl {
                text.push_str("  ACL");
            }
            out.extend(field("file", &text, width, Style::new()));
        }
        if let Some(free) = target.free_bytes {
            out.extend(field("free", &bytes(free), width, Style::new()));
        }
    }
    let file = match row.name.as_str() {
        "config.yaml" => Some(FileId::Config),
        ".env" => Some(FileId::Env),
        _ => None,
    };
    if let Some(receipt) = file.and_then(|f| model.receipts.get(&f)) {
        for (i, line) in receipt.iter().enumerate() {
            let name = if i == 0 { "saved" } else { "" };
            out.extend(field(name, line.trim(), width, theme::DIM));
        }
    }
    out
}

fn save_lines(row: &StorageRow, width: usize) -> Vec<Line> {
    let prediction = &row.prediction;
    if let Some(refusal) = &prediction.refusal {
        return field(
            "save",
            &format!("would be refused: {refusal}"),
            width,
            theme::BAD,
        );
    }
    let proved = if row.proved { " (proved)" } else { "" };
    let text = format!(
        "{}{proved}: {}",
        strategy_words(prediction),
        prediction.reason
    );
    field("save", &text, width, Style::new())
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn sizes_are_short_and_never_round_up() {
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes(u64::MAX), "16777215.9 TiB");
    }
}
