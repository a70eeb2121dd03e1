//! Paths, their spelling and duplicates, and servers with the variables in their URLs.

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
    SERVERS: Recommended Error "oas3-api-servers", "Spectral: oas3-api-servers; Redocly: no-empty-servers",
        "The document has at least one server.";
    SERVER_SLASH: Recommended Error fix Unsafe "oas3-server-trailing-slash",
        "Spectral: oas3-server-trailing-slash; Redocly: no-server-trailing-slash",
        "The URL of a server does not end in `/`, because each path begins with one.";
    EXAMPLE: Recommended Warning "oas3-server-not-example.com",
        "Spectral: oas3-server-not-example.com; Redocly: no-server-example.com",
        "The URL of a server does not contain `example.com`.";
    VARIABLES: Recommended Error fix Unsafe "oas3-server-variables",
        "OpenAPI 3.0.3, 4.7.6; Spectral: oas3-server-variables; Redocly: no-undefined-server-variable",
        "The variables in the URL of a server are defined, the defined ones are in the URL, and a `default` \
         is in its `enum`.";
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
    servers(model, findings);
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

fn servers(model: &Model<'_>, findings: &mut Findings) {
    let root = model.root();
    if root.get("servers").is_none_or(|servers| servers.items().is_empty()) {
        let message = "The document has no server.";
        let fix = "Add `servers` with the URL of the service.";
        findings.add(&SERVERS, root.key_spot("servers"), message, fix);
    }
    for server in model.all(Kind::Server) {
        let Some(url) = server.text("url") else { continue };
        if url.ends_with('/') {
            let message = format!("The server URL `{}` ends in `/`.", shortened(url));
            let added = findings.add(&SERVER_SLASH, server.value_spot("url"), message, "Remove the slash.");
            added.write(url.trim_end_matches('/'));
        }
        if url.contains("example.com") {
            let message = format!("The server URL `{}` contains `example.com`.", shortened(url));
            findings.add(&EXAMPLE, server.value_spot("url"), message, "Write the real host.");
        }
        variables(server, url, findings);
    }
}

fn variables(server: Object<'_>, url: &str, findings: &mut Findings) {
    let (_, in_url) = openapi::template(url);
    let named: HashSet<&str> = in_url.iter().copied().collect();
    let defined: HashSet<&str> = server.children("variables").map(|variable| variable.name()).collect();
    for name in in_url.iter().filter(|name| !defined.contains(*name)) {
        let message = format!("The variable `{{{}}}` of the server URL is not defined.", shortened(name));
        let fix = "Define it in `variables` with a `default`.";
        findings.add(&VARIABLES, server.value_spot("url"), message, fix);
    }
    for variable in server.children("variables") {
        let name = shortened(variable.name());
        if !named.contains(variable.name()) {
            let message = format!("The server URL does not contain the variable `{{{name}}}`.");
            findings.add(&VARIABLES, variable.spot(), message, "Remove it, or add it to the URL.").remove();
        }
        let Some((default, allowed)) = variable.text("default").zip(variable.get("enum")) else { continue };
        if !allowed.items().is_empty() && !allowed.items().iter().any(|value| value.as_str() == Some(default))
        {
            let message = format!(
                "The default `{}` of the variable `{name}` is not in its `enum`.",
                shortened(default)
            );
            let fix = "Use a value of `enum`, or add this one to it.";
            findings.add(&VARIABLES, variable.value_spot("default"), message, fix);
        }
    }
}
