//! Examples and defaults that do not match their schema.
//!
//! An example that would take too long is not validated, but reported.

mod validator;

use document::Node;
use document::openapi::{Kind, Model, Object, Step, head, is_json};
use document::place::Spot;
use document::shortened;

use self::validator::{Excluded, Mismatch, Validator};
use super::rules::schemas::has_type;
use crate::lint::examples_of;
use crate::rule::{Findings, Rule, rules};
use crate::subschema::Budget;

rules! {
    MEDIA: Recommended Error "no-invalid-media-type-examples",
        "OpenAPI 3.0.3, 4.7.14.1; Spectral: oas3-valid-media-example; Redocly: \
         no-invalid-media-type-examples",
        "The examples of a request or response body match its schema.";
    PARAMETER: Recommended Error "no-invalid-parameter-examples",
        "OpenAPI 3.0.3, 4.7.12.2; Redocly: no-invalid-parameter-examples",
        "The examples of a parameter match its schema.";
    HEADER: Recommended Error "no-invalid-header-examples", "OpenAPI 3.0.3, 4.7.21",
        "The examples of a header match its schema.";
    SCHEMA: Recommended Error "no-invalid-schema-examples",
        "Spectral: oas3-valid-schema-example; Redocly: no-invalid-schema-examples",
        "The `example` of a schema matches the schema.";
    DEFAULT: Recommended Error "no-invalid-defaults", "OpenAPI 3.0.3, 4.7.24.1",
        "The `default` of a schema matches the schema.";
    COSTLY: Strict Error "example-validation-limit", "this tool",
        "Examples can be validated within the limits of this tool for time and memory.";
}

/// A value that should match a schema.
struct Sample<'a> {
    rule: &'static Rule,
    /// The object and the keyword that hold the value.
    owner: Object<'a>,
    keyword: &'static str,
    value: &'a Node,
    schema: Object<'a>,
    excluded: Excluded,
}

impl Sample<'_> {
    fn spot(&self, pointer: &str) -> Spot {
        let node = self.value.pointer(pointer).unwrap_or(self.value);
        let mut spot = self.owner.spot_at(&[Step::Key(self.keyword)], head(node));
        spot.pointer.push_str(pointer);
        spot
    }
}

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    let budget = Budget::of(model.len());
    let mut validator = Validator::new(budget.clone());
    for sample in samples_of(model) {
        let value = sample.value.to_json();
        let Some(mismatches) = validator.mismatches(sample.schema, sample.excluded, &value) else {
            let schema = sample.schema.subject();
            let rest = if budget.is_exhausted() { ", and neither were the values after it" } else { "" };
            let message =
                format!("The value was not checked against {schema}: that takes too many steps{rest}.");
            let fix = "Compose the schemas less deeply, or shorten the value.";
            findings.add(&COSTLY, sample.spot(""), message, fix);
            if budget.is_exhausted() {
                return;
            }
            continue;
        };
        for Mismatch { pointer, message, fix } in mismatches {
            let word = if sample.keyword == "default" { "default" } else { "example" };
            let whole = sample.owner.subject();
            let subject = match pointer.rsplit_once('/') {
                Some((_, name)) => format!("`{}` in the {word} of {whole}", shortened(name)),
                None => format!("The {word} of {whole}"),
            };
            findings.add(sample.rule, sample.spot(&pointer), format!("{subject} {message}."), fix);
        }
    }
}

/// All values that should match a schema.
fn samples_of<'a>(model: &'a Model<'a>) -> impl Iterator<Item = Sample<'a>> {
    let split = model.all(Kind::Schema).any(|schema| schema.flag("readOnly") || schema.flag("writeOnly"));
    model.everything().filter(|object| !object.is_reference()).flat_map(move |object| {
        let (rule, schema) = match object.kind() {
            Kind::MediaType => (&MEDIA, object.child("schema")),
            Kind::Parameter => (&PARAMETER, object.child("schema")),
            Kind::Header => (&HEADER, object.child("schema")),
            Kind::Schema => (&SCHEMA, Some(object)),
            _ => return Vec::new(),
        };
        let Some(schema) = schema.and_then(|schema| schema.resolved()) else { return Vec::new() };
        // `default-type` reports a default of another type.
        let default = object.get("default").filter(|value| schema == object && has_type(schema, value));
        let default = default.map(|value| (&DEFAULT, object, "default", value));
        // The text of XML, CSV or a form is not the value.
        let is_text = object.kind() == Kind::MediaType && !is_json(object.name());
        let is_value = |(.., value): &(_, _, &Node)| !(is_text && value.as_str().is_some());
        let examples = examples_of(object).filter(is_value);
        let examples = examples.map(|(owner, keyword, value)| (rule, owner, keyword, value));
        let excluded = object.ancestors().find_map(|object| match object.kind() {
            Kind::RequestBody | Kind::Parameter => Some("readOnly"),
            Kind::Response => Some("writeOnly"),
            _ => None,
        });
        let excluded = excluded.filter(|_| split && schema != object);
        let sample = |(rule, owner, keyword, value)| Sample { rule, owner, keyword, value, schema, excluded };
        examples.chain(default).map(sample).collect()
    })
}
