//! Compiles all packages and their tests with clippy as the compiler of the workspace.
//!
//! clippy-driver is rustc with more lints. `cargo clippy` uses it as well, but writes no executables, so that the tests
//! would have to be compiled after it, with a second set of the dependencies.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::process::{cannot_be_run, cargo, printed};

/// The executable of tests.
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

/// Makes clippy the compiler of the packages of this workspace.
///
/// # Errors
/// A message, if clippy is not installed.
pub fn with_clippy(mut command: Command) -> Result<Command, String> {
    // Beside cargo, or in PATH if cargo is found there.
    let driver = PathBuf::from(command.get_program()).with_file_name("clippy-driver");
    printed(Command::new(&driver).arg("--version"))
        .map_err(|error| format!("{error}; to install clippy with rustup: rustup component add clippy"))?;
    command.env("RUSTC_WORKSPACE_WRAPPER", driver);
    Ok(command)
}

/// Compiles everything. Prints the errors and warnings; `None` if there was one. Returns the executables of tests in the
/// order of package and name.
///
/// # Errors
/// A message, if clippy is missing or cargo's output cannot be read.
pub(super) fn build(packages: &[&str]) -> Result<Option<BTreeSet<Executable>>, String> {
    let format = "--message-format=json,json-diagnostic-rendered-ansi";
    let mut command = with_clippy(cargo(&["test", "--no-run", format]))?;
    command.args(packages);
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(cannot_be_run(&command))?;
    let (mut tests, mut shown) = (BTreeSet::new(), BTreeSet::new());
    for line in child.stdout.take().into_iter().flat_map(|it| BufReader::new(it).lines()) {
        let line = line.map_err(|error| format!("cannot read cargo's output: {error}"))?;
        let message: Value = serde_json::from_str(&line)
            .map_err(|error| format!("cannot read cargo's output: {error}: {line}"))?;
        tests.extend(executable(&message));
        // Most warnings of a library come twice, because it is compiled once more for its own tests.
        if let Some(text) = message["message"]["rendered"].as_str()
            && shown.insert(text.to_owned())
        {
            anstream::eprint!("{text}");
        }
    }
    let status = child.wait().map_err(|error| format!("cannot wait for cargo: {error}"))?;
    Ok((status.success() && shown.is_empty()).then_some(tests))
}

/// Returns the executable of tests that a message of cargo names (The Cargo Book, External tools, JSON messages).
fn executable(message: &Value) -> Option<Executable> {
    let text = |pointer| message.pointer(pointer).and_then(Value::as_str);
    let file = text("/executable").filter(|_| message["profile"]["test"] == true)?;
    Some(Executable {
        package: Path::new(text("/manifest_path")?).parent()?.to_owned(),
        name: text("/target/name")?.to_owned(),
        kind: text("/target/kind/0")?.to_owned(),
        file: file.into(),
    })
}

#[cfg(test)]
mod unit {
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_of_cargo_name_the_executables_of_tests() {
        let artifact = |name: &str, kind: &str, test: bool, file: Option<&str>| {
            json!({
                "reason": "compiler-artifact", "manifest_path": "/a/Cargo.toml", "fresh": true,
                "profile": { "test": test }, "target": { "name": name, "kind": [kind] }, "executable": file,
            })
        };
        let messages = [
            artifact("http", "test", true, Some("/t/http")),
            artifact("xtask", "bin", true, Some("/t/tests-of-xtask")),
            artifact("xtask", "bin", false, Some("/t/xtask")),
            artifact("xtask", "lib", false, None),
            json!({ "reason": "build-script-executed", "out_dir": "/t" }),
            json!({ "reason": "build-finished", "success": true }),
            json!({ "reason": "compiler-message", "message": { "rendered": "warning: unused" } }),
        ];
        let tests: Vec<_> = messages.iter().filter_map(executable).collect();
        let executable = |name: &str, kind: &str, file: &str| Executable {
            package: "/a".into(),
            name: name.to_owned(),
            kind: kind.to_owned(),
            file: file.into(),
        };
        let expected =
            [executable("http", "test", "/t/http"), executable("xtask", "bin", "/t/tests-of-xtask")];
        assert_eq!(tests, expected);
    }
}
