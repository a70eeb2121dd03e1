//! Examples and defaults that do not match their schema.
//!
//! Examples that would take too long are not validated, and a finding says so.

mod assertions;
mod validator;

use self::assertions::Direction;
use self::validator::{Mismatch, Validator};
use crate::document::Node;
use crate::finding::{Spot, shortened as shown};
use crate::openapi::{Kind, Model, Object, Step, head};
use crate::rule::{Findings, Rule, rules};

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
    direction: Direction,
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
    let mut validator = Validator::new();
    for sample in samples_of(model) {
        let value = sample.value.to_json();
        let Some(mismatches) = validator.mismatches(sample.schema, sample.direction, &value) else {
            let message = format!("Validating this against {} would take too long.", sample.schema.subject());
            let fix = "Compose the schemas less deeply, or shorten the example.";
            findings.add(&COSTLY, sample.spot(""), message, fix);
            if validator.is_exhausted() {
                return;
            }
            continue;
        };
        for Mismatch { pointer, message, fix } in mismatches {
            let word = if sample.keyword == "default" { "default" } else { "example" };
            let whole = sample.owner.subject();
            let subject = match pointer.rsplit_once('/') {
                Some((_, name)) => format!("`{}` in the {word} of {whole}", shown(name)),
                None => format!("The {word} of {whole}"),
            };
            findings.add(sample.rule, sample.spot(&pointer), format!("{subject} {message}."), fix);
        }
    }
}

/// All values that should match a schema.
fn samples_of<'a>(model: &'a Model<'a>) -> impl Iterator<Item = Sample<'a>> {
    let split = model.all(Kind::Schema).any(|schema| schema.flag("readOnly") || schema.flag("writeOnly"));
    model.everything().filter(|object| !object.is_reference()).flat_map(move |owner| {
        let mut samples = Vec::new();
        let mut add = |rule, owner: Object<'a>, keyword, schema: Object<'a>, direction| {
            let sample = |value| Sample { rule, owner, keyword, value, schema, direction };
            samples.extend(owner.get(keyword).map(sample));
        };
        let rule = match owner.kind() {
            Kind::MediaType => &MEDIA,
            Kind::Parameter => &PARAMETER,
            Kind::Header => &HEADER,
            Kind::Schema => {
                add(&SCHEMA, owner, "example", owner, Direction::Either);
                add(&DEFAULT, owner, "default", owner, Direction::Either);
                return samples;
            }
            _ => return samples,
        };
        if let Some(schema) = owner.child("schema").and_then(|schema| schema.resolved()) {
            let direction = if split { Direction::of(owner) } else { Direction::Either };
            add(rule, owner, "example", schema, direction);
            for example in owner.resolved_children("examples") {
                add(rule, example, "value", schema, direction);
            }
        }
        samples
    })
}
