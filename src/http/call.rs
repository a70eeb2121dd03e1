//! A call of an operation: who may make it, what it takes, and how it may be refused.
//!
//! dropshot runs the extractors of a handler side by side, and each that fails becomes a 400. Here the
//! key must be judged before anything else, and a bad key must be answered without waiting for a body.
//! So a handler has one extractor, [`Call`], that only holds on to the body; [`Call::answer`] then judges
//! in order: the key, the rate limit, parameters and body, and last the operation itself.
//!
//! What the YAML says of security and of error statuses must come from this code. dropshot's document has
//! no place for either, so `Call` leaves them in a header parameter named `Authorization`, which every
//! reader of OpenAPI must ignore (3.0.3, Parameter Object), and `cargo xtask check` lifts them out again.
//! An operation that does not take a `Call` leaves nothing there, and the check fails.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use async_trait::async_trait;
use dropshot::{
    ApiEndpointBodyContentType, Body, ExclusiveExtractor, ExtractorMetadata, Header, HttpError,
    RequestContext, ServerContext, SharedExtractor,
};
use futures::poll;
use schemars::JsonSchema;
use schemars::r#gen::SchemaGenerator;
use schemars::schema::{InstanceType, ObjectValidation, Schema, SchemaObject};
use serde::Deserialize;
use tokio::time::timeout;

use crate::http::input::Input;
use crate::http::responses::{Answer, Code, Refusal, Refuses, Reply};
use crate::keys::KeyId;
use crate::service::Service;

/// The most bytes a request body may have.
pub const MAX_BODY_BYTES: usize = 64 * 1024;

/// How any call can be refused, whatever it is for.
pub const JUDGED: &[Code] = &[Code::Unauthorized, Code::RateLimited, Code::Unavailable, Code::Internal];

/// A call that takes an `I` and whose operation may fail with an `E`.
pub struct Call<I, E> {
    body: Body,
    takes: PhantomData<fn() -> (I, E)>,
}

impl<I: Input, E: Refuses + Into<Refusal>> Call<I, E> {
    /// Judges the call and runs the operation. Each of the three steps (key, input, operation) has the
    /// configured request timeout for itself.
    pub async fn answer<T, F, R>(self, context: RequestContext<Service>, operation: F) -> Answer<T>
    where
        F: FnOnce(Service, I) -> R,
        R: Future<Output = Result<T, E>>,
    {
        let service = context.context().clone();
        let mut key = None;
        let outcome = async {
            let input = self.judge(&context, &service, &mut key).await?;
            let limit = service.request_timeout();
            or_unavailable(limit, operation(service, input)).await?.map_err(Into::into)
        }
        .await;
        Ok(Reply { outcome, key })
    }

    async fn judge(
        self,
        context: &RequestContext<Service>,
        service: &Service,
        caller: &mut Option<KeyId>,
    ) -> Result<I, Refusal> {
        let limit = service.request_timeout();
        let key = or_unavailable(limit, service.authenticate(context.request.headers())).await??;
        service.spend_request(caller.insert(key))?;
        within(limit, I::read(context, self.body)).await.ok_or(Refusal::RequestTimeout)?
    }
}

async fn or_unavailable<R: Future>(limit: Duration, future: R) -> Result<R::Output, Refusal> {
    within(limit, future).await.ok_or(Refusal::Unavailable)
}

/// What `future` comes to, if it does within `limit`. Most steps are done at once and need no clock.
async fn within<R: Future>(limit: Duration, future: R) -> Option<R::Output> {
    let mut future = pin!(future);
    match poll!(&mut future) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => timeout(limit, future).await.ok(),
    }
}

#[async_trait]
impl<I: Input + 'static, E: Refuses + 'static> ExclusiveExtractor for Call<I, E> {
    async fn from_request<Context: ServerContext>(
        _: &RequestContext<Context>,
        request: http::Request<Body>,
    ) -> Result<Self, HttpError> {
        Ok(Self { body: request.into_body(), takes: PhantomData })
    }

    fn metadata(content_type: ApiEndpointBodyContentType) -> ExtractorMetadata {
        let mut metadata = I::metadata(content_type.clone());
        let declared = <Header<Declared<I, E>> as SharedExtractor>::metadata(content_type);
        metadata.parameters.extend(declared.parameters);
        metadata
    }
}

/// The header parameter that carries what dropshot's document cannot say.
#[derive(Deserialize)]
#[serde(bound = "")]
struct Declared<I, E>(PhantomData<fn() -> (I, E)>);

impl<I: Input, E: Refuses> JsonSchema for Declared<I, E> {
    fn schema_name() -> String {
        "Declared".to_owned()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut codes: Vec<Code> = [JUDGED, &I::codes(), E::CODES].concat();
        codes.sort_unstable();
        codes.dedup();
        let codes = codes.iter().map(|code| code.as_str()).collect::<Vec<_>>();
        let mut authorization =
            SchemaObject { instance_type: Some(InstanceType::String.into()), ..Default::default() };
        authorization.extensions.insert("x-codes".to_owned(), codes.into());
        let mut object = ObjectValidation::default();
        object.required.insert("Authorization".to_owned());
        object.properties.insert("Authorization".to_owned(), authorization.into());
        Schema::Object(SchemaObject {
            instance_type: Some(InstanceType::Object.into()),
            object: Some(Box::new(object)),
            ..Default::default()
        })
    }
}
