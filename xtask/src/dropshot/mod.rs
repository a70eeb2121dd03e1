//! The code's side of the comparison: the document that the running code produces, and the Rust lines it comes from.

pub mod served;
pub mod source;

use document::Document;

/// Returns the code's document, with positions in its JSON text.
///
/// # Errors
/// A message, if the code has no document.
pub fn document() -> Result<Document, String> {
    let json =
        served::document().map_err(|problem| format!("the code has no OpenAPI document: {problem}"))?;
    let text = serde_json::to_string_pretty(&json).map_err(|error| error.to_string())?;
    Document::parse("the code", &text).map_err(|unreadable| format!("the code: {}", unreadable.problem))
}
