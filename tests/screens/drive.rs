//! The sample home, a model over it, keys in, text out.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use hermes_tui::home::{self, Environment, HomeRequest};
use hermes_tui::mount::{Mount, Mounts};
use hermes_tui::tui::effects::{self, Next};
use hermes_tui::tui::key::Key;
use hermes_tui::tui::model::{Layer, Model};
use hermes_tui::tui::theme::Theme;
use hermes_tui::tui::{run, update, view};
use hermes_tui::writer::{Prediction, Strategy};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::{Color, Modifier};

/// A program over a private copy of the sample home.
pub struct Screen {
    pub model: Model,
    pub dir: tempfile::TempDir,
    environment: Environment,
    size: (u16, u16),
    pub left: bool,
    pub copied: Option<String>,
}

/// Copy a folder with everything in it.
pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), &target).unwrap();
        }
    }
}

impl Screen {
    /// The sample home at this size.
    pub fn at(width: u16, height: u16) -> Self {
        Self::with(width, height, |_| {})
    }

    /// The sample home, changed by `prepare` before it is opened.
    pub fn with(width: u16, height: u16, prepare: impl FnOnce(&Path)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join(".hermes");
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/sample_home");
        copy(&sample, &home);
        // The sample's active profile is `work`; the screens are about the root.
        let _ = std::fs::remove_file(home.join("active_profile"));
        prepare(&home);
        let vars: BTreeMap<OsString, OsString> = [
            ("HOME".into(), dir.path().into()),
            (
                "HERMES_MANAGED_DIR".into(),
                dir.path().join("managed").into(),
            ),
        ]
        .into();
        let environment = Environment {
            vars,
            cwd: dir.path().to_owned(),
        };
        let home = home::resolve(&HomeRequest::default(), &environment).unwrap();
        let model = run::open(home, &environment, Theme::default());
        Self {
            model,
            dir,
            environment,
            size: (width, height),
            left: false,
            copied: None,
        }
    }

    /// The path of a file of the home.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(".hermes").join(name)
    }

    /// The content of a file of the home.
    pub fn read(&self, name: &str) -> String {
        String::from_utf8(std::fs::read(self.path(name)).unwrap()).unwrap()
    }

    /// Press keys, carrying out what they ask for.
    pub fn keys(mut self, keys: &str) -> Self {
        self.press(keys);
        self
    }

    /// Press keys, carrying out what they ask for.
    pub fn press(&mut self, keys: &str) {
        for key in Key::parse(keys).unwrap_or_else(|| panic!("unreadable keys: {keys}")) {
            let effect = update::key(&mut self.model, key);
            match effects::perform(&mut self.model, effect, &self.environment) {
                Next::Quit => self.left = true,
                Next::Copy(text) => self.copied = Some(text),
                _ => {}
            }
            // Frames change the model as well: they stop a scroll at the last line.
            self.render();
        }
    }

    /// Paste a text.
    pub fn paste(mut self, text: &str) -> Self {
        update::paste(&mut self.model, text);
        self
    }

    fn render(&mut self) -> Terminal<TestBackend> {
        let mut terminal = Terminal::new(TestBackend::new(self.size.0, self.size.1)).unwrap();
        terminal
            .draw(|frame| view::draw(frame, &mut self.model))
            .unwrap();
        terminal
    }

    /// The text of the screen, without what differs between machines.
    pub fn text(&mut self) -> String {
        self.settle();
        let terminal = self.render();
        let buffer = terminal.backend().buffer();
        let mut out = String::new();
        for y in 0..buffer.area.height {
            let line: String = (0..buffer.area.width)
                .map(|x| buffer.cell((x, y)).unwrap().symbol())
                .collect();
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }

    /// The text, then the styled runs of each row.
    pub fn snapshot(&mut self) -> String {
        let mut out = self.text();
        let terminal = self.render();
        let buffer = terminal.backend().buffer();
        out.push_str("-- styles\n");
        for y in 0..buffer.area.height {
            let mut runs: Vec<(u16, u16, String)> = Vec::new();
            for x in 0..buffer.area.width {
                let cell = buffer.cell((x, y)).unwrap();
                let style = describe(cell.fg, cell.bg, cell.modifier);
                match runs.last_mut() {
                    Some(run) if run.2 == style && run.1 + 1 == x => run.1 = x,
                    _ => runs.push((x, x, style)),
                }
            }
            let runs: Vec<String> = runs
                .into_iter()
                .filter(|r| !r.2.is_empty())
                .map(|(from, to, style)| format!("{from}-{to} {style}"))
                .collect();
            if !runs.is_empty() {
                writeln!(out, "{y}: {}", runs.join(", ")).unwrap();
            }
        }
        out
    }

    /// Put fixed facts in the place of those of this machine.
    fn settle(&mut self) {
        self.model.session.real_home = Some(PathBuf::from("/mnt/data/hermes"));
        for row in &mut self.model.storage {
            settle(&mut row.prediction, &row.name.clone());
        }
        for layer in &mut self.model.layers {
            match layer {
                Layer::Review { plans, .. } => {
                    for plan in plans {
                        settle(&mut plan.prediction, plan.file.name());
                    }
                }
                Layer::Receipt { outcomes, .. } => {
                    for outcome in outcomes {
                        let name = outcome.file.name();
                        if let Ok(report) = &mut outcome.result {
                            report.real = Path::new("/mnt/data/hermes").join(name);
                            report.requested = Path::new("/home/mira/.hermes").join(name);
                            report.mount = Some(mount());
                            report.warnings.clear();
                            report.recovered.clear();
                            report.backup = report
                                .backup
                                .as_ref()
                                .map(|_| PathBuf::from("/mnt/data/hermes/backups").join(name));
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

fn mount() -> Mount {
    let table = b"42 26 254:1 / /mnt/data rw,relatime shared:1 - ext4 /dev/vdb1 rw\n";
    Mounts::parse(table)
        .iter()
        .next()
        .expect("a mountinfo line")
        .clone()
}

fn settle(prediction: &mut Prediction, name: &str) {
    if let Some(target) = &mut prediction.target {
        target.requested = Path::new("/home/mira/.hermes").join(name);
        target.real = Path::new("/mnt/data/hermes").join(name);
        target.hops.clear();
        target.mount = Some(mount());
        target.mount_root = false;
        target.free_bytes = Some(13_529_146_982);
        target.uid = target.uid.map(|_| 1000);
        target.gid = target.gid.map(|_| 1000);
        target.mode = target.mode.map(|_| 0o100_600);
        target.acl = false;
    }
    prediction.strategy = Some(Strategy::Replace);
    prediction.reason = "the directory is writable and on the file's own file system".into();
    prediction.refusal = None;
}

fn describe(fg: Color, bg: Color, modifier: Modifier) -> String {
    let mut parts = Vec::new();
    if fg != Color::Reset {
        parts.push(format!("{fg:?}").to_lowercase());
    }
    if bg != Color::Reset {
        parts.push(format!("on {bg:?}").to_lowercase());
    }
    for (name, flag) in [
        ("bold", Modifier::BOLD),
        ("dim", Modifier::DIM),
        ("reversed", Modifier::REVERSED),
        ("underlined", Modifier::UNDERLINED),
    ] {
        if modifier.contains(flag) {
            parts.push(name.into());
        }
    }
    parts.join("+")
}
