//! The layout of nodes: where they really end, their indicators, their comments.
//!
//! Responsible for: turning the parser's marks into byte ranges that a splice can use. Not
//! responsible for: deciding what to splice ([`super::edit`]).

use super::text::{
    break_before, break_len, column, first_on_line, is_blank, line_end, line_start, next_line,
    skip_blanks, skip_space, soft_break_before,
};
use super::tree::{Shape, Tree};
use std::ops::Range;

/// One entry of a mapping, or one element of a list, in bytes of the file.
#[derive(Debug, Clone)]
pub(super) struct Item {
    /// Key node of a mapping entry.
    pub key: Option<u32>,
    /// Value node, or the element.
    pub value: u32,
    /// Where it starts: at the `?` or key, the `-`, or the element of a flow list.
    pub start: usize,
    /// Just behind the `:` or `-`; none when the entry has no `:` (`? a`, `{a}`), or for the
    /// elements of flow lists.
    pub indicator: Option<usize>,
    /// Just behind its last character (layout blanks of block scalars not counted).
    pub end: usize,
    /// End of the entry or element before it; nothing above that belongs to this one. 0 for the
    /// first.
    pub floor: usize,
}

impl Tree {
    fn at(&self, p: usize) -> Option<u8> {
        self.text.as_bytes().get(p).copied()
    }

    /// Whether a flow collection has its brackets. An entry of a flow list (`[a: 1]`) is a
    /// mapping without any.
    pub(super) fn bracketed(&self, i: u32) -> bool {
        self.node(i).flow() && matches!(self.at(self.content_start(i)), Some(b'[' | b'{'))
    }

    /// Just behind the last character that belongs to the node.
    pub(super) fn true_end(&self, i: u32) -> usize {
        let mut i = i;
        loop {
            let node = self.node(i);
            if !node.is_collection() {
                return if node.is_block_scalar() {
                    self.block_scalar_end(i)
                } else {
                    node.end as usize
                };
            }
            if self.bracketed(i) {
                return node.end as usize;
            }
            let last = match node.shape {
                Shape::Mapping => self.entries(i).last(),
                _ => self.children(i).last().map(|c| (c, c)),
            };
            match last {
                None => return self.content_start(i),
                Some((k, v)) if self.node(v).is_absent() => {
                    return match self.node(i).shape {
                        // The mark of an absent element is just behind its dash.
                        Shape::Sequence => self.node(v).start as usize,
                        _ => self
                            .colon(k, node.flow())
                            .unwrap_or_else(|| self.true_end(k)),
                    };
                }
                Some((_, v)) => i = v,
            }
        }
    }

    /// Without the line breaks and blanks below a block scalar, unless `+` makes them its own.
    fn block_scalar_end(&self, i: u32) -> usize {
        let node = self.node(i);
        let start = self.content_start(i);
        let end = node.end as usize;
        let header = &self.text[start..end.max(start)];
        let keeps = header
            .bytes()
            .take_while(|b| matches!(b, b'|' | b'>' | b'+' | b'-' | b'0'..=b'9'))
            .any(|b| b == b'+');
        if keeps {
            return end;
        }
        start
            + header
                .trim_end_matches([' ', '\t', '\r', '\n', '\u{85}', '\u{2028}', '\u{2029}'])
                .len()
    }

    /// Whether the last value in the node is a block scalar that a line break at the end of the
    /// file would change.
    pub(super) fn ends_in_open_text(&self, i: u32) -> bool {
        let last = self.node(i).next - 1;
        let header = &self.text[self.content_start(last)..];
        self.node(last).is_block_scalar()
            && !self.scalar(last).is_empty()
            && !header
                .bytes()
                .take_while(|b| matches!(b, b'|' | b'>' | b'+' | b'-' | b'0'..=b'9'))
                .any(|b| b == b'-')
    }

    /// Just behind the `:` that follows key `k`.
    pub(super) fn colon(&self, k: u32, flow: bool) -> Option<usize> {
        let p = skip_space(&self.text, self.true_end(k));
        let is_colon = self.at(p) == Some(b':')
            && (flow
                || p + 1 == self.text.len()
                || self.at(p + 1).is_some_and(is_blank)
                || break_len(&self.text, p + 1) > 0);
        is_colon.then_some(p + 1)
    }

    /// The entries or elements of a collection, in file order, with their layout.
    pub(super) fn items(&self, i: u32) -> Vec<Item> {
        let node = self.node(i);
        let flow = node.flow();
        let mut out: Vec<Item> = Vec::new();
        let mut from = self.content_start(i) + usize::from(self.bracketed(i));
        if node.shape == Shape::Mapping {
            for (k, v) in self.entries(i) {
                let key_start = self.node(k).start as usize;
                let indicator = self.colon(k, flow);
                let end = if self.node(v).is_absent() {
                    indicator.unwrap_or_else(|| self.true_end(k))
                } else {
                    self.true_end(v)
                };
                out.push(Item {
                    key: Some(k),
                    value: v,
                    start: self.question_mark(key_start, from).unwrap_or(key_start),
                    indicator,
                    end,
                    floor: out.last().map_or(0, |before| before.end),
                });
                from = end;
            }
        } else {
            for v in self.children(i) {
                let (start, indicator) = if flow {
                    (self.node(v).start as usize, None)
                } else {
                    let dash = skip_space(&self.text, from);
                    (dash, Some(dash + 1))
                };
                let end = match indicator {
                    Some(p) if self.node(v).is_absent() => p,
                    _ => self.true_end(v),
                };
                // A pair in a flow list may start with `? `.
                let start = if flow && self.node(v).shape == Shape::Mapping {
                    self.question_mark(start, from).unwrap_or(start)
                } else {
                    start
                };
                out.push(Item {
                    key: None,
                    value: v,
                    start,
                    indicator,
                    end,
                    floor: out.last().map_or(0, |before| before.end),
                });
                from = end;
            }
        }
        out
    }

    /// The `?` in front of a key that starts at `key`, when there is one behind `from`, the end
    /// of what stands before the entry.
    fn question_mark(&self, key: usize, from: usize) -> Option<usize> {
        let mut p = skip_space(&self.text, from);
        if self.at(p) == Some(b',') {
            p = skip_space(&self.text, p + 1);
        }
        let apart =
            p < key && (self.at(p + 1).is_some_and(is_blank) || break_len(&self.text, p + 1) > 0);
        (apart && self.at(p) == Some(b'?')).then_some(p)
    }

    /// Column of the keys or dashes of a block collection.
    pub(super) fn column_of(&self, i: u32) -> usize {
        let items_start = match self.node(i).shape {
            Shape::Mapping => self.entries(i).next().map(|(k, _)| {
                let key = self.node(k).start as usize;
                let from = self.content_start(i);
                if from < key { from } else { key }
            }),
            _ => Some(self.content_start(i)),
        };
        column(&self.text, items_start.unwrap_or(0))
    }

    /// The lines of an entry or element: comments glued to it from above in its column, its own
    /// lines, and the deeper comments below. Ends behind the line break.
    ///
    /// `None` when something else shares its first line (`- a: 1`).
    pub(super) fn lines_of(&self, item: &Item) -> Option<Range<usize>> {
        let t = &self.text;
        if !first_on_line(t, item.start) {
            return None;
        }
        let own = column(t, item.start);
        let start = self.glued_above(item);
        Some(start..self.below(item.end, own).1)
    }

    /// Start of the comment lines that stand directly above an entry or element in its column;
    /// the start of its line when there are none.
    pub(super) fn glued_above(&self, item: &Item) -> usize {
        let t = &self.text;
        let own = column(t, item.start);
        let mut start = line_start(t, item.start);
        while start > 0 && break_before(t, start) > 0 {
            let above = line_start(t, start - break_before(t, start));
            let p = skip_blanks(t, above);
            // Behind a NEL, LS or PS a comment looks like part of the line before.
            let alone = !soft_break_before(t, above);
            if above < item.floor {
                break;
            }
            if alone && self.at(p) == Some(b'#') && column(t, p) == own {
                start = above;
            } else {
                break;
            }
        }
        start
    }

    /// End of what belongs to an entry that ends at `end`: its last line and the comments below
    /// that are deeper than `own`, blank lines between them included. Returns the end of the last
    /// such line without and with its break.
    pub(super) fn below(&self, end: usize, own: usize) -> (usize, usize) {
        let t = &self.text;
        let (mut last, mut p) = if end > 0 && break_before(t, end) > 0 && !self.same_line(end) {
            // A `+` block scalar ends behind its last line break.
            (end, end)
        } else {
            (line_end(t, end), next_line(t, end))
        };
        let mut behind = p;
        while p < t.len() {
            let q = skip_blanks(t, p);
            let comment = self.at(q) == Some(b'#');
            let deeper = comment && (column(t, q) > own || soft_break_before(t, p));
            let blank = break_len(t, q) > 0;
            if !deeper && !blank {
                break;
            }
            let next = next_line(t, q);
            if deeper {
                last = line_end(t, q);
                behind = next;
            }
            p = next;
        }
        (last, behind)
    }

    /// Whether the text before `p` on its line is not empty.
    fn same_line(&self, p: usize) -> bool {
        line_start(&self.text, p) < p
    }

    /// Every node of the subtree at `i`, itself included.
    pub(super) fn subtree(&self, i: u32) -> Range<u32> {
        i..self.node(i).next
    }
}
