//! `cargo xtask serve` with a shell script in place of the service: the key that it creates and keeps, and its output.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use launcher::serve::run_program;
use tempfile::TempDir;

/// A process that another test starts while a script is open for writing inherits the open file; running the script
/// then fails with ETXTBSY.
fn one_at_a_time() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Creates a script with the command line of the service in a target directory.
fn stand_in(target: &TempDir, serve: &str) -> PathBuf {
    let directory = target.path().join("debug");
    fs::create_dir(&directory).unwrap();
    let program = directory.join("animal-store");
    let script = format!(
        "#!/bin/sh\n\
         case \"$1\" in\n\
         key) database=${{5#sqlite:}}; echo made >> \"$database\"; echo \"ask_$(wc -l < \"$database\" | tr -d ' ')\" ;;\n\
         serve) {serve} ;;\n\
         esac\n"
    );
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    program
}

fn printed(program: &Path) -> String {
    let mut output = Vec::new();
    run_program(program, "127.0.0.1:1", &mut output).unwrap();
    String::from_utf8(output).unwrap()
}

#[test]
fn one_key_is_created_for_each_database() {
    let _turn = one_at_a_time();
    let target = TempDir::new().unwrap();
    let program = stand_in(&target, "echo \"ready: http://$3/v1\"; echo more");
    let first = printed(&program);
    assert_eq!(
        first,
        "
Animal Store is running. Ctrl-C stops it.

  documentation  http://127.0.0.1:1/docs
  API key        ask_1

Add an animal, then list all animals:

  curl -i http://127.0.0.1:1/v1/pets -H 'Authorization: Bearer ask_1' -H 'Content-Type: application/json' \
-d '{\"name\":\"Rex\",\"categoryId\":3}'
  curl -i http://127.0.0.1:1/v1/pets -H 'Authorization: Bearer ask_1'

more
"
    );
    let key = target.path().join("dev/key");
    assert_eq!(fs::read_to_string(&key).unwrap(), "ask_1\n");
    assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(printed(&program), first);

    // A missing key file or a missing database leads to a new key.
    fs::remove_file(&key).unwrap();
    assert!(printed(&program).contains("API key        ask_2\n"));
    fs::remove_file(target.path().join("dev/animals.db")).unwrap();
    assert!(printed(&program).contains("API key        ask_1\n"));
}

#[test]
fn a_service_that_does_not_start_is_an_error() {
    let _turn = one_at_a_time();
    let target = TempDir::new().unwrap();
    let program = stand_in(&target, "echo 'error: taken' >&2; exit 1");
    let problem = run_program(&program, "127.0.0.1:1", &mut Vec::new()).unwrap_err();
    assert!(problem.contains("did not start"), "{problem}");
}

#[test]
fn a_key_that_cannot_be_created_is_an_error() {
    let _turn = one_at_a_time();
    let target = TempDir::new().unwrap();
    let program = stand_in(&target, "true");
    fs::write(&program, "#!/bin/sh\nexit 1\n").unwrap();
    let problem = run_program(&program, "127.0.0.1:1", &mut Vec::new()).unwrap_err();
    assert!(problem.contains("cannot create the API key `development`"), "{problem}");
}

#[test]
fn serve_is_run_without_the_package_xtask() {
    let mut help = Command::new(env!("CARGO_BIN_EXE_launcher"));
    // A build of another package would fail.
    let output = help.args(["serve", "--help"]).env("CARGO", "/nonexistent").output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && printed.contains("cargo xtask serve"), "{printed}");
}

#[test]
fn other_commands_need_the_package_xtask() {
    let mut other = Command::new(env!("CARGO_BIN_EXE_launcher"));
    let output = other.arg("check").env("CARGO", "/nonexistent").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let printed = String::from_utf8(output.stderr).unwrap();
    assert!(printed.contains("cannot run /nonexistent"), "{printed}");
}
