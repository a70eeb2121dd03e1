//! Runs the program and checks its output and exit status.

mod automation;
mod baseline;
mod breaking;
mod configuration;
mod drift;
mod fix;
mod formats;
mod lint;
mod lsp;
mod revision;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use fixtures::LIBRARY;
use kit::layers::Crate;
use tempfile::TempDir;

const TODAY: &str = "2026-11-21";

/// A directory with files, in which the program is run.
struct Workplace(TempDir);

impl Workplace {
    fn new(files: &[(&str, &str)]) -> Self {
        let workplace = Self(tempfile::tempdir().unwrap());
        files.iter().for_each(|(name, text)| workplace.write(name, text.as_bytes()));
        workplace
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: &[u8]) {
        fs::write(self.path(name), content).unwrap();
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_contract"));
        command.args(arguments).current_dir(self.0.path());
        command
    }

    /// Runs the program. Returns its exit status and everything that it printed.
    fn run(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let Output { status, stdout, stderr } = self.command(arguments).output().unwrap();
        let text = format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        (status.code(), text)
    }
}

/// Returns the document with `old` replaced, which must occur exactly once.
fn edited(old: &str, new: &str) -> String {
    assert_eq!(LIBRARY.matches(old).count(), 1, "{old}");
    LIBRARY.replace(old, new)
}

/// A module imports only from modules below it in the list in `src/lib.rs`.
#[test]
fn imports_point_downwards() {
    Crate { directory: env!("CARGO_MANIFEST_DIR"), name: "contract" }.assert_imports_point_downwards();
}

/// The output is larger than the buffer of a pipe, and the reader closes the pipe after one line.
#[test]
fn a_closed_pipe_ends_the_program_quietly_with_its_status() {
    use std::io::{BufRead, BufReader, Read};
    let mut paths = LIBRARY.to_owned();
    for number in 0..5_000 {
        paths = paths.replacen("paths:\n", &format!("paths:\n  /x{number}: {{gett: {{}}}}\n"), 1);
    }
    let workplace = Workplace::new(&[("library.yaml", &paths)]);
    let mut program = workplace
        .command(&["lint", "--format", "github", "library.yaml"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::with_capacity(16, program.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("::error"), "{line}");
    let mut said = String::new();
    program.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!((program.wait().unwrap().code(), said.as_str()), (Some(1), ""));
}
