//! One variable of `.env`.
//!
//! Responsible for: what the variable holds and whether a value can be right. Faults never contain the value.

use super::judge::bool_word;
use super::raw;
use super::setting::{Fault, Kind, Severity};

/// Where Hermes knows a name from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// Hermes offers it to its users.
    Offered,
    /// Known besides those.
    Extra,
    /// Mirrors a setting of `config.yaml`.
    Bridge,
    /// Read somewhere in the code.
    Code,
    /// Belongs to a model provider.
    Provider,
    /// Read by a library of somebody else.
    Sdk,
}

/// The part of Hermes a variable belongs to, in the order of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// Model providers.
    Provider,
    /// Tools: search, browser, pictures, speech.
    Tool,
    /// Chat platforms.
    Messaging,
    /// Skills.
    Skill,
    /// Hermes itself.
    Setting,
    /// Not known to Hermes.
    Unknown,
}

impl Category {
    /// For people.
    pub fn label(self) -> &'static str {
        match self {
            Self::Provider => "Model providers",
            Self::Tool => "Tools",
            Self::Messaging => "Chat platforms",
            Self::Skill => "Skills",
            Self::Setting => "Hermes itself",
            Self::Unknown => "Not known to Hermes",
        }
    }

    /// The word of the catalogue files.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "provider" => Self::Provider,
            "tool" => Self::Tool,
            "messaging" => Self::Messaging,
            "skill" => Self::Skill,
            "setting" => Self::Setting,
            _ => return None,
        })
    }
}

/// The form a value needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Digits, a colon, at least 30 characters.
    TelegramToken,
    /// `+` and 6 to 15 digits.
    Phone,
    /// `@name:server`.
    MatrixId,
}

/// One variable.
#[allow(clippy::struct_excessive_bools)] // independent facts, not a state
#[derive(Debug, Clone)]
pub struct KeyInfo {
    /// The name.
    pub name: String,
    /// What it belongs to.
    pub category: Category,
    /// What it does, in one line.
    pub help: String,
    /// What it holds.
    pub kind: Kind,
    /// Never shown, never logged.
    pub secret: bool,
    /// Shown after the common ones.
    pub advanced: bool,
    /// Where Hermes knows the name from.
    pub source: Source,
    /// The provider whose key or address it is.
    pub provider: Option<String>,
    /// Where to get one.
    pub url: Option<String>,
    /// Other names that are read for the same thing.
    pub aliases: Vec<String>,
    /// The words of an enum.
    pub choices: Vec<String>,
    /// The setting of `config.yaml` that says the same.
    pub mirrors: Option<String>,
    /// Whether this variable is used (and not the setting) when both are set.
    pub beats_config: Option<bool>,
    /// How genuine values begin.
    pub prefixes: Vec<String>,
    /// The prefixes are experience; Hermes does not check them.
    pub prefixes_guess: bool,
    /// The form a value needs.
    pub format: Option<Format>,
    /// Tools that need it.
    pub tools: Vec<String>,
    /// `setting=value` that makes use of it.
    pub related: Option<String>,
    /// An older name.
    pub deprecated: bool,
    /// What took its place: a variable or a setting.
    pub replaced_by: Option<String>,
    /// Opens something to everybody, or switches a safety off.
    pub risky: bool,
    /// Has no effect in `.env`, only in the environment of the process.
    pub process_only: bool,
    /// Hermes refuses to write it.
    pub denied: bool,
    /// Something to know.
    pub note: Option<String>,
}

impl KeyInfo {
    pub(super) fn from_raw(name: String, category: Category, raw: raw::Key) -> Option<Self> {
        Some(Self {
            name,
            category,
            help: raw.help,
            kind: match raw.r#type {
                Some(kind) => Kind::from_name(&kind)?,
                None => Kind::String,
            },
            secret: raw.secret,
            advanced: raw.advanced,
            source: match raw.source.as_deref() {
                None => Source::Offered,
                Some("extra") => Source::Extra,
                Some("bridge") => Source::Bridge,
                Some("code") => Source::Code,
                Some("provider") => Source::Provider,
                Some("sdk") => Source::Sdk,
                Some(_) => return None,
            },
            provider: raw.provider,
            url: raw.url,
            aliases: raw.aliases,
            choices: raw.choices,
            mirrors: raw.mirrors,
            beats_config: match raw.mirror_wins.as_deref() {
                None => None,
                Some("env") => Some(true),
                Some("config") => Some(false),
                Some(_) => return None,
            },
            prefixes: raw.prefixes,
            prefixes_guess: raw.prefixes_guess,
            format: match raw.format.as_deref() {
                None => None,
                Some("telegram-token") => Some(Format::TelegramToken),
                Some("phone") => Some(Format::Phone),
                Some("matrix-id") => Some(Format::MatrixId),
                Some(_) => return None,
            },
            tools: raw.tools,
            related: raw.related,
            deprecated: raw.deprecated,
            replaced_by: raw.replaced_by,
            risky: raw.risky,
            process_only: raw.process_only,
            denied: raw.denied,
            note: raw.note,
        })
    }

    /// Whether Hermes' repair pass recognises the name, so that `NAME=` inside the value of
    /// another line would be split off.
    pub fn repair_knows(&self) -> bool {
        matches!(self.source, Source::Offered | Source::Extra)
    }

    /// Judge a value. Empty values are not judged; they are a state of their own.
    pub fn check(&self, value: &str) -> Result<(), Fault> {
        if value.is_empty() {
            return Ok(());
        }
        let fault = |text: String, severity| Err(Fault { text, severity });
        let good = match self.kind {
            Kind::Bool => bool_word(value).is_some(),
            Kind::Int => value.trim().parse::<i64>().is_ok(),
            Kind::Float | Kind::Number => value.trim().parse::<f64>().is_ok(),
            _ => true,
        };
        if !good {
            return fault(format!("needs {}", self.kind.noun()), Severity::Warning);
        }
        if self.kind == Kind::Enum && !self.choices.iter().any(|c| c.eq_ignore_ascii_case(value)) {
            return fault(
                format!("needs one of {}", self.choices.join(", ")),
                Severity::Warning,
            );
        }
        if self.kind == Kind::Url && !value.contains("://") {
            return fault(
                "is not a whole address; it begins with http:// or https://".to_owned(),
                Severity::Info,
            );
        }
        match self.format {
            Some(Format::TelegramToken) if !is_telegram_token(value) => fault(
                "is not a bot token; BotFather gives digits, a colon and 35 characters".to_owned(),
                Severity::Warning,
            ),
            Some(Format::Phone) if !is_phone(value) => fault(
                "needs a number in international form: + and digits".to_owned(),
                Severity::Warning,
            ),
            Some(Format::MatrixId) if !is_matrix_id(value) => {
                fault("needs the form @name:server".to_owned(), Severity::Warning)
            }
            _ => Ok(()),
        }
    }

    /// A remark while a key is being typed: genuine ones begin otherwise.
    pub fn prefix_hint(&self, value: &str) -> Option<String> {
        let looks_right = self.prefixes.is_empty()
            || value.is_empty()
            || self.prefixes.iter().any(|p| value.starts_with(p.as_str()));
        (!looks_right).then(|| {
            format!(
                "keys of this kind begin with {}",
                self.prefixes.join(" or ")
            )
        })
    }
}

fn is_telegram_token(value: &str) -> bool {
    value.split_once(':').is_some_and(|(id, rest)| {
        !id.is_empty()
            && id.bytes().all(|b| b.is_ascii_digit())
            && rest.len() >= 30
            && rest
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b))
    })
}

fn is_phone(value: &str) -> bool {
    value.strip_prefix('+').is_some_and(|digits| {
        (6..=15).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit())
    })
}

fn is_matrix_id(value: &str) -> bool {
    value
        .strip_prefix('@')
        .and_then(|rest| rest.split_once(':'))
        .is_some_and(|(name, server)| !name.is_empty() && !server.is_empty())
}
