//! Reading a tree: values, lookups, leaves.
//!
//! Responsible for: what PyYAML would hand to Hermes (merge keys resolved, last duplicate in
//! force), and where a path leads. Not responsible for: changing anything ([`super::edit`]).

use super::check::is_merge;
use super::lookup::odd_name;
use super::tree::{Shape, Tree};
use super::typing::{Tag, construct};
use crate::document::{KeyPath, Step, Value};
use std::collections::HashMap;

/// One scalar, empty collection or anything else that has no parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Leaf {
    /// Where it stands. Keys that a [`Step`] has no type for (numbers with a point, dates, null)
    /// are given as the text in the file.
    pub path: KeyPath,
    /// What Hermes reads.
    pub value: Value,
    /// 1-based line of its key (or of the element).
    pub line: usize,
}

/// The entries of a mapping as Python's dict holds them: by key, first position, last value.
#[derive(Default)]
pub(super) struct Entries {
    pub list: Vec<(u32, u32)>,
    seen: HashMap<KeyId, usize>,
}

/// Keys that Python's dict takes for equal compare equal: `1`, `1.0` and `true` are one key.
#[derive(PartialEq, Eq, Hash)]
enum KeyId {
    Null,
    Number(String),
    Text(String),
    Other(u8, String),
}

fn key_id(tree: &Tree, k: u32) -> KeyId {
    let real = tree.real(k);
    let text = tree.scalar(real);
    match key_value(tree, k) {
        Value::Null => KeyId::Null,
        Value::Bool(b) => KeyId::Number(i32::from(b).to_string()),
        Value::Int(n) => KeyId::Number(n.to_string()),
        Value::BigInt(n) => KeyId::Number(n),
        // Two NaN are two keys for Python.
        Value::Float(f) if f.is_nan() => KeyId::Other(1, format!("{k}")),
        Value::Float(f) if f.fract() == 0.0 => KeyId::Number(format!("{f:.0}").replace("-0", "0")),
        Value::Float(f) => KeyId::Number(format!("{f:?}")),
        Value::Timestamp(t) => KeyId::Other(2, t),
        _ if tree.node(real).tag == Tag::Binary => KeyId::Other(3, text.to_owned()),
        Value::Str(s) => KeyId::Text(s),
        Value::List(_) | Value::Map(_) => KeyId::Other(4, format!("{k}")),
    }
}

impl Entries {
    /// Collect the entries of mapping `map` (not an alias).
    pub(super) fn of(tree: &Tree, map: u32) -> Self {
        let mut out = Self::default();
        out.merges(tree, map);
        for (k, v) in tree.entries(map) {
            if !is_merge(tree, k) {
                out.put(tree, k, v);
            }
        }
        out
    }

    fn put(&mut self, tree: &Tree, k: u32, v: u32) {
        match self.seen.entry(key_id(tree, k)) {
            std::collections::hash_map::Entry::Occupied(at) => self.list[*at.get()].1 = v,
            std::collections::hash_map::Entry::Vacant(free) => {
                free.insert(self.list.len());
                self.list.push((k, v));
            }
        }
    }

    /// What the merge keys of `map` bring in, the weakest first.
    fn merges(&mut self, tree: &Tree, map: u32) {
        for (k, v) in tree.entries(map) {
            if !is_merge(tree, k) {
                continue;
            }
            let real = tree.real(v);
            if real == map {
                continue;
            }
            if tree.node(real).shape == Shape::Mapping {
                self.merged(tree, real);
            } else {
                let sources: Vec<u32> = tree.children(real).collect();
                for source in sources.into_iter().rev() {
                    self.merged(tree, tree.real(source));
                }
            }
        }
    }

    fn merged(&mut self, tree: &Tree, map: u32) {
        self.merges(tree, map);
        for (k, v) in tree.entries(map) {
            if !is_merge(tree, k) {
                self.put(tree, k, v);
            }
        }
    }
}

/// The value of a key node.
pub(super) fn key_value(tree: &Tree, k: u32) -> Value {
    let real = tree.real(k);
    match tree.node(real).tag {
        // PyYAML takes a plain `=` for text when it is a key.
        Tag::Value => Value::Str(tree.scalar(real).to_owned()),
        _ => value(tree, real),
    }
}

/// The value of a node, aliases and merge keys resolved.
pub(super) fn value(tree: &Tree, i: u32) -> Value {
    let i = tree.real(i);
    let node = tree.node(i);
    match (node.shape, node.tag) {
        (Shape::Scalar | Shape::Alias, tag) => {
            construct(tag, tree.scalar(i)).unwrap_or(Value::Null)
        }
        (Shape::Sequence, Tag::Omap | Tag::Pairs) => Value::List(
            tree.children(i)
                .filter_map(|c| tree.entries(tree.real(c)).next())
                .map(|(k, v)| Value::List(vec![key_value(tree, k), value(tree, v)]))
                .collect(),
        ),
        (Shape::Sequence, _) => Value::List(tree.children(i).map(|c| value(tree, c)).collect()),
        (Shape::Mapping, tag) => Value::Map(
            Entries::of(tree, i)
                .list
                .into_iter()
                .map(|(k, v)| {
                    let v = if tag == Tag::Set {
                        Value::Null
                    } else {
                        value(tree, v)
                    };
                    (key_value(tree, k), v)
                })
                .collect(),
        ),
    }
}

/// The step that names key node `k`.
pub(super) fn step_of(tree: &Tree, k: u32) -> Step {
    match key_value(tree, k) {
        Value::Str(s) => Step::Key(s),
        Value::Bool(b) => Step::Bool(b),
        Value::Int(n) => i64::try_from(n).map_or_else(|_| Step::Key(n.to_string()), Step::Index),
        _ => Step::Key(odd_name(tree, tree.real(k)).to_owned()),
    }
}

/// Every leaf in file order. `line` turns a byte offset into a line.
pub(super) fn leaves(tree: &Tree, line: &dyn Fn(usize) -> usize) -> Vec<Leaf> {
    let mut out = Vec::new();
    if let Some(root) = tree.root() {
        let at = tree.node(root).start as usize;
        collect(tree, root, at, &mut KeyPath::default(), line, &mut out);
    }
    out
}

fn collect(
    tree: &Tree,
    i: u32,
    at: usize,
    path: &mut KeyPath,
    line: &dyn Fn(usize) -> usize,
    out: &mut Vec<Leaf>,
) {
    let real = tree.real(i);
    match tree.node(real).shape {
        Shape::Mapping if !tree.is_empty(real) => {
            for (k, v) in Entries::of(tree, real).list {
                path.0.push(step_of(tree, k));
                collect(tree, v, tree.node(k).start as usize, path, line, out);
                path.0.pop();
            }
        }
        Shape::Sequence if !tree.is_empty(real) => {
            for (n, child) in tree.children(real).enumerate() {
                path.0
                    .push(Step::Index(i64::try_from(n).unwrap_or(i64::MAX)));
                collect(
                    tree,
                    child,
                    tree.node(child).start as usize,
                    path,
                    line,
                    out,
                );
                path.0.pop();
            }
        }
        _ => out.push(Leaf {
            path: path.clone(),
            value: value(tree, real),
            line: line(at),
        }),
    }
}

/// Paths of keys that a mapping has more than once, with the key nodes in file order.
pub(super) fn duplicates(tree: &Tree) -> Vec<(KeyPath, Vec<u32>)> {
    let mut out = Vec::new();
    if let Some(root) = tree.root() {
        twice(tree, root, &mut KeyPath::default(), &mut out);
    }
    out
}

fn twice(tree: &Tree, i: u32, path: &mut KeyPath, out: &mut Vec<(KeyPath, Vec<u32>)>) {
    match tree.node(i).shape {
        Shape::Mapping => {
            let mut groups: Vec<Vec<u32>> = Vec::new();
            let mut seen = HashMap::new();
            for (k, _) in tree.entries(i) {
                if !is_merge(tree, k) {
                    let group = *seen.entry(key_id(tree, k)).or_insert(groups.len());
                    if group == groups.len() {
                        groups.push(Vec::new());
                    }
                    groups[group].push(k);
                }
            }
            for group in groups.into_iter().filter(|g| g.len() > 1) {
                out.push((path.child(step_of(tree, group[0])), group));
            }
            for (k, v) in tree.entries(i) {
                if tree.node(v).is_collection() {
                    path.0.push(step_of(tree, k));
                    twice(tree, v, path, out);
                    path.0.pop();
                }
            }
        }
        Shape::Sequence => {
            for (n, child) in tree.children(i).enumerate() {
                path.0
                    .push(Step::Index(i64::try_from(n).unwrap_or(i64::MAX)));
                twice(tree, child, path, out);
                path.0.pop();
            }
        }
        Shape::Scalar | Shape::Alias => {}
    }
}
