//! How a value is written.
//!
//! Responsible for: choosing the plainest form that python-dotenv and `load_env` both read back
//! exactly, if possible one that dotenvy and a shell read as well. The choice is made by running
//! the readers, not by rules about characters. Not responsible for: where the line goes.

use super::entries;
use super::interpolate::has_reference;
use super::repair::segments;
use super::shell::{self, Shell};

/// The chosen form.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Form {
    /// What stands behind `NAME=`.
    pub text: String,
    /// What a shell makes of it.
    pub shell: Shell,
    /// dotenvy reads it exactly.
    pub dotenvy: bool,
}

impl Form {
    /// How far it is from being read by everybody.
    fn distance(&self, value: &str) -> u8 {
        let shell = match &self.shell {
            Shell::Reads(text) if text == value => 0,
            Shell::Reads(_) | Shell::Differs | Shell::Joins => 2,
            Shell::Runs => 8,
        };
        shell + u8::from(!self.dotenvy)
    }

    /// The readers that will not see the value, as the end of a sentence.
    pub fn others(&self, value: &str) -> Option<&'static str> {
        let shell = !matches!(&self.shell, Shell::Reads(text) if text == value);
        match (shell, self.dotenvy) {
            (true, false) => Some("a shell that sources the file and programs that use dotenvy"),
            (true, true) => Some("a shell that sources the file"),
            (false, false) => Some("programs that use dotenvy"),
            (false, true) => None,
        }
    }
}

/// Choose a form for `head` (everything up to and with `=`).
///
/// # Errors
/// A sentence without the value: why none of Hermes' readers would get it back.
pub(super) fn encode(
    head: &str,
    name: &str,
    value: &str,
    known: &dyn Fn(&str) -> bool,
) -> Result<Form, String> {
    if value.contains('\0') {
        return Err("it holds a NUL character, which no environment variable can hold".into());
    }
    if value.contains('\n') {
        return Err(
            "it holds a line break, which Hermes' `load_env` cannot read back; put it on one line"
                .into(),
        );
    }
    if value.contains('\r') {
        return Err(
            "it holds a carriage return, which starts a new line for Hermes' readers; take it out"
                .into(),
        );
    }
    if has_reference(value) {
        return Err("it holds `${…}`, which python-dotenv replaces in every kind of quotes".into());
    }
    let best = candidates(value)
        .into_iter()
        .filter(|text| hermes_reads(head, name, text, value, known))
        .map(|text| Form {
            shell: shell::read(&text),
            dotenvy: dotenvy_reads(head, name, &text, value),
            text,
        })
        .min_by_key(|form| form.distance(value));
    if let Some(form) = best {
        return Ok(form);
    }
    let line: Vec<char> = format!("{head}{value}").trim().chars().collect();
    if segments(&line, known).len() > 1 {
        return Err(
            "it holds a name that Hermes knows, followed by `=`; Hermes' repair pass would cut \
             the line there"
                .into(),
        );
    }
    if value.ends_with('\\') {
        return Err(
            "it needs quotes and ends in a backslash, which python-dotenv takes together with the \
             closing quote once another quote follows in the file"
                .into(),
        );
    }
    Err("python-dotenv and Hermes' `load_env` read every way of writing it differently".into())
}

/// Every form worth trying, plainest first.
fn candidates(value: &str) -> Vec<String> {
    let mut out = Vec::with_capacity(4);
    let plain = |c: char| {
        c.is_ascii_alphanumeric()
            || "_./:@+,=%^*?[]!{}-".contains(c)
            || (!c.is_ascii() && c.is_alphanumeric())
    };
    if value.chars().all(plain) {
        out.push(value.to_owned());
    }
    if !value.contains('\'') {
        out.push(format!("'{value}'"));
    }
    let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
    out.push(format!("\"{escaped}\""));
    out.push(value.to_owned());
    out
}

/// Whether both of Hermes' readers give the value back, also when quotes of both kinds follow
/// further down the file.
fn hermes_reads(
    head: &str,
    name: &str,
    text: &str,
    value: &str,
    known: &dyn Fn(&str) -> bool,
) -> bool {
    let file = format!("{head}{text}\nG1='1'\nG2=\"2\"\n");
    let doc = entries::read(file.as_bytes(), known);
    let pair = |name: &str, value: &str| (name.to_owned(), Some(value.to_owned()));
    doc.bindings == [pair(name, value), pair("G1", "1"), pair("G2", "2")]
        && doc.get_load_env(name).as_deref() == Some(value)
}

/// Whether dotenvy gives the value back, quotes further down included.
fn dotenvy_reads(head: &str, name: &str, text: &str, value: &str) -> bool {
    let file = format!("{head}{text}\nG1='1'\nG2=\"2\"\n");
    let read: Vec<(String, String)> = dotenvy::from_read_iter(file.as_bytes())
        .filter_map(Result::ok)
        .collect();
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    read == [pair(name, value), pair("G1", "1"), pair("G2", "2")]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(value: &str) -> String {
        encode("K=", "K", value, &|n| n == "K" || n == "FAL_KEY")
            .unwrap()
            .text
    }

    #[test]
    fn the_plainest_form_that_everybody_reads_is_taken() {
        for (value, wanted) in [
            ("", ""),
            ("sk-abc_1/+=", "sk-abc_1/+="),
            ("a b", "'a b'"),
            ("a#b", "'a#b'"),
            ("a$b", "'a$b'"),
            ("it's", "\"it's\""),
            (r#"say "hi""#, r#"'say "hi"'"#),
            (r"D:\new\table", r"'D:\new\table'"),
            (r"a\\b", r#""a\\\\b""#),
            (r"D:\dir\", r"D:\dir\"),
            ("~/x", "'~/x'"),
            ("café", "café"),
        ] {
            assert_eq!(form(value), wanted, "{value}");
        }
    }

    #[test]
    fn what_no_reader_gives_back_is_refused() {
        for value in ["a\nb", "a\rb", "a\0b", "x${Y}", "xFAL_KEY=f", " x\\"] {
            assert!(encode("K=", "K", value, &|n| n == "K" || n == "FAL_KEY").is_err());
        }
        assert!(encode("export K=", "K", "xFAL_KEY=f", &|n| n == "FAL_KEY").is_ok());
    }

    #[test]
    fn a_dollar_with_an_apostrophe_names_who_reads_it_differently() {
        let value = "it's $5";
        let form = encode("K=", "K", value, &|_| false).unwrap();
        assert_eq!(form.text, "\"it's $5\"");
        assert!(form.others(value).unwrap().contains("shell"));
    }
}
