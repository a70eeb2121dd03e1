//! An operation: its function, with what the router must know about it.

use std::future::Future;

use dropshot::{
    ApiEndpoint, ApiEndpointVersions, Body, CONTENT_TYPE_JSON, ErrorStatusCode, ExtractorMetadata, HttpError,
    HttpResponse, HttpResponseError, StubContext,
};
use futures::FutureExt;
use futures::future::BoxFuture;
use http::{Method, Response};
use tokio::time::timeout_at;

use super::checks::AuthenticatedRequest;
use super::error::{ApiError, COMMON_CODES, ErrorCode};
use super::input::Input;
use crate::schemas::Error;

/// The path of the API's base URL, with which the `servers` of the document end.
pub const BASE_PATH: &str = "/v1";

/// The response to a request. It is in a box, because its size depends on the operation.
type Responding = BoxFuture<'static, Result<Response<Body>, ApiError>>;

/// A function of an operation: it takes an [`AuthenticatedRequest`] and up to four [`Input`]s.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a function of an operation",
    note = "it is async, takes an `AuthenticatedRequest` and up to four inputs (src/http/input.rs), and returns a `Result` of \
            a response of dropshot and an `ApiError`"
)]
pub trait Function<Inputs>: Copy + Send + Sync + 'static {
    /// What it returns without an error.
    type Success: HttpResponse + Send + Sync + 'static;

    /// Returns the descriptions of its inputs, and the error codes of these.
    fn inputs() -> (Vec<ExtractorMetadata>, Vec<ErrorCode>);

    /// Reads the inputs in their order, and runs the function.
    fn call(self, request: AuthenticatedRequest, body: Body) -> Responding;
}

macro_rules! functions_of {
    ($($input:ident)*) => {
        impl<Run, Output, Success, $($input,)*> Function<($($input,)*)> for Run
        where
            Run: Fn(AuthenticatedRequest, $($input,)*) -> Output + Copy + Send + Sync + 'static,
            Output: Future<Output = Result<Success, ApiError>> + Send + 'static,
            Success: HttpResponse + Send + Sync + 'static,
            $($input: Input + 'static,)*
        {
            type Success = Success;

            fn inputs() -> (Vec<ExtractorMetadata>, Vec<ErrorCode>) {
                let codes: Vec<&[ErrorCode]> = vec![$($input::CODES,)*];
                (vec![$($input::describe(),)*], codes.concat())
            }

            #[allow(non_snake_case, unused_mut, unused_variables)]
            fn call(self, request: AuthenticatedRequest, mut body: Body) -> Responding {
                async move {
                    let deadline = request.deadline;
                    $(let $input = $input::read(&request, &mut body).await?;)*
                    let result = timeout_at(deadline, self(request, $($input,)*)).await;
                    let success = result.map_err(|_| ApiError::time_limit())??;
                    success.to_result().map_err(|error| {
                        ApiError::new(ErrorCode::Internal, format!("the response cannot be written: {}", error.internal_message))
                    })
                }
                .boxed()
            }
        }
    };
}

functions_of!();
functions_of!(A);
functions_of!(A B);
functions_of!(A B C);
functions_of!(A B C D);

/// An operation.
pub struct Operation {
    /// dropshot's description, without a function.
    pub(super) description: ApiEndpoint<StubContext>,
    /// The path template below [`BASE_PATH`].
    pub(super) path: &'static str,
    /// All error codes that it may return. The document has their statuses.
    pub(super) codes: Vec<ErrorCode>,
    pub(super) handler: Box<dyn Fn(AuthenticatedRequest, Body) -> Responding + Send + Sync>,
}

impl Operation {
    /// Describes an operation by the types of its function.
    pub fn new<Inputs, Run: Function<Inputs>>(
        method: Method,
        path: &'static str,
        operation_id: &str,
        function: Run,
    ) -> Self {
        let mut description = ApiEndpoint::new_for_types::<(), Result<Run::Success, Error>>(
            operation_id.to_owned(),
            method,
            CONTENT_TYPE_JSON,
            path,
            ApiEndpointVersions::All,
        );
        let (inputs, mut codes) = Run::inputs();
        description.parameters = inputs.into_iter().flat_map(|input| input.parameters).collect();
        codes.extend(COMMON_CODES);
        let handler = Box::new(move |request, body| function.call(request, body));
        Self { description, path, codes, handler }
    }

    /// Adds a tag.
    pub fn tag(mut self, tag: &str) -> Self {
        self.description = self.description.tag(tag);
        self
    }

    /// Marks it as deprecated. The document has the dates.
    pub fn deprecated(mut self) -> Self {
        self.description = self.description.deprecated(true);
        self
    }

    /// Adds the error codes that the function returns, besides those of every operation and of the inputs.
    pub fn fails_with(mut self, codes: &[ErrorCode]) -> Self {
        self.codes.extend(codes);
        self
    }

    /// Returns the `operationId`.
    pub fn id(&self) -> &str {
        &self.description.operation_id
    }

    /// Returns the method.
    pub fn method(&self) -> &Method {
        &self.description.method
    }
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
