//! Replacing block collections.
//!
//! Responsible for: which lines the old collection takes with it, and the column of the new
//! value. Not responsible for: values on one line ([`super::inline`]).

use super::replace::is_parts;
use super::{Job, Plan};
use crate::document::Value;
use crate::document::yaml::scalar::Quotes;
use crate::document::yaml::shape::Item;
use crate::document::yaml::text::{break_before, column, line_end, line_start};
use crate::document::yaml::tree::Shape;

impl Job<'_> {
    /// Replace a block collection.
    pub(super) fn replace_block(
        &self,
        plan: &mut Plan,
        i: u32,
        item: Option<&Item>,
        value: &Value,
    ) {
        let tree = self.tree;
        let t = &tree.text;
        let node = tree.node(i);
        let start = tree.content_start(i);
        let own = item.map_or(0, |item| column(t, item.start));
        // Comments at the root's end belong to the file.
        let end = match item {
            Some(item) => {
                // Deeper than the key, even where a `?` stands further left.
                let key = item.key.map_or(item.start, |k| tree.node(k).start as usize);
                tree.below(tree.true_end(i), column(t, key)).0
            }
            None => line_end(t, tree.true_end(i).min(t.len())),
        };
        let end = self.without_break(start, end);
        let indicator = item.and_then(|item| item.indicator);
        let compact = indicator.is_none_or(|p| line_start(t, start) < p);
        self.drop_tag(plan, i);
        if compact {
            let text = self.style.alone(value, column(t, start), Quotes::Plain);
            plan.splice(start..end, text.joined());
            return;
        }
        let head_at = if node.has_props() {
            tree.props_end(i)
        } else {
            indicator.unwrap_or(start)
        };
        if is_parts(value) {
            let same = matches!(
                (node.shape, value),
                (Shape::Sequence, Value::List(_)) | (Shape::Mapping, Value::Map(_))
            );
            let at = match item {
                Some(item) if item.key.is_some() && !same => {
                    own + if matches!(value, Value::List(_)) {
                        self.style.dash
                    } else {
                        self.style.step
                    }
                }
                _ => column(t, start),
            };
            let text = self.style.alone(value, at, Quotes::Plain).joined();
            plan.splice(
                line_start(t, start)..end,
                format!("{}{text}", " ".repeat(at)),
            );
            return;
        }
        let text = self.block_text(i, item, value, None);
        let line = line_end(t, head_at);
        if node.tagged() && !node.anchored() {
            // The tag is spliced away just before; write in its place.
            plan.insert(head_at, text.head);
        } else {
            self.insert_behind(plan, head_at, &text.head);
        }
        plan.splice(line..end, text.body);
    }

    /// `end`, but before the line break when a `+` block scalar made the break part of it.
    pub(super) fn without_break(&self, start: usize, end: usize) -> usize {
        let n = break_before(&self.tree.text, end);
        if n > 0 && end - n > start {
            end - n
        } else {
            end
        }
    }
}
