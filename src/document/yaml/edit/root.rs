//! The first value of a document that has none.
//!
//! Responsible for: empty files, files of comments, bare markers and a null root. Not responsible
//! for: documents that hold something.

use super::replace::is_parts;
use super::{Job, Plan};
use crate::document::yaml::proof::Part;
use crate::document::yaml::scalar::Quotes;
use crate::document::yaml::text::{first_on_line, line_start};
use crate::document::{EditError, Value};

impl Job<'_> {
    /// Make `value` the first value of a document that has none.
    pub(super) fn fill_root(&self, value: &Value) -> Result<Plan, EditError> {
        let tree = self.tree;
        let t = &tree.text;
        let root = tree.root();
        let mut plan = Plan::default();
        let new = Part::New {
            instead: root,
            values: vec![value.clone()],
        };
        plan.claim.parts = vec![new];
        let text = self.style.alone(value, 0, Quotes::Plain).joined();
        let eol = self.style.eol;
        match root {
            Some(i) if !tree.node(i).is_absent() => {
                self.drop_tag(&mut plan, i);
                let (start, end) = (tree.content_start(i), tree.true_end(i));
                let fresh = first_on_line(t, start) && !tree.node(i).has_props();
                let lead = if fresh || !is_parts(value) {
                    self.gap_before(start)
                } else {
                    eol
                };
                plan.splice(start..end.max(start), format!("{lead}{text}"));
            }
            _ => {
                let at = root.map_or(t.len(), |i| tree.node(i).start as usize);
                if line_start(t, at) == at {
                    plan.insert(at, format!("{text}{eol}"));
                } else if at == t.len() {
                    plan.insert(at, format!("{eol}{text}"));
                } else {
                    return Err(self.unsafe_at(at, "the document has no place for a first value"));
                }
            }
        }
        Ok(plan)
    }
}
