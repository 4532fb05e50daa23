//! The node tree of one document: a flat array in file order, 20 bytes for a node.
//!
//! Responsible for: building the array from parse events, the limits (depth, size, self
//! reference), and giving a node's kind, span, type and text. Not responsible for: what PyYAML
//! refuses to construct ([`super::check`]), values ([`super::read`]) or layout
//! ([`super::shape`]).
//!
//! A collection is followed by its children, a mapping by key, value, key, value; `next` skips a
//! node with everything below it. Nothing is decoded until asked for, except scalars whose value
//! is not simply a piece of the text (escapes, folding, block scalars).

use super::event::{Event, Fault, Kind, Style};
use super::libyaml::for_each_event;
use super::text;
use super::typing::{Tag, resolve_plain};
use std::collections::HashMap;
use std::ops::Range;

/// Collections inside one another, aliases followed.
pub(super) const MAX_DEPTH: u32 = 1_000;
/// Nodes after every alias has been followed, beyond which a file is taken for an attack. Larger
/// files may have as many as they have nodes of their own, four times over.
const MAX_EXPANDED: u64 = 1_000_000;

const MAX_DIRECTIVES: usize = 100;
/// Longest stretch of blanks times the number of stretches: libyaml may clear the one for each of
/// the others. At this size that takes about a second.
const MAX_BLANK_WORK: u64 = 20_000_000_000;

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Scalar,
    Alias,
    Sequence,
    Mapping,
}

const ANCHORED: u8 = 1;
const TAGGED: u8 = 2;
const FLOW: u8 = 4;
const DECODED: u8 = 8;

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
    extra: u32,
    pub shape: Shape,
    pub style: Style,
    pub tag: Tag,
    flags: u8,
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
    decoded: String,
    decoded_spans: Vec<Range<u32>>,
    /// Every alias node, ascending.
    pub aliases: Vec<u32>,
}

impl Tree {
    /// Read `text`, which is valid UTF-8, as exactly one document.
    pub(super) fn parse(text: String) -> Result<Self, Fault> {
        if text.len() > u32::MAX as usize / 2 {
            return Err(Fault::new(0, "the file is larger than 2 GiB"));
        }
        too_slow(&text)?;
        let mut build = Builder::default();
        // Roughly one node for every ten bytes; a wrong guess only costs a reallocation.
        build.nodes.reserve(text.len() / 16);
        for_each_event(&text, |event| build.event(&text, event))?;
        let mut nodes = build.nodes;
        nodes.shrink_to_fit();
        let tree = Self {
            text,
            nodes,
            decoded: build.decoded,
            decoded_spans: build.decoded_spans,
            aliases: build.aliases,
        };
        super::check::constructible(&tree)?;
        Ok(tree)
    }

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
fn raw_value<'t>(text: &'t str, node: &Node, content: usize) -> &'t str {
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

/// An open collection, or the document.
#[derive(Default, Clone, Copy)]
struct Level {
    node: u32,
    /// Nodes below, aliases followed.
    size: u64,
    /// Levels below, aliases followed.
    height: u32,
}

/// What an anchor stands for; size and height are known once the node is closed.
struct Anchor {
    node: u32,
    closed: Option<(u64, u32)>,
}

#[derive(Default)]
struct Builder {
    nodes: Vec<Node>,
    decoded: String,
    decoded_spans: Vec<Range<u32>>,
    aliases: Vec<u32>,
    anchors: HashMap<String, Anchor>,
    /// Names of the anchors of open collections.
    open_anchors: Vec<(u32, String)>,
    levels: Vec<Level>,
    total: u64,
    documents: u32,
}

impl Builder {
    fn event(&mut self, text: &str, event: &Event<'_>) -> Result<(), Fault> {
        match &event.kind {
            Kind::DocumentStart => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(Fault::new(
                        event.start,
                        "a second document starts here, and Hermes reads files with one only",
                    ));
                }
            }
            Kind::DocumentEnd => {}
            Kind::Alias { anchor } => self.alias(event, anchor)?,
            Kind::Scalar {
                anchor,
                tag,
                value,
                style,
                implicit,
            } => {
                let resolved = match tag {
                    Some(name) if *name != "!" => Tag::named(name, event.start)?,
                    _ if *implicit => resolve_plain(value),
                    _ => Tag::Str,
                };
                let i = self.push(event, Shape::Scalar, *style, resolved, *anchor, *tag)?;
                self.keep_value(text, i, value);
                self.closed(i, 1, 0)?;
            }
            Kind::SequenceStart { anchor, tag, flow } => {
                self.open(event, Shape::Sequence, *anchor, *tag, *flow, Tag::Seq)?;
            }
            Kind::MappingStart { anchor, tag, flow } => {
                self.open(event, Shape::Mapping, *anchor, *tag, *flow, Tag::Map)?;
            }
            Kind::SequenceEnd | Kind::MappingEnd => self.close(event)?,
        }
        Ok(())
    }

    fn push(
        &mut self,
        event: &Event<'_>,
        shape: Shape,
        style: Style,
        tag: Tag,
        anchor: Option<&str>,
        written_tag: Option<&str>,
    ) -> Result<u32, Fault> {
        let i = offset(self.nodes.len());
        let mut flags = 0;
        if let Some(name) = anchor {
            flags |= ANCHORED;
            let seen = Anchor {
                node: i,
                closed: None,
            };
            if self.anchors.insert(name.to_owned(), seen).is_some() {
                return Err(Fault::new(event.start, "an anchor is defined twice"));
            }
            self.open_anchors.push((i, name.to_owned()));
        }
        if written_tag.is_some() {
            flags |= TAGGED;
        }
        self.nodes.push(Node {
            start: offset(event.start),
            end: offset(event.end),
            next: i + 1,
            extra: 0,
            shape,
            style,
            tag,
            flags,
        });
        Ok(i)
    }

    /// Keep the value of a scalar when it is not a piece of the text.
    fn keep_value(&mut self, text: &str, i: u32, value: &str) {
        let node = &mut self.nodes[i as usize];
        let content = if node.has_props() {
            text::skip_props(text, node.start as usize, node.end as usize).1
        } else {
            node.start as usize
        };
        if node.is_block_scalar() || raw_value(text, node, content) != value {
            node.flags |= DECODED;
            node.extra = offset(self.decoded_spans.len());
            let from = offset(self.decoded.len());
            self.decoded.push_str(value);
            self.decoded_spans.push(from..offset(self.decoded.len()));
        }
    }

    fn alias(&mut self, event: &Event<'_>, name: &str) -> Result<(), Fault> {
        let Some(anchor) = self.anchors.get(name) else {
            return Err(Fault::new(
                event.start,
                "an alias names an anchor that is not defined above it",
            ));
        };
        let target = anchor.node;
        let (size, height) = match anchor.closed {
            Some(known) => known,
            // A mapping that merges itself gains nothing, and PyYAML reads it.
            None if self.merges_itself(target) => (1, 0),
            None => {
                return Err(Fault::new(
                    event.start,
                    "an alias stands inside the value that it names, so the value would never end",
                ));
            }
        };
        let i = self.push(event, Shape::Alias, Style::Plain, Tag::Str, None, None)?;
        self.nodes[i as usize].extra = target;
        self.aliases.push(i);
        self.closed(i, size, height)
    }

    /// Whether the next node is the value of a merge key of the open mapping `target` itself.
    fn merges_itself(&self, target: u32) -> bool {
        let inside = self.levels.last().is_some_and(|level| level.node == target);
        let after_merge = self
            .nodes
            .last()
            .is_some_and(|node| node.shape == Shape::Scalar && node.tag == Tag::Merge);
        inside && after_merge && self.nodes[target as usize].shape == Shape::Mapping
    }

    fn open(
        &mut self,
        event: &Event<'_>,
        shape: Shape,
        anchor: Option<&str>,
        tag: Option<&str>,
        flow: bool,
        default: Tag,
    ) -> Result<(), Fault> {
        let resolved = match tag {
            Some(name) if name != "!" => Tag::named(name, event.start)?,
            _ => default,
        };
        let i = self.push(event, shape, Style::Plain, resolved, anchor, tag)?;
        if flow {
            self.nodes[i as usize].flags |= FLOW;
        }
        if self.levels.len() >= MAX_DEPTH as usize {
            return Err(too_deep(event.start));
        }
        self.levels.push(Level {
            node: i,
            ..Level::default()
        });
        Ok(())
    }

    fn close(&mut self, event: &Event<'_>) -> Result<(), Fault> {
        let Some(level) = self.levels.pop() else {
            return Ok(());
        };
        let next = offset(self.nodes.len());
        let node = &mut self.nodes[level.node as usize];
        node.next = next;
        if node.flow() {
            node.end = offset(event.end);
        }
        self.closed(level.node, level.size + 1, level.height + 1)
    }

    /// Count a finished node in its parent, and remember it when it has an anchor.
    fn closed(&mut self, i: u32, size: u64, height: u32) -> Result<(), Fault> {
        let at = self.nodes[i as usize].start as usize;
        if self.open_anchors.last().is_some_and(|(n, _)| *n == i)
            && let Some((_, name)) = self.open_anchors.pop()
            && let Some(anchor) = self.anchors.get_mut(&name)
        {
            anchor.closed = Some((size, height));
        }
        if self.nodes[i as usize].is_collection() {
            self.total += 1;
        } else {
            self.total = self.total.saturating_add(size);
        }
        let limit = MAX_EXPANDED.max(4 * self.nodes.len() as u64);
        if self.total > limit {
            return Err(Fault::new(
                at,
                "aliases that stand for aliases make this file too large to hold",
            ));
        }
        if let Some(parent) = self.levels.last_mut() {
            parent.size = parent.size.saturating_add(size);
            parent.height = parent.height.max(height);
            if parent.height >= MAX_DEPTH {
                return Err(too_deep(at));
            }
        }
        Ok(())
    }
}

/// Refuse the two shapes of file on which libyaml, and with it Hermes, takes time that grows with
/// the square of the size: thousands of directives, and a very long stretch of blanks together
/// with very many short ones.
fn too_slow(text: &str) -> Result<(), Fault> {
    let directives = text
        .lines()
        .take_while(|line| line.is_empty() || line.starts_with(['%', '#']))
        .filter(|line| line.starts_with('%'))
        .count();
    if directives > MAX_DIRECTIVES {
        return Err(Fault::new(0, "the file has more than 100 directives"));
    }
    let (mut stretches, mut longest, mut here) = (0u64, 0u64, 0u64);
    let mut longest_at = 0;
    for (at, byte) in text.bytes().enumerate() {
        if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
            here += 1;
            continue;
        }
        if here > 0 {
            stretches += 1;
            if here > longest {
                (longest, longest_at) = (here, at);
            }
            here = 0;
        }
    }
    if longest * stretches > MAX_BLANK_WORK {
        return Err(Fault::new(
            longest_at,
            "the blanks in front of this place are so many that Hermes would take minutes to read the file",
        ));
    }
    Ok(())
}

fn too_deep(at: usize) -> Fault {
    Fault::new(at, format!("nested deeper than {MAX_DEPTH} levels"))
}

/// Offsets and counts fit, because files are smaller than 2 GiB and have fewer nodes than bytes.
fn offset(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
