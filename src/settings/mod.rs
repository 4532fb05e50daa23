//! What is in force, and what is wrong: documents, the catalogue and the administrator's layer put together.
//!
//! Responsible for: the rows of the Settings and Keys screens and the list of problems. Not
//! responsible for: reading files, changing them ([`crate::edit`]), file modes and mounts.

mod effect;
mod keys;
mod problems;
mod rows;
mod show;
mod view;

pub use effect::takes_effect;
pub use keys::{KeyRow, KeyState, key_rows, named_secrets};
pub use problems::{File, Fix, Problem, parse_problem, problems};
pub use rows::{Origin, Row, rows, section_order};
pub use show::{hide_secrets, show};

#[cfg(test)]
mod tests;

use crate::document::dotenv::EnvDocument;
use crate::document::yaml::YamlDocument;

/// The files that together decide a value. What is missing or cannot be parsed is `None`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Layers<'a> {
    /// `config.yaml` of the home.
    pub config: Option<&'a YamlDocument>,
    /// `.env` of the home.
    pub env: Option<&'a EnvDocument>,
    /// `config.yaml` of the administrator, merged over the user's leaf by leaf.
    pub managed_config: Option<&'a YamlDocument>,
    /// `.env` of the administrator, which beats everything.
    pub managed_env: Option<&'a EnvDocument>,
}
