//! What Hermes does to `.env` before and after python-dotenv reads it.
//!
//! Responsible for: the repair pass (trimmed lines, final newline, glued `A=xB=y` lines split at
//! names it knows) as a change of [`Text`] that keeps byte offsets, and the loss of non-ASCII
//! characters in credentials. Not responsible for: the grammar of a line.

use std::ops::Range;

use super::text::{Text, is_space, strip};

/// Name endings whose values Hermes makes ASCII in memory after loading.
const ASCII_ONLY: [&str; 4] = ["_API_KEY", "_TOKEN", "_SECRET", "_KEY"];

/// No name that Hermes knows is near this long; a bound keeps the search linear.
const LONGEST_NAME: usize = 128;

/// The text after the repair pass, and whether Hermes would rewrite the file for it.
pub(super) fn repair(text: &Text, known: &dyn Fn(&str) -> bool) -> (Text, bool) {
    let mut out = Text::default();
    let mut changed = false;
    for line in text.lines() {
        let has_newline = text.chars[line.end - 1] == '\n';
        let raw = line.start..line.end - usize::from(has_newline);
        changed |= !has_newline;
        let stripped = strip(&text.chars, raw.clone());
        if stripped.is_empty() || text.chars[stripped.start] == '#' {
            copy(text, &mut out, &raw);
        } else {
            changed |= stripped != raw;
            let segments = segments(&text.chars[stripped.clone()], known);
            for (n, segment) in segments.iter().enumerate() {
                let at = stripped.start + segment.start..stripped.start + segment.end;
                let part = strip(&text.chars, at);
                if n > 0 {
                    out.chars.push('\n');
                    out.at.push(text.at[part.start]);
                    changed = true;
                }
                copy(text, &mut out, &part);
            }
        }
        out.chars.push('\n');
        out.at.push(text.at[raw.end]);
    }
    out.at.push(text.at.last().copied().unwrap_or(0));
    (out, changed)
}

fn copy(from: &Text, to: &mut Text, range: &Range<usize>) {
    to.chars.extend_from_slice(&from.chars[range.clone()]);
    to.at.extend_from_slice(&from.at[range.clone()]);
}

/// Where the pass would cut a trimmed line; one range when it leaves the line alone.
///
/// It cuts only a line that begins with a known `NAME=`, at every further known `NAME=`, and only
/// when no value before a cut looks like a URL, a query string or a phrase. Quotes do not protect.
pub(super) fn segments(line: &[char], known: &dyn Fn(&str) -> bool) -> Vec<Range<usize>> {
    let whole = std::iter::once(0..line.len()).collect();
    let starts: Vec<usize> = line
        .iter()
        .enumerate()
        .filter(|(_, c)| **c == '=')
        .filter_map(|(equals, _)| known_name_before(line, equals, known))
        .collect();
    if starts.len() < 2 || starts[0] != 0 {
        return whole;
    }
    let ends = starts.iter().skip(1).copied().chain([line.len()]);
    let parts: Vec<Range<usize>> = starts
        .iter()
        .copied()
        .zip(ends)
        .map(|(s, e)| s..e)
        .collect();
    let plain = parts[..parts.len() - 1].iter().all(|part| {
        let text = &line[part.clone()];
        let value = text
            .iter()
            .position(|c| *c == '=')
            .map_or(text, |n| &text[n + 1..]);
        !looks_structured(value)
    });
    if plain { parts } else { whole }
}

/// Start of the longest known name that ends just before `equals`.
fn known_name_before(line: &[char], equals: usize, known: &dyn Fn(&str) -> bool) -> Option<usize> {
    let word = line[..equals]
        .iter()
        .rev()
        .take(LONGEST_NAME)
        .take_while(|c| c.is_ascii_alphanumeric() || **c == '_')
        .count();
    let run: String = line[equals - word..equals].iter().collect();
    (0..word)
        .find(|skip| known(&run[*skip..]))
        .map(|skip| equals - word + skip)
}

fn looks_structured(value: &[char]) -> bool {
    value.iter().any(|c| matches!(c, '?' | '&') || is_space(*c))
        || value.windows(3).any(|w| w == [':', '/', '/'])
}

/// Whether Hermes drops the non-ASCII characters of this name's value once it is loaded.
pub(super) fn is_ascii_only(name: &str) -> bool {
    ASCII_ONLY.iter().any(|end| name.ends_with(end))
}

/// The value as a running Hermes holds it.
pub(super) fn in_memory(name: &str, value: &str) -> String {
    if is_ascii_only(name) {
        value.chars().filter(char::is_ascii).collect()
    } else {
        value.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::super::text::Decoding;
    use super::*;

    fn repaired(bytes: &[u8]) -> (String, bool) {
        let known = |name: &str| ["GLM_API_KEY", "LM_API_KEY", "FAL_KEY", "URL"].contains(&name);
        let text = Text::decode(bytes, Decoding::Lossy).unwrap();
        let (text, changed) = repair(&text, &known);
        assert_eq!(text.chars.len() + 1, text.at.len());
        (text.chars.iter().collect(), changed)
    }

    #[test]
    fn glued_lines_are_cut_at_known_names_only() {
        let same = |s: &str| assert_eq!(repaired(s.as_bytes()), (s.to_owned(), false));
        assert_eq!(
            repaired(b"FAL_KEY=aGLM_API_KEY=b\n"),
            ("FAL_KEY=a\nGLM_API_KEY=b\n".into(), true)
        );
        same("FAL_KEY=aOTHER=b\n");
        same("GLM_API_KEY=x\n");
        same("export FAL_KEY=aGLM_API_KEY=b\n");
        same("FAL_KEY=a bGLM_API_KEY=b\n");
        same("URL=https://x/?FAL_KEY=zz\n");
        same("X=FAL_KEY=zz\n");
    }

    #[test]
    fn lines_are_trimmed_and_comments_are_not() {
        assert_eq!(
            repaired(b"  A=1  \n   # note  \n \nB=2"),
            ("A=1\n   # note  \n \nB=2\n".into(), true)
        );
    }
}
