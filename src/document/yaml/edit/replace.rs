//! Giving a value that exists another value.
//!
//! Responsible for: scalars, aliases, flow and block collections and absent values, each turning
//! into any other, with comments, anchors and indentation kept. Not responsible for: new entries
//! ([`super::add`]).

use super::{Job, Plan};
use crate::document::yaml::event;
use crate::document::yaml::proof::{Claim, Part};
use crate::document::yaml::render::Text;
use crate::document::yaml::scalar::{Quotes, bool_like};
use crate::document::yaml::shape::Item;
use crate::document::yaml::text::{column, line_end, skip_blanks};
use crate::document::yaml::tree::Shape;
use crate::document::yaml::typing::Tag;
use crate::document::{EditError, Value};

impl Job<'_> {
    /// Replace node `i`, which the site's path leads to, by `value`.
    pub(super) fn replace(&self, i: u32, value: &Value) -> Result<Plan, EditError> {
        let tree = self.tree;
        let node = *tree.node(i);
        let item = self.site.item(tree);
        // The anchor of the node itself stays, so only those below it can get lost.
        self.keep_anchors(std::slice::from_ref(&(i + 1..node.next)))?;
        let mut plan = Plan {
            claim: Claim::replacing(
                tree,
                vec![(
                    tree.subtree(i),
                    Some(Part::New {
                        instead: Some(i),
                        values: vec![value.clone()],
                    }),
                )],
                self.site.containers(),
            ),
            ..Plan::default()
        };
        self.common_notes(&mut plan);
        let in_flow = self
            .site
            .hops
            .last()
            .is_some_and(|hop| tree.node(hop.container).flow());
        if in_flow || (node.flow() && !tree.is_empty(i) && is_parts(value)) {
            self.replace_in_flow(&mut plan, i, item.as_ref(), value);
        } else if node.is_absent() {
            self.fill_absent(&mut plan, item.as_ref(), value);
        } else if node.is_collection() && !node.flow() {
            self.replace_block(&mut plan, i, item.as_ref(), value);
        } else {
            self.replace_inline(&mut plan, i, item.as_ref(), value)?;
        }
        Ok(plan)
    }

    /// The quotes to keep: those of the string that is replaced.
    pub(super) fn quotes(&self, i: u32) -> Quotes {
        let node = self.tree.node(i);
        match node.style {
            _ if node.shape != Shape::Scalar => Quotes::Plain,
            event::Style::Single => Quotes::Single,
            event::Style::Double => Quotes::Double,
            _ => Quotes::Plain,
        }
    }

    /// A boolean keeps the words of the file (`yes`, `off`).
    fn in_old_words(&self, i: u32, value: &Value) -> Option<String> {
        let node = self.tree.node(i);
        match value {
            Value::Bool(b)
                if node.shape == Shape::Scalar
                    && node.tag == Tag::Bool
                    && node.style == event::Style::Plain =>
            {
                Some(bool_like(self.tree.scalar(i), *b))
            }
            _ => None,
        }
    }

    /// Take the tag away, which belongs to the old value; an anchor stays.
    pub(super) fn drop_tag(&self, plan: &mut Plan, i: u32) {
        let tree = self.tree;
        let node = tree.node(i);
        if !node.tagged() {
            return;
        }
        let (start, end) = (node.start as usize, tree.props_end(i));
        let props = &tree.text[start..end];
        let anchor = props
            .split([' ', '\t', '\n', '\r'])
            .find(|word| word.starts_with('&'))
            .unwrap_or("");
        let content = tree.content_start(i);
        let gap_end = if anchor.is_empty() && skip_blanks(&tree.text, end) == content {
            content
        } else {
            end
        };
        plan.splice(start..gap_end, anchor);
    }

    fn replace_in_flow(&self, plan: &mut Plan, i: u32, item: Option<&Item>, value: &Value) {
        let tree = self.tree;
        let text = self
            .in_old_words(i, value)
            .unwrap_or_else(|| self.style.flow(value, self.quotes(i)));
        if tree.node(i).is_absent() {
            match item {
                Some(Item {
                    indicator: Some(p), ..
                }) => plan.insert(*p, format!(" {text}")),
                Some(Item { key: Some(k), .. }) => {
                    plan.insert(tree.true_end(*k), format!(": {text}"));
                }
                _ => plan.insert(tree.node(i).start as usize, text),
            }
            return;
        }
        self.drop_tag(plan, i);
        let start = tree.content_start(i);
        let gap = self.gap_before(start);
        let end = tree.true_end(i).max(start);
        let rest = self.gap_behind(end);
        plan.splice(start..end, format!("{gap}{text}{rest}"));
    }

    /// A blank, when the byte before `p` is not one and would stick to what is put there.
    pub(super) fn gap_before(&self, p: usize) -> &'static str {
        let before = self.tree.text.as_bytes()[..p].last();
        let sticks = before
            .is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b':' | b'-' | b'_' | b'!'));
        if sticks { " " } else { "" }
    }

    /// A blank, when a comment touches the value that ends at `p` (`"a"# comment`).
    pub(super) fn gap_behind(&self, p: usize) -> &'static str {
        if self.tree.text.as_bytes().get(p) == Some(&b'#') {
            " "
        } else {
            ""
        }
    }

    /// Head and body of the new value in block style, when what it replaces starts at `content`.
    pub(super) fn block_text(
        &self,
        i: u32,
        item: Option<&Item>,
        value: &Value,
        content: Option<usize>,
    ) -> Text {
        let quotes = self.quotes(i);
        let mut text = match item {
            Some(item) if item.key.is_some() => {
                self.style
                    .after_key(value, column(&self.tree.text, item.start), quotes)
            }
            Some(item) if is_parts(value) && self.tree.node(i).anchored() => {
                // Behind an anchor on the same line a key would take the anchor.
                let at = column(&self.tree.text, item.start) + 2;
                let text = self.style.alone(value, at, quotes);
                Text {
                    head: String::new(),
                    body: format!("{}{}{}", self.style.eol, " ".repeat(at), text.joined()),
                }
            }
            Some(item) => {
                let at = match content {
                    Some(p) => column(&self.tree.text, p),
                    None => column(&self.tree.text, item.start) + 2,
                };
                self.style.alone(value, at, quotes)
            }
            None => self.style.alone(value, 0, quotes),
        };
        if let Some(word) = self.in_old_words(i, value) {
            text.head = word;
        }
        text
    }

    /// Write behind an indicator that ends at `p`, before blanks and a comment.
    pub(super) fn insert_behind(&self, plan: &mut Plan, p: usize, head: &str) {
        if head.is_empty() {
            return;
        }
        let t = &self.tree.text;
        let q = skip_blanks(t, p);
        let blanks = &t[p..q];
        let at_end = q == line_end(t, q);
        if blanks.contains('\t') && !at_end {
            // A tab before a comment is read by one of Hermes' two readers only.
            plan.splice(p..q, format!(" {head} "));
        } else if at_end && blanks.starts_with(' ') {
            plan.insert(p + 1, head);
        } else {
            plan.insert(p, format!(" {head}"));
        }
    }

    fn fill_absent(&self, plan: &mut Plan, item: Option<&Item>, value: &Value) {
        let t = &self.tree.text;
        let Some(item) = item else { return };
        let mut text = self.block_text(item.value, Some(item), value, None);
        if let Some(p) = item.indicator {
            if item.key.is_none() && is_parts(value) && skip_blanks(t, p) < line_end(t, p) {
                // `- # comment`: the comment stays behind the dash, the value starts below.
                let indent = " ".repeat(column(t, item.start) + 2);
                text = Text {
                    head: String::new(),
                    body: format!("{}{indent}{}", self.style.eol, text.joined()),
                };
            }
            self.insert_behind(plan, p, &text.head);
            plan.insert(line_end(t, p), text.body);
        } else {
            // `? key` without a `:`
            let indent = " ".repeat(column(t, item.start));
            let gap = if text.head.is_empty() { "" } else { " " };
            plan.insert(
                line_end(t, item.end),
                format!("{}{indent}:{gap}{}{}", self.style.eol, text.head, text.body),
            );
        }
    }
}

/// Whether a value is a collection with something in it.
pub(super) fn is_parts(value: &Value) -> bool {
    match value {
        Value::List(items) => !items.is_empty(),
        Value::Map(entries) => !entries.is_empty(),
        _ => false,
    }
}
