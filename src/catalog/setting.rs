//! One setting of `config.yaml`: what it holds, what it may hold, when a change counts.
//!
//! Responsible for: typing a word the user gives, and judging a value from a file.
//! Not responsible for: which setting a path means (the catalogue), or the text of a file.

use super::pattern::Pattern;
use super::raw;
use crate::document::Value;

/// How serious something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing; nothing breaks.
    Info,
    /// Hermes reads something else than was probably meant.
    Warning,
    /// Hermes cannot use it.
    Error,
}

/// Why a value is not right. The text never contains the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// A short clause: "needs a whole number".
    pub text: String,
    /// How serious it is.
    pub severity: Severity,
}

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// true or false.
    Bool,
    /// A whole number.
    Int,
    /// A number with a fraction.
    Float,
    /// A number, whole or not.
    Number,
    /// Any text.
    String,
    /// An address, or a `${VAR}` that holds one.
    Url,
    /// A file or folder.
    Path,
    /// A model id.
    Model,
    /// A provider id.
    Provider,
    /// The name of a variable.
    EnvName,
    /// The name of a Hermes profile.
    Profile,
    /// An IANA time zone.
    Timezone,
    /// A regular expression (elements of lists only).
    Regex,
    /// One of [`Setting::choices`].
    Enum,
    /// A list.
    List,
    /// A list written as text with commas (`.env` only).
    Csv,
    /// Names and values.
    Map,
}

impl Kind {
    /// The word the catalogue files use.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "bool" => Self::Bool,
            "int" => Self::Int,
            "float" => Self::Float,
            "number" => Self::Number,
            "string" => Self::String,
            "url" => Self::Url,
            "path" => Self::Path,
            "model" => Self::Model,
            "provider" => Self::Provider,
            "envname" => Self::EnvName,
            "profile" => Self::Profile,
            "timezone" => Self::Timezone,
            "regex" => Self::Regex,
            "enum" => Self::Enum,
            "list" => Self::List,
            "csv" => Self::Csv,
            "map" => Self::Map,
            _ => return None,
        })
    }

    /// Whether it is text in the file.
    pub fn is_text(self) -> bool {
        matches!(
            self,
            Self::String
                | Self::Url
                | Self::Path
                | Self::Model
                | Self::Provider
                | Self::EnvName
                | Self::Profile
                | Self::Timezone
                | Self::Regex
                | Self::Csv
        )
    }

    /// For people, with its article: "a whole number".
    pub fn noun(self) -> &'static str {
        match self {
            Self::Bool => "true or false",
            Self::Int => "a whole number",
            Self::Float | Self::Number => "a number",
            Self::String => "text",
            Self::Url => "an address",
            Self::Path => "a path",
            Self::Model => "a model id",
            Self::Provider => "a provider id",
            Self::EnvName => "the name of a variable",
            Self::Profile => "the name of a profile",
            Self::Timezone => "a time zone such as Europe/Vienna",
            Self::Regex => "a regular expression",
            Self::Enum => "one of its words",
            Self::List => "a list",
            Self::Csv => "names with commas between them",
            Self::Map => "a section",
        }
    }
}

/// When a change of a setting counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Apply {
    /// Read from disk at each use.
    Live,
    /// The gateway picks it up with the next message.
    NextTurn,
    /// A new session uses it.
    NewSession,
    /// The command line reads it when it starts.
    CliRestart,
    /// The gateway, app or command line reads it when it starts.
    ProcessRestart,
}

/// One setting, or one pattern of settings.
#[allow(clippy::struct_excessive_bools)] // independent facts, not a state
#[derive(Debug, Clone)]
pub struct Setting {
    /// Dotted path; `<x>` is a name the user chooses, `[]` any element of a list.
    pub path: String,
    /// The same, split.
    pub pattern: Pattern,
    /// Where the screen shows it.
    pub section: String,
    /// What it does, in one line.
    pub help: String,
    /// What it holds in the first place.
    pub kind: Kind,
    /// What else is read.
    pub also: Vec<Kind>,
    /// What the elements of a list are.
    pub item: Option<Kind>,
    /// What Hermes uses when the key is absent; `None` where it has no value then.
    pub default: Option<Value>,
    /// Where the classic command line has its own default.
    pub cli_default: Option<Value>,
    /// `null` is a value of its own.
    pub nullable: bool,
    /// Not part of Hermes' own default config.
    pub optional: bool,
    /// The words (or numbers) of an enum.
    pub choices: Vec<Value>,
    /// Other names are legal, too.
    pub choices_open: bool,
    /// Proposals for free text.
    pub suggestions: Vec<String>,
    /// The words that the values of a map know.
    pub child_choices: Vec<String>,
    /// Least number.
    pub min: Option<f64>,
    /// Greatest number.
    pub max: Option<f64>,
    /// Hermes refuses or corrects what lies outside the range.
    pub range_enforced: bool,
    /// Unit of the number.
    pub unit: Option<String>,
    /// When a change counts; `None` where it is not known.
    pub apply: Option<Apply>,
    /// The variable that mirrors it.
    pub env: Option<String>,
    /// Which of the two is used when both are set: `Some(true)` the variable.
    pub env_wins: Option<bool>,
    /// Never shown, never logged.
    pub secret: bool,
    /// A map whose values are never shown.
    pub secret_values: bool,
    /// An older spelling.
    pub deprecated: bool,
    /// What took its place.
    pub replaced_by: Option<String>,
    /// Nothing reads it.
    pub dead: bool,
    /// Not for people to edit.
    pub readonly: bool,
    /// Hermes itself writes it.
    pub written_by_hermes: bool,
    /// A bare `on` or `off` (true and false in YAML) is understood for the word.
    pub bare_words: bool,
    /// Other names of the key that are read.
    pub names: Vec<String>,
    /// Other words an enum reads; `note` says as what.
    pub words: Vec<String>,
    /// Something to know.
    pub note: Option<String>,
}

/// What became of a word the user gave.
#[derive(Debug, Clone, PartialEq)]
pub enum Parsed {
    /// A value.
    Value(Value),
    /// The setting holds a list or a section: read the text as a YAML flow value.
    Flow,
}

impl Setting {
    pub(super) fn from_raw(path: String, section: &str, raw: raw::Setting) -> Option<Self> {
        let mut kinds = raw.r#type.split('|').map(Kind::from_name);
        let kind = kinds.next()??;
        let apply = match raw.apply.as_deref() {
            None => None,
            Some("live") => Some(Apply::Live),
            Some("next_turn") => Some(Apply::NextTurn),
            Some("new_session") => Some(Apply::NewSession),
            Some("cli_restart") => Some(Apply::CliRestart),
            Some("process_restart") => Some(Apply::ProcessRestart),
            Some(_) => return None,
        };
        Some(Self {
            pattern: Pattern::parse(&path),
            path,
            section: section.to_owned(),
            help: raw.help,
            kind,
            also: kinds.collect::<Option<_>>()?,
            item: match raw.item {
                Some(name) => Some(Kind::from_name(&name)?),
                None => None,
            },
            default: raw.default.map(raw::value),
            cli_default: raw.cli_default.map(raw::value),
            nullable: raw.nullable,
            optional: raw.optional,
            choices: raw.choices.into_iter().map(raw::value).collect(),
            choices_open: raw.open,
            suggestions: raw.suggest,
            child_choices: raw.child_choices,
            min: raw.min,
            max: raw.max,
            range_enforced: raw.enforced,
            unit: raw.unit,
            apply,
            env: raw.env,
            env_wins: raw.env_wins,
            secret: raw.secret,
            secret_values: raw.secret_values,
            deprecated: raw.deprecated,
            replaced_by: raw.replaced_by,
            dead: raw.dead,
            readonly: raw.readonly,
            written_by_hermes: raw.by_hermes,
            bare_words: raw.bare_words,
            names: raw.names,
            words: raw.words,
            note: raw.note,
        })
    }

    /// Whether the path is one key, without open steps.
    pub fn is_concrete(&self) -> bool {
        self.pattern.is_concrete()
    }

    /// Whether a change counts only after a restart; `None` where it is not known.
    pub fn restart_needed(&self) -> Option<bool> {
        self.apply
            .map(|a| matches!(a, Apply::CliRestart | Apply::ProcessRestart))
    }

    /// Whether this kind of value is read.
    pub fn takes(&self, kind: Kind) -> bool {
        self.kind == kind || self.also.contains(&kind)
    }

    /// Every kind that is read, the main one first.
    pub fn kinds(&self) -> impl Iterator<Item = Kind> + '_ {
        std::iter::once(self.kind).chain(self.also.iter().copied())
    }

    /// What the setting needs, for messages: "a whole number from 0 to 10".
    pub fn needs(&self) -> String {
        if self.takes(Kind::Enum) {
            let words: Vec<String> = self.choices.iter().filter_map(word).collect();
            let open = if self.choices_open {
                ", or another name"
            } else {
                ""
            };
            return format!("one of {}{open}", words.join(", "));
        }
        let kinds: Vec<&str> = self.kinds().map(Kind::noun).collect();
        let kinds = kinds.join(" or ");
        match (self.min, self.max) {
            (Some(min), Some(max)) => format!("{kinds} from {min} to {max}"),
            (Some(min), None) => format!("{kinds}, {min} or more"),
            (None, Some(max)) => format!("{kinds}, at most {max}"),
            (None, None) => kinds,
        }
    }
}

/// A choice as the user types it; the empty word is shown as `""`.
pub fn word(value: &Value) -> Option<String> {
    match value {
        Value::Str(s) if s.is_empty() => Some("\"\"".to_owned()),
        Value::Str(s) => Some(s.clone()),
        Value::Int(i) => Some(i.to_string()),
        Value::Bool(b) => Some(b.to_string()),
        _ => None,
    }
}
