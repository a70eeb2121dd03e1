//! What an operation takes: path, query, a JSON body.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use serde_json::{Map, Value};

use super::code::doc;
use super::fields::{optional_attributes, renamed_field, with};
use super::names;
use super::newtype::Inner;
use super::operation::Operation;
use super::sample;
use super::types::{Place, Rust, Scope, Types, only_member};

/// What is taken.
pub(super) struct Taken {
    /// The type of the input.
    pub(super) input: TokenStream,
    /// The pattern that takes it apart.
    pub(super) pattern: TokenStream,
    /// What that gives names to.
    pub(super) bindings: Vec<TokenStream>,
    pub(super) path: bool,
    pub(super) query: bool,
    /// A body that the schema allows.
    pub(super) body: Option<Value>,
    /// Path and query of a request that is in order.
    pub(super) target: String,
}

pub(super) fn make(types: &mut Types<'_>, operation: &Operation, scope: &Scope<'_>) -> Result<Taken, String> {
    types.read = true;
    types.written = false;
    let mut parameters = Vec::new();
    for parameter in operation.object.get("parameters").and_then(Value::as_array).into_iter().flatten() {
        parameters.push(Parameter::read(scope.resolve(parameter))?);
    }
    let of_place =
        |place: &str| parameters.iter().filter(|parameter| parameter.place == place).collect::<Vec<_>>();
    let (path, query) = (of_place("path"), of_place("query"));
    if let Some(other) = parameters.iter().find(|parameter| !["path", "query"].contains(&parameter.place)) {
        return Err(format!(
            "parameter `{}`: the service has no input that reads it from the {}",
            other.name, other.place
        ));
    }
    let id = operation.id()?;
    let mut parts = Vec::new();
    let mut bindings = Vec::new();
    for (place, extractor, these) in [(Place::Path, "Path", &path), (Place::Query, "Query", &query)] {
        if these.is_empty() {
            continue;
        }
        types.place = place;
        types.code.import(if place == Place::Path { "crate::input::Path" } else { "crate::input::Query" });
        let both = !path.is_empty() && !query.is_empty();
        let name = format!("{}{}", names::pascal(id), if both { extractor } else { "" });
        let name = format_ident!("{}", types.code.free(&name));
        let fields = structure(types, &name, place, these, id)?;
        let extractor = format_ident!("{extractor}");
        parts.push((quote! { #extractor<#name> }, quote! { #extractor(#name { #(#fields),* }) }));
        bindings.extend(fields.into_iter().map(|field| quote! { #field }));
    }
    let body = body(types, operation, scope)?;
    let sampled = body.as_ref().map(|(_, sample)| sample.clone());
    if let Some((of, _)) = body {
        types.code.import("crate::input::Json");
        parts.push((quote! { Json<#of> }, quote! { Json(body) }));
        bindings.push(quote! { body });
    }
    let (input, pattern) = nested(&parts);
    Ok(Taken {
        input,
        pattern,
        bindings,
        path: !path.is_empty(),
        query: !query.is_empty(),
        body: sampled,
        target: target(operation, &path, &query, scope),
    })
}

/// `A`, `(A, B)` or `(A, (B, C))`: each is read before the next.
fn nested(parts: &[(TokenStream, TokenStream)]) -> (TokenStream, TokenStream) {
    match parts {
        [] => (quote! { () }, quote! { () }),
        [(input, pattern)] => (input.clone(), pattern.clone()),
        [(input, pattern), rest @ ..] => {
            let (rest_input, rest_pattern) = nested(rest);
            (quote! { (#input, #rest_input) }, quote! { (#pattern, #rest_pattern) })
        }
    }
}

struct Parameter<'p> {
    name: &'p str,
    place: &'p str,
    required: bool,
    schema: &'p Value,
    object: &'p Value,
}

impl<'p> Parameter<'p> {
    fn read(object: &'p Value) -> Result<Self, String> {
        let text = |key: &str| object.get(key).and_then(Value::as_str);
        let name = text("name").ok_or("a parameter needs a `name`")?;
        let wrong = |reason: &str| format!("parameter `{name}`: {reason}");
        let place = text("in").ok_or_else(|| wrong("it needs an `in`"))?;
        let schema = object.get("schema").ok_or_else(|| wrong("dropshot describes it by a `schema` only"))?;
        for keyword in ["deprecated", "allowEmptyValue", "allowReserved", "explode", "style"] {
            let usual = match (keyword, place) {
                ("explode", "query") => Value::Bool(true),
                ("style", "query") => Value::from("form"),
                ("style", _) => Value::from("simple"),
                _ => Value::Bool(false),
            };
            if object.get(keyword).is_some_and(|value| *value != usual) {
                return Err(wrong(&format!("dropshot has nothing for its `{keyword}`")));
            }
        }
        if schema.get("nullable") == Some(&Value::Bool(true)) {
            return Err(wrong("there is no `null` in a path or a query"));
        }
        let required = object.get("required") == Some(&Value::Bool(true));
        Ok(Self { name, place, required, schema, object })
    }
}

/// The struct of the parameters in one place. Returns its fields.
fn structure(
    types: &mut Types<'_>,
    name: &proc_macro2::Ident,
    place: Place,
    parameters: &[&Parameter<'_>],
    id: &str,
) -> Result<Vec<proc_macro2::Ident>, String> {
    let mut names_of_fields = Vec::new();
    let mut fields = TokenStream::new();
    for parameter in parameters {
        let field = names::snake(parameter.name);
        if names_of_fields.contains(&field) {
            return Err(format!("two parameters would be the field `{field}`"));
        }
        let wrong = |reason: String| format!("parameter `{}`: {reason}", parameter.name);
        let rename = renamed_field(&field, parameter.name);
        let (attributes, value) = field_of(types, place, parameter).map_err(wrong)?;
        fields.extend(quote! { #rename #attributes #field: #value, });
        names_of_fields.push(field);
    }
    types.code.import_all(&["serde::Deserialize", "schemars::JsonSchema"]);
    let what = if place == Place::Path { "path" } else { "query" };
    let comment = doc(None, &format!("The {what} of `{id}`."));
    let closed = (place == Place::Query).then(|| quote! { #[serde(deny_unknown_fields)] });
    types.code.push(quote! {
        #comment
        #[derive(Debug, Deserialize, JsonSchema)]
        #closed
        pub(super) struct #name { #fields }
    });
    Ok(names_of_fields)
}

fn field_of(
    types: &mut Types<'_>,
    place: Place,
    parameter: &Parameter<'_>,
) -> Result<(TokenStream, TokenStream), String> {
    let Parameter { name, schema, required, .. } = parameter;
    let schema = only_member(schema);
    if place == Place::Path {
        if !required || schema.get("default").is_some() {
            return Err("what is in the path is `required`, and has no `default`".to_owned());
        }
        let is_integer = schema.get("type").and_then(Value::as_str) == Some("integer");
        if is_integer && types.is_bare(schema) && schema.get("format").is_some() {
            canonical(types);
            let of = types.of(schema, name)?;
            return Ok((quote! { #[serde(deserialize_with = "canonical")] }, of.value));
        }
        let of = match schema.get("type").and_then(Value::as_str) {
            Some("integer") => types.newtype(schema, name, &Inner::of_integer(schema), None)?,
            _ => types.of(schema, name)?,
        };
        return Ok((with(of.schema.as_ref()), of.value));
    }
    if let Some(default) = parameter.schema.get("default") {
        if *required {
            return Err("what is required cannot have a `default` too".to_owned());
        }
        let inner = match schema.get("type").and_then(Value::as_str) {
            _ if schema.get("$ref").is_some() || schema.get("enum").is_some() => None,
            Some("integer") => Some(Inner::of_integer(schema)),
            Some("number") => Some(Inner::of_number(schema)),
            Some("boolean") => Some(Inner::Boolean),
            Some("string") => Some(Inner::Text),
            _ => None,
        };
        let inner = inner.ok_or("dropshot drops the `default` of such a schema from a parameter")?;
        let of = types.newtype(schema, name, &inner, Some(default))?;
        return Ok((quote! { #[serde(default)] }, of.value));
    }
    let of: Rust = types.of(schema, name)?;
    if *required {
        return Ok((with(of.schema.as_ref()), of.value));
    }
    let attributes = optional_attributes(types, &of);
    let value = of.value;
    Ok((attributes, quote! { Option<#value> }))
}

/// Integers in the path have one spelling, as those of the operations that are there.
fn canonical(types: &mut Types<'_>) {
    types.code.import_all(&["serde::de::Error as _", "serde::Deserializer"]);
    types.code.import_all(&["std::fmt::Display", "std::str::FromStr"]);
    types.code.push_once(
        "canonical",
        quote! {
            /// An integer in its one spelling: neither `+1` nor `01`.
            fn canonical<'de, D: Deserializer<'de>, T: FromStr + Display>(
                deserializer: D,
            ) -> Result<T, D::Error> {
                let text = String::deserialize(deserializer)?;
                let value: Option<T> = text.parse().ok();
                value
                    .filter(|value| value.to_string() == text)
                    .ok_or_else(|| D::Error::custom("not an identifier"))
            }
        },
    );
}

/// The type of the body, and a body that it allows.
fn body(
    types: &mut Types<'_>,
    operation: &Operation,
    scope: &Scope<'_>,
) -> Result<Option<(TokenStream, Value)>, String> {
    let Some(body) = operation.object.get("requestBody") else { return Ok(None) };
    let body = scope.resolve(body);
    if body.get("required") != Some(&Value::Bool(true)) {
        return Err("dropshot takes a body only if it is `required`".to_owned());
    }
    let nothing = Map::new();
    let content = body.get("content").and_then(Value::as_object).unwrap_or(&nothing);
    let media = match content.iter().collect::<Vec<_>>()[..] {
        [(kind, media)] if kind == "application/json" => media,
        _ => return Err("the service reads bodies of `application/json` only".to_owned()),
    };
    let schema = only_member(media.get("schema").ok_or("the body needs a `schema`")?);
    if schema.get("$ref").is_none() {
        return Err("give the schema of the body a name under `components/schemas`".to_owned());
    }
    let resolved = scope.resolve(schema);
    if resolved.get("type") != Some(&Value::from("object")) {
        return Err("the service takes an object as a body, and nothing else".to_owned());
    }
    types.place = Place::Json;
    let of = types.of(schema, "body")?;
    Ok(Some((of.value, sample::of_media(scope, media, schema))))
}

/// A path with a query that is in order.
fn target(
    operation: &Operation,
    path: &[&Parameter<'_>],
    query: &[&Parameter<'_>],
    scope: &Scope<'_>,
) -> String {
    let word = |parameter: &Parameter<'_>| {
        let value = sample::of_parameter(scope, parameter.object, parameter.schema);
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        sample::encoded(&text)
    };
    let mut target = operation.path.clone();
    for parameter in path {
        target = target.replace(&format!("{{{}}}", parameter.name), &word(parameter));
    }
    let needed = query.iter().filter(|parameter| parameter.required);
    for (position, parameter) in needed.enumerate() {
        target.push(if position == 0 { '?' } else { '&' });
        target.push_str(&format!("{}={}", sample::encoded(parameter.name), word(parameter)));
    }
    target
}
