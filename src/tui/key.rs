//! Keys as values, with one short notation that the key table, the hints and the tests share:
//! `j`, `G`, `<ret>`, `<esc>`, `<C-s>`, `<pgdn>`.

use std::fmt;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// One key press.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    /// Which key. Letters carry their case, so Shift is not a modifier of its own.
    pub code: KeyCode,
    /// Control held.
    pub ctrl: bool,
    /// Alt held.
    pub alt: bool,
}

/// Names of the keys that are not a character.
const NAMES: &[(&str, KeyCode, &str)] = &[
    ("ret", KeyCode::Enter, "⏎"),
    ("esc", KeyCode::Esc, "Esc"),
    ("tab", KeyCode::Tab, "Tab"),
    ("s-tab", KeyCode::BackTab, "S-Tab"),
    ("space", KeyCode::Char(' '), "Space"),
    ("lt", KeyCode::Char('<'), "<"),
    ("up", KeyCode::Up, "↑"),
    ("down", KeyCode::Down, "↓"),
    ("left", KeyCode::Left, "←"),
    ("right", KeyCode::Right, "→"),
    ("pgup", KeyCode::PageUp, "PgUp"),
    ("pgdn", KeyCode::PageDown, "PgDn"),
    ("home", KeyCode::Home, "Home"),
    ("end", KeyCode::End, "End"),
    ("bs", KeyCode::Backspace, "Bksp"),
    ("del", KeyCode::Delete, "Del"),
];

impl Key {
    /// A key without modifiers.
    pub const fn plain(code: KeyCode) -> Self {
        Self {
            code,
            ctrl: false,
            alt: false,
        }
    }

    /// From a terminal event; key releases are no key presses.
    pub fn from_event(event: KeyEvent) -> Option<Self> {
        if event.kind == KeyEventKind::Release {
            return None;
        }
        let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
        let alt = event.modifiers.contains(KeyModifiers::ALT);
        let code = match event.code {
            KeyCode::Tab if event.modifiers.contains(KeyModifiers::SHIFT) => KeyCode::BackTab,
            KeyCode::Char(c) if ctrl => KeyCode::Char(c.to_ascii_lowercase()),
            other => other,
        };
        Some(Self { code, ctrl, alt })
    }

    /// Read a sequence such as `jj<ret>hello<C-s>`. `None` when a name is unknown.
    pub fn parse(text: &str) -> Option<Vec<Self>> {
        let mut out = Vec::new();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            if c == '<'
                && let Some(end) = rest.find('>')
            {
                out.push(Self::named(&rest[1..end])?);
                rest = &rest[end + 1..];
            } else {
                out.push(Self::plain(KeyCode::Char(c)));
                rest = &rest[c.len_utf8()..];
            }
        }
        Some(out)
    }

    fn named(name: &str) -> Option<Self> {
        if let Some(c) = name.strip_prefix("C-") {
            return Some(Self {
                ctrl: true,
                ..Self::named_or_char(c)?
            });
        }
        if let Some(c) = name.strip_prefix("A-") {
            return Some(Self {
                alt: true,
                ..Self::named_or_char(c)?
            });
        }
        NAMES.iter().find(|n| n.0 == name).map(|n| Self::plain(n.1))
    }

    fn named_or_char(text: &str) -> Option<Self> {
        let mut chars = text.chars();
        match (chars.next(), chars.next()) {
            (Some(c), None) => Some(Self::plain(KeyCode::Char(c))),
            _ => NAMES.iter().find(|n| n.0 == text).map(|n| Self::plain(n.1)),
        }
    }

    /// The character that this key types, if it types one.
    pub fn typed(self) -> Option<char> {
        match self.code {
            KeyCode::Char(c) if !self.ctrl && !self.alt => Some(c),
            _ => None,
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.ctrl {
            f.write_str("Ctrl+")?;
        }
        if self.alt {
            f.write_str("Alt+")?;
        }
        if let Some(name) = NAMES.iter().find(|n| n.1 == self.code) {
            return f.write_str(name.2);
        }
        match self.code {
            KeyCode::Char(c) if self.ctrl => write!(f, "{}", c.to_ascii_uppercase()),
            KeyCode::Char(c) => write!(f, "{c}"),
            other => write!(f, "{other:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_notation_reads_back() {
        let keys = Key::parse("jG<ret><C-s><pgdn><lt>").unwrap();
        let shown: Vec<String> = keys.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["j", "G", "⏎", "Ctrl+S", "PgDn", "<"]);
        assert!(Key::parse("<nonsense>").is_none());
    }
}
