//! Screens as snapshots, driven by keys through the real update loop.
//!
//! `Screen::at(80, 24).keys("3/timeout<ret>")` opens the sample home, presses keys, and renders.
//! A snapshot is the text of the screen, then the styled runs, because plain text drops colours.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used)]

mod drive;
mod flows;
mod modes;
mod tabs;
