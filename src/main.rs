//! Arguments, environment read once, dispatch, and the only way out of the process.

use std::ffi::OsString;
use std::io::{self, BufWriter, IsTerminal as _, Write as _};
use std::process::ExitCode;

use hermes_tui::cli::{self, Global};
use hermes_tui::commands::{self, Ending, Failure, Streams};
use hermes_tui::home::Environment;
use hermes_tui::tui::{self, Theme};
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
            let result = out.flush().map_err(Failure::from).and(result);
            result.map(|ending| match ending {
                Ending::Done => ExitCode::SUCCESS,
                Ending::FoundFaults => ExitCode::FAILURE,
            })
        }
        None => open_editor(&cli.global, &env),
    };
    match result {
        Ok(code) => code,
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

fn open_editor(global: &Global, env: &Environment) -> Result<ExitCode, Failure> {
    if global.dry_run {
        return Err(Failure::new(
            "--dry-run goes with a command; the editor always shows a review first",
        ));
    }
    let demo = if global.demo {
        Some(commands::make_demo(env)?)
    } else {
        None
    };
    let home = commands::find_home(global, env, demo.as_ref())?;
    let theme = Theme {
        color: !env.is_set("NO_COLOR"),
        ascii: global.ascii || !shows_unicode(env),
    };
    match tui::run(home, env, theme) {
        Ok(tui::Ending::Left) => Ok(ExitCode::SUCCESS),
        // As a shell reports it.
        Ok(tui::Ending::Signal(signal)) => {
            Ok(ExitCode::from(u8::try_from(128 + signal).unwrap_or(1)))
        }
        Err(error) => Err(Failure::new(error.to_string())),
    }
}

/// Whether the locale can show more than ASCII. Without any locale (many containers) the terminal
/// can all the same; an explicit one is believed.
fn shows_unicode(env: &Environment) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| env.trimmed(name));
    locale.is_none_or(|text| {
        let text = text.to_lowercase();
        text.contains("utf-8") || text.contains("utf8")
    })
}
