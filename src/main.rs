//! Arguments, environment read once, dispatch, and the only way out of the process.

use std::ffi::OsString;
use std::io::{self, BufWriter, IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hermes_tui::cli::{self, Global};
use hermes_tui::commands::{self, Ending, Failure, Streams};
use hermes_tui::home::Environment;

fn main() -> ExitCode {
    // A write beyond the size limit must come back as an error and not end the program halfway.
    // The flag is never read; having a handler is what counts.
    let _ = signal_hook::flag::register(
        signal_hook::consts::SIGXFSZ,
        Arc::new(AtomicBool::new(false)),
    );
    // Panics then name their place. A second installation is impossible here.
    let _ = color_eyre::install();

    let args: Vec<OsString> = std::env::args_os().collect();
    let cli = match cli::parse(&args) {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let env = Environment::of_process();
    let result = match &cli.command {
        Some(command) => {
            let mut out = BufWriter::new(io::stdout().lock());
            let io = Streams {
                out: &mut out,
                err: &mut io::stderr().lock(),
                input: &mut io::stdin().lock(),
                on_terminal: io::stdout().is_terminal(),
            };
            let result = commands::run(&cli.global, command, &env, io);
            out.flush().map_err(Failure::from).and(result)
        }
        None => open_editor(&cli.global, &env),
    };
    match result {
        Ok(Ending::Done) => ExitCode::SUCCESS,
        Ok(Ending::FoundFaults) => ExitCode::FAILURE,
        Err(failure) if failure.broken_pipe => ExitCode::SUCCESS,
        Err(failure) => {
            // Whatever cannot be printed any more has nobody who could read it.
            if cli.global.json {
                let _ = writeln!(io::stdout(), "{}", failure.to_json());
            }
            let _ = writeln!(io::stderr(), "{failure}");
            ExitCode::FAILURE
        }
    }
}

fn open_editor(global: &Global, env: &Environment) -> Result<Ending, Failure> {
    let dumb = env.trimmed("TERM").is_none_or(|term| term == "dumb");
    if dumb || !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(Failure::new(
            "the editor needs a terminal (and a TERM other than `dumb`); for use without one see \
             hermes-tui --help",
        ));
    }
    let demo = if global.demo {
        Some(commands::make_demo(env)?)
    } else {
        None
    };
    let _home = commands::find_home(global, env, demo.as_ref())?;
    Err(Failure::new("the editor is not part of this build"))
}
