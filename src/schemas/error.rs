//! `Error`, the body of every error response.

use std::borrow::Cow;

use schemars::JsonSchema;
use schemars::r#gen::SchemaGenerator;
use schemars::schema::{InstanceType, NumberValidation, Schema, SchemaObject};
use serde::Serialize;

/// An error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, JsonSchema)]
#[error("{status} {code}: {message}")]
pub struct Error {
    /// The error code, for programs.
    pub code: Cow<'static, str>,
    /// What to change, for people.
    pub message: Cow<'static, str>,
    /// The HTTP status code.
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
