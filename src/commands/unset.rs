//! `unset`: take a key out of its file.
//!
//! Responsible for: which edits that takes. Not responsible for: saving.

use super::commit::{self, Wanted};
use super::target::{self, Target};
use super::{Context, Ending, Failure};
use crate::document::Change;
use crate::document::dotenv::EnvChange;
use crate::edit::Edit;
use crate::session::Session;

pub(super) fn run(context: &mut Context<'_>, key: &str) -> Result<Ending, Failure> {
    let session = Session::open(context.home()?);
    let target = target::parse(key, context.global, &session)?;
    target::refuse_locked(&session, &target)?;
    let mut edits = Vec::new();
    match &target {
        Target::Env(name) => {
            if session.env.doc().is_some_and(|doc| doc.entries().iter().any(|e| &e.name == name)) {
                edits.push(Edit::Env { name: name.clone(), change: EnvChange::Remove });
            }
        }
        Target::Config(path) => {
            if session.config.doc().is_some_and(|doc| doc.get(path).is_some()) {
                edits.push(Edit::Config { path: path.clone(), change: Change::Remove });
            }
            // Hermes sets both, so both go.
            if let Some(name) = target::terminal_variable(path)
                && session.env.doc().is_some_and(|doc| doc.entries().iter().any(|e| e.name == name))
            {
                target::refuse_locked(&session, &Target::Env(name.to_owned()))?;
                edits.push(Edit::Env { name: name.to_owned(), change: EnvChange::Remove });
            }
        }
    }
    if edits.is_empty() {
        let failure = target.failure("is not set, so there is nothing to take out");
        return Err(match target.closest() {
            Some(near) => failure.hint(format!("did you mean {near}?")),
            None => failure.hint("`hermes-tui list` shows what is set"),
        });
    }
    commit::run(context, &session, Wanted { target, done: "removed", edits, warnings: Vec::new() })
}
