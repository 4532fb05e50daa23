//! JSON state files, changed without touching a byte that was not asked for.
//!
//! Responsible for: a span for every member and element, values typed as Python's `json` types
//! them, and changes as splices that are proved by parsing again. Not responsible for: which files
//! may be edited, and what their keys mean.

mod edit;
pub(in crate::document) mod model;
mod render;
mod scan;

pub use render::to_text;

use std::ops::Range;

use super::dotenv::compose::Pieces;
pub(in crate::document) use edit::take_out;
use model::name;
pub(in crate::document) use scan::position;

use super::{Change, EditError, Edited, KeyPath, ParseError, Step, Value};

/// A JSON file: its bytes and where everything stands.
#[derive(Debug, Clone)]
pub struct JsonDocument {
    bytes: Vec<u8>,
    root: Node,
}

/// A value with its place.
#[derive(Debug, Clone, PartialEq)]
struct Node {
    span: Range<usize>,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Scalar(Value),
    Array(Vec<Node>),
    /// In file order; of members with the same key the last one counts.
    Object(Vec<Member>),
}

#[derive(Debug, Clone, PartialEq)]
struct Member {
    key: String,
    key_span: Range<usize>,
    value: Node,
}

impl Member {
    /// Key and value.
    fn span(&self) -> Range<usize> {
        self.key_span.start..self.value.span.end
    }
}

impl Node {
    fn value(&self) -> Value {
        match &self.kind {
            Kind::Scalar(value) => value.clone(),
            Kind::Array(items) => Value::List(items.iter().map(Self::value).collect()),
            Kind::Object(members) => {
                let mut out: Vec<(Value, Value)> = Vec::with_capacity(members.len());
                let mut seen: std::collections::HashMap<&str, usize> =
                    std::collections::HashMap::with_capacity(members.len());
                for member in members {
                    let value = member.value.value();
                    if let Some(at) = seen.get(member.key.as_str()) {
                        out[*at].1 = value;
                    } else {
                        seen.insert(&member.key, out.len());
                        out.push((Value::Str(member.key.clone()), value));
                    }
                }
                Value::Map(out)
            }
        }
    }

    fn child(&self, step: &Step) -> Option<&Self> {
        match &self.kind {
            Kind::Scalar(_) => None,
            Kind::Array(items) => match step {
                Step::Index(at) => items.get(usize::try_from(*at).ok()?),
                _ => None,
            },
            Kind::Object(_) => self.member(&name(step)).map(|m| &m.value),
        }
    }

    /// The member that counts.
    fn member(&self, key: &str) -> Option<&Member> {
        match &self.kind {
            Kind::Object(members) => members.iter().rfind(|m| m.key == key),
            _ => None,
        }
    }

    fn at(&self, path: &KeyPath) -> Option<&Self> {
        path.0.iter().try_fold(self, |node, step| node.child(step))
    }
}

impl JsonDocument {
    /// Read a file. A byte-order mark is allowed and kept; so are `NaN` and `Infinity`, which
    /// Python writes.
    ///
    /// # Errors
    /// Anything that is not one JSON value in UTF-8, comments included.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        Ok(Self {
            root: scan::scan(bytes)?,
            bytes: bytes.to_vec(),
        })
    }

    /// The file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Everything in it.
    pub fn root(&self) -> Value {
        self.root.value()
    }

    /// The value at a path.
    pub fn get(&self, path: &KeyPath) -> Option<Value> {
        self.root.at(path).map(Node::value)
    }

    /// The text at a path, as it is written.
    pub fn raw(&self, path: &KeyPath) -> Option<&str> {
        let span = self.root.at(path)?.span.clone();
        std::str::from_utf8(&self.bytes[span]).ok()
    }

    /// 1-based line of the key at a path, or of the element.
    pub fn line(&self, path: &KeyPath) -> Option<usize> {
        let node = self.root.at(path)?;
        let start = match path.0.split_last() {
            Some((last, parents)) => self
                .root
                .at(&KeyPath(parents.to_vec()))?
                .member(&name(last))
                .map_or(node.span.start, |m| m.key_span.start),
            None => node.span.start,
        };
        Some(position(&self.bytes, start).0)
    }

    /// Type the segments that a user wrote: a number is an index where the parent is a list.
    pub fn resolve(&self, segments: &[String]) -> KeyPath {
        let mut node = Some(&self.root);
        let mut path = KeyPath::default();
        for segment in segments {
            let index = segment
                .parse::<i64>()
                .ok()
                .filter(|_| matches!(node.map(|n| &n.kind), Some(Kind::Array(_))));
            let step = index.map_or_else(|| Step::Key(segment.clone()), Step::Index);
            node = node.and_then(|n| n.child(&step));
            path = path.child(step);
        }
        path
    }

    /// Make one change.
    ///
    /// # Errors
    /// See [`EditError`]; nothing is changed then.
    pub fn edit(&self, path: &KeyPath, change: &Change) -> Result<Edited, EditError> {
        edit::edit(self, path, change)
    }

    /// Make several changes, one after the other; the splices count from this document.
    ///
    /// # Errors
    /// The first one that [`JsonDocument::edit`] gives; then nothing is changed.
    pub fn edit_all(&self, changes: &[(KeyPath, Change)]) -> Result<Edited, EditError> {
        let mut doc = self.clone();
        let mut pieces = Pieces::new(self.bytes.len());
        let mut notes = Vec::new();
        for (path, change) in changes {
            let edited = doc.edit(path, change)?;
            pieces.apply(&edited.splices);
            notes.extend(edited.notes);
            doc = Self::parse(&edited.bytes).map_err(|e| EditError::Proof {
                key: path.to_string(),
                reason: e.reason,
            })?;
        }
        Ok(pieces.edited(&self.bytes, doc.bytes, notes))
    }
}
