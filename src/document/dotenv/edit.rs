//! One change of one name.
//!
//! Responsible for: what is refused and why, which lines the change touches, and the notes that go
//! with it. Not responsible for: the bytes of a line (`placing`, `encode`), the proof (`proof`).

use super::encode::{Form, encode};
use super::placing::{self, Head};
use super::proof::{self, Wanted};
use super::shell::Shell;
use super::text::BOM;
use super::{
    EditError, Edited, Entry, EntryState, EnvChange, EnvDocument, EnvRules, Question, entries,
    names,
};
use crate::document::{Splice, apply};

/// What a change does before it is proved.
struct Plan {
    splices: Vec<Splice>,
    notes: Vec<String>,
    wanted: Wanted,
}

/// See [`EnvDocument::edit`].
pub(super) fn edit(
    bytes: &[u8],
    name: &str,
    change: &EnvChange,
    rules: &EnvRules<'_>,
) -> Result<Edited, EditError> {
    entries::refuse_wide_text(bytes).map_err(|e| EditError::Unsafe {
        key: name.to_owned(),
        line: e.line,
        reason: e.reason,
    })?;
    let doc = entries::read(bytes, rules.known);
    let plan = match change {
        EnvChange::Set { value } => set(&doc, name, value, rules)?,
        EnvChange::Remove => remove(&doc, name)?,
        EnvChange::Dedupe => dedupe(&doc, name)?,
    };
    if plan.splices.is_empty() {
        return Ok(Edited {
            bytes: bytes.to_vec(),
            splices: Vec::new(),
            notes: plan.notes,
        });
    }
    let first = finish(&doc, name, &plan, rules);
    if first.is_err() && bytes.starts_with(BOM) && plan.splices[0].span.start >= BOM.len() {
        // Hermes takes the mark off only when it has something else to repair; this change may
        // have taken that away, and the first name of the file with it.
        let mut without = plan;
        without.splices.insert(
            0,
            Splice {
                span: 0..BOM.len(),
                text: Vec::new(),
            },
        );
        without.notes.push(BOM_GONE.to_owned());
        return finish(&doc, name, &without, rules).or(first);
    }
    first
}

const BOM_GONE: &str =
    "the byte-order mark at the start of the file was taken out: it hides the first name";

fn finish(
    doc: &EnvDocument,
    name: &str,
    plan: &Plan,
    rules: &EnvRules<'_>,
) -> Result<Edited, EditError> {
    let failed = |reason: String| EditError::Proof {
        key: name.to_owned(),
        reason,
    };
    let Some(bytes) = apply(&doc.bytes, &plan.splices) else {
        return Err(failed("the splices overlap".into()));
    };
    let mut notes = plan.notes.clone();
    let after = entries::read(&bytes, rules.known);
    notes.extend(proof::prove(doc, &after, &plan.splices, name, &plan.wanted).map_err(failed)?);
    Ok(Edited {
        bytes,
        splices: plan.splices.clone(),
        notes,
    })
}

fn set(
    doc: &EnvDocument,
    name: &str,
    value: &str,
    rules: &EnvRules<'_>,
) -> Result<Plan, EditError> {
    check_name(name, rules)?;
    let refuse = |reason: String| EditError::BadValue {
        key: name.to_owned(),
        reason,
    };
    let same = doc.entries.iter().rfind(|e| e.name == name);
    if let Some(entry) = same
        && entry.in_force
        && entry.state == EntryState::Live
        && entry.template.as_deref() == Some(value)
        && !super::interpolate::has_reference(value)
        && doc.get_load_env(name).as_deref() == Some(value)
    {
        return Ok(Plan {
            splices: Vec::new(),
            notes: Vec::new(),
            wanted: Wanted::Value(value.to_owned()),
        });
    }
    for question in questions(doc, name, value, rules) {
        let (accepted, reason) = match question {
            Question::NonAsciiCredential => (
                rules.accept.non_ascii_credential,
                "it is a secret with characters outside ASCII, which Hermes drops when it loads \
                 the file; copy it again as plain text",
            ),
            Question::Placeholder => (
                rules.accept.placeholder,
                "it looks like a mask or a placeholder, not like a secret",
            ),
            Question::ShellRuns => (
                rules.accept.shell_runs,
                "no way of writing it keeps a shell that sources the file from running a part of \
                 it as a command",
            ),
        };
        if !accepted {
            return Err(refuse(reason.to_owned()));
        }
    }
    if !doc.utf8 && !value.is_ascii() {
        return Err(refuse(
            "the file is not UTF-8, so python-dotenv would read it as Latin-1; save the file as \
             UTF-8 first"
                .to_owned(),
        ));
    }
    let (splice, form, mut notes) = if let Some(entry) = same {
        let head = placing::head(doc, entry);
        let form = encode(&head.text, name, value, rules.known).map_err(refuse)?;
        let (splice, notes) = change_line(doc, entry, &head, &form);
        (splice, form, notes)
    } else {
        let head = format!("{name}=");
        let form = encode(&head, name, value, rules.known).map_err(refuse)?;
        let line = format!("{head}{}", form.text);
        (placing::insert(doc, name, &line), form, Vec::new())
    };
    notes.extend(form_notes(&form, value));
    Ok(Plan {
        splices: vec![splice],
        notes,
        wanted: Wanted::Value(value.to_owned()),
    })
}

fn change_line(
    doc: &EnvDocument,
    entry: &Entry,
    head: &Head,
    form: &Form,
) -> (Splice, Vec<String>) {
    let mut notes = Vec::new();
    let comment = placing::comment(doc, entry);
    if comment.is_some() {
        notes.push(format!(
            "the comment behind {} moved to a line of its own above it",
            entry.name
        ));
    }
    if entry.spans.whole.start == 0 && doc.bytes.starts_with(BOM) {
        notes.push(BOM_GONE.to_owned());
    }
    let others = doc.entries.iter().filter(|e| e.name == entry.name).count() - 1;
    if others > 0 {
        notes.push(format!(
            "{others} more {} further up set{} {} and {} no effect",
            if others == 1 { "line" } else { "lines" },
            if others == 1 { "s" } else { "" },
            entry.name,
            if others == 1 { "has" } else { "have" },
        ));
    }
    let splice = placing::replace(doc, entry, head, &form.text, comment.as_deref());
    (splice, notes)
}

fn form_notes(form: &Form, value: &str) -> Option<String> {
    let others = form.others(value)?;
    Some(if form.shell == Shell::Joins {
        format!("the value ends in a backslash: {others} would read on into the next line")
    } else {
        format!("Hermes reads the value exactly; {others} would read it differently")
    })
}

fn remove(doc: &EnvDocument, name: &str) -> Result<Plan, EditError> {
    let splices: Vec<Splice> = doc
        .entries
        .iter()
        .filter(|e| e.name == name)
        .map(|e| placing::remove(doc, e))
        .collect();
    if splices.is_empty() {
        return Err(EditError::NotFound {
            key: name.to_owned(),
        });
    }
    let mut notes = Vec::new();
    if splices.len() > 1 {
        notes.push(format!(
            "{} lines set {name}; all were taken out",
            splices.len()
        ));
    }
    if splices[0].span.start == 0 && doc.bytes.starts_with(BOM) {
        notes.push(BOM_GONE.to_owned());
    }
    Ok(Plan {
        splices,
        notes,
        wanted: Wanted::Gone,
    })
}

fn dedupe(doc: &EnvDocument, name: &str) -> Result<Plan, EditError> {
    let Some(keep) = doc.in_force(name) else {
        return Err(EditError::NotFound {
            key: name.to_owned(),
        });
    };
    let splices = doc
        .entries
        .iter()
        .filter(|e| e.name == name && e.spans != keep.spans)
        .map(|e| placing::remove(doc, e))
        .collect();
    Ok(Plan {
        splices,
        notes: Vec::new(),
        wanted: keep.template.clone().map_or(Wanted::Gone, Wanted::Kept),
    })
}

fn check_name(name: &str, rules: &EnvRules<'_>) -> Result<(), EditError> {
    let bad = |reason: &str| {
        Err(EditError::BadName {
            key: name.escape_debug().to_string(),
            reason: reason.to_owned(),
        })
    };
    if !names::is_valid(name) {
        return bad("a valid name has letters, digits and underscores and begins with no digit");
    }
    if (rules.denied)(name) {
        return bad("Hermes refuses it in .env because it steers how programs are started");
    }
    Ok(())
}

/// See [`EnvDocument::questions`].
pub(super) fn questions(
    doc: &EnvDocument,
    name: &str,
    value: &str,
    rules: &EnvRules<'_>,
) -> Vec<Question> {
    let mut out = Vec::new();
    if (rules.credential)(name) {
        if !value.is_ascii() {
            out.push(Question::NonAsciiCredential);
        }
        let old = doc.in_force(name).and_then(|e| e.template.as_deref());
        if is_mask(value, old) {
            out.push(Question::Placeholder);
        }
    }
    if let Ok(form) = encode(&format!("{name}="), name, value, rules.known)
        && form.shell == Shell::Runs
    {
        out.push(Question::ShellRuns);
    }
    out
}

/// Whether a value is a mask rather than a secret: nothing but mask characters, or the old value
/// as a masked display shows it (its first and last four characters around dots or stars).
pub(super) fn is_mask(value: &str, old: Option<&str>) -> bool {
    let mask = |c: char| matches!(c, '*' | '•' | '●' | '…' | '·');
    if !value.is_empty() && value.chars().all(|c| mask(c) || c == '.') && value.contains(mask) {
        return true;
    }
    let Some(old) = old.filter(|old| old.chars().count() > 8) else {
        return false;
    };
    let chars: Vec<char> = value.chars().collect();
    let start: String = old.chars().take(4).collect();
    let end: String = old.chars().skip(old.chars().count() - 4).collect();
    chars.len() > 8
        && value.starts_with(&start)
        && value.ends_with(&end)
        && chars[4..chars.len() - 4]
            .iter()
            .all(|c| mask(*c) || *c == '.')
        && value != old
}
