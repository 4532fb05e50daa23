//! Choosing a provider and a model for a slot.

use super::super::action::Tab;
use super::super::browse;
use super::super::model::{Cursor, Model, Purpose, Target};
use super::super::models::{ProviderItem, Slot, SlotKind};
use super::open;
use crate::catalog::{self, EndpointKey, ModelPick};
use crate::document::dotenv::EnvChange;
use crate::document::yaml::YamlDocument;
use crate::document::{Change, KeyPath, Step, Value};
use crate::edit::Edit;

/// The row that asks for a name which is not in the list.
pub const OTHER: &str = "another name…";

/// The slot under the cursor.
pub fn slot_here(model: &Model) -> Option<&Slot> {
    let slots = &model.derived.slots;
    slots.get(
        model.tabs[Tab::Models.index()].cursors[0]
            .at
            .min(slots.len().saturating_sub(1)),
    )
}

/// The provider under the cursor.
pub fn provider_here(model: &Model) -> Option<&ProviderItem> {
    model
        .derived
        .providers
        .get(model.tabs[Tab::Models.index()].cursors[1].at)
}

/// The model names listed at the moment: those of the provider, narrowed by the search, and the
/// row for any other name.
pub fn model_names(model: &Model) -> Vec<String> {
    let Some(provider) = provider_here(model) else {
        return Vec::new();
    };
    let query = model.tabs[Tab::Models.index()]
        .search
        .as_ref()
        .map(|s| s.field.value().to_owned())
        .unwrap_or_default();
    let searched: Vec<browse::Searched> = provider
        .models
        .iter()
        .map(|m| browse::Searched {
            name: m.clone(),
            more: String::new(),
        })
        .collect();
    let mut names: Vec<String> = browse::matches(&query, &searched)
        .into_iter()
        .map(|i| provider.models[i].clone())
        .collect();
    names.push(OTHER.to_owned());
    names
}

/// Let the lower panes show the provider and the model that the slot has now.
pub fn follow_slot(model: &mut Model) {
    let Some(slot) = slot_here(model) else { return };
    let (provider, name) = (slot.provider.clone(), slot.model.clone());
    let at = model
        .derived
        .providers
        .iter()
        .position(|p| is(p, &provider))
        .unwrap_or(0);
    let cursors = &mut model.tabs[Tab::Models.index()].cursors;
    cursors[1] = Cursor { at, top: 0 };
    cursors[2] = Cursor::default();
    let at = model_names(model)
        .iter()
        .position(|n| *n == name)
        .unwrap_or(0);
    model.tabs[Tab::Models.index()].cursors[2].at = at;
}

/// Enter on the Models tab.
pub fn activate(model: &mut Model) {
    match model.here().pane {
        0 => {
            // Start at what the slot has now.
            follow_slot(model);
            model.here_mut().pane = 1;
        }
        1 => model.here_mut().pane = 2,
        _ => {
            let names = model_names(model);
            let at = model.here().cursors[2]
                .at
                .min(names.len().saturating_sub(1));
            let slot = model.here().cursors[0].at;
            let provider = model.here().cursors[1].at;
            let Some(item) = provider_here(model) else {
                return;
            };
            let label = item.label.clone();
            let Some(name) = names.get(at) else { return };
            if name == OTHER {
                let typed = model
                    .here()
                    .search
                    .as_ref()
                    .map(|s| s.field.value().to_owned());
                let title = format!("Model at {label}");
                let purpose = Purpose::ModelName { slot, provider };
                open::ask(model, purpose, &title, "the name as the provider spells it");
                if let (Some(typed), Some(super::super::model::Layer::Editor(editor))) =
                    (typed, model.layers.last_mut())
                {
                    editor.field = tui_input::Input::new(typed);
                }
                return;
            }
            if let Err(reason) = choose(model, slot, provider, name) {
                model.complain(reason);
            }
        }
    }
}

/// Whether an item is the provider that a file names, by its id or one of its aliases.
pub fn is(item: &ProviderItem, name: &str) -> bool {
    !name.is_empty()
        && (item.id == name
            || item.info.is_some_and(|p| {
                catalog::catalog()
                    .provider(name)
                    .is_some_and(|known| known.id == p.id)
            }))
}

/// Stage a model for a slot and go back to the slots.
pub fn choose(model: &mut Model, slot: usize, at: usize, name: &str) -> Result<(), String> {
    if let Some(reason) = open::locked(model, &Target::Config(KeyPath::of(&["model"]))) {
        return Err(reason);
    }
    // By its place in the list: several endpoints of the old kind share one id.
    let item = model
        .derived
        .providers
        .get(at)
        .cloned()
        .ok_or("there is no such provider")?;
    let provider = item.label.clone();
    let slot = model
        .derived
        .slots
        .get(slot)
        .cloned()
        .ok_or("there is no such slot")?;
    let edits = slot_edits(model, &slot, &item, name)?;
    let label = format!("{} = {name} at {provider}", slot.label);
    model.stage(label, edits).map_err(|e| e.to_string())?;
    model.tabs[Tab::Models.index()].pane = 0;
    model.tabs[Tab::Models.index()].search = None;
    match &item.key {
        super::super::models::KeyStatus::Missing(env) => {
            model.complain(format!(
                "{provider} needs {env}, which is not set: 2 goes to the keys"
            ));
        }
        super::super::models::KeyStatus::SignIn => {
            model.complain(format!(
                "{provider} needs a sign-in: run hermes auth on this machine"
            ));
        }
        super::super::models::KeyStatus::Suppressed(env) => model.complain(format!(
            "Hermes was told to ignore {env}: run hermes auth on this machine to use it again"
        )),
        _ => {}
    }
    Ok(())
}

/// The edits that give a slot this model.
fn slot_edits(
    model: &Model,
    slot: &Slot,
    item: &ProviderItem,
    name: &str,
) -> Result<Vec<Edit>, String> {
    let set = |path: KeyPath, text: &str| Edit::Config {
        path,
        change: Change::Set(Value::Str(text.to_owned())),
    };
    let staged = |path: &KeyPath| model.staged_value(&Target::Config(path.clone()));
    let mut out = Vec::new();
    let drop_if_set = |out: &mut Vec<Edit>, path: KeyPath| {
        if staged(&path).is_some() {
            out.push(Edit::Config {
                path,
                change: Change::Remove,
            });
        }
    };
    match &slot.kind {
        SlotKind::Main => {
            let endpoint = match (item.info, &item.own) {
                (Some(provider), _) => EndpointKey::Provider(provider),
                (None, Some(at)) => own_endpoint(at).ok_or("the endpoint has no name")?,
                (None, None) => return Err("the endpoint has no place in config.yaml".into()),
            };
            let config = model.staged.config.as_ref().map(YamlDocument::root);
            let env = |name: &str| model.staged.env.as_ref()?.get_load_env(name);
            let plan = catalog::model_edits(&ModelPick::new(endpoint, name), config.as_ref(), &env)
                .map_err(|e| e.to_string())?;
            out.extend(
                plan.config
                    .into_iter()
                    .map(|(path, change)| Edit::Config { path, change }),
            );
            out.extend(plan.env.into_iter().map(|(name, value)| {
                if value.is_empty() {
                    Edit::Env {
                        name,
                        change: EnvChange::Remove,
                    }
                } else {
                    Edit::Env {
                        name,
                        change: EnvChange::Set { value },
                    }
                }
            }));
        }
        _ if item.id == "custom" && item.own.is_some() => {
            return Err(format!(
                "{} stands in the old custom_providers list, which only the main model can name: \
                 move it to providers first",
                item.label
            ));
        }
        SlotKind::Fallback(i) => {
            let at = KeyPath::of(&["fallback_providers"])
                .child(Step::Index(i64::try_from(*i).unwrap_or(i64::MAX)));
            let key = |k: &str| at.child(Step::Key(k.into()));
            out.push(set(key("provider"), &item.id));
            out.push(set(key("model"), name));
            if slot.provider != item.id {
                for old in ["base_url", "api_key", "key_env", "api_mode"] {
                    drop_if_set(&mut out, key(old));
                }
            }
        }
        SlotKind::AddFallback => {
            let entry = Value::Map(vec![
                (Value::Str("provider".into()), Value::Str(item.id.clone())),
                (Value::Str("model".into()), Value::Str(name.to_owned())),
            ]);
            out.push(Edit::Config {
                path: KeyPath::of(&["fallback_providers"]),
                change: Change::Append(entry),
            });
        }
        SlotKind::Auxiliary(task) => {
            let key = |k: &str| KeyPath::of(&["auxiliary", task, k]);
            out.push(set(key("provider"), &item.id));
            out.push(set(key("model"), name));
            if slot.provider != item.id {
                drop_if_set(&mut out, key("base_url"));
                drop_if_set(&mut out, key("api_key"));
            }
        }
    }
    Ok(out)
}

/// The endpoint of the user's own that stands at a path.
fn own_endpoint(at: &KeyPath) -> Option<EndpointKey<'_>> {
    match at.0.last()? {
        Step::Key(name) => Some(EndpointKey::Named(name)),
        Step::Index(i) => usize::try_from(*i).ok().map(EndpointKey::Listed),
        Step::Bool(_) => None,
    }
}

/// `a`: go to the line that adds a fallback and open its choices.
pub fn to_add_fallback(model: &mut Model) {
    if let Some(at) = model
        .derived
        .slots
        .iter()
        .position(|s| s.kind == SlotKind::AddFallback)
    {
        model.here_mut().cursors[0] = Cursor { at, top: 0 };
        model.here_mut().pane = 0;
        activate(model);
    }
}

/// `r`: take a fallback out, or let an auxiliary task follow the main model again.
pub fn reset(model: &mut Model) {
    if model.here().pane != 0 {
        model.say("r works on the rows above: Tab goes there");
        return;
    }
    if let Some(reason) = open::locked(model, &Target::Config(KeyPath::of(&["model"]))) {
        model.complain(reason);
        return;
    }
    let Some(slot) = slot_here(model).cloned() else {
        return;
    };
    let remove = |path| Edit::Config {
        path,
        change: Change::Remove,
    };
    match slot.kind {
        SlotKind::Main => model.say("Hermes needs a main model: ⏎ chooses another one"),
        SlotKind::AddFallback => model.say("⏎ adds a fallback"),
        SlotKind::Fallback(i) => {
            let at = KeyPath::of(&["fallback_providers"])
                .child(Step::Index(i64::try_from(i).unwrap_or(i64::MAX)));
            open::stage_edit(model, format!("remove {}", slot.label), remove(at));
        }
        SlotKind::Auxiliary(task) => {
            let edits: Vec<Edit> = ["provider", "model", "base_url", "api_key"]
                .iter()
                .map(|k| KeyPath::of(&["auxiliary", &task, k]))
                .filter(|p| model.staged_value(&Target::Config(p.clone())).is_some())
                .map(remove)
                .collect();
            if edits.is_empty() {
                model.say("it follows the main model already");
            } else if let Err(e) = model.stage(format!("{} follows main", slot.label), edits) {
                model.complain(e.to_string());
            }
        }
    }
}

/// `K`/`J`: move a fallback.
pub fn move_fallback(model: &mut Model, delta: isize) {
    if model.tab != Tab::Models {
        return;
    }
    let Some(SlotKind::Fallback(from)) = slot_here(model).map(|s| s.kind.clone()) else {
        model.say("K and J change the order of the fallbacks");
        return;
    };
    let count = model
        .derived
        .slots
        .iter()
        .filter(|s| matches!(s.kind, SlotKind::Fallback(_)))
        .count();
    let Some(to) = from.checked_add_signed(delta).filter(|t| *t < count) else {
        return;
    };
    let path = KeyPath::of(&["fallback_providers"]);
    let edit = Edit::Config {
        path,
        change: Change::Move { from, to },
    };
    open::stage_edit(model, "change the order of the fallbacks".into(), edit);
    if model.status.is_none() {
        let cursor = &mut model.here_mut().cursors[0];
        cursor.at = cursor.at.saturating_add_signed(delta);
    }
}
