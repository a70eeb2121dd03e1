//! The language server with Neovim, on a copy of frozen documents and sources, so that the session does not depend on the
//! live document.

use std::process::Command;

use serde_json::json;
use xtask::workspace::{beside, workspace};

use super::Context;
use project::workspace::{copy, empty_directory};

/// The frozen document in the copy.
const DESIGNED: &str = "openapi/library.yaml";

/// The frozen document, the code's document and the sources, from the root of the repository.
const DOCUMENT: &str = "xtask/contract/fixtures/library.yaml";
const CODE: &str = "xtask/contract/fixtures/library.code.json";
const SOURCES: &str = "xtask/project/tests/library/src";

/// Runs the session. Returns its transcript.
pub(super) fn run_all(context: &Context) -> Result<String, String> {
    let root = context.directory.join("editors");
    empty_directory(&root)?;
    let from = workspace();
    empty_directory(&root.join("openapi/released"))?;
    for (source, to) in [
        (DOCUMENT, DESIGNED),
        (DOCUMENT, "openapi/released/1.0.0.yaml"),
        (CODE, "code.json"),
        (SOURCES, "src"),
    ] {
        copy(&from.join(source), &root.join(to))?;
    }
    let program = beside("project")?;
    let code = root.join("code.json");
    let server = json!([program, "lsp", "--root", root, "--spec", DESIGNED, "--code", code]);
    let script = from.join("tests/interop/editors/session.lua");
    let mut neovim = Command::new("nvim");
    neovim.args(["--headless", "-u", "NONE", "-i", "NONE", "-n", "-c"]);
    neovim.arg(format!("luafile {}", script.display())).env("SERVER", server.to_string());
    neovim.env("DOCUMENT", DESIGNED).env("PROJECT", &root);
    context.run("neovim", &mut neovim).map(|transcript| format!("\n{transcript}"))
}
