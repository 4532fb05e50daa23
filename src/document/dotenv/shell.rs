//! What a POSIX shell makes of the text behind `NAME=` when it sources the file.
//!
//! Responsible for: quotes, backslashes and what they do not protect. Not responsible for: any
//! other shell syntax; everything that is not one plain word counts as "runs".

/// The outcome of `. file` for one assignment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shell {
    /// Exactly this value.
    Reads(String),
    /// Some other value, harmlessly.
    Differs,
    /// The next line becomes part of the value.
    Joins,
    /// Part of the text is run as a command, or the shell stops with a syntax error.
    Runs,
}

/// Read one word.
pub(super) fn read(word: &str) -> Shell {
    let mut out = String::new();
    let mut differs = false;
    let mut chars = word.chars().peekable();
    let mut tilde = true;
    while let Some(c) = chars.next() {
        let may_expand = std::mem::replace(&mut tilde, c == ':');
        match c {
            '\'' => loop {
                match chars.next() {
                    Some('\'') => break,
                    Some(c) => out.push(c),
                    None => return Shell::Runs,
                }
            },
            '"' => match double_quoted(&mut chars, &mut out) {
                Some(other) => differs |= other,
                None => return Shell::Runs,
            },
            '\\' => match chars.next() {
                Some(c) => out.push(c),
                None => return Shell::Joins,
            },
            '$' => match dollar(chars.peek().copied()) {
                Some(other) => {
                    differs |= other || matches!(chars.peek(), Some('\'' | '"'));
                    out.push('$');
                }
                None => return Shell::Runs,
            },
            '`' | ';' | '&' | '|' | '<' | '>' | '(' | ')' | ' ' | '\t' | '\n' => {
                return Shell::Runs;
            }
            '~' if may_expand => differs = true,
            '#' if out.is_empty() => return Shell::Differs,
            c => out.push(c),
        }
    }
    if differs {
        Shell::Differs
    } else {
        Shell::Reads(out)
    }
}

/// Whether the text differs; `None` when a command would run or the quote stays open.
fn double_quoted(
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    out: &mut String,
) -> Option<bool> {
    let mut differs = false;
    loop {
        match chars.next()? {
            '"' => return Some(differs),
            '`' => return None,
            '$' => {
                differs |= dollar(chars.peek().copied())?;
                out.push('$');
            }
            '\\' => match chars.peek() {
                Some('$' | '`' | '"' | '\\') => out.extend(chars.next()),
                _ => out.push('\\'),
            },
            c => out.push(c),
        }
    }
}

/// What stands behind a `$`: `None` runs a command, `Some(true)` is replaced, else it is plain.
fn dollar(next: Option<char>) -> Option<bool> {
    match next {
        Some('(') => None,
        Some(c) => Some(c.is_alphanumeric() || "_{[@*#?-$!".contains(c)),
        None => Some(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_a_shell_reads_them() {
        let reads = |word: &str, value: &str| {
            assert_eq!(read(word), Shell::Reads(value.into()), "{word}");
        };
        reads("", "");
        reads("a=b:c", "a=b:c");
        reads("'a $b `c` \"'", "a $b `c` \"");
        reads(r#""it's \"x\" \\n \n""#, r#"it's "x" \n \n"#);
        reads("\"5$\"", "5$");
        reads("a#b~", "a#b~");
        for word in ["$HOME", "\"a${x}\"", "~/x", "a:~b", "#x"] {
            assert_eq!(read(word), Shell::Differs, "{word}");
        }
        for word in ["a b", "$(x)", "\"`x`\"", "it's", "a;b", "\"open"] {
            assert_eq!(read(word), Shell::Runs, "{word}");
        }
        assert_eq!(read("a\\"), Shell::Joins);
    }
}
