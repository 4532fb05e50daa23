//! `${NAME}` and `${NAME:-default}` as python-dotenv replaces them.
//!
//! Responsible for: finding and replacing them in one value. Not responsible for: the order of
//! precedence between the file and the environment (the caller's lookup decides it).

/// What is known about a name: nothing, a name without a value, or a value.
pub(super) enum Lookup {
    /// The default applies.
    Unknown,
    /// A value, or nothing for a name that stands in the file without `=`.
    Known(Option<String>),
}

/// Whether the value holds something that would be replaced.
pub(super) fn has_reference(value: &str) -> bool {
    next(value, 0).is_some()
}

/// The names a value refers to.
pub(super) fn references(value: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(found) = next(value, at) {
        out.push(found.name);
        at = found.end;
    }
    out
}

/// Replace every reference.
pub(super) fn interpolate(value: &str, lookup: &dyn Fn(&str) -> Lookup) -> String {
    let mut out = String::with_capacity(value.len());
    let mut at = 0;
    while let Some(found) = next(value, at) {
        out.push_str(&value[at..found.start]);
        match lookup(found.name) {
            Lookup::Known(text) => out.push_str(&text.unwrap_or_default()),
            Lookup::Unknown => out.push_str(found.default.unwrap_or_default()),
        }
        at = found.end;
    }
    out.push_str(&value[at..]);
    out
}

struct Reference<'a> {
    start: usize,
    end: usize,
    name: &'a str,
    default: Option<&'a str>,
}

/// The first reference at or after `from`.
fn next(value: &str, from: usize) -> Option<Reference<'_>> {
    let mut at = from;
    loop {
        let start = at + value[at..].find("${")?;
        let body = &value[start + 2..];
        // Without any closing brace further on nothing can match, so the search stays linear.
        let stop = body.find(['}', ':'])?;
        let name = &body[..stop];
        let rest = &body[stop..];
        if rest.starts_with('}') {
            return Some(Reference {
                start,
                end: start + 2 + stop + 1,
                name,
                default: None,
            });
        }
        if let Some(default) = rest.strip_prefix(":-") {
            let close = default.find('}')?;
            return Some(Reference {
                start,
                end: start + 2 + stop + 2 + close + 1,
                name,
                default: Some(&default[..close]),
            });
        }
        // Every `${` up to here meets the same lone colon.
        at = start + 2 + stop;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(value: &str) -> String {
        interpolate(value, &|name| match name {
            "BASE" => Lookup::Known(Some("zzz".into())),
            "BARE" => Lookup::Known(None),
            _ => Lookup::Unknown,
        })
    }

    #[test]
    fn references_are_replaced_as_python_dotenv_does() {
        for (value, wanted) in [
            ("${BASE}/x", "zzz/x"),
            ("$BASE/x", "$BASE/x"),
            ("pre${NO}post", "prepost"),
            ("${NO:-dflt}", "dflt"),
            ("${BARE:-dflt}", ""),
            ("${A:b}", "${A:b}"),
            ("${open", "${open"),
            ("${${BASE}", ""),
            ("pa$$word$", "pa$$word$"),
            ("${:-x}", "x"),
        ] {
            assert_eq!(run(value), wanted, "{value}");
        }
    }
}
