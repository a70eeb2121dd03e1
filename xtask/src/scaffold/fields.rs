//! The properties of an object, as the fields of a struct.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};
use serde_json::Value;

use super::code::doc;
use super::types::{Rust, Types, only, only_member, renamed};
use super::{names, order};

/// Adds the struct of an object; `wire` is its name in the document, if it has one.
pub(super) fn structure(
    types: &mut Types<'_>,
    schema: &Value,
    name: &Ident,
    wire: Option<&str>,
) -> Result<(), String> {
    only(schema, &["properties", "required", "additionalProperties"])?;
    let nothing = serde_json::Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&nothing);
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if let Some(unknown) = required.iter().find(|name| !properties.contains_key(**name)) {
        return Err(format!("`required` names `{unknown}`, which is no property"));
    }
    let mut all: Vec<(Ident, &str)> = Vec::new();
    for property in order::of(schema) {
        let field = names::snake(property);
        if all.iter().any(|(other, _)| *other == field) {
            return Err(format!("two properties would be the field `{field}`"));
        }
        all.push((field, property));
    }
    let camel = all.iter().all(|(field, property)| names::camel(&names::bare(field)) == *property);
    let mut fields = TokenStream::new();
    for (field, property) in &all {
        let of = Property {
            name: property,
            schema: properties.get(*property).ok_or("it is not there")?,
            required: required.contains(property),
            type_name: format!("{name} {property}"),
        };
        let rename = if camel { TokenStream::new() } else { renamed_field(field, property) };
        let made = of.make(types).map_err(|reason| format!("property `{property}`: {reason}"))?;
        let comment = of.comment();
        let Made { attributes, value } = made;
        fields.extend(quote! { #comment #rename #attributes pub #field: #value, });
    }
    let (closed, others) = others(types, schema, name)?;
    let same = all.iter().all(|(field, property)| names::bare(field) == *property);
    let camel = (camel && !same).then(|| quote! { rename_all = "camelCase" });
    let settings: Vec<TokenStream> = camel.into_iter().chain(closed).collect();
    let settings = match settings.is_empty() {
        true => TokenStream::new(),
        false => quote! { #[serde(#(#settings),*)] },
    };
    let comment = doc(schema.get("description").and_then(Value::as_str), &format!("`{name}`."));
    let derives = types.derives(&["Clone", "Debug", "PartialEq"], true);
    let (visible, rename) = (types.visible.clone(), renamed(name, wire));
    let item = quote! { #comment #derives #rename #settings #visible struct #name { #fields #others } };
    match wire {
        // What the file is about stands first.
        Some(_) => types.code.push_first(item),
        None => types.code.push(item),
    }
    Ok(())
}

/// What becomes of properties that are not listed: refused, or kept in a field of their own.
fn others(
    types: &mut Types<'_>,
    schema: &Value,
    name: &Ident,
) -> Result<(Option<TokenStream>, TokenStream), String> {
    match schema.get("additionalProperties") {
        Some(Value::Bool(false)) => Ok((Some(quote! { deny_unknown_fields }), TokenStream::new())),
        Some(others) if others.as_object().is_some_and(|others| !others.is_empty()) => {
            types.code.import("std::collections::BTreeMap");
            let value = types.of(others, &format!("{name} other"))?;
            let with = with(value.schema.as_ref().map(|value| quote! { BTreeMap<String, #value> }).as_ref());
            let value = value.value;
            let field = quote! {
                /// All others.
                #[serde(flatten)]
                #with
                pub others: BTreeMap<String, #value>,
            };
            Ok((None, field))
        }
        _ => Ok((None, TokenStream::new())),
    }
}

/// A property to be a field.
struct Property<'p> {
    name: &'p str,
    schema: &'p Value,
    required: bool,
    /// What its type would be called.
    type_name: String,
}

/// A field without its name.
struct Made {
    attributes: TokenStream,
    value: TokenStream,
}

impl Property<'_> {
    fn comment(&self) -> TokenStream {
        let description = self.schema.get("description").and_then(Value::as_str);
        doc(description, &format!("`{}`.", self.name))
    }

    fn make(&self, types: &mut Types<'_>) -> Result<Made, String> {
        let mut of = types.of(self.schema, &self.type_name)?;
        let itself = types.current.as_ref().map(|name| format!("#/components/schemas/{name}"));
        if itself.is_some()
            && only_member(self.schema).get("$ref").and_then(Value::as_str) == itself.as_deref()
        {
            let value = of.value;
            of.value = quote! { Box<#value> };
        }
        let nullable = self.schema.get("nullable") == Some(&Value::Bool(true));
        let default = self.schema.get("default");
        match (self.required, nullable, default) {
            (true, _, Some(_)) => Err("what is required cannot have a `default` too".to_owned()),
            (true, false, None) => {
                let with = with(of.schema.as_ref());
                Ok(Made { attributes: with, value: of.value })
            }
            (true, true, None) => Ok(required_nullable(types, &of)),
            (false, _, Some(default)) => self.with_default(types, &of, nullable, default),
            (false, true, None) => {
                let with = with(of.schema.as_ref().map(|of| quote! { Option<#of> }).as_ref());
                let value = of.value;
                let attributes = quote! { #with #[serde(default, skip_serializing_if = "Option::is_none")] };
                Ok(Made { attributes, value: quote! { Option<#value> } })
            }
            (false, false, None) => Ok(optional(types, &of)),
        }
    }

    fn with_default(
        &self,
        types: &mut Types<'_>,
        of: &Rust,
        nullable: bool,
        default: &Value,
    ) -> Result<Made, String> {
        let literal = literal(types, self.schema, of, default)?;
        let function = format_ident!("default_{}", names::bare(&names::snake(self.name)));
        let function = format_ident!("{}", types.code.free(&function.to_string()));
        let (value, literal) = match nullable {
            true => {
                let value = &of.value;
                (quote! { Option<#value> }, quote! { Some(#literal) })
            }
            false => (of.value.clone(), literal),
        };
        types.code.push(quote! { fn #function() -> #value { #literal } });
        let function = function.to_string();
        let with = with(
            of.schema
                .as_ref()
                .map(|of| {
                    if nullable {
                        quote! { Option<#of> }
                    } else {
                        of.clone()
                    }
                })
                .as_ref(),
        );
        Ok(Made { attributes: quote! { #with #[serde(default = #function)] }, value })
    }
}

/// May be left out, but not sent as `null`.
pub(super) fn optional_attributes(types: &mut Types<'_>, of: &Rust) -> TokenStream {
    let with = with(Some(&of.described_by()));
    let reads = types.read.then(|| {
        types.code.import_schema("present");
        quote! { deserialize_with = "present", }
    });
    quote! { #with #[serde(default, #reads skip_serializing_if = "Option::is_none")] }
}

fn optional(types: &mut Types<'_>, of: &Rust) -> Made {
    let attributes = optional_attributes(types, of);
    let value = &of.value;
    Made { attributes, value: quote! { Option<#value> } }
}

/// Must be there, but may be `null`: serde and schemars would both take an `Option` for what may be left out.
fn required_nullable(types: &mut Types<'_>, of: &Rust) -> Made {
    types.code.import_all(&["std::marker::PhantomData", "schemars::JsonSchema"]);
    types.code.import_all(&["schemars::r#gen::SchemaGenerator", "schemars::schema::Schema"]);
    types.code.push_once(
        "Nullable",
        quote! {
            /// For `#[schemars(with = ...)]`: may be `null`, but not left out.
            struct Nullable<T>(PhantomData<T>);

            impl<T: JsonSchema> JsonSchema for Nullable<T> {
                fn schema_name() -> String {
                    Option::<T>::schema_name()
                }

                fn is_referenceable() -> bool {
                    false
                }

                fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                    Option::<T>::json_schema(generator)
                }
            }
        },
    );
    let described = of.described_by();
    let with = with(Some(&quote! { Nullable<#described> }));
    let reads = types.read.then(|| {
        types.code.import("serde::Deserialize");
        quote! { #[serde(deserialize_with = "Option::deserialize")] }
    });
    let value = &of.value;
    Made { attributes: quote! { #with #reads }, value: quote! { Option<#value> } }
}

/// A value of a type, as Rust.
fn literal(types: &Types<'_>, schema: &Value, of: &Rust, value: &Value) -> Result<TokenStream, String> {
    let wrong = || format!("`default: {value}` has no form in Rust that schemars would write back");
    let schema = only_member(schema);
    let kind = &of.value;
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let name = reference.rsplit('/').next().unwrap_or_default();
        let known = types.scope.named(name).ok_or_else(wrong)?;
        let word = value.as_str().ok_or_else(wrong)?;
        let (_, variant) = known.members.iter().find(|(wire, _)| wire == word).ok_or_else(wrong)?;
        let variant = format_ident!("{variant}");
        return Ok(quote! { #kind::#variant });
    }
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        let position = words.iter().position(|word| value == word).ok_or_else(wrong)?;
        let variant = names::variants(words.into_iter()).into_iter().nth(position).ok_or_else(wrong)?;
        return Ok(quote! { #kind::#variant });
    }
    let bare = match (schema.get("type").and_then(Value::as_str), value) {
        (Some("boolean"), Value::Bool(value)) => quote! { #value },
        (Some("string"), Value::String(text)) => quote! { #text.to_owned() },
        (Some("integer"), value) => {
            let value = Literal::i64_unsuffixed(value.as_i64().ok_or_else(wrong)?);
            quote! { #value }
        }
        (Some("number"), value) => {
            let value = Literal::f64_unsuffixed(value.as_f64().ok_or_else(wrong)?);
            quote! { #value }
        }
        (Some("array"), Value::Array(items)) if items.is_empty() => quote! { Vec::new() },
        _ => return Err(wrong()),
    };
    let is_newtype = !["bool", "String", "i32", "i64", "f32", "f64"].contains(&kind.to_string().as_str())
        && !kind.to_string().starts_with("Vec");
    Ok(if is_newtype {
        quote! { #kind(#bare) }
    } else {
        bare
    })
}

/// Describes a field by another type.
pub(super) fn with(schema: Option<&TokenStream>) -> TokenStream {
    let Some(schema) = schema else { return TokenStream::new() };
    let text = schema.to_string().replace(' ', "").replace(',', ", ");
    quote! { #[schemars(with = #text)] }
}

/// The attribute that gives a field its name on the wire, if it needs one.
pub(super) fn renamed_field(field: &Ident, wire: &str) -> TokenStream {
    match names::bare(field) == wire {
        true => TokenStream::new(),
        false => quote! { #[serde(rename = #wire)] },
    }
}
