//! From the spans of the `toml` crate to nodes, headers and statements.
//!
//! Responsible for: telling headers, inline tables and implied tables apart, and which lines
//! belong to which statement. Not responsible for: the grammar.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::{
    Block, Form, KeyPath, Kind, Member, Node, ParseError, Statement, Step, TomlDocument, Value,
    model, position,
};

/// See [`TomlDocument::parse`].
pub(super) fn read(bytes: &[u8]) -> Result<TomlDocument, ParseError> {
    let fail = |at: usize, reason: &str| {
        let (line, column) = position(bytes, at);
        Err(ParseError {
            line,
            column,
            reason: reason.to_owned(),
        })
    };
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(e) => return fail(e.valid_up_to(), "the file is not UTF-8 here"),
    };
    let table = match DeTable::parse(text) {
        Ok(table) => table.into_inner(),
        Err(e) => {
            let reason = e.message().lines().next().unwrap_or_default().to_owned();
            return fail(e.span().map_or(0, |s| s.start), &reason);
        }
    };
    let root = Node {
        span: 0..bytes.len(),
        kind: Kind::Table(Form::Header, members(&table, text)),
    };
    let blocks = blocks(bytes, &root);
    Ok(TomlDocument {
        bytes: bytes.to_vec(),
        root,
        blocks,
    })
}

fn members(table: &DeTable<'_>, text: &str) -> Vec<Member> {
    table
        .iter()
        .map(|(key, value)| Member {
            key: key.get_ref().to_string(),
            key_span: key.span(),
            value: node(value.get_ref(), value.span(), text),
        })
        .collect()
}

fn node(value: &DeValue<'_>, span: Range<usize>, text: &str) -> Node {
    let raw = &text[span.clone()];
    let kind = match value {
        DeValue::String(s) => Kind::Scalar(Value::Str(s.to_string())),
        DeValue::Boolean(b) => Kind::Scalar(Value::Bool(*b)),
        DeValue::Integer(n) => Kind::Scalar(
            i128::from_str_radix(n.as_str(), n.radix())
                .map_or_else(|_| Value::BigInt(n.to_string()), Value::Int),
        ),
        DeValue::Float(f) => Kind::Scalar(
            f.as_str()
                .parse()
                .map_or_else(|_| Value::Str(raw.to_owned()), Value::Float),
        ),
        DeValue::Datetime(_) => Kind::Scalar(Value::Timestamp(raw.to_owned())),
        DeValue::Array(items) => {
            // An array of tables has the span of its first header, as that table has.
            let tables = items
                .iter()
                .next()
                .is_some_and(|first| first.span() == span);
            let nodes = items
                .iter()
                .map(|item| node(item.get_ref(), item.span(), text))
                .collect();
            if tables {
                Kind::Tables(nodes)
            } else {
                Kind::Array(nodes)
            }
        }
        DeValue::Table(table) => {
            let form = match raw.as_bytes().first() {
                Some(b'[') => Form::Header,
                Some(b'{') => Form::Inline,
                _ => Form::Implied,
            };
            Kind::Table(form, members(table, text))
        }
    };
    Node { span, kind }
}

/// Headers with their bodies, and the statements in each.
fn blocks(bytes: &[u8], root: &Node) -> Vec<Block> {
    let mut headers: Vec<(KeyPath, Range<usize>)> = Vec::new();
    let mut statements: Vec<(usize, Statement)> = Vec::new();
    collect(
        bytes,
        root,
        &KeyPath::default(),
        &mut headers,
        &mut statements,
    );
    headers.sort_by_key(|(_, span)| span.start);
    statements.sort_by_key(|(at, _)| *at);
    let begin = if bytes.starts_with(b"\xef\xbb\xbf") {
        3
    } else {
        0
    };
    let mut out = vec![Block {
        path: KeyPath::default(),
        start: begin,
        body: begin,
        end: bytes.len(),
        statements: Vec::new(),
    }];
    for (path, span) in headers {
        let start = with_comments_above(bytes, line_start(bytes, span.start), begin);
        if let Some(last) = out.last_mut() {
            last.end = start.max(last.body);
        }
        out.push(Block {
            path,
            start,
            body: line_end(bytes, span.end),
            end: bytes.len(),
            statements: Vec::new(),
        });
    }
    let mut block = 0;
    for (at, statement) in statements {
        while out.get(block + 1).is_some_and(|next| next.body <= at) {
            block += 1;
        }
        out[block].statements.push(statement);
    }
    out
}

fn collect(
    bytes: &[u8],
    node: &Node,
    path: &KeyPath,
    headers: &mut Vec<(KeyPath, Range<usize>)>,
    statements: &mut Vec<(usize, Statement)>,
) {
    match &node.kind {
        Kind::Table(Form::Header | Form::Implied, members) => {
            if matches!(node.kind, Kind::Table(Form::Header, _)) && !path.0.is_empty() {
                headers.push((path.clone(), node.span.clone()));
            }
            for member in members {
                let path = path.child(Step::Key(member.key.clone()));
                match &member.value.kind {
                    Kind::Table(Form::Header | Form::Implied, _) | Kind::Tables(_) => {
                        collect(bytes, &member.value, &path, headers, statements);
                    }
                    _ => statements.push((
                        member.key_span.start,
                        Statement {
                            path,
                            lines: line_start(bytes, member.key_span.start)
                                ..line_end(bytes, member.value.span.end),
                        },
                    )),
                }
            }
        }
        Kind::Tables(items) => {
            for (n, item) in items.iter().enumerate() {
                collect(
                    bytes,
                    item,
                    &path.child(model::index(n)),
                    headers,
                    statements,
                );
            }
        }
        _ => {}
    }
}

/// First byte of the line of `at`.
pub(super) fn line_start(bytes: &[u8], at: usize) -> usize {
    let start = bytes[..at]
        .iter()
        .rposition(|b| *b == b'\n')
        .map_or(0, |n| n + 1);
    if start == 0 && bytes.starts_with(b"\xef\xbb\xbf") {
        3
    } else {
        start
    }
}

/// Behind the line end of the line of `at`.
pub(super) fn line_end(bytes: &[u8], at: usize) -> usize {
    bytes[at..]
        .iter()
        .position(|b| *b == b'\n')
        .map_or(bytes.len(), |n| at + n + 1)
}

/// Move up over comment lines that stand directly above.
fn with_comments_above(bytes: &[u8], mut start: usize, begin: usize) -> usize {
    while start > begin {
        let above = line_start(bytes, start - 1);
        if !bytes[above..start].trim_ascii_start().starts_with(b"#") {
            break;
        }
        start = above;
    }
    start
}
