//! Generates a newtype for a scalar or a list with bounds, a pattern, a format or a default.

use document::openapi::Schema;
use document::{Node, Value};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::code::doc;
use super::types::{Encoding, Types, only};
use super::unsupported::{Unsupported, UnsupportedAt};

/// A schema that a primitive type or a list represents, perhaps within a newtype.
pub(super) struct Inner {
    /// The Rust type.
    pub(super) rust: TokenStream,
    kind: &'static Kind,
}

/// What schemas of a type can limit.
struct Kind {
    name: &'static str,
    bounds: [&'static str; 2],
    /// The method of `SchemaObject` for the bounds.
    section: &'static str,
    /// What is around the bounds in an error message.
    words: [&'static str; 2],
    others: &'static [&'static str],
}

const NUMBER: [&str; 2] = ["minimum", "maximum"];
const KINDS: [Kind; 5] = [
    Kind { name: "boolean", bounds: NUMBER, section: "number", words: ["be", ""], others: &[] },
    Kind { name: "integer", bounds: NUMBER, section: "number", words: ["be", ""], others: &["format"] },
    Kind { name: "number", bounds: NUMBER, section: "number", words: ["be", ""], others: &["format"] },
    Kind {
        name: "string",
        bounds: ["minLength", "maxLength"],
        section: "string",
        words: ["have", " characters"],
        others: &["format", "pattern"],
    },
    Kind {
        name: "array",
        bounds: ["minItems", "maxItems"],
        section: "array",
        words: ["have", " items"],
        others: &["items"],
    },
];

/// The greatest integer up to which `f64`, by which schemars represents bounds, has all integers apart.
const MAX_EXACT: f64 = 9_007_199_254_740_991.0;

impl Inner {
    /// Returns the type of a scalar.
    pub(super) fn of_scalar(schema: Schema<'_>) -> Result<Self, Unsupported> {
        let rust = match (schema.type_name(), schema.format()) {
            (Some("boolean"), _) => quote! { bool },
            (Some("integer"), Some("int32")) => quote! { i32 },
            (Some("integer"), None | Some("int64")) => quote! { i64 },
            (Some("number"), None | Some("double")) => quote! { f64 },
            (Some("string"), _) => quote! { String },
            _ => return Err(schema.unsupported_at("format", "no Rust type has this `type` and `format`")),
        };
        Self::of(schema, rust)
    }

    /// Returns the type of a list with these items.
    pub(super) fn of_list(schema: Schema<'_>, item: &TokenStream) -> Result<Self, Unsupported> {
        Self::of(schema, quote! { Vec<#item> })
    }

    fn of(schema: Schema<'_>, rust: TokenStream) -> Result<Self, Unsupported> {
        let kind = KINDS.iter().find(|kind| Some(kind.name) == schema.type_name());
        let kind = kind.ok_or_else(|| schema.unsupported("its `type` is not supported here"))?;
        let bounds = if kind.name == "boolean" { &[][..] } else { &kind.bounds[..] };
        only(schema, &[bounds, kind.others, &["default"]].concat())?;
        Ok(Self { rust, kind })
    }

    /// Returns the value of a keyword as a literal of this type.
    fn literal(&self, schema: Schema<'_>, keyword: &str, node: &Node) -> Result<TokenStream, Unsupported> {
        let exact = |value: &f64| value.fract() == 0.0 && value.abs() <= MAX_EXACT;
        let fits = |value: &f64| self.rust.to_string() != "i32" || f64::from(*value as i32) == *value;
        let literal = match (&node.value, self.kind.name) {
            (Value::Bool(value), "boolean") => Some(quote! { #value }),
            (Value::String(text), "string") => Some(quote! { #text.to_owned() }),
            (Value::Number(_), "number") => {
                number(node).map(Literal::f64_unsuffixed).map(|it| quote! { #it })
            }
            (Value::Number(_), "integer") => {
                let value = number(node).filter(exact).filter(fits);
                value.map(|value| Literal::i64_unsuffixed(value as i64)).map(|it| quote! { #it })
            }
            _ => None,
        };
        let reason = || format!("`{}` cannot be represented exactly in Rust and schemars", node.to_json());
        literal.ok_or_else(|| schema.unsupported_at(keyword, reason()))
    }

    /// Returns a bound as a literal of what is compared, and of the type that schemars has for it.
    fn bound(&self, schema: Schema<'_>, keyword: &str) -> Result<Option<[TokenStream; 2]>, Unsupported> {
        let Some((node, value)) = schema.get(keyword).and_then(|node| Some((node, number(node)?))) else {
            return Ok(None);
        };
        if self.kind.section == "number" {
            let announced = Literal::f64_unsuffixed(value);
            return Ok(Some([self.literal(schema, keyword, node)?, quote! { #announced }]));
        }
        let reason = format!("`{keyword}` exceeds 32 bits");
        schema.unsupported_if(value > f64::from(u32::MAX), keyword, reason)?;
        // The document is valid, so the value is a non-negative integer.
        let length = Literal::u32_unsuffixed(value as u32);
        Ok(Some([quote! { #length }, quote! { #length }]))
    }
}

pub(super) fn number(node: &Node) -> Option<f64> {
    match &node.value {
        Value::Number(number) => number.as_f64(),
        _ => None,
    }
}

/// A newtype to generate.
pub(super) struct Newtype<'n> {
    pub(super) name: Ident,
    pub(super) inner: &'n Inner,
    pub(super) schema: Schema<'n>,
    /// The name in the document, if there is one.
    pub(super) wire: Option<&'n str>,
}

impl Newtype<'_> {
    /// Adds the type and its trait implementations.
    pub(super) fn make(&self, types: &mut Types<'_>) -> Result<(), Unsupported> {
        let (schema, Inner { rust, kind }, name) = (self.schema, self.inner, &self.name);
        let [least, most] = kind.bounds;
        let values = kind.bounds.map(|keyword| schema.get(keyword).and_then(number));
        let reason = format!("no value satisfies both `{least}` and `{most}`");
        schema.unsupported_if(matches!(values, [Some(least), Some(most)] if least > most), least, reason)?;
        let (mut described, mut words, mut limits) = (TokenStream::new(), Vec::new(), Vec::new());
        let section = format_ident!("{}", kind.section);
        for (keyword, word) in kind.bounds.into_iter().zip(["at least", "at most"]) {
            let bound = self.inner.bound(schema, keyword)?;
            limits.push(bound.as_ref().map(|[literal, _]| literal.clone()));
            if let Some([literal, announced]) = bound {
                words.push(format!("{word} {literal}").replace("- ", "-"));
                let field = format_ident!("{}", heck::ToSnakeCase::to_snake_case(keyword));
                described.extend(quote! { schema.#section().#field = Some(#announced); });
            }
        }
        if let Some(pattern) = schema.text("pattern") {
            described.extend(quote! { schema.string().pattern = Some(#pattern.to_owned()); });
        }
        if kind.others.contains(&"format") {
            let format = schema.format().map_or(quote!(None), |format| quote! { Some(#format.to_owned()) });
            described.extend(quote! { schema.format = #format; });
        }
        let has_default = types.encoding == Encoding::Text && schema.has("default");
        if has_default {
            // dropshot drops the default of a parameter, but keeps extensions.
            described.extend(quote! {
                schema.extensions.insert("x-default".to_owned(), Self::default().0.into());
            });
        }
        let unchecked = ["pattern", "format"].into_iter();
        let unchecked = unchecked.filter_map(|key| Some(format!("`{key}: {}`", schema.text(key)?)));
        let unchecked = unchecked.collect::<Vec<_>>().join(" and ");
        if types.read && !unchecked.is_empty() {
            types.notes.push(format!("let `{name}` check {unchecked}"));
        }
        let measure = match kind.section {
            "string" => quote! { &value.chars().count() },
            "array" => quote! { &value.len() },
            _ => quote! { &value },
        };
        let range = match &limits[..] {
            [None, None] => None,
            [least, None] => Some(quote! { (#least..) }),
            [least, most] => Some(quote! { (#least..=#most) }),
            _ => None,
        };
        let message = format!("must {} {}{}", kind.words[0], words.join(", "), kind.words[1]);
        let comment = match &range {
            None => doc(schema.text("description"), &format!("`{name}`.")),
            Some(_) => doc(schema.text("description"), &format!("A value that {message}.")),
        };
        let try_from = range.filter(|_| types.read).map(|range| (range, rust.to_string().replace(' ', "")));
        let attribute = try_from.as_ref().map(|(_, text)| quote! { #[serde(try_from = #text)] });
        let (derives, visible) = match types.encoding {
            Encoding::Json => (types.derives(&["Clone", "Debug", "PartialEq"], false), types.visible.clone()),
            Encoding::Text => (types.derives(&["Debug"], false), TokenStream::new()),
        };
        let unread = (types.encoding == Encoding::Text && !has_default).then(|| {
            quote! { #[expect(dead_code, reason = "scaffolding: the operation will read the field")] }
        });
        types
            .code
            .push(quote! { #comment #derives #attribute #unread #visible struct #name(#visible #rust); });
        if let Some((range, _)) = try_from {
            types.code.push(quote! {
                impl TryFrom<#rust> for #name {
                    type Error = &'static str;

                    fn try_from(value: #rust) -> Result<Self, Self::Error> {
                        if #range.contains(#measure) { Ok(Self(value)) } else { Err(#message) }
                    }
                }
            });
        }
        if let Some(default) = schema.get("default").filter(|_| has_default) {
            let value = self.inner.literal(schema, "default", default)?;
            types.code.push(quote! {
                impl Default for #name {
                    fn default() -> Self {
                        Self(#value)
                    }
                }
            });
        }
        let mut body = quote! { <#rust>::json_schema(generator) };
        if !described.is_empty() {
            body = quote! { let mut schema = #body.into_object(); #described schema.into() };
        }
        let wire = self.wire.map_or_else(|| name.to_string(), str::to_owned);
        let inline = self.wire.is_none().then(|| quote! { fn is_referenceable() -> bool { false } });
        types.code.push(quote! {
            impl JsonSchema for #name {
                fn schema_name() -> String {
                    #wire.to_owned()
                }

                #inline

                fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                    #body
                }
            }
        });
        Ok(())
    }
}
