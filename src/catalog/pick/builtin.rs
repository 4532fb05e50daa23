//! Picking a model of a provider that Hermes knows.

use super::{ModelPick, PickError, Work, check_url, text};
use crate::catalog::catalog;
use crate::catalog::provider::{Provider, WritesMode};
use crate::document::Value;

impl Work<'_> {
    pub(super) fn provider(&mut self, p: &Provider, pick: &ModelPick<'_>) -> Result<(), PickError> {
        let model = own_slug(&p.id, pick.model.trim());
        let url = if p.keeps_url {
            Some(self.address(p, pick)?)
        } else {
            None
        };
        if let (Some(key), Some(name)) = (pick.api_key, p.key_env.first()) {
            self.plan.env.push((name.clone(), key.to_owned()));
            if p.id == "anthropic" {
                // A token, also one from the shell, would be used before the key.
                self.plan
                    .env
                    .push(("ANTHROPIC_TOKEN".into(), String::new()));
            }
        }
        self.set("default", text(model));
        self.set("provider", text(&p.id));
        match url {
            Some(url) => self.set("base_url", text(&url)),
            None => self.remove("base_url"),
        }
        match p.writes_mode {
            WritesMode::Removed => self.remove("api_mode"),
            WritesMode::ChatCompletions => self.set("api_mode", text("chat_completions")),
            WritesMode::ByModel => self.set("api_mode", text(mode_of(&p.id, model))),
            WritesMode::Chosen => self.set(
                "api_mode",
                text(pick.api_mode.unwrap_or("chat_completions")),
            ),
        }
        self.remove("api_key");
        self.remove("api");
        if p.id == "azure-foundry" {
            self.set("auth_mode", text("api_key"));
            self.remove("entra");
        }
        self.write_model();
        self.cloud(p, pick);
        if p.signs_in {
            self.plan.notes.push(format!(
                "{} is used after signing in with `hermes auth`; the sign-in is not part of these files",
                p.label
            ));
        }
        Ok(())
    }

    /// The address that is written, and the variables that go with it.
    fn address(&mut self, p: &Provider, pick: &ModelPick<'_>) -> Result<String, PickError> {
        if let Some(typed) = pick.base_url.map(str::trim).filter(|u| !u.is_empty()) {
            check_url(typed, &p.label)?;
            let Some(name) = &p.url_env else {
                return Err(PickError::FixedAddress(p.label.clone()));
            };
            if p.id != "azure-foundry" {
                self.plan.env.push((name.clone(), typed.to_owned()));
            }
            return Ok(typed.to_owned());
        }
        let own = p.url.clone();
        match p.id.as_str() {
            // Hermes writes its built-in address for these whatever the variables say.
            "openrouter" | "copilot" => own.ok_or_else(|| PickError::NeedsAddress(p.label.clone())),
            _ if p.signs_in => own.ok_or_else(|| PickError::NeedsAddress(p.label.clone())),
            "kimi-coding" => {
                if let Some(name) = p.url_env.as_deref().filter(|n| self.has_env(n)) {
                    // An address of one's own would keep the key from choosing the right one.
                    self.plan.env.push((name.to_owned(), String::new()));
                }
                let typed = pick.api_key.map(str::to_owned);
                let key = typed.or_else(|| p.key_env.iter().find_map(|n| (self.env)(n)));
                let coding = key.is_some_and(|k| k.starts_with("sk-kimi-"));
                if coding {
                    Ok(catalog().providers_meta().kimi_coding_url.clone())
                } else {
                    own.ok_or_else(|| PickError::NeedsAddress(p.label.clone()))
                }
            }
            "bedrock" => {
                let region = self.region(pick, "bedrock", &["AWS_REGION"], "us-east-1");
                Ok(format!("https://bedrock-runtime.{region}.amazonaws.com"))
            }
            _ => {
                let variable = p.url_env.as_deref().and_then(self.env);
                let same = self.model_field("provider").and_then(Value::as_str) == Some(&p.id);
                let kept = self
                    .model_field("base_url")
                    .and_then(Value::as_str)
                    .filter(|_| same);
                variable
                    .filter(|u| !u.trim().is_empty())
                    .or_else(|| kept.filter(|u| !u.is_empty()).map(str::to_owned))
                    .or(own)
                    .ok_or_else(|| PickError::NeedsAddress(p.label.clone()))
            }
        }
    }

    /// Settings beside `model` that two cloud providers keep.
    fn cloud(&mut self, p: &Provider, pick: &ModelPick<'_>) {
        match p.id.as_str() {
            "bedrock" => {
                let region = self.region(pick, "bedrock", &["AWS_REGION"], "us-east-1");
                self.set_path(&["bedrock", "region"], text(&region));
            }
            "vertex" => {
                let project = pick
                    .project
                    .map(str::to_owned)
                    .or_else(|| self.string(&["vertex", "project_id"]))
                    .unwrap_or_default();
                let region = self.region(pick, "vertex", &[], "global");
                // What equals the default and is not in the file stays out of it.
                if !project.is_empty() {
                    self.set_path(&["vertex", "project_id"], text(&project));
                }
                if region != "global" || self.string(&["vertex", "region"]).is_some() {
                    self.set_path(&["vertex", "region"], text(&region));
                }
            }
            "azure-foundry" => {
                for name in ["OPENAI_BASE_URL", "OPENAI_API_KEY"] {
                    if self.has_env(name) {
                        // Helper tasks would use them instead of the new endpoint.
                        self.plan.env.push((name.to_owned(), String::new()));
                        self.plan.notes.push(format!(
                            "{name} is emptied, as hermes does, because helper tasks would use it instead"
                        ));
                    }
                }
            }
            _ => {}
        }
    }

    fn region(&self, pick: &ModelPick<'_>, section: &str, vars: &[&str], last: &str) -> String {
        pick.region
            .map(str::to_owned)
            .or_else(|| self.string(&[section, "region"]))
            .filter(|r| !r.is_empty())
            .or_else(|| vars.iter().find_map(|v| (self.env)(v)))
            .filter(|r| !r.is_empty())
            .unwrap_or_else(|| last.to_owned())
    }
}

/// The wire protocol of a model at a gateway that serves several.
fn mode_of(provider: &str, model: &str) -> &'static str {
    let model = model.to_ascii_lowercase();
    let is = |start: &str| model.starts_with(start);
    match provider {
        "opencode-go" if is("minimax-") || is("qwen") => "anthropic_messages",
        "opencode-zen" if is("claude-") || is("qwen") => "anthropic_messages",
        "opencode-zen" if is("gpt-") => "codex_responses",
        "copilot" if !is("gpt-5-mini") && gpt_generation(&model).is_some_and(|n| n >= 5) => {
            "codex_responses"
        }
        _ => "chat_completions",
    }
}

/// The number in `gpt-5.4`, without its fraction.
fn gpt_generation(model: &str) -> Option<u32> {
    let rest = model.strip_prefix("gpt-")?;
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// The id without the gateway's own name in front (`opencode-zen/kimi-k3`).
fn own_slug<'m>(provider: &str, model: &'m str) -> &'m str {
    if !matches!(provider, "opencode-zen" | "opencode-go") {
        return model;
    }
    match model.split_once('/') {
        Some((head, rest)) if head.eq_ignore_ascii_case(provider) => rest,
        _ => model,
    }
}
