//! The Models tab: slots above, providers and their models below.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::super::action::Tab;
use super::super::model::{Model, Target};
use super::super::models::{KeyStatus, ProviderItem, Slot, SlotKind};
use super::super::text;
use super::super::theme;
use super::super::update::{is_provider, model_names, provider_here, slot_here};
use super::Frames;
use super::browse::put_help;
use super::draw::{piece, pieces, put, put_right, row_style, rule};
use crate::document::KeyPath;

/// Draw the tab.
pub fn draw(buffer: &mut Buffer, frames: Frames, model: &Model) {
    let body = frames.body;
    let pane = model.here().pane;
    if frames.compact {
        match pane {
            0 => slots(buffer, body, model),
            1 => providers(buffer, body, model),
            _ => names(buffer, body, model),
        }
    } else {
        // The slots keep their height, so that nothing jumps when the focus moves.
        let wanted = u16::try_from(model.derived.slots.len()).unwrap_or(u16::MAX);
        let top = wanted.min(body.height / 2).max(3);
        slots(
            buffer,
            Rect {
                height: top,
                ..body
            },
            model,
        );
        rule(buffer, body, body.y + top);
        let lower = Rect::new(body.x, body.y + top + 1, body.width, body.height - top - 1);
        let left = lower.width * 45 / 100;
        providers(
            buffer,
            Rect {
                width: left,
                ..lower
            },
            model,
        );
        for y in lower.y..lower.bottom() {
            put(buffer, lower.x + left, y, 1, "│", theme::DIM);
        }
        let right = Rect::new(
            lower.x + left + 1,
            lower.y,
            lower.width - left - 1,
            lower.height,
        );
        names(buffer, right, model);
    }
    put_help(buffer, frames, &help(model));
}

/// `12 of 31`, when the Models tab is searched.
pub fn search_count(model: &Model) -> Option<String> {
    (model.tab == Tab::Models).then(|| {
        let all = provider_here(model).map_or(0, |p| p.models.len());
        format!("{} of {all}", model_names(model).len() - 1)
    })
}

fn slot_target(slot: &Slot) -> Option<Target> {
    Some(Target::Config(match &slot.kind {
        SlotKind::Main => KeyPath::of(&["model"]),
        SlotKind::Fallback(_) => KeyPath::of(&["fallback_providers"]),
        SlotKind::AddFallback => return None,
        SlotKind::Auxiliary(task) => KeyPath::of(&["auxiliary", task]),
    }))
}

fn slots(buffer: &mut Buffer, area: Rect, model: &Model) {
    let cursor = model.here().cursors[0];
    let focus = model.here().pane == 0;
    let slots = &model.derived.slots;
    let width = usize::from(area.width);
    let label = if width < 60 { 12 } else { 20 };
    let status = if width < 60 { 0 } else { 20 };
    let provider = if width < 60 { 10 } else { 18 };
    let name = width.saturating_sub(3 + label + 1 + provider + 1 + status + 1);
    for (y, i) in (area.y..).zip(cursor.window(slots.len(), usize::from(area.height))) {
        let slot = &slots[i];
        let unsaved = slot_target(slot).is_some_and(|t| model.is_unsaved(&t));
        let empty = slot.provider.is_empty() && slot.model.is_empty();
        let (sign, sign_style) = if unsaved {
            (theme::SIGN_UNSAVED, theme::UNSAVED)
        } else if !empty {
            (theme::SIGN_SET, theme::ACCENT)
        } else {
            (" ", theme::DIM)
        };
        let mut line = vec![
            piece(" ", Style::new()),
            piece(sign, sign_style),
            piece(" ", Style::new()),
            piece(text::pad(&slot.label, label), Style::new()),
            piece(" ", Style::new()),
        ];
        if empty {
            line.push(piece(format!("({})", slot.follows), theme::DIM));
        } else {
            let model_name = if slot.model.is_empty() {
                "(its own choice)"
            } else {
                &slot.model
            };
            let at = if slot.provider.is_empty() {
                "auto"
            } else {
                &slot.provider
            };
            line.push(piece(
                text::pad(&text::fit_middle(model_name, name), name),
                Style::new(),
            ));
            line.push(piece(" ", Style::new()));
            line.push(piece(text::pad(at, provider), theme::DIM));
            if status > 0
                && let Some(item) = provider_of(model, at)
            {
                let (words, style) = key_words(&item.key);
                line.push(piece(" ", Style::new()));
                line.push(piece(text::pad(&words, status), style));
            }
        }
        pieces(buffer, area.x, y, area.width, &line);
        if i == cursor.at.min(slots.len().saturating_sub(1)) {
            let style = if focus {
                theme::CURSOR
            } else {
                theme::CURSOR_AWAY
            };
            row_style(buffer, area.x, y, area.width, style);
        }
    }
}

fn provider_of<'a>(model: &'a Model, id: &str) -> Option<&'a ProviderItem> {
    model.derived.providers.iter().find(|p| is_provider(p, id))
}

fn key_words(key: &KeyStatus) -> (String, Style) {
    match key {
        KeyStatus::Set(tail) if tail.is_empty() => (format!("key {}", theme::SIGN_OK), theme::GOOD),
        KeyStatus::Set(tail) => (format!("key {} …{tail}", theme::SIGN_OK), theme::GOOD),
        KeyStatus::Missing(_) => ("key missing".into(), theme::BAD),
        KeyStatus::Suppressed(_) => ("key ignored".into(), theme::BAD),
        KeyStatus::SignIn => ("sign-in".into(), theme::DIM),
        KeyStatus::NotNeeded => ("no key".into(), theme::DIM),
    }
}

fn providers(buffer: &mut Buffer, area: Rect, model: &Model) {
    let cursor = model.here().cursors[1];
    let focus = model.here().pane == 1;
    let items = &model.derived.providers;
    let width = usize::from(area.width);
    let status = 15.min(width / 3);
    let label = width.saturating_sub(2 + status + 1);
    for (y, i) in (area.y..).zip(cursor.window(items.len(), usize::from(area.height))) {
        let item = &items[i];
        let here = i == cursor.at.min(items.len().saturating_sub(1));
        let name = if item.own.is_some() {
            format!("{} (yours)", item.label)
        } else {
            item.label.clone()
        };
        let (words, style) = key_words(&item.key);
        let words = words
            .strip_prefix("key ")
            .map_or(words.clone(), str::to_owned);
        let line = vec![
            piece(if here { theme::SIGN_HERE } else { " " }, theme::ACCENT),
            piece(" ", Style::new()),
            piece(
                text::pad(&name, label),
                if here { theme::BOLD } else { Style::new() },
            ),
            piece(
                text::pad(&words, status),
                if item.usable() { style } else { theme::DIM },
            ),
        ];
        pieces(buffer, area.x, y, area.width, &line);
        if here && focus {
            row_style(buffer, area.x, y, area.width, theme::CURSOR);
        }
    }
}

fn names(buffer: &mut Buffer, area: Rect, model: &Model) {
    let cursor = model.here().cursors[2];
    let focus = model.here().pane == 2;
    let names = model_names(model);
    let now = slot_here(model)
        .map(|s| s.model.clone())
        .unwrap_or_default();
    for (y, i) in (area.y..).zip(cursor.window(names.len(), usize::from(area.height))) {
        let here = i == cursor.at.min(names.len().saturating_sub(1)) && focus;
        let other = i + 1 == names.len();
        let style = if other { theme::DIM } else { Style::new() };
        put(
            buffer,
            area.x,
            y,
            1,
            if here { theme::SIGN_HERE } else { " " },
            theme::ACCENT,
        );
        put(buffer, area.x + 2, y, area.width - 2, &names[i], style);
        if names[i] == now {
            put_right(
                buffer,
                Rect {
                    width: area.width - 1,
                    ..area
                },
                y,
                "now",
                theme::DIM,
            );
        }
        if here {
            row_style(buffer, area.x, y, area.width, theme::CURSOR);
        }
    }
}

fn help(model: &Model) -> Vec<(String, Style)> {
    let pane = model.here().pane;
    if pane == 0 {
        let Some(slot) = slot_here(model) else {
            return Vec::new();
        };
        let about = match &slot.kind {
            SlotKind::Main => "The model that answers. ⏎ chooses a provider, then a model.",
            SlotKind::Fallback(_) => {
                "Tried in this order when the main model fails. ⏎ changes, K and J move, x removes."
            }
            SlotKind::AddFallback => "⏎ adds a model that is tried when the others fail.",
            SlotKind::Auxiliary(_) => {
                "A side task. It follows the main model unless you choose one here; r lets it follow again."
            }
        };
        let mut out = vec![
            (
                format!("{}   {} {}", slot.label, slot.model, slot.provider)
                    .trim_end()
                    .to_owned(),
                theme::BOLD,
            ),
            (about.to_owned(), Style::new()),
        ];
        if let Some(item) = provider_of(model, &slot.provider)
            && let Some((text, style)) = trouble(item)
        {
            out.push((text, style));
        }
        return out;
    }
    let Some(item) = provider_here(model) else {
        return Vec::new();
    };
    let mut out = vec![(format!("{}   {}", item.label, item.id), theme::BOLD)];
    match item.info {
        Some(info) => {
            out.push((info.help.clone(), Style::new()));
            if let Some(url) = &info.url {
                out.push((url.clone(), theme::DIM));
            }
        }
        None => out.push((
            item.own.as_ref().map_or_else(String::new, |p| {
                format!("Your own endpoint, {p} in config.yaml")
            }),
            Style::new(),
        )),
    }
    if let Some(line) = trouble(item) {
        out.push(line);
    }
    out
}

fn trouble(item: &ProviderItem) -> Option<(String, Style)> {
    let text = match &item.key {
        KeyStatus::Missing(name) => format!("needs {name} in .env: 2 goes to the keys"),
        KeyStatus::Suppressed(name) => {
            format!("Hermes was told to ignore {name}; hermes auth on this machine uses it again")
        }
        KeyStatus::SignIn => {
            return Some((
                "sign in with hermes auth on this machine".into(),
                theme::DIM,
            ));
        }
        _ => return None,
    };
    Some((text, theme::BAD))
}
