//! Several rounds of splices as one.
//!
//! Responsible for: turning splices that each count from the text before them into splices that
//! all count from the first text. Not responsible for: making or proving them.

use std::ops::Range;

use crate::document::{Edited, Splice};

enum Piece {
    Old(Range<usize>),
    New(Vec<u8>),
}

impl Piece {
    fn len(&self) -> usize {
        match self {
            Self::Old(range) => range.len(),
            Self::New(bytes) => bytes.len(),
        }
    }

    /// Cut at `at`, which lies inside.
    fn split(self, at: usize) -> (Self, Self) {
        match self {
            Self::Old(range) => {
                let middle = range.start + at;
                (Self::Old(range.start..middle), Self::Old(middle..range.end))
            }
            Self::New(mut bytes) => {
                let rest = bytes.split_off(at);
                (Self::New(bytes), Self::New(rest))
            }
        }
    }
}

/// A text described by where its bytes come from.
pub(in crate::document) struct Pieces {
    pieces: Vec<Piece>,
    old_len: usize,
}

impl Pieces {
    /// The untouched text.
    pub fn new(old_len: usize) -> Self {
        Self {
            pieces: vec![Piece::Old(0..old_len)],
            old_len,
        }
    }

    /// Apply ascending splices that count from the text as it stands now.
    pub fn apply(&mut self, splices: &[Splice]) {
        let mut out: Vec<Piece> = Vec::new();
        let mut input = std::mem::take(&mut self.pieces).into_iter();
        let mut carry: Option<Piece> = None;
        let mut at = 0;
        for splice in splices {
            take(&mut input, &mut carry, splice.span.start - at, &mut |p| {
                out.push(p);
            });
            out.push(Piece::New(splice.text.clone()));
            take(&mut input, &mut carry, splice.span.len(), &mut drop);
            at = splice.span.end;
        }
        out.extend(carry);
        out.extend(input);
        out.retain(|p| p.len() > 0);
        self.pieces = out;
    }

    /// The result of all rounds: no splices when the text is what it was.
    pub fn edited(&self, old: &[u8], bytes: Vec<u8>, notes: Vec<String>) -> Edited {
        let splices = if bytes == old {
            Vec::new()
        } else {
            self.splices()
        };
        Edited {
            bytes,
            splices,
            notes,
        }
    }

    /// The splices from the first text to this one.
    pub fn splices(&self) -> Vec<Splice> {
        let mut out: Vec<Splice> = Vec::new();
        let mut at = 0;
        let mut pending: Vec<u8> = Vec::new();
        for piece in &self.pieces {
            match piece {
                Piece::New(bytes) => pending.extend_from_slice(bytes),
                Piece::Old(range) => {
                    flush(&mut out, at..range.start, &mut pending);
                    at = range.end;
                }
            }
        }
        flush(&mut out, at..self.old_len, &mut pending);
        out
    }
}

fn flush(out: &mut Vec<Splice>, span: Range<usize>, pending: &mut Vec<u8>) {
    if !span.is_empty() || !pending.is_empty() {
        out.push(Splice {
            span,
            text: std::mem::take(pending),
        });
    }
}

/// Hand over the next `len` bytes of the input.
fn take(
    input: &mut std::vec::IntoIter<Piece>,
    carry: &mut Option<Piece>,
    mut len: usize,
    give: &mut dyn FnMut(Piece),
) {
    while len > 0 {
        let Some(piece) = carry.take().or_else(|| input.next()) else {
            return;
        };
        if piece.len() <= len {
            len -= piece.len();
            give(piece);
        } else {
            let (head, tail) = piece.split(len);
            give(head);
            *carry = Some(tail);
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::apply;

    #[test]
    fn rounds_of_splices_compose() {
        let s = |span: Range<usize>, text: &str| Splice {
            span,
            text: text.into(),
        };
        let rounds = [
            vec![s(1..2, "XYZ"), s(4..4, "__")],
            vec![s(0..3, ""), s(6..7, "q")],
            vec![s(2..2, "end")],
        ];
        let old = b"abcdef".to_vec();
        let mut text = old.clone();
        let mut pieces = Pieces::new(old.len());
        for round in &rounds {
            text = apply(&text, round).unwrap();
            pieces.apply(round);
        }
        assert_eq!(apply(&old, &pieces.splices()).unwrap(), text);
    }
}
