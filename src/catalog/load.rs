//! The embedded files as the parts of the catalogue.
//!
//! Responsible for: building the look-up tables. `None` when a file does not have its shape.

use std::collections::HashMap;

use super::pattern::Segment;
use super::{
    Category, Group, KeyInfo, Keys, KeysMeta, Provider, Providers, ProvidersMeta, Setting,
    Settings, SettingsMeta, raw, tree,
};

pub(super) fn settings(text: &str) -> Option<Settings> {
    let file: raw::Sectioned<raw::SettingsMeta, raw::Setting> = toml::from_str(text).ok()?;
    let mut list = Vec::new();
    for (section, entries) in file.sections {
        for (path, raw) in entries.0 {
            list.push(Setting::from_raw(path, &section, raw)?);
        }
    }
    let mut tree = tree::Tree::new();
    let mut others = tree::Tree::new();
    for (at, setting) in list.iter().enumerate() {
        tree.add(&setting.pattern, at);
        for name in &setting.names {
            let mut pattern = setting.pattern.clone();
            if let Some(last) = pattern.0.last_mut() {
                *last = Segment::Name(name.clone());
            }
            others.add(&pattern, at);
        }
    }
    let mut roots = HashMap::new();
    for setting in &list {
        if let [Segment::Name(root), _, ..] = &setting.pattern.0[..] {
            let section = || setting.section.clone();
            roots.entry(root.clone()).or_insert_with(section);
        }
    }
    Some(Settings {
        roots,
        sections: list.iter().map(|s| s.section.clone()).collect(),
        list,
        tree,
        others,
        meta: SettingsMeta {
            hermes: file.meta.hermes,
            config_version: file.meta.config_version,
            hook_events: file.meta.hook_events,
            toolsets: file.meta.toolsets,
            platforms: file.meta.platforms,
        },
    })
}

pub(super) fn keys(text: &str) -> Option<Keys> {
    let file: raw::Sectioned<raw::KeysMeta, raw::Key> = toml::from_str(text).ok()?;
    let mut list = Vec::new();
    for (category, entries) in file.sections {
        let category = Category::from_name(&category)?;
        for (name, raw) in entries.0 {
            list.push(KeyInfo::from_raw(name, category, raw)?);
        }
    }
    let by_name = list
        .iter()
        .enumerate()
        .map(|(at, key)| (key.name.clone(), at))
        .collect();
    let meta = file.meta;
    Some(Keys {
        list,
        by_name,
        meta: KeysMeta {
            denied: meta.denied,
            denied_later: meta.denied_later,
            placeholders: meta.placeholders,
            min_length: meta.min_length,
            credential_endings: meta.credential_endings,
            secret_starts: meta
                .secret_starts
                .into_iter()
                .map(|s| (s.start, s.more, s.also))
                .collect(),
            probes: meta.probe.0,
            terminal: meta.terminal.0,
        },
    })
}

pub(super) fn providers(text: &str) -> Option<Providers> {
    let file: raw::Providers = toml::from_str(text).ok()?;
    Some(Providers {
        list: file
            .provider
            .0
            .into_iter()
            .map(|(id, raw)| Provider::from_raw(id, raw))
            .collect::<Option<_>>()?,
        groups: file
            .group
            .0
            .into_iter()
            .map(|(id, raw)| Group {
                id,
                label: raw.label,
                members: raw.members,
            })
            .collect(),
        meta: ProvidersMeta {
            auto_order: file.meta.auto_order,
            kimi_coding_url: file.meta.kimi_coding_url,
        },
    })
}
