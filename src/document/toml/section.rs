//! Statements and headers: where a new key goes, and which lines leave with a removed one.
//!
//! Responsible for: splices of whole lines. Not responsible for: what stands between brackets
//! (`array`).

use super::array::eol;
use super::render::dotted;
use super::{KeyPath, Statement, TomlDocument};
use crate::document::Splice;

/// Add `path = text`. `depth` steps of the path are there already, as a table.
pub(super) fn add(doc: &TomlDocument, depth: usize, path: &KeyPath, text: &str) -> Splice {
    let here = KeyPath(path.0[..depth].to_vec());
    if let Some(block) = doc.blocks.iter().find(|b| b.path == here) {
        let text = format!("{} = {text}", dotted(path, depth));
        if let Some(last) = block.statements.last() {
            return line(doc, last.lines.end, &format!("{}{text}", indent(doc, last)));
        }
        if !here.0.is_empty() {
            return line(doc, block.body, &text);
        }
        // The file has headers only: in front of the first one, below what opens the file.
        let gap = if doc.blocks.len() > 1 {
            eol(&doc.bytes)
        } else {
            ""
        };
        return line(doc, block.end, &format!("{text}{gap}"));
    }
    // A table made by dots in keys grows next to the last of them.
    let dots = doc
        .blocks
        .iter()
        .filter(|block| block.path.contains(&here))
        .flat_map(|block| block.statements.iter().map(move |s| (block, s)))
        .rfind(|(_, s)| here.contains(&s.path));
    if let Some((block, last)) = dots {
        let key = dotted(path, block.path.0.len());
        return line(
            doc,
            last.lines.end,
            &format!("{}{key} = {text}", indent(doc, last)),
        );
    }
    // A table that only other headers name gets one of its own.
    let eol = eol(&doc.bytes);
    let header = dotted(&here, 0);
    let key = dotted(path, depth);
    let gap = if doc.bytes.is_empty() { "" } else { eol };
    line(
        doc,
        doc.bytes.len(),
        &format!("{gap}[{header}]{eol}{key} = {text}"),
    )
}

/// A line of its own at `at`, which is the start of a line or the end of the file.
fn line(doc: &TomlDocument, at: usize, text: &str) -> Splice {
    let eol = eol(&doc.bytes);
    let before = &doc.bytes[..at];
    let open = !before.is_empty() && before != b"\xef\xbb\xbf" && !before.ends_with(b"\n");
    let lead = if open { eol } else { "" };
    Splice {
        span: at..at,
        text: format!("{lead}{text}{eol}").into_bytes(),
    }
}

/// The indentation of a statement.
fn indent(doc: &TomlDocument, statement: &Statement) -> String {
    doc.bytes[statement.lines.clone()]
        .iter()
        .take_while(|b| matches!(b, b' ' | b'\t'))
        .map(|b| char::from(*b))
        .collect()
}

/// Add an element to an array of tables.
pub(super) fn add_table(doc: &TomlDocument, path: &KeyPath, lines: &[(String, String)]) -> Splice {
    let eol = eol(&doc.bytes);
    let end = doc
        .blocks
        .iter()
        .filter(|b| path.contains(&b.path))
        .map(|b| b.end)
        .max()
        .unwrap_or(doc.bytes.len());
    let mut text = format!("[[{}]]", dotted(path, 0));
    for (key, value) in lines {
        text.push_str(eol);
        text.push_str(key);
        text.push_str(" = ");
        text.push_str(value);
    }
    let before = &doc.bytes[..end];
    let spaced = before.ends_with(b"\n\n") || before.ends_with(b"\n\r\n");
    if !spaced {
        text.insert_str(0, eol);
    }
    if end < doc.bytes.len() {
        text.push_str(eol);
    }
    line(doc, end, &text)
}

/// Take out everything at or below a path that stands in lines of its own.
pub(super) fn remove(doc: &TomlDocument, path: &KeyPath) -> Vec<Splice> {
    let mut out = Vec::new();
    for block in &doc.blocks {
        if path.contains(&block.path) && !block.path.0.is_empty() {
            out.push(Splice {
                span: block.start..block.end,
                text: Vec::new(),
            });
            continue;
        }
        for statement in block.statements.iter().filter(|s| path.contains(&s.path)) {
            out.push(Splice {
                span: statement.lines.clone(),
                text: Vec::new(),
            });
        }
    }
    out
}
