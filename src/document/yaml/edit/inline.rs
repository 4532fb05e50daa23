//! Replacing scalars, aliases and flow collections that stand in block context.
//!
//! Responsible for: the bytes of the old value, comments on its line, and the header and lines of
//! block scalars. Not responsible for: block collections ([`super::block`]).

use super::replace::is_parts;
use super::{Job, Plan};
use crate::document::yaml::scalar::Quotes;
use crate::document::yaml::shape::Item;
use crate::document::yaml::text::{
    break_before, column, first_on_line, line_end, line_start, skip_blanks,
};
use crate::document::{EditError, Value};
use std::ops::Range;

impl Job<'_> {
    /// Replace a scalar, an alias or a flow collection that stands in block context.
    pub(super) fn replace_inline(
        &self,
        plan: &mut Plan,
        i: u32,
        item: Option<&Item>,
        value: &Value,
    ) -> Result<(), EditError> {
        let tree = self.tree;
        let t = &tree.text;
        let node = tree.node(i);
        let (start, end) = (tree.content_start(i), tree.true_end(i));
        let own_line = item
            .and_then(|item| item.indicator)
            .is_some_and(|p| line_start(t, start) >= p);
        // A block scalar's own lines go; its header is replaced like any other scalar.
        let (head_end, body) = if node.is_block_scalar() {
            let (header, body) = self.block_scalar_parts(i)?;
            if let Some(item) = item
                && own_line
                && column(t, start) <= column(t, item.start)
            {
                self.replace_far_left(plan, i, item, value);
                return Ok(());
            }
            (header, body)
        } else {
            let line = line_end(t, end);
            (end, line..line)
        };
        let text = if own_line && is_parts(value) {
            self.style.alone(value, column(t, start), Quotes::Plain)
        } else {
            // Where the value will start once the tag is gone.
            let at = if node.tagged() {
                node.start as usize
            } else {
                start
            };
            self.block_text(i, item, value, Some(at))
        };
        if text.head.is_empty() {
            self.clear_line(plan, i, item, head_end);
        } else {
            self.drop_tag(plan, i);
            if item.is_none() && is_parts(value) && !first_on_line(t, start) {
                // `--- text`: a block collection cannot start on the marker's line.
                plan.splice(start..head_end, format!("{}{}", self.style.eol, text.head));
            } else {
                let gap = self.gap_before(start);
                let rest = self.gap_behind(head_end);
                plan.splice(start..head_end, format!("{gap}{}{rest}", text.head));
            }
        }
        if node.is_block_scalar() {
            let blanks = head_end..skip_blanks(t, head_end);
            if t[blanks.clone()].contains('\t') && blanks.end < line_end(t, head_end) {
                plan.splice(blanks, " ");
            }
        }
        plan.splice(body, text.body);
        Ok(())
    }

    /// Take an inline value away because children will follow on lines of their own; the blank
    /// behind the indicator, and a tag, go with it. An anchor stays.
    fn clear_line(&self, plan: &mut Plan, i: u32, item: Option<&Item>, end: usize) {
        let tree = self.tree;
        let node = tree.node(i);
        let start = tree.content_start(i);
        let indicator = item.and_then(|item| item.indicator);
        let tag_beside = line_start(&tree.text, start) <= node.start as usize;
        match indicator {
            Some(p) if !node.anchored() && (!node.tagged() || tag_beside) => {
                plan.splice(p..end, "");
            }
            _ => {
                self.drop_tag(plan, i);
                let from = if node.anchored() {
                    tree.props_end(i)
                } else {
                    start
                };
                plan.splice(from..end, "");
            }
        }
    }

    /// Of a block scalar: where its header ends, and its lines from the end of the header's line
    /// to the end of its text (without the last line break).
    fn block_scalar_parts(&self, i: u32) -> Result<(usize, Range<usize>), EditError> {
        let t = &self.tree.text;
        let (start, end) = (self.tree.content_start(i), self.tree.true_end(i));
        let header = start
            + t[start..]
                .bytes()
                .take_while(|b| matches!(b, b'|' | b'>' | b'+' | b'-' | b'0'..=b'9'))
                .count();
        let line = line_end(t, start);
        let keep = if end > line { break_before(t, end) } else { 0 };
        if t.as_bytes().get(header) == Some(&b'#') {
            return Err(self.unsafe_at(start, "a comment touches the header of the text"));
        }
        if t[end..line_end(t, end)].contains('\t') && keep == 0 {
            // One of Hermes' two readers stops at a tab behind a value.
            return Err(self.unsafe_at(end, "the last line of the text ends with a tab"));
        }
        Ok((header, line..end.saturating_sub(keep).max(line)))
    }

    /// Replace a block scalar whose header stands on its own line no further right than its key.
    /// No other value may stand there, so the new one goes up to the indicator.
    fn replace_far_left(&self, plan: &mut Plan, i: u32, item: &Item, value: &Value) {
        let tree = self.tree;
        let t = &tree.text;
        let start = tree.content_start(i);
        let head_at = if tree.node(i).anchored() {
            tree.props_end(i)
        } else {
            item.indicator.unwrap_or(start)
        };
        let text = self.block_text(i, Some(item), value, None);
        self.drop_tag(plan, i);
        self.insert_behind(plan, head_at, &text.head);
        let from = line_start(t, start);
        let to = self.without_break(start, tree.true_end(i));
        plan.splice(from - break_before(t, from)..to, text.body);
    }
}
