//! Generates the input of an operation: path and query parameters, and a JSON body.

use std::collections::HashSet;

use animal_store::http::dropshot::{ExclusiveExtractor, Path, Query, SharedExtractor, TypedBody};
use animal_store::http::error_code::ErrorCode;
use document::openapi::{Operation, Parameter};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use serde_json::{Map, Value};

use super::code::doc;
use super::names;
use super::newtype::number;
use super::types::{Encoding, Types, field_of, only_member, renamed};
use super::unsupported::{Unsupported, UnsupportedAt};

/// Stands for any input type, to ask for the codes of an extractor.
type Anything = Map<String, Value>;

/// The input of an operation.
pub(super) struct OperationInput {
    /// The arguments after the context.
    pub(super) arguments: Vec<TokenStream>,
    /// The statements that take the values out of the arguments.
    pub(super) statements: Vec<TokenStream>,
    /// The names of the values.
    pub(super) values: Vec<Ident>,
    /// The error codes of the service for invalid input.
    pub(super) codes: Vec<ErrorCode>,
}

pub(super) fn make(
    types: &mut Types<'_>,
    operation: Operation<'_>,
    id: &str,
) -> Result<OperationInput, Unsupported> {
    types.read = true;
    types.written = false;
    let parameters: Vec<_> = operation.parameters().into_iter().filter(|it| !it.is_ignored()).collect();
    for parameter in &parameters {
        supported(parameter)?;
    }
    let at = |place: &str| parameters.iter().filter(|it| it.location() == place).copied().collect::<Vec<_>>();
    let (path, query) = (at("path"), at("query"));
    let both = !path.is_empty() && !query.is_empty();
    // Names that the generated function uses itself.
    let mut names = ["body", "context", "path", "query"].map(names::snake).into();
    let (mut arguments, mut statements, mut values, mut codes) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    types.encoding = Encoding::Text;
    for (extractor, these, error_codes) in [
        ("Path", &path, <Path<Anything> as SharedExtractor>::CODES),
        ("Query", &query, <Query<Anything> as SharedExtractor>::CODES),
    ] {
        if these.is_empty() {
            continue;
        }
        let name = format!("{}{}", names::pascal(id), if both { extractor } else { "" });
        let name = types.code.free(&name);
        let comment = format!("The {} of `{id}`.", extractor.to_lowercase());
        let fields = structure(types, &name, these, &comment, &mut names)?;
        let argument = format_ident!("{}", extractor.to_lowercase());
        let extractor = format_ident!("{extractor}");
        arguments.push(quote! { #argument: #extractor<#name> });
        statements.push(quote! { let #name { #(#fields),* } = #argument.into_inner(); });
        values.extend(fields);
        codes.extend(error_codes);
    }
    types.encoding = Encoding::Json;
    if let Some(of) = body(types, operation)? {
        arguments.push(quote! { body: TypedBody<#of> });
        statements.push(quote! { let body = body.into_inner(); });
        values.push(format_ident!("body"));
        codes.extend(<TypedBody<Anything> as ExclusiveExtractor>::CODES);
    }
    Ok(OperationInput { arguments, statements, values, codes })
}

/// Fails for parameters that dropshot or the service do not support.
fn supported(parameter: &Parameter<'_>) -> Result<(), Unsupported> {
    let location = parameter.location();
    let reason = format!("the service does not support parameters in a {location}");
    parameter.unsupported_if(!["path", "query"].contains(&location), "in", reason)?;
    let style = if location == "query" { "form" } else { "simple" };
    let reason = format!("dropshot supports only the style `{style}`");
    parameter.unsupported_if(parameter.style() != style, "style", reason)?;
    // `explode` concerns only arrays and objects, which dropshot does not support.
    for keyword in ["deprecated", "allowEmptyValue", "allowReserved"] {
        let reason = format!("dropshot does not support `{keyword}`");
        parameter.unsupported_if(parameter.flag(keyword), keyword, reason)?;
    }
    let reason = "dropshot supports only parameters with `schema`";
    parameter.unsupported_if(parameter.schema().is_none(), "content", reason)
}

/// Adds the struct of the parameters in one location. Returns its fields.
fn structure(
    types: &mut Types<'_>,
    name: &Ident,
    parameters: &[Parameter<'_>],
    comment: &str,
    names: &mut HashSet<Ident>,
) -> Result<Vec<Ident>, Unsupported> {
    let (mut bindings, mut fields) = (Vec::new(), TokenStream::new());
    for parameter in parameters {
        let Some(schema) = parameter.schema() else { continue };
        let mut field = names::snake(parameter.name());
        if names.contains(&field) {
            field = format_ident!("{}_in_{}", field, parameter.location());
        }
        if !names.insert(field.clone()) {
            return Err(parameter.unsupported(format!("two parameters would have the field name `{field}`")));
        }
        let rename = renamed(&field, parameter.name());
        let is_empty = schema.get("maxLength").and_then(number) == Some(0.0);
        let reason = "a path parameter cannot be empty";
        schema.unsupported_if(is_empty && parameter.location() == "path", "maxLength", reason)?;
        let of = types.of(schema, parameter.name())?;
        let (attributes, value) = match (schema.has("default"), parameter.is_required()) {
            (true, true) => {
                let reason = "a required parameter cannot have a `default`";
                return Err(schema.unsupported_at("default", reason));
            }
            (true, false) => (quote! { #[serde(default)] }, of),
            (false, is_required) => field_of(is_required, &of),
        };
        fields.extend(quote! { #rename #attributes #field: #value, });
        bindings.push(field);
    }
    let (comment, derives) = (doc(None, comment), types.derives(&["Debug"], true));
    let is_query = parameters.iter().any(|parameter| parameter.location() == "query");
    let closed = is_query.then(|| quote! { #[serde(deny_unknown_fields)] });
    types.code.push(quote! { #comment #derives #closed pub(super) struct #name { #fields } });
    Ok(bindings)
}

/// Returns the type of the request body.
fn body(types: &mut Types<'_>, operation: Operation<'_>) -> Result<Option<TokenStream>, Unsupported> {
    let Some(body) = operation.request_body() else { return Ok(None) };
    if !body.is_required() {
        return Err(body.unsupported("dropshot supports only bodies with `required: true`"));
    }
    let mut content = body.content();
    let (Some(media), None) = (content.next(), content.next()) else {
        return Err(
            body.unsupported_at("content", "the service supports only the media type `application/json`")
        );
    };
    if media.media_type() != "application/json" {
        return Err(media.unsupported("the service supports only bodies of `application/json`"));
    }
    let schema = media.schema().ok_or_else(|| media.unsupported("the body has no `schema`"))?;
    let member = only_member(schema);
    if !member.is_reference() {
        return Err(schema.unsupported("the schema of a body must be defined under `components/schemas`"));
    }
    if member.resolved().and_then(|of| of.type_name()) != Some("object") {
        return Err(schema.unsupported("the service supports only objects as bodies"));
    }
    types.of(schema, "body").map(Some)
}
