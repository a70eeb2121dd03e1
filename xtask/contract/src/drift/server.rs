//! The Server Object and the Server Variable Object.
//!
//! Where the service runs is not for the code to know, but under which base path it answers is. So each
//! URL, with each value that its variables may have, must end in that path.

use serde_json::Value;

use super::object::Field::Elsewhere;
use super::object::{self, Object};
use super::{list, malformed, mapping};
use crate::document::Place;
use crate::finding::{Finding, Severity, Subject, shortened};

const SERVER: Object = Object { name: "server", fields: &[("url", Elsewhere), ("variables", Elsewhere)] };
const VARIABLE: Object =
    Object { name: "server-variable", fields: &[("default", Elsewhere), ("enum", Elsewhere)] };

/// The servers of `owner`: the document, or a path or operation that has its own.
pub(super) fn compare(owner: &Place<'_>, subject: &Subject, served: &Value) -> Vec<Finding> {
    let base = served["servers"][0]["url"].as_str().unwrap_or_default();
    let servers = match list(owner, "servers", subject) {
        Ok(servers) => servers,
        Err(finding) => return vec![finding],
    };
    if servers.node.items().is_empty() {
        // OpenAPI 3.0.3: then there is one server, and its URL is `/`.
        let finding = Finding::new(Severity::Error, "server-not-in-file", &servers.pointer, servers.anchor());
        let message = format!(
            "{subject} has no server, which stands for the URL `/`; the code answers under `{base}`."
        );
        let finding = finding.message(subject, message).sides("url: /", base);
        return vec![finding.fix(format!("Add a server whose URL ends in `{base}`."))];
    }
    servers.items().flat_map(|server| one(&server, subject, base)).collect()
}

fn one(server: &Place<'_>, subject: &Subject, base: &str) -> Vec<Finding> {
    let Some(url) = server.get("url").filter(|url| url.node.as_str().is_some()) else {
        return vec![malformed(subject, "a server", server, "a mapping with a `url`")];
    };
    let template = url.node.as_str().unwrap_or_default();
    let subject = subject.with("server", template);
    let mut findings = object::compare(&SERVER, &subject, server, &Value::Null);
    let variables = match mapping(server, "variables", &subject) {
        Ok(variables) => variables,
        Err(finding) => {
            findings.push(finding);
            return findings;
        }
    };
    let mut ending = url.clone();
    let mut complete = template.to_owned();
    for (name, variable) in variables.entries() {
        let braced = format!("{{{name}}}");
        let variable_subject = subject.with("variable", name);
        findings.extend(object::compare(&VARIABLE, &variable_subject, &variable, &Value::Null));
        let Some(default) = variable.get("default").filter(|default| default.node.as_str().is_some()) else {
            findings.push(malformed(&variable_subject, "default", &variable, "text"));
            return findings;
        };
        if !template.contains(&braced) {
            let rule = "server-variable-unused";
            let finding = Finding::new(Severity::Error, rule, &variable.pointer, variable.anchor());
            let message = format!("the URL of {subject} has no place for the variable `{name}`.");
            let finding = finding.message(&variable_subject, message).sides(shortened(name), "");
            findings.push(finding.fix(format!("Take the variable out, or write `{braced}` in the URL.")));
        }
        if template.ends_with(&braced) {
            let choices = variable.get("enum").into_iter().flat_map(|choices| choices.items());
            for choice in
                choices.filter(|choice| !choice.node.as_str().is_some_and(|url| url.ends_with(base)))
            {
                findings.push(off_base(
                    &variable_subject,
                    &choice,
                    &object::said(&choice.node.to_json()),
                    base,
                ));
            }
            ending = default.clone();
        }
        complete = complete.replace(&braced, default.node.as_str().unwrap_or_default());
    }
    if let Some((_, rest)) = complete.split_once('{') {
        let name = rest.split('}').next().unwrap_or_default();
        let rule = "server-variable-undefined";
        let finding = Finding::new(Severity::Error, rule, &url.pointer, url.node.span);
        let message =
            format!("the URL of {subject} has a variable `{}` that is not defined.", shortened(name));
        let finding = finding.message(&subject, message).sides(shortened(template), "");
        findings
            .push(finding.fix(format!("Define `{}` under `variables`, with a `default`.", shortened(name))));
    } else if !complete.ends_with(base) {
        findings.push(off_base(&subject, &ending, &complete, base));
    }
    findings
}

fn off_base(subject: &Subject, place: &Place<'_>, url: &str, base: &str) -> Finding {
    let url = shortened(url);
    Finding::new(Severity::Error, "server-url", &place.pointer, place.node.span)
        .message(subject, format!("the URL `{url}` does not end in `{base}`, under which the code answers."))
        .sides(url, format!("…{base}"))
        .fix(format!("Let the URL end in `{base}`, without a slash after it."))
}
