//! What progenitor 0.15 cannot generate a client from.
//!
//! It panics or fails on documents that are perfectly good OpenAPI, and says neither where nor why. Each
//! rule here refuses one such construct, with both. That progenitor really fails on it, and on nothing in
//! the document as it is, is a test of the root package, `tests/generator`, over the fixtures of these rules.

mod bodies;
mod parameters;
mod references;
mod responses;
mod schemas;

use crate::openapi::Model;
use crate::rule::{Findings, Rule};

pub(crate) const RULES: &[&Rule] = &[
    &responses::SUCCESS,
    &responses::ERROR,
    &responses::SCHEMA,
    &bodies::ONE,
    &bodies::MEDIA_TYPE,
    &bodies::ENCODING,
    &parameters::STYLE,
    &parameters::CONTENT,
    &parameters::NAMES,
    &parameters::OBJECT,
    &references::REFERENCES,
    &schemas::TYPE,
    &schemas::NOT,
    &schemas::ENUM,
    &schemas::COMPOSITION,
    &responses::UPGRADE,
];

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    responses::check(model, findings);
    bodies::check(model, findings);
    parameters::check(model, findings);
    references::check(model, findings);
    schemas::check(model, findings);
}
