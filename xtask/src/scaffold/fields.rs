//! The properties of an object as the fields of a struct.

use contract::openapi::{Additional, Schema};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::code::doc;
use super::missing::component;
use super::names;
use super::newtype::{Inner, has_serializable_items};
use super::refused::{Refuse, Refused};
use super::types::{Rust, Types, only, only_member, renamed, strings};

/// Adds the struct of an object. `wire` is its name in the document, if it has one.
pub(super) fn structure(
    types: &mut Types<'_>,
    schema: Schema<'_>,
    name: &Ident,
    wire: Option<&str>,
) -> Result<(), Refused> {
    only(schema, &["properties", "required", "additionalProperties"])?;
    let required: Vec<&str> = schema.required().collect();
    for name in &required {
        let reason = format!("`required` names `{name}`, which is not a property");
        schema.refuse_if(schema.properties().all(|(known, _)| known != *name), "required", reason)?;
    }
    let mut all: Vec<(Ident, &str, Schema<'_>)> = Vec::new();
    for (property, of) in schema.properties() {
        let field = names::snake(property);
        if all.iter().any(|(other, ..)| *other == field) {
            return Err(of.refused(format!("two fields would be called `{field}`")));
        }
        all.push((field, property, of));
    }
    let camel = all.iter().all(|(field, property, _)| names::camel(&names::bare(field)) == *property);
    let same = all.iter().all(|(field, property, _)| names::bare(field) == *property);
    let visible = types.visible.clone();
    let mut fields = TokenStream::new();
    for (field, property, schema) in all {
        let rename = (!camel).then(|| renamed_field(&field, property));
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
            let reason = "schemars describes other properties beside the named ones as any value";
            return Err(schema.refused_at("additionalProperties", reason));
        }
        _ => {}
    }
    let settings = (!settings.is_empty()).then(|| quote! { #[serde(#(#settings),*)] });
    let comment = doc(schema.text("description"), &format!("`{name}`."));
    let derives = types.derives(&["Clone", "Debug", "PartialEq"]);
    let rename = renamed(name, wire);
    let item = quote! { #comment #derives #rename #settings #visible struct #name { #fields } };
    match wire {
        // The type that the file is named after comes first.
        Some(_) => types.code.push_first(item),
        None => types.code.push(item),
    }
    Ok(())
}

/// The attributes and the type of a field.
pub(super) fn field_of(
    types: &mut Types<'_>,
    schema: Schema<'_>,
    name: &str,
    required: bool,
    of: &Rust,
) -> Result<(TokenStream, TokenStream), Refused> {
    let value = &of.value;
    let optional = of.clone().map(|of| quote! { Option<#of> });
    match (required, schema.flag("nullable"), schema.has("default")) {
        (true, _, true) => Err(schema.refused_at("default", "a required property cannot have a `default`")),
        (true, false, false) => Ok((with(of.schema.as_ref()), value.clone())),
        (true, true, false) => Ok(required_nullable(types, of)),
        (false, false, true) => Ok((with_default(types, schema, name, of, of)?, value.clone())),
        (false, true, true) => Ok((with_default(types, schema, name, of, &optional)?, optional.value)),
        (false, true, false) => {
            let with = with(optional.schema.as_ref());
            let attributes = quote! { #with #[serde(default, skip_serializing_if = "Option::is_none")] };
            Ok((attributes, optional.value))
        }
        (false, false, false) => Ok((optional_attributes(types, of), optional.value)),
    }
}

/// The attributes of a field with a default; `field` is its type, perhaps an `Option` of `of`.
fn with_default(
    types: &mut Types<'_>,
    schema: Schema<'_>,
    name: &str,
    of: &Rust,
    field: &Rust,
) -> Result<TokenStream, Refused> {
    let literal = literal(types, schema, of)?;
    let function = format!("default_{}", names::bare(&names::snake(name)));
    let function = format_ident!("{}", types.code.free(&function));
    let value = &field.value;
    let literal = if schema.flag("nullable") { quote!(Some(#literal)) } else { literal };
    types.code.push(quote! { fn #function() -> #value { #literal } });
    let (function, with) = (function.to_string(), with(field.schema.as_ref()));
    Ok(quote! { #with #[serde(default = #function)] })
}

/// The `default` of a property as Rust.
fn literal(types: &Types<'_>, property: Schema<'_>, of: &Rust) -> Result<TokenStream, Refused> {
    let wrong =
        || property.refused_at("default", "no literal that schemars writes back stands for this `default`");
    let schema = only_member(property);
    let kind = &of.value;
    let word = property.text("default");
    let target = schema.resolved().ok_or_else(wrong)?;
    let variants = match schema.model().target(schema.id).and_then(component) {
        Some(name) => {
            let known = types.scope.named(name).filter(|known| known.is_written).ok_or_else(wrong)?;
            Some(known.members)
        }
        None => strings(schema).map(|words| names::members(&words)),
    };
    if let Some(variants) = variants {
        let known = variants.iter().find(|(wire, _)| target.has("enum") && Some(wire.as_str()) == word);
        let variant = format_ident!("{}", known.ok_or_else(wrong)?.1);
        return Ok(quote! { #kind::#variant });
    }
    let inner = match schema.type_name() {
        // schemars serializes the default.
        Some("array") if types.written || has_serializable_items(schema) => Inner::List(of.clone()),
        Some("array" | "object") => return Err(wrong()),
        _ => Inner::of_scalar(schema)?,
    };
    let value = inner.literal(property, "default")?;
    let kind = kind.to_string();
    let is_plain =
        ["bool", "String", "i32", "i64", "f32", "f64"].contains(&kind.as_str()) || kind.starts_with("Vec ");
    let of = &of.value;
    Ok(if is_plain { value } else { quote!(#of(#value)) })
}

/// The attributes of a field that may be missing, but not `null`.
pub(super) fn optional_attributes(types: &mut Types<'_>, of: &Rust) -> TokenStream {
    let with = with(Some(&of.described_by()));
    let reads = types.read.then(|| {
        types.code.import_schema("present");
        quote! { deserialize_with = "present", }
    });
    quote! { #with #[serde(default, #reads skip_serializing_if = "Option::is_none")] }
}

/// A field that may be `null`, but not missing. serde and schemars let an `Option` be missing.
fn required_nullable(types: &mut Types<'_>, of: &Rust) -> (TokenStream, TokenStream) {
    types.wrapper("Nullable", "may be `null`, but not missing", &quote! { Option<T> });
    let described = of.described_by();
    let with = with(Some(&quote! { Nullable<#described> }));
    let reads = types.read.then(|| quote! { #[serde(deserialize_with = "Option::deserialize")] });
    let value = &of.value;
    (quote! { #with #reads }, quote! { Option<#value> })
}

/// The attribute that describes a field by another type.
pub(super) fn with(schema: Option<&TokenStream>) -> TokenStream {
    let Some(schema) = schema else { return TokenStream::new() };
    let text = schema.to_string().replace(' ', "").replace(',', ", ");
    quote! { #[schemars(with = #text)] }
}

/// The attribute that gives a field its name in the document, if it needs one.
pub(super) fn renamed_field(field: &Ident, wire: &str) -> TokenStream {
    match names::bare(field) == wire {
        true => TokenStream::new(),
        false => quote! { #[serde(rename = #wire)] },
    }
}
