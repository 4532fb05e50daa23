//! Taking the terminal and giving it back, whatever happens.

use std::io::{self, BufWriter, Stdout, Write};
use std::mem::ManuallyDrop;
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen,
    LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, execute, queue};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

use super::model::Model;
use super::view;

type Output = CrosstermBackend<BufWriter<Stdout>>;
type Hook = Box<dyn Fn(&panic::PanicHookInfo<'_>) + Sync + Send + 'static>;

/// The terminal while it is ours. Dropping it gives the terminal back.
pub struct Screen {
    /// Never dropped: dropping it prints to standard error when the line is dead, and printing
    /// panics then. [`give_back`] does all that its drop would do.
    terminal: ManuallyDrop<Terminal<Output>>,
    taken: Arc<AtomicBool>,
    previous_hook: Arc<Hook>,
}

impl Screen {
    /// Take the terminal: raw mode, alternate screen, bracketed paste. A panic from now on gives
    /// it back before its message is printed.
    pub fn take() -> io::Result<Self> {
        let taken = Arc::new(AtomicBool::new(false));
        let previous_hook: Arc<Hook> = Arc::new(panic::take_hook());
        let (flag, hook) = (Arc::clone(&taken), Arc::clone(&previous_hook));
        panic::set_hook(Box::new(move |info| {
            if flag.swap(false, Ordering::SeqCst) {
                give_back();
            }
            hook(info);
        }));
        let mut screen = Self {
            terminal: fresh()?,
            taken,
            previous_hook,
        };
        screen.enter()?;
        Ok(screen)
    }

    fn enter(&mut self) -> io::Result<()> {
        enable_raw_mode()?;
        self.taken.store(true, Ordering::SeqCst);
        execute!(
            io::stdout(),
            EnterAlternateScreen,
            Clear(ClearType::All),
            EnableBracketedPaste
        )?;
        // Not `Terminal::clear`: it asks the terminal where its cursor is, which costs a round trip
        // over SSH and fails where nobody answers.
        self.terminal = fresh()?;
        Ok(())
    }

    /// Draw one frame; the terminal shows it at once.
    pub fn draw(&mut self, model: &mut Model) -> io::Result<()> {
        queue!(self.terminal.backend_mut(), BeginSynchronizedUpdate)?;
        let drawn = self
            .terminal
            .draw(|frame| view::draw(frame, model))
            .map(drop);
        // Closed also when drawing failed, or the terminal would stay frozen.
        execute!(self.terminal.backend_mut(), EndSynchronizedUpdate)?;
        drawn
    }

    /// Run something with the terminal given back, then take it again.
    pub fn aside<T>(&mut self, work: impl FnOnce() -> T) -> io::Result<T> {
        self.leave();
        let result = work();
        self.enter()?;
        Ok(result)
    }

    /// The terminal's output, for sequences that are not part of a frame.
    pub fn output(&mut self) -> &mut impl Write {
        self.terminal.backend_mut()
    }

    fn leave(&mut self) {
        if self.taken.swap(false, Ordering::SeqCst) {
            give_back();
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.leave();
        let hook = Arc::clone(&self.previous_hook);
        if !std::thread::panicking() {
            panic::set_hook(Box::new(move |info| hook(info)));
        }
    }
}

/// A terminal that knows nothing of what is on the screen, so that the next frame is drawn whole.
fn fresh() -> io::Result<ManuallyDrop<Terminal<Output>>> {
    let backend = CrosstermBackend::new(BufWriter::with_capacity(1 << 16, io::stdout()));
    Ok(ManuallyDrop::new(Terminal::new(backend)?))
}

/// Undo everything that [`Screen::take`] did. Errors are of no use here: the terminal may be gone.
fn give_back() {
    let mut out = io::stdout();
    let _ = execute!(
        out,
        EndSynchronizedUpdate,
        DisableBracketedPaste,
        LeaveAlternateScreen,
        cursor::Show
    );
    let _ = disable_raw_mode();
    let _ = out.flush();
}
