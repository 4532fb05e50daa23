//! The commands without a screen.
//!
//! Responsible for: turning one parsed command line into output and a result. Not responsible for:
//! printing errors and ending the process (`main`), or how files are changed ([`crate::session`],
//! [`crate::writer`]).

mod commit;
mod demo;
mod doctor;
mod failure;
mod files;
mod get;
mod list;
mod path;
mod receipt;
mod render;
mod restore;
mod set;
mod shape;
mod target;
mod unset;

use std::io::{Read, Write};

use clap::CommandFactory as _;
use serde_json::Value as Json;

use crate::cli::{Cli, Command, Global};
use crate::home::{self, Environment, Home, HomeRequest};
use crate::session::{self, Session};
use crate::writer;

pub use demo::Demo;
pub use failure::Failure;

/// Where input comes from and output goes to.
pub struct Streams<'a> {
    /// Standard output.
    pub out: &'a mut dyn Write,
    /// Standard error, for warnings.
    pub err: &'a mut dyn Write,
    /// Standard input.
    pub input: &'a mut dyn Read,
    /// Somebody reads standard output on a screen, so secrets are masked there.
    pub on_terminal: bool,
}

/// How a command ended that did what it was asked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Exit code 0.
    Done,
    /// It looked for faults and found some: exit code 1.
    FoundFaults,
}

/// What every command works with.
struct Context<'a> {
    global: &'a Global,
    env: &'a Environment,
    io: Streams<'a>,
    /// The throw-away home, kept for as long as the command runs.
    demo: Option<Demo>,
}

/// Run a command.
///
/// # Errors
/// [`Failure`], with what to do; nothing was lost.
pub fn run<'a>(
    global: &'a Global,
    command: &Command,
    env: &'a Environment,
    io: Streams<'a>,
) -> Result<Ending, Failure> {
    let demo = if global.demo {
        Some(make_demo(env)?)
    } else {
        None
    };
    let mut context = Context {
        global,
        env,
        io,
        demo,
    };
    match command {
        Command::Get { key, reveal } => get::run(&mut context, key, *reveal),
        Command::Set {
            key,
            value,
            stdin: _,
            string,
            force,
        } => {
            let value = value.as_deref();
            set::run(
                &mut context,
                &set::Request {
                    key,
                    value,
                    string: *string,
                    force: *force,
                },
            )
        }
        Command::Unset { key } => unset::run(&mut context, key),
        Command::List { key, all } => list::run(&mut context, key.as_deref(), *all),
        Command::Doctor { probe } => doctor::run(&mut context, *probe),
        Command::Path { what } => path::run(&mut context, *what),
        Command::Write { target, from } => files::write(&mut context, target, from.as_deref()),
        Command::Replace { tmp, target } => files::replace(&mut context, tmp, target),
        Command::Recover { settle, with } => match (settle, with) {
            (Some(journal), Some(with)) => files::settle(&mut context, journal, *with),
            _ => files::recover(&mut context),
        },
        Command::Restore { file, made } => {
            restore::run(&mut context, file.as_deref(), made.as_deref())
        }
        Command::Completions { shell } => {
            // Into memory first: the generator panics when its output is closed.
            let mut text = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "hermes-tui", &mut text);
            context.io.out.write_all(&text)?;
            Ok(Ending::Done)
        }
    }
}

/// Make the home of `--demo`.
///
/// # Errors
/// When the directory for temporary files cannot be written.
pub fn make_demo(env: &Environment) -> Result<Demo, Failure> {
    let temp_dir = env.absolute(env.trimmed("TMPDIR").unwrap_or("/tmp").as_ref());
    Demo::create(&temp_dir).map_err(|e| {
        Failure::new(format!(
            "the demo home cannot be made in {}: {e}",
            temp_dir.display()
        ))
        .hint("name a directory that you can write with TMPDIR=…")
    })
}

/// Find the home that the options ask for.
///
/// # Errors
/// When no home can be named; a home that does not exist is no error.
pub fn find_home(global: &Global, env: &Environment, demo: Option<&Demo>) -> Result<Home, Failure> {
    let request = HomeRequest {
        home: demo.map(|d| d.home.clone()).or_else(|| global.home.clone()),
        profile: global.profile.clone(),
    };
    let mut home = home::resolve(&request, env).map_err(|e| Failure::new(e.to_string()))?;
    home.backups = !global.no_backup;
    if demo.is_some() {
        // The sample home is for trying things out, on a managed machine too.
        home.managed = None;
        home.scope = None;
    }
    Ok(home)
}

impl Context<'_> {
    /// The home, there or not.
    fn any_home(&self) -> Result<Home, Failure> {
        find_home(self.global, self.env, self.demo.as_ref())
    }

    /// The home, which must exist.
    fn home(&self) -> Result<Home, Failure> {
        let home = self.any_home()?;
        if home.exists {
            return Ok(home);
        }
        let path = self.env.absolute(&home.path);
        Err(Failure::new(format!(
            "there is no Hermes home at {} ({})",
            path.display(),
            home.origin
        ))
        .hint(format!(
            "make it with: mkdir -m 700 -p '{}', or name another with --home or -p",
            path.display()
        )))
    }

    /// Print one JSON object.
    fn print_json(&mut self, value: &Json) -> Result<(), Failure> {
        serde_json::to_writer_pretty(&mut self.io.out, value).map_err(std::io::Error::from)?;
        writeln!(self.io.out)?;
        Ok(())
    }

    /// Something worth knowing that is neither the result nor an error.
    /// The home with its files read. What an interrupted save left is put right first: a torn file
    /// would otherwise look like one that its owner has to mend.
    fn open(&mut self) -> Result<Session, Failure> {
        let home = self.home()?;
        if !self.global.dry_run && home.managed.is_none() {
            for found in writer::recover(&session::options(&home)) {
                let about = found
                    .target
                    .as_ref()
                    .unwrap_or(&found.leftover)
                    .display()
                    .to_string();
                self.warn(&format!("{about}: {}", found.detail))?;
            }
        }
        Ok(Session::open(home))
    }

    fn warn(&mut self, text: &str) -> Result<(), Failure> {
        if !self.global.quiet {
            writeln!(self.io.err, "hermes-tui: {text}")?;
        }
        Ok(())
    }
}
