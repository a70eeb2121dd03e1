//! What a scalar or a list may be: as Rust that refuses everything else, and as the schema that says so.

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use serde_json::Value;

use super::code::Code;

/// The keywords that this knows.
pub(super) const KEYWORDS: [&str; 12] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "uniqueItems",
    "format",
];

/// What makes a value one.
pub(super) struct Bounds {
    /// Lines before the condition.
    pub(super) before: TokenStream,
    /// All must hold. None if there is nothing to check.
    pub(super) conditions: Vec<TokenStream>,
    /// The end of a sentence that begins with the name of the field.
    pub(super) message: String,
    /// What the schema says, but nothing checks, with the reason.
    pub(super) unchecked: Vec<String>,
}

impl Bounds {
    /// The bounds of an integer or a number.
    pub(super) fn of_number(schema: &Value, integer: bool) -> Result<Self, String> {
        let literal = |key: &str| -> Result<Option<TokenStream>, String> {
            let Some(value) = schema.get(key) else { return Ok(None) };
            if !integer {
                let value = value.as_f64().ok_or(format!("`{key}` is no number"))?;
                let literal = Literal::f64_unsuffixed(value);
                return Ok(Some(quote! { #literal }));
            }
            let value = value.as_i64().ok_or(format!("`{key}` is no integer of 64 bits"))?;
            exact(value).ok_or(format!("schemars cannot hold `{key}: {value}` exactly"))?;
            let literal = Literal::i64_unsuffixed(value);
            Ok(Some(quote! { #literal }))
        };
        let exclusive = |key: &str| schema.get(key) == Some(&Value::Bool(true));
        let (least, most) = (literal("minimum")?, literal("maximum")?);
        let (above, below) = (exclusive("exclusiveMinimum"), exclusive("exclusiveMaximum"));
        let mut conditions = Vec::new();
        match (&least, &most) {
            (Some(least), Some(most)) if !above && !below => {
                conditions.push(quote! { (#least..=#most).contains(&value) });
            }
            _ => {
                conditions.extend(least.iter().map(|least| match above {
                    true => quote! { value > #least },
                    false => quote! { value >= #least },
                }));
                conditions.extend(most.iter().map(|most| match below {
                    true => quote! { value < #most },
                    false => quote! { value <= #most },
                }));
            }
        }
        if let Some(step) = literal("multipleOf")? {
            conditions.push(match integer {
                true => quote! { value % #step == 0 },
                false => quote! { value % #step == 0.0 },
            });
        }
        let mut message = format!("must be {}", if integer { "an integer" } else { "a number" });
        let said = |key: &str| schema.get(key).map(Value::to_string);
        match (said("minimum"), said("maximum"), above || below) {
            (Some(least), Some(most), false) => message.push_str(&format!(" from {least} to {most}")),
            (least, most, _) => {
                let least =
                    least.map(|least| format!("{} {least}", if above { "above" } else { "of at least" }));
                let most = most.map(|most| format!("{} {most}", if below { "below" } else { "of at most" }));
                let both: Vec<String> = least.into_iter().chain(most).collect();
                message = format!("{message} {}", both.join(" and ")).trim_end().to_owned();
            }
        }
        if let Some(step) = said("multipleOf") {
            message.push_str(&format!(", a multiple of {step}"));
        }
        Ok(Self { before: TokenStream::new(), conditions, message, unchecked: Vec::new() })
    }

    /// The bounds of a text.
    pub(super) fn of_text(schema: &Value) -> Result<Self, String> {
        let (conditions, range) = lengths(schema, "minLength", "maxLength", &quote! { characters })?;
        let mut unchecked = Vec::new();
        if schema.get("pattern").is_some() {
            unchecked.push("the service has no engine for patterns, so nothing checks `pattern`".to_owned());
        }
        if let Some(format) = schema.get("format").and_then(Value::as_str) {
            unchecked.push(format!("nothing checks that it has the format `{format}`"));
        }
        let before = match conditions.is_empty() {
            true => TokenStream::new(),
            false => quote! { let characters = value.chars().count(); },
        };
        Ok(Self { before, conditions, message: format!("must have {range} character(s)"), unchecked })
    }

    /// The bounds of a list.
    pub(super) fn of_list(schema: &Value) -> Result<Self, String> {
        let (mut conditions, range) = lengths(schema, "minItems", "maxItems", &quote! { value.len() })?;
        if range == "at least 1" {
            conditions = vec![quote! { !value.is_empty() }];
        }
        let mut message = if range.is_empty() { String::new() } else { format!("must have {range} item(s)") };
        if schema.get("uniqueItems") == Some(&Value::Bool(true)) {
            conditions.push(quote! {
                value.iter().enumerate().all(|(position, item)| !value[..position].contains(item))
            });
            message.push_str(if message.is_empty() { "must not repeat an item" } else { ", none twice" });
        }
        Ok(Self { before: TokenStream::new(), conditions, message, unchecked: Vec::new() })
    }
}

fn lengths(
    schema: &Value,
    least: &str,
    most: &str,
    length: &TokenStream,
) -> Result<(Vec<TokenStream>, String), String> {
    let number = |key: &str| match schema.get(key) {
        None => Ok(None),
        Some(value) => {
            let value = value.as_u64().and_then(|value| u32::try_from(value).ok());
            value.map(Some).ok_or(format!("`{key}` is no number of 32 bits"))
        }
    };
    let (least, most) = (number(least)?.filter(|least| *least > 0), number(most)?);
    let literal = |number: u32| Literal::u64_unsuffixed(u64::from(number));
    Ok(match (least, most) {
        (None, None) => (Vec::new(), String::new()),
        (Some(least), Some(most)) => {
            let (from, to) = (literal(least), literal(most));
            (vec![quote! { (#from..=#to).contains(&#length) }], format!("{least} to {most}"))
        }
        (Some(least), None) => {
            let from = literal(least);
            (vec![quote! { #length >= #from }], format!("at least {least}"))
        }
        (None, Some(most)) => {
            let to = literal(most);
            (vec![quote! { #length <= #to }], format!("at most {most}"))
        }
    })
}

/// schemars keeps bounds as floating point.
fn exact(value: i64) -> Option<f64> {
    let float = value as f64;
    (float as i128 == i128::from(value)).then_some(float)
}

/// The fields of a `SchemaObject` that stand for a schema without its type. `items` is the schema of a
/// list's items, `default` what dropshot would drop from a parameter.
pub(super) fn schema_fields(
    code: &mut Code,
    schema: &Value,
    items: Option<&TokenStream>,
    default: Option<&TokenStream>,
) -> TokenStream {
    let mut fields = TokenStream::new();
    if let Some(format) = schema.get("format").and_then(Value::as_str) {
        fields.extend(quote! { format: Some(#format.to_owned()), });
    }
    if let Some(default) = default {
        fields.extend(quote! { extensions: [("x-default".to_owned(), #default.into())].into(), });
    }
    let numbers = ["minimum", "maximum", "multipleOf"].iter().filter_map(|key| {
        let value = schema.get(key)?.as_f64()?;
        let exclusive = match *key {
            "minimum" => schema.get("exclusiveMinimum"),
            "maximum" => schema.get("exclusiveMaximum"),
            _ => None,
        };
        let name = match (*key, exclusive == Some(&Value::Bool(true))) {
            ("minimum", false) => quote! { minimum },
            ("minimum", true) => quote! { exclusive_minimum },
            ("maximum", false) => quote! { maximum },
            ("maximum", true) => quote! { exclusive_maximum },
            _ => quote! { multiple_of },
        };
        let value = Literal::f64_unsuffixed(value);
        Some(quote! { #name: Some(#value), })
    });
    let numbers: Vec<TokenStream> = numbers.collect();
    if !numbers.is_empty() {
        code.import("schemars::schema::NumberValidation");
        fields.extend(quote! {
            number: Some(Box::new(NumberValidation { #(#numbers)* ..Default::default() })),
        });
    }
    let length = |key: &str| {
        let value = schema.get(key)?.as_u64().and_then(|value| u32::try_from(value).ok())?;
        let value = Literal::u32_unsuffixed(value);
        Some(quote! { Some(#value) })
    };
    let none = || quote! { None };
    let (min, max) = (length("minLength"), length("maxLength"));
    let pattern = schema.get("pattern").and_then(Value::as_str);
    if min.is_some() || max.is_some() || pattern.is_some() {
        code.import("schemars::schema::StringValidation");
        let (min, max) = (min.unwrap_or_else(none), max.unwrap_or_else(none));
        let pattern = pattern.map_or_else(none, |pattern| quote! { Some(#pattern.to_owned()) });
        fields.extend(quote! {
            string: Some(Box::new(StringValidation {
                min_length: #min,
                max_length: #max,
                pattern: #pattern,
            })),
        });
    }
    if let Some(items) = items {
        code.import("schemars::schema::ArrayValidation");
        let mut array = quote! { items: Some(generator.subschema_for::<#items>().into()), };
        for (key, name) in [("minItems", quote! { min_items }), ("maxItems", quote! { max_items })] {
            array.extend(length(key).map(|length| quote! { #name: #length, }));
        }
        if schema.get("uniqueItems") == Some(&Value::Bool(true)) {
            array.extend(quote! { unique_items: Some(true), });
        }
        fields.extend(quote! {
            array: Some(Box::new(ArrayValidation { #array ..Default::default() })),
        });
    }
    fields
}
