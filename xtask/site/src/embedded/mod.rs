//! What the build script of the service embeds: the document, its releases and the pages, as Rust for `src/document.rs`.

mod constants;
mod files;

use std::path::Path;
use std::{fs, io};

pub use self::constants::Constants;
pub use crate::sources::DOCUMENT;
use crate::sources::{CLIENTS, EXAMPLES, RELEASED};
use crate::{Hosting, Sources, build};

/// What is read.
pub const INPUTS: [&str; 4] = [DOCUMENT, RELEASED, CLIENTS, EXAMPLES];

/// Writes `document.rs`, and the files that it includes, to a directory: an expression of the type `Result<Document, &str>`.
/// Must be called in the root of the repository. Returns the document in JSON, or why it cannot be used: a build script must
/// not fail then, so that `cargo xtask check` can be built and say what is wrong.
///
/// # Errors
/// A file cannot be read or written.
pub fn write(output: &Path) -> io::Result<Result<String, String>> {
    let text = fs::read_to_string(DOCUMENT).map_err(|error| error.to_string());
    let read = text.and_then(|text| Constants::read(&text));
    let files = Sources::read(Path::new("")).and_then(|sources| build(&sources, &Hosting::Service));
    let expression = match (&read, files) {
        (Ok(constants), Ok(files)) => {
            let files: io::Result<String> = files.iter().map(|file| files::write(output, file)).collect();
            constants.to_rust(&files?)
        }
        (Err(problem), _) => {
            format!("Err({:?})", format!("{DOCUMENT}: {problem}; run `cargo xtask check`"))
        }
        (_, Err(problem)) => format!("Err({:?})", format!("{problem}; run `cargo xtask release --verify`")),
    };
    fs::write(output.join("document.rs"), expression)?;
    Ok(read.map(|constants| constants.json))
}
