//! What an operation takes: parameters of the path and the query, and a JSON body.

use std::collections::HashSet;

use animal_store::http::call::{Input, Json, Path, Query};
use animal_store::http::error_code::ErrorCode;
use contract::openapi::{Operation, Parameter, Schema};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use serde_json::{Map, Value};

use super::bounds::number;
use super::code::doc;
use super::fields;
use super::names;
use super::refused::{Refuse, Refused};
use super::types::{Place, Types, only_member, primitive, renamed, strings};

/// Any JSON object.
type Anything = Map<String, Value>;

/// The input of an operation.
pub(super) struct Taken {
    /// Its type.
    pub(super) input: TokenStream,
    /// The pattern that destructures it.
    pub(super) pattern: TokenStream,
    /// The names that the pattern binds.
    pub(super) bindings: Vec<Ident>,
    /// The errors with which the service refuses wrong input.
    pub(super) codes: Vec<ErrorCode>,
}

pub(super) fn make(types: &mut Types<'_>, operation: Operation<'_>, id: &str) -> Result<Taken, Refused> {
    types.read = true;
    types.written = false;
    let parameters: Vec<_> = operation.parameters().into_iter().filter(|it| !it.is_ignored()).collect();
    for parameter in &parameters {
        supported(parameter)?;
    }
    let at = |place: &str| parameters.iter().filter(|it| it.location() == place).copied().collect::<Vec<_>>();
    let (path, query) = (at("path"), at("query"));
    let both = !path.is_empty() && !query.is_empty();
    // The generated function has these names itself.
    let mut names = ["body", "call", "context", "service"].map(names::snake).into();
    let (mut parts, mut bindings, mut codes) = (Vec::new(), Vec::new(), Vec::new());
    types.place = Place::Text;
    for (extractor, these, refused) in [
        ("Path", &path, <Path<Anything> as Input>::codes()),
        ("Query", &query, <Query<Anything> as Input>::codes()),
    ] {
        if these.is_empty() {
            continue;
        }
        let name = format!("{}{}", names::pascal(id), if both { extractor } else { "" });
        let name = types.code.free(&name);
        let comment = format!("The {} of `{id}`.", extractor.to_lowercase());
        let fields = structure(types, &name, these, &comment, &mut names)?;
        let extractor = format_ident!("{extractor}");
        parts.push((quote! { #extractor<#name> }, quote! { #extractor(#name { #(#fields),* }) }));
        bindings.extend(fields);
        codes.extend(refused);
    }
    types.place = Place::Json;
    if let Some(of) = body(types, operation)? {
        parts.push((quote! { Json<#of> }, quote! { Json(body) }));
        bindings.push(format_ident!("body"));
        codes.extend(<Json<Anything> as Input>::codes());
    }
    let is_large = parts.len() > 2;
    // `A`, `(A, B)` or `(A, (B, C))`, which the service reads from left to right.
    let nested = parts.into_iter().rev().reduce(|(inputs, patterns), (input, pattern)| {
        (quote! { (#input, #inputs) }, quote! { (#pattern, #patterns) })
    });
    let (mut input, pattern) = nested.unwrap_or_else(|| (quote! { () }, quote! { () }));
    if is_large {
        // clippy asks for a name for a type of this size.
        let name = types.code.free(&format!("{}Input", names::pascal(id)));
        let comment = doc(None, &format!("The input of `{id}`."));
        types.code.push(quote! { #comment type #name = #input; });
        input = quote! { #name };
    }
    Ok(Taken { input, pattern, bindings, codes })
}

/// Refuses parameters that dropshot or the service cannot read.
fn supported(parameter: &Parameter<'_>) -> Result<(), Refused> {
    let location = parameter.location();
    let reason = format!("the service reads no parameters from a {location}");
    parameter.refuse_if(!["path", "query"].contains(&location), "in", reason)?;
    let style = if location == "query" { "form" } else { "simple" };
    let reason = format!("dropshot reads the style `{style}` only");
    parameter.refuse_if(parameter.style() != style, "style", reason)?;
    // `explode` has no effect on the values that dropshot reads, which are neither arrays nor objects.
    for keyword in ["deprecated", "allowEmptyValue", "allowReserved"] {
        let reason = format!("dropshot has nothing for `{keyword}`");
        parameter.refuse_if(parameter.flag(keyword), keyword, reason)?;
    }
    let schema = parameter
        .schema()
        .ok_or_else(|| parameter.refused("dropshot describes parameters by `schema` only"))?;
    let is_empty = location == "path" && schema.get("maxLength").and_then(number) == Some(0.0);
    schema.refuse_if(is_empty, "maxLength", "a value in a path is never empty")?;
    schema.refuse_if(schema.flag("nullable"), "nullable", "a parameter is text, which cannot be `null`")
}

/// Adds the struct of the parameters in one place. Returns its fields.
fn structure(
    types: &mut Types<'_>,
    name: &Ident,
    parameters: &[Parameter<'_>],
    comment: &str,
    names: &mut HashSet<Ident>,
) -> Result<Vec<Ident>, Refused> {
    let (mut bindings, mut fields) = (Vec::new(), TokenStream::new());
    for parameter in parameters {
        let Some(schema) = parameter.schema() else { continue };
        let mut field = names::snake(parameter.name());
        if names.contains(&field) {
            field = format_ident!("{}_in_{}", field, parameter.location());
        }
        if !names.insert(field.clone()) {
            return Err(parameter.refused(format!("two parameters would be the field `{field}`")));
        }
        let rename = renamed(&field, parameter.name());
        let (attributes, value) = field_of(types, parameter, schema)?;
        fields.extend(quote! { #rename #attributes #field: #value, });
        bindings.push(field);
    }
    let (comment, derives) = (doc(None, comment), types.derives(&["Debug"]));
    let is_query = parameters.iter().any(|parameter| parameter.location() == "query");
    let closed = is_query.then(|| quote! { #[serde(deny_unknown_fields)] });
    types.code.push(quote! { #comment #derives #closed pub(super) struct #name { #fields } });
    Ok(bindings)
}

fn field_of(
    types: &mut Types<'_>,
    parameter: &Parameter<'_>,
    declared: Schema<'_>,
) -> Result<(TokenStream, TokenStream), Refused> {
    let (name, schema, is_required) = (parameter.name(), only_member(declared), parameter.is_required());
    if declared.has("default") {
        let wrong = |condition, reason| declared.refuse_if(condition, "default", reason);
        wrong(is_required, "a required parameter cannot have a `default`")?;
        let is_named = schema.is_reference() || strings(schema).is_some();
        wrong(is_named, "dropshot drops the `default` of an enum or a reference")?;
        return types.of(schema, name).map(|of| (quote! { #[serde(default)] }, of.value));
    }
    let integer = primitive(schema).filter(|_| is_required && schema.type_name() == Some("integer"));
    if let Some(integer) = integer {
        let read = quote! {
            /// Reads an integer in its one spelling: neither `+1` nor `01`.
            fn canonical<'de, D: Deserializer<'de>, T: FromStr + Display>(
                deserializer: D,
            ) -> Result<T, D::Error> {
                let text = String::deserialize(deserializer)?;
                let value: Option<T> = text.parse().ok();
                value
                    .filter(|value| value.to_string() == text)
                    .ok_or_else(|| D::Error::custom("must be an integer"))
            }
        };
        types.code.push_once("canonical", read);
        return Ok((quote! { #[serde(deserialize_with = "canonical")] }, integer));
    }
    let of = types.of(schema, name)?;
    fields::field_of(types, declared, name, is_required, &of)
}

/// The type of the request body.
fn body(types: &mut Types<'_>, operation: Operation<'_>) -> Result<Option<TokenStream>, Refused> {
    let Some(body) = operation.request_body() else { return Ok(None) };
    if !body.is_required() {
        return Err(body.refused("dropshot reads a body only if it is `required: true`"));
    }
    let mut content = body.content();
    let (Some(media), None) = (content.next(), content.next()) else {
        return Err(body.refused_at("content", "the service reads one media type, `application/json`"));
    };
    if media.media_type() != "application/json" {
        return Err(media.refused("the service reads bodies of `application/json` only"));
    }
    let schema = media.schema().ok_or_else(|| media.refused("the body needs a `schema`"))?;
    let member = only_member(schema);
    if !member.is_reference() {
        return Err(schema.refused("the schema of a body needs a name under `components/schemas`"));
    }
    if schema.flag("nullable") || member.resolved().and_then(|of| of.type_name()) != Some("object") {
        return Err(schema.refused("the service reads only objects as bodies"));
    }
    types.of(schema, "body").map(|of| Some(of.value))
}
