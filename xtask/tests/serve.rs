//! `cargo xtask serve` with a shell script in place of the service: the key that it creates and keeps, and its output.

use std::ffi::OsStr;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// Copies an executable in a child process. If this process wrote the copy, a program that another thread starts meanwhile
/// would inherit the open file, and running the copy would fail with ETXTBSY.
fn install(from: impl AsRef<OsStr>, to: &Path) {
    assert!(Command::new("install").arg(from).arg(to).status().unwrap().success());
}

/// A target directory with this program, and a script in place of the service.
struct StandIn(TempDir);

impl StandIn {
    /// Creates a script with the command line of the service. To serve, it runs `serve`.
    fn new(serve: &str) -> Self {
        let target = TempDir::new().unwrap();
        let directory = target.path().join("debug");
        fs::create_dir(&directory).unwrap();
        install(env!("CARGO_BIN_EXE_xtask"), &directory.join("xtask"));
        let target = Self(target);
        target.script(&format!(
            "#!/bin/sh\n\
             case \"$1\" in\n\
             key) database=${{5#sqlite:}}; echo made >> \"$database\"; echo \"ask_$(wc -l < \"$database\" | tr -d ' ')\" ;;\n\
             serve) {serve} ;;\n\
             esac\n"
        ));
        target
    }

    /// Replaces the service.
    fn script(&self, text: &str) {
        fs::write(self.path("script"), text).unwrap();
        install(self.path("script"), &self.path("debug/animal-store"));
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    /// Runs `cargo xtask serve`, in which the build succeeds and does nothing.
    fn serve(&self, bind: &str) -> Output {
        let mut serve = Command::new(self.path("debug/xtask"));
        serve.args(["serve", "--bind", bind]).env("CARGO", "true").output().unwrap()
    }

    /// Returns what it printed, with the free port replaced by `PORT`.
    fn printed(&self) -> String {
        let output = self.serve("127.0.0.1:0");
        assert!(output.status.success(), "{output:?}");
        let printed = String::from_utf8(output.stdout).unwrap();
        let (_, rest) = printed.split_once("http://127.0.0.1:").unwrap();
        let port = rest.split_once('/').unwrap().0.to_owned();
        printed.replace(&port, "PORT")
    }
}

#[test]
fn one_key_is_created_for_each_database() {
    let target = StandIn::new("echo \"ready: http://$3/v1\"");
    let first = target.printed();
    assert_eq!(
        first,
        "
Animal Store starts. Ctrl-C stops it.

  documentation  http://127.0.0.1:PORT/docs
  API key        ask_1

Add an animal, then list all animals:

  curl -i http://127.0.0.1:PORT/v1/pets -H 'Authorization: Bearer ask_1' -H 'Content-Type: application/json' \
-d '{\"name\":\"Rex\",\"categoryId\":3}'
  curl -i http://127.0.0.1:PORT/v1/pets -H 'Authorization: Bearer ask_1'

ready: http://127.0.0.1:PORT/v1
"
    );
    let key = target.path("dev/key");
    assert_eq!(fs::read_to_string(&key).unwrap(), "ask_1\n");
    assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(target.printed(), first);

    // A missing key file or a missing database leads to a new key.
    fs::remove_file(&key).unwrap();
    assert!(target.printed().contains("API key        ask_2\n"));
    fs::remove_file(target.path("dev/animals.db")).unwrap();
    assert!(target.printed().contains("API key        ask_1\n"));
}

#[test]
fn the_exit_status_is_that_of_the_service() {
    let target = StandIn::new("echo 'error: taken' >&2; exit 7");
    let output = target.serve("127.0.0.1:0");
    assert_eq!((output.status.code(), &*output.stderr), (Some(7), &b"error: taken\n"[..]));
}

#[test]
fn an_address_that_is_in_use_is_an_error() {
    let target = StandIn::new("true");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let output = target.serve(&listener.local_addr().unwrap().to_string());
    let problem = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), &*output.stdout), (Some(2), &b""[..]));
    assert!(problem.contains("cannot listen on 127.0.0.1:") && problem.contains("--bind"), "{problem}");
}

#[test]
fn a_key_that_cannot_be_created_is_an_error() {
    let target = StandIn::new("true");
    target.script("#!/bin/sh\nexit 1\n");
    let problem = String::from_utf8(target.serve("127.0.0.1:0").stderr).unwrap();
    assert!(problem.contains("cannot create the API key `development`"), "{problem}");
}

#[test]
fn serve_is_run_without_the_package_xtask() {
    let mut help = Command::new(env!("CARGO_BIN_EXE_xtask"));
    // A build of another package would fail.
    let output = help.args(["serve", "--help"]).env("CARGO", "/nonexistent").output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && printed.contains("cargo xtask serve"), "{printed}");
}

#[test]
fn other_commands_need_the_package_xtask() {
    let mut other = Command::new(env!("CARGO_BIN_EXE_xtask"));
    let output = other.arg("check").env("CARGO", "/nonexistent").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let printed = String::from_utf8(output.stderr).unwrap();
    assert!(printed.contains("cannot run /nonexistent"), "{printed}");
}
