//! What floats above the tabs: editors, lists of choices, lists and maps, help, questions.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::super::keymap::{self, Context};
use super::super::model::{Choice, ChoiceFor, Editor, Items, Layer, Model, Target, text_of};
use super::super::text;
use super::super::theme;
use super::super::update::{child, filtered, shown_value};
use super::draw::{Line, boxed, centered, lines, piece, put, put_right, row_style};
use super::hints;
use crate::catalog;
use crate::document::{KeyPath, Value};
use crate::settings;

/// Draw one layer; returns where the terminal's cursor goes.
pub fn draw(
    buffer: &mut Buffer,
    area: Rect,
    model: &Model,
    layer: &mut Layer,
) -> Option<(u16, u16)> {
    match layer {
        Layer::Editor(editor) => Some(field(buffer, area, model, editor)),
        Layer::Choice(choice) => choices(buffer, area, model, choice),
        Layer::Items(items) => {
            list(buffer, area, model, items);
            None
        }
        Layer::Help { filter, scroll } => Some(help(buffer, area, model, filter, scroll)),
        Layer::Page {
            title,
            lines,
            scroll,
        } => {
            let content: Vec<Line> = lines
                .iter()
                .flat_map(|l| text::wrap(l, usize::from(area.width) - 4, 2))
                .map(|l| vec![piece(l, Style::new())])
                .collect();
            *scroll = page(buffer, area, title, &content, Context::Receipt, *scroll);
            None
        }
        Layer::ConfirmQuit => {
            let mut content = sentence(
                area,
                &format!(
                    "{} would be lost.",
                    text::count(model.unsaved.len(), "unsaved change")
                ),
            );
            for target in model.unsaved.iter().take(6) {
                content.push(vec![piece(
                    format!("{} {}", theme::SIGN_UNSAVED, target.key()),
                    theme::UNSAVED,
                )]);
            }
            if model.unsaved.len() > 6 {
                content.push(vec![piece(
                    format!("  and {} more", model.unsaved.len() - 6),
                    theme::DIM,
                )]);
            }
            page(
                buffer,
                area,
                "Leave without saving?",
                &content,
                Context::Confirm,
                0,
            );
            None
        }
        Layer::Draft(log) => {
            let mut content = sentence(
                area,
                "An earlier session ended before these changes were saved:",
            );
            for step in log.steps().iter().take(8) {
                content.push(vec![piece(
                    format!("{} {}", theme::SIGN_UNSAVED, step.label),
                    theme::UNSAVED,
                )]);
            }
            if log.steps().len() > 8 {
                content.push(vec![piece(
                    format!("  and {} more", log.steps().len() - 8),
                    theme::DIM,
                )]);
            }
            page(
                buffer,
                area,
                "Unsaved changes were kept",
                &content,
                Context::Draft,
                0,
            );
            None
        }
        Layer::Welcome => {
            let home = &model.session.home;
            let mut content = sentence(
                area,
                &format!("There is no Hermes home at {}.", model.shown_home()),
            );
            content.extend(sentence(
                area,
                &format!("It is the one that hermes would use: {}.", home.origin),
            ));
            content.extend(sentence(
                area,
                "Create it with an empty config.yaml and .env, readable by you alone? \
                 `hermes-tui --demo` shows the editor on a throw-away sample instead.",
            ));
            page(
                buffer,
                area,
                "No Hermes home yet",
                &content,
                Context::Welcome,
                0,
            );
            None
        }
        Layer::Review { .. } | Layer::Receipt { .. } => None,
    }
}

fn sentence(area: Rect, content: &str) -> Vec<Line> {
    let width = usize::from(area.width).saturating_sub(8).min(68);
    text::wrap(content, width, 0)
        .into_iter()
        .map(|l| vec![piece(l, Style::new())])
        .collect()
}

/// A box in the middle around lines of text; returns the scroll that was possible.
fn page(
    buffer: &mut Buffer,
    area: Rect,
    title: &str,
    content: &[Line],
    context: Context,
    scroll: usize,
) -> usize {
    let hint = hints(context, usize::from(area.width).saturating_sub(6), false);
    let widest = content
        .iter()
        .map(|l| l.iter().map(|(t, _)| text::width(t)).sum::<usize>())
        .chain([text::width(title) + 4, text::width(&hint) + 4])
        .max()
        .unwrap_or(0);
    let width = u16::try_from(widest + 4)
        .unwrap_or(u16::MAX)
        .min(area.width);
    let height = u16::try_from(content.len() + 2)
        .unwrap_or(u16::MAX)
        .min(area.height);
    let inner = boxed(buffer, centered(area, width, height), title, &hint);
    let inner = Rect::new(
        inner.x + 1,
        inner.y,
        inner.width.saturating_sub(2),
        inner.height,
    );
    lines(buffer, inner, content, scroll)
}

fn field(buffer: &mut Buffer, area: Rect, model: &Model, editor: &Editor) -> (u16, u16) {
    let width = area.width.min(76);
    let room = usize::from(width).saturating_sub(4);
    let mut below: Vec<(String, Style)> = Vec::new();
    if let Some(guard) = &editor.guard {
        below.push((
            format!(
                "{} removed from the paste: ⏎ accept, Esc keep as pasted",
                guard.found
            ),
            theme::UNSAVED,
        ));
    }
    if let Some(error) = &editor.error {
        below.push((error.clone(), theme::BAD));
    }
    if editor.secret {
        let value = editor.field.value();
        let count = value.chars().count();
        below.push(if count == 0 {
            (
                "type or paste the new value; the old one stays unseen".into(),
                theme::DIM,
            )
        } else {
            let shown = format!(
                "{} · {} · fingerprint {}",
                text::count(count, "character"),
                catalog::mask(value),
                catalog::fingerprint(value)
            );
            (shown, theme::DIM)
        });
    } else if !editor.hint.is_empty() && editor.error.is_none() {
        below.push((editor.hint.clone(), theme::DIM));
    }
    let below: Vec<(String, Style)> = below
        .into_iter()
        .flat_map(|(t, s)| text::wrap(&t, room, 0).into_iter().map(move |l| (l, s)))
        .collect();
    let height = u16::try_from(below.len() + 3).unwrap_or(3).min(area.height);
    let hint = hints(Context::Field, room.saturating_sub(2), model.theme.ascii);
    let hint = if editor.secret {
        hint
    } else {
        hint.replace("  Ctrl+T show", "")
    };
    let inner = boxed(buffer, centered(area, width, height), &editor.title, &hint);
    let x = inner.x + 1;
    let columns = room;
    let scroll = editor.field.visual_scroll(columns.saturating_sub(1));
    let at = u16::try_from(editor.field.visual_cursor().saturating_sub(scroll)).unwrap_or(0);
    if editor.masked {
        let count = editor.field.value().chars().count();
        let shown = "•".repeat(count.saturating_sub(scroll));
        put(buffer, x, inner.y, inner.width - 1, &shown, theme::BOLD);
    } else {
        let shown = skip_columns(editor.field.value(), scroll);
        put(buffer, x, inner.y, inner.width - 1, &shown, theme::BOLD);
    }
    for (y, (line, style)) in (inner.y + 1..inner.bottom()).zip(&below) {
        put(buffer, x, y, inner.width - 1, line, *style);
    }
    (x + at.min(inner.width.saturating_sub(2)), inner.y)
}

/// The text without its first `columns` columns.
fn skip_columns(content: &str, columns: usize) -> String {
    use unicode_segmentation::UnicodeSegmentation as _;
    let mut used = 0;
    content
        .graphemes(true)
        .skip_while(|g| {
            let skip = used < columns;
            used += text::width(g);
            skip
        })
        .collect()
}

fn choices(buffer: &mut Buffer, area: Rect, model: &Model, choice: &Choice) -> Option<(u16, u16)> {
    let shown = filtered(&choice.items, choice.filter.value());
    let help = match &choice.purpose {
        ChoiceFor::Value(Target::Config(path)) => catalog::catalog()
            .setting(path)
            .map(|s| s.help.clone())
            .unwrap_or_default(),
        ChoiceFor::Value(Target::Env(name)) => catalog::catalog()
            .key(name)
            .map(|k| k.help.clone())
            .unwrap_or_default(),
        ChoiceFor::Value(Target::Other(..)) => String::new(),
        ChoiceFor::Profile => "each profile is a home of its own".into(),
        ChoiceFor::Backup(_) => "what the file holds now is copied first".into(),
        ChoiceFor::Conflict(journal) => format!(
            "A save was interrupted, and somebody else wrote to the file since. Which content is \
             right? The journal {} holds both versions until you decide.",
            journal.display()
        ),
    };
    let width = area.width.min(60);
    let room = usize::from(width).saturating_sub(4);
    let about = text::wrap(&help, room, 0);
    let filter_row = u16::from(!choice.filter.value().is_empty());
    let about_rows = u16::try_from(about.len()).unwrap_or(0).min(area.height / 4);
    let rows = u16::try_from(choice.items.len()).unwrap_or(u16::MAX);
    let height = rows
        .saturating_add(2 + about_rows + filter_row)
        .min(area.height);
    let hint = hints(Context::Choice, room.saturating_sub(2), model.theme.ascii);
    let inner = boxed(buffer, centered(area, width, height), &choice.title, &hint);
    let mut y = inner.y;
    for line in about.iter().take(usize::from(about_rows)) {
        put(buffer, inner.x + 1, y, inner.width - 1, line, theme::DIM);
        y += 1;
    }
    let mut cursor = None;
    if filter_row == 1 {
        put(buffer, inner.x + 1, y, 2, "/ ", theme::ACCENT);
        put(
            buffer,
            inner.x + 3,
            y,
            inner.width - 3,
            choice.filter.value(),
            theme::BOLD,
        );
        let at = u16::try_from(choice.filter.visual_cursor()).unwrap_or(0);
        cursor = Some((inner.x + 3 + at.min(inner.width.saturating_sub(4)), y));
        y += 1;
    }
    if shown.is_empty() {
        put(
            buffer,
            inner.x + 1,
            y,
            inner.width - 1,
            "nothing matches",
            theme::DIM,
        );
        return cursor;
    }
    let list = Rect::new(inner.x, y, inner.width, inner.bottom() - y);
    let at = choice.cursor.at.min(shown.len() - 1);
    for (y, i) in (list.y..).zip(choice.cursor.window(shown.len(), usize::from(list.height))) {
        let item = &choice.items[shown[i]];
        put(
            buffer,
            list.x + 1,
            y,
            list.width - 2,
            &item.label,
            Style::new(),
        );
        let right = Rect {
            width: list.width - 1,
            ..list
        };
        put_right(buffer, right, y, &item.note, theme::DIM);
        if i == at {
            row_style(buffer, list.x, y, list.width, theme::CURSOR);
        }
    }
    cursor
}

/// One line about an element, secrets masked.
fn summary(path: &KeyPath, value: &Value) -> String {
    match value {
        Value::Str(s) if s.is_empty() => "\"\"".into(),
        value => settings::show(&settings::hide_secrets(path, value)),
    }
}

fn list(buffer: &mut Buffer, area: Rect, model: &Model, items: &Items) {
    let target = &items.target;
    let root = KeyPath::default();
    let here = target.path().unwrap_or(&root);
    let value = shown_value(model, target).unwrap_or(Value::Null);
    let count = match &value {
        Value::List(list) => list.len(),
        Value::Map(map) => map.len(),
        _ => 0,
    };
    let rows: Vec<(String, String)> = (0..count)
        .filter_map(|i| {
            let at = child(&value, here, i);
            let path = at.as_ref().unwrap_or(here);
            match &value {
                Value::List(list) => Some(((i + 1).to_string(), summary(path, list.get(i)?))),
                Value::Map(map) => {
                    let (key, value) = map.get(i)?;
                    Some((text_of(key), summary(path, value)))
                }
                _ => None,
            }
        })
        .collect();
    let hint = hints(
        Context::Items,
        usize::from(area.width).saturating_sub(6),
        model.theme.ascii,
    );
    let height = u16::try_from(rows.len().max(1) + 2)
        .unwrap_or(u16::MAX)
        .min(area.height)
        .max(5);
    let frame = centered(area, area.width.min(90), height.min(area.height));
    let title = format!("{} ({})", target.key(), rows.len());
    let inner = boxed(buffer, frame, &title, &hint);
    if rows.is_empty() {
        put(
            buffer,
            inner.x + 1,
            inner.y,
            inner.width - 1,
            "empty: a adds the first one",
            theme::DIM,
        );
        return;
    }
    let at = items.cursor.at.min(rows.len() - 1);
    let name_width = rows.iter().map(|r| text::width(&r.0)).max().unwrap_or(1);
    let name_width = name_width.min(usize::from(inner.width) / 3).max(2);
    let is_list = matches!(value, Value::List(_));
    for (y, i) in (inner.y..).zip(items.cursor.window(rows.len(), usize::from(inner.height))) {
        let (name, content) = &rows[i];
        let name = if is_list {
            format!("{name:>name_width$}")
        } else {
            text::pad(name, name_width)
        };
        let columns = u16::try_from(name_width).unwrap_or(2);
        put(buffer, inner.x + 1, y, columns, &name, theme::DIM);
        put(
            buffer,
            inner.x + columns + 3,
            y,
            inner.width.saturating_sub(columns + 4),
            content,
            Style::new(),
        );
        if i == at {
            row_style(buffer, inner.x, y, inner.width, theme::CURSOR);
        }
    }
}

/// Whether a binding is what somebody who typed this looks for.
fn is_about(binding: &keymap::Binding, query: &str) -> bool {
    let keys = binding.keys.concat();
    [binding.help, binding.hint, &keys]
        .iter()
        .any(|t| t.to_lowercase().contains(query))
}

fn help(
    buffer: &mut Buffer,
    area: Rect,
    model: &Model,
    filter: &tui_input::Input,
    scroll: &mut usize,
) -> (u16, u16) {
    let query = filter.value().to_lowercase();
    let mut content: Vec<Line> = Vec::new();
    for (context, title) in [
        (Context::Main, "On the tabs"),
        (Context::Field, "In a text field"),
        (Context::Choice, "In a list of choices (letters filter it)"),
        (Context::Items, "In a list or map"),
        (Context::Review, "In the review"),
        (Context::Receipt, "In the receipt"),
    ] {
        let rows: Vec<(String, &str)> = keymap::bindings(context)
            .filter(|b| query.is_empty() || is_about(b, &query))
            .map(|b| {
                let keys: Vec<String> = b
                    .keys
                    .iter()
                    .filter_map(|k| {
                        super::super::key::Key::parse(k)?
                            .first()
                            .map(ToString::to_string)
                    })
                    .collect();
                (keys.join(" "), b.help)
            })
            .collect();
        if rows.is_empty() {
            continue;
        }
        content.push(vec![piece(title, theme::ACCENT)]);
        for (keys, help) in rows {
            content.push(vec![
                piece(format!("  {}", text::pad(&keys, 16)), theme::BOLD),
                piece(help, Style::new()),
            ]);
        }
    }
    if content.is_empty() {
        content.push(vec![piece("no key does that", theme::DIM)]);
    }
    if query.is_empty() {
        content.push(vec![piece("Signs", theme::ACCENT)]);
        for (sign, style, meaning) in [
            (theme::SIGN_UNSAVED, theme::UNSAVED, "changed, not saved"),
            (
                theme::SIGN_BAD,
                theme::BAD,
                "Hermes will misread or ignore it",
            ),
            (theme::SIGN_MANAGED, theme::DIM, "set by the administrator"),
            (theme::SIGN_SET, theme::ACCENT, "set in the file"),
            (" ", theme::DIM, "Hermes' default"),
        ] {
            content.push(vec![
                piece(format!("  {sign:<16}"), style),
                piece(meaning, Style::new()),
            ]);
        }
    }
    let hint = hints(
        Context::Help,
        usize::from(area.width).saturating_sub(6),
        model.theme.ascii,
    );
    let inner = boxed(
        buffer,
        centered(area, area.width.min(76), area.height),
        "Keys",
        &hint,
    );
    put(buffer, inner.x + 1, inner.y, 2, "/ ", theme::ACCENT);
    put(
        buffer,
        inner.x + 3,
        inner.y,
        inner.width.saturating_sub(4),
        filter.value(),
        theme::BOLD,
    );
    let page = Rect::new(inner.x + 1, inner.y + 1, inner.width - 1, inner.height - 1);
    *scroll = lines(buffer, page, &content, *scroll);
    let at = u16::try_from(filter.visual_cursor()).unwrap_or(0);
    (inner.x + 3 + at.min(inner.width.saturating_sub(5)), inner.y)
}
