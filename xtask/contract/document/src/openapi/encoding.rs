//! The encoding of a property of a form.

use super::Object;
use super::media_type::{Header, covering_media_types, normal_media_type};
use super::parameter::{Serialization, serialization_in_pairs};

/// The Encoding Object of a property, with the defaults of one that is missing (section 4.7.15.1).
#[derive(Clone, Copy, Debug)]
pub struct Encoding<'a> {
    /// The Encoding Object, if there is one.
    pub object: Option<Object<'a>>,
    /// The property.
    pub property: Object<'a>,
}

impl<'a> Encoding<'a> {
    /// The media types and ranges that the value may have, in normal form and sorted.
    pub fn content_types(&self) -> Vec<String> {
        let written = self.object.and_then(|object| object.text("contentType"));
        let written = written.unwrap_or_else(|| default_content_type(self.property));
        let mut types: Vec<String> = written.split(',').map(normal_media_type).collect();
        types.sort_unstable();
        types.dedup();
        types
    }

    /// Whether each media type of the other encoding is one of this, or in a range of this.
    pub fn covers_content_types_of(&self, other: &Self) -> bool {
        let types = self.content_types();
        let is_covered = |name: &String| covering_media_types(name).iter().any(|one| types.contains(one));
        other.content_types().iter().all(is_covered)
    }

    /// The serialization of the value in `application/x-www-form-urlencoded`.
    pub fn serialization(&self) -> Serialization<'a> {
        let style = self.object.and_then(|object| object.text("style")).unwrap_or("form");
        let explode = self.object.and_then(|object| object.get("explode")?.as_bool());
        serialization_in_pairs(style, explode, Some(self.property))
    }

    /// The headers of the part in `multipart`, by their names in lower case, without `Content-Type`.
    pub fn headers(&self) -> Vec<(String, Header<'a>)> {
        let headers = self.object.into_iter().flat_map(|object| object.children("headers"));
        let headers =
            headers.filter_map(|header| Some((header.name().to_ascii_lowercase(), Header::new(header)?)));
        headers.filter(|(name, _)| name != "content-type").collect()
    }
}

/// Returns the media type of a value without `contentType`. That of an array is the media type of its items.
fn default_content_type(schema: Object<'_>) -> &'static str {
    const MAX_LEVELS: usize = 10;
    let mut schema = Some(schema);
    for _ in 0..MAX_LEVELS {
        let Some(resolved) = schema.and_then(|schema| schema.resolved()) else { break };
        match resolved.text("type") {
            Some("array") => schema = resolved.child("items"),
            Some("string") if resolved.text("format") == Some("binary") => return "application/octet-stream",
            Some("string" | "number" | "integer" | "boolean") => return "text/plain",
            _ => break,
        }
    }
    "application/json"
}
