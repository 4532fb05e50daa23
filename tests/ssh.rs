//! The editor through a real sshd, as people use it: `ssh -t`, key login, 80x24.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    clippy::print_stderr
)]

mod support;

use std::fs::File;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use support::pty::{DEADLINE, Terminal, command};

/// An sshd of our own on a high port of the loopback, with its own host key and one known user
/// key. It ends with the value.
struct Sshd {
    child: Child,
    dir: tempfile::TempDir,
    port: u16,
    user: String,
}

impl Sshd {
    /// `None` when there is no sshd here; that has then been said.
    fn start(test: &str) -> Option<Self> {
        if !support::is_root() {
            support::skip(test, "an sshd needs root to log somebody in");
            return None;
        }
        let sshd = ["/usr/sbin/sshd", "/usr/local/sbin/sshd"]
            .iter()
            .find(|p| Path::new(p).exists());
        let Some(sshd) = sshd.filter(|_| support::has("ssh") && support::has("ssh-keygen")) else {
            support::skip(test, "openssh-server or openssh-client is not installed");
            return None;
        };
        let dir = support::scratch();
        let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
        for key in ["host_key", "user_key"] {
            support::run(
                "ssh-keygen",
                &["-q", "-t", "ed25519", "-N", "", "-f", &path(key)],
            );
        }
        support::put(
            &dir.path().join("authorized_keys"),
            std::fs::read(path("user_key.pub")).unwrap(),
        );
        let port = TcpListener::bind(("127.0.0.1", 0))
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\n\
             PermitRootLogin yes\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n\
             UsePAM no\nStrictModes no\nPrintMotd no\nPrintLastLog no\n",
            path("host_key"),
            path("authorized_keys"),
        );
        support::put(&dir.path().join("config"), config);
        // sshd gives up its rights in this directory.
        let _ = std::fs::create_dir_all("/run/sshd");
        let log = File::create(dir.path().join("log")).unwrap();
        let child = Command::new(sshd)
            .args(["-D", "-e", "-f", &path("config")])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        let output = Command::new("id").arg("-un").output().unwrap();
        let user = support::text(&output).0.trim().to_owned();
        let server = Self {
            child,
            dir,
            port,
            user,
        };
        poll("sshd to listen", || {
            TcpStream::connect(("127.0.0.1", server.port)).is_ok()
        });
        Some(server)
    }

    /// Log in on a terminal of 80x24 and run a command there.
    fn login(&self, remote: &str) -> Terminal {
        let mut ssh = command("ssh", self.dir.path());
        ssh.args(["-t", "-q", "-F", "/dev/null", "-o", "IdentitiesOnly=yes"]);
        ssh.args([
            "-o",
            "StrictHostKeyChecking=no",
            "-o",
            "UserKnownHostsFile=/dev/null",
        ]);
        ssh.arg("-i");
        ssh.arg(self.dir.path().join("user_key"));
        ssh.arg("-p");
        ssh.arg(self.port.to_string());
        ssh.arg(format!("{}@127.0.0.1", self.user));
        ssh.arg(remote);
        Terminal::start(ssh, 80, 24)
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            let log = std::fs::read_to_string(self.dir.path().join("log")).unwrap_or_default();
            eprintln!("sshd said:\n{log}");
        }
    }
}

/// Wait for something that has no event of its own.
fn poll(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !holds() {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn sample(dir: &Path) -> PathBuf {
    let home = dir.join("home");
    support::copy_tree(&support::sample_home(), &home);
    home
}

/// The remote command: leaves its pid behind, then becomes the editor.
fn editor(dir: &Path, home: &Path) -> String {
    format!(
        "echo $$ > '{}'; exec '{}' --home '{}'",
        dir.join("pid").display(),
        support::BIN,
        home.display()
    )
}

fn alive(pid_file: &Path) -> bool {
    let pid = std::fs::read_to_string(pid_file).unwrap_or_default();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

#[test]
fn one_value_is_edited_and_saved_over_ssh() {
    let Some(server) = Sshd::start("one_value_is_edited_and_saved_over_ssh") else {
        return;
    };
    let dir = support::scratch();
    let home = sample(dir.path());
    let before = std::fs::read_to_string(home.join("config.yaml")).unwrap();

    let mut terminal = server.login(&editor(dir.path(), &home));
    support::flows::set_max_turns(&mut terminal, "77");
    support::flows::save(&mut terminal);
    support::flows::quit(&mut terminal);
    assert_eq!(terminal.wait_exit().exit_code(), 0);
    terminal.assert_restored();

    let after = std::fs::read_to_string(home.join("config.yaml")).unwrap();
    assert_eq!(after, before.replace("max_turns: 60", "max_turns: 77"));
}

#[test]
fn a_closed_connection_ends_the_editor_and_leaves_every_file_whole() {
    let name = "a_closed_connection_ends_the_editor_and_leaves_every_file_whole";
    let Some(server) = Sshd::start(name) else {
        return;
    };
    let dir = support::scratch();
    let home = sample(dir.path());
    let before = std::fs::read(home.join("config.yaml")).unwrap();
    let before_env = std::fs::read(home.join(".env")).unwrap();

    let mut terminal = server.login(&editor(dir.path(), &home));
    support::flows::set_max_turns(&mut terminal, "78");
    let pid_file = dir.path().join("pid");
    assert!(alive(&pid_file));
    terminal.signal(rustix::process::Signal::KILL);
    terminal.wait_exit();
    poll("the editor to end with its connection", || {
        !alive(&pid_file)
    });

    assert_eq!(std::fs::read(home.join("config.yaml")).unwrap(), before);
    assert_eq!(std::fs::read(home.join(".env")).unwrap(), before_env);

    // What was staged is offered at the next start.
    let mut terminal = server.login(&editor(dir.path(), &home));
    terminal.wait_until("the offer of the unsaved change", |s| {
        s.contains("max_turns")
    });
    terminal.keys("<C-c>");
    terminal.signal(rustix::process::Signal::TERM);
    terminal.wait_exit();
}
