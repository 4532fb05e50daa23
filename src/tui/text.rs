//! Measuring and cutting text in terminal columns.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// `1 change`, `3 changes`.
pub fn count(n: usize, what: &str) -> String {
    if n == 1 {
        format!("1 {what}")
    } else {
        format!("{n} {what}s")
    }
}

/// Columns that a text takes.
pub fn width(text: &str) -> usize {
    text.graphemes(true).map(UnicodeWidthStr::width).sum()
}

/// The text, cut to `columns` with `…` at the end when it is longer.
pub fn fit(text: &str, columns: usize) -> Cow<'_, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    if columns == 0 {
        return Cow::Borrowed("");
    }
    let mut out = String::new();
    let mut used = 0;
    for grapheme in text.graphemes(true) {
        let w = grapheme.width();
        if used + w > columns - 1 {
            break;
        }
        used += w;
        out.push_str(grapheme);
    }
    out.push('…');
    Cow::Owned(out)
}

/// Like [`fit`], but the middle goes: for paths, where both ends tell something.
pub fn fit_middle(text: &str, columns: usize) -> Cow<'_, str> {
    if width(text) <= columns || columns < 5 {
        return fit(text, columns);
    }
    let graphemes: Vec<&str> = text.graphemes(true).collect();
    let head = (columns - 1) / 3;
    let (mut left, mut used) = (String::new(), 0);
    for g in &graphemes {
        if used + g.width() > head {
            break;
        }
        used += g.width();
        left.push_str(g);
    }
    let mut right = Vec::new();
    for g in graphemes.iter().rev() {
        if used + g.width() > columns - 1 {
            break;
        }
        used += g.width();
        right.push(*g);
    }
    right.reverse();
    Cow::Owned(format!("{left}…{}", right.concat()))
}

/// The text padded with blanks to exactly `columns`.
pub fn pad(text: &str, columns: usize) -> String {
    let text = fit(text, columns);
    let blanks = columns.saturating_sub(width(&text));
    format!("{text}{}", " ".repeat(blanks))
}

/// Break a text into lines of at most `columns`, at blanks where there are any. Blanks inside a
/// line stay as they are; lines after the first are indented by `hanging` columns.
pub fn wrap(text: &str, columns: usize, hanging: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut out: Vec<String> = Vec::new();
    for paragraph in text.split('\n') {
        let indent = paragraph.len() - paragraph.trim_start_matches(' ').len();
        let indent = indent.min(columns / 2);
        let below = if indent + hanging + 8 > columns {
            indent
        } else {
            indent + hanging
        };
        let mut line = " ".repeat(indent);
        let mut empty = true;
        let mut rest = paragraph.trim_start_matches(' ');
        while !rest.is_empty() {
            let blanks = rest.len() - rest.trim_start_matches(' ').len();
            let (gap, tail) = rest.split_at(blanks);
            let end = tail.find(' ').unwrap_or(tail.len());
            let word = &tail[..end];
            let gap = if empty { "" } else { gap };
            if width(&line) + gap.len() + width(word) <= columns {
                line.push_str(gap);
                line.push_str(word);
                empty = false;
                rest = &tail[end..];
            } else if empty {
                // A word longer than the line is cut where the line ends.
                let cut = cut_at(word, columns.saturating_sub(width(&line)).max(1));
                line.push_str(&word[..cut]);
                rest = &tail[cut..];
                if !rest.is_empty() {
                    out.push(std::mem::replace(&mut line, " ".repeat(below)));
                }
            } else {
                rest = tail;
                out.push(std::mem::replace(&mut line, " ".repeat(below)));
                empty = true;
            }
        }
        out.push(line);
    }
    out
}

/// A text in pieces of at most `columns`, cut where the columns end; nothing is added or left out.
pub fn cut(text: &str, columns: usize) -> Vec<String> {
    let mut out = Vec::new();
    let mut rest = text;
    while width(rest) > columns {
        let at = cut_at(rest, columns);
        out.push(rest[..at].to_owned());
        rest = &rest[at..];
    }
    out.push(rest.to_owned());
    out
}

/// The byte at which the first `columns` columns of a text end; at least one grapheme.
fn cut_at(text: &str, columns: usize) -> usize {
    let mut used = 0;
    for (at, g) in text.grapheme_indices(true) {
        used += g.width();
        if used > columns && at > 0 {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_and_combining_characters_are_cut_by_columns() {
        assert_eq!(fit("日本語テキスト", 6), "日本…");
        assert_eq!(width("e\u{301}a"), 2);
        assert_eq!(pad("ab", 4), "ab  ");
        assert_eq!(
            fit_middle("/srv/mira/data/hermes/config.yaml", 20),
            "/srv/m…s/config.yaml"
        );
    }

    #[test]
    fn wrapping_never_exceeds_the_width_and_loses_no_word() {
        let text = "one two  three verylongwordwithoutblanks four";
        for columns in 3..30 {
            let lines = wrap(text, columns, 2);
            assert!(
                lines.iter().all(|l| width(l) <= columns),
                "{columns}: {lines:?}"
            );
            let joined: String = lines.concat().replace(' ', "");
            assert_eq!(joined, text.replace(' ', ""));
        }
    }
}
