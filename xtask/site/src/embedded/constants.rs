//! What the service says about its OpenAPI document, as Rust for `src/document.rs`.

use document::Node;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::ORIGIN;
use crate::spec::{Spec, text};

/// The values of the constants.
pub struct Constants {
    /// The document in JSON, in the order of the file.
    pub json: String,
    version: String,
    deprecations: String,
}

impl Constants {
    /// Reads a document in YAML.
    ///
    /// # Errors
    /// A message that names the place or the keyword.
    pub fn read(text: &str) -> Result<Self, String> {
        let root = document::read(text).map_err(|problem| problem.to_string())?;
        let json = serde_json::to_string(&root).map_err(|error| error.to_string())?;
        let version = root.pointer("/info/version").and_then(Node::as_str);
        let version = version.ok_or("`info.version` must be a string such as 1.0.0")?.to_owned();
        // The router rejects a deprecated operation without dates.
        let operations = Spec { root: &root }.operations().into_iter();
        let deprecations = operations.filter_map(|operation| deprecation(operation.node)).collect();
        Ok(Self { json, version, deprecations })
    }

    /// Returns the expression of the type `Result<Document, &str>`, with the expressions of the files.
    pub fn to_rust(&self, files: &str) -> String {
        let Self { version, deprecations, .. } = self;
        format!(
            "Ok(Document {{ version: {version:?}, deprecations: &[{deprecations}], origin: {ORIGIN:?}, files: &[{files}] }})"
        )
    }
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
