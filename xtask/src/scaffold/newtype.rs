//! A type of its own for a scalar or a list that not every value may be.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use serde_json::Value;

use super::bounds::{self, Bounds};
use super::code::doc;
use super::types::{Place, Rust, Types, only_bounds};

/// What is inside.
pub(super) enum Inner {
    Boolean,
    /// `i32` or `i64`.
    Integer(TokenStream),
    /// `f32` or `f64`.
    Number(TokenStream),
    Text,
    List(Rust),
}

impl Inner {
    pub(super) fn of_integer(schema: &Value) -> Self {
        let small = schema.get("format").and_then(Value::as_str) == Some("int32");
        Self::Integer(if small {
            quote! { i32 }
        } else {
            quote! { i64 }
        })
    }

    pub(super) fn of_number(schema: &Value) -> Self {
        let small = schema.get("format").and_then(Value::as_str) == Some("float");
        Self::Number(if small {
            quote! { f32 }
        } else {
            quote! { f64 }
        })
    }

    fn value(&self) -> TokenStream {
        match self {
            Self::Boolean => quote! { bool },
            Self::Integer(kind) | Self::Number(kind) => kind.clone(),
            Self::Text => quote! { String },
            Self::List(item) => {
                let item = &item.value;
                quote! { Vec<#item> }
            }
        }
    }

    fn instance_type(&self) -> TokenStream {
        match self {
            Self::Boolean => quote! { Boolean },
            Self::Integer(_) => quote! { Integer },
            Self::Number(_) => quote! { Number },
            Self::Text => quote! { String },
            Self::List(_) => quote! { Array },
        }
    }

    fn bounds(&self, schema: &Value) -> Result<Bounds, String> {
        match self {
            Self::Boolean => Ok(Bounds {
                before: TokenStream::new(),
                conditions: Vec::new(),
                message: "must be true or false".to_owned(),
                unchecked: Vec::new(),
            }),
            Self::Integer(_) => Bounds::of_number(schema, true),
            Self::Number(_) => Bounds::of_number(schema, false),
            Self::Text => Bounds::of_text(schema),
            Self::List(_) => Bounds::of_list(schema),
        }
    }
}

/// A newtype to be.
pub(super) struct Newtype<'n> {
    pub(super) name: Ident,
    pub(super) inner: &'n Inner,
    pub(super) schema: &'n Value,
    /// Its name in the document, if it has one there.
    pub(super) wire: Option<&'n str>,
    /// Its value when it is left out, for a parameter.
    pub(super) default: Option<&'n Value>,
}

impl Newtype<'_> {
    /// Adds the type with all that it implements.
    pub(super) fn make(&self, types: &mut Types<'_>) -> Result<(), String> {
        only_bounds(self.schema, &["items"])?;
        let bounds = self.inner.bounds(self.schema)?;
        types.unchecked(&self.name, &bounds);
        self.definition(types, &bounds);
        if let Some(default) = self.default {
            self.default(types, default)?;
        }
        if types.read {
            self.reading(types, &bounds);
        }
        self.describing(types);
        Ok(())
    }

    fn definition(&self, types: &mut Types<'_>, bounds: &Bounds) {
        let description = self.schema.get("description").and_then(Value::as_str);
        let otherwise = match bounds.conditions.is_empty() {
            true => format!("`{}`.", self.name),
            false => format!("It {}.", bounds.message),
        };
        let comment = doc(description, &otherwise);
        let (name, value, visible) = (&self.name, self.inner.value(), types.visible.clone());
        if types.place == Place::Json {
            types.code.import("serde::Serialize");
            types.code.push(quote! {
                #comment
                #[derive(Clone, Debug, PartialEq, Serialize)]
                #visible struct #name(pub #value);
            });
            return;
        }
        // Private to its module, so somebody must read what is in it.
        let (derives, expected) = match types.place {
            Place::Header => {
                types.code.import("serde::Serialize");
                (quote! { #[derive(Debug, Serialize)] }, TokenStream::new())
            }
            // Its schema reads the default.
            _ if self.default.is_some() => (quote! { #[derive(Debug)] }, TokenStream::new()),
            _ => (
                quote! { #[derive(Debug)] },
                quote! { #[expect(dead_code, reason = "scaffolding: the behaviour will read it")] },
            ),
        };
        types.code.push(quote! { #comment #derives #expected struct #name(#value); });
    }

    fn default(&self, types: &mut Types<'_>, default: &Value) -> Result<(), String> {
        let value = match (self.inner, default) {
            (Inner::Boolean, Value::Bool(value)) => quote! { #value },
            (Inner::Integer(_) | Inner::Number(_), Value::Number(_)) => number(self.inner, default)?,
            (Inner::Text, Value::String(text)) => quote! { #text.to_owned() },
            _ => return Err(format!("`default: {default}` is not of the schema's type")),
        };
        let name = &self.name;
        types.code.push(quote! {
            impl Default for #name {
                fn default() -> Self {
                    Self(#value)
                }
            }
        });
        Ok(())
    }

    fn reading(&self, types: &mut Types<'_>, bounds: &Bounds) {
        types.code.import_all(&["serde::Deserialize", "serde::Deserializer"]);
        let (name, value, message) = (&self.name, self.inner.value(), &bounds.message);
        let from_text = types.place != Place::Json && !matches!(self.inner, Inner::Text);
        let wrong = quote! { || D::Error::custom(#message) };
        let read = match self.inner {
            // The one spelling of an integer: neither `+1` nor `01`.
            Inner::Integer(_) if from_text => quote! {
                let text = String::deserialize(deserializer)?;
                let value: Option<#value> = text.parse().ok();
                let value = value.filter(|value| value.to_string() == text).ok_or_else(#wrong)?;
            },
            Inner::Number(_) if from_text => quote! {
                let text = String::deserialize(deserializer)?;
                let value: Option<#value> = text.parse().ok();
                let value = value.filter(|value| value.is_finite()).ok_or_else(#wrong)?;
            },
            _ if from_text => quote! {
                let text = String::deserialize(deserializer)?;
                let value: #value = text.parse().map_err(|_| D::Error::custom(#message))?;
            },
            Inner::List(_) => quote! { let value = Vec::deserialize(deserializer)?; },
            _ => quote! { let value = #value::deserialize(deserializer)?; },
        };
        let (before, conditions) = (&bounds.before, &bounds.conditions);
        let check = match conditions.is_empty() {
            true => quote! { Ok(Self(value)) },
            false => quote! {
                if #(#conditions)&&* { Ok(Self(value)) } else { Err(D::Error::custom(#message)) }
            },
        };
        if from_text || !conditions.is_empty() {
            types.code.import("serde::de::Error as _");
        }
        types.code.push(quote! {
            impl<'de> Deserialize<'de> for #name {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    #read
                    #before
                    #check
                }
            }
        });
    }

    fn describing(&self, types: &mut Types<'_>) {
        types.code.import_all(&["schemars::JsonSchema", "schemars::r#gen::SchemaGenerator"]);
        types.code.import_all(&["schemars::schema::InstanceType", "schemars::schema::Schema"]);
        types.code.import("schemars::schema::SchemaObject");
        let (name, instance_type) = (&self.name, self.inner.instance_type());
        let wire = self.wire.map_or_else(|| name.to_string(), str::to_owned);
        let items = match self.inner {
            Inner::List(item) => Some(item.described_by()),
            _ => None,
        };
        let default = self.default.map(|_| quote! { Self::default().0 });
        let fields = bounds::schema_fields(&mut types.code, self.schema, items.as_ref(), default.as_ref());
        let generator = if items.is_some() {
            quote! { generator }
        } else {
            quote! { _ }
        };
        let referenceable = match self.wire {
            Some(_) => TokenStream::new(),
            None => quote! { fn is_referenceable() -> bool { false } },
        };
        types.code.push(quote! {
            impl JsonSchema for #name {
                fn schema_name() -> String {
                    #wire.to_owned()
                }

                #referenceable

                fn json_schema(#generator: &mut SchemaGenerator) -> Schema {
                    Schema::Object(SchemaObject {
                        instance_type: Some(InstanceType::#instance_type.into()),
                        #fields
                        ..Default::default()
                    })
                }
            }
        });
    }
}

fn number(inner: &Inner, value: &Value) -> Result<TokenStream, String> {
    let wrong = || format!("`default: {value}` is not of the schema's type");
    Ok(match inner {
        Inner::Integer(_) => {
            let value = proc_macro2::Literal::i64_unsuffixed(value.as_i64().ok_or_else(wrong)?);
            quote! { #value }
        }
        _ => {
            let value = proc_macro2::Literal::f64_unsuffixed(value.as_f64().ok_or_else(wrong)?);
            quote! { #value }
        }
    })
}
