//! The small interface between a YAML parser and this engine.
//!
//! Responsible for: what one parse event carries. Not responsible for: producing events
//! ([`super::libyaml`] does, the only module that would change with another parser), or what they
//! mean ([`super::tree`]).

/// How a scalar stands in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Single,
    Double,
    Literal,
    Folded,
}

/// What one event is. Text borrowed from the parser lives as long as the callback.
#[derive(Debug)]
pub(super) enum Kind<'a> {
    DocumentStart,
    DocumentEnd,
    Alias {
        anchor: &'a str,
    },
    Scalar {
        anchor: Option<&'a str>,
        tag: Option<&'a str>,
        /// The value after folding and unescaping.
        value: &'a str,
        style: Style,
        /// Whether a reader may guess the type from the text.
        implicit: bool,
    },
    SequenceStart {
        anchor: Option<&'a str>,
        tag: Option<&'a str>,
        flow: bool,
    },
    SequenceEnd,
    MappingStart {
        anchor: Option<&'a str>,
        tag: Option<&'a str>,
        flow: bool,
    },
    MappingEnd,
}

/// One event with its place.
#[derive(Debug)]
pub(super) struct Event<'a> {
    pub kind: Kind<'a>,
    /// Byte offset in the file (a BOM is counted) where the node starts, its anchor and tag
    /// included.
    pub start: usize,
    /// Byte offset just behind it.
    pub end: usize,
}

/// Why a file was refused, by byte offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    /// Byte offset in the file.
    pub at: usize,
    /// A sentence without a final stop and without text from the file.
    pub reason: String,
}

impl Fault {
    pub(super) fn new(at: usize, reason: impl Into<String>) -> Self {
        Self {
            at,
            reason: reason.into(),
        }
    }
}
