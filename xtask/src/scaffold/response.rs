//! Generates the type of an operation's successful response: status, body and headers.

use animal_store::http::router;
use document::openapi::{Operation, Response};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::code::doc;
use super::names;
use super::types::{Types, field_of, is_primitive, renamed};
use super::unsupported::{Unsupported, UnsupportedAt};

/// Returns the status of the successful response, and its Rust type.
pub(super) fn make(
    types: &mut Types<'_>,
    operation: Operation<'_>,
    id: &str,
) -> Result<(u16, TokenStream), Unsupported> {
    let mut successes = operation.responses().filter(|(status, _)| status.starts_with(['1', '2', '3']));
    let Some((status, response)) = successes.next() else {
        return Err(operation.unsupported_at("responses", "dropshot requires a successful response"));
    };
    if let Some((second, other)) = successes.next() {
        let reason =
            format!("dropshot supports one successful response, but there are {status} and {second}");
        return Err(other.declared().unsupported(reason));
    }
    response.unsupported_if(response.has("links"), "links", "dropshot does not support `links`")?;
    let name = match (status, response.content().next().is_some()) {
        ("200", true) => "HttpResponseOk",
        ("201", true) => "HttpResponseCreated",
        ("202", true) => "HttpResponseAccepted",
        ("204", false) if operation.method() == "delete" => "HttpResponseDeleted",
        ("204", false) => "HttpResponseUpdatedNoContent",
        _ => {
            let reason = "dropshot supports 200, 201 and 202 with a JSON body, and 204 without a body";
            return Err(response.declared().unsupported(reason));
        }
    };
    let name = format_ident!("{name}");
    let body = body(types, response)?.map(|body| quote! { <#body> });
    let tokens = headers(types, operation, response, id, quote! { #name #body })?;
    // Cannot fail: the match above accepts only four numbers.
    Ok((status.parse().unwrap_or_default(), tokens))
}

fn body(types: &mut Types<'_>, response: Response<'_>) -> Result<Option<TokenStream>, Unsupported> {
    let mut content = response.content();
    let Some(media) = content.next() else { return Ok(None) };
    if media.media_type() != "application/json" || content.next().is_some() {
        return Err(
            response.unsupported_at("content", "dropshot supports only the media type `application/json`")
        );
    }
    let schema = media.schema().ok_or_else(|| media.unsupported("the response has no `schema`"))?;
    types.of(schema, "response").map(Some)
}

/// Wraps the response type if the response has headers that the service does not add by itself.
fn headers(
    types: &mut Types<'_>,
    operation: Operation<'_>,
    response: Response<'_>,
    id: &str,
    success: TokenStream,
) -> Result<TokenStream, Unsupported> {
    let everywhere = router::headers(operation.is_deprecated());
    let is_own = |name: &str| !everywhere.iter().any(|known| known.eq_ignore_ascii_case(name));
    let own: Vec<_> = response.headers().filter(|(name, _)| is_own(name)).collect();
    if own.is_empty() {
        return Ok(success);
    }
    let name = types.code.free(&format!("{}Headers", names::pascal(id)));
    let (mut fields, mut known) = (TokenStream::new(), Vec::new());
    for (header, object) in own {
        let schema = object.schema().ok_or_else(|| object.unsupported("the header has no `schema`"))?;
        if schema.text("type") != Some("string") || !is_primitive(schema) {
            return Err(schema.unsupported("a header must have the schema `type: string`, without bounds"));
        }
        let field = names::snake(header);
        if known.contains(&field) {
            return Err(object
                .declared()
                .unsupported(format!("two headers would have the field name `{field}`")));
        }
        let rename = renamed(&field, header);
        let comment = doc(object.text("description"), &format!("`{header}`."));
        let (attributes, value) = field_of(object.is_required(), &quote! { String });
        fields.extend(quote! { #comment #rename #attributes #field: #value, });
        known.push(field);
    }
    let (comment, derives) = (doc(None, &format!("The headers of `{id}`.")), types.derives(&[], true));
    types.code.push(quote! { #comment #derives pub(super) struct #name { #fields } });
    Ok(quote! { HttpResponseHeaders<#success, #name> })
}
