//! The real Hermes 0.19.0. `HERMES_PEER_PYTHON` names the Python of a virtual environment that has
//! it; its `hermes` sits beside it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A real Hermes.
pub struct Peer {
    python: PathBuf,
}

impl Peer {
    /// `None` when there is none; that has then been said.
    pub fn find(test: &str) -> Option<Self> {
        let Some(python) = std::env::var_os("HERMES_PEER_PYTHON").map(PathBuf::from) else {
            super::skip(test, "HERMES_PEER_PYTHON is not set");
            return None;
        };
        if !python.with_file_name("hermes").exists() {
            super::skip(test, "there is no hermes beside HERMES_PEER_PYTHON");
            return None;
        }
        Some(Self { python })
    }

    /// The Python that has Hermes, python-dotenv and PyYAML.
    pub fn python(&self) -> &Path {
        &self.python
    }

    /// `hermes config get KEY` in this home.
    pub fn get(&self, home: &Path, key: &str) -> String {
        let mut command = Command::new(self.python.with_file_name("hermes"));
        super::clean_env(&mut command, home.parent().unwrap());
        let output = command
            .env("HERMES_HOME", home)
            .args(["config", "get", key])
            .output()
            .unwrap();
        let (out, err) = super::text(&output);
        assert!(output.status.success(), "hermes config get {key}: {err}");
        out.strip_suffix('\n').unwrap_or(&out).to_owned()
    }

    /// What the two readers of `.env` see, and what PyYAML reads from config.yaml, as JSON.
    pub fn read(&self, home: &Path) -> serde_json::Value {
        const SCRIPT: &str = "\
import io, json, os, yaml
from dotenv import dotenv_values
from hermes_cli.config import load_env
home = os.environ['HERMES_HOME']
text = open(home + '/.env', encoding='utf-8', newline='').read()
print(json.dumps({
    'dotenv': dict(dotenv_values(stream=io.StringIO(text, newline=''))),
    'load_env': dict(load_env()),
    'config': yaml.load(open(home + '/config.yaml', encoding='utf-8'), yaml.CSafeLoader),
}, default=str))";
        let mut command = Command::new(&self.python);
        super::clean_env(&mut command, home.parent().unwrap());
        let output = command
            .env("HERMES_HOME", home)
            .args(["-c", SCRIPT])
            .output()
            .unwrap();
        let (out, err) = super::text(&output);
        assert!(output.status.success(), "{err}");
        serde_json::from_str(&out).unwrap()
    }
}
