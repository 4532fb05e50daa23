//! One model provider.
//!
//! Responsible for: what is known about it. What picking one of its models writes is [`super::pick`].

use super::raw;

/// How one signs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SignIn {
    /// With a key in `.env`.
    ApiKey,
    /// With an account, through `hermes`.
    OAuth,
    /// A server on this machine; a key only if it asks for one.
    Local,
    /// With the credentials of a cloud account.
    Cloud,
    /// A helper program does it.
    Process,
    /// Nothing to sign in to.
    Virtual,
    /// An endpoint of the user's own; a key only if it asks for one.
    Custom,
}

/// What happens to `model.api_mode` when one of the provider's models is picked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WritesMode {
    /// It is removed; Hermes detects it.
    Removed,
    /// It is set to `chat_completions`.
    ChatCompletions,
    /// It depends on the model.
    ByModel,
    /// The user chooses.
    Chosen,
}

/// One provider.
#[derive(Debug, Clone)]
pub struct Provider {
    /// The id to write.
    pub id: String,
    /// Its name.
    pub label: String,
    /// What it is, in one line.
    pub help: String,
    /// How one signs in.
    pub sign_in: SignIn,
    /// Variables that may hold the key; the first is the one to write.
    pub key_env: Vec<String>,
    /// Variable that overrides the address.
    pub url_env: Option<String>,
    /// The built-in address.
    pub url: Option<String>,
    /// Wire protocol at run time.
    pub api_mode: String,
    /// Where to get a key.
    pub signup: Option<String>,
    /// Other names that are read.
    pub aliases: Vec<String>,
    /// Names that only the model catalogue of Hermes reads.
    pub loose_aliases: Vec<String>,
    /// Picking a model sets `model.base_url` (otherwise it is removed).
    pub keeps_url: bool,
    /// What picking a model does to `model.api_mode`.
    pub writes_mode: WritesMode,
    /// More settings that are asked for and written.
    pub also_writes: Vec<String>,
    /// Signing in makes it the active provider in `auth.json`, which only `hermes` does.
    pub signs_in: bool,
    /// What picking writes was seen in a run of the real program.
    pub verified: bool,
    /// The model proposed first.
    pub model: Option<String>,
    /// The model used for helper tasks when nothing is set.
    pub aux_model: Option<String>,
    /// The curated models; empty where only a live list exists.
    pub models: Vec<String>,
    /// Something to know.
    pub note: Option<String>,
}

impl Provider {
    pub(super) fn from_raw(id: String, raw: raw::Provider) -> Option<Self> {
        Some(Self {
            id,
            label: raw.label,
            help: raw.help,
            sign_in: match raw.kind.as_deref() {
                None => SignIn::ApiKey,
                Some("oauth") => SignIn::OAuth,
                Some("local") => SignIn::Local,
                Some("cloud") => SignIn::Cloud,
                Some("process") => SignIn::Process,
                Some("virtual") => SignIn::Virtual,
                Some("custom") => SignIn::Custom,
                Some(_) => return None,
            },
            key_env: raw.key_env,
            url_env: raw.url_env,
            url: raw.url,
            api_mode: raw
                .api_mode
                .unwrap_or_else(|| "chat_completions".to_owned()),
            signup: raw.signup,
            aliases: raw.aliases,
            loose_aliases: raw.loose_aliases,
            keeps_url: raw.keeps_url.unwrap_or(true),
            writes_mode: match raw.writes_mode.as_deref() {
                None => WritesMode::Removed,
                Some("chat_completions") => WritesMode::ChatCompletions,
                Some("by_model") => WritesMode::ByModel,
                Some("chosen") => WritesMode::Chosen,
                Some(_) => return None,
            },
            also_writes: raw.also_writes,
            signs_in: raw.signs_in,
            verified: raw.verified,
            model: raw.model,
            aux_model: raw.aux_model,
            models: raw.models,
            note: raw.note,
        })
    }

    /// Whether a key in `.env` is the way in, so that a missing one is a problem.
    pub fn needs_key(&self) -> bool {
        self.sign_in == SignIn::ApiKey && !self.key_env.is_empty()
    }
}

/// Providers shown together.
#[derive(Debug, Clone)]
pub struct Group {
    /// For the code.
    pub id: String,
    /// For people.
    pub label: String,
    /// Provider ids.
    pub members: Vec<String>,
}
