//! Byte splices: the only way a document changes.

use std::ops::Range;

/// Replace `span` of the old bytes by `text`. An insertion has an empty span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Splice {
    /// Byte range in the old text.
    pub span: Range<usize>,
    /// Bytes that take its place.
    pub text: Vec<u8>,
}

/// A change that has been applied and proved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The whole new text. Equal to the old one when nothing had to change.
    pub bytes: Vec<u8>,
    /// The splices that lead there, ascending and not overlapping; empty when nothing changed.
    pub splices: Vec<Splice>,
    /// What the user should know about the change (a comment that moved, a duplicate left alone).
    /// Never contains a secret.
    pub notes: Vec<String>,
}

/// Apply ascending, non-overlapping splices. Returns `None` when they are not, or lie outside.
pub fn apply(old: &[u8], splices: &[Splice]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(old.len());
    let mut at = 0;
    for splice in splices {
        let Range { start, end } = splice.span;
        if start < at || end < start || end > old.len() {
            return None;
        }
        out.extend_from_slice(&old[at..start]);
        out.extend_from_slice(&splice.text);
        at = end;
    }
    out.extend_from_slice(&old[at..]);
    Some(out)
}

/// The splices that undo `splices`: applied to the new text they give back `old`.
pub fn inverse(old: &[u8], splices: &[Splice]) -> Vec<Splice> {
    let mut grown: isize = 0;
    splices
        .iter()
        .map(|splice| {
            let start = splice.span.start.saturating_add_signed(grown);
            grown += splice.text.len().cast_signed() - splice.span.len().cast_signed();
            Splice {
                span: start..start + splice.text.len(),
                text: old[splice.span.clone()].to_vec(),
            }
        })
        .collect()
}

/// One list of splices that does what `first` and then `second` do, where `second` counts in the
/// text that `first` makes.
pub fn compose(first: &[Splice], second: &[Splice]) -> Vec<Splice> {
    let mut old: Vec<Splice> = first.to_vec();
    for (done, splice) in second.iter().enumerate() {
        // Offsets of `second` are in the text before any of its splices; those already taken
        // over have moved everything behind them.
        let moved: isize = second[..done]
            .iter()
            .map(|s| s.text.len().cast_signed() - s.span.len().cast_signed())
            .sum();
        let start = splice.span.start.saturating_add_signed(moved);
        old = put(&old, start..start + splice.span.len(), &splice.text);
    }
    old
}

/// Take one more splice into `earlier`; `span` counts in the text that those make.
fn put(earlier: &[Splice], span: Range<usize>, text: &[u8]) -> Vec<Splice> {
    let mut out: Vec<Splice> = Vec::new();
    let mut merged = Splice {
        span: 0..0,
        text: Vec::new(),
    };
    // How far the made text is ahead of the old one before the splice at hand.
    let mut shift: isize = 0;
    let mut shift_before: isize = 0;
    let mut shift_behind: isize = 0;
    let mut covered: Vec<(Range<usize>, &Splice)> = Vec::new();
    let mut behind: Vec<Splice> = Vec::new();
    for splice in earlier {
        let made_start = splice.span.start.saturating_add_signed(shift);
        let made = made_start..made_start + splice.text.len();
        let step = splice.text.len().cast_signed() - splice.span.len().cast_signed();
        shift += step;
        if made.end < span.start {
            out.push(splice.clone());
            shift_before = shift;
            shift_behind = shift;
        } else if made.start > span.end {
            behind.push(splice.clone());
        } else {
            covered.push((made, splice));
            shift_behind = shift;
        }
    }
    let unmake = |p: usize, shift: isize| p.saturating_add_signed(-shift);
    let start = match covered.first() {
        Some((made, first)) if made.start <= span.start => {
            merged
                .text
                .extend_from_slice(&first.text[..span.start - made.start]);
            first.span.start
        }
        _ => unmake(span.start, shift_before),
    };
    merged.text.extend_from_slice(text);
    let end = match covered.last() {
        Some((made, last)) if made.end >= span.end => {
            merged
                .text
                .extend_from_slice(&last.text[span.end - made.start..]);
            last.span.end
        }
        _ => unmake(span.end, shift_behind),
    };
    merged.span = start..end;
    out.push(merged);
    out.extend(behind);
    out
}

/// The same splices without what they leave as it was: equal bytes at either end of a splice,
/// and splices that change nothing. Characters are never cut in two.
pub fn trimmed(old: &[u8], splices: Vec<Splice>) -> Vec<Splice> {
    let starts_char = |bytes: &[u8], at: usize| bytes.get(at).is_none_or(|b| b & 0xC0 != 0x80);
    let mut out = Vec::new();
    for splice in splices {
        let was = &old[splice.span.clone()];
        if was == splice.text {
            continue;
        }
        let same = |a: &mut dyn Iterator<Item = (&u8, &u8)>| a.take_while(|(x, y)| x == y).count();
        let mut head = same(&mut was.iter().zip(&splice.text));
        while !starts_char(was, head) || !starts_char(&splice.text, head) {
            head -= 1;
        }
        let (a, b) = (&was[head..], &splice.text[head..]);
        let mut tail = same(&mut a.iter().rev().zip(b.iter().rev()));
        while !starts_char(a, a.len() - tail) || !starts_char(b, b.len() - tail) {
            tail -= 1;
        }
        out.push(Splice {
            span: splice.span.start + head..splice.span.end - tail,
            text: b[..b.len() - tail].to_vec(),
        });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splices_replace_insert_and_refuse_overlap() {
        let s = |r: Range<usize>, t: &str| Splice {
            span: r,
            text: t.into(),
        };
        assert_eq!(
            apply(b"abcdef", &[s(1..2, "X"), s(4..4, "__")]).unwrap(),
            b"aXcd__ef"
        );
        assert_eq!(apply(b"abc", &[s(1..3, ""), s(2..3, "")]), None);
        assert_eq!(apply(b"abc", &[s(2..9, "")]), None);
    }
}
