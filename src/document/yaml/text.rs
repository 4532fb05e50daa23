//! Lines and blanks of YAML text, as libyaml sees them.
//!
//! Responsible for: line breaks (LF, CRLF, CR, NEL, LS, PS), columns, comments and node
//! properties at byte offsets. Not responsible for: nodes ([`super::shape`]).

/// Length of the line break that starts at byte `p`, or 0.
pub(super) fn break_len(t: &str, p: usize) -> usize {
    let b = t.as_bytes();
    match b.get(p) {
        Some(b'\r') if b.get(p + 1) == Some(&b'\n') => 2,
        Some(b'\r' | b'\n') => 1,
        Some(0xC2) if b.get(p + 1) == Some(&0x85) => 2,
        Some(0xE2) if b.get(p + 1) == Some(&0x80) && matches!(b.get(p + 2), Some(0xA8 | 0xA9)) => 3,
        _ => 0,
    }
}

/// Length of the line break that ends just before byte `p`, or 0.
pub(super) fn break_before(t: &str, p: usize) -> usize {
    for n in [2, 3, 1] {
        if p >= n && break_len(t, p - n) == n {
            return n;
        }
    }
    0
}

/// Whether the line break just before `p` is one that editors do not show (NEL, LS, PS).
pub(super) fn soft_break_before(t: &str, p: usize) -> bool {
    break_before(t, p) > 0 && !matches!(t.as_bytes()[p - 1], b'\n' | b'\r')
}

/// Start of the line that byte `p` is on.
pub(super) fn line_start(t: &str, mut p: usize) -> usize {
    while p > 0 && break_before(t, p) == 0 {
        p -= 1;
    }
    if p == 0 { bom(t) } else { p }
}

/// End of the line that byte `p` is on, before its break.
pub(super) fn line_end(t: &str, mut p: usize) -> usize {
    while p < t.len() && break_len(t, p) == 0 {
        p += 1;
    }
    p
}

/// Start of the line after the one that byte `p` is on; the end of the text when there is none.
pub(super) fn next_line(t: &str, p: usize) -> usize {
    let end = line_end(t, p);
    end + break_len(t, end)
}

/// Length of the byte order mark at the start of the text.
pub(super) fn bom(t: &str) -> usize {
    if t.starts_with('\u{feff}') { 3 } else { 0 }
}

/// Column of byte `p`, in characters, 0-based. A byte order mark has no width.
pub(super) fn column(t: &str, p: usize) -> usize {
    t[line_start(t, p).min(p)..p].chars().count()
}

pub(super) fn is_blank(b: u8) -> bool {
    b == b' ' || b == b'\t'
}

/// First byte at or behind `p` that is no space and no tab.
pub(super) fn skip_blanks(t: &str, mut p: usize) -> usize {
    while t.as_bytes().get(p).is_some_and(|b| is_blank(*b)) {
        p += 1;
    }
    p
}

/// First byte at or behind `p` that is no blank, no line break and not in a comment.
pub(super) fn skip_space(t: &str, mut p: usize) -> usize {
    loop {
        p = skip_blanks(t, p);
        let n = break_len(t, p);
        if n > 0 {
            p += n;
        } else if t.as_bytes().get(p) == Some(&b'#') && starts_comment(t, p) {
            p = line_end(t, p);
        } else {
            return p;
        }
    }
}

/// Whether a `#` at `p` starts a comment rather than standing inside a word.
pub(super) fn starts_comment(t: &str, p: usize) -> bool {
    p == bom(t)
        || is_blank(t.as_bytes()[p - 1])
        || break_before(t, p) > 0
        || matches!(t.as_bytes()[p - 1], b',' | b'[' | b'{' | b']' | b'}')
}

/// Whether the rest of the line from `p` is blank or a comment.
pub(super) fn only_comment_follows(t: &str, p: usize) -> bool {
    let q = skip_blanks(t, p);
    q == t.len() || break_len(t, q) > 0 || t.as_bytes()[q] == b'#'
}

/// Whether nothing but blanks stands between the start of the line and `p`.
pub(super) fn first_on_line(t: &str, p: usize) -> bool {
    t[line_start(t, p).min(p)..p].bytes().all(is_blank)
}

/// Step over anchor and tag. Returns the end of the last of them, and where the content starts
/// (at most `limit`).
pub(super) fn skip_props(t: &str, start: usize, limit: usize) -> (usize, usize) {
    let limit = limit.min(t.len());
    let b = t.as_bytes();
    let mut end = start;
    let mut p = start;
    // A node has at most one anchor and one tag.
    for _ in 0..2 {
        match b.get(p) {
            Some(b'&') if p < limit => {
                p += 1;
                while b
                    .get(p)
                    .is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-'))
                {
                    p += 1;
                }
            }
            Some(b'!') if p < limit && b.get(p + 1) == Some(&b'<') => {
                while p < limit && b[p] != b'>' {
                    p += 1;
                }
                p = (p + 1).min(limit);
            }
            Some(b'!') if p < limit => {
                while p < limit && !is_blank(b[p]) && break_len(t, p) == 0 && b[p] != b',' {
                    p += 1;
                }
            }
            _ => break,
        }
        end = p;
        p = skip_space(t, p);
    }
    if p >= limit { (end, end) } else { (end, p) }
}

/// 1-based line and column (in characters) of byte `p`.
pub(super) fn place(t: &str, p: usize) -> (usize, usize) {
    let mut p = p.min(t.len());
    while !t.is_char_boundary(p) {
        p -= 1;
    }
    let mut line = 1;
    let mut start = bom(t).min(p);
    let mut q = start;
    while q < p {
        let n = break_len(t, q);
        if n > 0 && q + n <= p {
            line += 1;
            q += n;
            start = q;
        } else {
            q += 1;
        }
    }
    (line, t[start..p].chars().count() + 1)
}

/// The line break that most lines of the file have; of equals the first one, LF when there is
/// none.
pub(super) fn file_break(t: &str) -> &'static str {
    let mut counts = [(0usize, "\n"), (0, "\r\n"), (0, "\r")];
    let mut first = None;
    let b = t.as_bytes();
    for (p, byte) in b.iter().enumerate() {
        let kind = match byte {
            b'\r' if b.get(p + 1) == Some(&b'\n') => 1,
            b'\r' => 2,
            b'\n' if p > 0 && b[p - 1] == b'\r' => continue,
            b'\n' => 0,
            _ => continue,
        };
        counts[kind].0 += 1;
        first = first.or(Some(kind));
    }
    let most = counts.iter().map(|(n, _)| *n).max().unwrap_or(0);
    match first {
        Some(kind) if counts[kind].0 == most => counts[kind].1,
        _ => counts
            .iter()
            .find(|(n, _)| *n == most)
            .map_or("\n", |(_, text)| text),
    }
}
