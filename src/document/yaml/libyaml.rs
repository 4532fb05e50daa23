//! Parse events from libyaml, the parser behind the reader that Hermes uses.
//!
//! Responsible for: every line of `unsafe` in this crate, kept to one owned parser object whose
//! pointers never leave a callback. Not responsible for: what the events mean.
//!
//! libyaml rejects and accepts exactly what PyYAML's C loader does, and its marks are byte
//! offsets, which is what a splice needs.
#![allow(unsafe_code)]

use super::event::{Event, Fault, Kind, Style};
use libyaml_rs as sys;
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

const BOM: &str = "\u{feff}";

/// Call `sink` for every event of `text`, in order, until the end or the first fault.
///
/// A panic inside the parser becomes a fault.
pub(super) fn for_each_event(
    text: &str,
    mut sink: impl FnMut(&Event<'_>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let run = AssertUnwindSafe(|| {
        let mut parser = Parser::new(text)?;
        while parser.next(&mut sink)? {}
        Ok(())
    });
    catch_unwind(run).unwrap_or_else(|_| Err(Fault::new(0, "the YAML parser stopped on this file")))
}

/// An initialised libyaml parser that reads `text`.
///
/// The parser stores its own address, so it has one allocation for its whole life and is reached
/// through this pointer only.
struct Parser<'t> {
    raw: NonNull<sys::yaml_parser_t>,
    text: &'t str,
    /// Bytes that libyaml skips without counting them.
    shift: usize,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str) -> Result<Self, Fault> {
        let memory = Box::new(MaybeUninit::<sys::yaml_parser_t>::uninit());
        let raw = NonNull::from(Box::leak(memory)).cast();
        // SAFETY: the pointer is valid for writes of the whole struct, which is all that
        // `initialize` asks.
        if unsafe { sys::yaml_parser_initialize(raw.as_ptr()) }.fail {
            // SAFETY: the allocation is the box leaked above and nothing else points to it.
            drop(unsafe { Box::from_raw(raw.cast::<MaybeUninit<sys::yaml_parser_t>>().as_ptr()) });
            return Err(Fault::new(0, "out of memory"));
        }
        // SAFETY: the parser is initialised and has no input yet. The pointer it keeps is valid
        // for `text.len()` bytes for the lifetime `'t`, which outlives `Self`; the parser's own
        // address, which it also keeps, does not change before it is deleted.
        unsafe {
            sys::yaml_parser_set_input_string(raw.as_ptr(), text.as_ptr(), text.len() as u64);
        }
        let shift = if text.starts_with(BOM) { BOM.len() } else { 0 };
        Ok(Self { raw, text, shift })
    }

    /// Parse one event and hand it to `sink`. Returns whether there may be another.
    fn next(
        &mut self,
        sink: &mut impl FnMut(&Event<'_>) -> Result<(), Fault>,
    ) -> Result<bool, Fault> {
        let mut event = MaybeUninit::<sys::yaml_event_t>::uninit();
        // SAFETY: the parser is initialised with an input; `event` is valid for writes and is
        // always written (zeroed first) by the call.
        if unsafe { sys::yaml_parser_parse(self.raw.as_ptr(), event.as_mut_ptr()) }.fail {
            return Err(self.fault());
        }
        // SAFETY: the call succeeded, so the event is initialised; `Owned` frees it once.
        let event = Owned(unsafe { event.assume_init() });
        let Some(kind) = event.kind() else {
            return Ok(event.0.type_ != sys::YAML_STREAM_END_EVENT);
        };
        sink(&Event {
            kind,
            start: self.offset(event.0.start_mark.index),
            end: self.offset(event.0.end_mark.index),
        })?;
        Ok(true)
    }

    /// A libyaml index as an offset in the file; never beyond its end.
    fn offset(&self, index: u64) -> usize {
        usize::try_from(index)
            .unwrap_or(usize::MAX)
            .saturating_add(self.shift)
            .min(self.text.len())
    }

    /// The error that the parser has stored.
    fn fault(&self) -> Fault {
        // SAFETY: the parser is initialised; the fields read are public and plain data, and the
        // message pointers are null or point to static C strings inside the library.
        unsafe {
            let parser = self.raw.as_ref();
            let say = |p: *const std::ffi::c_char| {
                (!p.is_null()).then(|| CStr::from_ptr(p).to_string_lossy().into_owned())
            };
            let problem =
                say(parser.problem.cast()).unwrap_or_else(|| "the text is not valid YAML".into());
            if parser.error == sys::YAML_READER_ERROR {
                let at = usize::try_from(parser.problem_offset).unwrap_or(0);
                return Fault::new(at.min(self.text.len()), problem);
            }
            let at = self.offset(parser.problem_mark.index);
            match say(parser.context.cast()) {
                Some(context) => Fault::new(at, format!("{problem} ({context})")),
                None => Fault::new(at, problem),
            }
        }
    }
}

impl Drop for Parser<'_> {
    fn drop(&mut self) {
        // SAFETY: initialised in `new` and deleted only here; the memory is the box leaked there,
        // which held a value that needs no drop.
        unsafe {
            sys::yaml_parser_delete(self.raw.as_ptr());
            let memory = self.raw.cast::<MaybeUninit<sys::yaml_parser_t>>();
            drop(Box::from_raw(memory.as_ptr()));
        }
    }
}

/// An event whose buffers are freed when it goes.
struct Owned(sys::yaml_event_t);

impl Owned {
    /// The event in safe clothes; `None` for the start and end of the stream.
    fn kind(&self) -> Option<Kind<'_>> {
        // SAFETY: the union field read is the one that `type_` names. Every pointer in it is null
        // or a NUL-terminated (for scalars: `length` bytes long) buffer that the event owns, so
        // it lives as long as `self`.
        unsafe {
            let data = &self.0.data;
            Some(match self.0.type_ {
                sys::YAML_DOCUMENT_START_EVENT => Kind::DocumentStart,
                sys::YAML_DOCUMENT_END_EVENT => Kind::DocumentEnd,
                sys::YAML_ALIAS_EVENT => Kind::Alias {
                    anchor: text(data.alias.anchor).unwrap_or(""),
                },
                sys::YAML_SCALAR_EVENT => {
                    let scalar = &data.scalar;
                    let length = usize::try_from(scalar.length).unwrap_or(0);
                    let bytes = std::slice::from_raw_parts(scalar.value, length);
                    Kind::Scalar {
                        anchor: text(scalar.anchor),
                        tag: text(scalar.tag),
                        // The input was UTF-8 and escapes make UTF-8, so this never falls back.
                        value: std::str::from_utf8(bytes).unwrap_or(""),
                        style: match scalar.style {
                            sys::YAML_SINGLE_QUOTED_SCALAR_STYLE => Style::Single,
                            sys::YAML_DOUBLE_QUOTED_SCALAR_STYLE => Style::Double,
                            sys::YAML_LITERAL_SCALAR_STYLE => Style::Literal,
                            sys::YAML_FOLDED_SCALAR_STYLE => Style::Folded,
                            _ => Style::Plain,
                        },
                        implicit: scalar.plain_implicit,
                    }
                }
                sys::YAML_SEQUENCE_START_EVENT => Kind::SequenceStart {
                    anchor: text(data.sequence_start.anchor),
                    tag: text(data.sequence_start.tag),
                    flow: data.sequence_start.style == sys::YAML_FLOW_SEQUENCE_STYLE,
                },
                sys::YAML_SEQUENCE_END_EVENT => Kind::SequenceEnd,
                sys::YAML_MAPPING_START_EVENT => Kind::MappingStart {
                    anchor: text(data.mapping_start.anchor),
                    tag: text(data.mapping_start.tag),
                    flow: data.mapping_start.style == sys::YAML_FLOW_MAPPING_STYLE,
                },
                sys::YAML_MAPPING_END_EVENT => Kind::MappingEnd,
                _ => return None,
            })
        }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: made by a successful `yaml_parser_parse` and deleted only here.
        unsafe { sys::yaml_event_delete(&raw mut self.0) }
    }
}

/// A C string of libyaml as text.
///
/// # Safety
/// `p` is null or points to a NUL-terminated buffer that lives for `'a`.
unsafe fn text<'a>(p: *const u8) -> Option<&'a str> {
    if p.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    let bytes = unsafe { CStr::from_ptr(p.cast()) }.to_bytes();
    Some(std::str::from_utf8(bytes).unwrap_or(""))
}
