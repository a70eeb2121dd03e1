//! What the build script of the service embeds: the document, its releases and the pages, as Rust for `src/document.rs`.

mod constants;
mod files;

use std::path::Path;
use std::{fs, io};

pub use self::constants::Constants;
use crate::{File, Hosting, ORIGIN, Sources, build};

/// The document. Paths are relative to the root of the repository.
pub const DOCUMENT: &str = "openapi/animal-store.yaml";
const RELEASED: &str = "openapi/released";
const CLIENTS: &str = "openapi/clients.md";
/// Beside the instructions; [`Sources::read`] reads both.
const EXAMPLES: &str = "openapi/examples";
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
    let read = text.and_then(|text| Ok((Constants::read(&text)?, text)));
    let sources = Sources::read(Path::new(DOCUMENT), Path::new(RELEASED), Path::new(CLIENTS));
    let pages = sources.and_then(|sources| build(&sources, &Hosting::Service));
    let expression = match (&read, pages) {
        (Ok((constants, text)), Ok(pages)) => {
            let own = [("openapi.yaml", text), ("openapi.json", &constants.json)];
            let own = own.map(|(path, content)| File::text(path, content.clone()));
            let all = own.into_iter().chain(files::releases(Path::new(RELEASED))?).chain(pages);
            let all: io::Result<String> = all.map(|file| files::write(output, &file)).collect();
            constants.to_rust(ORIGIN, &all?)
        }
        (Err(problem), _) => {
            format!("Err({:?})", format!("{DOCUMENT}: {problem}; run `cargo xtask check`"))
        }
        (_, Err(problem)) => format!("Err({:?})", format!("{problem}; run `cargo xtask release --verify`")),
    };
    fs::write(output.join("document.rs"), expression)?;
    Ok(read.map(|(constants, _)| constants.json))
}
