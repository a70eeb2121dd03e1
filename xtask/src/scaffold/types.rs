//! Generates types for schemas, such that dropshot's document has the same schemas again.

use std::collections::{BTreeMap, HashSet};

use document::Node;
use document::openapi::{Additional, Id, Schema};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;

use super::code::{Code, doc};
use super::missing::{component, schemas_of};
use super::names;
use super::newtype::{Inner, Newtype};
use super::unsupported::{Unsupported, UnsupportedAt};
use crate::dropshot::source::{SchemaType, Sources};

/// The types that schemas can refer to.
pub(super) struct Scope<'a> {
    pub(super) sources: &'a Sources,
    /// The types that are generated for missing schemas.
    pub(super) new: BTreeMap<&'a str, SchemaType>,
}

/// How a value is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// As JSON, in a body.
    Json,
    /// As text, in the path or the query.
    Text,
}

/// Generates types into a file.
pub(super) struct Types<'a> {
    scope: &'a Scope<'a>,
    pub(super) code: Code,
    pub(super) encoding: Encoding,
    /// Whether requests contain the types.
    pub(super) read: bool,
    /// Whether responses contain the types.
    pub(super) written: bool,
    /// The visibility of the types: `pub` or `pub(super)`.
    pub(super) visible: TokenStream,
    /// The component that is generated, if there is one.
    current: Option<Id>,
    /// The types that are exported.
    pub(super) made: Vec<String>,
    /// What the document requires and the types do not check.
    pub(super) notes: Vec<String>,
}

/// Keywords without effect on the type.
const ANNOTATIONS: [&str; 4] = ["title", "description", "example", "externalDocs"];

impl<'a> Types<'a> {
    /// Returns a generator for a file, or for a component if there is one.
    pub(super) fn new(scope: &'a Scope<'a>, code: Code, current: Option<Id>) -> Self {
        let visible = if current.is_some() { quote!(pub) } else { quote!(pub(super)) };
        Self {
            scope,
            code,
            encoding: Encoding::Json,
            read: false,
            written: true,
            visible,
            current,
            made: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Returns the type of a schema. `name` is used if the type needs a name.
    pub(super) fn of(&mut self, schema: Schema<'_>, name: &str) -> Result<TokenStream, Unsupported> {
        let schema = only_member(schema);
        if schema.is_reference() {
            return self.reference(schema);
        }
        // Only the schema of a parameter can have a default.
        schema.unsupported_if(
            schema.has("default") && self.encoding == Encoding::Json,
            "default",
            "only a parameter can have a `default`",
        )?;
        let kind = type_of(schema)?;
        let is_enum = kind == "string" && schema.has("enum");
        let reason = "this schema must be defined under `components/schemas` and referenced here";
        schema.unsupported_if(is_enum || kind == "object", "type", reason)?;
        if kind != "array" {
            let inner = Inner::of_scalar(schema)?;
            return if is_primitive(schema) { Ok(inner.rust) } else { self.newtype(schema, name, &inner) };
        }
        let reason = "dropshot does not support lists in paths and queries";
        schema.unsupported_if(self.encoding == Encoding::Text, "type", reason)?;
        let inner = self.list(schema, name)?;
        match ["minItems", "maxItems"].iter().any(|bound| schema.has(bound)) {
            true => self.newtype(schema, name, &inner),
            false => Ok(inner.rust),
        }
    }

    fn list(&mut self, schema: Schema<'_>, name: &str) -> Result<Inner, Unsupported> {
        let item = schema.items().ok_or_else(|| schema.unsupported("the array has no `items`"))?;
        let item = self.of(item, &format!("{name} item"))?;
        Inner::of_list(schema, &item)
    }

    fn reference(&mut self, schema: Schema<'_>) -> Result<TokenStream, Unsupported> {
        let target = schema.model().target(schema.id);
        let Some((target, wire)) = target.and_then(|target| Some((target, component(target)?))) else {
            let reason = "the reference must lead to a schema directly under `components/schemas`";
            return Err(schema.unsupported_at("$ref", reason));
        };
        let known = self.scope.new.get(wire).cloned().or_else(|| self.scope.sources.schema(wire));
        let reason = format!("the code has no type for the schema `{wire}`");
        let known = known.ok_or_else(|| schema.unsupported_at("$ref", reason))?;
        let name = &known.name;
        let lacks =
            |message, what| format!("a {message} contains `{name}`, which does not implement `{what}` yet");
        let text = format!("a parameter is a string, but `{wire}` is not of `type: string`");
        for (condition, reason) in [
            (self.read && !known.is_read, lacks("request", "Deserialize")),
            (self.written && !known.is_written, lacks("response", "Serialize")),
            (self.encoding == Encoding::Text && target.text("type") != Some("string"), text),
        ] {
            schema.unsupported_if(condition, "$ref", reason)?;
        }
        if self.current != Some(target.id) {
            self.code.import_schema(name);
        }
        let name = format_ident!("{name}");
        Ok(quote! { #name })
    }

    /// Adds a newtype with a name that the document does not have.
    fn newtype(
        &mut self,
        schema: Schema<'_>,
        wanted: &str,
        inner: &Inner,
    ) -> Result<TokenStream, Unsupported> {
        let name = self.code.free(&names::pascal(wanted).to_string());
        self.made.push(name.to_string());
        Newtype { name: name.clone(), inner, schema, wire: None }.make(self)?;
        Ok(quote! { #name })
    }

    /// Adds the type of a schema under `components/schemas`.
    pub(super) fn component(
        &mut self,
        schema: Schema<'_>,
        wire: &str,
        name: &str,
    ) -> Result<(), Unsupported> {
        let reason = "a schema that is only a reference has no separate type";
        schema.unsupported_if(schema.is_reference(), "$ref", reason)?;
        schema.unsupported_if(schema.has("default"), "default", "only a parameter can have a `default`")?;
        let name = format_ident!("{name}");
        self.made.push(name.to_string());
        let inner = match type_of(schema)? {
            "object" => return self.structure(schema, &name, wire),
            "string" if schema.has("enum") => return self.string_enum(schema, &name, wire),
            "array" => self.list(schema, wire)?,
            _ => Inner::of_scalar(schema)?,
        };
        Newtype { name, inner: &inner, schema, wire: Some(wire) }.make(self)
    }

    /// Adds the struct of an object.
    fn structure(&mut self, schema: Schema<'_>, name: &Ident, wire: &str) -> Result<(), Unsupported> {
        only(schema, &["properties", "required", "additionalProperties"])?;
        let closed = match schema.additional_properties() {
            Additional::None => Some(quote! { #[serde(deny_unknown_fields)] }),
            Additional::Schema(_) => {
                let reason = "a schema of additional properties is not supported";
                return Err(schema.unsupported_at("additionalProperties", reason));
            }
            _ => None,
        };
        let required: Vec<&str> = schema.required().collect();
        for name in &required {
            let reason = format!("`required` names `{name}`, which is not a property");
            schema.unsupported_if(
                schema.properties().all(|(known, _)| known != *name),
                "required",
                reason,
            )?;
        }
        let (mut fields, mut known) = (TokenStream::new(), HashSet::new());
        for (property, of) in schema.properties() {
            let field = names::snake(property);
            let reason = format!("two properties would have the field name `{field}`");
            of.unsupported_if(!known.insert(field.clone()), "", reason)?;
            let comment = doc(of.text("description"), &format!("`{property}`."));
            let mut rust = self.of(of, &format!("{name} {property}"))?;
            let inner = only_member(of);
            if inner.is_reference() && schemas_of([*inner].into_iter()).contains(wire) {
                rust = quote! { Box<#rust> };
            }
            let (rename, visible) = (renamed(&field, property), &self.visible);
            let (attributes, rust) = field_of(required.contains(&property), &rust);
            fields.extend(quote! { #comment #rename #attributes #visible #field: #rust, });
        }
        let comment = doc(schema.text("description"), &format!("`{name}`."));
        let derives = self.derives(&["Clone", "Debug", "PartialEq"], true);
        let (rename, visible) = (renamed(name, wire), &self.visible);
        // The main type of the file comes first.
        self.code.push_first(quote! { #comment #derives #rename #closed #visible struct #name { #fields } });
        Ok(())
    }

    fn string_enum(&mut self, schema: Schema<'_>, name: &Ident, wire: &str) -> Result<(), Unsupported> {
        only(schema, &["enum"])?;
        let words: Option<Vec<&str>> =
            schema.get("enum").and_then(|values| values.items().iter().map(Node::as_str).collect());
        let words = words.filter(|words| !words.is_empty());
        let words = words.ok_or_else(|| schema.unsupported_at("enum", "the values must be strings"))?;
        let variants = names::variants(&words).into_iter().map(|(word, variant)| {
            let variant = format_ident!("{variant}");
            let rename = renamed(&variant, &word);
            quote! { #rename #variant, }
        });
        let (rename, visible) = (renamed(name, wire), &self.visible);
        let comment = doc(schema.text("description"), &format!("One of {}.", words.join(", ")));
        let derives = self.derives(&["Clone", "Copy", "Debug", "PartialEq", "Eq"], true);
        self.code.push(quote! {
            #comment
            #derives
            #rename
            #[allow(missing_docs, reason = "documented variants would become a `oneOf`")]
            #visible enum #name { #(#variants)* }
        });
        Ok(())
    }

    /// Returns the `derive` of a type: these traits, those of serde, and that of schemars unless it is implemented by
    /// hand.
    pub(super) fn derives(&self, always: &[&str], schema: bool) -> TokenStream {
        let of_serde = [(self.written, "Serialize"), (self.read, "Deserialize"), (schema, "JsonSchema")];
        let names =
            always.iter().copied().chain(of_serde.into_iter().filter_map(|(has, name)| has.then_some(name)));
        let names: Vec<Ident> = names.map(|name| format_ident!("{name}")).collect();
        quote! { #[derive(#(#names),*)] }
    }
}

/// Returns the attributes and the type of a field. An optional one is not `null`, unless its type is.
pub(super) fn field_of(required: bool, of: &TokenStream) -> (TokenStream, TokenStream) {
    if required {
        return (TokenStream::new(), of.clone());
    }
    let text = of.to_string().replace(' ', "");
    let attributes = quote! {
        #[schemars(with = #text)]
        #[serde(default, skip_serializing_if = "Option::is_none")]
    };
    (attributes, quote! { Option<#of> })
}

/// Whether a schema has only a type and a format that a primitive type stands for. schemars adds the format of numbers.
pub(super) fn is_primitive(schema: Schema<'_>) -> bool {
    let is_number = matches!(schema.type_name(), Some("integer" | "number"));
    only(schema, &["format"]).is_ok() && schema.has("format") == is_number
}

/// Returns the attribute that gives a type or field its name in the document, if they differ.
pub(super) fn renamed(name: &Ident, wire: &str) -> Option<TokenStream> {
    (name.unraw() != wire).then(|| quote! { #[serde(rename = #wire)] })
}

/// Returns the single reference in `allOf` if the schema has no other relevant keyword, else the schema itself.
pub(super) fn only_member(schema: Schema<'_>) -> Schema<'_> {
    let mut members = schema.members("allOf");
    match (members.next(), members.next()) {
        (Some(member), None)
            if member.is_reference() && !schema.has("type") && only(schema, &["allOf"]).is_ok() =>
        {
            member
        }
        _ => schema,
    }
}

/// Returns the `type` of a schema.
fn type_of<'a>(schema: Schema<'a>) -> Result<&'a str, Unsupported> {
    schema.type_name().ok_or_else(|| {
        let untyped = || schema.unsupported("a schema without `type` has no Rust type");
        only(schema, &[]).err().unwrap_or_else(untyped)
    })
}

/// Fails for keywords that the schema of the generated type would not have.
pub(super) fn only(schema: Schema<'_>, known: &[&str]) -> Result<(), Unsupported> {
    let mut keywords = schema.node().entries().iter().map(|entry| entry.key.as_str());
    let other = keywords.find(|keyword| {
        *keyword != "type"
            && !known.contains(keyword)
            && !ANNOTATIONS.contains(keyword)
            && !keyword.starts_with("x-")
    });
    match other {
        Some(keyword) => Err(schema.unsupported_at(keyword, format!("`{keyword}` is not supported here"))),
        None => Ok(()),
    }
}
