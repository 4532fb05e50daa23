//! The command line: what can be typed, and its help.
//!
//! Responsible for: the clap definitions and [`parse`]. Not responsible for: doing anything
//! ([`crate::commands`]), reading the environment or printing (`main`).
//!
//! The command line is a contract: options, exit codes and `--json` fields change only on purpose.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand, ValueEnum};

const ABOUT: &str = "A terminal settings editor for Hermes Agent that never loses a byte";

const LONG_ABOUT: &str = "\
A terminal settings editor for Hermes Agent that never loses a byte.

Without a command it opens the editor on the home that `hermes` itself would use. The commands do \
the same work without a screen, for scripts. A save changes the bytes it was asked to change and \
no others, also through links, bind mounts and other filesystems.";

const AFTER_HELP: &str = "\
Examples:
  hermes-tui                                  open the editor
  hermes-tui --demo                           try it on a throw-away home
  hermes-tui get model.default                print one value
  hermes-tui set agent.max_turns 90           change one value, keep every comment
  hermes-tui set OPENROUTER_API_KEY --stdin   read a secret from standard input
  hermes-tui set approvals.mode off --dry-run show what would change, and how
  hermes-tui -p work doctor                   check the profile `work`

Exit codes: 0 done (also when nothing had to change), 1 refused or failed with nothing lost, \
2 wrong usage.";

/// Everything that can stand on the command line.
#[derive(Debug, Clone, Parser)]
#[command(
    name = "hermes-tui",
    version,
    about = ABOUT,
    long_about = LONG_ABOUT,
    after_help = AFTER_HELP,
    disable_help_subcommand = true,
    max_term_width = 100
)]
pub struct Cli {
    /// Options that stand before or after the command.
    #[command(flatten)]
    pub global: Global,
    /// What to do; the editor when there is none.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Options accepted before and after the command.
#[derive(Debug, Clone, Default, Args)]
#[allow(clippy::struct_excessive_bools)] // each is one switch on the command line
pub struct Global {
    /// Use this Hermes home instead of the one that `hermes` would use
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        conflicts_with = "profile",
        help_heading = "Which home"
    )]
    pub home: Option<PathBuf>,

    /// Use this profile (`default` is the root)
    #[arg(
        short,
        long,
        global = true,
        value_name = "NAME",
        help_heading = "Which home"
    )]
    pub profile: Option<String>,

    /// Use a throw-away sample home; it is gone when the program ends
    #[arg(long, global = true, conflicts_with_all = ["home", "profile"], help_heading = "Which home")]
    pub demo: bool,

    /// The key is a variable of .env, whatever it looks like
    #[arg(
        long,
        global = true,
        conflicts_with = "config",
        help_heading = "Which file"
    )]
    pub env: bool,

    /// The key is a path in config.yaml, whatever it looks like
    #[arg(long, global = true, help_heading = "Which file")]
    pub config: bool,

    /// Print the difference and the way the save would take; write nothing
    #[arg(long, global = true, help_heading = "Output")]
    pub dry_run: bool,

    /// Print one JSON object with stable fields
    #[arg(long, global = true, help_heading = "Output")]
    pub json: bool,

    /// Print nothing but what was asked for and errors
    #[arg(long, short, global = true, help_heading = "Output")]
    pub quiet: bool,

    /// Keep no copy of a file before it is changed for the first time
    #[arg(long, global = true, help_heading = "Saving")]
    pub no_backup: bool,

    /// Draw with ASCII characters only
    #[arg(long, global = true, help_heading = "Output")]
    pub ascii: bool,
}

/// Which content of a conflict is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Settle {
    /// The file as it is now.
    File,
    /// What the file held before the interrupted save.
    Old,
    /// What the interrupted save was writing.
    New,
}

/// The commands.
#[derive(Debug, Clone, Subcommand)]
pub enum Command {
    /// Print the value that is in force
    #[command(after_help = "\
KEY is a dotted path in config.yaml (`agent.max_turns`, `fallback_providers.0.model`) or a \
variable of .env (`OPENROUTER_API_KEY`). `\\.` is a dot inside a name: \
`providers.gpt-4\\.1.base_url`.

The value printed is the effective one: an administrator's value wins over the file, the file \
over the default. A key without any value is an error (exit 1).

Examples:
  hermes-tui get model.default
  hermes-tui get terminal --json
  hermes-tui get OPENROUTER_API_KEY | wc -c     plain into a pipe, masked on a terminal")]
    Get {
        /// Dotted path or variable name
        key: String,
        /// Show a secret on a terminal too
        #[arg(long)]
        reveal: bool,
    },

    /// Change one value, and not one byte beyond it
    #[command(after_help = "\
VALUE may be empty, start with a dash or hold any text; directly behind KEY it is always the \
value, except --stdin. It is read by the type of the setting; for an unknown one as a YAML value \
(`true`, `12`, `[a, b]`, `{a: 1}`), or literally with --string.

A known variable (or a name ending in _API_KEY, _TOKEN, _SECRET, _KEY, _PASSWORD, in upper case) \
goes to .env, everything else to config.yaml; --env and --config force the file.

Examples:
  hermes-tui set agent.max_turns 90
  hermes-tui set platform_toolsets.cron '[web, file]'
  hermes-tui set --string discord.channel_prompts.1234 'short answers'
  pass show openrouter | hermes-tui set OPENROUTER_API_KEY --stdin
  hermes-tui set approvals.mode off --dry-run")]
    Set {
        /// Dotted path or variable name
        key: String,
        /// The new value
        #[arg(
            allow_hyphen_values = true,
            required_unless_present = "stdin",
            conflicts_with = "stdin"
        )]
        value: Option<String>,
        /// Read the value from standard input; one final line end is dropped
        #[arg(long)]
        stdin: bool,
        /// Take the value literally, as text
        #[arg(long)]
        string: bool,
        /// Write a value although it is known to be wrong for this key
        #[arg(long)]
        force: bool,
    },

    /// Take a key out of its file, so that its default is in force again
    #[command(after_help = "\
A key that is not set is an error (exit 1), and nothing is written.

Examples:
  hermes-tui unset agent.max_turns
  hermes-tui unset custom_providers.0
  hermes-tui unset OPENAI_API_KEY")]
    Unset {
        /// Dotted path or variable name
        key: String,
    },

    /// List what the files set, with secrets masked
    #[command(after_help = "\
Examples:
  hermes-tui list                 every value set in config.yaml and .env
  hermes-tui list --env           the variables only
  hermes-tui list --all terminal  also what is left at its default, below `terminal`
  hermes-tui list --json | jq '.rows[] | select(.origin == \"managed\")'")]
    List {
        /// Only keys at or below this one
        key: Option<String>,
        /// Also known settings that are not set
        #[arg(long)]
        all: bool,
    },

    /// Find what Hermes would misread or ignore
    #[command(after_help = "\
Exit code 1 means that at least one problem of the severity `error` was found.

With --probe each file of the home, the state files of the gateway included, is tried out: could \
a save there succeed, and how? The files themselves are not touched.

Examples:
  hermes-tui doctor
  hermes-tui doctor --probe --json")]
    Doctor {
        /// Prove for each file that a save would work, without touching it
        #[arg(long)]
        probe: bool,
    },

    /// Print where the home and its files are
    Path {
        /// Which path
        #[arg(value_enum, default_value_t = PathKind::Home)]
        what: PathKind,
    },

    /// Replace a file's content atomically
    #[command(after_help = "\
Links stay links, the mode, the owner, ACLs and hard links of TARGET are kept, and at every moment \
either the old or the new content is whole. Works for any file, also across filesystems.

Examples:
  generate | hermes-tui write ~/.hermes/channel_directory.json
  hermes-tui write ~/.hermes/SOUL.md --from soul.md --json")]
    Write {
        /// The file to replace
        target: PathBuf,
        /// Where the new content is (default: standard input)
        #[arg(long, value_name = "FILE")]
        from: Option<PathBuf>,
    },

    /// Move a finished temporary file over another file, also across filesystems
    #[command(after_help = "\
What rename(2) does where it can. Where TMP lies on another filesystem (EXDEV) its content is \
staged beside TARGET first and then renamed; TMP is removed only after success.

Example:
  hermes-tui replace ids.json.new ~/.hermes/feishu_seen_message_ids.json")]
    Replace {
        /// The finished new file
        tmp: PathBuf,
        /// The file whose place it takes
        target: PathBuf,
    },

    /// Finish or take back what an interrupted save left behind
    #[command(after_help = "\
A file that somebody else changed after the interruption is a conflict: it is left alone until you
say which content is right.

Examples:
  hermes-tui recover
  hermes-tui recover --settle ~/.hermes/.hermes-tui-1a2b3c4d.journal --with old")]
    Recover {
        /// Settle the conflict of this journal, as `recover` named it
        #[arg(long, value_name = "JOURNAL", requires = "with")]
        settle: Option<PathBuf>,
        /// Which content is right: the file as it is, or one of the journal's two versions
        #[arg(long, value_enum, requires = "settle")]
        with: Option<Settle>,
    },

    /// List the copies kept of changed files, or bring one back
    #[command(after_help = "\
Examples:
  hermes-tui restore                              every copy there is, the newest first
  hermes-tui restore config.yaml                  bring the newest copy of config.yaml back
  hermes-tui restore config.yaml 20261201T120000Z the copy made then")]
    Restore {
        /// The file: a name in the home, or a path
        file: Option<PathBuf>,
        /// Which copy: when it was made, as the list says it
        made: Option<String>,
    },

    /// Print the completions of a shell
    #[command(after_help = "\
Example:
  hermes-tui completions bash > ~/.local/share/bash-completion/completions/hermes-tui")]
    Completions {
        /// Which shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
}

/// What `path` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PathKind {
    /// The home itself
    Home,
    /// Its config.yaml
    Config,
    /// Its .env
    Env,
}

/// Read a command line, the program's name first. The error prints itself as clap does (help and
/// version are "errors" with exit code 0).
///
/// `set KEY --json` is the one place where clap and our contract differ: what stands directly
/// behind KEY is the value, whatever it looks like. So when clap finds no value there, the token
/// is handed to it again behind `--`.
pub fn parse(args: &[OsString]) -> Result<Cli, clap::Error> {
    match Cli::try_parse_from(args) {
        Err(error) if wants_value(&error) => match value_behind_key(args) {
            Some(moved) => Cli::try_parse_from(moved).map_err(|_| error),
            None => Err(error),
        },
        other => other,
    }
}

/// Whether clap failed in a way that taking an option for the value could mend.
fn wants_value(error: &clap::Error) -> bool {
    !matches!(
        error.kind(),
        ErrorKind::InvalidSubcommand | ErrorKind::InvalidUtf8
    )
}

/// For `… set … KEY TOKEN rest…`: the same line with TOKEN moved behind `--`.
fn value_behind_key(args: &[OsString]) -> Option<Vec<OsString>> {
    let mut positionals = 0;
    let mut at = 1;
    while positionals < 2 {
        let arg = args.get(at)?;
        at += 1;
        let text = arg.to_string_lossy();
        if text == "--" {
            return None;
        }
        if takes_value(arg) {
            at += 1;
        } else if !text.starts_with('-') || text == "-" {
            if positionals == 0 && text != "set" {
                return None;
            }
            positionals += 1;
        }
    }
    let value = args.get(at).filter(|v| *v != "--stdin")?;
    let mut moved = args[..at].to_vec();
    moved.extend_from_slice(&args[at + 1..]);
    moved.push("--".into());
    moved.push(value.clone());
    Some(moved)
}

/// Whether the next argument belongs to this one.
fn takes_value(arg: &OsStr) -> bool {
    matches!(arg.to_str(), Some("--home" | "--profile" | "-p"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_line(line: &[&str]) -> Result<Cli, clap::Error> {
        let args: Vec<OsString> = std::iter::once("hermes-tui")
            .chain(line.iter().copied())
            .map(Into::into)
            .collect();
        parse(&args)
    }

    fn value_of(line: &[&str]) -> Option<String> {
        match parse_line(line).unwrap().command {
            Some(Command::Set { value, .. }) => value,
            other => panic!("not a set: {other:?}"),
        }
    }

    #[test]
    fn the_definitions_are_sound() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn options_stand_before_and_after_the_command() {
        for line in [
            &["--home", "/h", "--json", "get", "a.b"][..],
            &["get", "a.b", "--json", "--home", "/h"],
            &["get", "--home=/h", "a.b", "--json"],
        ] {
            let cli = parse_line(line).unwrap();
            assert_eq!(
                cli.global.home.as_deref(),
                Some(std::path::Path::new("/h")),
                "{line:?}"
            );
            assert!(cli.global.json);
            assert!(matches!(cli.command, Some(Command::Get { key, .. }) if key == "a.b"));
        }
    }

    #[test]
    fn a_value_may_look_like_anything() {
        for value in [
            "",
            "-",
            "-5",
            "--",
            "---",
            "--json",
            "--env",
            "--home",
            "--home=/x",
            "-p",
            "-q",
            "-pq",
            "--help",
            "-h",
            "--version",
            "-V",
            "--nonsense",
            "set",
            "get",
            "a b",
            "--string",
        ] {
            assert_eq!(
                value_of(&["set", "k", value]).as_deref(),
                Some(value),
                "{value:?}"
            );
            let long = ["--home", "/h", "set", "--config", "k", value];
            assert_eq!(
                value_of(&long).as_deref(),
                Some(value),
                "{value:?} behind options"
            );
        }
        assert_eq!(
            value_of(&["set", "k", "--", "--stdin"]).as_deref(),
            Some("--stdin")
        );
    }

    #[test]
    fn options_between_key_and_value_are_still_options() {
        let cli = parse_line(&["set", "k", "--string", "-5", "--json"]).unwrap();
        assert!(cli.global.json);
        assert!(
            matches!(cli.command, Some(Command::Set { value: Some(v), string: true, .. }) if v == "-5")
        );
        let cli = parse_line(&["set", "k", "--json", "--quiet"]).unwrap();
        assert!(
            cli.global.quiet && !cli.global.json,
            "the first one stands in VALUE's place"
        );
    }

    #[test]
    fn stdin_takes_the_place_of_the_value() {
        assert_eq!(value_of(&["set", "k", "--stdin"]), None);
        assert!(parse_line(&["set", "k", "v", "--stdin"]).is_err());
        assert!(parse_line(&["set", "k"]).is_err());
    }

    #[test]
    fn wrong_usage_has_exit_code_two() {
        for line in [
            &["set"][..],
            &["nonsense"],
            &["get"],
            &["--nonsense"],
            &["get", "--env", "--config", "k"],
            &["--home", "/h", "-p", "x"],
            &["set", "k", "v", "w"],
        ] {
            assert_eq!(parse_line(line).unwrap_err().exit_code(), 2, "{line:?}");
        }
        assert_eq!(parse_line(&["set", "--help"]).unwrap_err().exit_code(), 0);
    }
}
