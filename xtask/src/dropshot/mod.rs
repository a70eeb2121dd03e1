//! The code's side of the comparison: what the running code says, and where in its source it says so.

pub mod served;
pub mod source;

use contract::document::Document;

/// The code's document, with the positions of its JSON form.
///
/// # Errors
/// A sentence, when the code has no document.
pub fn document() -> Result<Document, String> {
    let json =
        served::document().map_err(|problem| format!("the code has no OpenAPI document: {problem}"))?;
    let text = serde_json::to_string_pretty(&json).map_err(|error| error.to_string())?;
    Document::parse("the code", &text).map_err(|unreadable| format!("the code: {}", unreadable.problem))
}
