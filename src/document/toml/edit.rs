//! Changes of a TOML document as splices.
//!
//! Responsible for: which construct a change touches, what is refused, and the proof. Not
//! responsible for: the bytes around it (`array`, `section`).

use super::{
    Change, EditError, Edited, Form, KeyPath, Kind, Node, TomlDocument, Value, array, model,
    position, render, section,
};
use crate::document::{Splice, apply};

/// See [`TomlDocument::edit`].
pub(super) fn edit(
    doc: &TomlDocument,
    path: &KeyPath,
    change: &Change,
) -> Result<Edited, EditError> {
    let before = doc.root();
    let mut wanted = before.clone();
    model::apply(&mut wanted, path, change)?;
    if model::same(&before, &wanted) && !matches!(change, Change::Move { .. }) {
        return Ok(Edited {
            bytes: doc.bytes.clone(),
            splices: Vec::new(),
            notes: Vec::new(),
        });
    }
    let editor = Editor { doc, path };
    let mut splices = match change {
        Change::Set(value) => editor.set(value)?,
        Change::Append(value) => editor.append(value)?,
        Change::Insert(at, value) => editor.insert(*at, value)?,
        Change::Remove => {
            forget_implied(&doc.root, &mut wanted, path);
            editor.remove()?
        }
        Change::Move { from, to } => editor.shift(*from, *to)?,
        Change::Rename(new) => editor.rename(new)?,
    };
    splices.sort_by_key(|s| s.span.start);
    let proof = |reason: &str| EditError::Proof {
        key: path.to_string(),
        reason: reason.to_owned(),
    };
    let bytes = apply(&doc.bytes, &splices).ok_or_else(|| proof("the splices overlap"))?;
    let after = TomlDocument::parse(&bytes).map_err(|e| proof(&e.reason))?;
    if !model::same(&after.root(), &wanted) {
        return Err(proof("another value would change as well"));
    }
    Ok(Edited {
        bytes,
        splices,
        notes: Vec::new(),
    })
}

/// A table that only its keys imply is gone with the last of them.
fn forget_implied(root: &Node, wanted: &mut Value, path: &KeyPath) {
    for depth in (1..path.0.len()).rev() {
        let parent = KeyPath(path.0[..depth].to_vec());
        let node = root.at(&parent);
        let gone = match node.map(|n| &n.kind) {
            Some(Kind::Table(Form::Implied, members)) => members.len() == 1,
            Some(Kind::Tables(items)) => items.len() == 1,
            _ => false,
        };
        if !gone || model::apply(wanted, &parent, &Change::Remove).is_err() {
            return;
        }
    }
}

struct Editor<'a> {
    doc: &'a TomlDocument,
    path: &'a KeyPath,
}

impl Editor<'_> {
    fn text(&self, value: &Value, literal: bool) -> Result<String, EditError> {
        render::value(value, literal).map_err(|reason| EditError::BadValue {
            key: self.path.to_string(),
            reason,
        })
    }

    /// A shape that is left to an editor.
    fn by_hand(&self, node: &Node, reason: &str) -> EditError {
        EditError::Unsafe {
            key: self.path.to_string(),
            line: position(&self.doc.bytes, node.span.start).0,
            reason: reason.to_owned(),
        }
    }

    fn node(&self) -> Result<&Node, EditError> {
        self.doc
            .root
            .at(self.path)
            .ok_or_else(|| model::not_found(self.path))
    }

    fn parent(&self) -> Option<&Node> {
        let (_, parents) = self.path.0.split_last()?;
        self.doc.root.at(&KeyPath(parents.to_vec()))
    }

    fn set(&self, value: &Value) -> Result<Vec<Splice>, EditError> {
        let mut node = &self.doc.root;
        for (depth, step) in self.path.0.iter().enumerate() {
            let Some(child) = node.child(step) else {
                return self.add(node, depth, value);
            };
            node = child;
        }
        let has_lines = matches!(
            node.kind,
            Kind::Tables(_) | Kind::Table(Form::Header | Form::Implied, _)
        );
        if has_lines {
            return Err(self.by_hand(node, "it is a section; change its keys one at a time"));
        }
        let literal = self.doc.bytes[node.span.start] == b'\'';
        Ok(vec![Splice {
            span: node.span.clone(),
            text: self.text(value, literal)?.into_bytes(),
        }])
    }

    /// Add what is missing from `depth` on, in the table that is there.
    fn add(&self, table: &Node, depth: usize, value: &Value) -> Result<Vec<Splice>, EditError> {
        let text = self.text(value, false)?;
        // Dots inside an inline table make tables that grow inside its braces.
        let inline = (0..=depth).rev().find_map(|depth| {
            let node = self.doc.root.at(&KeyPath(self.path.0[..depth].to_vec()))?;
            match node.kind {
                Kind::Table(Form::Inline, _) => Some((node, depth)),
                _ => None,
            }
        });
        if let Some((braces, depth)) = inline {
            let pair = format!("{} = {text}", render::dotted(self.path, depth));
            return array::add_pair(&self.doc.bytes, braces, &pair)
                .ok_or_else(|| self.by_hand(table, "its inline table has an unusual shape"));
        }
        Ok(vec![section::add(self.doc, depth, self.path, &text)])
    }

    fn append(&self, value: &Value) -> Result<Vec<Splice>, EditError> {
        match self.doc.root.at(self.path).map(|n| &n.kind) {
            Some(Kind::Array(items) | Kind::Tables(items)) => self.insert(items.len(), value),
            _ => self.set(&Value::List(vec![value.clone()])),
        }
    }

    fn insert(&self, at: usize, value: &Value) -> Result<Vec<Splice>, EditError> {
        let node = self.node()?;
        if let Kind::Tables(items) = &node.kind {
            let Value::Map(entries) = value else {
                return Err(self.by_hand(node, "its elements are sections; give a map"));
            };
            if at < items.len() {
                return Err(self.by_hand(node, "a section can only be added at the end"));
            }
            let mut lines = Vec::new();
            for (name, value) in entries {
                let Value::Str(name) = name else {
                    return Err(self.by_hand(node, "TOML keys are strings"));
                };
                lines.push((render::key(name), self.text(value, false)?));
            }
            return Ok(vec![section::add_table(self.doc, self.path, &lines)]);
        }
        let text = self.text(value, false)?;
        array::add(&self.doc.bytes, node, at, &text).ok_or_else(|| model::not_found(self.path))
    }

    fn remove(&self) -> Result<Vec<Splice>, EditError> {
        let node = self.node()?;
        let parent = self.parent().ok_or_else(|| model::not_found(self.path))?;
        let at = match &parent.kind {
            Kind::Array(items) => items.iter().position(|n| n.span == node.span),
            Kind::Table(Form::Inline, members) => {
                members.iter().position(|m| m.value.span == node.span)
            }
            _ => None,
        };
        match at {
            Some(at) => array::remove(&self.doc.bytes, parent, at)
                .ok_or_else(|| self.by_hand(node, "keys with dots stand in the inline table")),
            None if self.is_inline() => {
                Err(self.by_hand(node, "keys with dots stand in the inline table"))
            }
            None => Ok(section::remove(self.doc, self.path)),
        }
    }

    /// Whether an inline table or an array lies on the way.
    fn is_inline(&self) -> bool {
        (0..self.path.0.len()).any(|depth| {
            let node = self.doc.root.at(&KeyPath(self.path.0[..depth].to_vec()));
            matches!(
                node.map(|n| &n.kind),
                Some(Kind::Array(_) | Kind::Table(Form::Inline, _))
            )
        })
    }

    fn shift(&self, from: usize, to: usize) -> Result<Vec<Splice>, EditError> {
        let node = self.node()?;
        if matches!(node.kind, Kind::Tables(_)) {
            return Err(self.by_hand(node, "sections are moved by hand"));
        }
        array::shift(&self.doc.bytes, node, from, to).ok_or_else(|| model::not_found(self.path))
    }

    fn rename(&self, new: &str) -> Result<Vec<Splice>, EditError> {
        let node = self.node()?;
        let many = matches!(
            node.kind,
            Kind::Tables(_) | Kind::Table(Form::Header | Form::Implied, _)
        );
        if many {
            return Err(self.by_hand(node, "its name stands in several lines"));
        }
        let (Some(parent), Some(last)) = (self.parent(), self.path.0.last()) else {
            return Err(model::not_found(self.path));
        };
        let member = parent
            .member(&model::name(last))
            .ok_or_else(|| model::not_found(self.path))?;
        Ok(vec![Splice {
            span: member.key_span.clone(),
            text: render::key(new).into_bytes(),
        }])
    }
}
