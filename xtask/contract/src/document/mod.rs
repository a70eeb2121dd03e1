//! A document as text and as a tree with positions, whether it is written in YAML or in JSON.

mod json;
mod mistakes;
pub mod pointer;
mod scalar;
mod tree;
mod yaml;

use std::path::Path;
use std::{fs, io};

pub use tree::{Entry, Mapping, Node, Problem, Span, Value, shortened};
pub use yaml::{MAX_DEPTH, MAX_NODES, decode};

/// Reads a text: JSON if it begins like a JSON object and is one, else YAML.
///
/// # Errors
/// The first place where the text is neither.
pub fn read(text: &str) -> Result<Node, Problem> {
    let json = text.trim_start_matches('\u{feff}').trim_start().strip_prefix('{');
    if json.is_some_and(|rest| rest.trim_start().starts_with(['"', '}'])) {
        // A flow mapping of YAML may begin in the same way.
        return json::read(text).or_else(|problem| yaml::read(text).map_err(|_| problem));
    }
    yaml::read(text)
}

/// An OpenAPI document as it is written.
#[derive(Debug)]
pub struct Document {
    /// How to call the file.
    pub path: String,
    /// Its text.
    pub text: String,
    /// Its tree.
    pub root: Node,
}

/// Why a file could not be read.
#[derive(Debug)]
pub struct Unreadable {
    /// How the file was called.
    pub path: String,
    /// Its text, as far as it is text.
    pub text: String,
    /// What is wrong, and where.
    pub problem: Problem,
}

impl Document {
    /// Reads a file.
    ///
    /// # Errors
    /// When there is none, or it holds no YAML that could be an OpenAPI document.
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
    /// When it is no YAML that could be an OpenAPI document.
    pub fn parse(path: &str, text: &str) -> Result<Self, Unreadable> {
        let unreadable = |problem| Unreadable { path: path.to_owned(), text: text.to_owned(), problem };
        let root = read(text).map_err(unreadable)?;
        if !matches!(root.value, Value::Mapping(_)) {
            let message = "an OpenAPI document is a mapping that begins with `openapi:`";
            return Err(unreadable(Problem::at(root.span, message)));
        }
        if let (Some(entry), None) = (root.entry("swagger"), root.entry("openapi")) {
            let message = "this is a Swagger 2.0 document; convert it to OpenAPI 3.0 first";
            return Err(unreadable(Problem::at(entry.key_span, message)));
        }
        Ok(Self { path: path.to_owned(), text: text.to_owned(), root })
    }
}
