//! Taking what was typed into a text field.

use super::super::browse;
use super::super::model::{Editor, Layer, Model, Purpose, Target};
use super::{main_screen, open, pick};
use crate::catalog::{self, Severity};
use crate::document::dotenv::{EnvChange, EnvDocument};
use crate::document::{Change, KeyPath, Step, Value, yaml};
use crate::edit::Edit;
use crate::plan;

/// Take the topmost text field's text. When it cannot be taken the field stays, with the reason.
pub fn accept(model: &mut Model) {
    let Some(Layer::Editor(mut editor)) = model.layers.pop() else {
        return;
    };
    if let Err(reason) = take(model, &mut editor) {
        editor.error = Some(reason);
        model.layers.push(Layer::Editor(editor));
    }
}

fn take(model: &mut Model, editor: &mut Editor) -> Result<(), String> {
    let text = editor.field.value().to_owned();
    match editor.target.clone() {
        Purpose::Value(Target::Env(name)) => {
            if editor.secret && text.is_empty() {
                return Err("nothing was typed; Esc leaves the key as it is".into());
            }
            doubts(model, &name, &text, editor)?;
            let edit = Edit::Env {
                name: name.clone(),
                change: EnvChange::Set { value: text },
            };
            open::try_stage(model, format!("set {name}"), edit)?;
            show(model, &Target::Env(name));
            Ok(())
        }
        Purpose::Value(target) => {
            if editor.secret && text.is_empty() {
                return Err("nothing was typed; Esc leaves the value as it is".into());
            }
            let value = typed(model, &target, &text)?;
            if let Target::Config(path) = &target {
                check(path, &value, editor)?;
            }
            let label = format!("set {}", target.key());
            open::try_stage(model, label, target.edit(Change::Set(value)))?;
            show(model, &target);
            Ok(())
        }
        Purpose::NewVariable => {
            let name = text.trim().to_owned();
            new_variable(model, &name)
        }
        Purpose::NewSetting => {
            let segments = KeyPath::split(text.trim());
            if segments.iter().any(String::is_empty) {
                return Err("a path has a name on both sides of each dot".into());
            }
            let path = match &model.staged.config {
                Some(doc) => doc.resolve(&segments),
                None => KeyPath(segments.into_iter().map(Step::Key).collect()),
            };
            let target = Target::Config(path);
            if let Some(reason) = open::locked(model, &target) {
                return Err(reason);
            }
            open::editor(model, &target);
            Ok(())
        }
        Purpose::NewEntry(target) => {
            let name = text.trim();
            if name.is_empty() {
                return Err("the entry needs a name".into());
            }
            let path = target.path().cloned().unwrap_or_default();
            let at = target.at(path.child(Step::Key(name.to_owned())));
            if model.staged_value(&at).is_some() {
                return Err(format!("{name} is there already"));
            }
            open::editor(model, &at);
            Ok(())
        }
        Purpose::NewElement(target) => {
            let value = element(model, &target, &text)?;
            let label = format!("add to {}", target.key());
            open::try_stage(model, label, target.edit(Change::Append(value)))?;
            // The next key is about the new element.
            let len = match model.staged_value(&target) {
                Some(Value::List(list)) => list.len(),
                _ => 0,
            };
            if let Some(Layer::Items(items)) = model.layers.last_mut() {
                items.cursor.at = len.saturating_sub(1);
            }
            Ok(())
        }
        Purpose::ModelName { slot, provider } => {
            if text.trim().is_empty() {
                return Err("a model needs a name".into());
            }
            pick::choose(model, slot, provider, text.trim())
        }
    }
}

/// What Hermes or a shell would make of a value that the user may not expect: said once, taken when
/// Enter is pressed again.
fn doubts(model: &Model, name: &str, text: &str, editor: &mut Editor) -> Result<(), String> {
    if editor.warned {
        return Ok(());
    }
    let empty = EnvDocument::parse(b"").map_err(|e| e.reason)?;
    let doc = model.staged.env.as_ref().unwrap_or(&empty);
    let doubt = match doc.questions(name, text, &plan::env_rules()).first() {
        Some(question) => question.text().to_owned(),
        None => match catalog::catalog().key(name).map(|k| k.check(text)) {
            Some(Err(fault)) if fault.severity != Severity::Info => fault.text,
            _ => return Ok(()),
        },
    };
    editor.warned = true;
    Err(format!("{doubt}; ⏎ again takes it all the same"))
}

/// Put the cursor on a row that was edited while another one was selected: it is new.
fn show(model: &mut Model, target: &Target) {
    if model.layers.is_empty()
        && main_screen::target_here(model).is_some_and(|here| here != *target)
    {
        browse::jump(model, target);
    }
}

fn new_variable(model: &mut Model, name: &str) -> Result<(), String> {
    let mut chars = name.chars();
    let ok = chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !ok {
        return Err("a name has letters, digits and _, and does not start with a digit".into());
    }
    if catalog::catalog().is_denied(name) {
        return Err(format!(
            "Hermes refuses {name} in .env: it would change how programs start"
        ));
    }
    let target = Target::Env(name.to_owned());
    if let Some(reason) = open::locked(model, &target) {
        return Err(reason);
    }
    open::editor(model, &target);
    Ok(())
}

/// The value that a text stands for at a known setting.
fn parse(setting: &catalog::Setting, text: &str) -> Result<Value, String> {
    match setting.parse(text)? {
        catalog::Parsed::Value(value) => Ok(value),
        catalog::Parsed::Flow => yaml::parse_flow_value(text).map_err(|e| e.reason),
    }
}

/// The value that a text stands for at a target.
fn typed(model: &Model, target: &Target, text: &str) -> Result<Value, String> {
    let known = match target {
        Target::Config(path) => catalog::catalog().setting(path),
        Target::Env(_) | Target::Other(..) => None,
    };
    match known {
        Some(setting) => parse(setting, text),
        // What the catalogue does not know keeps the type it has.
        None => match model.staged_value(target) {
            Some(Value::Str(_)) => Ok(Value::Str(text.to_owned())),
            _ => yaml::parse_flow_value(text).map_err(|e| e.reason),
        },
    }
}

/// The value that a text stands for as a new element of a list: of the type of its neighbours.
fn element(model: &Model, target: &Target, text: &str) -> Result<Value, String> {
    match model.staged_value(target) {
        Some(Value::List(list)) if list.iter().any(|v| matches!(v, Value::Str(_))) => {
            Ok(Value::Str(text.to_owned()))
        }
        _ => {
            let first = target
                .path()
                .cloned()
                .unwrap_or_default()
                .child(Step::Index(0));
            typed(model, &target.at(first), text)
        }
    }
}

/// A value that is known to be wrong stays in the field; one that is only doubtful may be taken by
/// pressing Enter once more.
fn check(path: &KeyPath, value: &Value, editor: &mut Editor) -> Result<(), String> {
    let Some(setting) = catalog::catalog().setting(path) else {
        return Ok(());
    };
    match setting.check(value) {
        Ok(()) => Ok(()),
        Err(fault) if fault.severity == Severity::Error => Err(fault.text),
        Err(_) if editor.warned => Ok(()),
        Err(fault) => {
            editor.warned = true;
            Err(format!("{}; ⏎ again takes it all the same", fault.text))
        }
    }
}
