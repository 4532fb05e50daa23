//! The scanner: bytes to values with spans.
//!
//! Responsible for: the grammar of RFC 8259 plus `NaN` and `Infinity`, exact spans, and errors
//! with line and column. Not responsible for: changing anything.

use super::{Kind, Member, Node, ParseError, Value};

/// Deeper nesting is refused: no state file has it, and the stack is finite.
const DEEPEST: usize = 200;

/// Read one value that fills the file.
pub(super) fn scan(bytes: &[u8]) -> Result<Node, ParseError> {
    if let Err(e) = std::str::from_utf8(bytes) {
        return Err(error(bytes, e.valid_up_to(), "the file is not UTF-8 here"));
    }
    let mut scanner = Scanner {
        bytes,
        at: if bytes.starts_with(b"\xef\xbb\xbf") {
            3
        } else {
            0
        },
        depth: 0,
    };
    scanner.space();
    let root = scanner.value()?;
    scanner.space();
    if scanner.at < bytes.len() {
        return Err(scanner.error("text follows the value; JSON has one value and no comments"));
    }
    Ok(root)
}

/// 1-based line and column of a byte offset.
pub(in crate::document) fn position(bytes: &[u8], at: usize) -> (usize, usize) {
    let before = &bytes[..at.min(bytes.len())];
    let mut line = 1;
    let mut start = 0;
    for (n, b) in before.iter().enumerate() {
        let lone_cr = *b == b'\r' && bytes.get(n + 1) != Some(&b'\n');
        if *b == b'\n' || lone_cr {
            line += 1;
            start = n + 1;
        }
    }
    (
        line,
        1 + String::from_utf8_lossy(&before[start..]).chars().count(),
    )
}

fn error(bytes: &[u8], at: usize, reason: &str) -> ParseError {
    let (line, column) = position(bytes, at);
    ParseError {
        line,
        column,
        reason: reason.to_owned(),
    }
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: usize,
}

impl Scanner<'_> {
    fn error(&self, reason: &str) -> ParseError {
        error(self.bytes, self.at, reason)
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn value(&mut self) -> Result<Node, ParseError> {
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => self.nested(Self::object)?,
            Some(b'[') => self.nested(Self::array)?,
            Some(b'"') => Kind::Scalar(Value::Str(self.string()?)),
            Some(b'/' | b'#') => return Err(self.error("JSON has no comments")),
            Some(_) => Kind::Scalar(self.word()?),
            None => return Err(self.error("a value is missing at the end of the file")),
        };
        Ok(Node {
            span: start..self.at,
            kind,
        })
    }

    fn nested(
        &mut self,
        read: fn(&mut Self) -> Result<Kind, ParseError>,
    ) -> Result<Kind, ParseError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.error("the file is nested too deeply"));
        }
        self.at += 1;
        let kind = read(self)?;
        self.depth -= 1;
        Ok(kind)
    }

    fn array(&mut self) -> Result<Kind, ParseError> {
        let mut items = Vec::new();
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Kind::Array(items));
        }
        loop {
            self.space();
            items.push(self.value()?);
            if self.after_item(b']')? {
                return Ok(Kind::Array(items));
            }
        }
    }

    fn object(&mut self) -> Result<Kind, ParseError> {
        let mut members = Vec::new();
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Kind::Object(members));
        }
        loop {
            self.space();
            let key_start = self.at;
            match self.peek() {
                Some(b'"') => {}
                Some(b'/' | b'#') => return Err(self.error("JSON has no comments")),
                Some(b'}') => return Err(self.error("a comma stands before the closing brace")),
                _ => return Err(self.error("a key in double quotes is missing")),
            }
            let key = self.string()?;
            let key_span = key_start..self.at;
            self.space();
            if self.peek() != Some(b':') {
                return Err(self.error("a colon is missing behind the key"));
            }
            self.at += 1;
            self.space();
            let value = self.value()?;
            members.push(Member {
                key,
                key_span,
                value,
            });
            if self.after_item(b'}')? {
                return Ok(Kind::Object(members));
            }
        }
    }

    /// Whether the container closes here.
    fn after_item(&mut self, close: u8) -> Result<bool, ParseError> {
        self.space();
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(false)
            }
            Some(c) if c == close => {
                self.at += 1;
                Ok(true)
            }
            Some(b'/' | b'#') => Err(self.error("JSON has no comments")),
            Some(_) => Err(self.error("a comma or a closing bracket is missing")),
            None => Err(self.error("a closing bracket is missing at the end of the file")),
        }
    }

    fn string(&mut self) -> Result<String, ParseError> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let from = self.at;
            while matches!(self.peek(), Some(c) if c != b'"' && c != b'\\' && c >= 0x20) {
                self.at += 1;
            }
            out.push_str(&String::from_utf8_lossy(&self.bytes[from..self.at]));
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => out.push(self.escape()?),
                Some(_) => return Err(self.error("a control character stands in a string")),
                None => return Err(self.error("a string is not closed")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, ParseError> {
        let c = match self.bytes.get(self.at + 1) {
            Some(c @ (b'"' | b'\\' | b'/')) => char::from(*c),
            Some(b'b') => '\u{08}',
            Some(b'f') => '\u{0c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            _ => return Err(self.error("a backslash in a string is followed by no known escape")),
        };
        self.at += 2;
        Ok(c)
    }

    /// `\uXXXX`, two of them for characters beyond U+FFFF. Half a pair becomes U+FFFD.
    fn unicode(&mut self) -> Result<char, ParseError> {
        let Some(first) = self.hex(self.at) else {
            return Err(self.error("`\\u` needs four hexadecimal digits"));
        };
        self.at += 6;
        if (0xd800..0xdc00).contains(&first)
            && let Some(second) = self.hex(self.at)
            && (0xdc00..0xe000).contains(&second)
        {
            self.at += 6;
            let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            return Ok(char::from_u32(code).unwrap_or('\u{fffd}'));
        }
        Ok(char::from_u32(first).unwrap_or('\u{fffd}'))
    }

    fn hex(&self, at: usize) -> Option<u32> {
        let digits = self.bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    }

    /// A number or a name.
    fn word(&mut self) -> Result<Value, ParseError> {
        let rest = &self.bytes[self.at..];
        let len = rest
            .iter()
            .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, b'+' | b'-' | b'.'))
            .count();
        let text = std::str::from_utf8(&rest[..len]).unwrap_or_default();
        let value = match text {
            "null" => Value::Null,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "NaN" => Value::Float(f64::NAN),
            "Infinity" => Value::Float(f64::INFINITY),
            "-Infinity" => Value::Float(f64::NEG_INFINITY),
            "" => return Err(self.error("a value is missing")),
            _ => number(text).ok_or_else(|| self.error("this is no JSON value"))?,
        };
        self.at += len;
        Ok(value)
    }
}

/// A number as Python types it: whole without a point or an exponent.
fn number(text: &str) -> Option<Value> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let whole = digits.bytes().take_while(u8::is_ascii_digit).count();
    if whole == 0 || (whole > 1 && digits.starts_with('0')) {
        return None;
    }
    let rest = &digits[whole..];
    if rest.is_empty() {
        return Some(
            text.parse()
                .map_or_else(|_| Value::BigInt(text.to_owned()), Value::Int),
        );
    }
    let exponent = match rest.strip_prefix('.') {
        Some(fraction) => {
            let len = fraction.bytes().take_while(u8::is_ascii_digit).count();
            if len == 0 {
                return None;
            }
            &fraction[len..]
        }
        None => rest,
    };
    if !exponent.is_empty() {
        let power = exponent.strip_prefix(['e', 'E'])?;
        let power = power.strip_prefix(['+', '-']).unwrap_or(power);
        if power.is_empty() || !power.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
    }
    text.parse().ok().map(Value::Float)
}
