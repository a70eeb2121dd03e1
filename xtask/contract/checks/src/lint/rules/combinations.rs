//! Keywords of one object that require or exclude each other.

use std::collections::HashSet;

use fluent_uri::Iri;

use document::Value;
use document::openapi::shapes::text_of;
use document::openapi::{Id, Kind, Model, Object, in_place};
use document::shortened;

use crate::lint::item_spot;
use crate::rule::{Findings, Rule, rules};

rules! {
    CONDITION: Spec Error fix Unsafe "struct-combination", "OpenAPI 3.0.3, 4.7; JSON Schema draft Wright-00, 5",
        "Keywords of one object that require or exclude each other are combined as the specification says.";
    INEFFECTIVE: Recommended Warning fix Unsafe "no-ineffective-keywords",
        "OpenAPI 3.0.3, 4.7.12.2, 4.7.24.2 and 4.7.27.1; JSON Schema draft Wright-00, 5.3 and 5.5",
        "No keyword is without effect because of the other keywords of its object.";
    ARRAY_ITEMS: Spec Error "array-items", "OpenAPI 3.0.3, 4.7.24.1; Spectral: array-items",
        "A schema with `type: array` has `items`.";
    EXAMPLE_VALUE: Recommended Error "oas3-examples-value-or-externalValue",
        "Spectral: oas3-examples-value-or-externalValue",
        "An Example Object has a `value` or an `externalValue`.";
    LIST: Spec Error fix Unsafe "struct-list", "JSON Schema draft Wright-00, 5.15 and 5.22 to 5.24",
        "`required`, `allOf`, `anyOf` and `oneOf` are not empty, and `required` has no duplicates.";
    ENUM: Recommended Error fix Safe "duplicated-entry-in-enum",
        "JSON Schema draft Wright-00, 5.20; Spectral: duplicated-entry-in-enum",
        "An `enum` is not empty and has no duplicates.";
}

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    let parts = model.everything().flat_map(in_place).filter_map(|part| part.resolved());
    let composed = parts.map(|part| part.id).collect();
    for object in model.everything().filter(|object| !object.is_reference()) {
        exclusive(object, findings);
        for keyword in demanded(object).iter().filter(|keyword| !object.has(keyword)) {
            let message = format!("{} has no `{keyword}`.", object.subject());
            findings.add(&CONDITION, object.spot(), message, format!("Add `{keyword}`."));
        }
        match object.kind() {
            Kind::Parameter | Kind::Header => {
                with_content(object, findings);
                located(object, findings);
            }
            Kind::Xml if object.text("namespace").is_some_and(|uri| Iri::parse(uri).is_err()) => {
                let message = format!("The namespace of {} is not an absolute URI.", object.subject());
                let fix = "Write a URI such as `https://example.com/schema`.";
                findings.add(&CONDITION, object.value_spot("namespace"), message, fix);
            }
            Kind::Responses if object.node().entries().iter().all(|entry| entry.key.starts_with("x-")) => {
                let message = format!("{} has no response.", object.subject());
                let fix = "Add a response, such as `'200'` or `default`.";
                findings.add(&CONDITION, object.spot(), message, fix);
            }
            Kind::SecurityScheme => security_scheme(object, findings),
            Kind::Schema => schema(object, &composed, findings),
            _ => {}
        }
    }
}

/// Pairs of keywords that exclude each other, with the rule that requires one of them.
const EXCLUSIVE: &[(&[Kind], [&str; 2], Option<&Rule>)] = &[
    (&[Kind::Parameter, Kind::Header], ["schema", "content"], Some(&CONDITION)),
    (&[Kind::Parameter, Kind::Header, Kind::MediaType], ["example", "examples"], None),
    (&[Kind::Example], ["value", "externalValue"], Some(&EXAMPLE_VALUE)),
    (&[Kind::Link], ["operationRef", "operationId"], Some(&CONDITION)),
];

fn exclusive(object: Object<'_>, findings: &mut Findings) {
    for (_, [one, other], required) in EXCLUSIVE.iter().filter(|(kinds, ..)| kinds.contains(&object.kind())) {
        match (object.has(one), object.has(other), required) {
            (true, true, _) => {
                let message = format!("{} has both `{one}` and `{other}`.", object.subject());
                findings.add(&CONDITION, object.key_spot(other), message, "Remove one.").remove();
            }
            (false, false, Some(rule)) => {
                let message = format!("{} has neither `{one}` nor `{other}`.", object.subject());
                findings.add(rule, object.spot(), message, format!("Add `{one}`."));
            }
            _ => {}
        }
    }
}

/// Returns the keywords that an object must have because of its name or other keywords.
fn demanded(object: Object<'_>) -> &'static [&'static str] {
    let in_request = || object.parent().is_some_and(|body| body.kind() == Kind::RequestBody);
    match (object.kind(), object.text("type").unwrap_or_default(), object.name()) {
        (Kind::MediaType, _, name) if name.to_ascii_lowercase().starts_with("multipart/") && in_request() => {
            &["schema"]
        }
        (Kind::SecurityScheme, "apiKey", _) => &["name", "in"],
        (Kind::SecurityScheme, "http", _) => &["scheme"],
        (Kind::SecurityScheme, "oauth2", _) => &["flows"],
        (Kind::SecurityScheme, "openIdConnect", _) => &["openIdConnectUrl"],
        (Kind::OAuthFlow, _, "implicit") => &["authorizationUrl"],
        (Kind::OAuthFlow, _, "authorizationCode") => &["authorizationUrl", "tokenUrl"],
        (Kind::OAuthFlow, ..) => &["tokenUrl"],
        _ => &[],
    }
}

/// Checks the keywords beside the `content` of a Parameter or Header Object.
fn with_content(object: Object<'_>, findings: &mut Findings) {
    let Some(content) = object.get("content") else { return };
    let number = content.entries().len();
    if number != 1 && matches!(content.value, Value::Mapping(_)) {
        let message = format!("`content` of {} has {number} media types.", object.subject());
        findings.add(&CONDITION, object.key_spot("content"), message, "Write exactly one.");
    }
    let excluded = ["style", "explode", "allowReserved", "example", "examples"];
    for keyword in excluded.into_iter().filter(|keyword| object.has(keyword)) {
        let message = format!("`{keyword}` cannot be combined with `content`.");
        let fix = "Move it into the media type, or remove it.";
        findings.add(&CONDITION, object.key_spot(keyword), message, fix).remove();
    }
}

/// The styles of each location (section 4.7.12.3).
const STYLES: &[(&str, &[&str])] = &[
    ("path", &["matrix", "label", "simple"]),
    ("query", &["form", "spaceDelimited", "pipeDelimited", "deepObject"]),
    ("header", &["simple"]),
    ("cookie", &["form"]),
];

/// Checks the keywords of a parameter or header that depend on its location.
fn located(object: Object<'_>, findings: &mut Findings) {
    let is_header = object.kind() == Kind::Header;
    let place = if is_header { Some("header") } else { object.text("in") };
    let Some((place, styles)) = STYLES.iter().find(|(known, _)| place == Some(known)) else { return };
    for keyword in ["allowEmptyValue", "allowReserved"] {
        if *place != "query" && object.has(keyword) {
            // `false` is the default. The keywords of a header must apply to it (section 4.7.21).
            let is_invalid = object.flag(keyword) && (keyword == "allowEmptyValue" || is_header);
            let rule = if is_invalid { &CONDITION } else { &INEFFECTIVE };
            let message = format!("`{keyword}` applies only to parameters in `query`.");
            findings.add(rule, object.key_spot(keyword), message, "Remove it.").remove();
        }
    }
    if let Some(style) = object.text("style").filter(|style| !is_header && !styles.contains(style)) {
        let message = format!("A parameter in `{place}` cannot have the style `{}`.", shortened(style));
        let fix = format!("Use `{}`.", styles.join("`, `"));
        let added = findings.add(&CONDITION, object.value_spot("style"), message, fix);
        styles.iter().fold(added, |added, style| added.write(*style));
    }
}

fn security_scheme(object: Object<'_>, findings: &mut Findings) {
    let (kind, demanded) = (object.text("type").unwrap_or_default(), demanded(object));
    if demanded.is_empty() {
        return;
    }
    for keyword in ["name", "in", "scheme", "bearerFormat", "flows", "openIdConnectUrl"] {
        let belongs = demanded.contains(&keyword) || (keyword == "bearerFormat" && kind == "http");
        if object.has(keyword) && !belongs {
            let message = format!("`{keyword}` does not apply to a security scheme of type `{kind}`.");
            findings
                .add(&INEFFECTIVE, object.key_spot(keyword), message, "Remove it, or correct `type`.")
                .remove();
        }
    }
}

fn schema(object: Object<'_>, composed: &HashSet<Id>, findings: &mut Findings) {
    for (keyword, rule) in
        [("required", &LIST), ("allOf", &LIST), ("oneOf", &LIST), ("anyOf", &LIST), ("enum", &ENUM)]
    {
        list(object, keyword, rule, findings);
    }
    // A part of a composition and its parent schema can have the discriminator (section 4.7.25.1).
    let is_composed = ["oneOf", "anyOf", "allOf"].iter().any(|keyword| object.has(keyword))
        || object.keyword() == "schemas"
        || composed.contains(&object.id);
    // A keyword, whether a required other keyword is missing, that other keyword, and the rule.
    let lacks = [
        ("type", object.text("type") == Some("array") && !object.has("items"), "items", &ARRAY_ITEMS),
        ("exclusiveMinimum", !object.has("minimum"), "minimum", &INEFFECTIVE),
        ("exclusiveMaximum", !object.has("maximum"), "maximum", &INEFFECTIVE),
        ("nullable", object.flag("nullable") && !object.has("type"), "type", &INEFFECTIVE),
        ("discriminator", !is_composed, "oneOf", &CONDITION),
    ];
    for (keyword, _, other, rule) in lacks.iter().filter(|(keyword, lacks, ..)| *lacks && object.has(keyword))
    {
        let what = if rule.name == INEFFECTIVE.name { "has no effect" } else { "is not valid" };
        let message = format!("`{keyword}` of {} {what} without `{other}`.", object.subject());
        findings.add(rule, object.key_spot(keyword), message, format!("Add `{other}`."));
    }
    if object.flag("readOnly") && object.flag("writeOnly") {
        let message = format!("{} has both `readOnly` and `writeOnly`.", object.subject());
        findings.add(&CONDITION, object.key_spot("writeOnly"), message, "Remove one.").remove();
    }
    if let Some(Value::Number(number)) = object.get("multipleOf").map(|node| &node.value)
        && number.as_f64().is_none_or(|number| number <= 0.0)
    {
        let message = format!("`multipleOf` of {} is not greater than 0.", object.subject());
        findings.add(&CONDITION, object.value_spot("multipleOf"), message, "Write a number greater than 0.");
    }
}

/// Checks a list, which must not be empty. The values of `required` and `enum` must be unique.
fn list(object: Object<'_>, keyword: &str, rule: &Rule, findings: &mut Findings) {
    let Some(Value::Sequence(items)) = object.get(keyword).map(|list| &list.value) else { return };
    if items.is_empty() {
        let message = format!("`{keyword}` of {} is empty.", object.subject());
        let fix = format!("Remove `{keyword}`, or add items.");
        let added = findings.add(rule, object.value_spot(keyword), message, fix);
        // An empty `enum` allows nothing; without it, everything is allowed.
        if keyword != "enum" {
            added.remove();
        }
    }
    let mut seen = HashSet::new();
    for (number, item) in items.iter().enumerate() {
        if matches!(keyword, "required" | "enum") && !seen.insert(item.to_json().to_string()) {
            let value = shortened(&text_of(item));
            let message = format!("`{value}` occurs twice in `{keyword}` of {}.", object.subject());
            findings.add(rule, item_spot(object, keyword, number), message, "Remove one.").remove();
        }
    }
}
