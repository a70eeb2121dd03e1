//! The operations with their functions: dropshot describes them, and the router calls them.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;

use dropshot::ApiEndpointBodyContentType::Json;
use dropshot::{
    ApiDescriptionRegisterError, Body, CONTENT_TYPE_JSON, ErrorStatusCode, ExtractorMetadata, HttpError,
    HttpResponse, ServerContext, StubContext, TagConfig, semver,
};
use futures::FutureExt;
use futures::future::BoxFuture;
use http::{Method, Response, StatusCode};
use serde_json::Value;
use tokio::time::timeout_at;

use super::error::{ApiError, ErrorResponse, HttpResponseError};
use super::error_code::{COMMON_CODES, ErrorCode};
use super::extractor::{ExclusiveExtractor, SharedExtractor};
use super::request_context::{RequestContext, by};
use crate::schemas::Error;

/// The result of an operation.
type OperationResult = Result<Response<Body>, ErrorResponse>;

/// Reads the inputs of an operation from a request and its body, and runs the operation.
pub(super) type Handler<C> =
    Box<dyn Fn(RequestContext<C>, Body) -> BoxFuture<'static, OperationResult> + Send + Sync>;

/// A function that can be an operation: it takes a [`RequestContext`], up to four [`SharedExtractor`]s, and perhaps an
/// [`ExclusiveExtractor`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a function of an operation",
    note = "it takes `RequestContext<Service>` of src/http/dropshot.rs first, and at most one body, last"
)]
pub trait HttpHandlerFunc<C, I>: Copy + Send + Sync + 'static {
    /// Its success.
    type Response: HttpResponse + Send + Sync + 'static;

    /// Returns the descriptions of its inputs, and the error codes of these and its own.
    fn describe() -> (Vec<ExtractorMetadata>, Vec<ErrorCode>);

    /// Reads the inputs in their order, and runs the function. The future is in a box, because its size depends on the
    /// operation.
    fn call(self, context: RequestContext<C>, body: Body) -> BoxFuture<'static, OperationResult>;
}

macro_rules! functions_of {
    ($($shared:ident)* $(; $last:ident)?) => {
        impl<C, F, O, R, E, $($shared,)* $($last)?> HttpHandlerFunc<C, ($($shared,)* $($last,)?)> for F
        where
            C: ServerContext,
            F: Fn(RequestContext<C>, $($shared,)* $($last)?) -> O + Copy + Send + Sync + 'static,
            O: Future<Output = Result<R, E>> + Send + 'static,
            R: HttpResponse + Send + Sync + 'static,
            E: HttpResponseError,
            $($shared: SharedExtractor + 'static,)*
            $($last: ExclusiveExtractor + 'static)?
        {
            type Response = R;

            fn describe() -> (Vec<ExtractorMetadata>, Vec<ErrorCode>) {
                let inputs = vec![
                    $(<$shared::Described as dropshot::SharedExtractor>::metadata(Json),)*
                    $(<$last::Described as dropshot::ExclusiveExtractor>::metadata(Json))?
                ];
                (inputs, [COMMON_CODES, $($shared::CODES,)* $($last::CODES,)? E::CODES].concat())
            }

            #[allow(non_snake_case, unused_variables)]
            fn call(self, context: RequestContext<C>, body: Body) -> BoxFuture<'static, OperationResult> {
                async move {
                    let deadline = context.deadline;
                    $(let $shared = $shared::from_request(&context).map_err(declared($shared::CODES))?;)*
                    $(
                        let read = by(deadline, pin!($last::from_request(&context, body))).await;
                        let read = read.unwrap_or(Err(ApiError::RequestTimeout));
                        let $last = read.map_err(declared($last::CODES))?;
                    )?
                    let result = timeout_at(deadline, self(context, $($shared,)* $($last)?)).await;
                    let success = result.map_err(|_| ApiError::TimeLimit)?.map_err(declared(E::CODES))?;
                    Ok(success.to_result().map_err(|error| ApiError::Response(error.internal_message))?)
                }
                .boxed()
            }
        }
    };
}

/// Returns the conversion of an error whose code must be among `codes`, because the document has only their statuses.
fn declared<E: HttpResponseError>(codes: &'static [ErrorCode]) -> impl Fn(E) -> ErrorResponse {
    move |error| {
        let code = error.code();
        let is_declared = codes.contains(&code) || COMMON_CODES.contains(&code);
        debug_assert!(is_declared, "{code:?} is not in CODES");
        error.into()
    }
}

functions_of!();
functions_of!(; X);
functions_of!(S1; X);
functions_of!(S1 S2; X);
functions_of!(S1 S2 S3; X);
functions_of!(S1 S2 S3 S4; X);

/// The versions of an API that an operation belongs to. This service has no others.
#[derive(Clone, Copy, Debug)]
pub enum ApiEndpointVersions {
    /// All of them.
    All,
}

/// An operation, as `#[endpoint]` makes it.
pub struct ApiEndpoint<C> {
    description: dropshot::ApiEndpoint<StubContext>,
    codes: Vec<ErrorCode>,
    handler: Handler<C>,
}

impl<C: ServerContext> ApiEndpoint<C> {
    /// Describes an operation by the types of its function.
    pub fn new<F: HttpHandlerFunc<C, I>, I>(
        operation_id: String,
        function: F,
        method: Method,
        content_type: &str,
        path: &str,
        _: ApiEndpointVersions,
    ) -> Self {
        let mut description = dropshot::ApiEndpoint::new_for_types::<(), Result<F::Response, Error>>(
            operation_id,
            method,
            content_type,
            path,
            dropshot::ApiEndpointVersions::All,
        );
        debug_assert_eq!(content_type, CONTENT_TYPE_JSON, "the `content_type` of {path}");
        let (inputs, mut codes) = F::describe();
        description.parameters = inputs.into_iter().flat_map(|input| input.parameters).collect();
        codes.sort_unstable();
        codes.dedup();
        let handler = Box::new(move |context, body| function.call(context, body));
        Self { description, codes, handler }
    }

    /// Sets the summary.
    pub fn summary(mut self, summary: &str) -> Self {
        self.description = self.description.summary(summary);
        self
    }

    /// Sets the description.
    pub fn description(mut self, description: &str) -> Self {
        self.description = self.description.description(description);
        self
    }

    /// Adds a tag.
    pub fn tag(mut self, tag: &str) -> Self {
        self.description = self.description.tag(tag);
        self
    }

    /// Sets whether the operation is deprecated.
    pub fn deprecated(mut self, deprecated: bool) -> Self {
        self.description = self.description.deprecated(deprecated);
        self
    }
}

/// The operations of a service.
pub struct ApiDescription<C> {
    description: dropshot::ApiDescription<StubContext>,
    pub(super) operations: Vec<Registered<C>>,
}

/// What the router needs of an operation.
pub(super) struct Registered<C> {
    pub(super) operation_id: String,
    pub(super) method: Method,
    /// The path template below [`super::BASE_PATH`].
    pub(super) path: String,
    pub(super) deprecated: bool,
    pub(super) success: StatusCode,
    pub(super) handler: Handler<C>,
    codes: Vec<ErrorCode>,
}

impl<C: ServerContext> ApiDescription<C> {
    /// Returns a description without operations.
    pub fn new() -> Self {
        Self { description: dropshot::ApiDescription::new(), operations: Vec::new() }
    }

    /// Sets the tags.
    pub fn tag_config(mut self, tags: TagConfig) -> Self {
        self.description = self.description.tag_config(tags);
        self
    }

    /// Adds an operation.
    ///
    /// # Errors
    /// When dropshot rejects it.
    pub fn register<T: Into<ApiEndpoint<C>>>(
        &mut self,
        endpoint: T,
    ) -> Result<(), ApiDescriptionRegisterError> {
        let ApiEndpoint { description, codes, handler } = endpoint.into();
        self.operations.push(Registered {
            operation_id: description.operation_id.clone(),
            method: description.method.clone(),
            path: description.path.clone(),
            deprecated: description.deprecated,
            success: description.response.success.unwrap_or_default(),
            handler,
            codes,
        });
        self.description.register(description)
    }

    /// Returns dropshot's document, and the error codes of each operation, which are not in it.
    ///
    /// # Errors
    /// When dropshot cannot write it.
    pub fn openapi(
        &self,
        title: &str,
        version: semver::Version,
    ) -> serde_json::Result<(Value, BTreeMap<String, Vec<ErrorCode>>)> {
        let codes = self.operations.iter().map(|it| (it.operation_id.clone(), it.codes.clone()));
        Ok((self.description.openapi(title, version).json()?, codes.collect()))
    }
}

impl<C: ServerContext> Default for ApiDescription<C> {
    fn default() -> Self {
        Self::new()
    }
}

// dropshot describes the body of errors by a type that implements its own trait.
impl dropshot::HttpResponseError for Error {
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
