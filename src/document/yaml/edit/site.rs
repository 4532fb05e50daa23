//! Where a path leads in a tree, and the style of the text around it.
//!
//! Responsible for: following a typed path as far as it exists, and the indentation that new
//! children should have there. Not responsible for: changing anything.

use crate::document::yaml::event;
use crate::document::yaml::lookup::key_is;
use crate::document::yaml::shape::Item;
use crate::document::yaml::text::{column, line_start};
use crate::document::yaml::tree::{Shape, Tree};
use crate::document::{KeyPath, Step};

/// Longest key that PyYAML takes without a `?`, less the quotes and a margin.
pub(super) const MAX_KEY: usize = 1_000;

/// One collection on the way.
#[derive(Debug)]
pub(super) struct Hop {
    pub container: u32,
    /// Positions of the entries that the step names (several for duplicate keys), or of the
    /// element.
    pub hits: Vec<usize>,
}

/// Where a path ends.
#[derive(Debug)]
pub(super) struct Site {
    /// The collections that were entered, outermost first.
    pub hops: Vec<Hop>,
    /// The last node reached; none when the file holds no document.
    pub node: Option<u32>,
    /// How many steps of the path exist.
    pub taken: usize,
    /// The first alias that had to be followed to enter a collection.
    pub through: Option<u32>,
}

impl Site {
    /// Follow `path` as far as it exists. Of duplicate keys the last one is followed; merge keys
    /// are not looked into, because what they bring in stands elsewhere.
    pub(super) fn find(tree: &Tree, path: &KeyPath) -> Self {
        let mut site = Self {
            hops: Vec::new(),
            node: tree.root(),
            taken: 0,
            through: None,
        };
        let Some(mut at) = tree.root() else {
            return site;
        };
        for step in &path.0 {
            let here = tree.real(at);
            let hits: Vec<(usize, u32)> = match (tree.node(here).shape, step) {
                (Shape::Mapping, _) => tree
                    .entries(here)
                    .enumerate()
                    .filter(|(_, (k, _))| key_is(tree, *k, step))
                    .map(|(n, (_, v))| (n, v))
                    .collect(),
                (Shape::Sequence, Step::Index(n)) => usize::try_from(*n)
                    .ok()
                    .and_then(|n| Some((n, tree.children(here).nth(n)?)))
                    .into_iter()
                    .collect(),
                _ => Vec::new(),
            };
            let Some((_, value)) = hits.last() else { break };
            if here != at {
                site.through = site.through.or(Some(at));
            }
            at = *value;
            site.hops.push(Hop {
                container: here,
                hits: hits.iter().map(|(n, _)| *n).collect(),
            });
            site.taken += 1;
        }
        // What comes next would be put into the collection that the alias stands for.
        if site.taken < path.0.len() && tree.real(at) != at {
            site.through = site.through.or(Some(at));
        }
        site.node = Some(at);
        site
    }

    /// The entry or element at the end of the path; none for the root.
    pub(super) fn item(&self, tree: &Tree) -> Option<Item> {
        let hop = self.hops.last()?;
        let n = *hop.hits.last()?;
        tree.items(hop.container).into_iter().nth(n)
    }

    /// Every collection that holds the site, outermost first.
    pub(super) fn containers(&self) -> Vec<u32> {
        self.hops.iter().map(|hop| hop.container).collect()
    }

    /// Columns from a mapping to its children, and from a key to the dashes of its list: what the
    /// neighbours use, else what the file uses first, else two.
    pub(super) fn indentation(&self, tree: &Tree) -> (usize, usize) {
        let near = self.containers().into_iter().chain(self.node).rev();
        let all = 0..u32::try_from(tree.nodes.len()).unwrap_or(u32::MAX);
        let mut step = None;
        let mut dash = None;
        for map in near.chain(all) {
            if step.is_some() && dash.is_some() {
                break;
            }
            let node = tree.node(map);
            if node.shape != Shape::Mapping || node.flow() {
                continue;
            }
            for (k, v) in tree.entries(map) {
                let child = tree.node(v);
                if !child.is_collection() || child.flow() || tree.is_empty(v) {
                    continue;
                }
                let key = tree.node(k).start as usize;
                let first = tree.content_start(v);
                if line_start(&tree.text, first) <= key {
                    continue;
                }
                let from = column(&tree.text, key);
                let to = column(&tree.text, first);
                if child.shape == Shape::Sequence {
                    dash = dash.or(to.checked_sub(from));
                } else if to > from {
                    step = step.or(Some(to - from));
                }
                if step.is_some() && dash.is_some() {
                    break;
                }
            }
        }
        let step = step.unwrap_or(2);
        (step, dash.unwrap_or(step))
    }

    /// Whether the flow collection at the site quotes all its keys or strings with `"`.
    pub(super) fn looks_like_json(&self, tree: &Tree) -> bool {
        let innermost = self
            .node
            .filter(|n| tree.node(*n).is_collection())
            .or_else(|| self.hops.last().map(|hop| hop.container));
        let Some(i) = innermost.filter(|i| tree.node(*i).flow()) else {
            return false;
        };
        let double = |n: u32| tree.node(n).style == event::Style::Double;
        let is_text = |n: u32| tree.node(n).tag == crate::document::yaml::typing::Tag::Str;
        if tree.node(i).shape == Shape::Mapping {
            return !tree.is_empty(i) && tree.entries(i).all(|(k, _)| double(k));
        }
        let mut texts = tree.children(i).filter(|c| is_text(*c)).peekable();
        texts.peek().is_some() && texts.all(double)
    }
}
