//! Examples and defaults that do not match their schema.
//!
//! The schemas are converted to JSON Schema, and one validator is built for all examples of a document, so
//! that each schema is compiled once. Errors of the validator are mapped back to the line within the example.
//!
//! Before that, [`cost`] estimates the work: a few lines of schemas that reference each other twice can take
//! exponential time. Examples above the limit are not validated, and a finding says so.

mod convert;
mod cost;

use crate::document::Node;
use jsonschema::{Draft, ValidationError, error::ValidationErrorKind};
use serde_json::{Value, json};

use self::convert::{Converter, Direction};
use super::rules::patterns;
use crate::finding::Spot;
use crate::finding::shortened as shown;
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
        match walk.affordable(sample.schema, sample.value) {
            Ok(()) => samples.push(sample),
            Err(stop) => {
                let schema = model.object(sample.schema).subject();
                let message = format!("Validating this against {schema} would take too long.");
                let fix = "Compose the schemas less deeply, or shorten the example.";
                findings.add(&COSTLY, sample.spot("", sample.value), message, fix);
                if stop == cost::TooMuch::Altogether {
                    break;
                }
            }
        }
    }
    if let Some(deep) = walk.deepest_chain().filter(|chain| chain.length > cost::LONGEST_CHAIN) {
        let message = format!(
            "A chain of {} schemas that reference each other begins here; examples are not validated.",
            deep.length
        );
        let fix = format!("Make it shorter than {}.", cost::LONGEST_CHAIN);
        findings.add(&COSTLY, model.object(deep.first).spot(), message, fix);
        return;
    }
    let problems = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        let work = thread.spawn_scoped(scope, || validate(model, &walk, &samples));
        let problems = work.map(std::thread::ScopedJoinHandle::join);
        problems.unwrap_or_else(|error| Ok(Err(error.to_string())))
    });
    match problems {
        Ok(Ok(problems)) => {
            for problem in problems {
                let spot = problem.sample.spot(&problem.pointer, problem.node);
                findings.add(problem.sample.rule, spot, problem.message, problem.fix);
            }
        }
        Ok(Err(reason)) => unchecked(model, &reason, findings),
        Err(_) => unchecked(model, "the validator failed", findings),
    }
}

fn unchecked(model: &Model<'_>, reason: &str, findings: &mut Findings) {
    let message = format!("The examples could not be validated: {}.", shown(reason));
    findings.add(&COSTLY, model.root().spot(), message, "Correct the schemas first.");
}

/// All values that should match a schema.
fn samples_of<'a>(model: &'a Model<'a>) -> impl Iterator<Item = Sample<'a>> {
    let split = model.all(Kind::Schema).any(|schema| schema.flag("readOnly") || schema.flag("writeOnly"));
    model.everything().filter(|object| !object.is_reference()).flat_map(move |owner| {
        let direction = if split { Direction::of(owner) } else { Direction::Either };
        let mut samples = Vec::new();
        if owner.kind() == Kind::Schema {
            for (keyword, rule) in [("example", &SCHEMA), ("default", &DEFAULT)] {
                let value = owner.get(keyword);
                let schema = owner.id;
                samples.extend(value.map(|value| Sample {
                    rule,
                    owner,
                    keyword,
                    value,
                    schema,
                    direction: Direction::Either,
                }));
            }
            return samples;
        }
        let rule = match owner.kind() {
            Kind::MediaType => &MEDIA,
            Kind::Parameter => &PARAMETER,
            Kind::Header => &HEADER,
            _ => return samples,
        };
        let Some(schema) = owner.child("schema").and_then(|schema| schema.resolved()) else { return samples };
        let schema = schema.id;
        let keyword = "example";
        samples.extend(owner.get(keyword).map(|value| Sample {
            rule,
            owner,
            keyword,
            value,
            schema,
            direction,
        }));
        for example in owner.resolved_children("examples") {
            let value = example.get("value");
            samples.extend(value.map(|value| Sample {
                rule,
                owner: example,
                keyword: "value",
                value,
                schema,
                direction,
            }));
        }
        samples
    })
}

/// An error in a sample, with its place.
struct Problem<'s, 'a> {
    sample: &'s Sample<'a>,
    pointer: String,
    node: &'a Node,
    message: String,
    fix: &'static str,
}

fn validate<'s, 'a>(
    model: &'a Model<'a>,
    walk: &cost::Walk<'a>,
    samples: &'s [Sample<'a>],
) -> Result<Vec<Problem<'s, 'a>>, String> {
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
        let whole = sample.owner.subject();
        let subject = match pointer.rsplit('/').next().filter(|_| !pointer.is_empty()) {
            Some(name) => format!("`{}` in the {} of {whole}", shown(name), sample.word()),
            None => format!("The {} of {whole}", sample.word()),
        };
        for (key, message, fix) in described(&error) {
            let (pointer, node) = match key.as_deref().and_then(|key| Some((key, node.get(key)?))) {
                Some((key, node)) => {
                    (format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1")), node)
                }
                None => (pointer.to_owned(), node),
            };
            problems.push(Problem { sample, pointer, node, message: format!("{subject} {message}."), fix });
        }
    }
    Ok(problems)
}

impl Sample<'_> {
    fn word(&self) -> &'static str {
        if self.keyword == "default" { "default" } else { "example" }
    }
}

const VALUE: &str = "Correct the example or the schema.";

/// Describes an error of the validator: the key below its place, if any, then the message and the fix.
fn described(error: &ValidationError<'_>) -> Vec<(Option<String>, String, &'static str)> {
    let message = match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let each = |key: &String| {
                let message = format!("has `{}`, which its schema does not allow", shown(key));
                (Some(key.clone()), message, "Remove it, or add it to the schema.")
            };
            return unexpected.iter().map(each).collect();
        }
        ValidationErrorKind::Required { property } => {
            let property = property.as_str().unwrap_or_default();
            return vec![(None, format!("has no `{}`, which is required", shown(property)), "Add it.")];
        }
        ValidationErrorKind::Type { .. } => {
            format!("has the wrong type: {}", shown(&error.to_string()))
        }
        ValidationErrorKind::Enum { options } => format!("is not one of {}", shown(&options.to_string())),
        ValidationErrorKind::Minimum { limit } => format!("is less than {limit}"),
        ValidationErrorKind::Maximum { limit } => format!("is greater than {limit}"),
        ValidationErrorKind::ExclusiveMinimum { limit } => format!("is not greater than {limit}"),
        ValidationErrorKind::ExclusiveMaximum { limit } => format!("is not less than {limit}"),
        ValidationErrorKind::MinLength { limit } => format!("is shorter than {limit} characters"),
        ValidationErrorKind::MaxLength { limit } => format!("is longer than {limit} characters"),
        ValidationErrorKind::MinItems { limit } => format!("has fewer than {limit} items"),
        ValidationErrorKind::MaxItems { limit } => format!("has more than {limit} items"),
        ValidationErrorKind::UniqueItems => "has duplicate items".to_owned(),
        ValidationErrorKind::Pattern { pattern } => format!("does not match `{}`", shown(pattern)),
        ValidationErrorKind::Format { format } => format!("is not a valid `{}`", shown(format)),
        ValidationErrorKind::AnyOf { .. } => "matches none of `anyOf`".to_owned(),
        ValidationErrorKind::OneOfNotValid { .. } => "matches none of `oneOf`".to_owned(),
        ValidationErrorKind::OneOfMultipleValid { .. } => "matches more than one of `oneOf`".to_owned(),
        ValidationErrorKind::FalseSchema => {
            "is not allowed here: `readOnly` properties are not in requests, `writeOnly` ones not in responses".to_owned()
        }
        _ => format!("does not match `{}` of its schema", error.kind().keyword()),
    };
    vec![(None, message, VALUE)]
}
