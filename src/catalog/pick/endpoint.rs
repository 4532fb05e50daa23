//! Picking a model at an endpoint of the user's own.

use super::{ModelPick, PickError, Work, check_url, field, index, map, text};
use crate::catalog::is_template;
use crate::document::{Change, KeyPath, Step, Value};

impl Work<'_> {
    pub(super) fn custom(&mut self, pick: &ModelPick<'_>) -> Result<(), PickError> {
        const LABEL: &str = "the custom endpoint";
        let url = pick.base_url.map(str::trim).unwrap_or_default();
        if url.is_empty() {
            return Err(PickError::NeedsAddress(LABEL.to_owned()));
        }
        if !is_template(url) {
            check_url(url, LABEL)?;
        }
        self.endpoint_model(
            pick.model.trim(),
            url,
            pick.api_key.map(text),
            pick.api_mode,
        );
        self.write_model();
        self.list_endpoint(pick, url);
        Ok(())
    }

    /// `model.*` for an endpoint that is written out.
    fn endpoint_model(&mut self, model: &str, url: &str, key: Option<Value>, mode: Option<&str>) {
        let moved = self.model_field("base_url").and_then(Value::as_str) != Some(url);
        self.set("default", text(model));
        self.set("provider", text("custom"));
        self.set("base_url", text(url));
        match mode.filter(|m| !m.is_empty()) {
            Some(mode) => self.set("api_mode", text(mode)),
            None => self.remove("api_mode"),
        }
        match key {
            Some(key) => self.set("api_key", key),
            // Hermes leaves the key of the old endpoint in place, and would send it to the new one.
            None if moved => self.remove("api_key"),
            None => {}
        }
    }

    /// Update the entry of `custom_providers` with this address, or add one.
    fn list_endpoint(&mut self, pick: &ModelPick<'_>, url: &str) {
        let root = KeyPath::of(&["custom_providers"]);
        let bare = |u: &str| u.trim_end_matches('/').to_owned();
        let entries = match field(self.config, "custom_providers") {
            Some(Value::List(entries)) => entries.as_slice(),
            _ => &[],
        };
        let known = entries.iter().position(|e| {
            field(e, "base_url")
                .and_then(Value::as_str)
                .is_some_and(|u| bare(u) == bare(url))
        });
        let window = pick
            .context_length
            .map(|n| map(vec![("context_length", Value::Int(n))]));
        if let Some(at) = known {
            self.update_listed(at, pick.model.trim(), pick.api_mode);
            if let Some(window) = window {
                let path = root
                    .child(index(at))
                    .child(Step::Key("models".into()))
                    .child(Step::Key(pick.model.trim().into()));
                self.plan.config.push((path, Change::Set(window)));
            }
            return;
        }
        let name = pick.name.map_or_else(|| endpoint_name(url), str::to_owned);
        let mut entry = vec![("name", text(&name)), ("base_url", text(url))];
        if let Some(key) = pick.api_key {
            entry.push(("api_key", text(key)));
        }
        entry.push(("model", text(pick.model.trim())));
        if let Some(mode) = pick.api_mode.filter(|m| !m.is_empty()) {
            entry.push(("api_mode", text(mode)));
        }
        let mut entry = map(entry);
        if let (Some(window), Value::Map(fields)) = (window, &mut entry) {
            let models = Value::Map(vec![(text(pick.model.trim()), window)]);
            fields.push((text("models"), models));
        }
        let change = match field(self.config, "custom_providers") {
            Some(Value::List(list)) if !list.is_empty() => Change::Append(entry),
            _ => Change::Set(Value::List(vec![entry])),
        };
        self.plan.config.push((root, change));
    }

    fn update_listed(&mut self, at: usize, model: &str, mode: Option<&str>) {
        let entry = match field(self.config, "custom_providers") {
            Some(Value::List(entries)) => entries.get(at),
            _ => None,
        };
        let path = |name: &str| {
            KeyPath::of(&["custom_providers"])
                .child(index(at))
                .child(Step::Key(name.to_owned()))
        };
        let has = |name: &str| entry.and_then(|e| field(e, name));
        if has("model").and_then(Value::as_str) != Some(model) {
            self.plan
                .config
                .push((path("model"), Change::Set(text(model))));
        }
        match mode.filter(|m| !m.is_empty()) {
            Some(mode) if has("api_mode").and_then(Value::as_str) != Some(mode) => {
                self.plan
                    .config
                    .push((path("api_mode"), Change::Set(text(mode))));
            }
            None if has("api_mode").is_some() => {
                self.plan.config.push((path("api_mode"), Change::Remove));
            }
            _ => {}
        }
    }

    pub(super) fn listed(&mut self, at: usize, pick: &ModelPick<'_>) -> Result<(), PickError> {
        let missing = || PickError::NoEndpoint(format!("custom_providers.{at}"));
        let entry = match field(self.config, "custom_providers") {
            Some(Value::List(entries)) => entries.get(at).ok_or_else(missing)?,
            _ => return Err(missing()),
        };
        let string = |name: &str| {
            field(entry, name)
                .and_then(Value::as_str)
                .map(str::trim)
                .filter(|s| !s.is_empty())
                .map(str::to_owned)
        };
        let url = string("base_url").ok_or_else(|| {
            PickError::NeedsAddress(string("name").unwrap_or_else(|| "the endpoint".into()))
        })?;
        let key =
            string("api_key").or_else(|| string("key_env").map(|name| format!("${{{name}}}")));
        let mode = string("api_mode");
        self.endpoint_model(
            pick.model.trim(),
            &url,
            key.as_deref().map(text),
            mode.as_deref(),
        );
        self.write_model();
        self.update_listed(at, pick.model.trim(), mode.as_deref());
        Ok(())
    }

    pub(super) fn named(&mut self, key: &str, pick: &ModelPick<'_>) -> Result<(), PickError> {
        let entry = field(self.config, "providers")
            .and_then(|p| field(p, key))
            .filter(|e| matches!(e, Value::Map(_)))
            .ok_or_else(|| PickError::NoEndpoint(format!("providers.{}", KeyPath::escape(key))))?;
        let mode = ["api_mode", "transport", "apiMode"]
            .iter()
            .find_map(|n| field(entry, n))
            .and_then(Value::as_str)
            .filter(|m| !m.is_empty());
        let id = key.trim().to_lowercase().replace(' ', "-");
        self.set("default", text(pick.model.trim()));
        self.set("provider", text(&format!("custom:{id}")));
        self.remove("base_url");
        self.remove("api_key");
        match mode {
            Some(mode) => self.set("api_mode", text(mode)),
            None => self.remove("api_mode"),
        }
        self.write_model();
        self.set_path(
            &["providers", key, "default_model"],
            text(pick.model.trim()),
        );
        Ok(())
    }
}

/// A name for an endpoint nobody named: its host.
fn endpoint_name(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split('/').next().unwrap_or(rest);
    if host.contains("localhost") || host.contains("127.0.0.1") {
        return format!("Local ({host})");
    }
    if host.to_lowercase().contains("runpod") {
        return format!("RunPod ({host})");
    }
    let mut chars = host.chars();
    chars.next().map_or_else(String::new, |first| {
        first
            .to_uppercase()
            .chain(chars.flat_map(char::to_lowercase))
            .collect()
    })
}
