//! Arguments, environment read once, dispatch, and the only way out of the process.

use std::ffi::OsString;
use std::io::{self, BufWriter, IsTerminal as _, Write as _};
use std::process::ExitCode;

use hermes_tui::cli::{self, Global};
use hermes_tui::commands::{self, Ending, Failure, Streams};
use hermes_tui::home::Environment;
use hermes_tui::tui;
use hermes_tui::writer;

fn main() -> ExitCode {
    // A write beyond the size limit must come back as an error and not end the program halfway.
    let _ = writer::ignore_file_size_signal();
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
        // As shells report a program that a signal ended.
        Ok(Ending::Signal(number)) => ExitCode::from(u8::try_from(128 + number).unwrap_or(1)),
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
    let demo = if global.demo {
        Some(commands::make_demo(env)?)
    } else {
        None
    };
    let home = commands::find_home(global, env, demo.as_ref())?;
    match tui::run(home, env, theme(global, env)) {
        Ok(tui::Ending::Left) => Ok(Ending::Done),
        Ok(tui::Ending::Signal(number)) => Ok(Ending::Signal(number)),
        Err(error) => Err(Failure::new(error.to_string())),
    }
}

/// What the terminal can show, by the conventions that programs share.
fn theme(global: &Global, env: &Environment) -> tui::Theme {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| env.trimmed(name))
        .unwrap_or_default()
        .to_lowercase();
    // No locale at all says nothing; most terminals of today show UTF-8 then.
    let utf8 = locale.is_empty() || locale.contains("utf-8") || locale.contains("utf8");
    tui::Theme {
        color: !env.is_set("NO_COLOR"),
        ascii: global.ascii || !utf8,
    }
}
