//! The OpenAPI document at run time: what the service reads from it instead of keeping a second copy.

use contract::document::{self, Problem};
use http::header::{HeaderMap, HeaderName, HeaderValue, LINK};
use hyper::body::Bytes;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::operations::BASE_PATH;

/// A document that this program can serve.
pub struct Document {
    yaml: Bytes,
    /// In the order of the file, as served.
    json: Bytes,
    root: Value,
    version: String,
    released: &'static [(&'static str, &'static str)],
}

/// Why a document cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// The text is not YAML.
    #[error("the OpenAPI document cannot be read: {0}")]
    Unreadable(#[from] Problem),
    /// The document has no version.
    #[error("the OpenAPI document must give its version as the text `info.version`, such as 1.0.0")]
    Version,
    /// An operation that the code marks as deprecated lacks what its headers are made of.
    #[error("operation {operation} is deprecated, so the OpenAPI document must give it {keyword}: {form}")]
    Deprecation {
        /// The operationId.
        operation: String,
        /// The missing or unusable keyword.
        keyword: &'static str,
        /// What its value must be.
        form: &'static str,
    },
}

impl Document {
    /// Reads a document in YAML.
    ///
    /// # Errors
    /// [`DocumentError::Unreadable`] or [`DocumentError::Version`].
    pub fn from_yaml(text: &str) -> Result<Self, DocumentError> {
        let root = document::read(text)?;
        // Text, numbers, lists and mappings from text always become JSON.
        let json = serde_json::to_vec(&root).unwrap_or_default().into();
        let yaml = Bytes::copy_from_slice(text.as_bytes());
        let root = root.to_json();
        let version = root.pointer("/info/version").and_then(Value::as_str);
        let version = version.ok_or(DocumentError::Version)?.to_owned();
        Ok(Self { yaml, json, root, version, released: &[] })
    }

    /// With the documents of released versions, each a file name such as `1.0.0.yaml` and its content.
    #[must_use]
    pub fn with_released(mut self, released: &'static [(&'static str, &'static str)]) -> Self {
        self.released = released;
        self
    }

    /// The documents of released versions, as [`Self::with_released`] took them.
    pub fn released(&self) -> &'static [(&'static str, &'static str)] {
        self.released
    }

    /// `info.version`, which is written nowhere else.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The document byte for byte.
    pub fn yaml(&self) -> Bytes {
        self.yaml.clone()
    }

    /// The same in JSON.
    pub fn json(&self) -> Bytes {
        self.json.clone()
    }

    /// The headers that every answer of a deprecated operation carries: `Deprecation` (RFC 9745),
    /// `Sunset` (RFC 8594) and `Link` to its successor (RFC 5829).
    ///
    /// # Errors
    /// [`DocumentError::Deprecation`].
    pub fn deprecation_headers(&self, operation: &str) -> Result<HeaderMap, DocumentError> {
        let keywords = self.operation(operation);
        let text =
            |keyword: &'static str, form| {
                keywords
                    .and_then(|keywords| keywords.get(keyword)?.as_str())
                    .ok_or(DocumentError::Deprecation { operation: operation.to_owned(), keyword, form })
            };
        let date = |keyword: &'static str| {
            let form = "a date as YYYY-MM-DD";
            let wrong = |_| DocumentError::Deprecation { operation: operation.to_owned(), keyword, form };
            let date: Date = text(keyword, form)?.parse().map_err(wrong)?;
            date.to_zoned(TimeZone::UTC).map(|midnight| midnight.timestamp()).map_err(wrong)
        };
        let successor_form = "a path of this document";
        let successor = text("x-successor", successor_form)?;
        let successor = HeaderValue::try_from(format!("<{BASE_PATH}{successor}>; rel=\"successor-version\""))
            .map_err(|_| DocumentError::Deprecation {
                operation: operation.to_owned(),
                keyword: "x-successor",
                form: successor_form,
            })?;
        let since = format!("@{}", date("x-deprecated-since")?.as_second());
        let sunset = date("x-sunset")?.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
        let mut headers = HeaderMap::with_capacity(3);
        // Digits and the letters of a date are always a header value.
        for (name, value) in [("deprecation", since), ("sunset", sunset)] {
            if let Ok(value) = HeaderValue::try_from(value) {
                headers.insert(HeaderName::from_static(name), value);
            }
        }
        headers.insert(LINK, successor);
        Ok(headers)
    }

    fn operation(&self, id: &str) -> Option<&Value> {
        let paths = self.root.get("paths")?.as_object()?;
        let mut operations = paths.values().filter_map(Value::as_object).flat_map(|item| item.values());
        operations.find(|operation| operation.get("operationId").and_then(Value::as_str) == Some(id))
    }
}
