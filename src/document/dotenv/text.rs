//! A file as characters, each with the byte it came from.
//!
//! Responsible for: decoding as Python's text mode does (UTF-8, Latin-1 or UTF-8 with U+FFFD;
//! every line end read as `\n`), and mapping any character back to its byte offset. Not
//! responsible for: what the characters mean.

use std::ops::Range;

/// How bytes become characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decoding {
    /// Strict UTF-8; a byte-order mark stays as a character.
    Utf8,
    /// One character per byte; the fallback of a running Hermes.
    Latin1,
    /// UTF-8 without its byte-order mark, U+FFFD for what is not UTF-8.
    Lossy,
}

/// The UTF-8 byte-order mark.
pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";

/// Characters and the byte offset of each in the original file.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Text {
    /// The characters; line ends are `\n` only.
    pub chars: Vec<char>,
    /// Byte offset of each character, then the length of the file.
    pub at: Vec<usize>,
}

impl Text {
    /// Decode `bytes`; `None` when strict UTF-8 was asked for and the bytes are not.
    pub fn decode(bytes: &[u8], how: Decoding) -> Option<Self> {
        let mut builder = Builder::default();
        match how {
            Decoding::Utf8 => {
                for (at, c) in std::str::from_utf8(bytes).ok()?.char_indices() {
                    builder.push(c, at);
                }
            }
            Decoding::Latin1 => {
                for (at, b) in bytes.iter().enumerate() {
                    builder.push(char::from(*b), at);
                }
            }
            Decoding::Lossy => {
                let mut base = if bytes.starts_with(BOM) { BOM.len() } else { 0 };
                for chunk in bytes[base..].utf8_chunks() {
                    for (at, c) in chunk.valid().char_indices() {
                        builder.push(c, base + at);
                    }
                    base += chunk.valid().len();
                    if !chunk.invalid().is_empty() {
                        builder.push('\u{fffd}', base);
                        base += chunk.invalid().len();
                    }
                }
            }
        }
        let mut text = builder.text;
        text.at.push(bytes.len());
        Some(text)
    }

    /// The lines, each with its `\n` when it has one.
    pub fn lines(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let mut at = 0;
        std::iter::from_fn(move || {
            let rest = self.chars.get(at..).filter(|rest| !rest.is_empty())?;
            let len = rest
                .iter()
                .position(|c| *c == '\n')
                .map_or(rest.len(), |n| n + 1);
            at += len;
            Some(at - len..at)
        })
    }

    /// Byte range of a range of characters.
    pub fn bytes(&self, chars: &Range<usize>) -> Range<usize> {
        self.at[chars.start]..self.at[chars.end]
    }
}

#[derive(Default)]
struct Builder {
    text: Text,
    after_cr: bool,
}

impl Builder {
    /// Add a character, reading `\r\n` and a lone `\r` as one `\n`.
    fn push(&mut self, c: char, at: usize) {
        if c == '\n' && self.after_cr {
            self.after_cr = false;
            return;
        }
        self.after_cr = c == '\r';
        self.text.chars.push(if c == '\r' { '\n' } else { c });
        self.text.at.push(at);
    }
}

/// What Python's `str.isspace`, `strip` and `\s` call white space.
pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// Shrink a range so that it neither starts nor ends with white space.
pub(super) fn strip(chars: &[char], range: Range<usize>) -> Range<usize> {
    let Range { mut start, mut end } = range;
    while start < end && is_space(chars[start]) {
        start += 1;
    }
    while start < end && is_space(chars[end - 1]) {
        end -= 1;
    }
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(bytes: &[u8], how: Decoding) -> (String, Vec<usize>) {
        let text = Text::decode(bytes, how).unwrap();
        (text.chars.iter().collect(), text.at)
    }

    #[test]
    fn every_line_end_is_one_newline_with_its_own_offset() {
        let (text, at) = shown(b"a\r\nb\rc\n\r\n\n", Decoding::Utf8);
        assert_eq!(text, "a\nb\nc\n\n\n");
        assert_eq!(at, [0, 1, 3, 4, 5, 6, 7, 9, 10]);
    }

    #[test]
    fn bytes_that_are_not_utf8_are_kept_or_replaced_as_asked() {
        assert!(Text::decode(b"caf\xe9", Decoding::Utf8).is_none());
        assert_eq!(shown(b"caf\xe9x", Decoding::Latin1).0, "café\u{78}");
        assert_eq!(
            shown(b"\xef\xbb\xbfa\xe9b", Decoding::Lossy),
            ("a\u{fffd}b".into(), vec![3, 4, 5, 6])
        );
    }
}
