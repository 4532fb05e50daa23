//! Names of variables.
//!
//! Responsible for: which names Hermes accepts, and which may be shown. Not responsible for: what a
//! name means.

/// `^[A-Za-z_][A-Za-z0-9_]*$`
pub(super) fn is_valid(name: &str) -> bool {
    let mut chars = name.chars();
    chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether a name looks like one. A secret that was pasted on a line of its own is a "name" for
/// python-dotenv (with `=` when it ends in base64 padding), and must not be shown.
pub(super) fn is_speakable(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_digit() || matches!(c, '_' | '-' | '.');
    let upper = name.chars().all(|c| c.is_ascii_uppercase() || plain(c));
    let lower = name.chars().all(|c| c.is_ascii_lowercase() || plain(c));
    (upper || lower) && name.len() <= 64 && (name.len() <= 20 || name.contains('_'))
}

/// The name, or words in its place.
pub(super) fn shown(name: &str) -> &str {
    if is_speakable(name) {
        name
    } else {
        "this line"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pasted_secrets_are_no_names_to_show() {
        for name in ["OPENROUTER_API_KEY", "http_proxy", "MY-KEY", "K", "1KEY"] {
            assert!(is_speakable(name), "{name}");
        }
        for name in [
            "dGhpcyBpcyBh",
            "9f86d081884c7d659a2feaa0c55ad015",
            "Bearer",
            "é",
            "a=b",
        ] {
            assert!(!is_speakable(name), "{name}");
        }
        assert!(is_valid("_a1") && !is_valid("1a") && !is_valid("") && !is_valid("a-b"));
    }
}
