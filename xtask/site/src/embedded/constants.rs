//! What the service says about its OpenAPI document, as Rust for `src/document.rs`.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::Value;

/// The values of the constants.
pub struct Constants {
    /// The document in JSON, in the order of the file.
    pub json: String,
    version: String,
    deprecations: Vec<String>,
}

impl Constants {
    /// Reads a document in YAML.
    ///
    /// # Errors
    /// A message that names the place or the keyword.
    pub fn read(text: &str) -> Result<Self, String> {
        let tree = document::read(text).map_err(|problem| problem.to_string())?;
        let json = serde_json::to_string(&tree).map_err(|error| error.to_string())?;
        let root = tree.to_json();
        let version = root.pointer("/info/version").and_then(Value::as_str);
        let version = version.ok_or("`info.version` must be a string such as 1.0.0")?.to_owned();
        let items = root.get("paths").and_then(Value::as_object).into_iter().flat_map(|paths| paths.values());
        let operations = items.filter_map(Value::as_object).flat_map(|item| item.values());
        // The router rejects a deprecated operation without dates.
        let deprecations = operations.filter_map(deprecation).collect();
        Ok(Self { json, version, deprecations })
    }

    /// Returns the expression of the type `Result<Document, &str>`, with the expressions of the files. `origin` is what
    /// pages have in place of the address of the service.
    pub fn to_rust(&self, origin: &str, files: &str) -> String {
        let deprecations = self.deprecations.join(",");
        format!(
            "Ok(Document {{ version: {:?}, deprecations: &[{deprecations}], origin: {origin:?}, files: &[{files}] }})",
            self.version
        )
    }
}

/// Returns the deprecation of an operation that has usable values for all keywords.
fn deprecation(operation: &Value) -> Option<String> {
    let text = |keyword: &str| operation.get(keyword)?.as_str();
    let midnight = |keyword| {
        let date: Date = text(keyword)?.parse().ok()?;
        Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp())
    };
    let operation_id = text("operationId")?;
    let since = midnight("x-deprecated-since")?.as_second();
    let sunset = midnight("x-sunset")?.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    let successor = text("x-successor").filter(|path| path.bytes().all(|byte| byte.is_ascii_graphic()))?;
    Some(format!(
        "Deprecation {{ operation_id: {operation_id:?}, since: {since}, sunset: {sunset:?}, successor: \
         {successor:?} }}"
    ))
}
