//! Reads a document in YAML or JSON, as text and as a tree with positions.

mod json;
mod mistakes;
pub mod pointer;
mod scalar;
mod tree;
mod yaml;

use std::path::Path;
use std::{fs, io};

pub use scalar::Number;
pub use tree::{Entry, Mapping, Node, Problem, Span, Value, shortened, type_of};
pub use yaml::{MAX_DEPTH, MAX_NODES, decode};

/// Reads a text: JSON if it begins like a JSON object and is one, else YAML.
///
/// # Errors
/// Returns the first place where the text is neither JSON nor YAML.
pub fn read(text: &str) -> Result<Node, Problem> {
    let json = text.trim_start_matches('\u{feff}').trim_start().strip_prefix('{');
    if json.is_some_and(|rest| rest.trim_start().starts_with(['"', '}'])) {
        // A flow mapping of YAML begins in the same way.
        return json::read(text).or_else(|problem| yaml::read(text).map_err(|_| problem));
    }
    yaml::read(text)
}

/// An OpenAPI document as text and tree.
#[derive(Debug)]
pub struct Document {
    /// The name of the file in messages.
    pub path: String,
    /// Its text.
    pub text: String,
    /// Its tree.
    pub root: Node,
}

/// Why a file could not be read.
#[derive(Debug)]
pub struct Unreadable {
    /// The name of the file in messages.
    pub path: String,
    /// Its text, with invalid UTF-8 replaced.
    pub text: String,
    /// The problem and its place.
    pub problem: Problem,
}

impl Document {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, is not YAML or JSON, or not OpenAPI 3.0.
    pub fn load(path: &Path) -> Result<Self, Unreadable> {
        let name = path.display().to_string();
        let unreadable = |text: String, problem| Unreadable { path: name.clone(), text, problem };
        let bytes = fs::read(path).map_err(|error| {
            let message = match error.kind() {
                io::ErrorKind::NotFound => "there is no such file".to_owned(),
                _ => format!("the file cannot be read: {error}"),
            };
            unreadable(String::new(), Problem::in_text("", 0, message))
        })?;
        let text = decode(&bytes)
            .map_err(|problem| unreadable(String::from_utf8_lossy(&bytes).into_owned(), problem))?;
        Self::parse(&name, text)
    }

    /// Reads a text that was found in a file called `path`.
    ///
    /// # Errors
    /// When it is not YAML or JSON, or not OpenAPI 3.0.
    pub fn parse(path: &str, text: &str) -> Result<Self, Unreadable> {
        let unreadable = |problem| Unreadable { path: path.to_owned(), text: text.to_owned(), problem };
        let is_json = Path::new(path).extension().is_some_and(|it| it.eq_ignore_ascii_case("json"));
        // YAML accepts comments, trailing commas and single quotes, but JSON does not.
        let root = if is_json { json::read(text) } else { read(text) }.map_err(unreadable)?;
        if !matches!(root.value, Value::Mapping(_)) {
            let message = format!(
                "the document is {}, but must be a mapping that begins with `openapi: 3.0.3`",
                type_of(&root)
            );
            return Err(unreadable(Problem::at(root.span, message)));
        }
        version(&root).map_err(unreadable)?;
        Ok(Self { path: path.to_owned(), text: text.to_owned(), root })
    }
}

/// Checks that the value of `openapi` is 3.0. The tables and views are for that version only.
fn version(root: &Node) -> Result<(), Problem> {
    let Some(entry) = root.entry("openapi").or(root.entry("swagger")) else {
        let message =
            "the document has no `openapi`; begin it with `openapi: 3.0.3` if it is an OpenAPI document";
        return Err(Problem::at(root.span, message));
    };
    let version = entry.value.to_json();
    let patch = version.as_str().and_then(|version| version.strip_prefix("3.0."));
    let is_right = patch.is_some_and(|it| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit()));
    // The check of the structure reports the number 3.0.
    if entry.key == "openapi" && (is_right || version == 3.0) {
        return Ok(());
    }
    let written = shortened(&version.as_str().map_or_else(|| version.to_string(), str::to_owned));
    let advice = match (&*entry.key, written.as_bytes()) {
        ("swagger", _) => "; convert a copy of the document, for example with `swagger2openapi`",
        (_, [b'3', b'.', b'1'..=b'9', ..]) => {
            "; convert a copy of the document, for example with `openapi-down-convert`"
        }
        (_, [b'3', b'.', b'0', ..]) => ", whose versions are `3.0.0` to `3.0.4`",
        _ => "",
    };
    let message = format!("`{}: {written}` is not supported, only OpenAPI 3.0{advice}", entry.key);
    Err(Problem::at(entry.value.span, message))
}
