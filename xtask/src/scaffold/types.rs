//! Generates types for schemas, such that dropshot's document has the same schemas again.

use std::collections::{BTreeMap, HashSet};

use document::Node;
use document::openapi::{Additional, Id, Schema};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;

use super::code::{Code, doc};
use super::missing::component;
use super::newtype::{Inner, Newtype};
use super::unsupported::{Unsupported, UnsupportedAt};
use super::{fields, names};
use crate::dropshot::source::{SchemaType, Sources};

/// The types that schemas can refer to.
pub(super) struct Scope<'a> {
    pub(super) sources: &'a Sources,
    /// The types that are generated for missing schemas.
    pub(super) new: BTreeMap<&'a str, SchemaType>,
}

impl Scope<'_> {
    /// Returns the type of a schema under `components/schemas`.
    pub(super) fn named(&self, name: &str) -> Option<SchemaType> {
        self.new.get(name).cloned().or_else(|| self.sources.schema(name))
    }
}

/// How a value is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// As JSON, in a body.
    Json,
    /// As text, in the path or the query.
    Text,
}

/// A Rust type.
#[derive(Clone)]
pub(super) struct Rust {
    /// The type of the value.
    pub(super) value: TokenStream,
    /// The type that describes it to schemars, if that is a different one.
    pub(super) schema: Option<TokenStream>,
}

impl Rust {
    pub(super) fn plain(value: TokenStream) -> Self {
        Self { value, schema: None }
    }

    /// Returns the type that describes it to schemars.
    pub(super) fn described_by(&self) -> TokenStream {
        self.schema.clone().unwrap_or_else(|| self.value.clone())
    }

    pub(super) fn map(&self, wrap: impl Fn(&TokenStream) -> TokenStream) -> Self {
        Self { value: wrap(&self.value), schema: self.schema.as_ref().map(&wrap) }
    }

    /// Returns the same type, described by another one.
    pub(super) fn described(self, schema: TokenStream) -> Self {
        Self { schema: Some(schema), ..self }
    }

    /// Returns the attribute of a field that is described by another type.
    pub(super) fn with(&self) -> Option<TokenStream> {
        let text = self.schema.as_ref()?.to_string().replace(' ', "").replace(',', ", ");
        Some(quote! { #[schemars(with = #text)] })
    }
}

/// Generates types into a file.
pub(super) struct Types<'a> {
    pub(super) scope: &'a Scope<'a>,
    pub(super) code: Code,
    pub(super) encoding: Encoding,
    /// Whether requests contain the types.
    pub(super) read: bool,
    /// Whether responses contain the types.
    pub(super) written: bool,
    /// Whether the file has the type `Nullable`.
    has_nullable: bool,
    /// The visibility of the types: `pub` or `pub(super)`.
    pub(super) visible: TokenStream,
    /// The component that is generated, if there is one.
    pub(super) current: Option<Id>,
    /// The types that are exported.
    pub(super) made: Vec<String>,
    /// What the document requires and the types do not check.
    pub(super) notes: Vec<String>,
}

/// Keywords without effect on the type. `nullable` and `default` are handled where the schema is used.
const ANNOTATIONS: [&str; 6] = ["title", "description", "example", "externalDocs", "nullable", "default"];

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
            has_nullable: false,
            visible,
            current,
            made: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Returns the type of a schema. `name` is used if the type needs a name.
    pub(super) fn of(&mut self, schema: Schema<'_>, name: &str) -> Result<Rust, Unsupported> {
        let schema = only_member(schema);
        if schema.is_reference() {
            return self.reference(schema);
        }
        let kind = type_of(schema)?;
        // dropshot drops the `default` of a parameter, unless its schema is hand-written.
        let is_plain = self.encoding == Encoding::Json || !schema.has("default");
        if let Some(primitive) = primitive(schema).filter(|_| is_plain) {
            return Ok(Rust::plain(primitive));
        }
        let move_it = |what| format!("{what} must be defined under `components/schemas` and referenced here");
        schema.unsupported_if(kind == "string" && schema.has("enum"), "enum", move_it("an enum"))?;
        match kind {
            "array" | "object" if self.encoding == Encoding::Text => Err(schema
                .unsupported_at("type", format!("dropshot does not support {kind}s in paths and queries"))),
            "array" => self.list(schema, name),
            "object" => self
                .map(schema, name)?
                .ok_or_else(|| schema.unsupported_at("type", move_it("an object with properties"))),
            _ => self.newtype(schema, name, &Inner::of_scalar(schema)?),
        }
    }

    fn reference(&mut self, schema: Schema<'_>) -> Result<Rust, Unsupported> {
        let target = schema.model().target(schema.id);
        let Some((target, wire)) = target.and_then(|target| Some((target, component(target)?))) else {
            let reason = "the reference must lead to a schema directly under `components/schemas`";
            return Err(schema.unsupported_at("$ref", reason));
        };
        let Some(known) = self.scope.named(wire) else {
            return Err(
                schema.unsupported_at("$ref", format!("the code has no type for the schema `{wire}`"))
            );
        };
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
        Ok(Rust::plain(quote! { #name }))
    }

    /// Adds a newtype for a scalar or a list with bounds, or one that is converted from or to text.
    fn newtype(&mut self, schema: Schema<'_>, name: &str, inner: &Inner) -> Result<Rust, Unsupported> {
        let name = self.free(name);
        Newtype { name: name.clone(), inner, schema, wire: None }.make(self)?;
        Ok(Rust::plain(quote! { #name }))
    }

    /// Returns a name for a type that has none in the document.
    fn free(&mut self, wanted: &str) -> Ident {
        let name = self.code.free(&names::pascal(wanted).to_string());
        self.made.push(name.to_string());
        name
    }

    /// Adds the wrapper type of a field that is required, but may be `null`.
    pub(super) fn nullable(&mut self) {
        if std::mem::replace(&mut self.has_nullable, true) {
            return;
        }
        self.code.push(quote! {
            /// For `#[schemars(with = ...)]`: required, but may be `null`.
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
        });
    }

    fn list(&mut self, schema: Schema<'_>, name: &str) -> Result<Rust, Unsupported> {
        let item = self.item(schema, name)?;
        if ["minItems", "maxItems"].iter().any(|bound| schema.has(bound)) {
            return self.newtype(schema, name, &Inner::List(item));
        }
        only(schema, &["items"])?;
        Ok(item.map(|item| quote! { Vec<#item> }))
    }

    /// Returns the type of a list's items.
    fn item(&mut self, schema: Schema<'_>, name: &str) -> Result<Rust, Unsupported> {
        let item = schema.items().ok_or_else(|| schema.unsupported("the array has no `items`"))?;
        self.element(item, &format!("{name} item"))
    }

    /// Returns the type of a list item or a map value.
    pub(super) fn element(&mut self, schema: Schema<'_>, name: &str) -> Result<Rust, Unsupported> {
        without_default(schema)?;
        let of = self.of(schema, name)?;
        Ok(if schema.flag("nullable") { of.map(|of| quote! { Option<#of> }) } else { of })
    }

    /// Returns the map type of an object without named properties.
    fn map(&mut self, schema: Schema<'_>, name: &str) -> Result<Option<Rust>, Unsupported> {
        let others = schema.additional_properties();
        if schema.properties().next().is_some() || matches!(others, Additional::None) {
            return Ok(None);
        }
        only(schema, &["properties", "additionalProperties"])?;
        match others {
            Additional::Schema(others) if !others.node().entries().is_empty() => {
                let value = self.element(others, &format!("{name} value"))?;
                Ok(Some(value.map(|value| quote! { BTreeMap<String, #value> })))
            }
            _ => Ok(Some(Rust::plain(quote! { Map<String, Value> }))),
        }
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
        let reason = "a type cannot be `null`; move `nullable` to where the schema is used";
        schema.unsupported_if(schema.flag("nullable"), "nullable", reason)?;
        without_default(schema)?;
        let name = format_ident!("{name}");
        self.made.push(name.to_string());
        let inner = match type_of(schema)? {
            "object" => {
                let Some(map) = self.map(schema, wire)? else {
                    return fields::structure(self, schema, &name, wire);
                };
                self.transparent(schema, wire, &name, &map);
                return Ok(());
            }
            "string" if schema.has("enum") => return self.string_enum(schema, &name, wire),
            "array" => Inner::List(self.item(schema, wire)?),
            _ => Inner::of_scalar(schema)?,
        };
        Newtype { name, inner: &inner, schema, wire: Some(wire) }.make(self)
    }

    /// Adds a newtype that serializes like its content.
    fn transparent(&mut self, schema: Schema<'_>, wire: &str, name: &Ident, inner: &Rust) {
        let comment = doc(schema.text("description"), &format!("`{wire}`."));
        let derives = self.derives(&["Clone", "Debug", "PartialEq"]);
        let (value, visible) = (&inner.value, &self.visible);
        let rename = renamed(name, wire);
        let with = inner.with();
        self.code.push(quote! { #comment #derives #rename #visible struct #name(#with #visible #value); });
    }

    fn string_enum(&mut self, schema: Schema<'_>, name: &Ident, wire: &str) -> Result<(), Unsupported> {
        only(schema, &["enum"])?;
        let words = strings(schema)
            .ok_or_else(|| schema.unsupported_at("enum", "each value of `enum` must be a string"))?;
        let variants = names::variants(&words);
        let lower = variants.iter().all(|(word, name)| name.to_lowercase() == *word);
        let variants = variants.iter().map(|(word, variant)| {
            let variant = format_ident!("{variant}");
            let own = renamed(&variant, word).filter(|_| !lower);
            quote! { #own #variant, }
        });
        let all = lower.then(|| quote! { #[serde(rename_all = "lowercase")] });
        let rename = renamed(name, wire);
        let comment = doc(schema.text("description"), &format!("One of {}.", words.join(", ")));
        let derives = self.derives(&["Clone", "Copy", "Debug", "PartialEq", "Eq", "Serialize"]);
        let visible = &self.visible;
        self.code.push(quote! {
            #comment
            #derives
            #rename
            #all
            #[allow(missing_docs, reason = "documented variants would become a `oneOf`")]
            #visible enum #name { #(#variants)* }
        });
        Ok(())
    }

    /// Returns the `derive` of a type: these traits, and those of serde and schemars.
    pub(super) fn derives(&mut self, always: &[&str]) -> TokenStream {
        let mut names: Vec<Ident> = always.iter().map(|name| format_ident!("{name}")).collect();
        let serialize = (self.written && !always.contains(&"Serialize")).then(|| format_ident!("Serialize"));
        names.extend(serialize.into_iter().chain(self.read.then(|| format_ident!("Deserialize"))));
        quote! { #[derive(#(#names,)* JsonSchema)] }
    }

    /// Whether a value of this schema contains the current type without a list or map between them.
    pub(super) fn is_recursive(&self, schema: Schema<'_>) -> bool {
        self.current.is_some_and(|current| contains(schema, current, &mut HashSet::new()))
    }
}

fn contains(schema: Schema<'_>, sought: Id, seen: &mut HashSet<Id>) -> bool {
    let Some(schema) = only_member(schema).resolved().map(only_member) else { return false };
    schema.id == sought
        || (seen.insert(schema.id)
            && schema.properties().any(|(_, property)| contains(property, sought, seen)))
}

/// Returns the values of `enum` if all are strings.
pub(super) fn strings<'a>(schema: Schema<'a>) -> Option<Vec<&'a str>> {
    let words: Option<Vec<&str>> = schema.get("enum")?.items().iter().map(Node::as_str).collect();
    words.filter(|words| !words.is_empty())
}

/// Returns the primitive type of a schema that has only a type and a format. schemars adds the format of numbers.
pub(super) fn primitive(schema: Schema<'_>) -> Option<TokenStream> {
    only(schema, &["format"]).ok()?;
    let inner = Inner::of_scalar(schema).ok()?;
    let is_number = matches!(inner, Inner::Integer(_) | Inner::Number);
    (schema.has("format") == is_number).then(|| inner.types().0)
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
            if member.is_reference() && !schema.has("type") && lost(schema, &["allOf"]).is_none() =>
        {
            member
        }
        _ => schema,
    }
}

/// Returns the `type` of a schema, if types of this kind can be generated.
fn type_of<'a>(schema: Schema<'a>) -> Result<&'a str, Unsupported> {
    for keyword in ["oneOf", "anyOf", "allOf", "not", "discriminator"] {
        let reason = format!("schemars generates `{keyword}` for no type");
        schema.unsupported_if(schema.has(keyword), keyword, reason)?;
    }
    schema.type_name().ok_or_else(|| schema.unsupported("a schema without `type` has no Rust type"))
}

/// Fails for a `default` where OpenAPI tools ignore it.
pub(super) fn without_default(schema: Schema<'_>) -> Result<(), Unsupported> {
    let reason = "`default` has an effect only in a property or a query parameter";
    schema.unsupported_if(schema.has("default"), "default", reason)
}

/// Fails for keywords that the schema of the generated type would not have.
pub(super) fn only(schema: Schema<'_>, known: &[&str]) -> Result<(), Unsupported> {
    let Some(keyword) = lost(schema, known) else { return Ok(()) };
    Err(schema.unsupported_at(keyword, format!("`{keyword}` is not supported here")))
}

fn lost<'a>(schema: Schema<'a>, known: &[&str]) -> Option<&'a str> {
    let mut keywords = schema.node().entries().iter().map(|entry| entry.key.as_str());
    keywords.find(|keyword| {
        *keyword != "type"
            && !known.contains(keyword)
            && !ANNOTATIONS.contains(keyword)
            && !keyword.starts_with("x-")
    })
}
