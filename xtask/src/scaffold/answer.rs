//! The success of an operation: its status, its body, its headers.

use animal_store::edge;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use serde_json::{Map, Value};

use super::code::doc;
use super::fields::{optional_attributes, renamed_field, with};
use super::names;
use super::operation::Operation;
use super::types::{Place, Scope, Types, only_member};

/// A success.
pub(super) struct Success {
    pub(super) status: u16,
    /// The type within `Answer<…>`.
    pub(super) tokens: TokenStream,
}

pub(super) fn make(
    types: &mut Types<'_>,
    operation: &Operation,
    scope: &Scope<'_>,
) -> Result<Success, String> {
    let nothing = Map::new();
    let responses = operation.object.get("responses").and_then(Value::as_object).unwrap_or(&nothing);
    let mut successes = responses.iter().filter(|(status, _)| status.starts_with(['1', '2', '3']));
    let (Some((status, response)), None) = (successes.next(), successes.next()) else {
        return Err("dropshot wants exactly one status that is no error".to_owned());
    };
    let response = scope.resolve(response);
    if response.get("links").is_some() {
        return Err("dropshot has nothing for `links`".to_owned());
    }
    let content = response.get("content").and_then(Value::as_object).unwrap_or(&nothing);
    let tokens = match (status.as_str(), content.is_empty()) {
        ("204", true) => {
            let (import, name) = match operation.method.as_str() {
                "delete" => ("dropshot::HttpResponseDeleted", "HttpResponseDeleted"),
                _ => ("dropshot::HttpResponseUpdatedNoContent", "HttpResponseUpdatedNoContent"),
            };
            types.code.import(import);
            let name = format_ident!("{name}");
            quote! { #name }
        }
        ("200" | "201" | "202", false) => {
            let (import, name) = match status.as_str() {
                "200" => ("dropshot::HttpResponseOk", "HttpResponseOk"),
                "201" => ("dropshot::HttpResponseCreated", "HttpResponseCreated"),
                _ => ("dropshot::HttpResponseAccepted", "HttpResponseAccepted"),
            };
            types.code.import(import);
            let name = format_ident!("{name}");
            let body = body(types, content)?;
            quote! { #name<#body> }
        }
        (status, _) => {
            return Err(format!(
                "dropshot has 200, 201 and 202 with a JSON body and 204 without one, and nothing like this {status}"
            ));
        }
    };
    let tokens = headers(types, operation, scope, response, tokens)?;
    // A status of three digits is a number.
    Ok(Success { status: status.parse().unwrap_or_default(), tokens })
}

fn body(types: &mut Types<'_>, content: &Map<String, Value>) -> Result<TokenStream, String> {
    let schema = match content.iter().collect::<Vec<_>>()[..] {
        [(kind, content)] if kind == "application/json" => content.get("schema"),
        _ => return Err("dropshot answers with `application/json` only".to_owned()),
    };
    let schema = only_member(schema.ok_or("an answer needs a `schema`")?);
    types.place = Place::Json;
    let of = types.of(schema, "answer")?;
    if of.schema.is_some() || schema.get("nullable") == Some(&Value::Bool(true)) {
        return Err("give the schema of the answer a name under `components/schemas`".to_owned());
    }
    Ok(of.value)
}

/// Wraps the success if it has headers that nothing else puts on it.
fn headers(
    types: &mut Types<'_>,
    operation: &Operation,
    scope: &Scope<'_>,
    response: &Value,
    success: TokenStream,
) -> Result<TokenStream, String> {
    let deprecated = operation.object.get("deprecated") == Some(&Value::Bool(true));
    let everywhere = edge::headers(deprecated);
    let declared = response.get("headers").and_then(Value::as_object);
    let own: Vec<_> = declared
        .into_iter()
        .flatten()
        .filter(|(name, _)| !everywhere.iter().any(|known| known.name.eq_ignore_ascii_case(name)))
        .collect();
    if own.is_empty() {
        return Ok(success);
    }
    let id = operation.id()?;
    let name = types.code.free(&format!("{}Headers", names::pascal(id)));
    let name = format_ident!("{name}");
    types.place = Place::Header;
    let mut fields = TokenStream::new();
    for (header, object) in own {
        let object = scope.resolve(object);
        let wrong = |reason: String| format!("header `{header}`: {reason}");
        let schema = object.get("schema").ok_or_else(|| wrong("it needs a `schema`".to_owned()))?;
        if schema.get("default").is_some() || schema.get("nullable").is_some() {
            return Err(wrong("dropshot has no default and no `null` for headers".to_owned()));
        }
        let of = types.of(schema, header).map_err(wrong)?;
        let field = names::snake(header);
        let rename = renamed_field(&field, header);
        let comment = doc(object.get("description").and_then(Value::as_str), &format!("`{header}`."));
        let value = &of.value;
        let required = object.get("required") == Some(&Value::Bool(true));
        fields.extend(match required {
            true => {
                let with = with(of.schema.as_ref());
                quote! { #comment #rename #with #field: #value, }
            }
            false => {
                let attributes = optional_attributes(types, &of);
                quote! { #comment #rename #attributes #field: Option<#value>, }
            }
        });
    }
    types.place = Place::Json;
    types.code.import_all(&["dropshot::HttpResponseHeaders", "serde::Serialize", "schemars::JsonSchema"]);
    let comment = doc(None, &format!("The headers of `{id}`."));
    types.code.push(quote! {
        #comment
        #[derive(Serialize, JsonSchema)]
        pub(super) struct #name { #fields }
    });
    Ok(quote! { HttpResponseHeaders<#success, #name> })
}
