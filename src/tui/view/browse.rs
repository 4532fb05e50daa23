//! The two-pane tabs: Settings and Keys.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::super::action::Tab;
use super::super::browse::{self, Browse};
use super::super::model::{Model, Target};
use super::super::text;
use super::super::theme;
use super::Frames;
use super::draw::{Piece, piece, pieces, put, put_right, row_style};
use crate::catalog;
use crate::document::{KeyPath, Value};
use crate::settings::{self, KeyRow, KeyState, Origin, Row};

/// Columns of the left pane.
const GROUPS: u16 = 22;

/// One row of the right pane.
struct Shown {
    sign: &'static str,
    sign_style: Style,
    label: String,
    value: String,
    value_style: Style,
    note: String,
    note_style: Style,
}

/// Draw the tab.
pub fn draw(buffer: &mut Buffer, frames: Frames, model: &Model) {
    let list = browse::browse(model);
    let state = model.here();
    let body = frames.body;
    let one_pane = frames.compact || list.searching;
    if one_pane {
        if state.pane == 0 && !list.searching {
            groups(buffer, body, model, &list);
        } else {
            rows(buffer, body, model, &list);
        }
    } else {
        let left = Rect::new(body.x, body.y, GROUPS, body.height);
        groups(buffer, left, model, &list);
        for y in body.y..body.bottom() {
            put(buffer, body.x + GROUPS, y, 1, "│", theme::DIM);
        }
        let right = Rect::new(
            body.x + GROUPS + 1,
            body.y,
            body.width - GROUPS - 1,
            body.height,
        );
        rows(buffer, right, model, &list);
    }
    help(buffer, frames, model, &list);
}

/// `3 of 925`.
pub fn search_count(model: &Model) -> String {
    let list = browse::browse(model);
    format!("{} of {}", list.rows.len(), list.total)
}

fn groups(buffer: &mut Buffer, area: Rect, model: &Model, list: &Browse) {
    let cursor = model.here().cursors[0];
    let focus = model.here().pane == 0;
    for (y, i) in (area.y..).zip(cursor.window(list.groups.len(), usize::from(area.height))) {
        let group = &list.groups[i];
        let here = i == cursor.at;
        let style = if here { theme::BOLD } else { Style::new() };
        let mark = if here { theme::SIGN_HERE } else { " " };
        put(buffer, area.x, y, 1, mark, theme::ACCENT);
        let count = group.count.to_string();
        let room = area
            .width
            .saturating_sub(4 + u16::try_from(count.len()).unwrap_or(0));
        put(buffer, area.x + 1, y, room, &group.name, style);
        let right = Rect {
            width: area.width.saturating_sub(1),
            ..area
        };
        put_right(buffer, right, y, &count, theme::DIM);
        let at = area
            .right()
            .saturating_sub(3 + u16::try_from(count.len()).unwrap_or(0));
        if group.unsaved > 0 {
            put(buffer, at, y, 1, theme::SIGN_UNSAVED, theme::UNSAVED);
        } else if group.bad > 0 {
            put(buffer, at, y, 1, theme::SIGN_BAD, theme::BAD);
        }
        if here && focus {
            row_style(buffer, area.x, y, area.width, theme::CURSOR);
        }
    }
}

fn rows(buffer: &mut Buffer, area: Rect, model: &Model, list: &Browse) {
    let cursor = model.here().cursors[1];
    let focus = model.here().pane == 1 || list.searching;
    if list.rows.is_empty() {
        let message = if list.searching {
            "nothing matches; Esc ends the search"
        } else {
            "nothing here"
        };
        put(
            buffer,
            area.x + 1,
            area.y,
            area.width - 1,
            message,
            theme::DIM,
        );
        return;
    }
    let shown: Vec<Shown> = cursor
        .window(list.rows.len(), usize::from(area.height))
        .map(|i| shown(model, list.rows[i], list.searching))
        .collect();
    // Columns depend on the width only, so that nothing jumps while scrolling or editing.
    let width = usize::from(area.width);
    let note = if width >= 52 { 18.min(width / 4) } else { 0 };
    let left = width - 3 - note;
    let label = if list.searching {
        left * 6 / 10
    } else {
        (left / 2).min(34)
    };
    let value = left - label - 1;
    let top = cursor
        .window(list.rows.len(), usize::from(area.height))
        .start;
    for ((y, i), row) in (area.y..).zip(top..).zip(&shown) {
        let mut line: Vec<Piece<'_>> = vec![
            piece(" ", Style::new()),
            piece(row.sign, row.sign_style),
            piece(" ", Style::new()),
            piece(
                text::pad(&text::fit_middle(&row.label, label), label),
                Style::new(),
            ),
            piece(" ", Style::new()),
            piece(text::pad(&row.value, value), row.value_style),
        ];
        if note > 0 {
            line.push(piece(
                format!(" {}", text::pad(&row.note, note - 1)),
                row.note_style,
            ));
        }
        pieces(buffer, area.x, y, area.width, &line);
        if i == cursor.at.min(list.rows.len() - 1) {
            let style = if focus {
                theme::CURSOR
            } else {
                theme::CURSOR_AWAY
            };
            row_style(buffer, area.x, y, area.width, style);
        }
    }
}

fn shown(model: &Model, index: usize, searching: bool) -> Shown {
    match model.tab {
        Tab::Keys => shown_key(model, &model.derived.keys[index]),
        _ => shown_row(model, &model.derived.rows[index], searching),
    }
}

/// A value in one line, secrets masked unless they are revealed.
fn one_line(model: &Model, path: &KeyPath, value: &Value) -> String {
    match value {
        Value::Str(s) if s.is_empty() => "\"\"".into(),
        value if model.is_revealed(&Target::Config(path.clone())) => settings::show(value),
        value => settings::show(&settings::hide_secrets(path, value)),
    }
}

fn shown_row(model: &Model, row: &Row, searching: bool) -> Shown {
    let target = Target::Config(row.path.clone());
    let unsaved = model.is_unsaved(&target);
    let text_of = |value: &Value| one_line(model, &row.path, value);
    let value = row.effective.as_ref().or(row.default.as_ref());
    let label = if searching {
        row.path.to_string()
    } else {
        row.label.clone()
    };
    let dim_value = row.value.is_none();
    let (note, note_style) = if let Some(fault) = &row.fault {
        (fault.text.clone(), theme::BAD)
    } else if unsaved {
        let before = model.loaded_value(&target);
        let text = before
            .as_ref()
            .map_or_else(|| "was not set".into(), |v| format!("was {}", text_of(v)));
        (text, theme::UNSAVED)
    } else {
        match row.origin {
            Origin::Managed => ("managed".into(), theme::DIM),
            Origin::Env => (".env wins".into(), theme::DIM),
            Origin::File => (
                if row.setting.is_none() {
                    "not known"
                } else {
                    "set"
                }
                .into(),
                theme::DIM,
            ),
            Origin::Default => ("default".into(), theme::DIM),
        }
    };
    let (sign, sign_style) = if row.fault.is_some() {
        (theme::SIGN_BAD, theme::BAD)
    } else if unsaved {
        (theme::SIGN_UNSAVED, theme::UNSAVED)
    } else if row.locked.is_some() {
        (theme::SIGN_MANAGED, theme::DIM)
    } else if row.value.is_some() {
        (theme::SIGN_SET, theme::ACCENT)
    } else {
        (" ", theme::DIM)
    };
    Shown {
        sign,
        sign_style,
        label,
        value: value.map_or_else(|| "—".into(), text_of),
        value_style: if dim_value { theme::DIM } else { Style::new() },
        note,
        note_style,
    }
}

fn shown_key(model: &Model, row: &KeyRow) -> Shown {
    let target = Target::Env(row.name.clone());
    let unsaved = model.is_unsaved(&target);
    let revealed = model.is_revealed(&target);
    let (value, value_style) = match row.state {
        KeyState::Missing if unsaved => ("removed".into(), theme::DIM),
        KeyState::Missing => ("—".into(), theme::DIM),
        KeyState::Empty => ("empty".into(), theme::DIM),
        _ if revealed => (row.value.clone().unwrap_or_default(), Style::new()),
        _ => (row.masked.clone(), Style::new()),
    };
    let (note, note_style) = if unsaved {
        ("unsaved".into(), theme::UNSAVED)
    } else if row.duplicates > 0 {
        (format!("{} times", row.duplicates + 1), theme::BAD)
    } else if row.state == KeyState::Placeholder {
        ("placeholder".into(), theme::BAD)
    } else if row.readers_differ.is_some() {
        ("readers differ".into(), theme::BAD)
    } else if row.state == KeyState::Managed {
        ("managed".into(), theme::DIM)
    } else {
        match (&row.value, row.state) {
            (Some(value), KeyState::Set) if row.secret => {
                (format!("{} chars", value.chars().count()), theme::DIM)
            }
            (_, KeyState::Set) => ("set".into(), theme::DIM),
            _ => (String::new(), theme::DIM),
        }
    };
    let (sign, sign_style) = if unsaved {
        (theme::SIGN_UNSAVED, theme::UNSAVED)
    } else if row.has_trouble() {
        (theme::SIGN_BAD, theme::BAD)
    } else {
        match row.state {
            KeyState::Managed => (theme::SIGN_MANAGED, theme::DIM),
            KeyState::Missing => (" ", theme::DIM),
            _ => (theme::SIGN_SET, theme::ACCENT),
        }
    };
    Shown {
        sign,
        sign_style,
        label: row.name.clone(),
        value,
        value_style,
        note,
        note_style,
    }
}

fn help(buffer: &mut Buffer, frames: Frames, model: &Model, list: &Browse) {
    let at = model.here().cursors[1]
        .at
        .min(list.rows.len().saturating_sub(1));
    let Some(index) = list.rows.get(at).copied() else {
        return;
    };
    let lines = match model.tab {
        Tab::Keys => key_help(model, &model.derived.keys[index]),
        _ => row_help(model, &model.derived.rows[index]),
    };
    put_help(buffer, frames, &lines);
}

/// The lines about a row: in a small window the one that matters most.
pub fn put_help(buffer: &mut Buffer, frames: Frames, lines: &[(String, Style)]) {
    let area = frames.help;
    let width = usize::from(area.width);
    if frames.compact {
        let urgent = lines.iter().find(|(_, s)| *s == theme::BAD);
        if let Some((text, style)) = urgent.or(lines.get(1)).or(lines.first()) {
            put(buffer, area.x, area.y, area.width, text, *style);
        }
        return;
    }
    let mut y = area.y;
    for (line, style) in lines {
        for part in text::wrap(line, width, 2) {
            if y >= area.bottom() {
                return;
            }
            put(buffer, area.x, y, area.width, &part, *style);
            y += 1;
        }
    }
}

fn row_help(model: &Model, row: &Row) -> Vec<(String, Style)> {
    let mut out = Vec::new();
    let wants = row.setting.map(catalog::Setting::needs).unwrap_or_default();
    out.push((
        format!("{}   {wants}", row.path).trim_end().to_owned(),
        theme::BOLD,
    ));
    if let Some(setting) = row.setting {
        out.push((setting.help.clone(), Style::new()));
    } else {
        out.push((
            "Hermes does not know this one; it is kept as it is.".into(),
            Style::new(),
        ));
    }
    if let Some(fault) = &row.fault {
        out.push((fault.text.clone(), theme::BAD));
    }
    if let Some(reason) = &row.locked {
        out.push((reason.clone(), theme::DIM));
    }
    let mut facts = Vec::new();
    if let Some(default) = &row.default {
        facts.push(format!("default {}", one_line(model, &row.path, default)));
    }
    if let Some(value) = &row.value {
        let text = one_line(model, &row.path, value);
        let line = row.line.map(|l| format!(" line {l}")).unwrap_or_default();
        facts.push(format!("config.yaml{line}: {text}"));
    }
    if let Some(name) = row.setting.and_then(|s| s.env.as_deref()) {
        let value = model.staged.env.as_ref().and_then(|d| d.get_load_env(name));
        facts.push(match value {
            Some(_) if row.secret => format!(".env {name} is set"),
            Some(value) => format!(".env {name}={value}"),
            None => format!("also {name} in .env"),
        });
    }
    if !facts.is_empty() {
        out.push((facts.join(" · "), theme::DIM));
    }
    if let Some(setting) = row.setting {
        let mut line = format!("takes effect {}", settings::takes_effect(setting));
        if let Some(note) = &setting.note {
            line = format!("{line} · {note}");
        }
        out.push((line, theme::DIM));
    }
    out
}

fn key_help(model: &Model, row: &KeyRow) -> Vec<(String, Style)> {
    let mut out = Vec::new();
    let mut title = row.name.clone();
    if let (Some(value), true) = (&row.value, row.secret)
        && !value.is_empty()
    {
        title = format!(
            "{title}   {}",
            text::count(value.chars().count(), "character")
        );
        if let Some(fingerprint) = &row.fingerprint {
            title = format!("{title} · fingerprint {fingerprint}");
        }
    }
    out.push((title, theme::BOLD));
    if let (Some(value), true) = (
        &row.value,
        model.is_revealed(&Target::Env(row.name.clone())),
    ) {
        out.push((value.clone(), theme::UNSAVED));
    }
    match row.info {
        Some(info) => out.push((info.help.clone(), Style::new())),
        None => out.push((
            "Hermes does not know this name; it is kept as it is.".into(),
            Style::new(),
        )),
    }
    if let Some(fault) = &row.fault {
        out.push((fault.text.clone(), theme::BAD));
    }
    if let Some(text) = &row.readers_differ {
        out.push((text.clone(), theme::BAD));
    }
    if row.duplicates > 0 {
        let lines: Vec<String> = row.lines.iter().map(ToString::to_string).collect();
        out.push((
            format!(
                "assigned on lines {}: the last one counts",
                lines.join(", ")
            ),
            theme::BAD,
        ));
    }
    if let Some(info) = row.info {
        let mut facts = Vec::new();
        if let Some(provider) = &row.provider {
            facts.push(format!("for {provider}"));
        }
        if let Some(url) = &info.url {
            facts.push(format!("get one at {url}"));
        }
        if !row.aliases.is_empty() {
            facts.push(format!("also read: {}", row.aliases.join(", ")));
        }
        if let Some(path) = &info.mirrors {
            facts.push(format!("mirrors {path}"));
        }
        if !facts.is_empty() {
            out.push((facts.join(" · "), theme::DIM));
        }
    }
    out
}
