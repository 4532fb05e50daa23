//! `set`: give one key a value.
//!
//! Responsible for: typing the value, refusing what is known to be wrong, and which edits it takes.
//! Not responsible for: saving.

use super::commit::{self, Wanted};
use super::target::{self, Target};
use super::{Context, Ending, Failure, shape};
use crate::catalog::{self, Parsed, Setting, Severity};
use crate::document::dotenv::{Accept, EnvChange, EnvRules, Question};
use crate::document::{Change, KeyPath, Step, Value, yaml};
use crate::edit::Edit;
use crate::plan;
use crate::session::Session;

/// What stands on the command line.
pub(super) struct Request<'a> {
    pub(super) key: &'a str,
    /// `None`: from standard input.
    pub(super) value: Option<&'a str>,
    /// Take it as text.
    pub(super) string: bool,
    /// Write what is known to be wrong.
    pub(super) force: bool,
}

pub(super) fn run(context: &mut Context<'_>, request: &Request<'_>) -> Result<Ending, Failure> {
    let session = context.open()?;
    let mut target = target::parse(request.key, context.global, &session)?;
    let text = match request.value {
        Some(text) => text.to_owned(),
        None => from_stdin(context, &target)?,
    };
    let mut warnings = Vec::new();
    if let Some(inner) = model_default(&session, &target, &text) {
        warnings.push("model is a section here; the value goes to model.default".to_owned());
        target = Target::Config(inner);
    }
    target::refuse_locked(&session, &target)?;
    let edits = match &target {
        Target::Env(name) => env_edits(&session, &target, name, text, request, &mut warnings)?,
        Target::Config(path) => {
            config_edits(&session, &target, path, &text, request, &mut warnings)?
        }
    };
    commit::run(
        context,
        &session,
        Wanted {
            target,
            done: "set",
            edits,
            warnings,
        },
    )
}

/// All of standard input, without one final line end.
fn from_stdin(context: &mut Context<'_>, target: &Target) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    context
        .io
        .input
        .read_to_end(&mut bytes)
        .map_err(|e| target.failure(format!("was not set: standard input cannot be read: {e}")))?;
    let mut text = String::from_utf8(bytes).map_err(|_| {
        target
            .failure("was not set: the value on standard input is not UTF-8")
            .hint("convert it first, for example with iconv")
    })?;
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    Ok(text)
}

/// Hermes takes `model: NAME` and `model: {default: NAME}` for the same. A name given to the section
/// must not wipe provider and address.
fn model_default(session: &Session, target: &Target, text: &str) -> Option<KeyPath> {
    let Target::Config(path) = target else {
        return None;
    };
    let is_section = *path == KeyPath::of(&["model"])
        && matches!(session.config.doc()?.get(path), Some(Value::Map(_)));
    let is_name = !text.trim_start().starts_with(['{', '[']);
    (is_section && is_name).then(|| path.child(Step::Key("default".to_owned())))
}

// ── .env ─────────────────────────────────────────────────────────────────────────────────────

fn env_edits(
    session: &Session,
    target: &Target,
    name: &str,
    text: String,
    request: &Request<'_>,
    warnings: &mut Vec<String>,
) -> Result<Vec<Edit>, Failure> {
    let known = catalog::catalog().key(name);
    match known {
        Some(info) => {
            if let Err(fault) = info.check(&text) {
                judge(target, &fault.text, fault.severity, request.force, warnings)?;
            }
        }
        None => {
            if let Some(near) = target.closest() {
                warnings.push(format!(
                    "{name} is not a variable that Hermes knows; did you mean {near}?"
                ));
            }
        }
    }
    if !request.force {
        let fresh;
        let doc = if let Some(doc) = session.env.doc() {
            doc
        } else {
            fresh =
                plan::parse_env(b"").map_err(|e| target.failure(format!("was not set: {e}")))?;
            &fresh
        };
        let strict = EnvRules {
            accept: Accept::default(),
            ..plan::env_rules()
        };
        let is_none = catalog::catalog().is_placeholder(&text) || catalog::looks_masked(&text);
        if target.is_secret() && is_none {
            return Err(refused(target, Question::Placeholder));
        }
        if let Some(question) = doc.questions(name, &text, &strict).first() {
            return Err(refused(target, *question));
        }
    }
    Ok(vec![Edit::Env {
        name: name.to_owned(),
        change: EnvChange::set(text),
    }])
}

fn refused(target: &Target, question: Question) -> Failure {
    target
        .failure(format!("was not set: {}", question.text()))
        .hint("--force writes it all the same")
}

// ── config.yaml ──────────────────────────────────────────────────────────────────────────────

fn config_edits(
    session: &Session,
    target: &Target,
    path: &KeyPath,
    text: &str,
    request: &Request<'_>,
    warnings: &mut Vec<String>,
) -> Result<Vec<Edit>, Failure> {
    let setting = catalog::catalog().setting(path);
    let current = session.config.doc().and_then(|doc| doc.get(path));
    let value = typed(target, setting, text, request)?;
    match setting {
        Some(setting) => {
            if let Err(fault) = setting.check(&value) {
                judge(target, &fault.text, fault.severity, request.force, warnings)?;
            }
        }
        None => unknown(target, path, current.as_ref(), &value, warnings),
    }
    if !request.force {
        if target.is_secret() && catalog::looks_masked(text) {
            return Err(refused(target, Question::Placeholder));
        }
        refuse_loss(target, current.as_ref(), &value)?;
    }
    let (path, value) = shape::placed(target, path, value, session.config.doc())?;
    let change = Change::Set(value);
    let edit = Edit::Config { path, change };
    let mut edits = plan::with_companions(edit, session.env.doc());
    edits.retain(|edit| match edit {
        Edit::Env { name, .. } => {
            let free = target::refuse_locked(session, &Target::Env(name.clone())).is_ok();
            if !free {
                warnings.push(format!(
                    "{name} in .env is managed and cannot be kept in step"
                ));
            }
            free
        }
        Edit::Config { .. } | Edit::Other { .. } => true,
    });
    Ok(edits)
}

/// One word in the place of many values is hardly what was meant.
fn refuse_loss(target: &Target, current: Option<&Value>, value: &Value) -> Result<(), Failure> {
    let (what, len) = match current {
        Some(Value::Map(entries)) => ("a section", entries.len()),
        Some(Value::List(items)) => ("a list", items.len()),
        _ => return Ok(()),
    };
    if len == 0 || matches!(value, Value::Map(_) | Value::List(_)) {
        return Ok(());
    }
    Err(target
        .failure(format!(
            "was not set: it is {what} with {len} entries, and {} in its place would remove them all",
            value.kind()
        ))
        .hint("name a key inside it, or write it all the same with --force"))
}

/// The value that a text stands for.
fn typed(
    target: &Target,
    setting: Option<&Setting>,
    text: &str,
    request: &Request<'_>,
) -> Result<Value, Failure> {
    if request.string {
        return Ok(Value::Str(text.to_owned()));
    }
    let flow = || {
        yaml::parse_flow_value(text).map_err(|e| {
            target
                .failure(format!(
                    "was not set: the value cannot be read as YAML: {}",
                    e.reason
                ))
                .hint("--string takes it literally, as text")
        })
    };
    match setting.map(|s| s.parse(text)) {
        Some(Ok(Parsed::Value(value))) => Ok(value),
        None | Some(Ok(Parsed::Flow)) => flow(),
        Some(Err(_)) if request.force => flow(),
        Some(Err(needs)) => Err(target
            .failure(format!("was not set: it {needs}"))
            .hint("--force writes the value all the same")),
    }
}

/// What to say about a key that the catalogue does not know. It is written all the same: plugins
/// and scripts have keys of their own.
fn unknown(
    target: &Target,
    path: &KeyPath,
    current: Option<&Value>,
    value: &Value,
    warnings: &mut Vec<String>,
) {
    let is_section_of_known = catalog::catalog().has_children(path);
    if current.is_none() && !is_section_of_known {
        let key = target.key();
        warnings.push(match target.closest() {
            Some(near) => format!("{key} is not a setting that Hermes knows; did you mean {near}?"),
            None => format!("{key} is not a setting that Hermes knows"),
        });
    }
    if matches!(current, Some(Value::Str(_))) && !matches!(value, Value::Str(_)) {
        warnings.push(format!(
            "{} was text and is now {}; --string keeps it text",
            target.key(),
            value.kind()
        ));
    }
}

/// A fault of the value: an error is refused, the rest is said.
fn judge(
    target: &Target,
    fault: &str,
    severity: Severity,
    force: bool,
    warnings: &mut Vec<String>,
) -> Result<(), Failure> {
    if severity == Severity::Error && !force {
        return Err(target
            .failure(format!("was not set: it {fault}"))
            .hint("--force writes the value all the same"));
    }
    warnings.push(format!("{} {fault}", target.key()));
    Ok(())
}
