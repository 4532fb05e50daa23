//! TOML files, changed without touching a byte that was not asked for.
//!
//! Responsible for: a span for every key, value and table header, and changes as splices that are
//! proved by parsing again. Not responsible for: which files may be edited. The parse itself is
//! the `toml` crate's; only the spans are used, nothing is ever re-serialised.

mod array;
mod edit;
mod read;
mod render;
mod section;

use std::ops::Range;

use super::dotenv::compose::Pieces;
use super::json::{model, position};
use super::{Change, EditError, Edited, KeyPath, ParseError, Step, Value};

/// A TOML file: its bytes and where everything stands.
#[derive(Debug, Clone)]
pub struct TomlDocument {
    bytes: Vec<u8>,
    root: Node,
    /// Every header in file order; the part before the first one comes first, without a header.
    blocks: Vec<Block>,
}

/// A value with its place. A table that has no text of its own has the span of a key.
#[derive(Debug, Clone, PartialEq)]
struct Node {
    span: Range<usize>,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Scalar(Value),
    /// `[1, 2]`
    Array(Vec<Node>),
    /// `[[name]]`, once for each element.
    Tables(Vec<Node>),
    Table(Form, Vec<Member>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The file itself, or a table with a `[header]`.
    Header,
    /// `{ a = 1 }`
    Inline,
    /// Only named on the way to something else: `[a.b]` or `a.b = 1` make `a`.
    Implied,
}

#[derive(Debug, Clone, PartialEq)]
struct Member {
    key: String,
    key_span: Range<usize>,
    value: Node,
}

/// What stands below one header.
#[derive(Debug, Clone, PartialEq)]
struct Block {
    path: KeyPath,
    /// First byte, comments directly above the header included.
    start: usize,
    /// Behind the line of the header.
    body: usize,
    /// First byte of the next block.
    end: usize,
    statements: Vec<Statement>,
}

/// `key = value`, with everything else on its lines.
#[derive(Debug, Clone, PartialEq)]
struct Statement {
    path: KeyPath,
    lines: Range<usize>,
}

impl Node {
    fn value(&self) -> Value {
        match &self.kind {
            Kind::Scalar(value) => value.clone(),
            Kind::Array(items) | Kind::Tables(items) => {
                Value::List(items.iter().map(Self::value).collect())
            }
            Kind::Table(_, members) => Value::Map(
                members
                    .iter()
                    .map(|m| (Value::Str(m.key.clone()), m.value.value()))
                    .collect(),
            ),
        }
    }

    fn member(&self, key: &str) -> Option<&Member> {
        match &self.kind {
            Kind::Table(_, members) => members.iter().find(|m| m.key == key),
            _ => None,
        }
    }

    fn child(&self, step: &Step) -> Option<&Self> {
        match &self.kind {
            Kind::Scalar(_) => None,
            Kind::Array(items) | Kind::Tables(items) => match step {
                Step::Index(at) => items.get(usize::try_from(*at).ok()?),
                _ => None,
            },
            Kind::Table(..) => self.member(&model::name(step)).map(|m| &m.value),
        }
    }

    fn at(&self, path: &KeyPath) -> Option<&Self> {
        path.0.iter().try_fold(self, |node, step| node.child(step))
    }
}

impl TomlDocument {
    /// Read a file. A byte-order mark is allowed and kept.
    ///
    /// # Errors
    /// Anything that is not TOML 1.1 in UTF-8.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        read::read(bytes)
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

    /// The text at a path, as it is written; for a table with a header that header.
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
                .member(&model::name(last))
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
            let index = segment.parse::<i64>().ok().filter(|_| {
                matches!(
                    node.map(|n| &n.kind),
                    Some(Kind::Array(_) | Kind::Tables(_))
                )
            });
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
    /// The first one that [`TomlDocument::edit`] gives; then nothing is changed.
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
