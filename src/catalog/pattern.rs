//! Path patterns of the catalogue: `providers.<id>.base_url`, `fallback_providers[].model`.
//!
//! Responsible for: splitting a pattern and matching a [`KeyPath`] against it.

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

    /// Whether `path` is an instance. `root` decides whether a name may stand for an open first
    /// step, so that `<platform>.dm_policy` does not claim every section.
    pub fn matches(&self, path: &KeyPath, root: impl Fn(&str) -> bool) -> bool {
        self.0.len() == path.0.len() && self.covers(path, root)
    }

    /// Whether `path` is an instance of the pattern or one of its ancestors.
    pub fn covers(&self, path: &KeyPath, root: impl Fn(&str) -> bool) -> bool {
        path.0.len() <= self.0.len()
            && self
                .0
                .iter()
                .zip(&path.0)
                .enumerate()
                .all(|(i, (segment, step))| match (segment, step) {
                    (Segment::Name(want), Step::Key(have)) => want == have,
                    (Segment::Any(_), Step::Key(have)) => i > 0 || root(have),
                    (Segment::Any(_), _) => i > 0,
                    (Segment::Item, Step::Index(at)) => *at >= 0,
                    // A path that has not met its document yet: an index is still a word.
                    (Segment::Item, Step::Key(have)) => {
                        !have.is_empty() && have.bytes().all(|b| b.is_ascii_digit())
                    }
                    _ => false,
                })
    }

    /// How particular the pattern is: of two that match, the one with more fixed names is meant.
    pub fn names(&self) -> usize {
        self.0
            .iter()
            .filter(|s| matches!(s, Segment::Name(_)))
            .count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_steps_and_items_match_what_they_stand_for() {
        let any = |_: &str| true;
        let p = Pattern::parse("moa.presets.<name>.reference_models[].model");
        assert_eq!(p.0.len(), 6);
        let path = KeyPath(vec![
            Step::Key("moa".into()),
            Step::Key("presets".into()),
            Step::Key("a.b".into()),
            Step::Key("reference_models".into()),
            Step::Index(0),
            Step::Key("model".into()),
        ]);
        assert!(p.matches(&path, any));
        assert!(p.covers(&KeyPath(path.0[..3].to_vec()), any));
        assert!(!p.matches(&KeyPath(path.0[..5].to_vec()), any));
        let mut wrong = path.clone();
        wrong.0[4] = Step::Key("first".into());
        assert!(!p.matches(&wrong, any));
        wrong.0[4] = Step::Key("0".into());
        assert!(p.matches(&wrong, any));
        let ids = Pattern::parse("<platform>.channel_prompts.<id>");
        let id = KeyPath(vec![
            Step::Key("discord".into()),
            Step::Key("channel_prompts".into()),
            Step::Index(12_345),
        ]);
        assert!(ids.matches(&id, |p| p == "discord"));
        assert!(!ids.matches(&id, |p| p == "telegram"));
    }
}
