//! What the keywords of one object demand of each other.

use crate::document::{Node, Value};

use crate::finding::Severity;
use crate::finding::shortened as shown;
use crate::openapi::Kind;
use crate::openapi::Step;
use crate::openapi::{Model, Object};
use crate::rule::{Findings, Rule};

const VERSION: Rule = Rule::spec(
    "oas3-version",
    "OpenAPI 3.0.3",
    "`openapi` is a version 3.0, since this linter knows no other.",
);
const CONDITION: Rule = Rule::spec(
    "struct-condition",
    "OpenAPI 3.0.3",
    "Keywords that demand, exclude or limit each other are used that way.",
);
const ARRAY_ITEMS: Rule = Rule::recommended(
    "array-items",
    Severity::Error,
    "Spectral",
    "A schema of type `array` says what its `items` are.",
);
const EXAMPLE_VALUE: Rule = Rule::recommended(
    "oas3-examples-value-or-externalValue",
    Severity::Error,
    "Spectral",
    "An Example Object has one of `value` and `externalValue`.",
);
const UNIQUE: Rule = Rule::spec(
    "struct-unique",
    "OpenAPI 3.0.3",
    "Lists that stand for sets hold nothing twice, and something.",
);

pub(crate) const RULES: &[&Rule] = &[&VERSION, &CONDITION, &ARRAY_ITEMS, &EXAMPLE_VALUE, &UNIQUE];

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    for object in model.everything().filter(|object| !object.is_reference()) {
        if findings.is_full() {
            return;
        }
        match object.kind() {
            Kind::OpenApi => version(object, findings),
            Kind::Parameter => {
                described(object, findings);
                parameter(object, findings);
            }
            Kind::Header => described(object, findings),
            Kind::MediaType => one_of(object, &["example", "examples"], false, &CONDITION, findings),
            Kind::Example => one_of(object, &["value", "externalValue"], true, &EXAMPLE_VALUE, findings),
            Kind::Link => one_of(object, &["operationRef", "operationId"], true, &CONDITION, findings),
            Kind::SecurityScheme => security_scheme(object, findings),
            Kind::OAuthFlow => flow(object, findings),
            Kind::Schema => schema(object, findings),
            Kind::ServerVariable => set(object, "enum", findings),
            Kind::Operation => set(object, "tags", findings),
            _ => {}
        }
    }
}

fn version(object: Object<'_>, findings: &mut Findings) {
    let Some(version) = object.text("openapi") else { return };
    let patch = version.strip_prefix("3.0.").unwrap_or_default();
    if patch.is_empty() || !patch.bytes().all(|byte| byte.is_ascii_digit()) {
        let message = format!("`{}` is not a version of OpenAPI 3.0.", shown(version));
        findings.add(&VERSION, object.value_spot("openapi"), message, "Write `openapi: 3.0.3`.");
    }
}

/// What Parameter and Header Objects have in common: a schema or a content.
fn described(object: Object<'_>, findings: &mut Findings) {
    one_of(object, &["schema", "content"], true, &CONDITION, findings);
    one_of(object, &["example", "examples"], false, &CONDITION, findings);
    if let Some(Value::Mapping(content)) = object.get("content").map(|content| &content.value)
        && content.entries().len() != 1
    {
        let message =
            format!("`content` of {} has {} media types.", object.subject(), content.entries().len());
        findings.add(&CONDITION, object.key_spot("content"), message, "Name exactly one.");
    }
    for keyword in ["style", "explode", "allowReserved", "example", "examples"] {
        if object.has("content") && object.has(keyword) {
            let message = format!("`{keyword}` stands beside `content`, which it does not belong to.");
            findings.add(
                &CONDITION,
                object.key_spot(keyword),
                message,
                "Move it into the media type, or take it out.",
            );
        }
    }
}

/// Which styles a location has (section 4.7.12.3).
const STYLES: &[(&str, &[&str])] = &[
    ("path", &["matrix", "label", "simple"]),
    ("query", &["form", "spaceDelimited", "pipeDelimited", "deepObject"]),
    ("header", &["simple"]),
    ("cookie", &["form"]),
];

fn parameter(object: Object<'_>, findings: &mut Findings) {
    let Some((place, styles)) = STYLES.iter().find(|(place, _)| object.text("in") == Some(place)) else {
        return;
    };
    if *place != "query" {
        for keyword in ["allowReserved", "allowEmptyValue"].into_iter().filter(|keyword| object.has(keyword))
        {
            let message = format!("`{keyword}` has a meaning only in the query.");
            findings.add(&CONDITION, object.key_spot(keyword), message, "Take it out.");
        }
    }
    if let Some(style) = object.text("style").filter(|style| !styles.contains(style)) {
        let message = format!("A parameter in `{place}` cannot have the style `{}`.", shown(style));
        let fix = format!("Use `{}`.", styles.join("`, `"));
        findings.add(&CONDITION, object.value_spot("style"), message, fix);
    }
}

fn security_scheme(object: Object<'_>, findings: &mut Findings) {
    let demanded: &[&str] = match object.text("type") {
        Some("apiKey") => &["name", "in"],
        Some("http") => &["scheme"],
        Some("oauth2") => &["flows"],
        Some("openIdConnect") => &["openIdConnectUrl"],
        _ => return,
    };
    let kind = object.text("type").unwrap_or_default();
    demands(object, &format!("of type `{kind}`"), demanded, findings);
    for keyword in ["name", "in", "scheme", "bearerFormat", "flows", "openIdConnectUrl"] {
        let belongs = demanded.contains(&keyword) || (keyword == "bearerFormat" && kind == "http");
        if object.has(keyword) && !belongs {
            let message = format!("`{keyword}` does not belong to a security scheme of type `{kind}`.");
            findings.add(&CONDITION, object.key_spot(keyword), message, "Take it out, or correct `type`.");
        }
    }
}

fn flow(object: Object<'_>, findings: &mut Findings) {
    let demanded: &[&str] = match object.name() {
        "implicit" => &["authorizationUrl"],
        "authorizationCode" => &["authorizationUrl", "tokenUrl"],
        _ => &["tokenUrl"],
    };
    demands(object, "of this kind", demanded, findings);
}

fn demands(object: Object<'_>, which: &str, demanded: &[&str], findings: &mut Findings) {
    for keyword in demanded.iter().filter(|keyword| !object.has(keyword)) {
        let message = format!("{} {which} has no `{keyword}`.", object.subject());
        findings.add(&CONDITION, object.spot(), message, format!("Add `{keyword}`."));
    }
}

fn schema(object: Object<'_>, findings: &mut Findings) {
    if object.text("type") == Some("array") && !object.has("items") {
        let message = format!("{} is an array of nothing in particular.", object.subject());
        findings.add(&ARRAY_ITEMS, object.value_spot("type"), message, "Add `items` with a schema.");
    }
    for keyword in ["enum", "required", "allOf", "oneOf", "anyOf"] {
        set(object, keyword, findings);
    }
    for (keyword, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        if object.has(keyword) && !object.has(bound) {
            let message = format!("`{keyword}` says something about a `{bound}` that is not there.");
            findings.add(&CONDITION, object.key_spot(keyword), message, format!("Add `{bound}`."));
        }
    }
    if object.flag("readOnly") && object.flag("writeOnly") {
        let message = format!("{} can neither be sent nor answered.", object.subject());
        findings.add(
            &CONDITION,
            object.key_spot("writeOnly"),
            message,
            "Take out `readOnly` or `writeOnly`.",
        );
    }
    if object.flag("nullable") && !object.has("type") {
        let message = format!("`nullable` of {} has no effect without `type`.", object.subject());
        findings.add(
            &CONDITION,
            object.key_spot("nullable"),
            message,
            "Add the `type` beside it (section 4.7.24.1).",
        );
    }
    if object.has("discriminator") && !["oneOf", "anyOf", "allOf"].iter().any(|keyword| object.has(keyword)) {
        let named = object.keyword() == "schemas";
        if !named {
            let message = format!("`discriminator` of {} has nothing to choose from.", object.subject());
            findings.add(&CONDITION, object.key_spot("discriminator"), message, "Add `oneOf` or `anyOf`.");
        }
    }
    if let Some(Value::Number(number)) = object.get("multipleOf").map(|node| &node.value)
        && number.as_f64().is_none_or(|number| number <= 0.0)
    {
        let message = format!("`multipleOf` of {} is not above 0.", object.subject());
        findings.add(&CONDITION, object.value_spot("multipleOf"), message, "Write a number above 0.");
    }
}

/// A list that must hold something, and each thing once.
fn set(object: Object<'_>, keyword: &str, findings: &mut Findings) {
    let Some(Value::Sequence(items)) = object.get(keyword).map(|list| &list.value) else { return };
    if items.is_empty() {
        let message = format!("`{keyword}` of {} is empty.", object.subject());
        findings.add(
            &UNIQUE,
            object.value_spot(keyword),
            message,
            format!("Take `{keyword}` out, or fill it."),
        );
    }
    // Spectral and Redocly have a name of their own for a repeated value of `enum`.
    if matches!(keyword, "enum" | "allOf" | "oneOf" | "anyOf") && object.kind() == Kind::Schema {
        return;
    }
    let mut seen = std::collections::HashSet::new();
    for (number, item) in items.iter().enumerate() {
        if let Some(text) = item.as_str().filter(|text| !seen.insert(*text)) {
            let message = format!("`{}` is in `{keyword}` of {} twice.", shown(text), object.subject());
            let steps = [Step::Key(keyword), Step::Item(number)];
            findings.add(&UNIQUE, object.spot_at(&steps, item.span), message, "Take one out.");
        }
    }
}

/// Of keywords that exclude each other there is one, or at most one.
fn one_of(object: Object<'_>, keywords: &[&str; 2], demanded: bool, rule: &Rule, findings: &mut Findings) {
    let [one, other] = keywords;
    let both: Option<(&Node, &Node)> = object.get(one).zip(object.get(other));
    if both.is_some() {
        let message = format!("{} has both `{one}` and `{other}`.", object.subject());
        findings.add(rule, object.key_spot(other), message, "Take one out.");
    } else if demanded && !object.has(one) && !object.has(other) {
        let message = format!("{} has neither `{one}` nor `{other}`.", object.subject());
        findings.add(rule, object.spot(), message, format!("Add `{one}`."));
    }
}
