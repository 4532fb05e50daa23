//! The real program in a real pseudo-terminal.
//!
//! Output is fed to a terminal emulator as it arrives; a test waits for what the screen shows, with
//! a deadline, and never for a fixed time.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use portable_pty::{CommandBuilder, ExitStatus, MasterPty, PtySize, SlavePty, native_pty_system};

/// How long anything may take. Generous, because a loaded machine is slow; reached only on failure.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// A running program and the screen it draws on.
pub struct Terminal {
    parser: vt100::Parser,
    output: Receiver<Vec<u8>>,
    raw: Vec<u8>,
    exit: Receiver<ExitStatus>,
    status: Option<ExitStatus>,
    input: Box<dyn std::io::Write + Send>,
    master: Box<dyn MasterPty + Send>,
    /// Kept open so that the line settings can still be asked for after the program has gone.
    _slave: Box<dyn SlavePty + Send>,
    settings: String,
    pid: i32,
}

/// A command for [`Terminal::start`]: nothing in the environment but what a login sets.
pub fn command(program: &str, home: &Path) -> CommandBuilder {
    let mut command = CommandBuilder::new(program);
    command.env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("HOME", home);
    command.env("LANG", "C.UTF-8");
    command.env("TERM", "xterm-256color");
    command.env("TMPDIR", std::env::temp_dir());
    command.cwd(home);
    command
}

impl Terminal {
    /// Start a command on a terminal of this size.
    pub fn start(command: CommandBuilder, columns: u16, rows: u16) -> Self {
        let size = PtySize {
            rows,
            cols: columns,
            pixel_width: 0,
            pixel_height: 0,
        };
        let pair = native_pty_system().openpty(size).unwrap();
        let settings = line_settings(&*pair.master);
        let mut child = pair.slave.spawn_command(command).unwrap();
        let pid = i32::try_from(child.process_id().unwrap()).unwrap();

        let (send_exit, exit) = channel();
        std::thread::spawn(move || {
            if let Ok(status) = child.wait() {
                let _ = send_exit.send(status);
            }
        });
        let mut reader = pair.master.try_clone_reader().unwrap();
        let (send, output) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(n) = reader.read(&mut buffer) {
                if n == 0 || send.send(buffer[..n].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self {
            parser: vt100::Parser::new(rows, columns, 0),
            output,
            raw: Vec::new(),
            exit,
            status: None,
            input: pair.master.take_writer().unwrap(),
            master: pair.master,
            _slave: pair.slave,
            settings,
            pid,
        }
    }

    /// Type text or keys: `<ret>`, `<esc>`, `<tab>`, `<up>`, `<down>`, `<left>`, `<right>`, `<bs>`,
    /// `<space>`, `<pgdn>`, `<pgup>`, `<home>`, `<end>`, `<lt>`, `<C-x>`; all else as it stands.
    pub fn keys(&mut self, keys: &str) {
        let mut bytes = Vec::new();
        let mut rest = keys;
        while let Some(c) = rest.chars().next() {
            if c == '<'
                && let Some(end) = rest.find('>')
            {
                bytes.extend_from_slice(&key(&rest[1..end]));
                rest = &rest[end + 1..];
            } else {
                bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                rest = &rest[c.len_utf8()..];
            }
        }
        self.input.write_all(&bytes).unwrap();
        self.input.flush().unwrap();
    }

    /// Wait until the screen shows `text`; fails with the screen after [`DEADLINE`].
    pub fn wait_for(&mut self, text: &str) {
        self.wait_until(&format!("the text {text:?}"), |screen| {
            screen.contains(text)
        });
    }

    /// Wait until `text` is no longer on the screen.
    pub fn wait_gone(&mut self, text: &str) {
        self.wait_until(&format!("the end of {text:?}"), |screen| {
            !screen.contains(text)
        });
    }

    /// Wait until a condition on the screen's text holds.
    pub fn wait_until(&mut self, what: &str, mut holds: impl FnMut(&str) -> bool) {
        let deadline = Instant::now() + DEADLINE;
        loop {
            self.drain();
            let screen = self.screen();
            if holds(&screen) {
                return;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self
                .output
                .recv_timeout(left.min(Duration::from_millis(200)))
            {
                Ok(bytes) => self.take(&bytes),
                Err(RecvTimeoutError::Timeout) if !left.is_zero() => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    panic!("waited in vain for {what}; the screen shows\n{screen}")
                }
            }
        }
    }

    /// What the screen shows, one line per row, trailing blanks cut.
    pub fn screen(&self) -> String {
        let (_, columns) = self.parser.screen().size();
        let rows: Vec<String> = self
            .parser
            .screen()
            .rows(0, columns)
            .map(|r| r.trim_end().to_owned())
            .collect();
        rows.join("\n")
    }

    /// Every byte the program wrote so far.
    pub fn raw(&mut self) -> &[u8] {
        self.drain();
        &self.raw
    }

    /// Change the size, as dragging a window does.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        self.drain();
        self.parser.screen_mut().set_size(rows, columns);
        self.master
            .resize(PtySize {
                rows,
                cols: columns,
                pixel_width: 0,
                pixel_height: 0,
            })
            .unwrap();
    }

    /// Send a signal to the program; one that has just ended does not mind.
    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_raw(self.pid).unwrap();
        match rustix::process::kill_process(pid, signal) {
            Ok(()) | Err(rustix::io::Errno::SRCH) => {}
            Err(e) => panic!("the signal could not be sent: {e}"),
        }
    }

    /// Wait until the program ends.
    pub fn wait_exit(&mut self) -> ExitStatus {
        if let Some(status) = &self.status {
            return status.clone();
        }
        let Ok(status) = self.exit.recv_timeout(DEADLINE) else {
            self.drain();
            panic!(
                "the program does not end; the screen shows\n{}",
                self.screen()
            );
        };
        // What it wrote last may still be on its way through the reader's thread.
        while let Ok(bytes) = self.output.recv_timeout(Duration::from_millis(50)) {
            self.take(&bytes);
        }
        self.status = Some(status.clone());
        status
    }

    /// Fails unless the terminal is as it was before the program started: line settings, main
    /// screen, visible cursor, no mouse or paste mode.
    pub fn assert_restored(&mut self) {
        self.drain();
        assert_eq!(
            line_settings(&*self.master),
            self.settings,
            "the line settings differ"
        );
        let screen = self.parser.screen();
        assert!(!screen.alternate_screen(), "still on the alternate screen");
        assert!(!screen.hide_cursor(), "the cursor is still hidden");
        assert!(!screen.bracketed_paste(), "bracketed paste is still on");
        assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None);
    }

    fn drain(&mut self) {
        while let Ok(bytes) = self.output.try_recv() {
            self.take(&bytes);
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        self.raw.extend_from_slice(bytes);
        self.parser.process(bytes);
        // A program may ask where the cursor is; a terminal answers.
        if bytes.windows(4).any(|w| w == b"\x1b[6n") {
            let (row, column) = self.parser.screen().cursor_position();
            let _ = write!(self.input, "\x1b[{};{}R", row + 1, column + 1);
            let _ = self.input.flush();
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if self.status.is_none()
            && self.exit.try_recv().is_err()
            && let Some(pid) = rustix::process::Pid::from_raw(self.pid)
        {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }
}

fn line_settings(master: &dyn MasterPty) -> String {
    format!("{:?}", master.get_termios())
}

fn key(name: &str) -> Vec<u8> {
    match name {
        "ret" => b"\r".to_vec(),
        "esc" => b"\x1b".to_vec(),
        "tab" => b"\t".to_vec(),
        "bs" => b"\x7f".to_vec(),
        "space" => b" ".to_vec(),
        "lt" => b"<".to_vec(),
        "up" => b"\x1b[A".to_vec(),
        "down" => b"\x1b[B".to_vec(),
        "right" => b"\x1b[C".to_vec(),
        "left" => b"\x1b[D".to_vec(),
        "home" => b"\x1b[H".to_vec(),
        "end" => b"\x1b[F".to_vec(),
        "pgup" => b"\x1b[5~".to_vec(),
        "f12" => b"\x1b[24~".to_vec(),
        "pgdn" => b"\x1b[6~".to_vec(),
        ctrl if ctrl.starts_with("C-") && ctrl.len() == 3 => vec![ctrl.as_bytes()[2] & 0x1f],
        other => panic!("no key is called <{other}>"),
    }
}
