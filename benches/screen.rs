//! What one arrow key costs on the line, in bytes: what matters over SSH.
//!
//! `cargo bench --bench screen` prints a figure per tab and size. For comparison: Hermes 0.19.0's
//! own menus send 1,392 bytes per arrow key at 80x24 and 3,134 at 200x50.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    missing_docs
)]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::rc::Rc;

use hermes_tui::home::{self, Environment, HomeRequest};
use hermes_tui::tui::key::Key;
use hermes_tui::tui::theme::Theme;
use hermes_tui::tui::{run, update, view};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};

#[derive(Clone, Default)]
struct Counter(Rc<RefCell<usize>>);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        *self.0.borrow_mut() += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.path().is_dir() {
            copy(&entry.path(), &to.join(entry.file_name()));
        } else {
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

fn main() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join(".hermes");
    copy(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/sample_home"),
        &home,
    );
    let environment = Environment {
        vars: BTreeMap::from([("HOME".into(), dir.path().into())]),
        cwd: dir.path().into(),
    };
    let request = HomeRequest {
        home: Some(home),
        profile: None,
    };
    for (width, height, goal) in [(80, 24, 200), (200, 50, 300)] {
        for tab in ["1", "2", "3", "4", "5"] {
            let home = home::resolve(&request, &environment).unwrap();
            let mut model = run::open(home, &environment, Theme::default());
            let counter = Counter::default();
            let mut terminal = Terminal::with_options(
                CrosstermBackend::new(counter.clone()),
                TerminalOptions {
                    viewport: Viewport::Fixed(Rect::new(0, 0, width, height)),
                },
            )
            .unwrap();
            for key in Key::parse(&format!("{tab}<right>")).unwrap() {
                update::key(&mut model, key);
            }
            terminal.draw(|f| view::draw(f, &mut model)).unwrap();
            let before = *counter.0.borrow();
            let presses = 12;
            for key in Key::parse(&"<down>".repeat(presses)).unwrap() {
                update::key(&mut model, key);
                terminal.draw(|f| view::draw(f, &mut model)).unwrap();
            }
            let each = (*counter.0.borrow() - before) / presses;
            println!("{width}x{height} tab {tab}: {each} bytes per arrow key (goal {goal})");
        }
    }
}
