//! The grammar of python-dotenv 1.2, which is what a running Hermes reads with.
//!
//! Responsible for: cutting a text into bindings exactly where python-dotenv does, errors and
//! multi-line values included, with the range of every part. Not responsible for: `${}` (see
//! `interpolate`), Hermes' repair pass (see `repair`).

use std::ops::Range;

use super::text::is_space;

/// One step of the reader: an assignment, a bare name, a comment, blank rest, or a broken line.
/// All ranges count characters.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Binding {
    /// First character that is not white space; blank lines before it do not belong here.
    pub start: usize,
    /// After the line end.
    pub end: usize,
    /// The name, unless this is a comment or broken.
    pub key: Option<Range<usize>>,
    /// The name stands in single quotes.
    pub key_quoted: bool,
    /// White space between `export` and the name, when there is an `export`.
    pub export: Option<Range<usize>>,
    /// The value with its quotes; `None` without `=`.
    pub value: Option<Range<usize>>,
    /// The quote around the value.
    pub quote: Option<char>,
    /// What python-dotenv makes of the value, before `${}`.
    pub decoded: Option<String>,
    /// From `#` to the end of its line.
    pub comment: Option<Range<usize>>,
    /// python-dotenv skips this text with a warning.
    pub error: bool,
}

/// Cut a whole text.
pub(super) fn parse(chars: &[char]) -> Vec<Binding> {
    let mut reader = Reader { chars, at: 0 };
    let mut out = Vec::new();
    while reader.at < chars.len() {
        out.push(reader.binding());
    }
    out
}

struct Reader<'a> {
    chars: &'a [char],
    at: usize,
}

/// White space that does not end a line.
fn is_blank(c: char) -> bool {
    is_space(c) && c != '\n' && c != '\r'
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn skip_while(&mut self, test: impl Fn(char) -> bool) -> Range<usize> {
        let start = self.at;
        while self.peek().is_some_and(&test) {
            self.at += 1;
        }
        start..self.at
    }

    fn binding(&mut self) -> Binding {
        self.skip_while(is_space);
        let mut out = Binding {
            start: self.at,
            end: self.at,
            key: None,
            key_quoted: false,
            export: None,
            value: None,
            quote: None,
            decoded: None,
            comment: None,
            error: false,
        };
        if self.at < self.chars.len() && self.parts(&mut out).is_none() {
            self.skip_while(|c| c != '\n');
            self.at += usize::from(self.peek().is_some());
            out.error = true;
            out.key = None;
            out.value = None;
            out.decoded = None;
            out.comment = None;
        }
        out.end = self.at;
        out
    }

    /// `None` where python-dotenv raises; the position then stays where it was reached.
    fn parts(&mut self, out: &mut Binding) -> Option<()> {
        out.export = self.export();
        out.key = self.key(out)?;
        self.skip_while(is_blank);
        if self.peek() == Some('=') {
            self.at += 1;
            self.skip_while(is_blank);
            self.value(out)?;
        }
        self.comment(out);
        self.skip_while(is_blank);
        match self.peek() {
            None => Some(()),
            Some('\n') => {
                self.at += 1;
                Some(())
            }
            Some(_) => None,
        }
    }

    fn export(&mut self) -> Option<Range<usize>> {
        let word: [char; 6] = ['e', 'x', 'p', 'o', 'r', 't'];
        if !self.chars[self.at..].starts_with(&word) {
            return None;
        }
        let before = self.at;
        self.at += word.len();
        let blanks = self.skip_while(is_blank);
        if blanks.is_empty() {
            self.at = before;
            return None;
        }
        Some(blanks)
    }

    /// The outer `None` is an error, the inner one a comment line.
    #[allow(clippy::option_option)]
    fn key(&mut self, out: &mut Binding) -> Option<Option<Range<usize>>> {
        match self.peek() {
            Some('#') => return Some(None),
            Some('\'') => {
                let start = self.at + 1;
                let len = self.chars[start..].iter().position(|c| *c == '\'')?;
                if len == 0 {
                    return None;
                }
                self.at = start + len + 1;
                out.key_quoted = true;
                return Some(Some(start..start + len));
            }
            _ => {}
        }
        let key = self.skip_while(|c| !is_space(c) && c != '=' && c != '#');
        if key.is_empty() {
            None
        } else {
            Some(Some(key))
        }
    }

    fn value(&mut self, out: &mut Binding) -> Option<()> {
        let start = self.at;
        match self.peek() {
            Some(quote @ ('\'' | '"')) => {
                let close = self.closing(quote)?;
                self.at = close + 1;
                out.quote = Some(quote);
                out.decoded = Some(unescape(&self.chars[start + 1..close], quote));
                out.value = Some(start..self.at);
            }
            None | Some('\n') => {
                out.decoded = Some(String::new());
                out.value = Some(start..start);
            }
            Some(_) => {
                let line = self.skip_while(|c| c != '\n');
                let (end, comment) = bare_end(self.chars, &line);
                out.decoded = Some(self.chars[start..end].iter().collect());
                out.value = Some(start..end);
                out.comment = comment.map(|at| at..line.end);
            }
        }
        Some(())
    }

    /// Where the value that opens here closes. A quote behind a backslash closes only when no
    /// other quote of its kind follows anywhere in the text: the regular expression that
    /// python-dotenv uses falls back to it, whether or not that backslash is itself escaped.
    fn closing(&self, quote: char) -> Option<usize> {
        let mut fallback = None;
        for at in self.at + 1..self.chars.len() {
            if self.chars[at] == quote {
                if at > self.at + 1 && self.chars[at - 1] == '\\' {
                    fallback = Some(at);
                } else {
                    return Some(at);
                }
            }
        }
        fallback
    }

    fn comment(&mut self, out: &mut Binding) {
        let before = self.at;
        self.skip_while(is_blank);
        if self.peek() == Some('#') {
            out.comment = Some(self.skip_while(|c| c != '\n'));
        } else {
            self.at = before;
        }
    }
}

/// Where a value without quotes ends, and where the comment behind it begins.
fn bare_end(chars: &[char], line: &Range<usize>) -> (usize, Option<usize>) {
    let mut blank_since = None;
    for at in line.clone() {
        if is_space(chars[at]) {
            blank_since.get_or_insert(at);
        } else if chars[at] == '#' && blank_since.is_some() {
            return (blank_since.unwrap_or(at), Some(at));
        } else {
            blank_since = None;
        }
    }
    (blank_since.unwrap_or(line.end), None)
}

fn unescape(chars: &[char], quote: char) -> String {
    let mut out = String::with_capacity(chars.len());
    let mut at = 0;
    while at < chars.len() {
        let escaped = match (chars[at], chars.get(at + 1)) {
            ('\\', Some(c @ ('\\' | '\''))) => Some(*c),
            ('\\', Some(c)) if quote == '"' => match c {
                '"' => Some('"'),
                'a' => Some('\u{07}'),
                'b' => Some('\u{08}'),
                'f' => Some('\u{0c}'),
                'n' => Some('\n'),
                'r' => Some('\r'),
                't' => Some('\t'),
                'v' => Some('\u{0b}'),
                _ => None,
            },
            _ => None,
        };
        out.push(escaped.unwrap_or(chars[at]));
        at += if escaped.is_some() { 2 } else { 1 };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Name, value, error of every binding that is not a comment or blank.
    fn read(text: &str) -> Vec<(Option<String>, Option<String>, bool)> {
        let chars: Vec<char> = text.chars().collect();
        parse(&chars)
            .into_iter()
            .filter(|b| b.key.is_some() || b.error)
            .map(|b| (b.key.map(|k| chars[k].iter().collect()), b.decoded, b.error))
            .collect()
    }

    fn ok(key: &str, value: &str) -> (Option<String>, Option<String>, bool) {
        (Some(key.into()), Some(value.into()), false)
    }

    #[test]
    fn a_quote_behind_a_backslash_runs_on_to_a_later_quote() {
        assert_eq!(read("A=\"x\\\\\"\nB=1\n"), [ok("A", "x\\"), ok("B", "1")]);
        assert_eq!(
            read("A=\"x\\\\\"\nB=\"1\"\nC=2\n"),
            [(None, None, true), ok("C", "2")]
        );
    }

    #[test]
    fn an_open_quote_breaks_its_own_line_only() {
        assert_eq!(read("A=\"abc\nB=1\n"), [(None, None, true), ok("B", "1")]);
    }

    #[test]
    fn a_comment_needs_a_blank_before_it_and_something_before_that() {
        assert_eq!(
            read("A=   # x\nB=a#b #c\nC='v'#c\n"),
            [ok("A", "# x"), ok("B", "a#b"), ok("C", "v")]
        );
    }
}
