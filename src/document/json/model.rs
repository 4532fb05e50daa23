//! What a change means for plain values, independent of any text.
//!
//! Responsible for: applying a [`Change`] to a [`Value`], and comparing values type by type; the
//! proof of an edit compares the text with this. Not responsible for: spans and splices.

use std::collections::HashMap;

use super::super::{Change, EditError, KeyPath, Step, Value};

/// Apply a change. Parents that are missing, or null, become sections.
pub(in crate::document) fn apply(
    root: &mut Value,
    path: &KeyPath,
    change: &Change,
) -> Result<(), EditError> {
    match change {
        Change::Set(value) => {
            *place(root, path)? = value.clone();
            Ok(())
        }
        Change::Remove => remove(root, path),
        Change::Append(value) => {
            let list = place(root, path)?;
            if *list == Value::Null {
                *list = Value::List(Vec::new());
            }
            list_of(list, path)?.push(value.clone());
            Ok(())
        }
        Change::Insert(at, value) => {
            let list = list_of(find(root, path).ok_or_else(|| not_found(path))?, path)?;
            if *at > list.len() {
                return Err(not_found(&path.child(index(*at))));
            }
            list.insert(*at, value.clone());
            Ok(())
        }
        Change::Move { from, to } => {
            let list = list_of(find(root, path).ok_or_else(|| not_found(path))?, path)?;
            for at in [*from, *to] {
                if at >= list.len() {
                    return Err(not_found(&path.child(index(at))));
                }
            }
            let item = list.remove(*from);
            list.insert(*to, item);
            Ok(())
        }
        Change::Rename(new) => rename(root, path, new),
    }
}

/// Equal in type and content; mappings in any order.
pub(in crate::document) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Map(a), Value::Map(b)) => {
            let in_order = a.len() == b.len()
                && a.iter()
                    .zip(b)
                    .all(|((ka, va), (kb, vb))| ka == kb && same(va, vb));
            in_order || (a.len() == b.len() && same_in_any_order(a, b))
        }
        (a, b) => a == b,
    }
}

/// Every key of `a` has the same value in `b`; both have as many.
fn same_in_any_order(a: &[(Value, Value)], b: &[(Value, Value)]) -> bool {
    let by_name: HashMap<&str, &Value> = b
        .iter()
        .filter_map(|(key, value)| Some((key.as_str()?, value)))
        .collect();
    a.iter().all(|(key, value)| {
        let other = match key.as_str() {
            Some(key) => by_name.get(key).copied(),
            None => b.iter().find(|(k, _)| k == key).map(|(_, v)| v),
        };
        other.is_some_and(|other| same(value, other))
    })
}

pub(in crate::document) fn not_found(path: &KeyPath) -> EditError {
    EditError::NotFound {
        key: path.to_string(),
    }
}

/// A step as the key of an object.
pub(in crate::document) fn name(step: &Step) -> String {
    match step {
        Step::Key(key) => key.clone(),
        Step::Index(at) => at.to_string(),
        Step::Bool(on) => on.to_string(),
    }
}

/// A step that is an index.
pub(in crate::document) fn index(at: usize) -> Step {
    Step::Index(i64::try_from(at).unwrap_or(i64::MAX))
}

pub(in crate::document) fn wrong_parent(path: &KeyPath, depth: usize, value: &Value) -> EditError {
    let parent = KeyPath(path.0[..depth].to_vec());
    EditError::WrongParent {
        key: path.to_string(),
        parent: if depth == 0 {
            "the file".to_owned()
        } else {
            parent.to_string()
        },
        kind: value.kind(),
    }
}

/// Where a value goes, made when it is missing.
fn place<'a>(root: &'a mut Value, path: &KeyPath) -> Result<&'a mut Value, EditError> {
    let mut here = root;
    for (depth, step) in path.0.iter().enumerate() {
        if depth > 0 && *here == Value::Null {
            *here = Value::Map(Vec::new());
        }
        let is_last = depth + 1 == path.0.len();
        here = match here {
            Value::Map(entries) => {
                let key = key_of(step);
                let there = entries.iter().position(|(k, _)| *k == key);
                let at = there.unwrap_or_else(|| {
                    let fresh = if is_last {
                        Value::Null
                    } else {
                        Value::Map(Vec::new())
                    };
                    entries.push((key, fresh));
                    entries.len() - 1
                });
                &mut entries[at].1
            }
            Value::List(items) => match step {
                Step::Index(at) => usize::try_from(*at)
                    .ok()
                    .and_then(|at| items.get_mut(at))
                    .ok_or_else(|| not_found(path))?,
                _ => return Err(wrong_parent(path, depth, &Value::List(Vec::new()))),
            },
            other => return Err(wrong_parent(path, depth, other)),
        };
    }
    Ok(here)
}

fn key_of(step: &Step) -> Value {
    Value::Str(name(step))
}

fn find<'a>(root: &'a mut Value, path: &KeyPath) -> Option<&'a mut Value> {
    path.0.iter().try_fold(root, |here, step| match here {
        Value::Map(entries) => {
            let key = key_of(step);
            entries.iter_mut().find(|(k, _)| *k == key).map(|(_, v)| v)
        }
        Value::List(items) => match step {
            Step::Index(at) => items.get_mut(usize::try_from(*at).ok()?),
            _ => None,
        },
        _ => None,
    })
}

fn list_of<'a>(value: &'a mut Value, path: &KeyPath) -> Result<&'a mut Vec<Value>, EditError> {
    match value {
        Value::List(items) => Ok(items),
        other => Err(EditError::Unsafe {
            key: path.to_string(),
            line: 1,
            reason: format!("it holds {}, not a list", other.kind()),
        }),
    }
}

fn parent<'a, 'p>(
    root: &'a mut Value,
    path: &'p KeyPath,
) -> Result<(&'a mut Value, &'p Step), EditError> {
    let (last, parents) = path.0.split_last().ok_or_else(|| EditError::Unsafe {
        key: "the file".to_owned(),
        line: 1,
        reason: "the whole file cannot be taken out or renamed".to_owned(),
    })?;
    let parent = find(root, &KeyPath(parents.to_vec())).ok_or_else(|| not_found(path))?;
    Ok((parent, last))
}

fn remove(root: &mut Value, path: &KeyPath) -> Result<(), EditError> {
    let (parent, last) = parent(root, path)?;
    match parent {
        Value::Map(entries) => {
            let key = key_of(last);
            let at = entries.iter().position(|(k, _)| *k == key);
            entries.remove(at.ok_or_else(|| not_found(path))?);
        }
        Value::List(items) => match last {
            Step::Index(at) => {
                let at = usize::try_from(*at).ok().filter(|at| *at < items.len());
                items.remove(at.ok_or_else(|| not_found(path))?);
            }
            _ => return Err(not_found(path)),
        },
        _ => return Err(not_found(path)),
    }
    Ok(())
}

fn rename(root: &mut Value, path: &KeyPath, new: &str) -> Result<(), EditError> {
    let (parent, last) = parent(root, path)?;
    let Value::Map(entries) = parent else {
        return Err(not_found(path));
    };
    let (old, new_key) = (key_of(last), Value::Str(new.to_owned()));
    let at = entries.iter().position(|(k, _)| *k == old);
    let at = at.ok_or_else(|| not_found(path))?;
    if old != new_key && entries.iter().any(|(k, _)| *k == new_key) {
        return Err(EditError::BadName {
            key: new.to_owned(),
            reason: "the section has a key of that name already".to_owned(),
        });
    }
    entries[at].0 = new_key;
    Ok(())
}
