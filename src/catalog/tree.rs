//! Patterns as a tree, so that a look-up costs the length of the path and not of the catalogue.
//!
//! Responsible for: which pattern a path is an instance of, and whether patterns lie below it.

use super::pattern::{Pattern, Segment};
use crate::document::Step;

/// One step of many patterns.
#[derive(Debug, Default)]
struct Node {
    /// Few enough that comparing them one by one is faster than anything else.
    names: Vec<(String, usize)>,
    any: Option<usize>,
    item: Option<usize>,
    /// The pattern that ends here, as the caller numbers them.
    ends: Option<usize>,
}

impl Node {
    fn named(&self, name: &str) -> Option<usize> {
        self.names
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, at)| *at)
    }

    fn has_children(&self) -> bool {
        self.any.is_some() || self.item.is_some() || !self.names.is_empty()
    }
}

/// Many patterns. A fixed name is preferred to an open step, earlier steps first.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
}

impl Tree {
    pub(super) fn new() -> Self {
        Self {
            nodes: vec![Node::default()],
        }
    }

    /// Add a pattern under the caller's number.
    pub(super) fn add(&mut self, pattern: &Pattern, number: usize) {
        let mut at = 0;
        for segment in &pattern.0 {
            let free = self.nodes.len();
            let node = &mut self.nodes[at];
            at = match segment {
                Segment::Name(name) => node.named(name).unwrap_or_else(|| {
                    node.names.push((name.clone(), free));
                    free
                }),
                Segment::Any(_) => *node.any.get_or_insert(free),
                Segment::Item => *node.item.get_or_insert(free),
            };
            if at == free {
                self.nodes.push(Node::default());
            }
        }
        self.nodes[at].ends = self.nodes[at].ends.or(Some(number));
    }

    /// The number of the pattern that `path` is an instance of.
    pub(super) fn find(&self, path: &[Step], root: &dyn Fn(&str) -> bool) -> Option<usize> {
        self.search(0, path, true, root, &|node| node.ends)
    }

    /// Whether patterns lie below `path`.
    pub(super) fn has_children(&self, path: &[Step], root: &dyn Fn(&str) -> bool) -> bool {
        self.search(0, path, true, root, &|node| {
            node.has_children().then_some(())
        })
        .is_some()
    }

    fn search<T>(
        &self,
        at: usize,
        path: &[Step],
        first: bool,
        root: &dyn Fn(&str) -> bool,
        pick: &dyn Fn(&Node) -> Option<T>,
    ) -> Option<T> {
        let node = self.nodes.get(at)?;
        let Some((step, rest)) = path.split_first() else {
            return pick(node);
        };
        let go = |next: usize| self.search(next, rest, false, root, pick);
        let named = match step {
            Step::Key(name) => node.named(name).and_then(go),
            _ => None,
        };
        named
            .or_else(|| node.item.filter(|_| is_index(step)).and_then(go))
            .or_else(|| {
                // `<platform>.dm_policy` must not claim every section.
                let open = match step {
                    Step::Key(name) => !first || root(name),
                    _ => !first,
                };
                node.any.filter(|_| open).and_then(go)
            })
    }
}

/// Whether a step can be an index. A path that has not met its document yet has words only.
fn is_index(step: &Step) -> bool {
    match step {
        Step::Index(at) => *at >= 0,
        Step::Key(word) => !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit()),
        Step::Bool(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::KeyPath;

    #[test]
    fn open_steps_and_items_match_what_they_stand_for() {
        let mut tree = Tree::new();
        for (n, text) in [
            "moa.presets.<name>.reference_models[].model",
            "<platform>.channel_prompts.<id>",
            "display.platforms.telegram.streaming",
            "display.platforms.<platform>.streaming",
            "display.platforms.<platform>.footer",
        ]
        .iter()
        .enumerate()
        {
            tree.add(&Pattern::parse(text), n);
        }
        let chat = |name: &str| name == "discord";
        let key = |k: &str| Step::Key(k.into());
        let path = [
            key("moa"),
            key("presets"),
            key("a.b"),
            key("reference_models"),
            Step::Index(0),
            key("model"),
        ];
        assert_eq!(tree.find(&path, &chat), Some(0));
        assert_eq!(tree.find(&path[..5], &chat), None);
        assert!(tree.has_children(&path[..3], &chat));
        assert!(!tree.has_children(&path, &chat));
        let mut other = path.clone();
        other[4] = key("first");
        assert_eq!(tree.find(&other, &chat), None);
        other[4] = key("0");
        assert_eq!(tree.find(&other, &chat), Some(0));
        let id = |platform| [key(platform), key("channel_prompts"), Step::Index(12_345)];
        assert_eq!(tree.find(&id("discord"), &chat), Some(1));
        assert_eq!(tree.find(&id("agent"), &chat), None);
        let on = |platform, leaf| KeyPath::of(&["display", "platforms", platform, leaf]).0;
        assert_eq!(tree.find(&on("telegram", "streaming"), &chat), Some(2));
        assert_eq!(tree.find(&on("irc", "streaming"), &chat), Some(3));
        // The fixed name leads nowhere here, the open step does.
        assert_eq!(tree.find(&on("telegram", "footer"), &chat), Some(4));
    }
}
