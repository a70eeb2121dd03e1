//! What the build script of the service embeds: the document, its releases and the pages, compressed, as Rust for
//! `src/lib.rs`.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use document::Node;
use flate2::Compression;
use flate2::read::GzEncoder;
use jiff::civil::Date;
use jiff::tz::TimeZone;

pub use crate::sources::DOCUMENT;
use crate::sources::{CLIENTS, EXAMPLES, RELEASED};
use crate::spec::{Spec, text};
use crate::{File, Hosting, Sources, build};

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
    let read = text.and_then(|text| constants(&text));
    let files = Sources::read(Path::new("")).and_then(|sources| build(&sources, &Hosting::Service));
    let expression = match (&read, files) {
        (Ok((_, constants)), Ok(files)) => {
            let files: io::Result<String> = files.iter().map(|file| written(output, file)).collect();
            format!("Ok(Document {{ {constants}, files: &[{}] }})", files?)
        }
        (Err(problem), _) => {
            format!("Err({:?})", format!("{DOCUMENT}: {problem}; run `cargo xtask check`"))
        }
        (_, Err(problem)) => format!("Err({:?})", format!("{problem}; run `cargo xtask release --verify`")),
    };
    fs::write(output.join("document.rs"), expression)?;
    Ok(read.map(|(json, _)| json))
}

/// Returns a document in JSON, in the order of the file, and the fields of the type `Document` that follow from it.
///
/// # Errors
/// A message that names the place or the keyword.
pub fn constants(text: &str) -> Result<(String, String), String> {
    let root = document::read(text).map_err(|problem| problem.to_string())?;
    let json = serde_json::to_string(&root).map_err(|error| error.to_string())?;
    let version = root.pointer("/info/version").and_then(Node::as_str);
    let version = version.ok_or("`info.version` must be a string such as 1.0.0")?;
    // The router rejects a deprecated operation without dates.
    let operations = Spec { root: &root }.operations().into_iter();
    let deprecations: String = operations.filter_map(|operation| deprecation(operation.node)).collect();
    Ok((json, format!("version: {version:?}, deprecations: &[{deprecations}]")))
}

/// Returns the deprecation of an operation that has usable values for all keywords.
fn deprecation(operation: &Node) -> Option<String> {
    let midnight = |keyword| {
        let date: Date = text(operation, keyword).parse().ok()?;
        Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp())
    };
    let since = midnight("x-deprecated-since")?.as_second();
    let sunset = midnight("x-sunset")?.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    let [operation_id, successor] = ["operationId", "x-successor"].map(|keyword| text(operation, keyword));
    let is_usable = !operation_id.is_empty() && successor.bytes().all(|byte| byte.is_ascii_graphic());
    is_usable.then(|| {
        format!(
            "Deprecation {{ operation_id: {operation_id:?}, since: {since}, sunset: {sunset:?}, successor: \
             {successor:?} }},"
        )
    })
}

/// Writes a file and its compressed content to the output directory. Returns the expression of the type `DocumentFile`.
fn written(output: &Path, file: &File) -> io::Result<String> {
    let File { path, content, is_immutable } = file;
    let place = output.join("site").join(path);
    fs::create_dir_all(place.parent().unwrap_or(&place))?;
    let include = |extension: &str, content: &[u8]| {
        let place = PathBuf::from(format!("{}{extension}", place.display()));
        fs::write(&place, content)?;
        io::Result::Ok(format!("include_bytes!({place:?})"))
    };
    let mut compressed = Vec::new();
    GzEncoder::new(&**content, Compression::best()).read_to_end(&mut compressed)?;
    // Pictures are compressed already.
    let is_smaller = compressed.len() + compressed.len() / 10 < content.len();
    let gzip = is_smaller.then(|| include(".gz", &compressed)).transpose()?;
    let gzip = gzip.map_or("None".to_owned(), |included| format!("Some({included})"));
    let content = include("", content)?;
    Ok(format!(
        "DocumentFile {{ path: {path:?}, content: {content}, gzip: {gzip}, is_immutable: {is_immutable} }},"
    ))
}
