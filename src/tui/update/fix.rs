//! Problems: where they are, and doing what they suggest.

use super::super::action::Tab;
use super::super::model::{Model, Target};
use super::open;
use crate::document::dotenv::EnvChange;
use crate::document::{Change, KeyPath, Step};
use crate::edit::{Edit, FileId};
use crate::settings::{File, Fix, Problem};

/// Do what the problem under the cursor suggests.
pub fn fix(model: &mut Model) {
    if model.tab != Tab::Problems {
        model.say("f does what a problem suggests: 4 shows the problems");
        return;
    }
    let at = model.here().cursors[0].at;
    let Some(problem) = model.derived.problems.get(at) else {
        return;
    };
    let Some(fix) = problem.fix.clone() else {
        model.say("this one needs your decision: e opens the file there");
        return;
    };
    let edits = fix_edits(model, &fix);
    if let Some(reason) = edits
        .iter()
        .find_map(|e| open::locked(model, &open::target_of(e)))
    {
        model.complain(reason);
        return;
    }
    let label = fix.to_string();
    match model.stage(label.clone(), edits) {
        Ok(()) => model.say(format!("{label}: s reviews and saves")),
        Err(error) => model.complain(error.to_string()),
    }
}

/// The file that a problem is in, among those that can be edited here.
pub fn problem_file(problem: &Problem) -> FileId {
    match problem.file {
        File::Env | File::ManagedEnv => FileId::Env,
        File::Config | File::ManagedConfig => FileId::Config,
    }
}

/// The setting or variable that a problem is about.
pub fn problem_target(problem: &Problem) -> Option<Target> {
    if problem.key.is_empty() {
        return None;
    }
    Some(match problem_file(problem) {
        FileId::Env => Target::Env(problem.key.clone()),
        FileId::Config | FileId::Other(_) => {
            let segments = KeyPath::split(&problem.key);
            Target::Config(KeyPath(segments.into_iter().map(Step::Key).collect()))
        }
    })
}

/// The edits that carry out a fix.
fn fix_edits(model: &Model, fix: &Fix) -> Vec<Edit> {
    let config = |path: &KeyPath, change| Edit::Config {
        path: path.clone(),
        change,
    };
    let env = |name: &str, change| Edit::Env {
        name: name.to_owned(),
        change,
    };
    let variable = |name: &str| model.staged.env.as_ref().and_then(|d| d.get(name));
    match fix {
        Fix::SetConfig(path, value) => vec![config(path, Change::Set(value.clone()))],
        Fix::UnsetConfig(path) => vec![config(path, Change::Remove)],
        Fix::MoveConfig { from, to } => match (from.0.split_last(), to.0.split_last()) {
            // A new name in the same section: comments and place stay.
            (Some((_, a)), Some((Step::Key(name), b))) if a == b => {
                vec![config(from, Change::Rename(name.clone()))]
            }
            _ => {
                let value = model.staged_value(&Target::Config(from.clone()));
                value
                    .map(|v| vec![config(to, Change::Set(v)), config(from, Change::Remove)])
                    .unwrap_or_default()
            }
        },
        Fix::SetEnv(name, value) => vec![env(name, EnvChange::set(value))],
        Fix::UnsetEnv(name) => vec![env(name, EnvChange::Remove)],
        Fix::DedupeEnv(name) => vec![env(name, EnvChange::Dedupe)],
        Fix::RewriteEnv(name) => variable(name)
            .map(|value| vec![env(name, EnvChange::Set { value })])
            .unwrap_or_default(),
        Fix::RenameEnv { from, to } => variable(from)
            .map(|value| {
                vec![
                    env(to, EnvChange::Set { value }),
                    env(from, EnvChange::Remove),
                ]
            })
            .unwrap_or_default(),
    }
}
