//! The bounds of a scalar or a list: as a condition in Rust, and as the schema that announces it.

use contract::document::{Node, Value};
use contract::openapi::Schema;
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::names;
use super::newtype::Inner;
use super::refused::{Refuse, Refused};

/// What is checked of a value.
#[derive(Default)]
pub(super) struct Bounds {
    /// Lines before the condition.
    pub(super) before: TokenStream,
    /// All must hold. Empty if there is nothing to check.
    pub(super) conditions: Vec<TokenStream>,
    /// The end of a sentence that begins with the name of the field.
    pub(super) message: String,
    /// What the schema says and nothing checks.
    pub(super) unchecked: Vec<String>,
}

impl Bounds {
    /// The bounds of an integer or a number.
    pub(super) fn of_number(schema: Schema<'_>, inner: &Inner) -> Result<Self, Refused> {
        let is_integer = matches!(inner, Inner::Integer(_));
        let (above, below) = (schema.flag("exclusiveMinimum"), schema.flag("exclusiveMaximum"));
        let value_of = |key: &str| schema.get(key).and_then(number);
        let (least, most) = (value_of("minimum"), value_of("maximum"));
        let is_empty = |(least, most)| least > most || (least == most && (above || below));
        let reason = "no value is allowed by both `minimum` and `maximum`";
        schema.refuse_if(least.zip(most).is_some_and(is_empty), "minimum", reason)?;
        let mut words = Vec::new();
        let mut bound = |key: &str, word: &str, is_exclusive: bool| -> Result<Option<TokenStream>, Refused> {
            let Some((node, value)) = schema.get(key).zip(value_of(key)) else { return Ok(None) };
            words.push(format!("{word} {}", node.to_json()));
            let literal = inner.literal(schema, key)?;
            // A bound at the end of the type's range cannot be violated.
            Ok((is_exclusive || !inner.is_extreme(value)).then_some(literal))
        };
        let least = bound("minimum", if above { "above" } else { "at least" }, above)?;
        let most = bound("maximum", if below { "below" } else { "at most" }, below)?;
        let step = bound("multipleOf", "a multiple of", true)?;
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
            let reason = "`multipleOf` must be a positive integer: floating point holds no exact fractions";
            schema.refuse_if(step <= 0.0 || step.fract() != 0.0, "multipleOf", reason)?;
            let zero = if is_integer { quote!(0) } else { quote!(0.0) };
            // Every integer is a multiple of 1.
            conditions.extend((!is_integer || step != 1.0).then(|| quote! { value % #literal == #zero }));
        }
        let kind = if is_integer { "an integer" } else { "a number" };
        let colon = if words.is_empty() { "" } else { ": " };
        let message = format!("must be {kind}{colon}{}", words.join(", "));
        Ok(Self { conditions, message, ..Self::default() })
    }

    /// The bounds of a string.
    pub(super) fn of_text(schema: Schema<'_>) -> Result<Self, Refused> {
        let (conditions, range) = lengths(schema, "minLength", "maxLength", &quote! { characters })?;
        let mut unchecked = Vec::new();
        for keyword in ["pattern", "format"] {
            unchecked.extend(schema.text(keyword).map(|value| format!("`{keyword}: {value}`")));
        }
        let before = (!conditions.is_empty()).then(|| quote! { let characters = value.chars().count(); });
        let message = format!("must have {range} character(s)");
        Ok(Self { before: before.unwrap_or_default(), conditions, message, unchecked })
    }

    /// The bounds of a list.
    pub(super) fn of_list(schema: Schema<'_>) -> Result<Self, Refused> {
        let (mut conditions, range) = lengths(schema, "minItems", "maxItems", &quote! { value.len() })?;
        let mut message = if range.is_empty() { String::new() } else { format!("must have {range} item(s)") };
        if schema.flag("uniqueItems") {
            conditions.push(quote! {
                value.iter().enumerate().all(|(position, item)| !value[..position].contains(item))
            });
            message.push_str(if message.is_empty() { "must not repeat an item" } else { ", none twice" });
        }
        Ok(Self { conditions, message, ..Self::default() })
    }
}

fn exclusive(bound: &str) -> String {
    format!("exclusive{}{}", bound[..1].to_uppercase(), &bound[1..])
}

pub(super) fn number(node: &Node) -> Option<f64> {
    match &node.value {
        Value::Number(number) => number.as_f64(),
        _ => None,
    }
}

/// A length, which schemars keeps in 32 bits.
fn length(schema: Schema<'_>, key: &str) -> Result<Option<u32>, Refused> {
    let Some(node) = schema.get(key) else { return Ok(None) };
    let value = number(node).filter(|value| *value <= f64::from(u32::MAX));
    // The document is valid, so it is an integer that is not negative.
    value
        .map(|value| Some(value as u32))
        .ok_or_else(|| schema.refused_at(key, format!("`{key}` exceeds 32 bits")))
}

/// The condition on a length, and the allowed lengths in words. Both are empty without bounds.
fn lengths(
    schema: Schema<'_>,
    least: &str,
    most: &str,
    length_of: &TokenStream,
) -> Result<(Vec<TokenStream>, String), Refused> {
    let (from, to) = (length(schema, least)?.filter(|least| *least > 0), length(schema, most)?);
    let reason = format!("no value is allowed by both `{least}` and `{most}`");
    schema.refuse_if(from.zip(to).is_some_and(|(from, to)| from > to), least, reason)?;
    let [first, last] = [from, to].map(|bound| Literal::u32_unsuffixed(bound.unwrap_or_default()));
    let is_list = least == "minItems";
    let (condition, range) = match (from, to) {
        (None, None) => return Ok((Vec::new(), String::new())),
        (Some(1), None) if is_list => (quote! { !value.is_empty() }, "at least 1".to_owned()),
        (None, Some(0)) if is_list => (quote! { value.is_empty() }, "at most 0".to_owned()),
        (None, Some(0)) => (quote! { #length_of == 0 }, "at most 0".to_owned()),
        (Some(from), Some(to)) if from == to => (quote! { #length_of == #first }, from.to_string()),
        (Some(from), Some(to)) => {
            (quote! { (#first..=#last).contains(&#length_of) }, format!("{from} to {to}"))
        }
        (Some(from), None) => (quote! { #length_of >= #first }, format!("at least {from}")),
        (None, Some(to)) => (quote! { #length_of <= #last }, format!("at most {to}")),
    };
    Ok((vec![condition], range))
}

/// The fields of a `SchemaObject` for a schema, without its type. `items` is the type of a list's items,
/// `default` the value that dropshot would drop from a parameter.
pub(super) fn schema_fields(
    schema: Schema<'_>,
    items: Option<&TokenStream>,
    default: Option<&TokenStream>,
) -> Result<TokenStream, Refused> {
    let mut fields = TokenStream::new();
    if let Some(format) = schema.format() {
        fields.extend(quote! { format: Some(#format.to_owned()), });
    }
    if let Some(default) = default {
        fields.extend(quote! { extensions: [("x-default".to_owned(), #default.into())].into(), });
    }
    let mut numbers = Vec::new();
    for key in ["minimum", "maximum", "multipleOf"] {
        let Some(value) = schema.get(key).and_then(number) else { continue };
        let prefix = if schema.flag(&exclusive(key)) { "exclusive_" } else { "" };
        let name = format_ident!("{prefix}{}", names::snake(key));
        let value = Literal::f64_unsuffixed(value);
        numbers.push(quote! { #name: Some(#value), });
    }
    if !numbers.is_empty() {
        fields.extend(quote! {
            number: Some(Box::new(NumberValidation { #(#numbers)* ..Default::default() })),
        });
    }
    let some = |length: u32| {
        let length = Literal::u32_unsuffixed(length);
        quote! { Some(#length) }
    };
    let (min, max) = (length(schema, "minLength")?.map(some), length(schema, "maxLength")?.map(some));
    let pattern = schema.text("pattern").map(|pattern| quote! { Some(#pattern.to_owned()) });
    if min.is_some() || max.is_some() || pattern.is_some() {
        let [min, max, pattern] = [min, max, pattern].map(|field| field.unwrap_or_else(|| quote! { None }));
        fields.extend(quote! {
            string: Some(Box::new(StringValidation { min_length: #min, max_length: #max, pattern: #pattern })),
        });
    }
    if let Some(items) = items {
        let min = length(schema, "minItems")?.map(some).map(|length| quote! { min_items: #length, });
        let max = length(schema, "maxItems")?.map(some).map(|length| quote! { max_items: #length, });
        let unique = schema.flag("uniqueItems").then(|| quote! { unique_items: Some(true), });
        fields.extend(quote! {
            array: Some(Box::new(ArrayValidation {
                items: Some(generator.subschema_for::<#items>().into()),
                #min #max #unique
                ..Default::default()
            })),
        });
    }
    Ok(fields)
}
