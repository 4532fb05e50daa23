//! What PyYAML's safe constructor refuses although the text parses.
//!
//! Responsible for: one pass over the tree that finds the first node Hermes could not load
//! (unknown combinations of tag and kind, bad dates, plain `=`, keys that are collections, merge
//! keys without a mapping). Not responsible for: building values ([`super::read`]).

use super::event::Fault;
use super::tree::{Shape, Tree};
use super::typing::{Tag, refused};

/// Fails at the first node that PyYAML's safe loader refuses to construct.
pub(super) fn constructible(tree: &Tree) -> Result<(), Fault> {
    let Some(root) = tree.root() else {
        return Ok(());
    };
    value(tree, root)?;
    let mut i = 0;
    while i < tree.nodes.len() {
        let node = u32::try_from(i).unwrap_or(u32::MAX);
        if tree.node(node).is_collection() {
            collection(tree, node)?;
        }
        i += 1;
    }
    Ok(())
}

fn fault(tree: &Tree, i: u32, reason: &str) -> Fault {
    Fault::new(tree.content_start(i), reason)
}

/// A node that stands where a value is read. Collections are looked into by the main loop.
fn value(tree: &Tree, i: u32) -> Result<(), Fault> {
    let node = tree.node(i);
    match node.shape {
        // The target has been looked at where it stands, but a `<<` or `=` is a key there.
        Shape::Alias => match tree.node(tree.real(i)).tag {
            tag @ (Tag::Merge | Tag::Value) => match refused(tag, "") {
                Some(reason) => Err(fault(tree, i, reason)),
                None => Ok(()),
            },
            _ => Ok(()),
        },
        Shape::Scalar => match refused(node.tag, tree.scalar(i)) {
            Some(reason) => Err(fault(tree, i, reason)),
            None => Ok(()),
        },
        Shape::Sequence => match node.tag {
            Tag::Seq | Tag::Omap | Tag::Pairs => Ok(()),
            Tag::Map | Tag::Set => Err(fault(tree, i, "this is tagged as a mapping and is a list")),
            _ => Err(fault(tree, i, "this is tagged as text and is a list")),
        },
        Shape::Mapping => match node.tag {
            Tag::Map | Tag::Set => Ok(()),
            tag if tag.is_scalar() => {
                Err(fault(tree, i, "this is tagged as text and is a mapping"))
            }
            _ => Err(fault(tree, i, "this is tagged as a list and is a mapping")),
        },
    }
}

/// The children of one collection.
fn collection(tree: &Tree, i: u32) -> Result<(), Fault> {
    match (tree.node(i).shape, tree.node(i).tag) {
        (Shape::Sequence, Tag::Omap | Tag::Pairs) => {
            for child in tree.children(i) {
                pair(tree, child)?;
            }
        }
        (Shape::Sequence, _) => {
            for child in tree.children(i) {
                value(tree, child)?;
            }
        }
        _ => {
            for (k, v) in tree.entries(i) {
                key(tree, k)?;
                if is_merge(tree, k) {
                    merged(tree, v)?;
                } else {
                    value(tree, v)?;
                }
            }
        }
    }
    Ok(())
}

/// Whether the key takes other mappings in (`<<`).
pub(super) fn is_merge(tree: &Tree, key: u32) -> bool {
    let node = tree.node(tree.real(key));
    node.shape == Shape::Scalar && node.tag == Tag::Merge
}

fn key(tree: &Tree, k: u32) -> Result<(), Fault> {
    let real = tree.real(k);
    if tree.node(real).is_collection() {
        return Err(fault(
            tree,
            k,
            "a list or mapping is used as a key, which Hermes cannot read",
        ));
    }
    match tree.node(real).tag {
        Tag::Merge | Tag::Value => Ok(()),
        tag => match refused(tag, tree.scalar(real)) {
            Some(reason) => Err(fault(tree, k, reason)),
            None => Ok(()),
        },
    }
}

/// The value of a merge key: a mapping, or a list of mappings.
fn merged(tree: &Tree, v: u32) -> Result<(), Fault> {
    let real = tree.real(v);
    match tree.node(real).shape {
        Shape::Mapping => Ok(()),
        Shape::Sequence
            if tree
                .children(real)
                .all(|c| tree.node(tree.real(c)).shape == Shape::Mapping) =>
        {
            Ok(())
        }
        _ => Err(fault(
            tree,
            v,
            "a merge key << takes a mapping or a list of mappings, and this is neither",
        )),
    }
}

/// One element of `!!omap` or `!!pairs`.
fn pair(tree: &Tree, i: u32) -> Result<(), Fault> {
    let real = tree.real(i);
    let mut entries = tree.entries(real);
    if tree.node(real).shape != Shape::Mapping
        || entries.next().is_none()
        || entries.next().is_some()
    {
        return Err(fault(
            tree,
            i,
            "a list of pairs holds something other than mappings with one entry",
        ));
    }
    Ok(())
}
