//! Compiles all packages and their tests with clippy as the compiler of the workspace.
//!
//! clippy-driver is rustc with more lints. `cargo clippy` uses it as well, but writes no executables, so that the tests
//! would have to be compiled after it, with a second set of the dependencies.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::process::{cannot_be_run, cargo, output};

/// What was compiled.
#[derive(Debug, Default)]
pub(super) struct Built {
    /// The executables of tests, in the order of package and name.
    pub(super) tests: BTreeSet<Executable>,
    /// All other executables.
    programs: BTreeSet<Executable>,
}

/// An executable of a package.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Executable {
    /// The directory with the package's `Cargo.toml`.
    pub(super) package: PathBuf,
    /// Its name in `Cargo.toml`.
    pub(super) name: String,
    /// The kind in cargo's messages, for example `test` or `lib`.
    pub(super) kind: String,
    /// The path of the file.
    pub(super) file: PathBuf,
}

/// A message of cargo (The Cargo Book, External tools, JSON messages).
#[derive(Deserialize)]
#[serde(tag = "reason")]
enum Message {
    #[serde(rename = "compiler-message")]
    Diagnostic { message: Text },
    #[serde(rename = "compiler-artifact")]
    Artifact { manifest_path: PathBuf, target: Target, profile: Profile, executable: Option<PathBuf> },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Text {
    rendered: Option<String>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

/// Makes clippy the compiler of the packages of this workspace.
///
/// # Errors
/// A message, if clippy is not installed.
pub fn with_clippy(mut command: Command) -> Result<Command, String> {
    // Beside cargo, or in PATH if cargo is found there.
    let driver = PathBuf::from(command.get_program()).with_file_name("clippy-driver");
    let installed = output(Command::new(&driver).arg("--version")).is_ok_and(|it| it.status.success());
    if !installed {
        return Err("clippy is not installed; with rustup: rustup component add clippy".to_owned());
    }
    command.env("RUSTC_WORKSPACE_WRAPPER", driver);
    Ok(command)
}

/// Compiles everything. Prints the errors and warnings; `None` if there was one.
///
/// # Errors
/// A message, if clippy is missing or cargo's output cannot be read.
pub(super) fn build() -> Result<Option<Built>, String> {
    let format = "--message-format=json,json-diagnostic-rendered-ansi";
    let mut command = with_clippy(cargo(&["test", "--workspace", "--no-run", format]))?;
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(cannot_be_run(&command))?;
    let mut built = Built::default();
    let mut printed = BTreeSet::new();
    for line in child.stdout.take().into_iter().flat_map(|it| BufReader::new(it).lines()) {
        let line = line.map_err(|error| format!("cannot read cargo's output: {error}"))?;
        if let Some(text) = built.add(&line)?
            // Most warnings of a library come twice, because it is compiled once more for its own tests.
            && printed.insert(text.clone())
        {
            anstream::eprint!("{text}");
        }
    }
    let status = child.wait().map_err(|error| format!("cannot wait for cargo: {error}"))?;
    Ok((status.success() && printed.is_empty()).then_some(built))
}

impl Built {
    /// Adds what a line of cargo's output says. Returns the text of an error or a warning.
    fn add(&mut self, line: &str) -> Result<Option<String>, String> {
        let message = serde_json::from_str(line);
        match message.map_err(|error| format!("cannot read cargo's output: {error}: {line}"))? {
            Message::Diagnostic { message } => return Ok(message.rendered),
            Message::Artifact { manifest_path, target, profile, executable: Some(file) } => {
                let package = manifest_path.parent().unwrap_or(Path::new("")).to_owned();
                let kind = target.kind.into_iter().next().unwrap_or_default();
                let executable = Executable { package, name: target.name, kind, file };
                let set = if profile.test { &mut self.tests } else { &mut self.programs };
                set.insert(executable);
            }
            Message::Artifact { .. } | Message::Other => {}
        }
        Ok(None)
    }

    /// Returns the path of a program.
    ///
    /// # Errors
    /// A message, if cargo built no program of that name.
    pub(super) fn program(&self, name: &str) -> Result<&Path, String> {
        let found = self.programs.iter().find(|program| program.name == name && program.kind == "bin");
        found.map(|program| program.file.as_path()).ok_or_else(|| format!("cargo built no program `{name}`"))
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn messages_of_cargo_are_executables_and_warnings() {
        let artifact = |name: &str, kind: &str, test: bool, file: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/a/Cargo.toml","fresh":true,"profile":{{"test":{test}}},
                    "target":{{"name":"{name}","kind":["{kind}"]}},"executable":{file}}}"#
            )
        };
        let mut built = Built::default();
        for line in [
            artifact("http", "test", true, "\"/t/http\""),
            artifact("xtask", "bin", true, "\"/t/tests-of-xtask\""),
            artifact("xtask", "bin", false, "\"/t/xtask\""),
            artifact("xtask", "lib", false, "null"),
            r#"{"reason":"build-script-executed","out_dir":"/t"}"#.to_owned(),
            r#"{"reason":"build-finished","success":true}"#.to_owned(),
        ] {
            assert_eq!(built.add(&line), Ok(None));
        }
        let files: Vec<_> = built.tests.iter().map(|test| test.file.to_str().unwrap()).collect();
        assert_eq!(files, ["/t/http", "/t/tests-of-xtask"]);
        assert_eq!(built.program("xtask"), Ok(Path::new("/t/xtask")));
        assert!(built.program("http").is_err());

        let warning =
            r#"{"reason":"compiler-message","message":{"level":"warning","rendered":"warning: unused"}}"#;
        assert_eq!(built.add(warning), Ok(Some("warning: unused".to_owned())));
        assert!(built.add("error: no JSON").is_err());
    }
}
