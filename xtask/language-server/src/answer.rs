//! Answers requests, on a thread of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lsp_server::{ErrorCode, Request, Response};
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

/// The function that answers one method.
type Answer = fn(&World, Value) -> Result<Value, Refusal>;

macro_rules! methods {
    ($($request:ty: $function:expr, $needs_newest:literal;)*) => {
        &[$((
            <$request>::METHOD,
            |world, params| with::<$request>(params, |params| $function(world, &params)),
            $needs_newest,
        )),*]
    };
}

/// The methods, each with its function, and whether it needs the tree of the newest text.
const METHODS: &[(&str, Answer, bool)] = methods! {
    HoverRequest: |world, params| Ok(hover::hover(world, params)), false;
    GotoDefinition: |world, params| Ok(definition::definition(world, params)), false;
    References: |world, params| Ok(references::references(world, params)), false;
    DocumentSymbolRequest: |world, params| Ok(symbols::symbols(world, params)), false;
    Completion: |world, params| Ok(completion::completion(world, params)), false;
    CodeActionRequest: |world, params| Ok(actions::actions(world, params)), false;
    PrepareRenameRequest: |world, params| Ok(rename::prepare(world, params)), true;
    Rename: rename::rename, true;
};

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
