//! The commands without a screen.
//!
//! Responsible for: turning one parsed command line into output and a result. Not responsible for:
//! printing errors and ending the process (`main`), or how files are changed ([`crate::session`],
//! [`crate::writer`]).

pub mod failure;
pub mod render;

pub use failure::Failure;
