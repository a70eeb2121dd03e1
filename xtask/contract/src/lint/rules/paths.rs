//! Paths: how they are written, and that each request has one operation at the most.

use std::collections::HashMap;

use crate::finding::Severity;
use crate::finding::shortened as shown;
use crate::openapi::Kind;
use crate::openapi::{Model, Object};
use crate::rule::{Findings, Rule};

const QUERY: Rule = Rule::recommended(
    "path-not-include-query",
    Severity::Error,
    "Spectral, Redocly",
    "No path has a query or a fragment; parameters describe the query.",
);
const TRAILING_SLASH: Rule = Rule::recommended(
    "path-keys-no-trailing-slash",
    Severity::Error,
    "Spectral",
    "No path ends in a slash or has an empty segment (Redocly: `no-path-trailing-slash`).",
);
const DECLARATIONS: Rule = Rule::recommended(
    "path-declarations-must-exist",
    Severity::Error,
    "Spectral, Redocly",
    "The braces of a path are in pairs, and each pair is a whole segment and holds a name.",
);
const IDENTICAL: Rule = Rule::recommended(
    "no-identical-paths",
    Severity::Error,
    "Redocly",
    "No two paths differ only in the names of their parameters.",
);
const AMBIGUOUS: Rule = Rule::recommended(
    "no-ambiguous-paths",
    Severity::Error,
    "Redocly",
    "After the same beginning, paths go on with words or with one parameter, never with both: no request \
     fits two paths, and dropshot can route them.",
);

pub(crate) const RULES: &[&Rule] = &[&QUERY, &TRAILING_SLASH, &DECLARATIONS, &IDENTICAL, &AMBIGUOUS];

/// Where paths with the same beginning part.
#[derive(Default)]
struct Fork<'a> {
    words: HashMap<&'a str, usize>,
    first_word: Option<&'a str>,
    /// The name of the parameter, and what follows it.
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
                let message = format!("`{}` and `{}` are one path.", shown(template), shown(other));
                findings.add(&IDENTICAL, path.spot(), message, "Put their operations under one of them.");
            } else {
                route(path, template, &mut forks, findings);
            }
        }
    }
}

/// Whether a path is written well enough to be compared with others.
fn spelling(path: Object<'_>, template: &str, findings: &mut Findings) -> bool {
    if template.contains(['?', '#']) {
        let message = format!("The path `{}` has a query or a fragment.", shown(template));
        findings.add(&QUERY, path.spot(), message, "Take it away, and describe `parameters` in `query`.");
    }
    if template.len() > 1 && (template.ends_with('/') || template.contains("//")) {
        let message = format!("The path `{}` has an empty segment.", shown(template));
        findings.add(&TRAILING_SLASH, path.spot(), message, "Take the slash away.");
    }
    let braces = |segment: &str| segment.contains(['{', '}']);
    let broken = |segment: &&str| {
        braces(segment) && parameter(segment).is_none_or(|name| name.is_empty() || braces(name))
    };
    if let Some(segment) = template.split('/').find(broken) {
        let message =
            format!("The segment `{}` of the path `{}` is no parameter.", shown(segment), shown(template));
        findings.add(
            &DECLARATIONS,
            path.spot(),
            message,
            "Write a name in braces and nothing else, as `{petId}`.",
        );
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
            let message = format!(
                "The path `{}` has `{}` where another one has `{}`.",
                shown(template),
                shown(segment),
                shown(&other)
            );
            findings.add(&AMBIGUOUS, path.spot(), message, "Put a word of its own before one of them.");
            return;
        }
        if here == next {
            forks.push(Fork::default());
        }
    }
}

fn parameter(segment: &str) -> Option<&str> {
    segment.strip_prefix('{')?.strip_suffix('}')
}
