//! Where a path leads in a tree.
//!
//! Responsible for: matching typed steps with keys, following aliases and merge keys, and typing
//! the segments that a user wrote. Not responsible for: values ([`super::read`]), or the stricter
//! search of an edit ([`super::edit`]).

use super::check::is_merge;
use super::read::Entries;
use super::tree::{Shape, Tree};
use super::typing::{Tag, bool_word, construct};
use crate::document::{KeyPath, Step, Value};

/// Whether key node `k` is the key that `step` names, type and all.
pub(super) fn key_is(tree: &Tree, k: u32, step: &Step) -> bool {
    let real = tree.real(k);
    let tag = tree.node(real).tag;
    match step {
        Step::Key(name) => matches!(tag, Tag::Str | Tag::Value) && tree.scalar(real) == name,
        Step::Index(n) => {
            tag == Tag::Int && construct(tag, tree.scalar(real)) == Ok(Value::Int(i128::from(*n)))
        }
        Step::Bool(b) => {
            tag == Tag::Bool && construct(tag, tree.scalar(real)) == Ok(Value::Bool(*b))
        }
    }
}

/// Whether `step` is the text of a key that has no type of its own among the steps.
pub(super) fn key_is_odd(tree: &Tree, k: u32, step: &Step) -> bool {
    let real = tree.real(k);
    let odd = matches!(
        tree.node(real).tag,
        Tag::Null | Tag::Float | Tag::Timestamp | Tag::Binary
    );
    odd && matches!(step, Step::Key(name) if odd_name(tree, real) == name)
}

/// The name by which a key without a step type goes.
pub(super) fn odd_name(tree: &Tree, real: u32) -> &str {
    let text = tree.scalar(real);
    if text.is_empty() { "null" } else { text }
}

/// Key and value nodes of the entry of `map` that `step` names, the last one of duplicates;
/// merge keys are looked into when the mapping itself has no such key.
fn entry(tree: &Tree, map: u32, step: &Step) -> Option<(u32, u32)> {
    let own = |is: &dyn Fn(u32) -> bool| tree.entries(map).filter(|(k, _)| is(*k)).last();
    if let Some(found) = own(&|k| key_is(tree, k, step)) {
        return Some(found);
    }
    if tree.entries(map).any(|(k, _)| is_merge(tree, k))
        && let Some(found) = Entries::of(tree, map)
            .list
            .into_iter()
            .find(|(k, _)| key_is(tree, *k, step))
    {
        return Some(found);
    }
    own(&|k| key_is_odd(tree, k, step))
}

/// Where a path leads: the key node (none for elements and the root) and the value node.
pub(super) fn find(tree: &Tree, path: &KeyPath) -> Option<(Option<u32>, u32)> {
    let mut at = (None, tree.root()?);
    for step in &path.0 {
        let here = tree.real(at.1);
        at = match (tree.node(here).shape, step) {
            (Shape::Mapping, _) => {
                let (k, v) = entry(tree, here, step)?;
                (Some(k), v)
            }
            (Shape::Sequence, Step::Index(n)) => {
                let n = usize::try_from(*n).ok()?;
                (None, tree.children(here).nth(n)?)
            }
            _ => return None,
        };
    }
    Some(at)
}

/// Type the segments of a path as the user wrote it, by what the file holds.
pub(super) fn resolve(tree: &Tree, segments: &[String]) -> KeyPath {
    let mut path = KeyPath::default();
    let mut here = tree.root().map(|r| tree.real(r));
    let mut rest = segments;
    while let Some(first) = rest.first() {
        let shape = here.map(|h| tree.node(h).shape);
        let (taken, step, next) = match (shape, here) {
            (Some(Shape::Mapping), Some(map)) => named(tree, map, rest),
            (Some(Shape::Sequence), Some(list)) => match index(first) {
                Some(n) => {
                    let child = usize::try_from(n)
                        .ok()
                        .and_then(|n| tree.children(list).nth(n));
                    (1, Step::Index(n), child)
                }
                None => (1, Step::Key(first.clone()), None),
            },
            _ => (1, Step::Key(first.clone()), None),
        };
        path.0.push(step);
        here = next.map(|n| tree.real(n));
        rest = &rest[taken..];
    }
    path
}

/// A segment that can be a list index.
fn index(segment: &str) -> Option<i64> {
    let digits = segment.bytes().all(|b| b.is_ascii_digit());
    (digits && !segment.is_empty() && segment.len() < 10)
        .then(|| segment.parse().ok())
        .flatten()
}

/// The key of `map` that the segments start with: the longest name with dots first.
fn named(tree: &Tree, map: u32, rest: &[String]) -> (usize, Step, Option<u32>) {
    for n in (2..=rest.len()).rev() {
        let step = Step::Key(rest[..n].join("."));
        if let Some((_, v)) = entry(tree, map, &step) {
            return (n, step, Some(v));
        }
    }
    let name = &rest[0];
    let number = name.parse::<i64>().ok().filter(|n| n.to_string() == *name);
    let steps = [
        number.map(Step::Index),
        Some(Step::Key(name.clone())),
        bool_word(name).map(Step::Bool),
    ];
    for step in steps.into_iter().flatten() {
        if let Some((_, v)) = entry(tree, map, &step) {
            return (1, step, Some(v));
        }
    }
    (1, Step::Key(name.clone()), None)
}
