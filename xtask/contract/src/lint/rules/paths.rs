//! Paths: their spelling, and that each request matches one of them at most.

use std::collections::{HashMap, HashSet};

use super::servers::names;
use crate::finding::shortened as shown;
use crate::openapi::{Kind, Model, Object};
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
    ROUTABLE: Strict Error "routable-paths", "dropshot; Redocly: no-ambiguous-paths reports fewer",
        "After a common prefix, paths continue with literals or with one parameter that is a whole segment, so \
         that dropshot can route them.";
}

/// The segments that follow a common prefix.
#[derive(Default)]
struct Fork<'a> {
    words: HashMap<&'a str, usize>,
    first_word: Option<&'a str>,
    /// The name of the parameter, and the fork behind it.
    parameter: Option<(&'a str, usize)>,
}

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    let mut templates: HashMap<String, &str> = HashMap::new();
    let mut forks = vec![Fork::default()];
    for paths in model.all(Kind::Paths) {
        for path in paths.parts() {
            let template = path.name();
            if !spelling(path, template, findings) {
                continue;
            }
            let anonymous: Vec<_> =
                template.split('/').map(|part| parameter(part).map_or(part, |_| "{}")).collect();
            if let Some(other) = templates.insert(anonymous.join("/"), template) {
                let message = format!("`{}` and `{}` are the same path.", shown(template), shown(other));
                findings.add(&IDENTICAL, path.spot(), message, "Move the operations into one of them.");
            } else {
                route(path, template, &mut forks, findings);
            }
        }
    }
}

/// Checks the spelling of a path. Returns whether it can be compared with others.
fn spelling(path: Object<'_>, template: &str, findings: &mut Findings) -> bool {
    if template.contains(['?', '#']) {
        let message = format!("The path `{}` has a query or a fragment.", shown(template));
        findings.add(&QUERY, path.spot(), message, "Remove it, and declare `parameters` with `in: query`.");
    }
    if template.len() > 1 && (template.ends_with('/') || template.contains("//")) {
        let message = format!("The path `{}` has an empty segment.", shown(template));
        findings.add(&TRAILING_SLASH, path.spot(), message, "Remove the superfluous slash.");
    }
    let names: Vec<&str> = names(template).collect();
    let balanced = ['{', '}'].iter().all(|brace| template.matches(*brace).count() == names.len());
    let distinct = names.iter().collect::<HashSet<_>>().len() == names.len();
    if !balanced || !distinct || names.iter().any(|name| name.is_empty() || name.contains('/')) {
        let message = format!("The braces of the path `{}` are not distinct parameters.", shown(template));
        findings.add(&DECLARATIONS, path.spot(), message, "Write each parameter once, such as `{petId}`.");
        return false;
    }
    let partial = |segment: &&str| segment.contains('{') && parameter(segment).is_none();
    if let Some(segment) = template.split('/').find(partial) {
        let message = format!("The parameter in the segment `{}` is not a whole segment.", shown(segment));
        findings.add(&ROUTABLE, path.spot(), message, "Make it a segment of its own, such as `/{petId}`.");
        return false;
    }
    true
}

fn route<'a>(path: Object<'a>, template: &'a str, forks: &mut Vec<Fork<'a>>, findings: &mut Findings) {
    let mut here = 0;
    for segment in template.split('/').skip(1) {
        let next = forks.len();
        let fork = &mut forks[here];
        let clash = match parameter(segment) {
            Some(name) => {
                let (other, after) = *fork.parameter.get_or_insert((name, next));
                here = after;
                (other != name).then(|| format!("{{{other}}}")).or(fork.first_word.map(str::to_owned))
            }
            None => {
                here = *fork.words.entry(segment).or_insert(next);
                fork.first_word.get_or_insert(segment);
                fork.parameter.map(|(name, _)| format!("{{{name}}}"))
            }
        };
        if let Some(other) = clash {
            let (here, other, path_shown) = (shown(segment), shown(&other), shown(template));
            let message = format!("The path `{path_shown}` has `{here}` where another one has `{other}`.");
            findings.add(&ROUTABLE, path.spot(), message, "Add a literal segment before one of them.");
            return;
        }
        if here == next {
            forks.push(Fork::default());
        }
    }
}

fn parameter(segment: &str) -> Option<&str> {
    segment.strip_prefix('{')?.strip_suffix('}').filter(|name| !name.contains('{'))
}
