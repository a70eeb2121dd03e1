//! The bounds of a scalar or a list: generates the check in Rust, and the schema for schemars.

use document::openapi::Schema;
use document::{Node, Value};
use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens as _, format_ident, quote};

use super::newtype::Inner;
use super::types::{Rust, only};
use super::unsupported::{Unsupported, UnsupportedAt};

/// The checks of a value.
#[derive(Default)]
pub(super) struct Bounds {
    /// The condition. `None` if nothing is checked.
    pub(super) condition: Option<TokenStream>,
    /// The error message, without the name of the field at its beginning.
    pub(super) message: String,
    /// Keywords of the schema that are not checked.
    pub(super) unchecked: Vec<String>,
    /// The fields of a `SchemaObject` with the bounds.
    pub(super) announced: TokenStream,
}

impl Bounds {
    /// Returns the bounds of a value of this type.
    pub(super) fn of(schema: Schema<'_>, inner: &Inner) -> Result<Self, Unsupported> {
        match inner {
            Inner::Boolean => {
                only(schema, &[])?;
                Ok(Self::default())
            }
            Inner::Integer(_) | Inner::Number => Self::of_number(schema, inner),
            Inner::Text => Self::of_text(schema),
            Inner::List(item) => Self::of_list(schema, item),
        }
    }

    fn of_number(schema: Schema<'_>, inner: &Inner) -> Result<Self, Unsupported> {
        only(schema, &["format", "minimum", "maximum"])?;
        let (mut words, mut announced) = (Vec::new(), TokenStream::new());
        let mut bound = |key: &str, word: &str| -> Result<Option<TokenStream>, Unsupported> {
            let Some((node, value)) = schema.get(key).and_then(|node| Some((node, number(node)?))) else {
                return Ok(None);
            };
            words.push(format!("{word} {}", node.to_json()));
            let (field, shown) = (format_ident!("{key}"), Literal::f64_unsuffixed(value));
            announced.extend(quote! { #field: Some(#shown), });
            inner.literal(schema, key).map(Some)
        };
        let condition = range(&bound("minimum", "at least")?, &bound("maximum", "at most")?);
        let values = ["minimum", "maximum"].map(|key| schema.get(key).and_then(number));
        nonempty(schema, "minimum", "maximum", values)?;
        let kind = if matches!(inner, Inner::Integer(_)) { "an integer" } else { "a number" };
        let colon = if words.is_empty() { "" } else { ": " };
        let message = format!("must be {kind}{colon}{}", words.join(", "));
        if !announced.is_empty() {
            announced = quote! {
                number: Some(Box::new(NumberValidation { #announced ..Default::default() })),
            };
        }
        let condition = condition.map(|range| quote! { #range.contains(&value) });
        Ok(Self { condition, message, announced, ..Self::default() })
    }

    fn of_text(schema: Schema<'_>) -> Result<Self, Unsupported> {
        only(schema, &["format", "minLength", "maxLength", "pattern"])?;
        let lengths = Lengths::of(schema, "minLength", "maxLength")?;
        let unchecked = ["pattern", "format"]
            .into_iter()
            .filter_map(|keyword| Some(format!("`{keyword}: {}`", schema.text(keyword)?)));
        let pattern = schema.text("pattern");
        let announced = (pattern.is_some() || !lengths.is_empty()).then(|| {
            let [min, max] = lengths.announced();
            let pattern = pattern.map_or(quote! { None }, |pattern| quote! { Some(#pattern.to_owned()) });
            quote! {
                string: Some(Box::new(StringValidation { min_length: #min, max_length: #max, pattern: #pattern })),
            }
        });
        Ok(Self {
            unchecked: unchecked.collect(),
            condition: lengths.range().map(|range| quote! { #range.contains(&value.chars().count()) }),
            message: format!("must have {} character(s)", lengths.words()),
            announced: announced.unwrap_or_default(),
        })
    }

    fn of_list(schema: Schema<'_>, item: &Rust) -> Result<Self, Unsupported> {
        only(schema, &["items", "minItems", "maxItems"])?;
        let lengths = Lengths::of(schema, "minItems", "maxItems")?;
        let [min, max] = lengths.announced();
        let item = item.described_by();
        let announced = quote! {
            array: Some(Box::new(ArrayValidation {
                items: Some(generator.subschema_for::<#item>().into()),
                min_items: #min,
                max_items: #max,
                ..Default::default()
            })),
        };
        let condition = lengths.range().map(|range| quote! { #range.contains(&value.len()) });
        let message = format!("must have {} item(s)", lengths.words());
        Ok(Self { condition, message, announced, ..Self::default() })
    }
}

pub(super) fn number(node: &Node) -> Option<f64> {
    match &node.value {
        Value::Number(number) => number.as_f64(),
        _ => None,
    }
}

/// Returns a range with these limits. `None` without a limit.
fn range(least: &Option<TokenStream>, most: &Option<TokenStream>) -> Option<TokenStream> {
    match (least, most) {
        (None, None) => None,
        (_, None) => Some(quote! { (#least..) }),
        _ => Some(quote! { (#least..=#most) }),
    }
}

fn nonempty<N: PartialOrd>(
    schema: Schema<'_>,
    least: &str,
    most: &str,
    [from, to]: [Option<N>; 2],
) -> Result<(), Unsupported> {
    let reason = format!("no value satisfies both `{least}` and `{most}`");
    schema.unsupported_if(from.zip(to).is_some_and(|(from, to)| from > to), least, reason)
}

/// The minimum and maximum length, which schemars represents as `u32`.
struct Lengths([Option<u32>; 2]);

impl Lengths {
    fn of(schema: Schema<'_>, least: &str, most: &str) -> Result<Self, Unsupported> {
        let length = |key: &str| {
            let value = schema.get(key).and_then(number);
            let reason = format!("`{key}` exceeds 32 bits");
            schema.unsupported_if(value.is_some_and(|value| value > f64::from(u32::MAX)), key, reason)?;
            // The document is valid, so the value is a non-negative integer.
            Ok(value.map(|value| value as u32))
        };
        let bounds = [length(least)?, length(most)?];
        nonempty(schema, least, most, bounds)?;
        Ok(Self(bounds))
    }

    fn range(&self) -> Option<TokenStream> {
        let [least, most] = self.0.map(|length| Some(Literal::u32_unsuffixed(length?).into_token_stream()));
        range(&least.filter(|_| self.0[0] > Some(0)), &most)
    }

    fn words(&self) -> String {
        match self.0.map(|length| length.map(|length| length.to_string())) {
            [Some(least), Some(most)] => format!("{least} to {most}"),
            [Some(least), None] => format!("at least {least}"),
            [None, most] => format!("at most {}", most.unwrap_or_default()),
        }
    }

    fn is_empty(&self) -> bool {
        self.0 == [None, None]
    }

    /// Returns both for schemars.
    fn announced(&self) -> [TokenStream; 2] {
        self.0.map(|length| match length.map(Literal::u32_unsuffixed) {
            Some(length) => quote! { Some(#length) },
            None => quote! { None },
        })
    }
}
