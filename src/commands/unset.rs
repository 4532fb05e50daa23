//! `unset`: take a key out of its file.
//!
//! Responsible for: which edits that takes. Not responsible for: saving.

use super::commit::{self, Wanted};
use super::target::{self, Target};
use super::{Context, Ending, Failure};
use crate::document::Change;
use crate::document::dotenv::EnvChange;
use crate::edit::Edit;
use crate::plan;

pub(super) fn run(context: &mut Context<'_>, key: &str) -> Result<Ending, Failure> {
    let session = context.open()?;
    let target = target::parse(key, context.global, &session)?;
    target::refuse_locked(&session, &target)?;
    let mut edits = Vec::new();
    match &target {
        Target::Env(name) => {
            if session
                .env
                .doc()
                .is_some_and(|doc| doc.entries().iter().any(|e| &e.name == name))
            {
                edits.push(Edit::Env {
                    name: name.clone(),
                    change: EnvChange::Remove,
                });
            }
        }
        Target::Config(path) => {
            // Hermes writes `terminal.*` to both files, so both lines go, and one alone as well.
            let edit = Edit::Config {
                path: path.clone(),
                change: Change::Remove,
            };
            edits = plan::with_companions(edit, session.env.doc());
            match session.config.doc().filter(|doc| doc.get(path).is_some()) {
                Some(doc) => {
                    edits[0] = Edit::Config {
                        path: plan::removal(doc, path),
                        change: Change::Remove,
                    };
                }
                None => {
                    edits.remove(0);
                }
            }
            for edit in &edits {
                if let Edit::Env { name, .. } = edit {
                    target::refuse_locked(&session, &Target::Env(name.clone()))?;
                }
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
    commit::run(
        context,
        &session,
        Wanted {
            target,
            done: "removed",
            edits,
            warnings: Vec::new(),
        },
    )
}
