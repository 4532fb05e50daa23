//! The editor on the screen.
//!
//! One way around, as in the Elm architecture: a key becomes an [`action::Action`] by the table in
//! [`keymap`], [`update`] changes the [`model::Model`] and names what is left to do outside,
//! [`effects`] does that, and [`view`] draws the model. Only [`run`] touches the terminal.

pub mod action;
pub mod browse;
pub mod effects;
pub mod key;
pub mod keymap;
pub mod layer;
pub mod model;
pub mod models;
pub mod run;
pub mod target;
mod terminal;
pub mod text;
pub mod theme;
pub mod update;
pub mod view;

pub use run::{Ending, RunError, run};
pub use theme::Theme;
