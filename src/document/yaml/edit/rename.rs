//! Another name for a key, in place.
//!
//! Responsible for: the key's own bytes. Not responsible for: its value.

use super::site::MAX_KEY;
use super::{Job, Plan};
use crate::document::yaml::event;
use crate::document::yaml::lookup::key_is;
use crate::document::yaml::proof::{Claim, Part};
use crate::document::yaml::scalar::{Place, Quotes, double, plain_is_safe, string};
use crate::document::yaml::tree::Shape;
use crate::document::{EditError, Step, Value};

impl Job<'_> {
    /// Rename the key at the path, all duplicates of it.
    pub(super) fn rename(&self, name: &str) -> Result<Plan, EditError> {
        let tree = self.tree;
        let hop = match self.site.hops.last() {
            Some(hop) if self.site.taken == self.path.0.len() => hop,
            _ => return Err(self.not_found()),
        };
        let bad = |reason: &str| EditError::BadName {
            key: name.chars().take(40).collect(),
            reason: reason.to_owned(),
        };
        if tree.node(hop.container).shape != Shape::Mapping {
            return Err(bad("an element of a list has no name"));
        }
        if name.len() > MAX_KEY {
            return Err(bad("it is longer than 1,000 bytes"));
        }
        let step = Step::Key(name.to_owned());
        if tree
            .entries(hop.container)
            .any(|(k, _)| key_is(tree, k, &step))
        {
            return Err(bad("the section has a key of that name already"));
        }
        let mut plan = Plan::default();
        let mut cuts = Vec::new();
        let entries: Vec<(u32, u32)> = tree.entries(hop.container).collect();
        for hit in &hop.hits {
            let k = entries[*hit].0;
            if tree.alias_count(k) > 0 {
                return Err(self.unsafe_at(
                    tree.node(k).start as usize,
                    "the key has an anchor that an alias uses as a value",
                ));
            }
            if tree.node(k).is_absent() {
                return Err(self.unsafe_at(
                    tree.node(k).start as usize,
                    "the key is left out in the file",
                ));
            }
            let start = if tree.node(k).tagged() {
                tree.node(k).start as usize
            } else {
                tree.content_start(k)
            };
            plan.splice(start..tree.true_end(k).max(start), self.new_name(k, name));
            cuts.push((
                k..k + 1,
                Some(Part::New {
                    instead: None,
                    values: vec![Value::Str(name.to_owned())],
                }),
            ));
        }
        plan.claim = Claim::replacing(tree, cuts, self.site.containers());
        Ok(plan)
    }

    /// The name in the quotes of the old one.
    fn new_name(&self, k: u32, name: &str) -> String {
        let node = self.tree.node(k);
        match node.style {
            event::Style::Single if node.shape == Shape::Scalar => {
                string(name, Place::Key, Quotes::Single)
            }
            event::Style::Double if node.shape == Shape::Scalar => double(name),
            // A key that is plain everywhere stays readable when lines are moved.
            _ if plain_is_safe(name, Place::Key) && plain_is_safe(name, Place::Flow) => name.into(),
            _ => double(name),
        }
    }
}
