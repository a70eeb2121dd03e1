//! Paths that dropshot cannot route.

use std::collections::HashMap;

use checks::rule::{Findings, rules};
use document::openapi::{Kind, Model, Object};
use document::shortened;

rules! {
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
    let mut prefixes = Prefixes::default();
    for path in model.all(Kind::Paths).flat_map(|paths| paths.parts()) {
        let partial = |segment: &&str| segment.contains(['{', '}']) && parameter(segment).is_none();
        match path.name().split('/').find(partial) {
            Some(segment) => {
                let message =
                    format!("The parameter in the segment `{}` is not a whole segment.", shortened(segment));
                let fix = "Make it a segment of its own, such as `/{petId}`.";
                findings.add(&ROUTABLE, path.spot(), message, fix);
            }
            None => route(path, &mut prefixes, findings),
        }
    }
}

fn route<'a>(path: Object<'a>, prefixes: &mut Prefixes<'a>, findings: &mut Findings) {
    let mut prefix = 0;
    for segment in path.name().split('/').skip(1) {
        let other = *prefixes.first.entry(prefix).or_insert(segment);
        if other != segment && (parameter(segment).is_some() || parameter(other).is_some()) {
            let (path_shown, here, other) = (shortened(path.name()), shortened(segment), shortened(other));
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
