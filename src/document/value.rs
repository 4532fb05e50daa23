//! Values as PyYAML types them.

/// One value of a document.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Value {
    /// `null`, `~` or nothing.
    Null,
    /// A boolean.
    Bool(bool),
    /// A whole number that fits.
    Int(i128),
    /// A whole number that does not fit 128 bits: its decimal digits, with a sign when negative.
    BigInt(String),
    /// A floating-point number.
    Float(f64),
    /// Text.
    Str(String),
    /// A date or a point in time, as written in the file.
    Timestamp(String),
    /// A list.
    List(Vec<Value>),
    /// A mapping in file order; of duplicate keys only the last is kept (as PyYAML does).
    Map(Vec<(Value, Value)>),
}

impl Value {
    /// The type with its article, for messages: "a string", "a list".
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "true or false",
            Self::Int(_) | Self::BigInt(_) => "a whole number",
            Self::Float(_) => "a number",
            Self::Str(_) => "a string",
            Self::Timestamp(_) => "a date",
            Self::List(_) => "a list",
            Self::Map(_) => "a section",
        }
    }

    /// The text, when it is a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Str(s) => Some(s),
            _ => None,
        }
    }
}
