//! The node tree of one document: a flat array in file order, 20 bytes for a node.
//!
//! Responsible for: the array's shape, and giving a node's kind, span, type and text. Not
//! responsible for: building it ([`super::build`]), values ([`super::read`]) or layout
//! ([`super::shape`]).
//!
//! A collection is followed by its children, a mapping by key, value, key, value; `next` skips a
//! node with everything below it. Nothing is decoded until asked for, except scalars whose value
//! is not simply a piece of the text (escapes, folding, block scalars).

use super::event::Style;
use super::text;
use super::typing::Tag;
use std::ops::Range;

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Scalar,
    Alias,
    Sequence,
    Mapping,
}

pub(super) const ANCHORED: u8 = 1;
pub(super) const TAGGED: u8 = 2;
pub(super) const FLOW: u8 = 4;
pub(super) const DECODED: u8 = 8;

/// One node. Offsets are bytes in the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    /// Start, anchor and tag included.
    pub start: u32,
    /// End as the parser gives it; for block collections the start (see [`super::shape`]).
    pub end: u32,
    /// Index of the first node that is not this one or below it.
    pub next: u32,
    /// Target of an alias, or number of a decoded text.
    pub extra: u32,
    pub shape: Shape,
    pub style: Style,
    pub tag: Tag,
    pub flags: u8,
}

impl Node {
    /// Whether it has an anchor (`&name`).
    pub(super) fn anchored(&self) -> bool {
        self.flags & ANCHORED != 0
    }
    /// Whether it has a tag (`!!str`).
    pub(super) fn tagged(&self) -> bool {
        self.flags & TAGGED != 0
    }
    /// Whether it is a flow collection, or an entry of one written without braces.
    pub(super) fn flow(&self) -> bool {
        self.flags & FLOW != 0
    }
    /// Anchor or tag.
    pub(super) fn has_props(&self) -> bool {
        self.flags & (ANCHORED | TAGGED) != 0
    }
    /// Whether it is a list or a mapping.
    pub(super) fn is_collection(&self) -> bool {
        matches!(self.shape, Shape::Sequence | Shape::Mapping)
    }
    /// Whether the value is left out in the text and has no anchor or tag either.
    pub(super) fn is_absent(&self) -> bool {
        self.shape == Shape::Scalar && self.start == self.end
    }
    /// Whether it is a `|` or `>` scalar.
    pub(super) fn is_block_scalar(&self) -> bool {
        self.shape == Shape::Scalar && matches!(self.style, Style::Literal | Style::Folded)
    }
}

/// A parsed document together with its text.
pub(super) struct Tree {
    pub text: String,
    pub nodes: Vec<Node>,
    /// The texts of scalars that are not a piece of the file, one behind the other.
    pub decoded: String,
    pub decoded_spans: Vec<Range<u32>>,
    /// Every alias node, ascending.
    pub aliases: Vec<u32>,
}

impl Tree {
    /// The root, unless the file holds no document at all.
    pub(super) fn root(&self) -> Option<u32> {
        (!self.nodes.is_empty()).then_some(0)
    }

    pub(super) fn node(&self, i: u32) -> &Node {
        &self.nodes[i as usize]
    }

    /// The node itself, or the one that an alias stands for.
    pub(super) fn real(&self, i: u32) -> u32 {
        let node = self.node(i);
        if node.shape == Shape::Alias {
            node.extra
        } else {
            i
        }
    }

    /// Where the content starts, behind anchor and tag.
    pub(super) fn content_start(&self, i: u32) -> usize {
        let node = self.node(i);
        if node.has_props() {
            text::skip_props(&self.text, node.start as usize, node.end_hint()).1
        } else {
            node.start as usize
        }
    }

    /// End of anchor and tag; the start of the node when it has neither.
    pub(super) fn props_end(&self, i: u32) -> usize {
        let node = self.node(i);
        if node.has_props() {
            text::skip_props(&self.text, node.start as usize, node.end_hint()).0
        } else {
            node.start as usize
        }
    }

    /// The text of a scalar after folding and unescaping; empty for other nodes.
    pub(super) fn scalar(&self, i: u32) -> &str {
        let node = self.node(i);
        if node.shape != Shape::Scalar {
            return "";
        }
        if node.flags & DECODED != 0 {
            let span = self.decoded_spans[node.extra as usize].clone();
            return &self.decoded[span.start as usize..span.end as usize];
        }
        raw_value(&self.text, node, self.content_start(i))
    }

    /// The children of a collection, in file order; of a mapping the keys and values in turn.
    pub(super) fn children(&self, i: u32) -> Children<'_> {
        let node = self.node(i);
        Children {
            tree: self,
            at: i + 1,
            end: if node.is_collection() {
                node.next
            } else {
                i + 1
            },
        }
    }

    /// Key and value nodes of a mapping, in file order.
    pub(super) fn entries(&self, i: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let mut children = self.children(i);
        std::iter::from_fn(move || Some((children.next()?, children.next()?)))
    }

    /// Whether a collection has no children.
    pub(super) fn is_empty(&self, i: u32) -> bool {
        self.node(i).next == i + 1
    }

    /// Whether the node (aliases followed) is null, written or not.
    pub(super) fn is_null(&self, i: u32) -> bool {
        let node = self.node(self.real(i));
        node.shape == Shape::Scalar && node.tag == Tag::Null
    }

    /// How many aliases stand for the node.
    pub(super) fn alias_count(&self, i: u32) -> usize {
        if !self.node(i).anchored() {
            return 0;
        }
        self.aliases.iter().filter(|a| self.real(**a) == i).count()
    }
}

impl Node {
    /// How far the search for the content behind anchor and tag may go: block collections end
    /// somewhere behind, everything else at `end`.
    fn end_hint(&self) -> usize {
        if self.is_collection() && !self.flow() {
            usize::MAX
        } else {
            self.end as usize
        }
    }
}

/// The inner text of a scalar as it stands in the file.
pub(super) fn raw_value<'t>(text: &'t str, node: &Node, content: usize) -> &'t str {
    let end = node.end as usize;
    let inner = match node.style {
        Style::Single | Style::Double => content + 1..end.saturating_sub(1),
        Style::Plain => content..end,
        Style::Literal | Style::Folded => return "",
    };
    text.get(inner).unwrap_or("")
}

/// Iterator over child nodes.
pub(super) struct Children<'t> {
    tree: &'t Tree,
    at: u32,
    end: u32,
}

impl Iterator for Children<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        if self.at >= self.end {
            return None;
        }
        let i = self.at;
        self.at = self.tree.node(i).next;
        Some(i)
    }
}
