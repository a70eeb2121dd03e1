//! Generates a newtype for a scalar or a list with bounds.

use document::Value;
use document::openapi::Schema;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::bounds::Bounds;
use super::code::doc;
use super::types::{Encoding, Rust, Types};
use super::unsupported::{Unsupported, UnsupportedAt};

/// The type of the field.
pub(super) enum Inner {
    Boolean,
    /// `i32` or `i64`.
    Integer(TokenStream),
    /// `f64`.
    Number,
    Text,
    List(Rust),
}

impl Inner {
    /// Returns the field type for a schema that is neither an array nor an object.
    pub(super) fn of_scalar(schema: Schema<'_>) -> Result<Self, Unsupported> {
        Ok(match (schema.type_name(), schema.format()) {
            (Some("boolean"), _) => Self::Boolean,
            (Some("integer"), Some("int32")) => Self::Integer(quote! { i32 }),
            (Some("integer"), None | Some("int64")) => Self::Integer(quote! { i64 }),
            (Some("number"), None | Some("double")) => Self::Number,
            (Some("string"), _) => Self::Text,
            _ => {
                return Err(
                    schema.unsupported_at("format", "there is no Rust type for this `type` and `format`")
                );
            }
        })
    }

    /// Returns the Rust type, and its `InstanceType` in schemars.
    pub(super) fn types(&self) -> (TokenStream, TokenStream) {
        match self {
            Self::Boolean => (quote! { bool }, quote! { Boolean }),
            Self::Integer(kind) => (kind.clone(), quote! { Integer }),
            Self::Number => (quote! { f64 }, quote! { Number }),
            Self::Text => (quote! { String }, quote! { String }),
            Self::List(Rust { value, .. }) => (quote! { Vec<#value> }, quote! { Array }),
        }
    }

    /// Returns the value of a keyword as a literal of this type.
    pub(super) fn literal(&self, schema: Schema<'_>, keyword: &str) -> Result<TokenStream, Unsupported> {
        let node =
            schema.get(keyword).ok_or_else(|| schema.unsupported(format!("`{keyword}` is missing")))?;
        let shown = node.to_json();
        let wrong = || {
            schema.unsupported_at(
                keyword,
                format!("`{shown}` cannot be represented exactly in Rust and schemars"),
            )
        };
        let literal = match (self, &node.value) {
            (Self::Boolean, Value::Bool(value)) => return Ok(quote! { #value }),
            (Self::Text, Value::String(text)) => return Ok(quote! { #text.to_owned() }),
            (Self::Integer(kind), Value::Number(_)) => {
                let whole = shown.as_f64().filter(|value| value.fract() == 0.0 && value.abs() < 1e15);
                let value = shown.as_i64().or(whole.map(|value| value as i64));
                // schemars represents bounds as `f64`.
                let is_exact =
                    |value: &i64| keyword == "default" || (*value as f64) as i128 == i128::from(*value);
                let is_small = kind.to_string() == "i32";
                let fits = |value: &i64| !is_small || i32::try_from(*value).is_ok();
                Literal::i64_unsuffixed(value.filter(is_exact).filter(fits).ok_or_else(wrong)?)
            }
            (Self::Number, Value::Number(_)) => Literal::f64_unsuffixed(shown.as_f64().ok_or_else(wrong)?),
            _ => return Err(wrong()),
        };
        Ok(quote! { #literal })
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
        let bounds = Bounds::of(self.schema, self.inner)?;
        if types.read && !bounds.unchecked.is_empty() {
            types.notes.push(format!("let `{}` check {}", self.name, bounds.unchecked.join(" and ")));
        }
        // In JSON, `default` belongs to the property.
        let has_default = types.encoding == Encoding::Text && self.schema.has("default");
        self.definition(types, &bounds, has_default);
        if has_default {
            let (name, value) = (&self.name, self.inner.literal(self.schema, "default")?);
            types.code.push(quote! {
                impl Default for #name {
                    fn default() -> Self {
                        Self(#value)
                    }
                }
            });
        }
        if types.read {
            self.reading(types, &bounds);
        }
        self.describing(types, bounds.announced, has_default);
        Ok(())
    }

    fn definition(&self, types: &mut Types<'_>, bounds: &Bounds, has_default: bool) {
        let otherwise = match bounds.condition {
            None => format!("`{}`.", self.name),
            Some(_) => format!("A value that {}.", bounds.message),
        };
        let comment = doc(self.schema.text("description"), &otherwise);
        let (name, value) = (&self.name, self.inner.types().0);
        let attributes = match types.encoding {
            Encoding::Json => {
                // schemars serializes the default of a property.
                let is_list = matches!(self.inner, Inner::List(_));
                let writes = (types.written || !is_list).then(|| quote! { , Serialize });
                quote! { #[derive(Clone, Debug, PartialEq #writes)] }
            }
            // The schema reads the field for its default.
            Encoding::Text if has_default => quote! { #[derive(Debug)] },
            Encoding::Text => quote! {
                #[derive(Debug)]
                #[expect(dead_code, reason = "scaffolding: the operation will read the field")]
            },
        };
        let visible = (types.encoding == Encoding::Json).then(|| types.visible.clone());
        types.code.push(quote! { #comment #attributes #visible struct #name(#visible #value); });
    }

    fn reading(&self, types: &mut Types<'_>, bounds: &Bounds) {
        let (name, value, message) = (&self.name, self.inner.types().0, &bounds.message);
        let read = match self.inner {
            Inner::List(_) => quote! { let value = Vec::deserialize(deserializer)?; },
            _ => quote! { let value = #value::deserialize(deserializer)?; },
        };
        let body = match &bounds.condition {
            None => quote! { Deserialize::deserialize(deserializer).map(Self) },
            Some(condition) => quote! {
                #read
                if #condition { Ok(Self(value)) } else { Err(D::Error::custom(#message)) }
            },
        };
        types.code.push(quote! {
            impl<'de> Deserialize<'de> for #name {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> { #body }
            }
        });
    }

    fn describing(&self, types: &mut Types<'_>, announced: TokenStream, has_default: bool) {
        let (name, instance_type) = (&self.name, self.inner.types().1);
        let wire = self.wire.map_or_else(|| name.to_string(), str::to_owned);
        let format = self.schema.format().map(|format| quote! { format: Some(#format.to_owned()), });
        // dropshot drops the default of a parameter, but keeps extensions.
        let default = has_default.then(|| {
            quote! { extensions: [("x-default".to_owned(), Self::default().0.into())].into(), }
        });
        let generator = if matches!(self.inner, Inner::List(_)) { quote!(generator) } else { quote!(_) };
        let inline = self.wire.is_none().then(|| quote! { fn is_referenceable() -> bool { false } });
        types.code.push(quote! {
            impl JsonSchema for #name {
                fn schema_name() -> String {
                    #wire.to_owned()
                }

                #inline

                fn json_schema(#generator: &mut SchemaGenerator) -> Schema {
                    Schema::Object(SchemaObject {
                        instance_type: Some(InstanceType::#instance_type.into()),
                        #format
                        #default
                        #announced
                        ..Default::default()
                    })
                }
            }
        });
    }
}
