//! `cargo xtask check --watch`: runs the command and checks its output after each save.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::command::{CODE_FILE, ROOT};
use crate::document::{TEXT, edit};

/// A running check, killed when dropped.
struct Watching {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Watching {
    fn start(file: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_xtask"))
            .args(["check", "--watch", "--code", CODE_FILE, "--root", ROOT, "--spec"])
            .arg(file)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, output }
    }

    /// Waits for a check whose output contains `text`, and returns the output. A file that is written in place may be read
    /// before it is complete.
    fn wait_for(&mut self, text: &str) -> String {
        loop {
            let printed = self.next();
            if printed.contains(text) {
                return printed;
            }
        }
    }

    /// Reads the output of the next check.
    fn next(&mut self) -> String {
        let mut printed = String::new();
        while !printed.contains("Waiting for ") {
            let read = self.output.read_line(&mut printed).unwrap();
            assert!(read > 0, "the command exited: {printed}");
        }
        printed
    }
}

/// Replaces the file atomically.
fn save(file: &Path, text: &str) {
    let beside = file.with_extension("swp");
    std::fs::write(&beside, text).unwrap();
    std::fs::rename(&beside, file).unwrap();
}

impl Drop for Watching {
    fn drop(&mut self) {
        // Fails if the process has exited.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn file_in(directory: &TempDir) -> PathBuf {
    let file = directory.path().join("library.yaml");
    std::fs::write(&file, TEXT).unwrap();
    file
}

#[test]
fn each_save_is_checked() {
    let directory = TempDir::new().unwrap();
    let file = file_in(&directory);
    let mut watching = Watching::start(&file);
    assert!(watching.next().contains("agree"));
    let edited = edit(&["name: limit"], "maximum: 100", "maximum: 50");
    std::fs::write(&file, &edited.text).unwrap();
    let printed = watching.wait_for("error[schema-differs]");
    assert!(printed.contains(": 1 error\n"), "{printed}");
    assert!(!printed.contains('\x1b'), "escape sequences without a terminal: {printed}");
    std::fs::write(&file, TEXT).unwrap();
    watching.wait_for("agree");
}

#[test]
fn a_file_that_is_replaced_is_still_watched() {
    let directory = TempDir::new().unwrap();
    let file = file_in(&directory);
    let mut watching = Watching::start(&file);
    watching.next();
    // As most editors do. Twice, because the first save replaces the file that was watched at the start.
    for (old, new, rule) in [
        ("sold]", "gone]", "schema-differs"),
        ("operationId: getBook", "operationId: book", "operation-differs"),
    ] {
        save(&file, &edit(&[], old, new).text);
        let printed = watching.next();
        assert!(printed.contains(&format!("error[{rule}]")), "{printed}");
    }
}

#[test]
fn a_removed_and_restored_file_is_checked() {
    let directory = TempDir::new().unwrap();
    let file = file_in(&directory);
    let mut watching = Watching::start(&file);
    watching.next();
    std::fs::remove_file(&file).unwrap();
    assert!(watching.next().contains("There is no such file"));
    save(&file, TEXT);
    assert!(watching.next().contains("agree"));
}

#[test]
fn other_files_are_ignored_and_ctrl_c_ends_the_command() {
    let directory = TempDir::new().unwrap();
    let file = file_in(&directory);
    let mut watching = Watching::start(&file);
    watching.next();
    // Neither another file nor a save without a change causes a check; otherwise there would be output.
    std::fs::write(directory.path().join("other.yaml"), "openapi: 3.0.3").unwrap();
    save(&file, TEXT);
    kill_process(Pid::from_child(&watching.child), Signal::INT).unwrap();
    let mut rest = String::new();
    while watching.output.read_line(&mut rest).unwrap() > 0 {}
    assert_eq!(rest, "");
    assert!(watching.child.wait().unwrap().success());
}

#[test]
fn a_missing_directory_cannot_be_watched() {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["check", "--watch", "--spec", "/no/such/directory/library.yaml"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot be watched"));
}
