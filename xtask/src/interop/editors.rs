//! The language server with real clients: Neovim's, and one in Python. Both work on a copy of frozen documents and
//! sources, so that the session does not depend on the live document. A second session of Neovim adds an operation to a
//! copy of this repository.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use launcher::workspace::{in_file, target, workspace};

use super::{Context, repository};
use crate::workspace::{SPEC, copy_directory, empty_directory};

/// The frozen document in the copy.
const DESIGNED: &str = "openapi/library.yaml";

/// The frozen document, the code's document and the sources, from the root of the repository.
const DOCUMENT: &str = "xtask/checks/tests/documents/library.yaml";
const CODE: &str = "xtask/checks/tests/documents/library.code.json";
const SOURCES: &str = "xtask/tests/library/src";

/// Runs all of them. Returns their transcripts.
pub(super) fn run_all(context: &Context) -> Result<String, String> {
    Ok(format!("\n{}\n{}\n{}", neovim(context)?, scaffold(context)?, scripted(context)?))
}

/// Runs a session of Neovim. Returns its transcript.
fn neovim(context: &Context) -> Result<String, String> {
    let project = Project::create(context, "neovim")?;
    let mut neovim = session("design", DESIGNED);
    project.set(&mut neovim);
    context.run("neovim", &mut neovim)
}

/// Runs a session of Neovim that adds an operation to a copy of this repository. Returns its transcript.
fn scaffold(context: &Context) -> Result<String, String> {
    let root = context.directory.join("editors").join("repository");
    let held = context.target.lock();
    repository::copy(context, &target(&context.program)?, &root)?;
    drop(held);
    let project = Project { root, server: ["cargo", "xtask", "lsp"].map(str::to_owned).into() };
    let mut neovim = session("scaffold", SPEC);
    project.set(&mut neovim);
    // The copy has its own target directory.
    neovim.env_remove("CARGO_TARGET_DIR").current_dir(&project.root);
    context.run("scaffold", &mut neovim)
}

/// Returns a command that runs a session of Neovim with a document.
fn session(name: &str, document: &str) -> Command {
    let script = workspace().join("tests/interop/editors/session.lua");
    let mut neovim = Command::new("nvim");
    neovim.args(["--headless", "-u", "NONE", "-i", "NONE", "-n", "-c"]);
    neovim.arg(format!("luafile {}", script.display()));
    neovim.env("SESSION", name).env("DOCUMENT", document);
    neovim
}

/// Runs the scripted client. Returns its figures.
fn scripted(context: &Context) -> Result<String, String> {
    let project = Project::create(context, "scripted")?;
    let mut pytest = context.python("python");
    pytest.args([
        "-m",
        "pytest",
        "-q",
        "-rP",
        "-p",
        "no:cacheprovider",
        "-o",
        "asyncio_default_fixture_loop_scope=function",
        "language_server.py",
    ]);
    project.set(&mut pytest);
    context.run("scripted", &mut pytest)
}

/// A copy of the frozen project.
struct Project {
    root: PathBuf,
    /// The command of the server.
    server: Vec<String>,
}

impl Project {
    fn create(context: &Context, name: &str) -> Result<Self, String> {
        let root = context.directory.join("editors").join(name);
        empty_directory(&root)?;
        let from = workspace();
        copy(&from.join(DOCUMENT), &root.join(DESIGNED))?;
        copy(&from.join(DOCUMENT), &root.join("openapi/released/1.0.0.yaml"))?;
        copy(&from.join(CODE), &root.join("code.json"))?;
        copy_directory(&from.join(SOURCES), &root.join("src"))?;
        let program = env::current_exe().map_err(|error| format!("this program has no path: {error}"))?;
        let code = root.join("code.json");
        let server = [&*program.to_string_lossy(), "lsp", "--root", &root.to_string_lossy()]
            .into_iter()
            .chain(["--spec", DESIGNED, "--code", &code.to_string_lossy()])
            .map(str::to_owned)
            .collect();
        Ok(Self { root, server })
    }

    /// Sets the environment of a client.
    fn set(&self, command: &mut Command) {
        let server = serde_json::to_string(&self.server).unwrap_or_default();
        command.env("PROJECT", &self.root).env("SERVER", server);
    }
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let copied = to.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::copy(from, to));
    copied.map(drop).map_err(in_file(from))
}
