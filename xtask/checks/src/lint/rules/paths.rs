//! Paths: spelling, duplicates, and paths that dropshot cannot route.

use std::collections::{HashMap, HashSet};

use document::finding::shortened;
use document::openapi::{Kind, Model, Object};
use document::rule::{Findings, rules};

use super::servers::names;

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
    ROUTABLE: Strict Error "routable-paths", "dropshot; Redocly: no-ambiguous-paths reports fewer",
        "After a common prefix, paths continue with literals or with one parameter that is a whole segment, so \
         that dropshot can route them.";
}

/// The prefixes of all paths.
#[derive(Default)]
struct Prefixes<'a> {
    /// The number of the longer prefix, by a prefix and the segment after it.
    longer: HashMap<(usize, &'a str), usize>,
    /// The first segment that was found after each prefix.
    first: HashMap<usize, &'a str>,
}

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    let mut templates: HashMap<String, &str> = HashMap::new();
    let mut prefixes = Prefixes::default();
    for paths in model.all(Kind::Paths) {
        for path in paths.parts() {
            let template = path.name();
            let is_routable = spelling(path, template, findings);
            if let Some(other) = templates.insert(anonymous(template), template) {
                let message =
                    format!("`{}` and `{}` are the same path.", shortened(template), shortened(other));
                findings.add(&IDENTICAL, path.spot(), message, "Move the operations into one of them.");
            } else if is_routable {
                route(path, &mut prefixes, findings);
            }
        }
    }
}

/// A path without the names of its parameters.
fn anonymous(template: &str) -> String {
    let mut parts = template.split('{');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |path, part| path + "{}" + part.split_once('}').map_or(part, |(_, rest)| rest))
}

/// Checks the spelling of a path. Returns whether dropshot supports all its segments.
fn spelling(path: Object<'_>, template: &str, findings: &mut Findings) -> bool {
    if template.contains(['?', '#']) {
        let message = format!("The path `{}` has a query or a fragment.", shortened(template));
        findings.add(&QUERY, path.spot(), message, "Remove it, and declare `parameters` with `in: query`.");
    }
    if template.len() > 1 && (template.ends_with('/') || template.contains("//")) {
        let message = format!("The path `{}` has an empty segment.", shortened(template));
        findings
            .add(&TRAILING_SLASH, path.spot(), message, "Remove the superfluous slash.")
            .rename(&single_slashes(template));
    }
    let names: Vec<&str> = names(template).collect();
    let balanced = ['{', '}'].iter().all(|brace| template.matches(*brace).count() == names.len());
    let distinct = names.iter().collect::<HashSet<_>>().len() == names.len();
    if !balanced || !distinct || names.iter().any(|name| name.is_empty() || name.contains('/')) {
        let message =
            format!("The braces of the path `{}` are not distinct parameters.", shortened(template));
        findings.add(&DECLARATIONS, path.spot(), message, "Write each parameter once, such as `{petId}`.");
        return false;
    }
    let partial = |segment: &&str| segment.contains('{') && parameter(segment).is_none();
    if let Some(segment) = template.split('/').find(partial) {
        let message =
            format!("The parameter in the segment `{}` is not a whole segment.", shortened(segment));
        findings.add(&ROUTABLE, path.spot(), message, "Make it a segment of its own, such as `/{petId}`.");
        return false;
    }
    true
}

fn route<'a>(path: Object<'a>, prefixes: &mut Prefixes<'a>, findings: &mut Findings) {
    let template = path.name();
    let mut prefix = 0;
    for segment in template.split('/').skip(1) {
        let other = *prefixes.first.entry(prefix).or_insert(segment);
        if other != segment && (parameter(segment).is_some() || parameter(other).is_some()) {
            let (path_shown, here, other) = (shortened(template), shortened(segment), shortened(other));
            let message = format!("The path `{path_shown}` has `{here}` where another one has `{other}`.");
            findings.add(&ROUTABLE, path.spot(), message, "Add a literal segment before one of them.");
            return;
        }
        let next = prefixes.longer.len() + 1;
        prefix = *prefixes.longer.entry((prefix, segment)).or_insert(next);
    }
}

fn parameter(segment: &str) -> Option<&str> {
    segment.strip_prefix('{')?.strip_suffix('}').filter(|name| !name.contains('{'))
}

/// Returns a path without empty segments.
fn single_slashes(template: &str) -> String {
    template.split('/').filter(|segment| !segment.is_empty()).map(|segment| format!("/{segment}")).collect()
}
