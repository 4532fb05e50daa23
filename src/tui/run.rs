//! The loop: wait for a key or a signal, update, draw.

use std::io::{self, IsTerminal};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crossterm::event::{self, Event, KeyCode};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};

use super::effects::{self, Depth, Next};
use super::key::Key;
use super::model::{Choice, ChoiceFor, ChoiceItem, Cursor, Layer, Model};
use super::terminal::Screen;
use super::theme::Theme;
use super::update::{self, Effect};
use crate::document::Value;
use crate::edit::EditLog;
use crate::home::{Environment, Home};
use crate::session::{self, Session};
use crate::writer::{self, Outcome};

/// How the editor ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The user left.
    Left,
    /// A signal ended it; unsaved edits are in the draft.
    Signal(i32),
}

/// Why the editor could not run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// There is no terminal to draw on.
    #[error(
        "the editor needs a terminal; without one use `hermes-tui get`, `set`, `unset`, `list` or `doctor`"
    )]
    NoTerminal,
    /// The terminal cannot place a cursor.
    #[error(
        "this terminal (TERM={0}) cannot show the editor; use `hermes-tui get`, `set`, `unset`, `list` or `doctor`"
    )]
    DumbTerminal(String),
    /// The home is not a directory, or it cannot be entered.
    #[error("{}: {reason}", path.display())]
    Home {
        /// The home.
        path: PathBuf,
        /// Why it cannot be used, and what to do.
        reason: String,
    },
    /// The terminal failed.
    #[error("the terminal failed: {0}")]
    Terminal(#[from] io::Error),
    /// A fault of ours; the panic message was printed.
    #[error("the editor stopped on a fault of its own; {0}")]
    Panicked(String),
}

/// How long to wait for a key before looking at signals and clocks.
const TICK: Duration = Duration::from_millis(100);
/// A draft is written when no key came for this long.
const DRAFT_AFTER: Duration = Duration::from_millis(300);

/// Open the editor on a home and stay until the user leaves.
pub fn run(home: Home, environment: &Environment, theme: Theme) -> Result<Ending, RunError> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(RunError::NoTerminal);
    }
    let term = environment.trimmed("TERM").unwrap_or("not set");
    if matches!(term, "dumb" | "not set") {
        return Err(RunError::DumbTerminal(term.to_owned()));
    }
    check_home(&home)?;
    let mut model = open(home, environment, theme);
    let signals = Signals::catch()?;
    let mut screen = Screen::take()?;
    let result = catch_unwind(AssertUnwindSafe(|| {
        turn(&mut model, &mut screen, &signals, environment)
    }));
    // The draft comes first: giving the terminal back may block or fail on a dead line.
    let kept = keep_draft(&mut model);
    drop(screen);
    match result {
        Ok(Ok(ending)) => Ok(ending),
        // Nothing can be drawn on a line that was cut: that is a hang-up, not a fault.
        Ok(Err(_)) if !io::stdin().is_terminal() => Ok(Ending::Signal(SIGHUP)),
        Ok(Err(error)) => Err(error.into()),
        Err(_) => Err(RunError::Panicked(kept)),
    }
}

/// A home that exists has to be a directory that can be entered.
fn check_home(home: &Home) -> Result<(), RunError> {
    let refuse = |reason: String| {
        Err(RunError::Home {
            path: home.path.clone(),
            reason,
        })
    };
    match std::fs::metadata(&home.path) {
        Ok(meta) if !meta.is_dir() => {
            refuse("is not a directory; --home names the directory that holds config.yaml".into())
        }
        Ok(_) => match std::fs::read_dir(&home.path) {
            Ok(_) => Ok(()),
            Err(e) => refuse(format!("cannot be read ({}); run as its owner", e.kind())),
        },
        Err(e) if e.kind() == io::ErrorKind::NotFound => match std::fs::read_link(&home.path) {
            Ok(to) => refuse(format!(
                "is a link to {}, which does not exist; mount it or mend the link",
                to.display()
            )),
            Err(_) => Ok(()),
        },
        Err(e) => refuse(format!("cannot be read ({}); run as its owner", e.kind())),
    }
}

/// Recover what an interrupted save left, read the files, and look for a draft.
pub fn open(home: Home, environment: &Environment, theme: Theme) -> Model {
    let recovered = if home.exists {
        writer::recover(&session::options(&home))
    } else {
        Vec::new()
    };
    let exists = home.exists;
    let mut model = Model::new(Session::open(home), theme);
    model.user_home = environment.var("HOME").map(PathBuf::from);
    update::follow_slot(&mut model);
    if !exists {
        model.layers.push(Layer::Welcome);
        return model;
    }
    model.storage = effects::storage(&model.session, Depth::Look);
    if let Some(log) = session::load_draft(&model.session.home) {
        model.layers.push(Layer::Draft(log));
    }
    for conflict in recovered.iter().filter(|r| r.outcome == Outcome::Conflict) {
        let items = [
            "keep the file as it is now",
            "take what it held before",
            "take what was being saved",
        ]
        .into_iter()
        .zip(0..)
        .map(|(label, at)| ChoiceItem {
            label: label.into(),
            note: String::new(),
            value: Some(Value::Int(at)),
        })
        .collect();
        let target = conflict.target.as_deref().unwrap_or(&conflict.leftover);
        model.layers.push(Layer::Choice(Box::new(Choice {
            purpose: ChoiceFor::Conflict(conflict.leftover.clone()),
            title: format!("Two versions of {}", target.display()),
            items,
            filter: tui_input::Input::default(),
            cursor: Cursor::default(),
        })));
    }
    if !recovered.is_empty() {
        let lines = recovered
            .iter()
            .map(|r| match &r.target {
                Some(target) => format!("{}: {}", target.display(), r.detail),
                None => format!("{}: {}", r.leftover.display(), r.detail),
            })
            .collect();
        let title = "Found after an interrupted save".into();
        model.layers.push(Layer::Page {
            title,
            lines,
            scroll: 0,
        });
    }
    model
}

/// Signals as flags: what they ask for is done between two keys.
struct Signals {
    end: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
}

impl Signals {
    fn catch() -> io::Result<Self> {
        let end = Arc::new(AtomicUsize::new(0));
        for signal in [SIGTERM, SIGHUP, SIGINT, SIGQUIT] {
            let number = usize::try_from(signal).unwrap_or(0);
            signal_hook::flag::register_usize(signal, Arc::clone(&end), number)?;
        }
        let stop = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(SIGTSTP, Arc::clone(&stop))?;
        Ok(Self { end, stop })
    }
}

fn turn(
    model: &mut Model,
    screen: &mut Screen,
    signals: &Signals,
    environment: &Environment,
) -> io::Result<Ending> {
    let mut quiet_since = Instant::now();
    let mut dirty = true;
    loop {
        if dirty {
            screen.draw(model)?;
            dirty = false;
        }
        let ended = signals.end.load(Ordering::SeqCst);
        if ended != 0 {
            return Ok(Ending::Signal(i32::try_from(ended).unwrap_or(SIGTERM)));
        }
        if signals.stop.swap(false, Ordering::SeqCst) {
            suspend(screen, model)?;
            dirty = true;
        }
        let waited = event::poll(TICK);
        // A line that was cut gives no key, and not always an error or a signal: asking the
        // terminal tells.
        if !matches!(waited, Ok(true)) && !io::stdin().is_terminal() {
            return Ok(Ending::Signal(SIGHUP));
        }
        if !waited? {
            dirty |= model.tick(Instant::now());
            if model.draft_due && quiet_since.elapsed() >= DRAFT_AFTER {
                keep_draft(model);
                dirty |= model.status.is_some();
            }
            continue;
        }
        quiet_since = Instant::now();
        let effect = match event::read()? {
            Event::Key(key) => match Key::from_event(key) {
                Some(key) => {
                    panic_on_request(key, environment);
                    update::key(model, key)
                }
                None => continue,
            },
            Event::Paste(text) => update::paste(model, &text),
            Event::Resize(..) => Effect::None,
            Event::FocusGained | Event::FocusLost | Event::Mouse(_) => continue,
        };
        dirty = true;
        if matches!(effect, Effect::Save) {
            // What is about to be saved must not be lost when the machine dies meanwhile.
            keep_draft(model);
        }
        match effects::perform(model, effect, environment) {
            Next::Continue => {}
            Next::Quit => return Ok(Ending::Left),
            Next::Suspend => suspend(screen, model)?,
            Next::Copy(text) => effects::copy(screen.output(), &text)?,
            Next::Edit(path, line) => {
                let status = screen.aside(|| edit(&path, line, environment))?;
                effects::reload(model);
                if let Err(reason) = status {
                    model.complain(reason);
                }
            }
        }
    }
}

/// Debug builds can be asked to panic, so that a test sees the terminal come back.
fn panic_on_request(key: Key, environment: &Environment) {
    if cfg!(debug_assertions)
        && key.code == KeyCode::F(12)
        && environment.var("HERMES_TUI_TEST_PANIC").is_some()
    {
        #[allow(clippy::panic, reason = "this is what the test asks for")]
        {
            panic!("asked to panic by the test");
        }
    }
}

/// Whether a shell with job control waits for us. Without one nobody would ever wake us again: as
/// the command of an SSH session, or the first process of a container.
fn has_job_control() -> bool {
    use rustix::process::{getpid, getppid, getsid};
    let Ok(session) = getsid(None) else {
        return false;
    };
    session != getpid() && getppid().is_some_and(|parent| getsid(Some(parent)) == Ok(session))
}

fn suspend(screen: &mut Screen, model: &mut Model) -> io::Result<()> {
    if !has_job_control() {
        model.complain("there is no shell here that could bring the editor back");
        return Ok(());
    }
    screen.aside(|| signal_hook::low_level::emulate_default_handler(SIGTSTP))?
}

/// Write the unsaved edits where the next start finds them; says where they are.
fn keep_draft(model: &mut Model) -> String {
    // A draft that is still being offered is not touched.
    let offered = model.layers.iter().any(|l| matches!(l, Layer::Draft(_)));
    if !model.draft_due || offered {
        return "nothing was unsaved".into();
    }
    model.draft_due = false;
    // Changes that were taken back by other changes are nothing to come back to.
    let nothing = EditLog::default();
    let log = if model.unsaved.is_empty() {
        &nothing
    } else {
        &model.log
    };
    match session::save_draft(&model.session.home, log) {
        Ok(()) if log.is_empty() => "nothing was unsaved".into(),
        Ok(()) => "your unsaved changes are offered at the next start".into(),
        Err(e) => {
            let text = format!("unsaved changes cannot be kept for the next start: {e}");
            model.complain(text.clone());
            text
        }
    }
}

/// Run the user's editor on a file at a 1-based line.
fn edit(path: &Path, line: usize, environment: &Environment) -> Result<(), String> {
    let command = ["VISUAL", "EDITOR"]
        .iter()
        .find_map(|name| environment.var(name).filter(|v| !v.trim().is_empty()))
        .unwrap_or("vi");
    let mut words = command.split_whitespace();
    let Some(program) = words.next() else {
        return Err("EDITOR is empty".into());
    };
    let name = Path::new(program)
        .file_name()
        .map(|n| n.to_string_lossy().into_owned());
    let mut run = Command::new(program);
    run.args(words);
    match name.as_deref() {
        Some("code" | "codium" | "cursor") => {
            run.arg("--wait")
                .arg("--goto")
                .arg(format!("{}:{line}", path.display()));
        }
        Some("hx" | "helix" | "subl") => {
            run.arg(format!("{}:{line}", path.display()));
        }
        _ => {
            run.arg(format!("+{line}")).arg(path);
        }
    }
    match run.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{program} ended with {status}")),
        Err(e) => Err(format!(
            "{program} could not be started ({}): set EDITOR",
            e.kind()
        )),
    }
}
