//! Path patterns of the catalogue: `providers.<id>.base_url`, `fallback_providers[].model`.
//!
//! Responsible for: splitting a pattern. Finding the one a path means is [`super::tree`].

use crate::document::{KeyPath, Step};

/// One step of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// This name.
    Name(String),
    /// Any name; what it stands for ("id", "platform").
    Any(String),
    /// Any element of a list.
    Item,
}

/// A pattern, split.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(pub Vec<Segment>);

impl Pattern {
    /// Split `a.<x>.b[].c`.
    pub fn parse(text: &str) -> Self {
        let mut out = Vec::new();
        for part in text.split('.') {
            let (name, items) = match part.find("[]") {
                Some(at) => (&part[..at], (part.len() - at) / 2),
                None => (part, 0),
            };
            out.push(
                match name.strip_prefix('<').and_then(|n| n.strip_suffix('>')) {
                    Some(user) => Segment::Any(user.to_owned()),
                    None => Segment::Name(name.to_owned()),
                },
            );
            out.extend((0..items).map(|_| Segment::Item));
        }
        Self(out)
    }

    /// Whether no step is open, so that the pattern is one path.
    pub fn is_concrete(&self) -> bool {
        self.0.iter().all(|s| matches!(s, Segment::Name(_)))
    }

    /// The path a concrete pattern stands for.
    pub fn to_path(&self) -> Option<KeyPath> {
        self.0
            .iter()
            .map(|s| match s {
                Segment::Name(n) => Some(Step::Key(n.clone())),
                _ => None,
            })
            .collect::<Option<_>>()
            .map(KeyPath)
    }
}
