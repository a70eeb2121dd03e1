//! The bounds of a scalar or a list: generates the check in Rust, and the schema for schemars.

use document::openapi::Schema;
use document::{Node, Value};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::names;
use super::newtype::Inner;
use super::types::{Rust, only};
use super::unsupported::{Unsupported, UnsupportedAt};

/// The checks of a value.
#[derive(Default)]
pub(super) struct Bounds {
    /// Statements before the condition.
    pub(super) before: TokenStream,
    /// The conditions, which are combined by `&&`. Empty if nothing is checked.
    pub(super) conditions: Vec<TokenStream>,
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
                Ok(Self { message: "must be true or false".to_owned(), ..Self::default() })
            }
            Inner::Integer(_) | Inner::Number(_) => Self::of_number(schema, inner),
            Inner::Text => Self::of_text(schema),
            Inner::List(item) => Self::of_list(schema, item),
        }
    }

    fn of_number(schema: Schema<'_>, inner: &Inner) -> Result<Self, Unsupported> {
        only(
            schema,
            &["format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
        )?;
        let is_integer = matches!(inner, Inner::Integer(_));
        let (above, below) = (schema.flag("exclusiveMinimum"), schema.flag("exclusiveMaximum"));
        let value_of = |key: &str| schema.get(key).and_then(number);
        let is_empty = |(least, most)| least > most || (least == most && (above || below));
        let reason = "no value satisfies both `minimum` and `maximum`";
        let both = value_of("minimum").zip(value_of("maximum"));
        schema.unsupported_if(both.is_some_and(is_empty), "minimum", reason)?;
        let (mut words, mut announced) = (Vec::new(), TokenStream::new());
        let mut bound =
            |key: &str, word: &str, is_exclusive: bool| -> Result<Option<TokenStream>, Unsupported> {
                let Some((node, value)) = schema.get(key).zip(value_of(key)) else { return Ok(None) };
                words.push(format!("{word} {}", node.to_json()));
                let prefix = if is_exclusive { "exclusive_" } else { "" };
                let field = format_ident!("{prefix}{}", names::snake(key));
                let shown = Literal::f64_unsuffixed(value);
                announced.extend(quote! { #field: Some(#shown), });
                let literal = inner.literal(schema, key)?;
                // A bound that equals a limit of the Rust type needs no check.
                Ok((is_exclusive || key == "multipleOf" || !inner.is_extreme(value)).then_some(literal))
            };
        let least = bound("minimum", if above { "above" } else { "at least" }, above)?;
        let most = bound("maximum", if below { "below" } else { "at most" }, below)?;
        let step = bound("multipleOf", "a multiple of", false)?;
        let mut conditions = match (least, most) {
            (Some(least), Some(most)) if !above && below => vec![quote! { (#least..#most).contains(&value) }],
            (Some(least), Some(most)) if !above => vec![quote! { (#least..=#most).contains(&value) }],
            (least, most) => {
                let above = if above { quote!(>) } else { quote!(>=) };
                let below = if below { quote!(<) } else { quote!(<=) };
                let least = least.map(|least| quote! { value #above #least });
                least.into_iter().chain(most.map(|most| quote! { value #below #most })).collect()
            }
        };
        if let Some((literal, step)) = step.zip(value_of("multipleOf")) {
            let reason = "`multipleOf` must be a positive integer, because floating point cannot represent all fractions";
            schema.unsupported_if(step <= 0.0 || step.fract() != 0.0, "multipleOf", reason)?;
            let zero = if is_integer { quote!(0) } else { quote!(0.0) };
            // For integers, a multiple of 1 needs no check.
            conditions.extend((!is_integer || step != 1.0).then(|| quote! { value % #literal == #zero }));
        }
        let kind = if is_integer { "an integer" } else { "a number" };
        let colon = if words.is_empty() { "" } else { ": " };
        let message = format!("must be {kind}{colon}{}", words.join(", "));
        if !announced.is_empty() {
            announced = quote! {
                number: Some(Box::new(NumberValidation { #announced ..Default::default() })),
            };
        }
        Ok(Self { conditions, message, announced, ..Self::default() })
    }

    fn of_text(schema: Schema<'_>) -> Result<Self, Unsupported> {
        only(schema, &["format", "minLength", "maxLength", "pattern"])?;
        let lengths = Lengths::of(schema, "minLength", "maxLength", &quote! { characters })?;
        let before = lengths.condition.iter().map(|_| quote! { let characters = value.chars().count(); });
        let unchecked = ["pattern", "format"]
            .into_iter()
            .filter_map(|keyword| Some(format!("`{keyword}: {}`", schema.text(keyword)?)));
        let pattern = schema.text("pattern").map(|pattern| quote! { Some(#pattern.to_owned()) });
        let [min, max] = lengths.announced;
        let fields = [min, max, pattern];
        let announced = fields.iter().any(Option::is_some).then(|| {
            let [min, max, pattern] = fields.clone().map(|field| field.unwrap_or_else(|| quote! { None }));
            quote! {
                string: Some(Box::new(StringValidation {
                    min_length: #min,
                    max_length: #max,
                    pattern: #pattern
                })),
            }
        });
        Ok(Self {
            before: before.collect(),
            unchecked: unchecked.collect(),
            conditions: lengths.condition.into_iter().collect(),
            message: format!("must have {} character(s)", lengths.range),
            announced: announced.unwrap_or_default(),
        })
    }

    fn of_list(schema: Schema<'_>, item: &Rust) -> Result<Self, Unsupported> {
        only(schema, &["items", "minItems", "maxItems", "uniqueItems"])?;
        let lengths = Lengths::of(schema, "minItems", "maxItems", &quote! { value.len() })?;
        let mut conditions = Vec::from_iter(lengths.condition);
        let mut message = match lengths.range.as_str() {
            "" => String::new(),
            range => format!("must have {range} item(s)"),
        };
        let unique = schema.flag("uniqueItems").then(|| quote! { unique_items: Some(true), });
        if unique.is_some() {
            conditions.push(quote! {
                value.iter().enumerate().all(|(position, item)| !value[..position].contains(item))
            });
            message.push_str(if message.is_empty() { "must not repeat an item" } else { ", none twice" });
        }
        let [min, max] = lengths.announced;
        let min = min.map(|length| quote! { min_items: #length, });
        let max = max.map(|length| quote! { max_items: #length, });
        let item = item.described_by();
        let announced = quote! {
            array: Some(Box::new(ArrayValidation {
                items: Some(generator.subschema_for::<#item>().into()),
                #min #max #unique
                ..Default::default()
            })),
        };
        Ok(Self { conditions, message, announced, ..Self::default() })
    }
}

pub(super) fn number(node: &Node) -> Option<f64> {
    match &node.value {
        Value::Number(number) => number.as_f64(),
        _ => None,
    }
}

/// Returns a length, which schemars represents as `u32`.
fn length(schema: Schema<'_>, key: &str) -> Result<Option<u32>, Unsupported> {
    let Some(node) = schema.get(key) else { return Ok(None) };
    let value = number(node).filter(|value| *value <= f64::from(u32::MAX));
    // The document is valid, so the value is a non-negative integer.
    value
        .map(|value| Some(value as u32))
        .ok_or_else(|| schema.unsupported_at(key, format!("`{key}` exceeds 32 bits")))
}

/// The bounds of a length.
struct Lengths {
    condition: Option<TokenStream>,
    /// The allowed lengths in words. Empty without bounds.
    range: String,
    /// The minimum and maximum length for the schema.
    announced: [Option<TokenStream>; 2],
}

impl Lengths {
    fn of(schema: Schema<'_>, least: &str, most: &str, length_of: &TokenStream) -> Result<Self, Unsupported> {
        let bounds = [length(schema, least)?, length(schema, most)?];
        let (from, to) = (bounds[0].filter(|least| *least > 0), bounds[1]);
        let reason = format!("no value satisfies both `{least}` and `{most}`");
        schema.unsupported_if(from.zip(to).is_some_and(|(from, to)| from > to), least, reason)?;
        let [first, last] = bounds.map(|bound| Literal::u32_unsuffixed(bound.unwrap_or_default()));
        let is_list = least == "minItems";
        let (condition, range) = match (from, to) {
            (None, None) => (None, String::new()),
            (Some(1), None) if is_list => (Some(quote! { !value.is_empty() }), "at least 1".to_owned()),
            (None, Some(0)) if is_list => (Some(quote! { value.is_empty() }), "at most 0".to_owned()),
            (None, Some(0)) => (Some(quote! { #length_of == 0 }), "at most 0".to_owned()),
            (Some(from), Some(to)) if from == to => (Some(quote! { #length_of == #first }), from.to_string()),
            (Some(from), Some(to)) => {
                (Some(quote! { (#first..=#last).contains(&#length_of) }), format!("{from} to {to}"))
            }
            (Some(from), None) => (Some(quote! { #length_of >= #first }), format!("at least {from}")),
            (None, Some(to)) => (Some(quote! { #length_of <= #last }), format!("at most {to}")),
        };
        let announced = bounds.map(|bound| {
            let length = Literal::u32_unsuffixed(bound?);
            Some(quote! { Some(#length) })
        });
        Ok(Self { condition, range, announced })
    }
}
