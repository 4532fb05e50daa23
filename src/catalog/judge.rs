//! Words the user gives and values from a file, against what a setting holds.
//!
//! Responsible for: [`Setting::parse`] and [`Setting::check`]. Faults name the need, never the value.

use super::closest::closest;
use super::setting::{Fault, Kind, Parsed, Setting, Severity};
use crate::document::Value;

/// How a value fits one kind.
enum Fit {
    Yes,
    /// Read, but not as meant (or only just).
    Loose(Fault),
    No,
}

impl Setting {
    /// Type a word the user gives. `Err` says what the setting needs.
    pub fn parse(&self, text: &str) -> Result<Parsed, String> {
        let word = text.trim();
        let done = |v| Ok(Parsed::Value(v));
        let texts = self.kinds().any(Kind::is_text);
        if self.takes(Kind::Enum) {
            if self.takes(Kind::Bool) && matches!(word, "true" | "false") {
                return done(Value::Bool(word == "true"));
            }
            if let Some(choice) = self.choice(word) {
                return done(choice.clone());
            }
            if self.knows_word(word) {
                return done(Value::Str(word.to_owned()));
            }
        }
        if self.nullable && !texts && matches!(word, "" | "null" | "~") {
            return done(Value::Null);
        }
        if self.takes(Kind::Bool)
            && let Some(b) = bool_word(word)
        {
            return done(Value::Bool(b));
        }
        if self.takes(Kind::Int)
            && self.kind != Kind::String
            && let Some(i) = int_word(word)
        {
            return done(Value::Int(i));
        }
        if self.takes(Kind::Float) || self.takes(Kind::Number) {
            if let Some(i) = int_word(word) {
                return done(Value::Int(i));
            }
            if let Some(f) = float_word(word) {
                return done(Value::Float(f));
            }
        }
        let holds = self.takes(Kind::List) || self.takes(Kind::Map);
        let only_holds = self.kinds().all(|k| matches!(k, Kind::List | Kind::Map));
        if only_holds || (holds && word.starts_with(['[', '{'])) {
            return Ok(Parsed::Flow);
        }
        if texts || (self.takes(Kind::Enum) && self.choices_open) || is_template(word) {
            return done(Value::Str(text.to_owned()));
        }
        Err(format!("needs {}", self.needs()))
    }

    /// Judge a value as it stands in a file.
    pub fn check(&self, value: &Value) -> Result<(), Fault> {
        match value {
            // `${NAME}` is filled in when Hermes loads the file, so nothing is known yet.
            Value::Str(s) if is_template(s) => return Ok(()),
            Value::Null => return self.check_null(),
            _ => {}
        }
        let mut loose = None;
        for kind in self.kinds() {
            match self.fit(kind, value) {
                Fit::Yes => return self.range(value),
                Fit::Loose(fault) => loose = loose.or(Some(fault)),
                Fit::No => {}
            }
        }
        Err(loose.unwrap_or_else(|| Fault {
            text: format!("needs {}, this is {}", self.needs(), value.kind()),
            severity: Severity::Error,
        }))
    }

    fn check_null(&self) -> Result<(), Fault> {
        let section = self.takes(Kind::Map);
        let default = match &self.default {
            None | Some(Value::Null) => false,
            Some(Value::Str(s)) => !s.is_empty(),
            Some(Value::List(l)) => !l.is_empty(),
            Some(_) => true,
        };
        if self.nullable || section || !default {
            return Ok(());
        }
        Err(warning(
            "has no value, which hides the default; remove the line or give it a value",
        ))
    }

    fn fit(&self, kind: Kind, value: &Value) -> Fit {
        match (kind, value) {
            (Kind::Bool, Value::Bool(_) | Value::Int(0 | 1))
            | (Kind::Int | Kind::Float | Kind::Number, Value::Int(_)) => Fit::Yes,
            (Kind::Bool, Value::Str(s)) => match bool_word(s) {
                // The readers of this section know only these words for "on".
                Some(true)
                    if self.path.starts_with("compression.")
                        && !matches!(s.trim(), "true" | "1" | "yes") =>
                {
                    Fit::Loose(warning("counts as off here; write true"))
                }
                Some(_) => Fit::Yes,
                None => Fit::No,
            },
            (Kind::Float | Kind::Number, Value::Float(f)) if f.is_finite() => Fit::Yes,
            (Kind::Int, Value::Str(s)) if int_word(s).is_some() => Fit::Loose(warning(
                "is text in the file; write the number without quotes",
            )),
            (Kind::Float | Kind::Number, Value::Str(s)) if float_word(s).is_some() => {
                Fit::Loose(warning(
                    "is read as text, not as a number; write it plainly, without quotes or exponent",
                ))
            }
            (Kind::Enum, value) => self.fit_enum(value),
            (Kind::List, Value::List(items)) => self.fit_items(items),
            (Kind::Map, Value::Map(entries)) => self.fit_entries(entries),
            (kind, value) if kind.is_text() => fit_text(kind, value),
            _ => Fit::No,
        }
    }

    fn fit_enum(&self, value: &Value) -> Fit {
        match value {
            Value::Str(s) => {
                if self.choice(s.trim()).is_some() || self.knows_word(s.trim()) || self.choices_open
                {
                    Fit::Yes
                } else {
                    Fit::Loose(Fault {
                        text: format!("needs {}", self.needs()),
                        severity: Severity::Error,
                    })
                }
            }
            Value::Int(_) if self.choices.contains(value) => Fit::Yes,
            Value::Bool(b) if !self.takes(Kind::Bool) => {
                let words: &[&str] = if *b {
                    &["on", "true", "yes"]
                } else {
                    &["off", "false", "no"]
                };
                let known = |w: &&&str| self.choice(w).is_some() || self.knows_word(w);
                match words.iter().find(known) {
                    Some(_) if self.bare_words => Fit::Yes,
                    Some(w) => Fit::Loose(warning(&format!(
                        "reads as {b}, not as the word {w}; write it in quotes"
                    ))),
                    None => Fit::No,
                }
            }
            _ => Fit::No,
        }
    }

    fn fit_items(&self, items: &[Value]) -> Fit {
        let Some(kind) = self.item else {
            return Fit::Yes;
        };
        for (at, item) in items.iter().enumerate() {
            let good = match (kind, item) {
                (Kind::Map, Value::Map(_)) => true,
                (_, Value::Str(s)) if is_template(s) => true,
                (k, v) if k.is_text() => matches!(fit_text(k, v), Fit::Yes),
                _ => false,
            };
            if !good {
                return Fit::Loose(warning(&format!(
                    "needs {} as each element; number {} is {}",
                    kind.noun(),
                    at + 1,
                    item.kind()
                )));
            }
        }
        Fit::Yes
    }

    fn fit_entries(&self, entries: &[(Value, Value)]) -> Fit {
        if self.child_choices.is_empty() {
            return Fit::Yes;
        }
        let known = |v: &Value| {
            v.as_str()
                .is_some_and(|s| self.child_choices.iter().any(|c| c == s))
        };
        if entries.iter().all(|(_, v)| known(v)) {
            return Fit::Yes;
        }
        Fit::Loose(Fault {
            text: format!(
                "needs one of {} as each value",
                self.child_choices.join(", ")
            ),
            severity: Severity::Error,
        })
    }

    fn range(&self, value: &Value) -> Result<(), Fault> {
        #[allow(clippy::cast_precision_loss)]
        // bounds are small; a rounded giant is outside as well
        let n = match value {
            Value::Int(i) if !self.takes(Kind::Enum) => *i as f64,
            Value::Float(f) => *f,
            _ => return Ok(()),
        };
        if self.min.is_none_or(|min| n >= min) && self.max.is_none_or(|max| n <= max) {
            return Ok(());
        }
        Err(if self.range_enforced {
            warning(&format!("is out of range: Hermes needs {}", self.needs()))
        } else {
            Fault {
                text: format!("is an unusual number; {} makes sense", self.needs()),
                severity: Severity::Info,
            }
        })
    }

    /// The choice that was probably meant by a word that is none.
    pub fn nearest_choice(&self, word: &str) -> Option<Value> {
        let words = self.choices.iter().filter_map(Value::as_str);
        closest(word.trim(), words).map(|c| Value::Str(c.to_owned()))
    }

    /// Whether `word` is read although it is not among the choices.
    fn knows_word(&self, word: &str) -> bool {
        self.words.iter().any(|w| w.eq_ignore_ascii_case(word))
    }

    /// The choice that `word` names; Hermes compares without regard to case.
    pub fn choice(&self, word: &str) -> Option<&Value> {
        let same = |c: &&Value| match c {
            Value::Str(s) => s.eq_ignore_ascii_case(word),
            Value::Int(i) => word.parse() == Ok(*i),
            _ => false,
        };
        self.choices.iter().find(same)
    }
}

fn fit_text(kind: Kind, value: &Value) -> Fit {
    match value {
        Value::Str(s) => fit_words(kind, s),
        Value::Int(_) | Value::BigInt(_) | Value::Float(_) => Fit::Yes,
        Value::Bool(b) => Fit::Loose(warning(&format!(
            "reads as {b}, not as a word; write it in quotes"
        ))),
        Value::Timestamp(_) => Fit::Loose(warning("reads as a date; write it in quotes")),
        Value::Null | Value::List(_) | Value::Map(_) => Fit::No,
    }
}

fn fit_words(kind: Kind, s: &str) -> Fit {
    match kind {
        _ if s.is_empty() => Fit::Yes,
        Kind::Url if !s.contains("://") => Fit::Loose(Fault {
            text: "is not a whole address; it begins with http:// or https://".to_owned(),
            severity: Severity::Info,
        }),
        Kind::EnvName if !is_env_name(s) => Fit::Loose(warning(
            "needs the name of a variable (letters, digits and _), not its value",
        )),
        Kind::Timezone
            if !s
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"/_+-".contains(&b)) =>
        {
            Fit::Loose(warning("needs a time zone such as Europe/Vienna"))
        }
        _ => Fit::Yes,
    }
}

fn warning(text: &str) -> Fault {
    Fault {
        text: text.to_owned(),
        severity: Severity::Warning,
    }
}

/// The words Hermes takes for true and false.
pub fn bool_word(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}

fn int_word(text: &str) -> Option<i128> {
    let text = text.trim();
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let plain = digits.starts_with(|c: char| c.is_ascii_digit()) && !digits.ends_with('_');
    if !plain {
        return None;
    }
    text.replace('_', "").parse().ok()
}

fn float_word(text: &str) -> Option<f64> {
    let text = text.trim();
    let numeric = text
        .bytes()
        .all(|b| b.is_ascii_digit() || b"+-.eE_".contains(&b));
    if !numeric {
        return None;
    }
    text.replace('_', "")
        .parse()
        .ok()
        .filter(|f: &f64| f.is_finite())
}

/// Whether the text holds a `${NAME}` that Hermes fills in when it loads the file.
pub fn is_template(text: &str) -> bool {
    text.split_once("${")
        .is_some_and(|(_, rest)| rest.find('}').is_some_and(|end| end > 0))
}

/// Whether the text can name a variable.
pub fn is_env_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
