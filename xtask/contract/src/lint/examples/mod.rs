//! Examples and defaults that do not match their schema.
//!
//! The schemas are converted to JSON Schema, and one validator is built for all examples of a document, so
//! that each schema is compiled once. Errors of the validator are mapped back to the line within the example.
//!
//! Before that, [`cost`] estimates the work: a few lines of schemas that reference each other twice can take
//! exponential time. Examples above the limit are not validated, and a finding says so.

mod convert;
mod cost;

use crate::document::{Node, pointer};
use jsonschema::{Draft, ValidationError, error::ValidationErrorKind};
use serde_json::{Value, json};

use self::convert::{Converter, Direction};
use super::rules::patterns;
use crate::finding::{Spot, shortened as shown};
use crate::openapi::{Id, Kind, Model, Object, Step, head};
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

/// The stack of the validator, which recurses along chains of schemas.
const STACK: usize = 512 << 20;

/// A value that should match a schema.
struct Sample<'a> {
    rule: &'static Rule,
    /// The object and the keyword that hold the value.
    owner: Object<'a>,
    keyword: &'static str,
    value: &'a Node,
    /// Not a reference.
    schema: Id,
    direction: Direction,
}

impl Sample<'_> {
    fn spot(&self, pointer: &str, node: &Node) -> Spot {
        let mut spot = self.owner.spot_at(&[Step::Key(self.keyword)], head(node));
        spot.pointer.push_str(pointer);
        spot
    }
}

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    let mut walk = cost::Walk::new(model);
    let mut samples = Vec::new();
    for sample in samples_of(model) {
        if walk.affords(sample.schema, sample.value) {
            samples.push(sample);
            continue;
        }
        let schema = model.object(sample.schema).subject();
        let message = format!("Validating this against {schema} would take too long.");
        let fix = "Compose the schemas less deeply, or shorten the example.";
        findings.add(&COSTLY, sample.spot("", sample.value), message, fix);
        if walk.is_exhausted() {
            break;
        }
    }
    if let Some((first, length)) = walk.longest_chain().filter(|(_, length)| *length > cost::LONGEST_CHAIN) {
        let message = format!("A chain of {length} schemas begins here; examples are not validated.");
        let fix = format!("Make it shorter than {}.", cost::LONGEST_CHAIN);
        findings.add(&COSTLY, model.object(first).spot(), message, fix);
        return;
    }
    let problems = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        let work = thread.spawn_scoped(scope, || validate(model, &walk, &samples));
        let work = work.map_err(|error| error.to_string())?;
        work.join().map_err(|_| "the validator failed".to_owned())?
    });
    match problems {
        Ok(problems) => {
            problems
                .into_iter()
                .for_each(|(rule, spot, message, fix)| findings.add(rule, spot, message, fix));
        }
        Err(reason) => {
            let message = format!("The examples could not be validated: {}.", shown(&reason));
            findings.add(&COSTLY, model.root().spot(), message, "Correct the schemas first.");
        }
    }
}

/// All values that should match a schema.
fn samples_of<'a>(model: &'a Model<'a>) -> impl Iterator<Item = Sample<'a>> {
    let split = model.all(Kind::Schema).any(|schema| schema.flag("readOnly") || schema.flag("writeOnly"));
    model.everything().filter(|object| !object.is_reference()).flat_map(move |owner| {
        let mut samples = Vec::new();
        let mut add = |rule, owner: Object<'a>, keyword, schema: Object<'a>, direction| {
            let sample = |value| Sample { rule, owner, keyword, value, schema: schema.id, direction };
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

/// The rule that a sample breaks, the place, the message and the fix.
type Problem = (&'static Rule, Spot, String, &'static str);

fn validate<'a>(
    model: &'a Model<'a>,
    walk: &cost::Walk<'a>,
    samples: &[Sample<'a>],
) -> Result<Vec<Problem>, String> {
    let mut converter = Converter::new(model, walk);
    let items: Vec<Value> =
        samples.iter().map(|sample| converter.reference(sample.schema, sample.direction)).collect();
    if items.is_empty() {
        return Ok(Vec::new());
    }
    let schema = json!({ "items": items, "definitions": converter.definitions() });
    let validator = patterns::validator()
        .with_draft(Draft::Draft201909)
        .with_format("byte", convert::is_base64)
        .should_validate_formats(true)
        .build(&schema)
        .map_err(|error| error.to_string())?;
    let values: Value = samples.iter().map(|sample| sample.value.to_json()).collect();
    let mut problems = Vec::new();
    for error in validator.iter_errors(&values) {
        let path = error.instance_path().as_str();
        let path = path.strip_prefix('/').unwrap_or(path);
        let (number, pointer) = path.split_at(path.find('/').unwrap_or(path.len()));
        let Some(sample) = number.parse().ok().and_then(|number: usize| samples.get(number)) else {
            continue;
        };
        let Some(node) = sample.value.pointer(pointer) else { continue };
        let word = if sample.keyword == "default" { "default" } else { "example" };
        let whole = sample.owner.subject();
        let subject = match pointer.rsplit_once('/') {
            Some((_, name)) => format!("`{}` in the {word} of {whole}", shown(name)),
            None => format!("The {word} of {whole}"),
        };
        for (key, message, fix) in described(&error) {
            let (mut pointer, mut node) = (pointer.to_owned(), node);
            if let Some((key, value)) = key.and_then(|key| Some((key, node.get(key)?))) {
                pointer::push(&mut pointer, key);
                node = value;
            }
            let spot = sample.spot(&pointer, node);
            problems.push((sample.rule, spot, format!("{subject} {message}."), fix));
        }
    }
    Ok(problems)
}

/// Describes an error of the validator: the key below its place, if any, then the message and the fix.
fn described<'e>(error: &'e ValidationError<'_>) -> Vec<(Option<&'e str>, String, &'static str)> {
    let message = match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let each = |key: &'e String| {
                let message = format!("has `{}`, which its schema does not allow", shown(key));
                (Some(key.as_str()), message, "Remove it, or add it to the schema.")
            };
            return unexpected.iter().map(each).collect();
        }
        ValidationErrorKind::Required { property } => {
            let property = property.as_str().unwrap_or_default();
            return vec![(None, format!("has no `{}`, which is required", shown(property)), "Add it.")];
        }
        ValidationErrorKind::FalseSchema => {
            "is `readOnly` in a request, or `writeOnly` in a response".to_owned()
        }
        _ => format!("does not match its schema: {}", shown(&error.masked().to_string())),
    };
    vec![(None, message, "Correct the example or the schema.")]
}
