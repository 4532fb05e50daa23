//! Putting text into cells.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::super::text;
use super::super::theme;

/// A piece of text with its style.
pub type Piece<'a> = (std::borrow::Cow<'a, str>, Style);

/// A piece of text with a style.
pub fn piece<'a>(text: impl Into<std::borrow::Cow<'a, str>>, style: Style) -> Piece<'a> {
    (text.into(), style)
}

/// Text in one row, cut to `width` columns. Control characters are shown as signs.
pub fn put(buffer: &mut Buffer, x: u16, y: u16, width: u16, content: &str, style: Style) {
    if y >= buffer.area.bottom() || x >= buffer.area.right() || width == 0 {
        return;
    }
    let width = width.min(buffer.area.right() - x);
    let shown = crate::plan::visible(content);
    buffer.set_string(x, y, text::fit(&shown, usize::from(width)), style);
}

/// Pieces one after the other in one row; what does not fit is cut.
pub fn pieces(buffer: &mut Buffer, x: u16, y: u16, width: u16, pieces: &[Piece<'_>]) {
    let mut at = x;
    let end = x.saturating_add(width);
    for (content, style) in pieces {
        if at >= end {
            break;
        }
        put(buffer, at, y, end - at, content, *style);
        let shown = crate::plan::visible(content);
        at = at.saturating_add(u16::try_from(text::width(&shown)).unwrap_or(u16::MAX));
    }
}

/// Text that ends at the right edge of `area`'s row `y`.
pub fn put_right(buffer: &mut Buffer, area: Rect, y: u16, content: &str, style: Style) {
    let width = u16::try_from(text::width(content))
        .unwrap_or(u16::MAX)
        .min(area.width);
    put(buffer, area.right() - width, y, width, content, style);
}

/// Make a part of the screen blank.
pub fn clear(buffer: &mut Buffer, area: Rect) {
    let area = area.intersection(buffer.area);
    for y in area.y..area.bottom() {
        for x in area.x..area.right() {
            if let Some(cell) = buffer.cell_mut((x, y)) {
                cell.reset();
            }
        }
    }
}

/// A rule across `area` at row `y`.
pub fn rule(buffer: &mut Buffer, area: Rect, y: u16) {
    put(
        buffer,
        area.x,
        y,
        area.width,
        &"─".repeat(usize::from(area.width)),
        theme::DIM,
    );
}

/// A style for a whole row.
pub fn row_style(buffer: &mut Buffer, x: u16, y: u16, width: u16, style: Style) {
    buffer.set_style(Rect::new(x, y, width, 1).intersection(buffer.area), style);
}

/// A box with a title above and the keys below. Clears what is under it; returns the inside.
pub fn boxed(buffer: &mut Buffer, area: Rect, title: &str, hint: &str) -> Rect {
    let area = area.intersection(buffer.area);
    if area.width < 4 || area.height < 3 {
        return Rect::new(area.x, area.y, 0, 0);
    }
    clear(buffer, area);
    let inner = usize::from(area.width - 2);
    let bar = "─".repeat(inner);
    put(
        buffer,
        area.x,
        area.y,
        area.width,
        &format!("┌{bar}┐"),
        theme::DIM,
    );
    put(
        buffer,
        area.x,
        area.bottom() - 1,
        area.width,
        &format!("└{bar}┘"),
        theme::DIM,
    );
    for y in area.y + 1..area.bottom() - 1 {
        put(buffer, area.x, y, 1, "│", theme::DIM);
        put(buffer, area.right() - 1, y, 1, "│", theme::DIM);
    }
    let title = text::fit(title, inner.saturating_sub(4)).into_owned();
    put(
        buffer,
        area.x + 1,
        area.y,
        area.width - 2,
        &format!(" {title} "),
        theme::BOLD,
    );
    if !hint.is_empty() {
        let hint = format!(" {} ", text::fit(hint, inner.saturating_sub(3)));
        let right = Rect::new(area.x + 1, area.y, area.width - 3, 1);
        put_right(buffer, right, area.bottom() - 1, &hint, theme::DIM);
    }
    Rect::new(area.x + 1, area.y + 1, area.width - 2, area.height - 2)
}

/// A rectangle of at most this size in the middle of `area`.
pub fn centered(area: Rect, width: u16, height: u16) -> Rect {
    let width = width.min(area.width);
    let height = height.min(area.height);
    Rect::new(
        area.x + (area.width - width) / 2,
        area.y + (area.height - height) / 2,
        width,
        height,
    )
}

/// A line with pieces, for pages of text.
pub type Line = Vec<Piece<'static>>;

/// Draw lines from `scroll` on; marks at the right edge say that there is more. Returns the scroll
/// that was possible.
pub fn lines(buffer: &mut Buffer, area: Rect, lines: &[Line], scroll: usize) -> usize {
    let height = usize::from(area.height);
    let scroll = scroll.min(lines.len().saturating_sub(height));
    for (y, line) in (area.y..area.bottom()).zip(lines.iter().skip(scroll)) {
        pieces(buffer, area.x, y, area.width, line);
    }
    if scroll > 0 {
        put_right(buffer, area, area.y, "↑", theme::ACCENT);
    }
    if scroll + height < lines.len() && area.height > 0 {
        put_right(buffer, area, area.bottom() - 1, "↓", theme::ACCENT);
    }
    scroll
}
