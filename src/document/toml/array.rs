//! Elements of arrays and inline tables: commas, lines and comments around them.
//!
//! Responsible for: splices inside one pair of brackets. Not responsible for: headers and
//! statements (`section`).

use std::ops::Range;

use super::read::{line_end, line_start};
use super::{Kind, Member, Node};
use crate::document::Splice;
use crate::document::json::take_out;

/// Spans of the elements; `None` where keys with dots make them overlap.
pub(super) fn children(node: &Node) -> Option<Vec<Range<usize>>> {
    match &node.kind {
        Kind::Array(items) => Some(items.iter().map(|n| n.span.clone()).collect()),
        Kind::Table(_, members) => members.iter().map(member_span).collect(),
        _ => Some(Vec::new()),
    }
}

fn member_span(member: &Member) -> Option<Range<usize>> {
    let plain = !matches!(member.value.kind, Kind::Table(super::Form::Implied, _));
    plain.then_some(member.key_span.start..member.value.span.end)
}

/// End of the last value in an inline table, whatever dots its keys have.
fn last_value_end(node: &Node) -> Option<usize> {
    match &node.kind {
        Kind::Table(super::Form::Implied | super::Form::Inline, members) => members
            .iter()
            .filter_map(|m| match &m.value.kind {
                Kind::Table(super::Form::Implied, _) => last_value_end(&m.value),
                _ => Some(m.value.span.end),
            })
            .max(),
        _ => None,
    }
}

/// Add `key = value` at the end of an inline table.
pub(super) fn add_pair(bytes: &[u8], table: &Node, pair: &str) -> Option<Vec<Splice>> {
    if let Some(spans) = children(table) {
        return add(bytes, table, spans.len(), pair);
    }
    let end = last_value_end(table)?;
    let after = comma_after(bytes, end, table.span.end - 1).map_or(end, |comma| comma + 1);
    let text = if after > end {
        format!(" {pair},")
    } else {
        format!(", {pair}")
    };
    Some(vec![Splice {
        span: after..after,
        text: text.into_bytes(),
    }])
}

/// Add an element before the one at `at`.
pub(super) fn add(bytes: &[u8], node: &Node, at: usize, text: &str) -> Option<Vec<Splice>> {
    let spans = children(node)?;
    let one = |at: usize, text: String| Splice {
        span: at..at,
        text: text.into_bytes(),
    };
    let inner = node.span.start + 1..node.span.end - 1;
    let Some(last) = spans.last() else {
        let padded = if bytes[node.span.start] == b'{' {
            format!(" {text} ")
        } else {
            text.to_owned()
        };
        // Comments in an empty array stay in front.
        let (at, text) = if bytes[inner.clone()].contains(&b'\n') {
            let eol = eol(bytes);
            (line_start(bytes, inner.end), format!("  {text},{eol}"))
        } else {
            return Some(vec![Splice {
                span: inner,
                text: padded.into_bytes(),
            }]);
        };
        return Some(vec![one(at, text)]);
    };
    let first = spans.first()?;
    let own_line = bytes[inner.start..first.start].contains(&b'\n');
    let indent = String::from_utf8_lossy(&bytes[line_start(bytes, first.start)..first.start]);
    let indent = indent
        .trim_end_matches(|c: char| !c.is_whitespace())
        .to_owned();
    if let Some(next) = spans.get(at) {
        let gap = if own_line {
            format!("{}{indent}", eol(bytes))
        } else {
            " ".to_owned()
        };
        return Some(vec![one(next.start, format!("{text},{gap}"))]);
    }
    let comma = comma_after(bytes, last.end, inner.end);
    if !own_line {
        return Some(vec![match comma {
            Some(comma) => one(comma + 1, format!(" {text},")),
            None => one(last.end, format!(", {text}")),
        }]);
    }
    // Below the line of the last element, so that a comment behind it stays with it.
    let end = line_end(bytes, comma.unwrap_or(last.end)).min(line_start(bytes, inner.end));
    let end = end.max(comma.map_or(last.end, |c| c + 1));
    let mut out = Vec::new();
    if comma.is_none() {
        out.push(one(last.end, ",".to_owned()));
    }
    let tail = if comma.is_some() { "," } else { "" };
    if bytes[..end].ends_with(b"\n") {
        out.push(one(end, format!("{indent}{text}{tail}{}", eol(bytes))));
    } else {
        out.push(one(end, format!("{}{indent}{text}{tail}", eol(bytes))));
    }
    Some(out)
}

/// Take one element out, with its line and the comment on it when it has the line to itself.
pub(super) fn remove(bytes: &[u8], node: &Node, at: usize) -> Option<Vec<Splice>> {
    let spans = children(node)?;
    let span = spans.get(at)?;
    let inner = node.span.start + 1..node.span.end - 1;
    if bytes[node.span.start] == b'[' {
        let comma = comma_after(bytes, span.end, inner.end);
        let start = line_start(bytes, span.start);
        let end = line_end(bytes, comma.unwrap_or(span.end));
        let rest = bytes[comma.map_or(span.end, |c| c + 1)..end].trim_ascii();
        let alone = bytes[start..span.start].trim_ascii().is_empty()
            && start >= inner.start
            && end <= inner.end
            && (rest.is_empty() || rest.starts_with(b"#"));
        if alone {
            return Some(vec![Splice {
                span: start..end,
                text: Vec::new(),
            }]);
        }
    }
    let gone: Vec<bool> = (0..spans.len()).map(|n| n == at).collect();
    Some(take_out(&spans, &gone, inner))
}

/// Move an element: texts change places, commas and comments stay.
pub(super) fn shift(bytes: &[u8], node: &Node, from: usize, to: usize) -> Option<Vec<Splice>> {
    let spans = children(node)?;
    let mut order: Vec<usize> = (0..spans.len()).collect();
    let item = order.remove(from);
    order.insert(to, item);
    let moved = order.iter().enumerate().filter(|(n, source)| n != *source);
    Some(
        moved
            .map(|(n, source)| Splice {
                span: spans[n].clone(),
                text: bytes[spans[*source].clone()].to_vec(),
            })
            .collect(),
    )
}

/// The comma behind an element, over blanks, line ends and comments.
fn comma_after(bytes: &[u8], mut at: usize, limit: usize) -> Option<usize> {
    while at < limit {
        match bytes[at] {
            b',' => return Some(at),
            b'#' => at = line_end(bytes, at),
            b' ' | b'\t' | b'\r' | b'\n' => at += 1,
            _ => return None,
        }
    }
    None
}

/// The line end that the file uses.
pub(super) fn eol(bytes: &[u8]) -> &'static str {
    let first = bytes.iter().position(|b| *b == b'\n');
    match first {
        Some(at) if at > 0 && bytes[at - 1] == b'\r' => "\r\n",
        _ => "\n",
    }
}
