//! Where the service is.

use std::collections::HashSet;

use crate::finding::Severity;
use crate::finding::shortened as shown;
use crate::openapi::Kind;
use crate::openapi::{Model, Object};
use crate::rule::{Findings, Rule};

const SERVERS: Rule = Rule::recommended(
    "oas3-api-servers",
    Severity::Error,
    "Spectral",
    "The document names at least one server (Redocly: `no-empty-servers`).",
);
const TRAILING_SLASH: Rule = Rule::recommended(
    "oas3-server-trailing-slash",
    Severity::Error,
    "Spectral",
    "No server's URL ends in a slash, since each path begins with one (Redocly: `no-server-trailing-slash`).",
);
const EXAMPLE: Rule = Rule::recommended(
    "oas3-server-not-example.com",
    Severity::Warning,
    "Spectral",
    "No server's URL is written out as `example.com`; a variable may have it as default.",
);
const VARIABLES: Rule = Rule::recommended(
    "oas3-server-variables",
    Severity::Error,
    "Spectral",
    "The variables of a URL are defined, those defined are in the URL, and a default is one of its `enum`.",
);
const UNIQUE: Rule = Rule::strict(
    "no-identical-servers",
    Severity::Error,
    "this project",
    "No two servers have the same URL.",
);

pub(crate) const RULES: &[&Rule] = &[&SERVERS, &TRAILING_SLASH, &EXAMPLE, &VARIABLES, &UNIQUE];

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    let root = model.root();
    if root.get("servers").is_none_or(|servers| servers.items().is_empty()) {
        let message = "The document names no server.";
        findings.add(&SERVERS, root.key_spot("servers"), message, "Add `servers` with a URL.");
    }
    let mut urls = HashSet::new();
    for server in model.all(Kind::Server) {
        let Some(url) = server.text("url") else { continue };
        if url.ends_with('/') {
            let message = format!("The server's URL `{}` ends in a slash.", shown(url));
            findings.add(&TRAILING_SLASH, server.value_spot("url"), message, "Take the slash away.");
        }
        if url.contains("example.com") {
            let message = format!("The server's URL `{}` is an example.", shown(url));
            findings.add(
                &EXAMPLE,
                server.value_spot("url"),
                message,
                "Write the real one, or make it a variable.",
            );
        }
        let owner = server.parent().map(|parent| parent.id);
        if !urls.insert((owner, url)) {
            let message = format!("The server `{}` is there twice.", shown(url));
            findings.add(&UNIQUE, server.value_spot("url"), message, "Take one out.");
        }
        variables(server, url, findings);
    }
}

fn variables(server: Object<'_>, url: &str, findings: &mut Findings) {
    let in_url: HashSet<&str> = names(url).collect();
    let defined: HashSet<&str> = server.children("variables").map(|variable| variable.name()).collect();
    for name in names(url).filter(|name| !defined.contains(name)) {
        let message = format!("The variable `{{{}}}` of the server's URL is not defined.", shown(name));
        findings.add(
            &VARIABLES,
            server.value_spot("url"),
            message,
            "Define it under `variables` with a `default`.",
        );
    }
    for variable in server.children("variables") {
        let name = shown(variable.name());
        if !in_url.contains(variable.name()) {
            let message = format!("The URL does not have the variable `{{{name}}}`.");
            findings.add(&VARIABLES, variable.spot(), message, "Take it out, or put it into the URL.");
        }
        let Some((default, allowed)) = variable.text("default").zip(variable.get("enum")) else { continue };
        if !allowed.items().is_empty() && !allowed.items().iter().any(|value| value.as_str() == Some(default))
        {
            let message =
                format!("The default `{}` of the variable `{name}` is not in its `enum`.", shown(default));
            findings.add(
                &VARIABLES,
                variable.value_spot("default"),
                message,
                "Make it one of the `enum`, or add it.",
            );
        }
    }
}

/// The names in braces, in order.
pub(crate) fn names(template: &str) -> impl Iterator<Item = &str> {
    template.split('{').skip(1).filter_map(|rest| rest.split_once('}').map(|(name, _)| name))
}
