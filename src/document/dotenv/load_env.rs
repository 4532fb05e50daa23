//! Hermes' own line reader, which `hermes config` and the dashboard show.
//!
//! Responsible for: what it reads from a repaired text, line by line. Not responsible for: what a
//! running Hermes uses (see `grammar`).

use super::text::{Text, strip};

/// One line as this reader takes it.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Line {
    /// Text before the first `=`.
    pub name: String,
    /// Text behind it, without one pair of quotes.
    pub value: String,
    /// Byte offset of the line in the file.
    pub at: usize,
}

/// Read a repaired text; the last line of a name is the one that counts.
pub(super) fn read(text: &Text) -> Vec<Line> {
    let mut out = Vec::new();
    for line in text.lines() {
        let part = strip(&text.chars, line);
        let mut chars = &text.chars[part.clone()];
        if chars.first().is_none_or(|c| *c == '#') || !chars.contains(&'=') {
            continue;
        }
        if chars.starts_with(&['e', 'x', 'p', 'o', 'r', 't', ' ']) {
            chars = &chars[7..];
        }
        let Some(equals) = chars.iter().position(|c| *c == '=') else {
            continue;
        };
        out.push(Line {
            name: chars[strip(chars, 0..equals)].iter().collect(),
            value: value(&chars[equals + 1..]),
            at: text.at[part.start],
        });
    }
    out
}

fn value(raw: &[char]) -> String {
    let raw = &raw[strip(raw, 0..raw.len())];
    let quote = raw.first().copied();
    let inside = match quote {
        Some('"' | '\'') if raw.len() >= 2 && raw.last().copied() == quote => {
            &raw[1..raw.len() - 1]
        }
        _ => return raw.iter().collect(),
    };
    if quote == Some('\'') {
        return inside.iter().collect();
    }
    let mut out = String::with_capacity(inside.len());
    let mut at = 0;
    while at < inside.len() {
        match (inside[at], inside.get(at + 1)) {
            ('\\', Some(c @ ('"' | '\\'))) => {
                out.push(*c);
                at += 2;
            }
            (c, _) => {
                out.push(c);
                at += 1;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::text::Decoding;
    use super::*;

    #[test]
    fn only_a_pair_of_equal_quotes_is_taken_off() {
        let text = Text::decode(
            b"A=\"x\\\"y\\n\"\nB='a\\'b'\nC=\"\nexport\tD=1\nexport  E = 2 # c\n=f\n#G=1\nH\n",
            Decoding::Lossy,
        )
        .unwrap();
        let read: Vec<(String, String)> =
            read(&text).into_iter().map(|l| (l.name, l.value)).collect();
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(
            read,
            [
                pair("A", "x\"y\\n"),
                pair("B", "a\\'b"),
                pair("C", "\""),
                pair("export\tD", "1"),
                pair("E", "2 # c"),
                pair("", "f"),
            ]
        );
    }
}
