//! What an operation sees of dropshot. `README.md` says what is used, what is replaced, and why.
//!
//! `#[endpoint]` expands to paths that begin with `dropshot::`. An operation imports this module under that name, so
//! that they lead here, and what is not here does not compile:
//!
//! ```text
//! use crate::http::dropshot::{self, HttpResponseOk, Path, RequestContext, endpoint};
//! ```

pub use ::dropshot::{
    ApiDescriptionRegisterError, EndpointTagPolicy, Header, HttpResponse, HttpResponseAccepted,
    HttpResponseCreated, HttpResponseDeleted, HttpResponseHeaders, HttpResponseOk,
    HttpResponseUpdatedNoContent, Method, Path, Query, RequestContextArgument, ServerContext, TagConfig,
    TagDetails, TypedBody, endpoint,
};

pub use super::endpoint::{ApiDescription, ApiEndpoint, ApiEndpointVersions};
pub use super::error::HttpResponseError;
pub use super::extractor::{ExclusiveExtractor, SharedExtractor};
pub use super::request_context::RequestContext;
