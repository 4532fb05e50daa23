//! Problems of `config.yaml` alone.

use super::{File, Fix, Problem};
use crate::catalog::{Fault, Kind, Parsed, Setting, Severity, catalog, is_env_name, looks_masked};
use crate::document::{KeyPath, Step, Value};
use crate::settings::rows::{Row, rows_of};
use crate::settings::show::show;
use crate::settings::view::View;

pub(super) fn find(view: &View<'_>, out: &mut Vec<Problem>) {
    let Some(config) = &view.config else { return };
    for (path, lines) in config.duplicates() {
        out.push(duplicate(&path, &lines));
    }
    if !matches!(config.root, Value::Map(_) | Value::Null) {
        out.push(Problem {
            severity: Severity::Error,
            file: File::Config,
            key: String::new(),
            line: Some(1),
            title: format!(
                "the file is {}, not settings with names",
                config.root.kind()
            ),
            detail: "Hermes ignores it and runs with its defaults.".to_owned(),
            fix: None,
        });
        return;
    }
    // Looking for the nearest name costs the whole catalogue each time; a file with more unknown
    // names than this is not a file with typing mistakes.
    let mut proposals = 100;
    for row in rows_of(view) {
        let Some(value) = &row.value else { continue };
        if let Some(problem) = of_row(view, &row, value, &mut proposals) {
            out.push(problem);
        }
    }
    masks(&config.root, &KeyPath::default(), view, out);
}

fn duplicate(path: &KeyPath, lines: &[usize]) -> Problem {
    let last = lines.last().copied();
    let others: Vec<String> = lines
        .iter()
        .take(lines.len().saturating_sub(1))
        .map(ToString::to_string)
        .collect();
    let lines = if others.len() == 1 { "line" } else { "lines" };
    Problem {
        severity: Severity::Warning,
        file: File::Config,
        key: path.to_string(),
        line: last,
        title: match others.len() {
            1 => "stands there twice".to_owned(),
            n => format!("stands there {} times", n + 1),
        },
        detail: format!(
            "Hermes uses the last one and ignores {lines} {}. Newer versions refuse the file. Move what you need into one of them.",
            others.join(", ")
        ),
        fix: None,
    }
}

fn of_row(view: &View<'_>, row: &Row, value: &Value, proposals: &mut usize) -> Option<Problem> {
    let problem = |severity, title: String, detail: String, fix| {
        Some(Problem {
            severity,
            file: File::Config,
            key: row.path.to_string(),
            line: row.line,
            title,
            detail,
            fix,
        })
    };
    let Some(setting) = row.setting else {
        return unknown(view, row, value, proposals);
    };
    // Older versions of Hermes wrote out every default; what says nothing new needs no word.
    let idle = (setting.dead || setting.deprecated) && row.value == setting.default;
    if idle {
        return None;
    }
    if setting.dead {
        return problem(
            Severity::Info,
            "has no effect".to_owned(),
            format!("{}.", setting.help),
            Some(Fix::UnsetConfig(row.path.clone())),
        );
    }
    if setting.deprecated {
        return problem(
            Severity::Info,
            "is an older spelling".to_owned(),
            match &setting.replaced_by {
                Some(new) => format!("{}. Today it is {new}.", setting.help),
                None => format!("{}.", setting.help),
            },
            moved(view, row, setting),
        );
    }
    let fault = row.fault.as_ref()?;
    problem(
        fault.severity,
        fault.text.clone(),
        fault_detail(setting, fault),
        mended(&row.path, setting, value),
    )
}

fn fault_detail(setting: &Setting, fault: &Fault) -> String {
    let default = setting
        .default
        .as_ref()
        .map(show)
        .filter(|d| !d.is_empty())
        .map(|d| format!(" The default is {d}."))
        .unwrap_or_default();
    match fault.severity {
        Severity::Error => format!("Hermes cannot use this value. {}.{default}", setting.help),
        _ => format!("{}.{default}", setting.help),
    }
}

/// An older spelling at its new place, unless that is taken or needs another form.
fn moved(view: &View<'_>, row: &Row, setting: &Setting) -> Option<Fix> {
    let to = KeyPath::of(
        &setting
            .replaced_by
            .as_deref()?
            .split('.')
            .collect::<Vec<_>>(),
    );
    let target = catalog().setting(&to)?;
    let value = row.value.as_ref()?;
    if view.user(&to).is_some() {
        return Some(Fix::UnsetConfig(row.path.clone()));
    }
    // `model: some/id` has no room for another setting beside it.
    let room = (1..to.0.len()).all(|n| {
        matches!(
            view.user(&KeyPath(to.0[..n].to_vec())),
            None | Some(Value::Map(_) | Value::Null)
        )
    });
    (room && target.check(value).is_ok()).then(|| Fix::MoveConfig {
        from: row.path.clone(),
        to,
    })
}

/// The value that was probably meant, or the default.
fn mended(path: &KeyPath, setting: &Setting, value: &Value) -> Option<Fix> {
    if setting.secret || setting.readonly || matches!(value, Value::Map(_) | Value::List(_)) {
        return None;
    }
    let good = |new: &Value| setting.check(new).is_ok() && new != value;
    let meant = match value {
        Value::Bool(b) => {
            let words: &[&str] = if *b {
                &["on", "true", "yes"]
            } else {
                &["off", "false", "no"]
            };
            words
                .iter()
                .map(|w| Value::Str((*w).to_owned()))
                .find(|w| setting.takes(Kind::Enum) && good(w))
        }
        Value::Str(text) => match setting.parse(text) {
            Ok(Parsed::Value(new)) if good(&new) => Some(new),
            _ => setting.nearest_choice(text).filter(|c| good(c)),
        },
        _ => None,
    };
    match meant {
        Some(new) => Some(Fix::SetConfig(path.clone(), new)),
        None => Some(Fix::UnsetConfig(path.clone())),
    }
}

fn unknown(view: &View<'_>, row: &Row, value: &Value, proposals: &mut usize) -> Option<Problem> {
    let key = row.path.to_string();
    let problem = |severity, title: &str, detail: String, fix| {
        Some(Problem {
            severity,
            file: File::Config,
            key: key.clone(),
            line: row.line,
            title: title.to_owned(),
            detail,
            fix,
        })
    };
    if row
        .fault
        .as_ref()
        .is_some_and(|f| f.severity == Severity::Error)
    {
        return problem(
            Severity::Error,
            &format!("must be a section, this is {}", value.kind()),
            "Some commands of Hermes stop with an error here, others ignore it. Write the settings below it, one to a line.".to_owned(),
            None,
        );
    }
    // Whatever stands in a section of one's own is one's own.
    let own = !known_root(&row.path);
    if own && row.path.0.len() > 1 {
        return None;
    }
    let near = if *proposals == 0 {
        None
    } else {
        *proposals -= 1;
        catalog().closest_setting(&key)
    };
    let free = near.as_deref().is_some_and(|n| !in_file(view, n));
    if let Some(near) = near.filter(|_| free) {
        let to = KeyPath::of(
            &KeyPath::split(&near)
                .iter()
                .map(String::as_str)
                .collect::<Vec<_>>(),
        );
        let fits = catalog()
            .setting(&to)
            .is_some_and(|s| s.check(value).is_ok());
        let exported = if root_scalar(row, value) {
            " The gateway hands it to programs as a variable instead."
        } else {
            ""
        };
        return problem(
            Severity::Warning,
            &format!("is not known to Hermes; did you mean {near}?"),
            format!("Hermes does not read it.{exported}"),
            fits.then(|| Fix::MoveConfig {
                from: row.path.clone(),
                to,
            }),
        );
    }
    // Names of one's own at the root are legal: skills read them, and the gateway hands single
    // values to programs as variables.
    if own {
        let odd = matches!(&row.path.0[..], [Step::Key(name)]
            if root_scalar(row, value) && !(is_env_name(name) && name.chars().all(|c| !c.is_lowercase())));
        return odd
            .then(|| {
                problem(
                    Severity::Info,
                    "is not known to Hermes",
                    "The gateway hands it to programs as a variable. If it was meant as a setting, it belongs into a section.".to_owned(),
                    None,
                )
            })
            .flatten();
    }
    problem(
        Severity::Info,
        "is not known to Hermes",
        "This version does not read it; a plugin or a newer version may.".to_owned(),
        None,
    )
}

fn root_scalar(row: &Row, value: &Value) -> bool {
    row.path.0.len() == 1 && !matches!(value, Value::Map(_) | Value::List(_) | Value::Null)
}

fn in_file(view: &View<'_>, path: &str) -> bool {
    let steps = KeyPath::split(path)
        .into_iter()
        .map(|s| s.parse().map_or(Step::Key(s), Step::Index))
        .collect();
    view.user(&KeyPath(steps)).is_some()
}

fn known_root(path: &KeyPath) -> bool {
    let root = KeyPath(path.0.iter().take(1).cloned().collect());
    catalog().setting(&root).is_some() || catalog().has_children(&root)
}

/// Masks where a secret belongs. Sample words (`dummy`, `none`) are not told: servers of one's own
/// often ask for a key and take any.
fn masks(value: &Value, at: &KeyPath, view: &View<'_>, out: &mut Vec<Problem>) {
    match value {
        Value::Map(fields) => {
            for (key, value) in fields {
                if let Some(step) = crate::settings::view::step_of(key) {
                    masks(value, &at.child(step), view, out);
                }
            }
        }
        Value::List(items) => {
            for (i, value) in (0i64..).zip(items) {
                masks(value, &at.child(Step::Index(i)), view, out);
            }
        }
        Value::Str(text) if is_mask(at, text) => out.push(Problem {
            severity: Severity::Error,
            file: File::Config,
            key: at.to_string(),
            line: view.line(at),
            title: "holds a mask instead of a secret".to_owned(),
            detail: "Some program wrote what it showed on screen. Enter the secret again."
                .to_owned(),
            fix: Some(Fix::UnsetConfig(at.clone())),
        }),
        _ => {}
    }
}

fn is_mask(path: &KeyPath, text: &str) -> bool {
    // The cheap question first: few values look like this at all.
    !text.is_empty() && looks_masked(text) && catalog().is_secret_path(path)
}
