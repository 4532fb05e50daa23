//! `get`: the value that is in force.
//!
//! Responsible for: finding the effective value of any key, sections and list elements included,
//! and printing it. Not responsible for: which layers there are ([`crate::settings`]).

use serde_json::json;

use super::target::{self, Target};
use super::{Context, Ending, Failure, render};
use crate::catalog::{self, Setting};
use crate::document::{KeyPath, Step, Value};
use crate::session::Session;
use crate::settings::{self, Origin};

/// A value in force and where it comes from.
struct Found {
    value: Value,
    origin: &'static str,
}

pub(super) fn run(context: &mut Context<'_>, key: &str, reveal: bool) -> Result<Ending, Failure> {
    let session = context.open()?;
    let target = target::parse(key, context.global, &session)?;
    if let Some(fault) = session.fault(target.file()) {
        // Hermes goes on with its defaults then; printing one here would hide the fault.
        let path = session.path(target.file());
        return Err(target
            .failure(format!("cannot be read: {}: {fault}", path.display()))
            .hint("mend the file with an editor; `hermes-tui doctor` shows every fault"));
    }
    let found = match &target {
        Target::Env(name) => variable(context, &session, name),
        Target::Config(path) => setting(&session, path),
    };
    let Some(found) = found else {
        return Err(not_set(&session, &target));
    };
    let secret = match &target {
        Target::Env(_) => target.is_secret(),
        Target::Config(path) => settings::hide_secrets(path, &found.value) != found.value,
    };
    let masked = secret && context.io.on_terminal && !reveal;
    let value = match (&target, masked) {
        (_, false) => found.value,
        (Target::Env(_), true) => Value::Str(catalog::mask(&render::plain(&found.value))),
        (Target::Config(path), true) => settings::hide_secrets(path, &found.value),
    };
    if context.global.json {
        context.print_json(&json!({
            "ok": true,
            "key": target.key(),
            "file": target.file().name(),
            "value": render::json(&value),
            "origin": found.origin,
            "secret": secret,
            "masked": masked,
        }))?;
    } else {
        writeln!(context.io.out, "{}", render::plain(&value))?;
    }
    Ok(Ending::Done)
}

fn not_set(session: &Session, target: &Target) -> Failure {
    let failure = target.failure("is not set, and there is no default for it");
    match target {
        Target::Config(path) => {
            let name = path.to_string();
            if session
                .env
                .doc()
                .is_some_and(|doc| doc.get(&name).is_some())
            {
                return failure.hint(format!(
                    "there is a variable of this name in .env: hermes-tui get --env {name}"
                ));
            }
        }
        Target::Env(name) => {
            if session
                .config
                .doc()
                .is_some_and(|doc| doc.get(&KeyPath::of(&[name])).is_some())
            {
                return failure.hint(format!(
                    "there is a key of this name in config.yaml: hermes-tui get --config {name}"
                ));
            }
        }
    }
    match target.closest() {
        Some(near) => failure.hint(format!("did you mean {near}?")),
        None => failure.hint("`hermes-tui list` shows what is set"),
    }
}

/// A variable as a Hermes started from here gets it: the administrator's, the file's, the shell's.
fn variable(context: &Context<'_>, session: &Session, name: &str) -> Option<Found> {
    let outside = |other: &str| context.env.var(other).map(str::to_owned);
    let layers = session.layers();
    let from = |doc: Option<&crate::document::dotenv::EnvDocument>| doc?.get_with(name, &outside);
    let (text, origin) = if let Some(text) = from(layers.managed_env) {
        (text, "managed")
    } else if let Some(text) = from(layers.env) {
        (text, "file")
    } else {
        (outside(name)?, "environment")
    };
    Some(Found {
        value: Value::Str(text),
        origin,
    })
}

fn setting(session: &Session, path: &KeyPath) -> Option<Found> {
    let layers = session.layers();
    let short_form = model_name(session, path);
    if short_form.is_none()
        && let Some(row) = settings::rows(&layers)
            .into_iter()
            .find(|row| &row.path == path)
        && !matches!(row.effective, Some(Value::Map(_)))
    {
        let origin = match row.origin {
            Origin::Default => "default",
            Origin::File => "file",
            Origin::Managed => "managed",
            Origin::Env => "env",
        };
        if let Some(value) = row.effective {
            return Some(Found { value, origin });
        }
    }
    // A section, or something inside a list or a map: the layers put over each other.
    let user = layers.config.and_then(|doc| doc.get(path)).or(short_form);
    let managed = layers.managed_config.and_then(|doc| doc.get(path));
    let origin = match (&managed, &user) {
        (Some(_), _) => "managed",
        (None, Some(_)) => "file",
        (None, None) => "default",
    };
    let value = [defaults(path), user, managed]
        .into_iter()
        .flatten()
        .reduce(over)?;
    Some(Found { value, origin })
}

/// `model: NAME` is the short form of `model: {default: NAME}`.
fn model_name(session: &Session, path: &KeyPath) -> Option<Value> {
    let model = KeyPath::of(&["model"]);
    let value = session.config.doc()?.get(&model)?;
    (*path == model.child(Step::Key("default".to_owned())) && matches!(value, Value::Str(_)))
        .then_some(value)
}

/// The defaults at and below a path, as one value.
fn defaults(path: &KeyPath) -> Option<Value> {
    let catalog = catalog::catalog();
    let mut out = catalog.setting(path).and_then(|s| s.default.clone());
    let below = |s: &&Setting| s.default.is_some() && !s.dead && !s.deprecated;
    for setting in catalog.settings().iter().filter(below) {
        let Some(at) = setting.pattern.to_path() else {
            continue;
        };
        if at.0.len() > path.0.len()
            && path.contains(&at)
            && let Some(default) = setting.default.clone()
        {
            let nested = at.0[path.0.len()..]
                .iter()
                .rev()
                .fold(default, |value, step| {
                    Value::Map(vec![(Value::Str(step.to_string()), value)])
                });
            out = Some(match out {
                Some(value) => over(value, nested),
                None => nested,
            });
        }
    }
    out
}

/// Put one layer over another as Hermes does: sections key by key, everything else as a whole; a
/// section without a value leaves what is below it.
fn over(below: Value, above: Value) -> Value {
    match (below, above) {
        (Value::Map(mut entries), Value::Map(new)) => {
            for (key, value) in new {
                match entries.iter_mut().find(|(k, _)| *k == key) {
                    Some((_, slot)) => {
                        let old = std::mem::replace(slot, Value::Null);
                        *slot = over(old, value);
                    }
                    None => entries.push((key, value)),
                }
            }
            Value::Map(entries)
        }
        (below @ Value::Map(_), Value::Null) => below,
        (_, above) => above,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(text: &str) -> Value {
        crate::document::yaml::parse_flow_value(text).unwrap()
    }

    #[test]
    fn layers_are_merged_key_by_key_and_lists_replace() {
        let merged = over(
            map("{a: {x: 1, y: [1, 2]}, b: 2}"),
            map("{a: {y: [3]}, c: {}}"),
        );
        assert_eq!(merged, map("{a: {x: 1, y: [3]}, b: 2, c: {}}"));
        assert_eq!(
            over(map("{a: 1}"), Value::Null),
            map("{a: 1}"),
            "an empty section means the defaults"
        );
        assert_eq!(over(map("{a: {b: 1}}"), map("{a: off}")), map("{a: off}"));
    }

    #[test]
    fn a_section_without_a_file_is_its_defaults() {
        let Some(Value::Map(terminal)) = defaults(&KeyPath::of(&["terminal"])) else {
            panic!("terminal has defaults")
        };
        let backend = terminal
            .iter()
            .find(|(k, _)| k.as_str() == Some("backend"))
            .map(|(_, v)| v);
        assert_eq!(backend, Some(&Value::Str("local".into())));
        assert_eq!(defaults(&KeyPath::of(&["no_such_section"])), None);
    }
}
