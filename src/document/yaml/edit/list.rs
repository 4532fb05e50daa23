//! Elements inside a list: insertion and reordering.
//!
//! Responsible for: new elements before others, and moving elements with their comments. Not
//! responsible for: the end of a list ([`super::add`]) or taking elements out
//! ([`super::remove`]).

use super::{Job, Plan};
use crate::document::yaml::proof::{Claim, Part};
use crate::document::yaml::scalar::Quotes;
use crate::document::yaml::shape::Item;
use crate::document::yaml::text::{
    break_before, column, first_on_line, line_end, line_start, only_comment_follows, skip_space,
};
use crate::document::yaml::tree::Shape;
use crate::document::{EditError, Value};
use std::ops::Range;

/// The text that moves with an element. What stands between the two, a comma, stays in its place.
struct Piece {
    lead: Range<usize>,
    tail: Range<usize>,
}

impl Job<'_> {
    /// The list at the path and its items.
    fn list(&self) -> Result<(u32, Vec<Item>), EditError> {
        let node = match self.site.node {
            Some(node) if self.site.taken == self.path.0.len() => node,
            _ => return Err(self.not_found()),
        };
        self.refuse_shared(node)?;
        if self.tree.node(node).shape != Shape::Sequence {
            return Err(self.no_list(node));
        }
        Ok((node, self.tree.items(node)))
    }

    /// Add an element before number `at`.
    pub(super) fn insert_item(&self, at: usize, value: &Value) -> Result<Plan, EditError> {
        let missing = self.site.taken < self.path.0.len()
            || self.site.node.is_none_or(|n| self.tree.is_null(n));
        if at == 0 && missing {
            return self.append(value);
        }
        let (node, items) = self.list()?;
        if at == items.len() {
            return self.append(value);
        }
        let Some(item) = items.get(at) else {
            return Err(self.not_found());
        };
        let tree = self.tree;
        let t = &tree.text;
        let mut around = self.site.containers();
        around.push(node);
        let mut plan = Plan {
            claim: Claim::replacing(
                tree,
                vec![(
                    item.value..item.value,
                    Some(Part::New {
                        instead: None,
                        values: vec![value.clone()],
                    }),
                )],
                around,
            ),
            ..Plan::default()
        };
        self.common_notes(&mut plan);
        let own = column(t, item.start);
        if tree.node(node).flow() {
            let text = self.style.flow(value, Quotes::Plain);
            if first_on_line(t, item.start) {
                let line = tree.glued_above(item);
                let indent = " ".repeat(own);
                plan.insert(line, format!("{indent}{text},{}", self.style.eol));
            } else {
                plan.insert(item.start, format!("{text}, "));
            }
            return Ok(plan);
        }
        let text = self.style.item(value, own);
        let (eol, indent) = (self.style.eol, " ".repeat(own));
        if first_on_line(t, item.start) {
            let line = tree.glued_above(item);
            plan.insert(line, format!("{indent}{text}{eol}"));
        } else {
            plan.insert(item.start, format!("{text}{eol}{indent}"));
        }
        Ok(plan)
    }

    /// Give the element `from` the index `to`. `None` when it has it.
    pub(super) fn move_item(&self, from: usize, to: usize) -> Result<Option<Plan>, EditError> {
        let (node, items) = self.list()?;
        if from >= items.len() || to >= items.len() {
            return Err(self.not_found());
        }
        if from == to {
            return Ok(None);
        }
        let tree = self.tree;
        let mut order: Vec<usize> = (0..items.len()).collect();
        let moved = order.remove(from);
        order.insert(to, moved);
        let (low, high) = (from.min(to), from.max(to));
        let nodes = |n: usize| tree.subtree(items[n].value);
        let mut parts = vec![Part::Keep(0..nodes(low).start)];
        parts.extend(order[low..=high].iter().map(|n| Part::Keep(nodes(*n))));
        let end = u32::try_from(tree.nodes.len()).unwrap_or(u32::MAX);
        parts.push(Part::Keep(nodes(high).end..end));
        let mut plan = Plan {
            claim: Claim {
                parts,
                around: Vec::new(),
            },
            ..Plan::default()
        };
        self.common_notes(&mut plan);
        let pieces = if tree.node(node).flow() {
            self.flow_pieces(&items, low, high)
        } else {
            self.block_pieces(&items, low, high)?
        };
        for place in low..=high {
            let from = order[place];
            if from != place {
                let (to, from) = (&pieces[place], &pieces[from]);
                plan.splice(to.lead.clone(), &tree.text[from.lead.clone()]);
                plan.splice(to.tail.clone(), &tree.text[from.tail.clone()]);
            }
        }
        Ok(Some(plan))
    }

    /// The text of each element of a flow list and, where each has lines of its own, the comments
    /// above it and behind its comma.
    fn flow_pieces(&self, items: &[Item], low: usize, high: usize) -> Vec<Piece> {
        let tree = self.tree;
        let t = &tree.text;
        let behind = |item: &Item| {
            let comma = skip_space(t, item.end);
            if t.as_bytes().get(comma) == Some(&b',') {
                comma + 1
            } else {
                item.end
            }
        };
        let own_lines = items[low..=high]
            .iter()
            .all(|item| first_on_line(t, item.start) && only_comment_follows(t, behind(item)));
        items
            .iter()
            .map(|item| {
                if !own_lines {
                    return Piece {
                        lead: item.start..item.end,
                        tail: item.end..item.end,
                    };
                }
                let line = line_start(t, item.start);
                let above = tree.glued_above(item);
                let tail = behind(item);
                Piece {
                    lead: above + (item.start - line)..item.end,
                    tail: tail..line_end(t, tail),
                }
            })
            .collect()
    }

    /// The text of each element of a block list with its comments, from its first byte that is
    /// not indentation to the end of its last line (without the break), so that any two can
    /// change places.
    fn block_pieces(
        &self,
        items: &[Item],
        low: usize,
        high: usize,
    ) -> Result<Vec<Piece>, EditError> {
        let tree = self.tree;
        let t = &tree.text;
        let mut out = Vec::new();
        for (n, item) in items.iter().enumerate() {
            let own = column(t, item.start);
            let (last, _) = tree.below(item.end, own);
            let start = if first_on_line(t, item.start) {
                let line = tree.glued_above(item);
                // Every line above the element is in its column.
                line + (item.start - line_start(t, item.start))
            } else {
                item.start
            };
            let compact = n == 0 && !first_on_line(t, item.start);
            let comments_above = |m: usize| {
                let item = &items[m];
                tree.glued_above(item) < line_start(t, item.start)
            };
            if compact && low == 0 && (1..=high).any(comments_above) {
                return Err(self.unsafe_at(
                    item.start,
                    "a comment above an element has no place in front of the first one, which shares its line",
                ));
            }
            let ends_with_break = last > item.start && break_before(t, last) > 0;
            if ends_with_break && (low..=high).contains(&n) {
                return Err(self.unsafe_at(
                    item.start,
                    "an element ends with blank lines that belong to its text",
                ));
            }
            out.push(Piece {
                lead: start..last,
                tail: last..last,
            });
        }
        Ok(out)
    }
}
