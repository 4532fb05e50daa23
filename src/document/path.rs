//! Where a value stands: `agent.max_turns`, `fallback_providers.0.model`, `providers.gpt-4\.1.name`.

use std::fmt;

/// One step down. YAML keys may be numbers or booleans, so a step is typed.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Step {
    /// A string key of a mapping.
    Key(String),
    /// An index of a list, or a whole-number key of a mapping.
    Index(i64),
    /// A boolean key of a mapping (`on:` in YAML 1.1).
    Bool(bool),
}

/// A typed path. The empty path is the whole document.
#[derive(
    Debug,
    Clone,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Default,
    serde::Serialize,
    serde::Deserialize,
)]
pub struct KeyPath(pub Vec<Step>);

impl KeyPath {
    /// A path of string keys only.
    pub fn of(keys: &[&str]) -> Self {
        Self(keys.iter().map(|k| Step::Key((*k).to_owned())).collect())
    }

    /// Split what a user typed at its dots; `\.` is a dot inside a name and `\\` a backslash.
    /// The segments are still untyped: a document decides whether `0` is an index or a key.
    pub fn split(text: &str) -> Vec<String> {
        let mut out = vec![String::new()];
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '.' => out.push(String::new()),
                '\\' if matches!(chars.peek(), Some('.' | '\\')) => {
                    if let (Some(next), Some(last)) = (chars.next(), out.last_mut()) {
                        last.push(next);
                    }
                }
                other => {
                    if let Some(last) = out.last_mut() {
                        last.push(other);
                    }
                }
            }
        }
        out
    }

    /// Write one name so that [`KeyPath::split`] reads it back as one segment.
    pub fn escape(name: &str) -> String {
        name.replace('\\', "\\\\").replace('.', "\\.")
    }

    /// This path with one more step.
    #[must_use]
    pub fn child(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }

    /// Whether `other` lies at or below this path.
    pub fn contains(&self, other: &Self) -> bool {
        other.0.starts_with(&self.0)
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(k) => f.write_str(&KeyPath::escape(k)),
            Self::Index(i) => write!(f, "{i}"),
            Self::Bool(b) => write!(f, "{b}"),
        }
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(".")?;
            }
            write!(f, "{step}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dot_inside_a_name_survives_the_round_trip() {
        let path = KeyPath::of(&["providers", "gpt-4.1", "a\\b"]);
        assert_eq!(path.to_string(), r"providers.gpt-4\.1.a\\b");
        assert_eq!(
            KeyPath::split(&path.to_string()),
            ["providers", "gpt-4.1", r"a\b"]
        );
    }
}
