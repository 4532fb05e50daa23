//! Building the node tree from parse events.
//!
//! Responsible for: types and texts of scalars, anchors and aliases, and the limits (depth, size,
//! self reference, files that take minutes to read). Not responsible for: what PyYAML refuses to
//! construct ([`super::check`], which is run at the end).

use super::event::{Event, Fault, Kind, Style};
use super::libyaml::for_each_event;
use super::text;
use super::tree::{ANCHORED, DECODED, FLOW, Node, Shape, TAGGED, Tree, raw_value};
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
