//! Generates a struct from the properties of an object.

use std::collections::HashSet;

use document::openapi::{Additional, Schema};
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::ext::IdentExt;

use super::code::doc;
use super::names;
use super::newtype::Inner;
use super::types::{Rust, Types, only, only_member, primitive, renamed};
use super::unsupported::{Unsupported, UnsupportedAt};

/// Adds the struct of an object. `wire` is the name in the document.
pub(super) fn structure(
    types: &mut Types<'_>,
    schema: Schema<'_>,
    name: &Ident,
    wire: &str,
) -> Result<(), Unsupported> {
    only(schema, &["properties", "required", "additionalProperties"])?;
    let required: Vec<&str> = schema.required().collect();
    for name in &required {
        let reason = format!("`required` names `{name}`, which is not a property");
        schema.unsupported_if(schema.properties().all(|(known, _)| known != *name), "required", reason)?;
    }
    let all = |rename: fn(&str) -> String| {
        schema.properties().all(|(name, _)| rename(&names::snake(name).unraw().to_string()) == name)
    };
    let (camel, same) = (all(names::camel), all(str::to_owned));
    let visible = types.visible.clone();
    let (mut fields, mut known) = (TokenStream::new(), HashSet::new());
    for (property, schema) in schema.properties() {
        let field = names::snake(property);
        if !known.insert(field.clone()) {
            return Err(schema.unsupported(format!("two properties would have the field name `{field}`")));
        }
        let rename = renamed(&field, property).filter(|_| !camel);
        let comment = doc(schema.text("description"), &format!("`{property}`."));
        let of = types.of(schema, &format!("{name} {property}"))?;
        let of = if types.is_recursive(schema) { of.map(|of| quote! { Box<#of> }) } else { of };
        let (attributes, value) = field_of(types, schema, property, required.contains(&property), &of)?;
        fields.extend(quote! { #comment #rename #attributes #visible #field: #value, });
    }
    let mut settings = Vec::new();
    settings.extend((camel && !same).then(|| quote! { rename_all = "camelCase" }));
    match schema.additional_properties() {
        Additional::None => settings.push(quote! { deny_unknown_fields }),
        Additional::Schema(others) if !others.node().entries().is_empty() => {
            let reason = "schemars supports no schema for additional properties beside named ones";
            return Err(schema.unsupported_at("additionalProperties", reason));
        }
        _ => {}
    }
    let settings = (!settings.is_empty()).then(|| quote! { #[serde(#(#settings),*)] });
    let comment = doc(schema.text("description"), &format!("`{name}`."));
    let derives = types.derives(&["Clone", "Debug", "PartialEq"]);
    let rename = renamed(name, wire);
    let item = quote! { #comment #derives #rename #settings #visible struct #name { #fields } };
    // The main type of the file comes first.
    types.code.push_first(item);
    Ok(())
}

/// Returns the attributes and the type of a field.
pub(super) fn field_of(
    types: &mut Types<'_>,
    schema: Schema<'_>,
    name: &str,
    required: bool,
    of: &Rust,
) -> Result<(TokenStream, TokenStream), Unsupported> {
    let optional = of.map(|of| quote! { Option<#of> });
    let skip = quote! { skip_serializing_if = "Option::is_none" };
    let (field, serde) = match (required, schema.flag("nullable"), schema.has("default")) {
        (true, _, true) => {
            return Err(schema.unsupported_at("default", "a required property cannot have a `default`"));
        }
        (true, false, false) => (of.clone(), TokenStream::new()),
        // serde and schemars treat an `Option` as optional.
        (true, true, false) => {
            types.nullable();
            let reads = types.read.then(|| quote! { #[serde(deserialize_with = "Option::deserialize")] });
            let described = of.described_by();
            (optional.described(quote! { Nullable<#described> }), reads.unwrap_or_default())
        }
        (false, nullable, true) => {
            let literal = literal(schema, of)?;
            let literal = if nullable { quote!(Some(#literal)) } else { literal };
            let field = if nullable { optional } else { of.clone() };
            let function = types.code.free(&format!("default_{}", names::snake(name).unraw()));
            let value = &field.value;
            types.code.push(quote! { fn #function() -> #value { #literal } });
            let function = function.to_string();
            (field, quote! { #[serde(default = #function)] })
        }
        (false, true, false) => (optional, quote! { #[serde(default, #skip)] }),
        // Optional, but not `null`: the service reads `null` only where the schema of the type allows it.
        (false, false, false) => (optional.described(of.described_by()), quote! { #[serde(default, #skip)] }),
    };
    let with = field.with();
    Ok((quote! { #with #serde }, field.value))
}

/// Returns the `default` of a property as a Rust expression.
fn literal(property: Schema<'_>, of: &Rust) -> Result<TokenStream, Unsupported> {
    let schema = only_member(property);
    let kind = &of.value;
    schema.unsupported_if(schema.is_reference(), "default", "a reference cannot have a `default`")?;
    schema.unsupported_if(
        matches!(schema.type_name(), Some("array" | "object")),
        "default",
        "only scalars can have a `default`",
    )?;
    let value = Inner::of_scalar(schema)?.literal(property, "default")?;
    Ok(if primitive(schema).is_some() { value } else { quote!(#kind(#value)) })
}
