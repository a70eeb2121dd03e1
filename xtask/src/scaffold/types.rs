//! Types for schemas, such that dropshot describes them by the very schema that they are made from.

use std::collections::BTreeMap;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use serde_json::Value;

use super::bounds::{self, Bounds};
use super::code::{Code, doc};
use super::newtype::{Inner, Newtype};
use super::{fields, names};
use crate::dropshot::source::{SchemaType, Sources};

/// What types can be made of.
pub(super) struct Scope<'a> {
    pub(super) document: &'a Value,
    pub(super) sources: &'a Sources,
    /// The schemas that the code lacks, with the types that they become.
    pub(super) new: BTreeMap<String, SchemaType>,
}

impl Scope<'_> {
    /// The type of a schema under `components/schemas`.
    pub(super) fn named(&self, name: &str) -> Option<SchemaType> {
        self.new.get(name).cloned().or_else(|| self.sources.schema(name))
    }

    /// What a reference stands for. One that leads nowhere stands for itself: the check tells of it.
    pub(super) fn resolve<'v>(&'v self, value: &'v Value) -> &'v Value {
        let mut value = value;
        // No sound document has longer chains.
        for _ in 0..100 {
            let reference = value.get("$ref").and_then(Value::as_str).and_then(|it| it.strip_prefix('#'));
            match reference.and_then(|pointer| self.document.pointer(pointer)) {
                Some(target) => value = target,
                None => break,
            }
        }
        value
    }

    fn schema(&self, name: &str) -> Option<&Value> {
        self.document.get("components")?.get("schemas")?.get(name)
    }
}

/// Where a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In a JSON body.
    Json,
    /// In the path, read by dropshot.
    Path,
    /// In the query, read as text.
    Query,
    /// In a header of an answer.
    Header,
}

/// A type in the making.
#[derive(Clone)]
pub(super) struct Rust {
    /// The type of the value.
    pub(super) value: TokenStream,
    /// The type that describes it, if that is another one.
    pub(super) schema: Option<TokenStream>,
}

impl Rust {
    fn plain(value: TokenStream) -> Self {
        Self { value, schema: None }
    }

    /// The type that describes it.
    pub(super) fn described_by(&self) -> TokenStream {
        self.schema.clone().unwrap_or_else(|| self.value.clone())
    }

    fn map(&self, wrap: impl Fn(&TokenStream) -> TokenStream) -> Self {
        Self { value: wrap(&self.value), schema: self.schema.as_ref().map(&wrap) }
    }
}

/// Makes types into a file.
pub(super) struct Types<'a> {
    pub(super) scope: &'a Scope<'a>,
    pub(super) code: Code,
    pub(super) place: Place,
    /// Whether requests hold it.
    pub(super) read: bool,
    /// Whether answers hold it.
    pub(super) written: bool,
    /// Who sees the types: `pub` or `pub(super)`.
    pub(super) visible: TokenStream,
    /// The schema that they are made for, if it has a name.
    pub(super) current: Option<String>,
    /// The types that others can see.
    pub(super) made: Vec<String>,
    /// What the types do not do, though the document says so.
    pub(super) notes: Vec<String>,
}

/// Keywords that say nothing over the wire, or that whoever owns the schema takes care of.
const WORDS: [&str; 6] = ["title", "description", "example", "externalDocs", "nullable", "default"];

impl Types<'_> {
    /// The type of a schema that stands somewhere; `name` is what it would be called if it needs a name.
    pub(super) fn of(&mut self, schema: &Value, name: &str) -> Result<Rust, String> {
        let schema = only_member(schema);
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            return self.reference(reference);
        }
        match kind(schema)? {
            "boolean" if self.place == Place::Query => self.newtype(schema, name, &Inner::Boolean, None),
            "boolean" => only(schema, &[]).map(|()| Rust::plain(quote! { bool })),
            "integer" => match schema.get("format").and_then(Value::as_str) {
                Some("int64") if self.is_bare(schema) => Ok(Rust::plain(quote! { i64 })),
                Some("int32") if self.is_bare(schema) => Ok(Rust::plain(quote! { i32 })),
                _ => self.newtype(schema, name, &Inner::of_integer(schema), None),
            },
            "number" => match schema.get("format").and_then(Value::as_str) {
                Some("double") if self.is_bare(schema) => Ok(Rust::plain(quote! { f64 })),
                Some("float") if self.is_bare(schema) => Ok(Rust::plain(quote! { f32 })),
                _ => self.newtype(schema, name, &Inner::of_number(schema), None),
            },
            "string" if schema.get("enum").is_some() => self.unnamed_enum(schema, name),
            "string" if schema.get("format").is_none() && self.is_bare(schema) => {
                Ok(Rust::plain(quote! { String }))
            }
            "string" => self.newtype(schema, name, &Inner::Text, None),
            "array" if self.place != Place::Json => {
                Err("dropshot takes no lists in paths, queries and headers".to_owned())
            }
            "array" => self.list(schema, name),
            "object" if self.place != Place::Json => {
                Err("dropshot takes no objects in paths, queries and headers".to_owned())
            }
            "object" => self.object(schema, name),
            kind => Err(format!("`type: {kind}` is none that OpenAPI 3.0 has")),
        }
    }

    /// Whether there is nothing but a type and its format. Text must be read by hand all the same.
    pub(super) fn is_bare(&self, schema: &Value) -> bool {
        let keywords = schema.as_object().into_iter().flatten().map(|(keyword, _)| keyword.as_str());
        let bare = { keywords }.all(|keyword| {
            ["type", "format"].contains(&keyword) || WORDS.contains(&keyword) || keyword.starts_with("x-")
        });
        bare && (self.place != Place::Query || schema.get("type") == Some(&Value::from("string")))
    }

    fn reference(&mut self, reference: &str) -> Result<Rust, String> {
        let name = reference.strip_prefix("#/components/schemas/");
        let name = name.ok_or(format!("`{reference}` is no schema of this document"))?;
        let known = self.scope.named(name).ok_or(format!("there is no schema `{name}`"))?;
        if self.read && !known.is_read {
            return Err(format!(
                "`{}` cannot be read from a request: it is not `Deserialize` yet, so make it that",
                known.name
            ));
        }
        if self.written && !known.is_written {
            return Err(format!(
                "`{}` cannot be written to an answer: it is not `Serialize` yet, so make it that",
                known.name
            ));
        }
        if self.place != Place::Json {
            let kind = self.scope.schema(name).and_then(|schema| schema.get("type")).and_then(Value::as_str);
            if kind != Some("string") {
                return Err(format!("`{name}` is not written as one word, which a parameter must be"));
            }
        }
        if self.current.as_deref() != Some(name) {
            self.code.import_schema(&known.name);
        }
        let name = format_ident!("{}", known.name);
        Ok(Rust::plain(quote! { #name }))
    }

    /// A scalar that is more than one of Rust's: it has bounds, or must be read from text.
    pub(super) fn newtype(
        &mut self,
        schema: &Value,
        name: &str,
        inner: &Inner,
        default: Option<&Value>,
    ) -> Result<Rust, String> {
        let name = self.free(name);
        Newtype { name: name.clone(), inner, schema, wire: None, default }.make(self)?;
        Ok(Rust::plain(quote! { #name }))
    }

    /// A name for a type that the document has no name for.
    fn free(&mut self, wanted: &str) -> Ident {
        let name = self.code.free(&names::pascal(wanted).to_string());
        self.made.push(name.clone());
        format_ident!("{name}")
    }

    fn unnamed_enum(&mut self, schema: &Value, name: &str) -> Result<Rust, String> {
        if self.place == Place::Header {
            return Err(
                "an `enum` in a header of an answer needs a name under `components/schemas`".to_owned()
            );
        }
        let name = self.free(name);
        self.word_list(schema, &name, None)?;
        Ok(self.unnamed(&name))
    }

    /// A type whose schema is written out where it is used.
    fn unnamed(&mut self, name: &Ident) -> Rust {
        self.code.import_all(&["std::marker::PhantomData", "schemars::JsonSchema"]);
        self.code.import_all(&["schemars::r#gen::SchemaGenerator", "schemars::schema::Schema"]);
        self.code.push_once(
            "Unnamed",
            quote! {
                /// For `#[schemars(with = ...)]`: the schema is written out where it is used.
                struct Unnamed<T>(PhantomData<T>);

                impl<T: JsonSchema> JsonSchema for Unnamed<T> {
                    fn schema_name() -> String {
                        T::schema_name()
                    }

                    fn is_referenceable() -> bool {
                        false
                    }

                    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                        T::json_schema(generator)
                    }
                }
            },
        );
        Rust { value: quote! { #name }, schema: Some(quote! { Unnamed<#name> }) }
    }

    fn list(&mut self, schema: &Value, name: &str) -> Result<Rust, String> {
        let item = self.item(schema, name)?;
        let bounds = ["minItems", "maxItems", "uniqueItems"];
        if bounds.iter().all(|bound| schema.get(bound).is_none()) {
            only(schema, &["items"])?;
            return Ok(item.map(|item| quote! { Vec<#item> }));
        }
        self.newtype(schema, name, &Inner::List(item), None)
    }

    /// The type of a list's items.
    fn item(&mut self, schema: &Value, name: &str) -> Result<Rust, String> {
        let item = schema.get("items").ok_or("a list needs `items`")?;
        let of = self.of(item, &format!("{name} item"))?;
        let nullable = item.get("nullable") == Some(&Value::Bool(true));
        Ok(if nullable { of.map(|of| quote! { Option<#of> }) } else { of })
    }

    fn object(&mut self, schema: &Value, name: &str) -> Result<Rust, String> {
        if let Some(map) = self.map(schema, name)? {
            return Ok(map);
        }
        let name = self.free(name);
        fields::structure(self, schema, &name, None)?;
        Ok(self.unnamed(&name))
    }

    /// An object without properties of its own.
    fn map(&mut self, schema: &Value, name: &str) -> Result<Option<Rust>, String> {
        let has_properties =
            schema.get("properties").and_then(Value::as_object).is_some_and(|all| !all.is_empty());
        if has_properties || schema.get("additionalProperties") == Some(&Value::Bool(false)) {
            return Ok(None);
        }
        only(schema, &["properties", "additionalProperties"])?;
        let others = schema.get("additionalProperties").filter(|others| others.is_object());
        match others.filter(|others| others.as_object().is_some_and(|others| !others.is_empty())) {
            Some(others) => {
                self.code.import("std::collections::BTreeMap");
                let value = self.of(others, &format!("{name} value"))?;
                Ok(Some(value.map(|value| quote! { BTreeMap<String, #value> })))
            }
            None => {
                self.code.import_all(&["serde_json::Map", "serde_json::Value"]);
                Ok(Some(Rust::plain(quote! { Map<String, Value> })))
            }
        }
    }

    /// A schema under `components/schemas`.
    pub(super) fn component(&mut self, wire: &str, name: &str) -> Result<(), String> {
        let schema = self.scope.schema(wire).ok_or(format!("there is no schema `{wire}`"))?.clone();
        let schema = &schema;
        if schema.get("$ref").is_some() || schema.get("nullable") == Some(&Value::Bool(true)) {
            return Err("a schema that is another one, or `null`, has no type of its own in Rust".to_owned());
        }
        let name = format_ident!("{name}");
        self.made.push(name.to_string());
        match kind(schema)? {
            "object" => match self.map(schema, wire)? {
                Some(map) => {
                    self.transparent(schema, wire, &name, &map);
                    Ok(())
                }
                None => fields::structure(self, schema, &name, Some(wire)),
            },
            "string" if schema.get("enum").is_some() => self.word_list(schema, &name, Some(wire)),
            "string" => self.named_newtype(schema, wire, name, &Inner::Text),
            "integer" => self.named_newtype(schema, wire, name, &Inner::of_integer(schema)),
            "number" => self.named_newtype(schema, wire, name, &Inner::of_number(schema)),
            "boolean" => self.named_newtype(schema, wire, name, &Inner::Boolean),
            "array" => {
                let item = self.item(schema, wire)?;
                self.named_newtype(schema, wire, name, &Inner::List(item))
            }
            kind => Err(format!("`type: {kind}` is none that OpenAPI 3.0 has")),
        }
    }

    fn named_newtype(
        &mut self,
        schema: &Value,
        wire: &str,
        name: Ident,
        inner: &Inner,
    ) -> Result<(), String> {
        Newtype { name, inner, schema, wire: Some(wire), default: None }.make(self)
    }

    /// A type that is another one under a name.
    fn transparent(&mut self, schema: &Value, wire: &str, name: &Ident, inner: &Rust) {
        let comment = doc(schema.get("description").and_then(Value::as_str), &format!("`{wire}`."));
        let derives = self.derives(&["Clone", "Debug", "PartialEq"], true);
        let (value, visible) = (&inner.value, &self.visible);
        let rename = renamed(name, Some(wire));
        let with = fields::with(inner.schema.as_ref());
        self.code.push(quote! { #comment #derives #rename #visible struct #name(#with pub #value); });
    }

    /// An enum of words.
    fn word_list(&mut self, schema: &Value, name: &Ident, wire: Option<&str>) -> Result<(), String> {
        only(schema, &["enum"])?;
        let words = schema.get("enum").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
        let words = words.filter(|words| !words.is_empty()).ok_or("`enum` must be a list of words")?;
        let names = names::variants(words.iter().copied());
        let lower = words.iter().zip(&names).all(|(word, name)| name.to_string().to_lowercase() == *word);
        let mut variants = TokenStream::new();
        for (word, variant) in words.iter().zip(&names) {
            let own = if lower { TokenStream::new() } else { renamed(variant, Some(word)) };
            variants.extend(quote! { #own #variant, });
        }
        let all = if lower {
            quote! { #[serde(rename_all = "lowercase")] }
        } else {
            TokenStream::new()
        };
        let rename = renamed(name, wire);
        let comment =
            doc(schema.get("description").and_then(Value::as_str), &format!("One of {}.", words.join(", ")));
        self.code.import("serde::Serialize");
        let derives = self.derives(&["Clone", "Copy", "Debug", "PartialEq", "Eq", "Serialize"], true);
        let visible = &self.visible;
        self.code.push(quote! {
            #comment
            #derives
            #rename
            #all
            #[allow(missing_docs, reason = "documented variants would become a `oneOf`")]
            #visible enum #name { #variants }
        });
        Ok(())
    }

    /// The `derive` of a type, with what serde and, if asked for, schemars need.
    pub(super) fn derives(&mut self, always: &[&str], schema: bool) -> TokenStream {
        let mut names: Vec<Ident> = always.iter().map(|name| format_ident!("{name}")).collect();
        if self.written && !always.contains(&"Serialize") {
            self.code.import("serde::Serialize");
            names.push(format_ident!("Serialize"));
        }
        if self.read {
            self.code.import("serde::Deserialize");
            names.push(format_ident!("Deserialize"));
        }
        if schema {
            self.code.import("schemars::JsonSchema");
            names.push(format_ident!("JsonSchema"));
        }
        quote! { #[derive(#(#names),*)] }
    }

    /// Notes what a type does not hold values to.
    pub(super) fn unchecked(&mut self, name: &Ident, bounds: &Bounds) {
        if self.read {
            self.notes.extend(bounds.unchecked.iter().map(|note| format!("`{name}`: {note}.")));
        }
    }
}

/// The attribute that gives a type its name on the wire, if it needs one.
pub(super) fn renamed(name: &Ident, wire: Option<&str>) -> TokenStream {
    match wire {
        Some(wire) if *name != wire => quote! { #[serde(rename = #wire)] },
        _ => TokenStream::new(),
    }
}

/// `allOf` with one member is that member.
pub(super) fn only_member(schema: &Value) -> &Value {
    let others = schema.as_object().into_iter().flatten().map(|(keyword, _)| keyword.as_str());
    let more = { others }
        .any(|keyword| keyword != "allOf" && !WORDS.contains(&keyword) && !keyword.starts_with("x-"));
    match schema.get("allOf").and_then(Value::as_array).map(Vec::as_slice) {
        Some([member]) if !more => only_member(member),
        _ => schema,
    }
}

fn kind(schema: &Value) -> Result<&str, String> {
    let keywords = schema.as_object().ok_or("a schema must be a mapping")?;
    for keyword in ["oneOf", "anyOf", "allOf", "not", "discriminator"] {
        if keywords.contains_key(keyword) {
            return Err(format!("no type makes dropshot write this `{keyword}`"));
        }
    }
    for keyword in ["readOnly", "writeOnly", "deprecated", "xml"] {
        if keywords.contains_key(keyword) {
            return Err(format!("schemars writes no `{keyword}` of its own"));
        }
    }
    keywords
        .get("type")
        .and_then(Value::as_str)
        .ok_or("a schema without a `type` has no type in Rust".to_owned())
}

/// Refuses keywords that would be lost.
pub(super) fn only(schema: &Value, known: &[&str]) -> Result<(), String> {
    let keywords = schema.as_object().into_iter().flatten().map(|(keyword, _)| keyword.as_str());
    let lost = { keywords }.find(|keyword| {
        *keyword != "type"
            && !known.contains(keyword)
            && !WORDS.contains(keyword)
            && !keyword.starts_with("x-")
    });
    match lost {
        Some(keyword) => Err(format!("nothing in Rust would stand for `{keyword}` here")),
        None => Ok(()),
    }
}

/// The same for what has bounds.
pub(super) fn only_bounds(schema: &Value, more: &[&str]) -> Result<(), String> {
    let known: Vec<&str> = bounds::KEYWORDS.iter().chain(more).copied().collect();
    only(schema, &known)
}
