//! One change of a document as byte splices.
//!
//! Responsible for: finding the place, choosing who makes the splices, applying them, and proving
//! the result. Not responsible for: the layout of the splices themselves (the modules below), or
//! the proof's rules ([`super::proof`]).

mod add;
mod block;
mod inline;
mod list;
mod remove;
mod rename;
mod replace;
mod root;
mod site;

use self::site::Site;
use super::proof::Claim;
use super::render::Style;
use super::text;
use super::tree::Tree;
use crate::document::{Change, EditError, KeyPath, Splice, Value, apply};
use std::ops::Range;

/// What a change wants to do to the bytes, and what the result must then be.
#[derive(Debug, Default)]
struct Plan {
    splices: Vec<Splice>,
    claim: Claim,
    notes: Vec<String>,
}

impl Plan {
    /// Replace `span` by `with`. Splices at the same place are kept in the order of the calls.
    fn splice(&mut self, span: Range<usize>, with: impl Into<String>) {
        let with = with.into();
        if !span.is_empty() || !with.is_empty() {
            self.splices.push(Splice {
                span,
                text: with.into_bytes(),
            });
        }
    }

    fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.splice(at..at, text);
    }

    /// Put the splices in order and join those that touch.
    fn settle(&mut self) {
        self.splices.sort_by_key(|s| (s.span.start, s.span.end));
        let mut out: Vec<Splice> = Vec::new();
        for splice in self.splices.drain(..) {
            match out.last_mut() {
                Some(last) if last.span.end == splice.span.start => {
                    last.span.end = splice.span.end;
                    last.text.extend(splice.text);
                }
                _ => out.push(splice),
            }
        }
        self.splices = out;
    }
}

/// One change being planned.
struct Job<'t> {
    tree: &'t Tree,
    path: &'t KeyPath,
    site: Site,
    style: Style,
    /// Whether the best form has failed: quote texts of several lines, and let blank lines go
    /// with what is taken out.
    plainer: bool,
}

/// A finished change.
pub(super) struct Outcome {
    /// The new document; none when nothing had to change.
    pub tree: Option<Tree>,
    pub splices: Vec<Splice>,
    pub notes: Vec<String>,
}

/// Make one change, or say why it cannot be made.
pub(super) fn edit(tree: &Tree, path: &KeyPath, change: &Change) -> Result<Outcome, EditError> {
    let key = path.to_string();
    check_values(&key, path, change)?;
    let mut failure = None;
    // The best form first. Where the text around it does not allow that (a comment below a text
    // of several lines, a neighbour that ends with blank lines of its own), a plainer one.
    for plainer in [false, true] {
        let job = Job::new(tree, path, plainer);
        let Some(mut plan) = job.plan(change)? else {
            return Ok(Outcome {
                tree: None,
                splices: Vec::new(),
                notes: Vec::new(),
            });
        };
        plan.settle();
        match prove(tree, &key, &plan) {
            Ok(new) => {
                return Ok(Outcome {
                    tree: Some(new),
                    splices: plan.splices,
                    notes: plan.notes,
                });
            }
            Err(error) => failure = failure.or(Some(error)),
        }
        if !has_lines(change) && *change != Change::Remove {
            break;
        }
    }
    Err(failure.unwrap_or(EditError::NotFound { key }))
}

/// Apply the splices, read the result, and compare it with the claim.
fn prove(old: &Tree, key: &str, plan: &Plan) -> Result<Tree, EditError> {
    let failed = |reason: String| EditError::Proof {
        key: key.to_owned(),
        reason,
    };
    let bytes = apply(old.text.as_bytes(), &plan.splices)
        .ok_or_else(|| failed("the splices overlap".into()))?;
    let text = String::from_utf8(bytes).map_err(|_| failed("it is not UTF-8".into()))?;
    let new = Tree::parse(text)
        .map_err(|fault| failed(format!("Hermes could not read the file: {}", fault.reason)))?;
    plan.claim.check(old, &new).map_err(failed)?;
    Ok(new)
}

/// Whether the change writes a text of several lines.
fn has_lines(change: &Change) -> bool {
    fn lines(value: &Value) -> bool {
        match value {
            Value::Str(s) => s.contains('\n'),
            Value::List(items) => items.iter().any(lines),
            Value::Map(entries) => entries.iter().any(|(k, v)| lines(k) || lines(v)),
            _ => false,
        }
    }
    match change {
        Change::Set(v) | Change::Append(v) | Change::Insert(_, v) => lines(v),
        _ => false,
    }
}

/// Why a value has no form in the file, `room` levels deep at most.
fn fault(value: &Value, room: usize) -> Option<&'static str> {
    if room == 0 {
        return Some("it is nested too deeply");
    }
    match value {
        Value::List(items) => items.iter().find_map(|v| fault(v, room - 1)),
        Value::Map(entries) => entries.iter().find_map(|(k, v)| {
            if matches!(k, Value::List(_) | Value::Map(_)) {
                return Some("it has a list or a mapping as a key");
            }
            if matches!(k, Value::Str(s) if s.len() > site::MAX_KEY) {
                return Some("it has a key of more than 1,000 bytes");
            }
            fault(k, room - 1).or_else(|| fault(v, room - 1))
        }),
        scalar => super::scalar::unwritable(scalar),
    }
}

/// Refuse names and values that no form in the file would keep.
fn check_values(key: &str, path: &KeyPath, change: &Change) -> Result<(), EditError> {
    let room = (super::build::MAX_DEPTH as usize).saturating_sub(path.0.len() + 2);
    let bad = |reason: &str| EditError::BadValue {
        key: key.to_owned(),
        reason: reason.to_owned(),
    };
    match change {
        Change::Set(v) | Change::Append(v) | Change::Insert(_, v) => match fault(v, room) {
            Some(reason) => Err(bad(reason)),
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

impl<'t> Job<'t> {
    fn new(tree: &'t Tree, path: &'t KeyPath, plainer: bool) -> Self {
        let site = Site::find(tree, path);
        let (step, dash) = site.indentation(tree);
        Self {
            tree,
            path,
            style: Style {
                eol: text::file_break(&tree.text),
                step,
                dash,
                literals: !plainer,
                json: site.looks_like_json(tree),
            },
            site,
            plainer,
        }
    }

    /// The plan for a change; `None` when the file says so already.
    fn plan(&self, change: &Change) -> Result<Option<Plan>, EditError> {
        self.refuse_alias()?;
        match change {
            Change::Set(value) => self.set(value),
            Change::Append(value) => self.append(value).map(Some),
            Change::Insert(at, value) => self.insert_item(*at, value).map(Some),
            Change::Move { from, to } => self.move_item(*from, *to),
            Change::Remove => self.remove().map(Some),
            Change::Rename(name) => self.rename(name).map(Some),
        }
    }

    fn set(&self, value: &Value) -> Result<Option<Plan>, EditError> {
        let Some(node) = self.site.node else {
            // A file without a document is null already.
            if self.path.0.is_empty() && *value == Value::Null {
                return Ok(None);
            }
            return self.fill_root(&self.chain(0, value)).map(Some);
        };
        if self.site.taken == self.path.0.len() {
            if super::proof::matches(self.tree, self.tree.real(node), value)
                == Some(self.tree.node(self.tree.real(node)).next)
            {
                return Ok(None);
            }
            return self.replace(node, value).map(Some);
        }
        self.add(node, value).map(Some)
    }

    /// The value that the steps from number `from` on make around `value`.
    fn chain(&self, from: usize, value: &Value) -> Value {
        super::render::chain(&self.path.0[from..], value.clone())
    }

    fn key(&self) -> String {
        self.path.to_string()
    }

    fn not_found(&self) -> EditError {
        EditError::NotFound { key: self.key() }
    }

    fn unsafe_at(&self, at: usize, reason: impl Into<String>) -> EditError {
        EditError::Unsafe {
            key: self.key(),
            line: text::place(&self.tree.text, at).0,
            reason: reason.into(),
        }
    }

    /// Notes about what else the change of a value at the site means.
    fn common_notes(&self, plan: &mut Plan) {
        if let Some(hop) = self.site.hops.last()
            && hop.hits.len() > 1
        {
            plan.notes.push(format!(
                "{} stands {} times in this section; the last one is in force and was changed, the others were left alone",
                self.key(),
                hop.hits.len()
            ));
        }
        let containers = self.site.hops.iter().map(|hop| hop.container);
        for i in containers.chain(self.site.node) {
            let n = self.tree.alias_count(i);
            if n > 0 {
                plan.notes.push(format!(
                    "the value that starts in line {} is used in {n} other place{} through an alias and changes there as well",
                    text::place(&self.tree.text, self.tree.node(i).start as usize).0,
                    if n == 1 { "" } else { "s" }
                ));
            }
        }
    }

    /// Refuse when a value that goes away has an anchor that is used elsewhere.
    fn keep_anchors(&self, gone: &[Range<u32>]) -> Result<(), EditError> {
        let inside = |i: u32| gone.iter().any(|range| range.contains(&i));
        let lost = self
            .tree
            .aliases
            .iter()
            .find(|a| inside(self.tree.real(**a)) && !inside(**a));
        match lost {
            Some(alias) => {
                let at = self.tree.node(*alias).start as usize;
                Err(self.unsafe_at(
                    at,
                    "an alias in this line uses a value that would be taken away; change the alias first",
                ))
            }
            None => Ok(()),
        }
    }

    /// Refuse paths that lead through an alias: the change would show up elsewhere.
    fn refuse_alias(&self) -> Result<(), EditError> {
        match self.site.through {
            Some(alias) => {
                let target = self.tree.node(self.tree.real(alias)).start as usize;
                let line = text::place(&self.tree.text, target).0;
                Err(self.unsafe_at(
                    self.tree.node(alias).start as usize,
                    format!("the value is an alias of the one in line {line}; change it there, or set the whole value here"),
                ))
            }
            None => Ok(()),
        }
    }
}
