//! Paths: spelling and duplicates.

use std::collections::{HashMap, HashSet};

use document::openapi::{self, Kind, Model, Object};
use document::shortened;

use crate::rule::{Findings, rules};

rules! {
    QUERY: Recommended Error "path-not-include-query",
        "Spectral: path-not-include-query; Redocly: path-not-include-query",
        "No path has a query or a fragment.";
    TRAILING_SLASH: Recommended Error "path-keys-no-trailing-slash",
        "Spectral: path-keys-no-trailing-slash; Redocly: no-path-trailing-slash",
        "No path ends in `/` or has an empty segment.";
    DECLARATIONS: Recommended Error "path-declarations-must-exist",
        "Spectral: path-declarations-must-exist; Redocly: path-declaration-must-exist",
        "The braces of a path are balanced, and each pair has a name that occurs once.";
    IDENTICAL: Spec Error "no-identical-paths", "OpenAPI 3.0.3, 4.7.8.1; Redocly: no-identical-paths",
        "No two paths differ only in the names of their parameters.";
    AMBIGUOUS: Recommended Warning "no-ambiguous-paths", "OpenAPI 3.0.3, 4.7.8.2; Redocly: no-ambiguous-paths",
        "No URL matches two paths, unless one of them has fewer parameters at the same segments.";
}

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    let mut templates: HashMap<String, &str> = HashMap::new();
    for paths in model.all(Kind::Paths) {
        for path in paths.parts() {
            let template = path.name();
            spelling(path, template, findings);
            if let Some(other) = templates.insert(openapi::template(template).0, template) {
                let (one, other) = (shortened(template), shortened(other));
                let message =
                    format!("The paths `{one}` and `{other}` differ only in the names of parameters.");
                findings.add(&IDENTICAL, path.spot(), message, "Move the operations into one of them.");
            }
        }
    }
    ambiguous(model, findings);
}

/// The limit of paths with parameters that are compared with each other.
const MAX_COMPARED: usize = 2_000;
/// The limit of segments of these paths.
const MAX_SEGMENTS: usize = 20;

fn ambiguous(model: &Model<'_>, findings: &mut Findings) {
    let paths = model.all(Kind::Paths).flat_map(|paths| paths.parts());
    let split = paths.map(|path| (path, path.name().split('/').collect::<Vec<_>>()));
    // A segment with a parameter and other text matches few literals.
    let is_whole =
        |segment: &&str| !segment.contains('{') || (segment.starts_with('{') && segment.ends_with('}'));
    let is_compared = |(path, segments): &(Object<'_>, Vec<&str>)| {
        segments.len() <= MAX_SEGMENTS && path.name().contains('{') && segments.iter().all(is_whole)
    };
    let templated: Vec<_> = split.filter(is_compared).take(MAX_COMPARED).collect();
    for (number, (path, segments)) in templated.iter().enumerate() {
        let is_ambiguous = |(_, other): &&(Object<'_>, Vec<&str>)| {
            let pairs = || segments.iter().zip(other).filter(|(one, other)| one != other);
            let is_literal = |segment: &str| !segment.contains('{');
            segments.len() == other.len()
                && pairs().all(|(one, other)| !is_literal(one) || !is_literal(other))
                && pairs().any(|(one, _)| is_literal(one))
                && pairs().any(|(_, other)| is_literal(other))
        };
        if let Some((other, _)) = templated[..number].iter().find(is_ambiguous) {
            let (one, other) = (shortened(path.name()), shortened(other.name()));
            let message = format!("A URL can match both paths `{other}` and `{one}`.");
            findings.add(&AMBIGUOUS, path.spot(), message, "Use different literal segments in one of them.");
        }
    }
}

fn spelling(path: Object<'_>, template: &str, findings: &mut Findings) {
    if template.contains(['?', '#']) {
        let message = format!("The path `{}` has a query or a fragment.", shortened(template));
        findings.add(&QUERY, path.spot(), message, "Remove it, and declare `parameters` with `in: query`.");
    }
    if template.len() > 1 && (template.ends_with('/') || template.contains("//")) {
        let message = format!("The path `{}` has an empty segment.", shortened(template));
        findings.add(&TRAILING_SLASH, path.spot(), message, "Remove the superfluous slash.");
    }
    let (_, names) = openapi::template(template);
    let balanced = ['{', '}'].iter().all(|brace| template.matches(*brace).count() == names.len());
    let distinct = names.iter().collect::<HashSet<_>>().len() == names.len();
    let problem = match (balanced, distinct) {
        (false, _) => "a brace without its counterpart",
        (_, false) => "the same parameter twice",
        _ if names.iter().any(|name| name.is_empty() || name.contains('/')) => "a parameter without a name",
        _ => return,
    };
    let message = format!("The path `{}` has {problem}.", shortened(template));
    findings.add(&DECLARATIONS, path.spot(), message, "Write each parameter once, such as `{petId}`.");
}
