//! A terminal settings editor for Hermes Agent.
//!
//! This page is the architecture.
//!
//! ```text
//! files ──read──► Document (text + spans) ─┐
//!                                          ├─► rows (value, origin, default, problem) ─► view ─► frame
//! catalogue (assets/*.toml) ───────────────┘                                   ▲
//! key ─► keymap ─► Action ─► update ─► Edit ─► EditLog ────────────────────────┘
//!                                               │ review
//!                                               ▼
//!                      SavePlan (new text, diff, predicted strategy) ─► writer ─► SaveReport ─► receipt, reload
//! ```
//!
//! Three layers; a module may use its own layer and the ones below it, never one above
//! (`tests/architecture.rs` checks that):
//!
//! | layer  | modules | rule |
//! |--------|---------|------|
//! | core   | [`document`], [`catalog`], [`edit`], [`settings`], [`plan`] | pure: no IO, no clock, no environment |
//! | system | [`home`], [`mount`], [`writer`], [`session`] | all IO on users' files |
//! | front  | [`cli`], [`commands`], [`tui`] | arguments and keys in, text and frames out |
//!
//! The promise that everything serves: a save changes the bytes it was asked to change and no
//! others, and at every moment either the old or the new file is whole.

pub mod catalog;
pub mod cli;
pub mod commands;
pub mod document;
pub mod edit;
pub mod home;
pub mod mount;
pub mod plan;
pub mod session;
pub mod settings;
pub mod tui;
pub mod writer;
