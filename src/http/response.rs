//! The success of an operation whose body writes its own JSON ([`WriteJson`]).
//!
//! dropshot's types would build the headers from JSON too. They are still the types in the signature of an
//! operation, from which the document is generated.

use std::marker::PhantomData;

use dropshot::{ApiEndpointResponse, Body, HttpCodedResponse, HttpError, HttpResponse, HttpResponseHeaders};
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{Response, StatusCode};
use schemars::JsonSchema;
use serde::Serialize;

use crate::schemas::WriteJson;

/// A response that is declared as the `R` of dropshot.
#[derive(Debug)]
pub struct Written<R> {
    response: Response<Body>,
    declared: PhantomData<fn() -> R>,
}

/// The headers of a response, with a field for each.
pub trait Headers: Serialize + JsonSchema + Send + Sync + 'static {
    /// Adds the headers that have a value.
    fn add_to(self, headers: &mut HeaderMap);
}

impl<R: HttpCodedResponse<Body: WriteJson>> Written<R> {
    /// Returns the response with the status of `R` and this body.
    pub fn new(body: &R::Body) -> Self {
        let mut json = Vec::with_capacity(128);
        body.write_json(&mut json);
        let mut response = Response::new(Body::from(json));
        *response.status_mut() = R::STATUS_CODE;
        // The router adds `x-request-id`, and up to three headers of a deprecated operation.
        response.headers_mut().reserve(6);
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Self { response, declared: PhantomData }
    }

    /// Adds headers.
    pub fn with<H: Headers>(mut self, headers: H) -> Written<HttpResponseHeaders<R, H>> {
        headers.add_to(self.response.headers_mut());
        Written { response: self.response, declared: PhantomData }
    }
}

impl<R: HttpResponse> HttpResponse for Written<R> {
    fn to_result(self) -> Result<Response<Body>, HttpError> {
        Ok(self.response)
    }

    fn response_metadata() -> ApiEndpointResponse {
        R::response_metadata()
    }

    fn status_code(&self) -> StatusCode {
        self.response.status()
    }
}
