//! The document of the code, which the service prints.

use std::path::Path;
use std::process::{Command, Stdio};

use document::Document;
use xtask::process::{cargo, printed, status};
use xtask::workspace::{DAILY, beside};

/// Returns the document of the code, with positions in its JSON text. `program` prints it; without one, the service is
/// built without its embedded document, so that a document that cannot be read is compared too.
///
/// # Errors
/// A message, if the service does not build or its operations cannot be described.
pub fn document(program: Option<&Path>) -> Result<Document, String> {
    let json = match program {
        Some(program) => printed(Command::new(program).arg("openapi"))?,
        None => {
            let mut build = cargo(&["build", "--quiet", "--bin", "openapi"]);
            build.args(DAILY).args(["--no-default-features", "--features", "openapi"]);
            // Standard output is that of the command.
            if !status(build.stdin(Stdio::null()))?.success() {
                return Err("the service does not build, see above".to_owned());
            }
            printed(&mut Command::new(beside("openapi")?))?
        }
    };
    Document::parse("the code", &json).map_err(|unreadable| format!("the code: {}", unreadable.problem))
}
