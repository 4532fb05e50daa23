//! Taking entries and elements out.
//!
//! Responsible for: which lines, commas and comments go with them. Not responsible for: values
//! that stay.

use super::{Job, Plan};
use crate::document::yaml::check::is_merge;
use crate::document::yaml::lookup::{key_is, key_is_odd};
use crate::document::yaml::proof::{Claim, Part};
use crate::document::yaml::read::Entries;
use crate::document::yaml::shape::Item;
use crate::document::yaml::text::{
    bom, break_before, break_len, column, first_on_line, is_blank, line_end, line_start, next_line,
    only_comment_follows, skip_blanks, skip_space,
};
use crate::document::yaml::tree::Shape;
use crate::document::{EditError, Value};
use std::ops::Range;

impl Job<'_> {
    /// Take out the entry (with its duplicates) or element at the path.
    pub(super) fn remove(&self) -> Result<Plan, EditError> {
        let tree = self.tree;
        let hop = match self.site.hops.last() {
            Some(hop) if self.site.taken == self.path.0.len() => hop,
            _ => return Err(self.why_missing()),
        };
        let items = tree.items(hop.container);
        for n in &hop.hits {
            let item = &items[*n];
            if let Some(k) = item.key
                && line_start(&tree.text, tree.node(k).start as usize) > item.start
            {
                return Err(self.unsafe_at(
                    item.start,
                    "the key stands on another line than the ? in front of it",
                ));
            }
        }
        if let Some(item) = hop.hits.iter().map(|n| &items[*n]).find(|item| {
            let before = &tree.text[..item.start];
            before.len() > bom(before) && before.ends_with('\u{feff}')
        }) {
            return Err(self.unsafe_at(item.start, "a byte order mark starts this line"));
        }
        let gone: Vec<Range<u32>> = hop
            .hits
            .iter()
            .map(|n| {
                let item = &items[*n];
                item.key.unwrap_or(item.value)..tree.node(item.value).next
            })
            .collect();
        self.keep_anchors(&gone)?;
        let mut plan = Plan::default();
        let emptied = hop.hits.len() == items.len();
        let flow = tree.node(hop.container).flow();
        if emptied && !flow {
            let empty = match tree.node(hop.container).shape {
                Shape::Mapping => Value::Map(Vec::new()),
                _ => Value::List(Vec::new()),
            };
            let around = self.site.hops[..self.site.hops.len() - 1]
                .iter()
                .map(|hop| hop.container)
                .collect();
            plan.claim = Claim::replacing(
                tree,
                vec![(
                    tree.subtree(hop.container),
                    Some(Part::New {
                        instead: Some(hop.container),
                        values: vec![empty],
                    }),
                )],
                around,
            );
            self.empty_block(&mut plan, hop.container, &items);
        } else {
            let cuts = gone.into_iter().map(|range| (range, None)).collect();
            plan.claim = Claim::replacing(tree, cuts, self.site.containers());
            if flow {
                self.cut_flow(&mut plan, hop.container, &items, &hop.hits)?;
            } else {
                self.cut_block(&mut plan, &items, &hop.hits);
            }
        }
        if hop.hits.len() > 1 {
            plan.notes.push(format!(
                "{} stood {} times in this section; all of them were taken out",
                self.key(),
                hop.hits.len()
            ));
        }
        Ok(plan)
    }

    /// The error for a path that is not in the file itself.
    fn why_missing(&self) -> EditError {
        let tree = self.tree;
        let step = self.path.0.get(self.site.taken);
        if let (Some(map), Some(step)) = (self.site.node, step)
            && tree.node(map).shape == Shape::Mapping
        {
            if let Some((merge, _)) = tree.entries(map).find(|(k, _)| is_merge(tree, *k))
                && Entries::of(tree, map)
                    .list
                    .iter()
                    .any(|(k, _)| key_is(tree, *k, step))
            {
                return self.unsafe_at(
                    tree.node(merge).start as usize,
                    "the value comes from the merge key in this line; take it out where it stands",
                );
            }
            if let Some((k, _)) = tree.entries(map).find(|(k, _)| key_is_odd(tree, *k, step)) {
                return self.unsafe_at(
                    tree.node(k).start as usize,
                    "the key in this line is a number, a date or null and not text, so it has no path",
                );
            }
        }
        self.not_found()
    }

    /// Take the lines of some items of a block collection out; others stay.
    fn cut_block(&self, plan: &mut Plan, items: &[Item], hits: &[usize]) {
        let tree = self.tree;
        let t = &tree.text;
        let mut lines = Vec::new();
        for n in hits {
            let item = &items[*n];
            if let Some(range) = tree.lines_of(item) {
                lines.push(range);
                continue;
            }
            // The first of a compact collection (`- a: 1`): what follows moves up to its place.
            let Some(next) = (n + 1..items.len()).find(|m| hits.binary_search(m).is_err()) else {
                continue;
            };
            let (last, _) = tree.below(item.end, column(t, item.start));
            let next = items[next].start;
            let comments_between = t[last.min(next)..next].contains('#');
            if comments_between {
                // A comment cannot stand between the dash and the entry, so the dash gets its
                // own line.
                let mut from = item.start;
                while from > 0 && is_blank(t.as_bytes()[from - 1]) {
                    from -= 1;
                }
                plan.splice(from..last, "");
            } else {
                plan.splice(item.start..next, "");
                // Duplicates further down may lie in what has just gone.
                lines.retain(|range: &Range<usize>| range.start >= next);
            }
        }
        self.cut_lines(plan, lines);
    }

    /// Take whole lines out.
    fn cut_lines(&self, plan: &mut Plan, lines: Vec<Range<usize>>) {
        let t = &self.tree.text;
        let taken = plan.splices.iter().map(|s| s.span.end).max().unwrap_or(0);
        // At the end of a file without a final line break, a single entry takes the break in
        // front with it, so that the file still ends without one.
        let open_end = lines.len() == 1 && break_before(t, t.len()) == 0 && !self.plainer;
        let mut joined: Vec<Range<usize>> = Vec::new();
        for mut range in lines {
            if range.end <= taken {
                continue;
            }
            if self.plainer {
                let mut p = range.end;
                while p < t.len() && break_len(t, skip_blanks(t, p)) > 0 {
                    p = next_line(t, p);
                }
                range.end = p;
            }
            match joined.last_mut() {
                Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
                _ => joined.push(range),
            }
        }
        for mut range in joined {
            if open_end && range.end == t.len() {
                range.start -= break_before(t, range.start);
            }
            plan.splice(range, "");
        }
    }

    /// Take out every item of a block collection and leave `{}` or `[]`.
    fn empty_block(&self, plan: &mut Plan, container: u32, items: &[Item]) {
        let tree = self.tree;
        let t = &tree.text;
        let brackets = match tree.node(container).shape {
            Shape::Mapping => "{}",
            _ => "[]",
        };
        let holder = self.holder();
        let start = tree.content_start(container);
        let own_line = first_on_line(t, start);
        let behind = match holder.as_ref().and_then(|item| item.indicator) {
            Some(p) if own_line => Some(if tree.node(container).has_props() {
                tree.props_end(container)
            } else {
                p
            }),
            _ => None,
        };
        if let Some(p) = behind {
            self.insert_behind(plan, p, brackets);
        }
        let mut lines = Vec::new();
        for (n, item) in items.iter().enumerate() {
            let first = n == 0 && behind.is_none();
            match tree.lines_of(item) {
                Some(range) if first => {
                    let end = range.end - break_before(t, range.end);
                    plan.splice(range.start..end.max(range.start), brackets);
                }
                Some(range) => lines.push(range),
                None if first => {
                    // A comment on its only line stays behind the brackets.
                    let one_line = line_end(t, item.start) == line_end(t, item.end);
                    let end = if one_line {
                        item.end
                    } else {
                        let end = line_end(t, item.end);
                        end - if end == item.end {
                            break_before(t, end)
                        } else {
                            0
                        }
                    };
                    plan.splice(item.start..end, brackets);
                }
                None => {}
            }
        }
        self.cut_lines(plan, lines);
    }

    /// The entry or element whose value is the innermost collection of the site.
    fn holder(&self) -> Option<Item> {
        let hops = &self.site.hops;
        let hop = hops.len().checked_sub(2).and_then(|n| hops.get(n))?;
        let n = *hop.hits.last()?;
        self.tree.items(hop.container).into_iter().nth(n)
    }

    /// Take parts out of a flow collection.
    fn cut_flow(
        &self,
        plan: &mut Plan,
        container: u32,
        items: &[Item],
        hits: &[usize],
    ) -> Result<(), EditError> {
        let tree = self.tree;
        let t = &tree.text;
        if !tree.bracketed(container) {
            return Err(self.unsafe_at(
                tree.node(container).start as usize,
                "this is a single pair inside a list; take the whole element out instead",
            ));
        }
        let open = tree.content_start(container) + 1;
        let close = (tree.node(container).end as usize).saturating_sub(1);
        let comma = |n: usize| {
            let p = skip_space(t, items[n].end);
            (p < close && t.as_bytes()[p] == b',').then_some(p)
        };
        for (at, n) in hits.iter().enumerate() {
            let item = &items[*n];
            let last = n + 1 == items.len();
            let end = comma(*n).map_or(item.end, |p| p + 1);
            // Of two duplicates in a row at the end only one has a comma in front that goes.
            let kept_before = (0..*n).rev().find(|m| hits[..at].binary_search(m).is_err());
            if first_on_line(t, item.start) && only_comment_follows(t, end) {
                let start = tree.glued_above(item);
                plan.splice(start..next_line(t, end), "");
                if last
                    && comma(*n).is_none()
                    && let Some(p) = kept_before.and_then(comma)
                {
                    plan.splice(p..p + 1, "");
                }
            } else if let Some(next) = items.get(n + 1) {
                let stop = if break_len(t, skip_blanks(t, end)) > 0 {
                    skip_blanks(t, end)
                } else {
                    next.start.min(skip_blanks(t, end))
                };
                plan.splice(item.start..stop, "");
            } else if let Some(before) = kept_before {
                // The last part goes with the comma in front of it, or with the one behind it.
                let from = match comma(before) {
                    Some(p) if comma(*n).is_some() => p + 1,
                    _ => items[before].end,
                };
                // A left-out value keeps a blank, because `k:}` would be read as one word.
                let bare = tree.node(items[before].value).is_absent()
                    && items[before].indicator == Some(from);
                plan.splice(from..end, if bare { " " } else { "" });
            } else {
                let blank = |r: Range<usize>| t[r].bytes().all(is_blank);
                let from = if blank(open..item.start) {
                    open
                } else {
                    item.start
                };
                let to = if blank(end..close) { close } else { end };
                plan.splice(from..to, "");
            }
        }
        Ok(())
    }
}
