//! A fixture that is parsed and never compiled: findings about the frozen documents refer to its lines.

use std::borrow::Cow;
use std::fmt;

use dropshot::{ErrorStatusCode, HttpError, HttpResponseError};
use schemars::JsonSchema;
use schemars::r#gen::SchemaGenerator;
use schemars::schema::{InstanceType, NumberValidation, Schema, SchemaObject};
use serde::Serialize;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Error {
    pub code: Cow<'static, str>,
    pub message: Cow<'static, str>,
    #[schemars(schema_with = "status_code")]
    pub status: u16,
}

fn status_code(_: &mut SchemaGenerator) -> Schema {
    Schema::Object(SchemaObject {
        instance_type: Some(InstanceType::Integer.into()),
        number: Some(Box::new(NumberValidation {
            minimum: Some(400.0),
            maximum: Some(599.0),
            ..Default::default()
        })),
        ..Default::default()
    })
}

impl HttpResponseError for Error {
    fn status_code(&self) -> ErrorStatusCode {
        ErrorStatusCode::from_u16(self.status).unwrap_or(ErrorStatusCode::INTERNAL_SERVER_ERROR)
    }
}

impl From<HttpError> for Error {
    fn from(error: HttpError) -> Self {
        let status = error.status_code.as_u16();
        Self { code: "internal".into(), message: "the service made a mistake".into(), status }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.status, self.code, self.message)
    }
}
