//! Answers requests, on a thread of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lsp_server::{ErrorCode, Request, RequestId, Response};
use lsp_types::request::{
    CodeActionRequest, Completion, DocumentSymbolRequest, GotoDefinition, HoverRequest, PrepareRenameRequest,
    References, Rename, Request as _,
};
use serde_json::Value;

use crate::world::{Refusal, World};
use crate::{actions, completion, definition, hover, references, rename, symbols};

/// A request, and what it is answered from.
pub(crate) struct Question {
    /// The request.
    pub(crate) request: Request,
    /// The documents as they were when the request arrived.
    pub(crate) world: World,
    /// Whether the client cancelled the request.
    pub(crate) is_cancelled: Arc<AtomicBool>,
}

impl Question {
    /// The identifier of the request.
    pub(crate) fn id(&self) -> RequestId {
        self.request.id.clone()
    }
}

/// The function that answers one method.
type Answer = fn(&World, Value) -> Result<Value, Refusal>;

/// The methods, each with its function, and whether it needs the tree of the newest text.
const METHODS: &[(&str, Answer, bool)] = &[
    (
        HoverRequest::METHOD,
        |world, params| with::<HoverRequest>(params, |it| Ok(hover::hover(world, &it))),
        false,
    ),
    (
        GotoDefinition::METHOD,
        |world, params| with::<GotoDefinition>(params, |it| Ok(definition::definition(world, &it))),
        false,
    ),
    (
        References::METHOD,
        |world, params| with::<References>(params, |it| Ok(references::references(world, &it))),
        false,
    ),
    (
        DocumentSymbolRequest::METHOD,
        |world, params| with::<DocumentSymbolRequest>(params, |it| Ok(symbols::symbols(world, &it))),
        false,
    ),
    (
        Completion::METHOD,
        |world, params| with::<Completion>(params, |it| Ok(completion::completion(world, &it))),
        false,
    ),
    (
        CodeActionRequest::METHOD,
        |world, params| with::<CodeActionRequest>(params, |it| Ok(actions::actions(world, &it))),
        false,
    ),
    (
        PrepareRenameRequest::METHOD,
        |world, params| with::<PrepareRenameRequest>(params, |it| Ok(rename::prepare(world, &it))),
        true,
    ),
    (Rename::METHOD, |world, params| with::<Rename>(params, |it| rename::rename(world, &it)), true),
];

/// Whether there is an answer to this method.
pub(crate) fn is_known(method: &str) -> bool {
    METHODS.iter().any(|(known, ..)| *known == method)
}

/// Whether the answer needs the tree of the newest text.
pub(crate) fn needs_newest(method: &str) -> bool {
    METHODS.iter().any(|(known, _, needs)| *known == method && *needs)
}

/// Answers a request. A panic becomes an error response.
pub(crate) fn answer(question: Question) -> Response {
    let Question { request: Request { id, method, params }, world, is_cancelled } = question;
    if is_cancelled.load(Ordering::Relaxed) {
        let reason = "the request was cancelled".to_owned();
        return Response::new_err(id, ErrorCode::RequestCanceled as i32, reason);
    }
    let Some((_, answer, _)) = METHODS.iter().find(|(known, ..)| *known == method) else {
        return Response::new_err(id, ErrorCode::MethodNotFound as i32, method);
    };
    match catch_unwind(AssertUnwindSafe(|| answer(&world, params))) {
        Ok(Ok(result)) => Response::new_ok(id, result),
        Ok(Err((code, reason))) => Response::new_err(id, code as i32, reason),
        Err(_) => {
            let reason = format!("`{method}` failed; this is a defect of the server");
            Response::new_err(id, ErrorCode::InternalError as i32, reason)
        }
    }
}

fn with<R: lsp_types::request::Request>(
    params: Value,
    answer: impl FnOnce(R::Params) -> Result<R::Result, Refusal>,
) -> Result<Value, Refusal> {
    let params =
        serde_json::from_value(params).map_err(|error| (ErrorCode::InvalidParams, error.to_string()))?;
    serde_json::to_value(answer(params)?).map_err(|error| (ErrorCode::InternalError, error.to_string()))
}
