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
