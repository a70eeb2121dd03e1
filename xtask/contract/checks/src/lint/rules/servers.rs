//! Servers and the variables in their URLs.

use std::collections::HashSet;

use document::openapi::{Kind, Model, Object, template};
use document::shortened;

use crate::rule::{Findings, rules};

rules! {
    SERVERS: Recommended Error "oas3-api-servers", "Spectral: oas3-api-servers; Redocly: no-empty-servers",
        "The document has at least one server.";
    TRAILING_SLASH: Recommended Error fix Unsafe "oas3-server-trailing-slash",
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
            let added = findings.add(&TRAILING_SLASH, server.value_spot("url"), message, "Remove the slash.");
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
    let (_, in_url) = template(url);
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
