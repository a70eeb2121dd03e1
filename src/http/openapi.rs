//! The document that dropshot writes of the operations, from the types of their functions.

use std::collections::BTreeMap;

use dropshot::{
    ApiDescription, EndpointTagPolicy, ErrorStatusCode, HttpError, HttpResponseError, TagConfig, TagDetails,
    semver,
};
use http::Method;
use serde_json::Value;

use super::error_code::ErrorCode;
use super::operation::Operation;
use crate::schemas::Error;

/// The error codes of an operation, which are not in dropshot's document.
#[derive(Clone, Debug)]
pub struct Codes {
    /// The method of the operation, on which the headers of errors depend.
    pub method: Method,
    /// The codes, each once.
    pub codes: Vec<ErrorCode>,
}

/// Returns dropshot's document of operations, and their error codes by `operationId`.
///
/// # Errors
/// One line, if dropshot rejects an operation.
pub fn openapi(operations: Vec<Operation>) -> Result<(Value, BTreeMap<String, Codes>), String> {
    let tags = operations.iter().flat_map(|operation| operation.description.tags.iter().cloned());
    let mut api = ApiDescription::new().tag_config(TagConfig {
        allow_other_tags: false,
        policy: EndpointTagPolicy::AtLeastOne,
        tags: tags.map(|tag| (tag, TagDetails::default())).collect(),
    });
    let mut all = BTreeMap::new();
    for Operation { description, mut codes, .. } in operations {
        codes.sort_unstable();
        codes.dedup();
        let method = description.method.clone();
        all.insert(description.operation_id.clone(), Codes { method, codes });
        api.register(description).map_err(|error| error.to_string())?;
    }
    // Only the written document has a version.
    let document = api.openapi("Animal Store", semver::Version::new(0, 0, 0)).json();
    Ok((document.map_err(|error| error.to_string())?, all))
}

// dropshot describes the body of errors by a type that implements its own trait.
impl HttpResponseError for Error {
    fn status_code(&self) -> ErrorStatusCode {
        ErrorStatusCode::from_u16(self.status).unwrap_or(ErrorStatusCode::INTERNAL_SERVER_ERROR)
    }
}

impl From<HttpError> for Error {
    fn from(error: HttpError) -> Self {
        let (code, status) = (ErrorCode::Internal.as_str(), error.status_code.as_u16());
        Self { code: code.into(), message: error.external_message.into(), status }
    }
}
