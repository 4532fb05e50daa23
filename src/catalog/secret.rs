//! Hiding secrets.
//!
//! Responsible for: what a secret looks like on screen, and finding secrets in free text.
//! Not responsible for: which variable or setting is one (the catalogue).

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// Endings of names whose values are secrets, in upper case.
pub(super) const NAME_ENDINGS: [&str; 12] = [
    "_KEY",
    "_TOKEN",
    "_SECRET",
    "_PASSWORD",
    "_PASSWD",
    "_PASS",
    "_PWD",
    "_PASSPHRASE",
    "_CREDENTIALS",
    "_APIKEY",
    "_AUTH",
    "_PAT",
];

/// Names of fields whose values are secrets, in lower case without `_` and `-`.
const FIELDS: [&str; 18] = [
    "apikey",
    "token",
    "accesstoken",
    "refreshtoken",
    "authtoken",
    "bearertoken",
    "bottoken",
    "secret",
    "clientsecret",
    "appsecret",
    "secretkey",
    "privatekey",
    "password",
    "passwd",
    "passphrase",
    "authorization",
    "cookie",
    "accesskey",
];

const BULLETS: &str = "••••";

/// A secret for the screen: the last four characters of a long one, nothing of a short one.
pub fn mask(secret: &str) -> String {
    if secret.is_empty() {
        return String::new();
    }
    let chars: Vec<char> = secret.chars().collect();
    if chars.len() < 12 {
        return BULLETS.to_owned();
    }
    let last: String = chars[chars.len() - 4..]
        .iter()
        .map(|c| if c.is_control() { '·' } else { *c })
        .collect();
    format!("{BULLETS}{last}")
}

/// Eight hexadecimal digits of the SHA-256, to compare secrets without showing them.
pub fn fingerprint(secret: &str) -> String {
    let mut out = String::with_capacity(8);
    for byte in Sha256::digest(secret.as_bytes()).iter().take(4) {
        let _ = write!(out, "{byte:02x}");
    }
    out
}

/// Whether a stored value is the mask some program showed for a secret, not the secret.
pub fn looks_masked(value: &str) -> bool {
    let value = value.trim();
    if value.contains('•') || value.contains("***") {
        return true;
    }
    let cut = |sign: &str| {
        value.split_once(sign).is_some_and(|(head, tail)| {
            head.chars().count() <= 12
                && tail.chars().count() <= 8
                && !value.contains(char::is_whitespace)
                && !value.contains('/')
        })
    };
    value == "*" || value == "**" || cut("…") || cut("...")
}

/// Whether a field with this name holds a secret wherever it stands.
pub(super) fn is_secret_field(name: &str) -> bool {
    let folded: String = name
        .chars()
        .filter(|c| !matches!(c, '_' | '-'))
        .flat_map(char::to_lowercase)
        .collect();
    FIELDS.contains(&folded.as_str())
        || super::catalog().is_secret_name(&name.replace('-', "_").to_ascii_uppercase())
}

/// Free text (a diff line, an error of another program) with everything hidden that looks like a secret:
/// known beginnings of keys, `NAME=…` and `name: …` of secrets, bearer tokens, passwords in addresses,
/// bot tokens, JSON web tokens, private key blocks.
pub fn redact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut key_block = false;
    for line in text.split_inclusive('\n') {
        if line.contains("-----BEGIN") && line.contains("PRIVATE KEY") {
            key_block = true;
            out.push_str(BULLETS);
            out.push('\n');
        }
        if key_block {
            key_block = !line.contains("-----END");
            continue;
        }
        out.push_str(&redact_line(line));
    }
    out
}

fn redact_line(line: &str) -> String {
    let line = hide_assignment(line);
    let line = hide_userinfo(&line);
    let mut out = String::with_capacity(line.len());
    let mut rest = line.as_str();
    let mut hide_next = false;
    while !rest.is_empty() {
        let word_end = rest.find(|c: char| !in_token(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(word_end);
        if !word.is_empty() {
            if (hide_next && !word.is_empty()) || is_secret_token(word) {
                out.push_str(&mask(word));
            } else {
                out.push_str(&hide_inside(word));
            }
            hide_next = word.eq_ignore_ascii_case("bearer") || word.eq_ignore_ascii_case("basic");
            rest = after;
            continue;
        }
        let mut chars = rest.chars();
        if let Some(c) = chars.next() {
            out.push(c);
            hide_next = hide_next && c == ' ';
        }
        rest = chars.as_str();
    }
    out
}

/// The characters tokens are made of.
fn in_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-.:+=~".contains(c)
}

/// A secret behind a `=` or `:` of the same word (`key=sk-…`).
fn hide_inside(word: &str) -> String {
    for sign in ['=', ':'] {
        if let Some((head, tail)) = word.split_once(sign)
            && is_secret_token(tail)
        {
            return format!("{head}{sign}{}", mask(tail));
        }
    }
    word.to_owned()
}

fn is_secret_token(word: &str) -> bool {
    let known = super::catalog()
        .keys_meta()
        .secret_starts
        .iter()
        .any(|(start, more, also)| {
            word.strip_prefix(start.as_str()).is_some_and(|rest| {
                rest.chars()
                    .take_while(|c| c.is_ascii_alphanumeric() || also.contains(*c))
                    .count()
                    >= *more
            })
        });
    known || is_bot_token(word) || is_web_token(word)
}

/// Digits, a colon and at least 30 characters.
fn is_bot_token(word: &str) -> bool {
    word.split_once(':').is_some_and(|(id, rest)| {
        id.len() >= 6
            && id.bytes().all(|b| b.is_ascii_digit())
            && rest.len() >= 30
            && rest
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b))
    })
}

/// `eyJ…` with dots.
fn is_web_token(word: &str) -> bool {
    word.starts_with("eyJ") && word.len() >= 20 && word.contains('.')
}

/// `NAME=value`, `name: value`, also with `export`, a dash in front or the name in quotes.
fn hide_assignment(line: &str) -> String {
    let body = line.trim_end_matches(['\n', '\r']);
    let ending = &line[body.len()..];
    let Some(at) = body.find(['=', ':']) else {
        return line.to_owned();
    };
    let (head, tail) = body.split_at(at);
    let name = head
        .rsplit([' ', '\t'])
        .find(|part| !part.is_empty())
        .unwrap_or_default()
        .trim_start_matches(['+', '-', ' ', '{', '(', ',', '?', '&'])
        .trim_matches(['"', '\'']);
    let name = name.rsplit('.').next().unwrap_or(name);
    if !(is_secret_field(name)) {
        return line.to_owned();
    }
    let (sign, value) = tail.split_at(1);
    let trimmed = value.trim_start();
    let blanks = &value[..value.len() - trimmed.len()];
    let plain = trimmed
        .trim_end()
        .trim_end_matches(',')
        .trim_matches(['"', '\'']);
    // What is masked already keeps the four characters that tell two keys apart.
    if plain.is_empty() || plain.starts_with(BULLETS) || super::is_template(plain) {
        return line.to_owned();
    }
    let words: Vec<&str> = plain.split_whitespace().collect();
    // A sentence such as "token: the API answered no" is not an assignment.
    if sign == ":" && words.len() > 3 {
        return line.to_owned();
    }
    format!("{head}{sign}{blanks}{}{ending}", mask(plain))
}

/// The password of `scheme://user:password@host`.
fn hide_userinfo(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find("://") {
        let (head, tail) = rest.split_at(at + 3);
        out.push_str(head);
        let host_end = tail
            .find(|c: char| c == '/' || c.is_whitespace() || c == '"' || c == '\'')
            .unwrap_or(tail.len());
        let authority = &tail[..host_end];
        match authority
            .rsplit_once('@')
            .and_then(|(user, host)| user.split_once(':').map(|(name, _)| (name, host)))
        {
            Some((name, host)) => {
                out.push_str(name);
                out.push(':');
                out.push_str(BULLETS);
                out.push('@');
                out.push_str(host);
            }
            None => out.push_str(authority),
        }
        rest = &tail[host_end..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_shows_four_characters_of_a_long_secret_only() {
        assert_eq!(mask(""), "");
        assert_eq!(mask("short"), "••••");
        assert_eq!(mask("12345678901"), "••••");
        assert_eq!(mask("sk-or-v1-abcdef3a9"), "••••f3a9");
        assert_eq!(mask("ключ-ключ-ключ-ыва"), "••••-ыва");
        assert_eq!(fingerprint("abc"), "ba7816bf");
    }

    #[test]
    fn masks_of_other_programs_are_recognised() {
        for masked in [
            "***",
            "sk-o...1234",
            "sk-…abc",
            "••••f3a9",
            "abcd****wxyz",
            "*",
        ] {
            assert!(looks_masked(masked), "{masked}");
        }
        for real in [
            "sk-or-v1-abc",
            "a...long tail that goes on and on",
            "https://x/...",
            "..",
            "",
        ] {
            assert!(!looks_masked(real), "{real}");
        }
    }

    #[test]
    fn secrets_are_found_in_free_text() {
        let hidden = [
            "call failed for sk-or-v1-0123456789abcdef today",
            "OPENROUTER_API_KEY=hunter2hunter2",
            "export SLACK_BOT_TOKEN=\"what ever it is\"",
            "-EMAIL_PASSWORD=hunter2hunter2",
            "  api_key: hunter2hunter2",
            "\"access_token\": \"hunter2hunter2\",",
            "Authorization: Bearer hunter2hunter2",
            "header was Bearer hunter2hunter2, sorry",
            "https://me:hunter2hunter2@proxy.example/x",
            "bot 1234567890:hunter2hunter2hunter2hunter2hunter2 is gone",
            "?key=AIzahunter2hunter2hunter2hunter2hunter2",
            "eyJhbGciOi.hunter2hunter2.x",
            "-----BEGIN RSA PRIVATE KEY-----\nhunter2hunter2\n-----END RSA PRIVATE KEY-----\nok",
        ];
        for text in hidden {
            let out = redact(text);
            assert!(!out.contains("hunter2hunter2"), "{text} -> {out}");
            assert!(!out.contains("0123456789abcdef"), "{text} -> {out}");
            assert!(out.contains("••••"), "{text} -> {out}");
        }
        for plain in [
            "agent.max_turns: 60",
            "model z-ai/glm-5.2 at https://openrouter.ai/api/v1",
            "key_env: ATTIC_BOX_API_KEY",
            "  Authorization: Bearer ${MCP_TICKETS_API_KEY}",
            "token: the server did not answer in time",
            "OPENROUTER_API_KEY=••••f3a9",
            "TERMINAL_SSH_KEY=/home/me/.ssh/id",
        ] {
            assert_eq!(redact(plain), plain);
        }
    }
}
