//! Changes of a JSON document as splices.
//!
//! Responsible for: commas, lines and indentation around a changed member or element, and the
//! proof. Not responsible for: what the change means ([`super::model`] says it first).

use std::ops::Range;

use super::render::{Style, indent_at, quote};
use super::{Change, EditError, Edited, JsonDocument, KeyPath, Kind, Node, Value, model, name};
use crate::document::{Splice, apply};

/// See [`JsonDocument::edit`].
pub(super) fn edit(
    doc: &JsonDocument,
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
    let editor = Editor {
        doc,
        style: Style::of(&doc.bytes, &doc.root),
        path,
    };
    let mut notes = Vec::new();
    let splices = match change {
        Change::Set(value) => editor.set(value)?,
        Change::Append(value) => editor.append(value)?,
        Change::Insert(at, value) => editor.insert(*at, value)?,
        Change::Remove => editor.remove(&mut notes),
        Change::Move { from, to } => editor.shift(*from, *to),
        Change::Rename(new) => editor.rename(new),
    };
    let proof = |reason: &str| EditError::Proof {
        key: path.to_string(),
        reason: reason.to_owned(),
    };
    let bytes = apply(&doc.bytes, &splices).ok_or_else(|| proof("the splices overlap"))?;
    let after = JsonDocument::parse(&bytes).map_err(|e| proof(&e.reason))?;
    if !model::same(&after.root(), &wanted) {
        return Err(proof("another value would change as well"));
    }
    Ok(Edited {
        bytes,
        splices,
        notes,
    })
}

/// Spans of the members (with their keys) or elements.
pub(super) fn children(node: &Node) -> Vec<Range<usize>> {
    match &node.kind {
        Kind::Scalar(_) => Vec::new(),
        Kind::Array(items) => items.iter().map(|n| n.span.clone()).collect(),
        Kind::Object(members) => members.iter().map(super::Member::span).collect(),
    }
}

struct Editor<'a> {
    doc: &'a JsonDocument,
    style: Style,
    path: &'a KeyPath,
}

impl Editor<'_> {
    fn bad_value(&self, reason: String) -> EditError {
        EditError::BadValue {
            key: self.path.to_string(),
            reason,
        }
    }

    /// The text of a value that stands on a line with this indentation.
    fn text(&self, value: &Value, indent: Option<&str>) -> Result<String, EditError> {
        self.style
            .render(value, indent)
            .map_err(|reason| self.bad_value(reason))
    }

    /// The deepest node of the path that is there, and how many steps lead to it.
    fn deepest(&self) -> (&Node, usize) {
        let mut node = &self.doc.root;
        for (depth, step) in self.path.0.iter().enumerate() {
            match node.child(step) {
                Some(child) => node = child,
                None => return (node, depth),
            }
        }
        (node, self.path.0.len())
    }

    fn set(&self, value: &Value) -> Result<Vec<Splice>, EditError> {
        let (node, depth) = self.deepest();
        let rest = &self.path.0[depth..];
        let Some((first, more)) = rest.split_first() else {
            return self.overwrite(node, value);
        };
        // What is missing below the first missing key.
        let nested = more.iter().rev().fold(value.clone(), |inner, step| {
            Value::Map(vec![(Value::Str(name(step)), inner)])
        });
        if let Kind::Scalar(_) = node.kind {
            // Only null gets here: it becomes a section.
            let section = Value::Map(vec![(Value::Str(name(first)), nested)]);
            return self.overwrite(node, &section);
        }
        let end = children(node).len();
        self.add(node, end, &|indent| {
            let mut text = String::new();
            quote(&name(first), &mut text);
            text.push_str(&self.style.colon);
            text.push_str(&self.text(&nested, indent)?);
            Ok(text)
        })
    }

    fn overwrite(&self, node: &Node, value: &Value) -> Result<Vec<Splice>, EditError> {
        let indent = indent_at(&self.doc.bytes, node.span.start);
        Ok(vec![Splice {
            span: node.span.clone(),
            text: self.text(value, Some(&indent))?.into_bytes(),
        }])
    }

    fn append(&self, value: &Value) -> Result<Vec<Splice>, EditError> {
        match self.doc.root.at(self.path) {
            Some(node) if matches!(node.kind, Kind::Array(_)) => {
                self.insert(children(node).len(), value)
            }
            _ => self.set(&Value::List(vec![value.clone()])),
        }
    }

    fn insert(&self, at: usize, value: &Value) -> Result<Vec<Splice>, EditError> {
        let node = self.list()?;
        self.add(node, at, &|indent| self.text(value, indent))
    }

    fn list(&self) -> Result<&Node, EditError> {
        self.doc
            .root
            .at(self.path)
            .ok_or_else(|| model::not_found(self.path))
    }

    /// Add a child before the one at `at`, laid out as its neighbours are.
    fn add(
        &self,
        node: &Node,
        at: usize,
        text: &dyn Fn(Option<&str>) -> Result<String, EditError>,
    ) -> Result<Vec<Splice>, EditError> {
        let bytes = &self.doc.bytes;
        let spans = children(node);
        let one = |span: Range<usize>, text: String| {
            Ok(vec![Splice {
                span,
                text: text.into_bytes(),
            }])
        };
        let Some(first) = spans.first() else {
            let inner = node.span.start + 1..node.span.end - 1;
            let outer = indent_at(bytes, node.span.start);
            return match &self.style.unit {
                Some(unit) => {
                    let indent = format!("{outer}{unit}");
                    let eol = self.style.eol;
                    let body = text(Some(&indent))?;
                    one(inner, format!("{eol}{indent}{body}{eol}{outer}"))
                }
                None => one(inner, text(None)?),
            };
        };
        // White space between the first comma and the second child, or in front of the only one.
        let gap = if let Some(second) = spans.get(1) {
            let gap = &bytes[first.end..second.start];
            let comma = gap.iter().position(|b| *b == b',').map_or(0, |n| n + 1);
            &gap[comma..]
        } else {
            &bytes[node.span.start + 1..first.start]
        };
        let lead = if spans.len() > 1 || gap.contains(&b'\n') {
            String::from_utf8_lossy(gap).into_owned()
        } else {
            self.style.after_comma.to_owned()
        };
        let indent = lead.rsplit_once('\n').map(|(_, indent)| indent);
        let text = text(indent)?;
        if let Some(next) = spans.get(at) {
            return one(next.start..next.start, format!("{text},{lead}"));
        }
        let end = spans.last().map_or(first.end, |last| last.end);
        one(end..end, format!(",{lead}{text}"))
    }

    fn remove(&self, notes: &mut Vec<String>) -> Vec<Splice> {
        let Some((last, parents)) = self.path.0.split_last() else {
            return Vec::new();
        };
        let Some(parent) = self.doc.root.at(&KeyPath(parents.to_vec())) else {
            return Vec::new();
        };
        let spans = children(parent);
        let gone: Vec<bool> = match &parent.kind {
            Kind::Object(members) => {
                let key = name(last);
                members.iter().map(|m| m.key == key).collect()
            }
            _ => (0..spans.len()).map(|n| model::index(n) == *last).collect(),
        };
        let count = gone.iter().filter(|g| **g).count();
        if count > 1 {
            notes.push(format!(
                "{} stood there {count} times; all were taken out",
                self.path
            ));
        }
        take_out(&spans, &gone, parent.span.start + 1..parent.span.end - 1)
    }

    /// Move an element: the texts change places, what stands between them stays.
    fn shift(&self, from: usize, to: usize) -> Vec<Splice> {
        let Ok(node) = self.list() else {
            return Vec::new();
        };
        let spans = children(node);
        let mut order: Vec<usize> = (0..spans.len()).collect();
        let item = order.remove(from);
        order.insert(to, item);
        order
            .iter()
            .enumerate()
            .filter(|(n, source)| n != *source)
            .map(|(n, source)| Splice {
                span: spans[n].clone(),
                text: self.doc.bytes[spans[*source].clone()].to_vec(),
            })
            .collect()
    }

    fn rename(&self, new: &str) -> Vec<Splice> {
        let Some((last, parents)) = self.path.0.split_last() else {
            return Vec::new();
        };
        let parent = self.doc.root.at(&KeyPath(parents.to_vec()));
        let Some(Kind::Object(members)) = parent.map(|p| &p.kind) else {
            return Vec::new();
        };
        let key = name(last);
        let mut text = String::new();
        quote(new, &mut text);
        members
            .iter()
            .filter(|m| m.key == key)
            .map(|m| Splice {
                span: m.key_span.clone(),
                text: text.clone().into_bytes(),
            })
            .collect()
    }
}

/// Take children out, each with one comma; `inner` is what lies between the brackets.
pub(in crate::document) fn take_out(
    spans: &[Range<usize>],
    gone: &[bool],
    inner: Range<usize>,
) -> Vec<Splice> {
    let cut = |span: Range<usize>| Splice {
        span,
        text: Vec::new(),
    };
    if gone.iter().all(|g| *g) {
        return vec![cut(inner)];
    }
    let mut out = Vec::new();
    let mut n = 0;
    while n < spans.len() {
        if !gone[n] {
            n += 1;
            continue;
        }
        let first = n;
        while n < spans.len() && gone[n] {
            n += 1;
        }
        match spans.get(n) {
            Some(next) => out.push(cut(spans[first].start..next.start)),
            // The last ones go with the comma before them.
            None => out.push(cut(spans[first - 1].end..spans[n - 1].end)),
        }
    }
    out
}
