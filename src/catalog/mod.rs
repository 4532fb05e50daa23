//! What Hermes Agent knows: every setting, every variable, every model provider.
//!
//! Responsible for: the facts of `assets/*.toml`, embedded and parsed once each on first use, and
//! look-ups in them: which setting a path means, what a value may be, which name was meant, what
//! is a secret and how it is hidden, what picking a model writes.
//! Not responsible for: any file of the user, and what is in force ([`crate::settings`]).

mod closest;
mod judge;
mod key;
mod load;
mod pattern;
mod pick;
mod provider;
mod raw;
mod secret;
mod setting;
mod tree;

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

pub use judge::{bool_word, is_env_name, is_template};
pub use key::{Category, Format, KeyInfo, Source};
pub use pattern::{Pattern, Segment};
pub use pick::{EndpointKey, ModelPick, PickError, PickPlan, model_edits};
pub use provider::{Group, Provider, SignIn, WritesMode};
pub use secret::{fingerprint, looks_masked, mask, redact};
pub use setting::{Apply, Fault, Kind, Parsed, Setting, Severity, word};

use crate::document::{KeyPath, Step};

/// Which file a key belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target {
    /// `.env`.
    Env,
    /// `config.yaml`.
    Config,
}

/// The facts. Each part is parsed when it is first asked for, about 5 ms for all of them.
#[derive(Debug, Default)]
pub struct Catalog {
    settings: OnceLock<Settings>,
    keys: OnceLock<Keys>,
    providers: OnceLock<Providers>,
}

#[derive(Debug)]
struct Settings {
    list: Vec<Setting>,
    /// All paths and patterns.
    tree: tree::Tree,
    /// The same with the other names of their last steps.
    others: tree::Tree,
    /// Section of the first setting below each root name.
    roots: HashMap<String, String>,
    sections: HashSet<String>,
    meta: SettingsMeta,
}

#[derive(Debug)]
struct Keys {
    list: Vec<KeyInfo>,
    by_name: HashMap<String, usize>,
    meta: KeysMeta,
}

#[derive(Debug)]
struct Providers {
    list: Vec<Provider>,
    groups: Vec<Group>,
    meta: ProvidersMeta,
}

/// Facts that belong to no single setting.
#[derive(Debug)]
pub struct SettingsMeta {
    /// The version of Hermes the facts were taken from.
    pub hermes: String,
    /// Its number for `_config_version`.
    pub config_version: i64,
    /// Events that `hooks.<event>` may name.
    pub hook_events: Vec<String>,
    /// Tool groups.
    pub toolsets: Vec<String>,
    /// Chat platforms.
    pub platforms: Vec<String>,
}

/// Facts that belong to no single variable.
#[derive(Debug)]
pub struct KeysMeta {
    /// Names Hermes refuses to write.
    pub denied: Vec<String>,
    /// Names newer versions refuse as well.
    pub denied_later: Vec<String>,
    /// Values that count as "not set", in lower case.
    pub placeholders: Vec<String>,
    /// A shorter key counts as "not set".
    pub min_length: usize,
    /// Endings of credentials.
    pub credential_endings: Vec<String>,
    /// How secrets begin: text, least length of the rest, characters of it besides letters and digits.
    pub secret_starts: Vec<(String, usize, String)>,
    /// Variable and address that tells whether its key works.
    pub probes: Vec<(String, String)>,
    /// Name below `terminal` and the variable it is copied into.
    pub terminal: Vec<(String, String)>,
}

/// Facts that belong to no single provider.
#[derive(Debug)]
pub struct ProvidersMeta {
    /// How a provider is found when none is named, in words.
    pub auto_order: Vec<String>,
    /// The address for keys that begin with `sk-kimi-`.
    pub kimi_coding_url: String,
}

/// The facts, once per process.
pub fn catalog() -> &'static Catalog {
    static CATALOG: OnceLock<Catalog> = OnceLock::new();
    CATALOG.get_or_init(Catalog::default)
}

/// Where a key without a flag goes: an upper-case name without a dot that the key catalogue knows
/// or that ends like a credential goes to `.env`, everything else to `config.yaml`.
pub fn route(key: &str) -> Target {
    const ENDINGS: [&str; 5] = ["_API_KEY", "_TOKEN", "_SECRET", "_KEY", "_PASSWORD"];
    let name = is_env_name(key) && !key.bytes().any(|b| b.is_ascii_lowercase());
    if name && (ENDINGS.iter().any(|e| key.ends_with(e)) || catalog().key(key).is_some()) {
        Target::Env
    } else {
        Target::Config
    }
}

/// The embedded files are part of the program; a test proves that they load.
const EMBEDDED: &str = "an embedded catalogue file loads";

impl Catalog {
    fn settings_part(&self) -> &Settings {
        self.settings.get_or_init(|| {
            load::settings(include_str!("../../assets/settings.toml")).expect(EMBEDDED)
        })
    }

    fn keys_part(&self) -> &Keys {
        self.keys
            .get_or_init(|| load::keys(include_str!("../../assets/keys.toml")).expect(EMBEDDED))
    }

    fn providers_part(&self) -> &Providers {
        self.providers.get_or_init(|| {
            load::providers(include_str!("../../assets/providers.toml")).expect(EMBEDDED)
        })
    }

    /// Every setting and pattern, grouped by section, in the order of the screen.
    pub fn settings(&self) -> &[Setting] {
        &self.settings_part().list
    }

    /// Facts that belong to no single setting.
    pub fn settings_meta(&self) -> &SettingsMeta {
        &self.settings_part().meta
    }

    /// Every variable, by category.
    pub fn keys(&self) -> &[KeyInfo] {
        &self.keys_part().list
    }

    /// Facts that belong to no single variable.
    pub fn keys_meta(&self) -> &KeysMeta {
        &self.keys_part().meta
    }

    /// Every provider, in the order of `hermes model`.
    pub fn providers(&self) -> &[Provider] {
        &self.providers_part().list
    }

    /// Families of providers.
    pub fn groups(&self) -> &[Group] {
        &self.providers_part().groups
    }

    /// Facts that belong to no single provider.
    pub fn providers_meta(&self) -> &ProvidersMeta {
        &self.providers_part().meta
    }

    /// The setting a path means: the exact one, or the most particular pattern it is an instance of.
    pub fn setting(&self, path: &KeyPath) -> Option<&Setting> {
        let part = self.settings_part();
        let root = |name: &str| self.is_platform(name);
        part.tree
            .find(&path.0, &root)
            .or_else(|| part.others.find(&path.0, &root))
            .and_then(|at| part.list.get(at))
    }

    /// Whether known settings lie below `path`.
    pub fn has_children(&self, path: &KeyPath) -> bool {
        self.settings_part()
            .tree
            .has_children(&path.0, &|name| self.is_platform(name))
    }

    /// The section that settings below this root name belong to.
    pub fn section_of_root(&self, root: &str) -> Option<&str> {
        self.settings_part().roots.get(root).map(String::as_str)
    }

    /// Whether the screen has a section of this name.
    pub fn is_section(&self, name: &str) -> bool {
        self.settings_part().sections.contains(name)
    }

    /// Whether the name is a chat platform.
    pub fn is_platform(&self, name: &str) -> bool {
        self.settings_part()
            .meta
            .platforms
            .iter()
            .any(|p| p == name)
    }

    /// The known setting that was probably meant by a path that is not known.
    pub fn closest_setting(&self, text: &str) -> Option<String> {
        let concrete = || self.settings().iter().filter(|s| s.is_concrete());
        if let Some(near) = closest::closest(text, concrete().map(|s| s.path.as_str())) {
            return Some(near.to_owned());
        }
        let steps = KeyPath::split(text);
        // The same pattern with the user's own names in its open steps.
        let filled: Vec<String> = self
            .settings()
            .iter()
            .filter(|s| !s.is_concrete() && s.pattern.0.len() == steps.len())
            .filter_map(|s| self.fill(&s.pattern, &steps))
            .collect();
        if let Some(near) = closest::closest(text, filled.iter().map(String::as_str)) {
            return Some(near.to_owned());
        }
        // What is shown on one platform is set below `display`.
        if let [platforms, platform, name] = &steps[..]
            && platforms == "platforms"
        {
            let path = KeyPath::of(&["display", "platforms", platform, name]);
            return self.setting(&path).map(|_| path.to_string());
        }
        // Right name, wrong section: only when one setting alone has that name.
        let leaf = steps.last().filter(|_| steps.len() <= 2)?;
        let mut same = concrete().filter(|s| {
            s.path.rsplit('.').next() == Some(leaf.as_str()) && !s.deprecated && s.path != text
        });
        match (same.next(), same.next()) {
            (Some(only), None) => Some(only.path.clone()),
            _ => None,
        }
    }

    fn fill(&self, pattern: &Pattern, steps: &[String]) -> Option<String> {
        let mut out = Vec::new();
        for (i, (segment, step)) in pattern.0.iter().zip(steps).enumerate() {
            out.push(match segment {
                Segment::Name(name) => KeyPath::escape(name),
                Segment::Any(_) if i == 0 && !self.is_platform(step) => return None,
                Segment::Item if !step.bytes().all(|b| b.is_ascii_digit()) => return None,
                Segment::Any(_) | Segment::Item => KeyPath::escape(step),
            });
        }
        Some(out.join("."))
    }

    /// The variable with this name.
    pub fn key(&self, name: &str) -> Option<&KeyInfo> {
        let part = self.keys_part();
        part.by_name.get(name).and_then(|at| part.list.get(*at))
    }

    /// The known variable that was probably meant.
    pub fn closest_key(&self, name: &str) -> Option<&str> {
        closest::closest(name, self.keys().iter().map(|k| k.name.as_str()))
    }

    /// The provider with this id or alias. `custom:<name>` is an endpoint of the user's own and
    /// not a provider of the catalogue.
    pub fn provider(&self, id_or_alias: &str) -> Option<&Provider> {
        let want = id_or_alias.trim();
        let is = |name: &String| name.eq_ignore_ascii_case(want);
        let list = self.providers();
        list.iter()
            .find(|p| is(&p.id))
            .or_else(|| list.iter().find(|p| p.aliases.iter().any(is)))
            .or_else(|| list.iter().find(|p| p.loose_aliases.iter().any(is)))
    }

    /// Whether the value of a variable is a secret: as the catalogue says, else by its ending.
    pub fn is_secret_name(&self, name: &str) -> bool {
        if let Some(info) = self.key(name) {
            return info.secret;
        }
        let upper = name.to_ascii_uppercase();
        secret::NAME_ENDINGS.iter().any(|e| upper.ends_with(e))
    }

    /// Whether Hermes strips what is not ASCII from the value of a variable.
    pub fn is_credential_name(&self, name: &str) -> bool {
        self.keys_meta()
            .credential_endings
            .iter()
            .any(|e| name.ends_with(e.as_str()))
    }

    /// Whether Hermes refuses to write a variable.
    pub fn is_denied(&self, name: &str) -> bool {
        self.keys_meta().denied.iter().any(|d| d == name)
    }

    /// Whether Hermes' repair pass recognises the name inside a line of `.env`.
    pub fn is_known_env(&self, name: &str) -> bool {
        self.key(name).is_some_and(KeyInfo::repair_knows)
    }

    /// Whether a value counts as "not set" although there is one.
    pub fn is_placeholder(&self, value: &str) -> bool {
        let lower = value.trim().to_lowercase();
        !lower.is_empty() && self.keys_meta().placeholders.contains(&lower)
    }

    /// Whether what stands at a path of `config.yaml` is a secret.
    pub fn is_secret_path(&self, path: &KeyPath) -> bool {
        if self.setting(path).is_some_and(|s| s.secret) {
            return true;
        }
        // Values below a map whose values are secrets, at any depth.
        let below = (1..path.0.len()).any(|n| {
            self.setting(&KeyPath(path.0[..n].to_vec()))
                .is_some_and(|s| s.secret || s.secret_values)
        });
        below
            || path.0.iter().any(|step| match step {
                Step::Key(name) => self.setting(path).is_none() && secret::is_secret_field(name),
                _ => false,
            })
    }
}

#[cfg(test)]
mod tests;
