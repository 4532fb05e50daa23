//! New entries in mappings and new elements at the end of lists.
//!
//! Responsible for: where a new line or a new flow part goes. Not responsible for: replacing what
//! exists ([`super::replace`]), or places in the middle of a list ([`super::list`]).

use super::site::MAX_KEY;
use super::{Job, Plan};
use crate::document::yaml::check::is_merge;
use crate::document::yaml::lookup::{key_is, key_is_odd};
use crate::document::yaml::proof::{Claim, Part};
use crate::document::yaml::read::Entries;
use crate::document::yaml::render::step_value;
use crate::document::yaml::text::{
    break_before, column, first_on_line, is_blank, line_end, line_start, next_line,
    only_comment_follows, skip_blanks, skip_space,
};
use crate::document::yaml::tree::Shape;
use crate::document::{EditError, KeyPath, Step, Value};

impl Job<'_> {
    /// Add the part of the path that is missing below `node`, with `value` at its end.
    pub(super) fn add(&self, node: u32, value: &Value) -> Result<Plan, EditError> {
        let tree = self.tree;
        let steps = &self.path.0[self.site.taken..];
        if let Some(Step::Key(long)) = steps
            .iter()
            .find(|s| matches!(s, Step::Key(k) if k.len() > MAX_KEY))
        {
            let start: String = long.chars().take(20).collect();
            return Err(EditError::BadName {
                key: format!("{start}…"),
                reason: "it is longer than 1,000 bytes".into(),
            });
        }
        if tree.is_null(node) {
            if !matches!(steps[0], Step::Key(_)) {
                return Err(self.not_found());
            }
            let value = self.chain(self.site.taken, value);
            if self.site.hops.is_empty() {
                return self.fill_root(&value);
            }
            return self.replace(node, &value);
        }
        if tree.node(node).shape != Shape::Mapping {
            if matches!(
                (tree.node(node).shape, &steps[0]),
                (Shape::Sequence, Step::Index(_))
            ) {
                return Err(self.not_found());
            }
            let parent = KeyPath(self.path.0[..self.site.taken].to_vec()).to_string();
            return Err(EditError::WrongParent {
                key: self.key(),
                parent: if parent.is_empty() {
                    "the file".into()
                } else {
                    parent
                },
                kind: crate::document::yaml::read::value(tree, node).kind(),
            });
        }
        self.no_other_key(node, steps)?;
        let inner = self.chain(self.site.taken + 1, value);
        let key = step_value(&steps[0]);
        if tree.is_empty(node) && !tree.node(node).tagged() && self.may_turn_block(node) {
            return self.replace(node, &Value::Map(vec![(key, inner)]));
        }
        let mut plan = self.growing(node, vec![key.clone(), inner.clone()]);
        if tree.node(node).flow() {
            let text = self.style.flow_entry(&key, &inner);
            self.grow_flow(&mut plan, node, &text)?;
        } else {
            let at = tree.column_of(node);
            let text = self.style.entry(&key, &inner, at);
            self.grow_block(&mut plan, node, at, &text)?;
        }
        Ok(plan)
    }

    /// Refuse to hide what stands under the same name in another form.
    fn no_other_key(&self, map: u32, steps: &[Step]) -> Result<(), EditError> {
        let tree = self.tree;
        if let Some((k, _)) = tree
            .entries(map)
            .find(|(k, _)| key_is_odd(tree, *k, &steps[0]))
        {
            return Err(self.unsafe_at(
                tree.node(k).start as usize,
                "the key in this line is a number, a date or null and not text, so it has no path",
            ));
        }
        if steps.len() > 1
            && let Some((merge, _)) = tree.entries(map).find(|(k, _)| is_merge(tree, *k))
            && Entries::of(tree, map)
                .list
                .iter()
                .any(|(k, _)| key_is(tree, *k, &steps[0]))
        {
            return Err(self.unsafe_at(
                tree.node(merge).start as usize,
                "the section comes from the merge key in this line, and adding one value here would hide the others",
            ));
        }
        Ok(())
    }

    /// A plan whose claim is that `values` are added at the end of collection `i`.
    fn growing(&self, i: u32, values: Vec<Value>) -> Plan {
        let mut around = self.site.containers();
        around.push(i);
        let end = self.tree.node(i).next;
        let mut plan = Plan {
            claim: Claim::replacing(
                self.tree,
                vec![(
                    end..end,
                    Some(Part::New {
                        instead: None,
                        values,
                    }),
                )],
                around,
            ),
            ..Plan::default()
        };
        self.common_notes(&mut plan);
        plan
    }

    /// Whether an empty flow collection may become a block one: it stands in block context and
    /// has no comment inside.
    fn may_turn_block(&self, i: u32) -> bool {
        let tree = self.tree;
        let in_flow = self
            .site
            .hops
            .last()
            .is_some_and(|hop| tree.node(hop.container).flow());
        let inside = tree.content_start(i) + 1..(tree.node(i).end as usize).saturating_sub(1);
        !in_flow
            && tree
                .text
                .get(inside)
                .is_some_and(|t| t.bytes().all(is_blank))
    }

    /// Put `text` on a line of its own, at column `at`, below the last line of block collection
    /// `i`.
    fn grow_block(&self, plan: &mut Plan, i: u32, at: usize, text: &str) -> Result<(), EditError> {
        let t = &self.tree.text;
        let end = self.tree.true_end(i);
        let indent = " ".repeat(at);
        let eol = self.style.eol;
        // A block scalar that keeps its final line breaks ends behind the last of them.
        let keeps = break_before(t, end) > 0 && line_start(t, end) == end;
        let below = if keeps { end } else { next_line(t, end) };
        if keeps || break_before(t, below) > 0 {
            plan.insert(below, format!("{indent}{text}{eol}"));
        } else {
            if self.tree.ends_in_open_text(i) {
                return Err(self.unsafe_at(
                    end,
                    "the text before it ends with the file, without a line break, and would gain one; end the file with a line break first",
                ));
            }
            plan.insert(below, format!("{eol}{indent}{text}"));
        }
        Ok(())
    }

    /// Put `text` behind the last part of flow collection `i`, as one insertion.
    fn grow_flow(&self, plan: &mut Plan, i: u32, text: &str) -> Result<(), EditError> {
        let tree = self.tree;
        let t = &tree.text;
        if !tree.bracketed(i) {
            return Err(self.unsafe_at(
                tree.node(i).start as usize,
                "this is a single pair inside a list and cannot take another key",
            ));
        }
        let close = (tree.node(i).end as usize).saturating_sub(1);
        let Some(last) = tree.items(i).pop() else {
            let open = tree.content_start(i) + 1;
            let blank = t[open..close].bytes().all(is_blank);
            plan.splice(if blank { open } else { close }..close, text);
            return Ok(());
        };
        let comma = skip_space(t, last.end);
        let column = column(t, last.start);
        let newline = format!("{}{}", self.style.eol, " ".repeat(column));
        let own_line = first_on_line(t, last.start);
        if t.as_bytes()[comma] == b',' {
            let behind = comma + 1;
            if own_line && only_comment_follows(t, behind) {
                plan.insert(line_end(t, behind), format!("{newline}{text},"));
            } else {
                plan.insert(behind, format!(" {text},"));
            }
        } else if own_line
            && skip_blanks(t, last.end) < line_end(t, last.end)
            && comma > line_end(t, last.end)
        {
            // A comment stands behind the last part; a comma in front of the new one leaves the
            // comment where it belongs.
            plan.insert(line_end(t, last.end), format!("{newline}, {text}"));
        } else if own_line {
            plan.insert(last.end, format!(",{newline}{text}"));
        } else if tree.node(last.value).is_absent() && last.indicator.is_some() {
            // `k:,` would be read as one word.
            let blank = t.as_bytes().get(last.end).is_some_and(|b| is_blank(*b));
            let (at, gap) = if blank {
                (last.end + 1, "")
            } else {
                (last.end, " ")
            };
            plan.insert(at, format!("{gap}, {text}"));
        } else {
            plan.insert(last.end, format!(", {text}"));
        }
        Ok(())
    }

    /// Add an element at the end of the list at the path; a missing or null list is made.
    pub(super) fn append(&self, value: &Value) -> Result<Plan, EditError> {
        let tree = self.tree;
        let list = Value::List(vec![value.clone()]);
        let Some(node) = self.site.node else {
            return self.fill_root(&self.chain(0, &list));
        };
        if self.site.taken < self.path.0.len() {
            return self.add(node, &list);
        }
        self.refuse_shared(node)?;
        if tree.is_null(node) {
            return if self.site.hops.is_empty() {
                self.fill_root(&list)
            } else {
                self.replace(node, &list)
            };
        }
        if tree.node(node).shape != Shape::Sequence {
            return Err(self.no_list(node));
        }
        if tree.is_empty(node) && !tree.node(node).tagged() && self.may_turn_block(node) {
            return self.replace(node, &list);
        }
        let mut plan = self.growing(node, vec![value.clone()]);
        if tree.node(node).flow() {
            let text = self
                .style
                .flow(value, crate::document::yaml::scalar::Quotes::Plain);
            self.grow_flow(&mut plan, node, &text)?;
        } else {
            let at = tree.column_of(node);
            let text = self.style.item(value, at);
            self.grow_block(&mut plan, node, at, &text)?;
        }
        Ok(plan)
    }

    /// The list itself is an alias of another one.
    pub(super) fn refuse_shared(&self, node: u32) -> Result<(), EditError> {
        if self.tree.node(node).shape == Shape::Alias {
            return Err(self.unsafe_at(
                self.tree.node(node).start as usize,
                "the list is an alias of another one; change it there, or set the whole list here",
            ));
        }
        Ok(())
    }

    pub(super) fn no_list(&self, node: u32) -> EditError {
        self.unsafe_at(
            self.tree.node(node).start as usize,
            format!(
                "it holds {}, not a list",
                crate::document::yaml::read::value(self.tree, node).kind()
            ),
        )
    }
}
