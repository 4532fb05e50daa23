//! The frame as a function of the model.
//!
//! Responsible for: the title, the tabs, the hint bar, and which view draws what.

mod browse;
mod draw;
mod floating;
mod models;
mod problems;
pub mod receipt;
mod review;
mod storage;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use self::draw::{Piece, clear, piece, pieces, put, put_right, rule};
use super::action::Tab;
use super::keymap::{self, Context};
use super::model::{Layer, Model, Status};
use super::text;
use super::theme;
use crate::edit::FileId;

/// The smallest terminal that the screen fits in.
pub const SMALLEST: (u16, u16) = (40, 10);

/// Where the regions of the screen are.
#[derive(Debug, Clone, Copy)]
pub struct Frames {
    /// One pane at a time, one line of help.
    pub compact: bool,
    /// The middle.
    pub body: Rect,
    /// The lines about the row under the cursor.
    pub help: Rect,
}

/// Draw everything.
pub fn draw(frame: &mut Frame<'_>, model: &mut Model) {
    let area = frame.area();
    model.size = (area.width, area.height);
    let cursor = draw_into(frame.buffer_mut(), area, model);
    if let Some(at) = cursor {
        frame.set_cursor_position(at);
    }
    model.theme.adapt(frame.buffer_mut());
}

fn draw_into(buffer: &mut Buffer, area: Rect, model: &mut Model) -> Option<(u16, u16)> {
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        let (width, height) = SMALLEST;
        let message = format!(
            "hermes-tui needs {width}x{height}, this is {}x{}",
            area.width, area.height
        );
        for (y, line) in text::wrap(&message, usize::from(area.width), 0)
            .iter()
            .enumerate()
        {
            let y = area.y + u16::try_from(y).unwrap_or(u16::MAX).min(area.height);
            put(buffer, area.x, y, area.width, line, theme::BOLD);
        }
        return None;
    }
    let compact = area.width < 60 || area.height < 16;
    let last = area.bottom() - 1;
    let (body_top, help_lines) = if compact {
        compact_title(buffer, area, model);
        (area.y + 2, 1)
    } else {
        title(buffer, area, model);
        tabs(buffer, area, model);
        (area.y + 3, if area.height >= 30 { 5 } else { 4 })
    };
    rule(buffer, area, body_top - 1);
    let help_top = last - help_lines;
    rule(buffer, area, help_top - 1);
    let frames = Frames {
        compact,
        body: Rect::new(area.x, body_top, area.width, help_top - 1 - body_top),
        help: Rect::new(area.x + 1, help_top, area.width - 1, help_lines),
    };
    match model.tab {
        Tab::Models => models::draw(buffer, frames, model),
        Tab::Keys | Tab::Settings => browse::draw(buffer, frames, model),
        Tab::Problems => problems::draw(buffer, frames, model),
        Tab::Storage => storage::draw(buffer, frames, model),
    }
    let mut cursor = bottom(buffer, area, model, help_lines);
    if !model.layers.is_empty() {
        let above = Rect::new(area.x, area.y, area.width, area.height - 1);
        let layers = std::mem::take(&mut model.layers);
        let mut layers: Vec<Layer> = layers;
        for layer in &mut layers {
            cursor = match layer {
                Layer::Review { plans, scroll } => {
                    *scroll = review::draw(buffer, above, model, plans, *scroll);
                    None
                }
                Layer::Receipt {
                    outcomes,
                    untried,
                    effects,
                    scroll,
                } => {
                    *scroll = receipt::draw(buffer, above, outcomes, untried, effects, *scroll);
                    None
                }
                other => floating::draw(buffer, above, model, other),
            };
        }
        model.layers = layers;
    }
    cursor
}

/// The home as people write it, with its real place behind an arrow, in at most `room` columns.
fn home_text(model: &Model, room: usize) -> String {
    let shown = model.shown_home();
    let Some(real) = model
        .session
        .real_home
        .as_ref()
        .filter(|r| **r != model.session.home.path)
    else {
        return text::fit_middle(&shown, room).into_owned();
    };
    let real = real.display().to_string();
    if text::width(&shown) + text::width(&real) + 3 <= room {
        return format!("{shown} → {real}");
    }
    // Both ends of the link matter: each gives way.
    let half = room.saturating_sub(3) / 2;
    let left = text::fit_middle(&shown, half);
    let right = text::fit_middle(&real, room.saturating_sub(text::width(&left) + 3));
    format!("{left} → {right}")
}

/// File system type and mount point of `config.yaml`, where a save would land.
fn mount_text(model: &Model) -> Option<(String, String)> {
    let target = model.storage.first()?.prediction.target.as_ref()?;
    let mount = target.mount.as_ref()?;
    Some((mount.fs_type.clone(), mount.point.display().to_string()))
}

fn unsaved_pieces(model: &Model) -> Vec<Piece<'static>> {
    let mut out = Vec::new();
    for file in [FileId::Config, FileId::Env] {
        if model.session.fault(file).is_some() {
            let text = format!("{} {} unreadable", theme::SIGN_BAD, file.name());
            out.push(piece(text, theme::BAD));
            out.push(piece(" ", theme::DIM));
        }
    }
    match model.unsaved.len() {
        0 => {}
        n => out.push(piece(
            format!("{} {n} unsaved", theme::SIGN_UNSAVED),
            theme::UNSAVED,
        )),
    }
    out
}

fn width_of(pieces: &[Piece<'_>]) -> usize {
    pieces.iter().map(|(t, _)| text::width(t)).sum()
}

fn title(buffer: &mut Buffer, area: Rect, model: &Model) {
    let mut right = Vec::new();
    if let Some((fs, point)) = mount_text(model) {
        right.push(piece(
            format!("{fs} {}", text::fit_middle(&point, 24)),
            theme::DIM,
        ));
        right.push(piece("  ", theme::DIM));
    }
    let home = &model.session.home;
    right.push(piece(home.profile.clone(), theme::ACCENT));
    if home.managed.is_some() {
        right.push(piece("  # managed", theme::DIM));
    }
    let unsaved = unsaved_pieces(model);
    if !unsaved.is_empty() {
        right.push(piece("  ", theme::DIM));
        right.extend(unsaved);
    }
    let room = usize::from(area.width).saturating_sub(width_of(&right) + 16);
    let left = vec![
        piece(" hermes-tui  ", theme::BOLD),
        piece(home_text(model, room), theme::ACCENT),
    ];
    pieces(buffer, area.x, area.y, area.width, &left);
    let width = u16::try_from(width_of(&right))
        .unwrap_or(area.width)
        .min(area.width);
    pieces(buffer, area.right() - width - 1, area.y, width + 1, &right);
}

fn tabs(buffer: &mut Buffer, area: Rect, model: &Model) {
    let mut out = vec![piece(" ", theme::DIM)];
    for tab in Tab::ALL {
        let mut label = format!("{} {}", tab.index() + 1, tab.title());
        let bad = model.derived.problems.len();
        if tab == Tab::Problems && bad > 0 {
            label = format!("{label} {bad}");
        }
        let style = if tab == model.tab {
            theme::ACCENT.patch(theme::CURSOR)
        } else {
            theme::DIM
        };
        out.push(piece(format!(" {label} "), style));
        out.push(piece(" ", theme::DIM));
    }
    pieces(buffer, area.x, area.y + 1, area.width, &out);
    let origin = format!("home: {} ", model.session.home.origin);
    let used = width_of(&out);
    if used + text::width(&origin) + 2 <= usize::from(area.width) {
        put_right(buffer, area, area.y + 1, &origin, theme::DIM);
    }
}

fn compact_title(buffer: &mut Buffer, area: Rect, model: &Model) {
    let mut right = Vec::new();
    if [FileId::Config, FileId::Env]
        .iter()
        .any(|f| model.session.fault(*f).is_some())
    {
        right.push(piece(format!("{} ", theme::SIGN_BAD), theme::BAD));
    }
    if !model.unsaved.is_empty() {
        right.push(piece(
            format!("{} {} ", theme::SIGN_UNSAVED, model.unsaved.len()),
            theme::UNSAVED,
        ));
    }
    let tab = format!("{} {}", model.tab.index() + 1, model.tab.title());
    right.push(piece(tab, theme::ACCENT.patch(theme::CURSOR)));
    let mut left = model.shown_home();
    if let Some((fs, _)) = mount_text(model) {
        left = format!("{left} {fs}");
    }
    let width = u16::try_from(width_of(&right))
        .unwrap_or(area.width)
        .min(area.width);
    let room = usize::from(area.width - width).saturating_sub(3);
    put(
        buffer,
        area.x + 1,
        area.y,
        area.width,
        &text::fit_middle(&left, room),
        theme::BOLD,
    );
    pieces(buffer, area.right() - width - 1, area.y, width + 1, &right);
}

/// The last row: a search being typed, a message, or the keys. Returns where the cursor goes.
fn bottom(buffer: &mut Buffer, area: Rect, model: &Model, help_lines: u16) -> Option<(u16, u16)> {
    let y = area.bottom() - 1;
    if model.layers.is_empty()
        && let Some(search) = &model.here().search
        && (search.typing || model.status.is_none())
    {
        let count = models::search_count(model).unwrap_or_else(|| browse::search_count(model));
        let label = " / ";
        put(buffer, area.x, y, 3, label, theme::ACCENT);
        let room = usize::from(area.width).saturating_sub(text::width(&count) + 6);
        let scroll = search.field.visual_scroll(room);
        let shown: String = search.field.value().chars().skip(scroll).collect();
        put(
            buffer,
            area.x + 3,
            y,
            u16::try_from(room).unwrap_or(0),
            &shown,
            theme::BOLD,
        );
        put_right(buffer, area, y, &format!("{count} "), theme::DIM);
        let at = search.field.visual_cursor().saturating_sub(scroll);
        return search
            .typing
            .then(|| (area.x + 3 + u16::try_from(at.min(room)).unwrap_or(0), y));
    }
    if let Some(status) = &model.status {
        put_status(buffer, area, status, help_lines);
        return None;
    }
    if !model.layers.is_empty() {
        // What floats shows its own keys.
        return None;
    }
    let width = usize::from(area.width) - 2;
    let hint = hints_on(Context::Main, Some(model.tab), width, model.theme.ascii);
    put(buffer, area.x + 1, y, area.width - 1, &hint, theme::DIM);
    None
}

/// A message; a long one takes lines of the help as well, so that nothing of it is cut.
fn put_status(buffer: &mut Buffer, area: Rect, status: &Status, help_lines: u16) {
    let (sign, style) = if status.bad {
        (theme::SIGN_BAD, theme::BAD)
    } else {
        (theme::SIGN_OK, theme::GOOD)
    };
    let width = usize::from(area.width) - 2;
    let lines = text::wrap(&format!("{sign} {}", status.text), width, 2);
    let rows = u16::try_from(lines.len())
        .unwrap_or(u16::MAX)
        .min((help_lines + 1).max(4));
    let top = area.bottom() - rows;
    clear(buffer, Rect::new(area.x, top, area.width, rows));
    for (y, line) in (top..area.bottom()).zip(&lines) {
        put(buffer, area.x + 1, y, area.width - 1, line, style);
    }
}

/// The keys of a context as one line of at most `width` columns: as many as fit, in table order.
pub fn hints(context: Context, width: usize, ascii: bool) -> String {
    hints_on(context, None, width, ascii)
}

fn hints_on(context: Context, tab: Option<Tab>, width: usize, ascii: bool) -> String {
    let mut out = String::new();
    for binding in keymap::bindings(context) {
        let hint = tab.map_or(binding.hint, |tab| keymap::hint_on(binding, tab));
        if hint.is_empty() {
            continue;
        }
        // Two signs would not survive in ASCII; their names do.
        let hint = if ascii {
            hint.replace('⏎', "Enter").replace("↑↓", "j/k")
        } else {
            hint.to_owned()
        };
        let gap = if out.is_empty() { 0 } else { 2 };
        if text::width(&out) + gap + text::width(&hint) <= width {
            out.push_str(&"  "[..gap]);
            out.push_str(&hint);
        }
    }
    out
}
