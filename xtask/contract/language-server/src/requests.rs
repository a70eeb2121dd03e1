//! Answers requests from the open documents.

use lsp_server::ErrorCode;
use lsp_types::Uri;
use lsp_types::request::{
    CodeActionRequest, Completion, GotoDefinition, HoverRequest, PrepareRenameRequest, References, Rename,
    Request,
};
use serde_json::Value;

use crate::completion::completion;
use crate::documents::{Refusal, World};
use crate::{edits, navigation, uris};

/// Returns the result of a request.
///
/// # Errors
/// When the method or its parameters are not known, or there is no result.
pub(crate) fn answer(world: &mut World, method: &str, params: Value) -> Result<Value, Refusal> {
    let uri = params.pointer("/textDocument/uri").and_then(Value::as_str);
    let uri = uri.and_then(|uri| uri.parse::<Uri>().ok());
    if let Some(document) = uri.and_then(|uri| world.documents.get_mut(&uris::normal(&uri))) {
        // The others use the last tree, so that they do not wait for a large text.
        let edits = [CodeActionRequest::METHOD, PrepareRenameRequest::METHOD, Rename::METHOD];
        if document.tree.is_none() || edits.contains(&method) {
            document.read();
        }
    }
    let world = &*world;
    match method {
        HoverRequest::METHOD => with::<HoverRequest>(params, |it| Ok(navigation::hover(world, &it))),
        GotoDefinition::METHOD => with::<GotoDefinition>(params, |it| Ok(navigation::definition(world, &it))),
        References::METHOD => with::<References>(params, |it| Ok(navigation::references(world, &it))),
        Completion::METHOD => with::<Completion>(params, |it| Ok(completion(world, &it))),
        CodeActionRequest::METHOD => with::<CodeActionRequest>(params, |it| Ok(edits::actions(world, &it))),
        PrepareRenameRequest::METHOD => {
            with::<PrepareRenameRequest>(params, |it| Ok(edits::prepare(world, &it)))
        }
        Rename::METHOD => with::<Rename>(params, |it| edits::rename(world, &it)),
        _ => Err((ErrorCode::MethodNotFound, format!("the method `{method}` is not supported"))),
    }
}

fn with<R: Request>(
    params: Value,
    answer: impl FnOnce(R::Params) -> Result<R::Result, Refusal>,
) -> Result<Value, Refusal> {
    let params =
        serde_json::from_value(params).map_err(|error| (ErrorCode::InvalidParams, error.to_string()))?;
    serde_json::to_value(answer(params)?).map_err(|error| (ErrorCode::InternalError, error.to_string()))
}
