//! The real program in a real pseudo-terminal.
#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used)]

mod support;

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::process::Signal;
use support::flows;
use support::peer::Peer;
use support::pty::{Terminal, command};

#[test]
fn the_harness_reads_types_and_waits() {
    let dir = support::scratch();
    let mut shell = command("sh", dir.path());
    shell.args([
        "-c",
        "printf 'ready> '; read x; printf 'got %s\\n' \"$x\"; exit 3",
    ]);
    let mut terminal = Terminal::start(shell, 40, 5);
    terminal.wait_for("ready>");
    terminal.keys("a b<ret>");
    terminal.wait_for("got a b");
    assert_eq!(terminal.wait_exit().exit_code(), 3);
    terminal.assert_restored();
}

#[test]
#[should_panic(expected = "alternate screen")]
fn the_harness_notices_a_terminal_that_was_left_behind() {
    let dir = support::scratch();
    let mut shell = command("sh", dir.path());
    shell.args(["-c", "printf '\\033[?1049h\\033[?25lhello'"]);
    let mut terminal = Terminal::start(shell, 40, 5);
    terminal.wait_exit();
    terminal.assert_restored();
}

// ── the main job ─────────────────────────────────────────────────────────────────────────────

/// A user's directory with a copy of the sample home in it, and a tmpfs of our own beside it.
struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    /// Inside mounts of our own.
    fn new() -> Self {
        let dir = support::scratch();
        std::fs::create_dir(dir.path().join("other")).unwrap();
        let place = Self { dir };
        support::run(
            "mount",
            &[
                "-t",
                "tmpfs",
                "-o",
                "mode=0700",
                "tmpfs",
                &place.at("other"),
            ],
        );
        std::fs::create_dir(place.dir.path().join("user")).unwrap();
        place
    }

    fn at(&self, name: &str) -> String {
        self.dir.path().join(name).to_str().unwrap().to_owned()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The sample home, here, read by `hermes` as it stands.
    fn sample(&self, name: &str) -> PathBuf {
        let home = self.path(name);
        support::copy_tree(&support::sample_home(), &home);
        // It would lead to another home.
        std::fs::remove_file(home.join("active_profile")).unwrap();
        home
    }

    /// The editor of a user whose home directory is `user`, on a terminal that shows it all.
    fn editor(&self) -> Terminal {
        Terminal::start(command(support::BIN, &self.path("user")), 120, 50)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount")
            .arg(self.at("other"))
            .output();
    }
}

/// What a receipt has to say about one file.
struct Receipt<'a> {
    point: &'a str,
    fs_type: &'a str,
    strategy: &'a str,
}

/// Change model and provider, one key and one setting; review; save. Then look at everything: the
/// receipt, the links, the difference, and what the real Hermes reads.
fn main_job(test: &str, place: &Place, config: &Receipt<'_>, env: &Receipt<'_>) {
    let home = place.path("user/.hermes");
    let read = |name: &str| std::fs::read_to_string(home.join(name)).unwrap();
    let link = |name: &str| std::fs::read_link(home.join(name)).ok();
    let links = [link(""), link("config.yaml"), link(".env")];
    let old = [read("config.yaml"), read(".env")];

    let mut terminal = place.editor();
    flows::pick_deepseek(&mut terminal);
    flows::set_tavily_key(&mut terminal, "tvly-typed-by-the-test");
    flows::set_max_turns(&mut terminal, "77");
    let receipt = flows::save(&mut terminal);
    flows::quit(&mut terminal);
    assert_eq!(terminal.wait_exit().exit_code(), 0);
    terminal.assert_restored();
    let raw = String::from_utf8_lossy(terminal.raw()).into_owned();
    assert!(
        !raw.contains("typed-by-the-test"),
        "the secret was on the screen"
    );

    let at = receipt.find(".env").unwrap();
    for (part, want) in [(&receipt[..at], config), (&receipt[at..], env)] {
        for text in [want.point, want.fs_type, want.strategy] {
            // A long path may be wrapped.
            let joined: String = part.split_whitespace().filter(|w| *w != "│").collect();
            assert!(
                joined.contains(text),
                "{text} is missing in the receipt:\n{receipt}"
            );
        }
    }
    let in_place = config.strategy == "in_place";
    assert_eq!(receipt.contains("EBUSY"), in_place, "{receipt}");

    assert_eq!(
        [link(""), link("config.yaml"), link(".env")],
        links,
        "a link changed"
    );
    assert_eq!(
        changes(&old[0], &read("config.yaml")),
        [
            "-  default: z-ai/glm-5.2          # cheap and good enough for daily chores",
            "-  provider: openrouter",
            "-  base_url: https://openrouter.ai/api/v1",
            "-  api_mode: chat_completions",
            "+  default: deepseek-v4-pro          # cheap and good enough for daily chores",
            "+  provider: deepseek",
            "+  base_url: https://api.deepseek.com/v1",
            "-  max_turns: 60",
            "+  max_turns: 77",
        ]
    );
    assert_eq!(
        changes(&old[1], &read(".env")),
        [
            "-TAVILY_API_KEY=tvly-FAKE0000000000001",
            "+TAVILY_API_KEY=tvly-typed-by-the-test"
        ]
    );

    let Some(peer) = Peer::find(test) else { return };
    assert_eq!(peer.get(&home, "model.default"), "deepseek-v4-pro");
    assert_eq!(peer.get(&home, "model.provider"), "deepseek");
    assert_eq!(peer.get(&home, "agent.max_turns"), "77");
    assert_eq!(peer.get(&home, "TAVILY_API_KEY"), "tvly-typed-by-the-test");
}

/// The lines that differ, in order.
fn changes(old: &str, new: &str) -> Vec<String> {
    use similar::{ChangeTag, TextDiff};
    TextDiff::from_lines(old, new)
        .iter_all_changes()
        .filter_map(|c| match c.tag() {
            ChangeTag::Equal => None,
            ChangeTag::Delete => Some(format!("-{}", c.value().trim_end())),
            ChangeTag::Insert => Some(format!("+{}", c.value().trim_end())),
        })
        .collect()
}

#[test]
fn the_main_job_where_the_home_is_a_link_to_another_filesystem() {
    let test = "the_main_job_where_the_home_is_a_link_to_another_filesystem";
    if !support::in_own_mounts(test) {
        return;
    }
    let place = Place::new();
    place.sample("other/hermes");
    std::os::unix::fs::symlink(place.path("other/hermes"), place.path("user/.hermes")).unwrap();
    let point = place.at("other");
    let want = Receipt {
        point: &point,
        fs_type: "tmpfs",
        strategy: "replace",
    };
    main_job(test, &place, &want, &want);
}

#[test]
fn the_main_job_where_the_files_are_links_to_another_filesystem() {
    let test = "the_main_job_where_the_files_are_links_to_another_filesystem";
    if !support::in_own_mounts(test) {
        return;
    }
    let place = Place::new();
    let home = place.sample("user/.hermes");
    for name in ["config.yaml", ".env"] {
        let real = place.path("other").join(name);
        std::fs::copy(home.join(name), &real).unwrap();
        std::fs::remove_file(home.join(name)).unwrap();
        std::os::unix::fs::symlink(&real, home.join(name)).unwrap();
    }
    let point = place.at("other");
    let want = Receipt {
        point: &point,
        fs_type: "tmpfs",
        strategy: "replace",
    };
    main_job(test, &place, &want, &want);
}

#[test]
fn the_main_job_where_each_file_is_mounted_singly() {
    let test = "the_main_job_where_each_file_is_mounted_singly";
    if !support::in_own_mounts(test) {
        return;
    }
    let place = Place::new();
    let home = place.sample("user/.hermes");
    for name in ["config.yaml", ".env"] {
        let real = place.path("other").join(name);
        std::fs::copy(home.join(name), &real).unwrap();
        support::run(
            "mount",
            &[
                "--bind",
                real.to_str().unwrap(),
                home.join(name).to_str().unwrap(),
            ],
        );
    }
    let points = [
        place.at("user/.hermes/config.yaml"),
        place.at("user/.hermes/.env"),
    ];
    let want = |point| Receipt {
        point,
        fs_type: "tmpfs",
        strategy: "in_place",
    };
    main_job(test, &place, &want(&points[0]), &want(&points[1]));
    for name in ["config.yaml", ".env"] {
        support::run("umount", &[home.join(name).to_str().unwrap()]);
    }
}

#[test]
fn the_main_job_on_a_plain_home() {
    let test = "the_main_job_on_a_plain_home";
    if !support::in_own_mounts(test) {
        return;
    }
    let place = Place::new();
    place.sample("user/.hermes");
    // Where the scratch directory is, is the machine's business.
    let want = Receipt {
        point: "mount",
        fs_type: "",
        strategy: "replace",
    };
    main_job(test, &place, &want, &want);
}

// ── ways out ─────────────────────────────────────────────────────────────────────────────────

/// A sample home of its own, and the editor on it at 80x24.
struct Opened {
    _dir: tempfile::TempDir,
    home: PathBuf,
    terminal: Terminal,
}

fn open(variables: &[(&str, &str)]) -> Opened {
    let dir = support::scratch();
    let home = dir.path().join("home");
    support::copy_tree(&support::sample_home(), &home);
    let terminal = start(dir.path(), &home, variables);
    Opened {
        _dir: dir,
        home,
        terminal,
    }
}

fn start(dir: &Path, home: &Path, variables: &[(&str, &str)]) -> Terminal {
    let mut editor = command(support::BIN, dir);
    for (name, value) in variables {
        editor.env(name, value);
    }
    editor.arg("--home");
    editor.arg(home);
    let mut terminal = Terminal::start(editor, 80, 24);
    terminal.wait_for("1 Models");
    terminal
}

#[test]
fn leaving_gives_the_terminal_back() {
    let mut opened = open(&[]);
    opened.terminal.keys("q");
    assert_eq!(opened.terminal.wait_exit().exit_code(), 0);
    opened.terminal.assert_restored();
}

#[test]
fn leaving_asks_when_something_is_unsaved() {
    let mut opened = open(&[]);
    let before = std::fs::read(opened.home.join("config.yaml")).unwrap();
    let terminal = &mut opened.terminal;
    flows::set_max_turns(terminal, "77");
    terminal.keys("<esc>");
    terminal.wait_for("approvals");
    terminal.keys("q");
    terminal.wait_until("a question about the unsaved change", |s| {
        s.to_lowercase().contains("unsaved") && s.contains('┌')
    });
    terminal.keys("<esc>");
    terminal.wait_gone("┌");
    assert_eq!(
        std::fs::read(opened.home.join("config.yaml")).unwrap(),
        before
    );
    opened.terminal.signal(Signal::TERM);
    opened.terminal.wait_exit();
}

#[test]
fn signals_end_the_editor_keep_the_edits_and_give_the_terminal_back() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129)] {
        let mut opened = open(&[]);
        let before = std::fs::read(opened.home.join("config.yaml")).unwrap();
        flows::set_max_turns(&mut opened.terminal, "77");
        opened.terminal.signal(signal);
        assert_eq!(opened.terminal.wait_exit().exit_code(), code, "{signal:?}");
        opened.terminal.assert_restored();
        assert_eq!(
            std::fs::read(opened.home.join("config.yaml")).unwrap(),
            before
        );

        // What was staged is offered at the next start.
        let mut again = start(opened.home.parent().unwrap(), &opened.home, &[]);
        again.wait_until("the offer of the unsaved change", |s| {
            s.contains("max_turns")
        });
        again.signal(Signal::TERM);
        again.wait_exit();
    }
}

#[test]
fn a_killed_editor_loses_no_edit() {
    let mut opened = open(&[]);
    flows::set_max_turns(&mut opened.terminal, "77");
    let draft = opened.home.join(".hermes-tui.draft");
    opened
        .terminal
        .wait_until("the draft to be written", |_| draft.exists());
    assert_eq!(std::fs::metadata(&draft).unwrap().mode() & 0o777, 0o600);
    opened.terminal.signal(Signal::KILL);
    opened.terminal.wait_exit();
    let mut again = start(opened.home.parent().unwrap(), &opened.home, &[]);
    again.wait_until("the offer of the unsaved change", |s| {
        s.contains("max_turns")
    });
    again.signal(Signal::TERM);
    again.wait_exit();
}

#[test]
fn a_panic_gives_the_terminal_back_and_shows_no_secret() {
    if !cfg!(debug_assertions) {
        return support::skip(
            "a_panic_gives_the_terminal_back_and_shows_no_secret",
            "only a debug build can be asked to panic",
        );
    }
    let mut opened = open(&[("HERMES_TUI_TEST_PANIC", "1")]);
    flows::set_tavily_key(&mut opened.terminal, "tvly-typed-by-the-test");
    opened.terminal.keys("<f12>");
    assert_eq!(opened.terminal.wait_exit().exit_code(), 1);
    opened.terminal.assert_restored();
    let screen = opened.terminal.screen();
    assert!(screen.contains("asked to panic"), "{screen}");
    let raw = String::from_utf8_lossy(opened.terminal.raw()).into_owned();
    for secret in [
        "typed-by-the-test",
        "FAKE00000",
        "FAKEdeepseek",
        "fake-feishu",
    ] {
        assert!(!raw.contains(secret), "{secret} was shown");
    }
}

#[test]
fn the_screen_follows_the_size_of_the_terminal() {
    let mut opened = open(&[]);
    opened.terminal.keys("3");
    opened.terminal.wait_for("approvals");
    opened.terminal.resize(20, 5);
    opened.terminal.wait_gone("approvals");
    opened.terminal.resize(120, 40);
    opened.terminal.wait_for("approvals");
    opened.terminal.keys("q");
    assert_eq!(opened.terminal.wait_exit().exit_code(), 0);
}

// ── no place to start ────────────────────────────────────────────────────────────────────────

/// Start on a terminal where the editor cannot run; what it said, in lines.
fn refused(editor: portable_pty::CommandBuilder) -> String {
    let mut terminal = Terminal::start(editor, 200, 10);
    assert_eq!(terminal.wait_exit().exit_code(), 1);
    terminal.assert_restored();
    let raw = String::from_utf8_lossy(terminal.raw()).into_owned();
    assert!(!raw.contains('\x1b'), "escape codes: {raw:?}");
    assert!(!raw.contains("panic"), "{raw}");
    assert_eq!(raw.trim_end().lines().count(), 1, "one sentence: {raw}");
    raw
}

#[test]
fn a_dumb_terminal_is_refused_in_one_sentence() {
    let dir = support::scratch();
    let home = dir.path().join("home");
    support::copy_tree(&support::sample_home(), &home);
    let mut editor = command(support::BIN, dir.path());
    editor.env("TERM", "dumb");
    editor.arg("--home");
    editor.arg(&home);
    assert!(refused(editor).contains("TERM=dumb"));
}

#[test]
fn a_home_that_is_a_file_is_refused_in_one_sentence() {
    let dir = support::scratch();
    support::put(&dir.path().join("file"), "");
    let mut editor = command(support::BIN, dir.path());
    editor.arg("--home");
    editor.arg(dir.path().join("file"));
    assert!(refused(editor).contains("not a directory"));
}

#[test]
fn a_home_that_cannot_be_read_is_refused_in_one_sentence() {
    let dir = support::scratch();
    let home = dir.path().join("home");
    support::copy_tree(&support::sample_home(), &home);
    std::fs::set_permissions(&home, std::fs::Permissions::from_mode(0o000)).unwrap();
    let mut editor = if support::is_root() {
        // Root without the right to read everything.
        let mut editor = command("setpriv", dir.path());
        let without = "-dac_override,-dac_read_search";
        editor.args([
            &format!("--bounding-set={without}"),
            &format!("--inh-caps={without}"),
            support::BIN,
        ]);
        editor
    } else {
        command(support::BIN, dir.path())
    };
    editor.arg("--home");
    editor.arg(&home);
    let said = refused(editor);
    std::fs::set_permissions(&home, std::fs::Permissions::from_mode(0o700)).unwrap();
    assert!(said.contains("cannot be read"), "{said}");
}

#[test]
fn a_home_that_is_not_there_is_offered_to_be_made() {
    let dir = support::scratch();
    let mut terminal = Terminal::start(command(support::BIN, dir.path()), 80, 24);
    terminal.wait_for("There is no Hermes home at ~/.hermes");
    terminal.keys("<esc>");
    terminal.keys("q");
    terminal.signal(Signal::TERM);
    terminal.wait_exit();
    terminal.assert_restored();
    assert!(
        !dir.path().join(".hermes").exists(),
        "it was made without being asked to"
    );

    let mut terminal = Terminal::start(command(support::BIN, dir.path()), 80, 24);
    terminal.wait_for("There is no Hermes home at ~/.hermes");
    terminal.keys("<ret>");
    terminal.wait_for("created");
    terminal.keys("q");
    assert_eq!(terminal.wait_exit().exit_code(), 0);
    let home = dir.path().join(".hermes");
    assert_eq!(std::fs::metadata(&home).unwrap().mode() & 0o777, 0o700);
    assert_eq!(
        std::fs::metadata(home.join(".env")).unwrap().mode() & 0o777,
        0o600
    );
}

#[test]
fn a_read_only_home_is_shown_and_a_save_says_why_not() {
    let test = "a_read_only_home_is_shown_and_a_save_says_why_not";
    if !support::in_own_mounts(test) {
        return;
    }
    let place = Place::new();
    let home = place.sample("other/hermes");
    let before = std::fs::read(home.join("config.yaml")).unwrap();
    std::os::unix::fs::symlink(&home, place.path("user/.hermes")).unwrap();
    support::run("mount", &["-o", "bind,remount,ro", &place.at("other")]);
    let mut terminal = place.editor();
    flows::set_max_turns(&mut terminal, "77");
    terminal.keys("s");
    terminal.wait_for("┌ Review: ");
    terminal.keys("<ret>");
    terminal.wait_until("the refusal", |s| s.to_lowercase().contains("read-only"));
    terminal.signal(Signal::TERM);
    terminal.wait_exit();
    terminal.assert_restored();
    assert_eq!(std::fs::read(home.join("config.yaml")).unwrap(), before);

    let output = support::program(&place.path("user"))
        .args(["set", "agent.max_turns", "5"])
        .output()
        .unwrap();
    let (_, err) = support::text(&output);
    assert_eq!(output.status.code(), Some(1));
    assert!(err.to_lowercase().contains("read-only"), "{err}");
}
