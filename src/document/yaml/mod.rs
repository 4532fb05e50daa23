//! YAML files as Hermes reads them, edited byte by byte.
//!
//! Responsible for: the public face of the engine. A [`YamlDocument`] is the file's text and a
//! flat tree of spans; a change becomes a few splices, and the result is read again and compared
//! node by node before anyone sees it. Not responsible for: IO, or what a key means.
//!
//! ```text
//! libyaml ─► event ─► build ─► tree ─► check      what Hermes could not read is refused
//!                               │
//!              read, lookup ◄───┼───► shape, text  where things stand
//!              (values, paths)  │
//!                              edit ─► splices ─► new tree ─► proof against the old one
//!                               └─ render, scalar  new text
//! ```
//!
//! Files that PyYAML's safe loader refuses are refused here with the line, because Hermes could
//! not read them either.

mod build;
mod check;
mod date;
mod edit;
mod event;
mod libyaml;
mod lookup;
mod number;
mod proof;
mod read;
mod render;
mod scalar;
mod shape;
mod text;
mod tree;
mod typing;

use self::event::Fault;
use self::tree::{Shape, Tree};
use super::{Change, EditError, Edited, KeyPath, ParseError, Splice, Value, splice};
use std::fmt;
use std::sync::{Arc, OnceLock};

pub use self::read::Leaf;

/// One YAML file. Cheap to clone.
#[derive(Clone)]
pub struct YamlDocument {
    inner: Arc<Inner>,
}

struct Inner {
    tree: Tree,
    /// Byte offset of each line's start, made when a line is first asked for.
    lines: OnceLock<Vec<u32>>,
}

/// Shows sizes only: the text holds secrets.
impl fmt::Debug for YamlDocument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("YamlDocument")
            .field("bytes", &self.inner.tree.text.len())
            .field("nodes", &self.inner.tree.nodes.len())
            .finish()
    }
}

impl YamlDocument {
    /// Read a file. What PyYAML's safe loader (with libyaml) refuses is refused, with the place;
    /// so are values nested deeper than 1,000 levels and values that contain themselves.
    ///
    /// A file that is empty or holds only comments is a document whose root is null.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(error) => return Err(not_utf8(bytes, error.valid_up_to())),
        };
        if let Some(at) = text.bytes().position(|b| b == 0) {
            return Err(located(
                &text,
                &Fault::new(at, "a NUL byte, which Hermes cannot read"),
            ));
        }
        Tree::parse(text)
            .map(Self::of)
            .map_err(|fault| located(std::str::from_utf8(bytes).unwrap_or(""), &fault))
    }

    fn of(tree: Tree) -> Self {
        Self {
            inner: Arc::new(Inner {
                tree,
                lines: OnceLock::new(),
            }),
        }
    }

    fn tree(&self) -> &Tree {
        &self.inner.tree
    }

    /// The file as it is.
    pub fn bytes(&self) -> &[u8] {
        self.tree().text.as_bytes()
    }

    /// The whole document as Hermes reads it: merge keys resolved, of duplicate keys the last.
    pub fn root(&self) -> Value {
        self.tree()
            .root()
            .map_or(Value::Null, |root| read::value(self.tree(), root))
    }

    /// The value at a path, looked up through aliases and merge keys.
    pub fn get(&self, path: &KeyPath) -> Option<Value> {
        let (_, node) = lookup::find(self.tree(), path)?;
        Some(read::value(self.tree(), node))
    }

    /// Give the segments of a path that a user typed the types that the file suggests.
    ///
    /// In a list a number is an index. In a mapping several segments are one key where a key with
    /// those dots exists (the longest wins); a number is a whole-number key where there is one; a
    /// word such as `on` is a boolean key where there is one. Everything else is a string key.
    pub fn resolve(&self, segments: &[String]) -> KeyPath {
        lookup::resolve(self.tree(), segments)
    }

    /// Make one change. Nothing is changed here; the new text is in the result.
    pub fn edit(&self, path: &KeyPath, change: &Change) -> Result<Edited, EditError> {
        let done = edit::edit(self.tree(), path, change)?;
        Ok(Edited {
            bytes: match done.tree {
                Some(tree) => tree.text.into_bytes(),
                None => self.bytes().to_vec(),
            },
            splices: done.splices,
            notes: done.notes,
        })
    }

    /// Make several changes in order, each on the result of the one before. The splices of the
    /// result lead from this document's text to the last one's.
    pub fn edit_all(&self, changes: &[(KeyPath, Change)]) -> Result<Edited, EditError> {
        let mut latest: Option<Tree> = None;
        let mut splices: Vec<Splice> = Vec::new();
        let mut notes = Vec::new();
        for (path, change) in changes {
            let tree = latest.as_ref().unwrap_or_else(|| self.tree());
            let done = edit::edit(tree, path, change)?;
            if let Some(new) = done.tree {
                splices = splice::compose(&splices, &done.splices);
                latest = Some(new);
            }
            notes.extend(done.notes);
        }
        let bytes = latest.map_or_else(|| self.bytes().to_vec(), |tree| tree.text.into_bytes());
        Ok(Edited {
            splices: splice::trimmed(self.bytes(), splices),
            bytes,
            notes,
        })
    }

    /// 1-based line of the key at a path, or of the element of a list.
    pub fn line(&self, path: &KeyPath) -> Option<usize> {
        let (key, node) = lookup::find(self.tree(), path)?;
        let at = self.tree().node(key.unwrap_or(node)).start;
        Some(self.line_of(at as usize))
    }

    /// The scalar at a path as it is written in the file, quotes and all; an alias as `*name`.
    /// `None` for lists and mappings.
    pub fn raw(&self, path: &KeyPath) -> Option<&str> {
        let tree = self.tree();
        let (_, node) = lookup::find(tree, path)?;
        if tree.node(node).is_collection() {
            return None;
        }
        let start = tree.content_start(node);
        tree.text.get(start..tree.true_end(node).max(start))
    }

    /// Every scalar and every empty collection, in file order; aliases and merge keys are
    /// followed, and of duplicate keys only the one in force is given.
    pub fn leaves(&self) -> Vec<Leaf> {
        read::leaves(self.tree(), &|at| self.line_of(at))
    }

    /// Keys that stand more than once in their mapping, with all their lines (1-based). The last
    /// one is in force.
    pub fn duplicates(&self) -> Vec<(KeyPath, Vec<usize>)> {
        read::duplicates(self.tree())
            .into_iter()
            .map(|(path, keys)| {
                let lines = keys
                    .iter()
                    .map(|k| self.line_of(self.tree().node(*k).start as usize))
                    .collect();
                (path, lines)
            })
            .collect()
    }

    /// The comment behind a value on its last line, or behind the key of a section on the key's
    /// line, with its `#`.
    pub fn comment_behind(&self, path: &KeyPath) -> Option<String> {
        let tree = self.tree();
        let (key, node) = lookup::find(tree, path)?;
        let real_block = tree.node(node).is_collection() && !tree.node(node).flow();
        let from = match key {
            Some(k) if real_block => tree.true_end(k),
            _ if tree.node(node).is_block_scalar() => tree.content_start(node),
            Some(k) if tree.node(node).is_absent() => tree.colon(k, false)?,
            _ => tree.true_end(node),
        };
        let line = tree.text.get(from..text::line_end(&tree.text, from))?;
        let hash = line
            .match_indices('#')
            .map(|(p, _)| from + p)
            .find(|p| text::starts_comment(&tree.text, *p))?;
        let end = text::line_end(&tree.text, hash);
        Some(tree.text[hash..end].trim_end().to_owned())
    }

    /// 1-based line of a byte offset.
    fn line_of(&self, at: usize) -> usize {
        let lines = self.inner.lines.get_or_init(|| {
            let t = &self.tree().text;
            let mut starts = vec![0];
            let mut p = 0;
            while p < t.len() {
                let n = text::break_len(t, p);
                p += n.max(1);
                if n > 0 {
                    starts.push(u32::try_from(p).unwrap_or(u32::MAX));
                }
            }
            starts
        });
        lines.partition_point(|start| *start as usize <= at).max(1)
    }
}

/// Read a VALUE that somebody typed, as a YAML 1.1 flow value.
///
/// Text that starts with `[` or `{` must be a whole flow collection; a whole quoted text loses
/// its quotes; everything else is one plain scalar, whatever characters it holds. Nothing is an
/// empty string.
pub fn parse_flow_value(text: &str) -> Result<Value, ParseError> {
    let parsed = || -> Result<Option<Value>, ParseError> {
        let document = YamlDocument::parse(text.as_bytes())?;
        let tree = document.tree();
        let whole = tree.root().filter(|root| {
            let node = tree.node(*root);
            let alone = node.start == 0 && tree.true_end(*root) == text.trim_end().len();
            alone && (node.flow() || (node.shape == Shape::Scalar && !text.contains('\n')))
        });
        Ok(whole.map(|root| read::value(tree, root)))
    };
    match text.as_bytes().first() {
        None => Ok(Value::Str(String::new())),
        Some(b'[' | b'{') => parsed()?.ok_or_else(|| ParseError {
            line: 1,
            column: 1,
            reason: "the value starts like a list or a mapping and goes on behind its end".into(),
        }),
        Some(b'"' | b'\'') => Ok(parsed()
            .ok()
            .flatten()
            .unwrap_or_else(|| plain_typing(text))),
        Some(_) => Ok(plain_typing(text)),
    }
}

/// What PyYAML makes of a plain scalar. Texts that it refuses (`=`, `<<`, days that do not exist)
/// are given as strings, which is what they are once quoted.
pub fn plain_typing(text: &str) -> Value {
    typing::construct(typing::resolve_plain(text), text)
        .unwrap_or_else(|_| Value::Str(text.to_owned()))
}

/// How many parse events the bytes make: the bare parse, which benchmarks compare with.
pub fn count_events(bytes: &[u8]) -> Result<usize, ParseError> {
    let text = std::str::from_utf8(bytes).map_err(|e| not_utf8(bytes, e.valid_up_to()))?;
    let mut count = 0;
    libyaml::for_each_event(text, |_| {
        count += 1;
        Ok(())
    })
    .map_err(|fault| located(text, &fault))?;
    Ok(count)
}

/// How we would write a value on one line, for display and for commands.
pub fn scalar_text(value: &Value) -> String {
    render::one_line(value)
}

fn located(text: &str, fault: &Fault) -> ParseError {
    let (line, column) = text::place(text, fault.at);
    ParseError {
        line,
        column,
        reason: fault.reason.clone(),
    }
}

/// The place of the first byte that is not UTF-8, and a guess at what the file is instead.
fn not_utf8(bytes: &[u8], at: usize) -> ParseError {
    let good = std::str::from_utf8(&bytes[..at]).unwrap_or("");
    let (line, column) = text::place(good, at);
    let reason = match bytes {
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => "the file is UTF-16, and Hermes reads UTF-8",
        _ => "the file is not UTF-8 from here on, and Hermes cannot read it",
    };
    ParseError {
        line,
        column,
        reason: reason.into(),
    }
}
