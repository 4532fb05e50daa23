//! The proof that an edit did what was asked and nothing else.
//!
//! Responsible for: comparing the tree before and after, node by node, against the list of parts
//! that the edit says the new tree consists of. Not responsible for: making the edit. It knows
//! nothing of layout, so a mistake there cannot hide here.

use super::read::key_value;
use super::tree::{Node, Shape, Tree};
use super::typing::{Tag, construct};
use crate::document::Value;
use std::ops::Range;

/// A stretch of the new tree, in file order.
#[derive(Debug, Clone)]
pub(super) enum Part {
    /// These old nodes, unchanged.
    Keep(Range<u32>),
    /// One new node of this value, or a key and a value. `instead` is the old node whose anchor
    /// the (first) new one carries on.
    New {
        instead: Option<u32>,
        values: Vec<Value>,
    },
}

/// What the new tree must be.
#[derive(Debug, Clone, Default)]
pub(super) struct Claim {
    pub parts: Vec<Part>,
    /// Old collections that hold the edit and so may change their size.
    pub around: Vec<u32>,
}

impl Claim {
    /// The old tree with the node ranges `cuts` (ascending, apart from each other) taken out or
    /// replaced.
    pub(super) fn replacing(
        tree: &Tree,
        cuts: Vec<(Range<u32>, Option<Part>)>,
        around: Vec<u32>,
    ) -> Self {
        let mut parts = Vec::new();
        let mut at = 0;
        for (cut, part) in cuts {
            parts.push(Part::Keep(at..cut.start));
            parts.extend(part);
            at = cut.end;
        }
        let end = u32::try_from(tree.nodes.len()).unwrap_or(u32::MAX);
        parts.push(Part::Keep(at..end));
        Self { parts, around }
    }

    /// Check `new` against the claim. The error is a sentence without a final stop and without
    /// values.
    pub(super) fn check(&self, old: &Tree, new: &Tree) -> Result<(), String> {
        let mut map = vec![];
        let mut at = 0u32;
        let total = new.nodes.len();
        for part in &self.parts {
            let from = at;
            match part {
                Part::Keep(range) => {
                    let n = range.end.saturating_sub(range.start);
                    if (at + n) as usize > total {
                        return Err("values below the change are missing".into());
                    }
                    map.push((range.clone(), from));
                    at += n;
                }
                Part::New { instead, values } => {
                    for value in values {
                        at = matches(new, at, value)
                            .ok_or("the new value would be read as something else")?;
                    }
                    if let Some(old) = instead {
                        map.push((*old..*old + 1, from));
                    }
                }
            }
        }
        if at as usize != total {
            return Err("values appear that nobody asked for".into());
        }
        map.retain(|(range, _)| !range.is_empty());
        map.sort_by_key(|(range, _)| range.start);
        let moved = |i: u32| -> Option<u32> {
            let at = map.partition_point(|(range, _)| range.start <= i);
            let (range, to) = map.get(at.checked_sub(1)?)?;
            range.contains(&i).then(|| to + (i - range.start))
        };
        let grown = i64::from(at) - i64::try_from(old.nodes.len()).unwrap_or(i64::MAX);
        let mut around = self.around.clone();
        around.sort_unstable();
        for part in &self.parts {
            let Part::Keep(range) = part else { continue };
            let Some(to) = moved(range.start) else {
                continue;
            };
            for i in range.clone() {
                let j = to + (i - range.start);
                let (a, b) = (old.node(i), new.node(j));
                let mut size = i64::from(a.next) - i64::from(i);
                if around.binary_search(&i).is_ok() {
                    size += grown;
                }
                let same_target =
                    a.shape != Shape::Alias || moved(old.real(i)) == Some(new.real(j));
                let same = alike(a, b)
                    && size == i64::from(b.next) - i64::from(j)
                    && same_target
                    && old.scalar(i) == new.scalar(j);
                if !same {
                    return Err("a value beside the change would be read differently".into());
                }
            }
        }
        Ok(())
    }
}

fn alike(a: &Node, b: &Node) -> bool {
    a.shape == b.shape
        && a.tag == b.tag
        && a.style == b.style
        && a.flow() == b.flow()
        && a.anchored() == b.anchored()
        && a.tagged() == b.tagged()
}

/// Whether node `i` is exactly `value`; returns the node behind it.
pub(super) fn matches(tree: &Tree, i: u32, value: &Value) -> Option<u32> {
    let node = tree.nodes.get(i as usize)?;
    let same = match value {
        Value::List(items) => {
            if node.shape != Shape::Sequence || node.tag != Tag::Seq {
                return None;
            }
            let mut at = i + 1;
            for item in items {
                (at < node.next).then_some(())?;
                at = matches(tree, at, item)?;
            }
            at == node.next
        }
        Value::Map(entries) => {
            if node.shape != Shape::Mapping || node.tag != Tag::Map {
                return None;
            }
            let mut at = i + 1;
            for (key, value) in entries {
                (at < node.next).then_some(())?;
                at = matches(tree, at, key)?;
                at = matches(tree, at, value)?;
            }
            at == node.next
        }
        scalar => node.shape == Shape::Scalar && scalar_is(tree, i, node.tag, scalar),
    };
    same.then_some(node.next)
}

fn scalar_is(tree: &Tree, i: u32, tag: Tag, value: &Value) -> bool {
    match value {
        Value::Str(text) => tag == Tag::Str && tree.scalar(i) == text,
        // A tag such as `!!binary` also reads as text and is not the same thing.
        _ if tag == Tag::Binary || tag == Tag::Value => false,
        Value::Float(f) => {
            tag == Tag::Float
                && matches!(key_value(tree, i), Value::Float(g) if g.to_bits() == f.to_bits() || (g.is_nan() && f.is_nan()))
        }
        _ => construct(tag, tree.scalar(i)).as_ref() == Ok(value),
    }
}
