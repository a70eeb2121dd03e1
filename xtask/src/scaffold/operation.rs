//! Generates the file of an operation: endpoint, input, responses and error type.

use std::collections::BTreeSet;

use animal_store::http::authentication::SCHEME_NAME;
use animal_store::http::error_code::{COMMON_CODES, ErrorCode};
use document::Node;
use document::openapi::{Model, Operation};
use proc_macro2::Ident;
use quote::{format_ident, quote};

use super::code::{Code, doc};
use super::parameters::{self, OperationInput};
use super::response;
use super::types::{Scope, Types};
use super::unsupported::{Unsupported, UnsupportedAt};
use super::{OPERATIONS, names};

/// The generated file of an operation.
pub(super) struct OperationFile {
    /// The name of the module and of its function.
    pub(super) module: String,
    pub(super) text: String,
    /// What remains to be done by hand for this file.
    pub(super) notes: Vec<String>,
    /// The status of the successful response.
    pub(super) status: u16,
}

/// Generates the file of an operation. `empty` is a file without items.
pub(super) fn make(
    operation: Operation<'_>,
    scope: &Scope<'_>,
    code: &Model<'_>,
    empty: Code,
) -> Result<OperationFile, Unsupported> {
    let id = operation.id().ok_or_else(|| operation.unsupported("it has no `operationId`"))?;
    let module = names::file(id).ok_or_else(|| {
        operation.unsupported_at("operationId", format!("`{id}` cannot be the name of a Rust module"))
    })?;
    supported(operation, code)?;
    let mut types = Types::new(scope, empty, None);
    let error = types.code.free(&format!("{}Error", names::pascal(id)));
    let (status, success) = response::make(&mut types, operation, id)?;
    let taken = parameters::make(&mut types, operation, id)?;
    let (function, comment) = (names::snake(id), doc(operation.text("summary"), &format!("`{id}`.")));
    let OperationInput { arguments, statements, values, .. } = &taken;
    let endpoint = quote! {
        #comment
        #[endpoint]
        pub(super) async fn #function(
            context: RequestContext<Service>,
            #(#arguments,)*
        ) -> Result<#success, #error> {
            #(#statements)*
            let _ = (context.context(), #(#values),*);
            Err(#error::NotImplemented)
        }
    };
    let codes = codes(operation, &taken)?;
    let mut code = types.code;
    code.push_first(endpoint);
    error_type(&mut code, id, &error, &codes);
    let (method, path) = (operation.method().to_uppercase(), operation.path());
    let text =
        code.text(&format!("`{id}`: `{method} {path}`.")).map_err(|reason| operation.unsupported(reason))?;
    let text = text.replacen("#[endpoint]", &attribute(operation, id), 1);
    Ok(OperationFile { module, text, notes: types.notes, status })
}

/// Fails for operations that dropshot or the service do not support.
fn supported(operation: Operation<'_>, code: &Model<'_>) -> Result<(), Unsupported> {
    let method = operation.method();
    // The service handles HEAD with the operation for GET.
    if !["get", "put", "post", "delete", "patch", "options"].contains(&method) {
        return Err(operation.unsupported(format!("the service does not route the method `{method}`")));
    }
    let known = code.root().node().get("tags").map(Node::items).unwrap_or_default();
    let known: Vec<&str> = known.iter().filter_map(|tag| tag.get("name")?.as_str()).collect();
    let own = tags(operation);
    operation.unsupported_if(
        own.is_empty() || own.iter().any(|tag| !known.contains(tag)),
        "tags",
        format!(
            "it needs a tag of `TagConfig` in {OPERATIONS} ({}); add another one there",
            known.join(", ")
        ),
    )?;
    for (object, keyword) in
        [(*operation, "callbacks"), (*operation, "servers"), (*operation.item(), "servers")]
    {
        let reason = format!("dropshot does not support `{keyword}` of an operation");
        object.unsupported_if(object.has(keyword), keyword, reason)?;
    }
    let key = [(SCHEME_NAME, BTreeSet::new())].into();
    operation.security().owner().unwrap_or(*operation).unsupported_if(
        operation.security().requirements() != BTreeSet::from([key]),
        "security",
        format!("the service requires the security scheme `{SCHEME_NAME}` and supports no other"),
    )
}

/// Returns the attribute of the endpoint, formatted, because rustfmt does not format attributes.
fn attribute(operation: Operation<'_>, id: &str) -> String {
    let (method, path, tags) = (operation.method().to_uppercase(), operation.path(), tags(operation));
    let deprecated = if operation.is_deprecated() { "    deprecated = true,\n" } else { "" };
    format!(
        "#[endpoint {{\n    method = {method},\n    path = {path:?},\n    operation_id = {id:?},\n    \
         tags = {tags:?},\n{deprecated}}}]"
    )
}

/// Returns the tags of an operation.
pub(super) fn tags<'a>(operation: Operation<'a>) -> Vec<&'a str> {
    operation.get("tags").map(Node::items).unwrap_or_default().iter().filter_map(Node::as_str).collect()
}

/// The codes that an operation may declare. Of codes with the same status, the first is taken.
const OWN_CODES: [ErrorCode; 5] = [
    ErrorCode::InvalidParameter,
    ErrorCode::NotFound,
    ErrorCode::RequestTimeout,
    ErrorCode::BodyTooLarge,
    ErrorCode::UnsupportedMediaType,
];

/// Returns the codes for declared statuses that neither the service nor the input produces.
fn codes(operation: Operation<'_>, taken: &OperationInput) -> Result<Vec<(ErrorCode, String)>, Unsupported> {
    let others: Vec<ErrorCode> = COMMON_CODES.iter().chain(&taken.codes).copied().collect();
    let mut own = Vec::new();
    for (status, response) in operation.responses().filter(|(status, _)| !status.starts_with(['1', '2', '3']))
    {
        if status.parse::<u16>().is_err() {
            let reason = format!("the service has one status per error, but `{status}` stands for several");
            return Err(response.declared().unsupported(reason));
        }
        let has_status = |code: &ErrorCode| code.status().as_str() == status;
        let codes: Vec<ErrorCode> = others.iter().copied().filter(has_status).collect();
        // The operation may return 404 in addition to the path.
        if codes.is_empty() || codes == [ErrorCode::NotFound] {
            let reason =
                format!("add a code for the status {status} to `ErrorCode` in src/http/error_code.rs first");
            let code = OWN_CODES.into_iter().find(has_status);
            let code = code.ok_or_else(|| response.declared().unsupported(reason))?;
            let description = response.declared().text("description").unwrap_or_default();
            own.push((code, description.lines().next().unwrap_or_default().to_owned()));
        }
    }
    for status in others.iter().map(|code| code.status()) {
        let is_declared = operation.responses().any(|(declared, _)| declared == status.as_str());
        let reason =
            format!("declare the status {}, which the service returns for this input", status.as_u16());
        operation.unsupported_if(!is_declared, "responses", reason)?;
    }
    Ok(own)
}

/// Adds the error type of the operation, whose codes come with the messages for clients.
fn error_type(code: &mut Code, id: &str, error: &Ident, codes: &[(ErrorCode, String)]) {
    let comment = doc(None, &format!("Why `{id}` failed."));
    let names: Vec<Ident> = codes.iter().map(|(code, _)| format_ident!("{code:?}")).collect();
    let messages = codes.iter().map(|(_, message)| message.replace('{', "{{").replace('}', "}}"));
    code.push(quote! {
        #comment
        #[derive(Debug, thiserror::Error)]
        pub(super) enum #error {
            /// Scaffolding: remove it with the `Err` that returns it.
            #[error("the operation is not implemented")]
            NotImplemented,
            #(
                #[expect(dead_code, reason = "scaffolding: the operation will return it")]
                #[error(#messages)]
                #names,
            )*
            #[error(transparent)]
            Store(#[from] StoreError),
        }

        impl HttpResponseError for #error {
            const CODES: &'static [ErrorCode] = &[#(ErrorCode::#names),*];

            fn code(&self) -> ErrorCode {
                match self {
                    Self::NotImplemented => ErrorCode::NotImplemented,
                    #(Self::#names => ErrorCode::#names,)*
                    Self::Store(error) => error.code(),
                }
            }
        }
    });
}
