//! "Did you mean": the nearest known name.
//!
//! Responsible for: one edit distance and its limit.

/// The candidate with the least distance, if it is near enough for a typing mistake.
pub fn closest<'a>(text: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let want: Vec<char> = fold(text);
    let limit = match want.len() {
        0 => return None,
        1..=3 => 1,
        4..=9 => 2,
        _ => 3,
    };
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let have = fold(candidate);
        if have.len().abs_diff(want.len()) > limit {
            continue;
        }
        let d = distance(&want, &have);
        if d <= limit && best.is_none_or(|(b, _)| d < b) {
            best = Some((d, candidate));
        }
    }
    best.map(|(_, c)| c)
}

/// Case and the kind of dash are no difference worth counting.
fn fold(text: &str) -> Vec<char> {
    text.chars()
        .map(|c| {
            if c == '-' {
                '_'
            } else {
                c.to_ascii_lowercase()
            }
        })
        .collect()
}

/// Insertions, deletions, replacements and swaps of neighbours.
fn distance(a: &[char], b: &[char]) -> usize {
    let width = b.len() + 1;
    let mut before_last = vec![0; width];
    let mut last: Vec<usize> = (0..width).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; width];
        for j in 1..width {
            let cost = usize::from(a[i - 1] != b[j - 1]);
            row[j] = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + cost);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        before_last = last;
        last = row;
    }
    last[width - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let known = ["agent.max_turns", "agent.verbose", "OPENROUTER_API_KEY"];
        let near = |t| closest(t, known.into_iter());
        assert_eq!(near("agent.max_turn"), Some("agent.max_turns"));
        assert_eq!(near("agent.max-truns"), Some("agent.max_turns"));
        assert_eq!(near("OPENROUTR_API_KEY"), Some("OPENROUTER_API_KEY"));
        assert_eq!(near("display.skin"), None);
        assert_eq!(near(""), None);
    }
}
