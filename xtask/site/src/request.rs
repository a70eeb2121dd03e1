//! The request of an operation as samples send it: the required parameters, the body of the first example, credentials from
//! a variable, and a new idempotency key. Other optional parameters are left out, so a list is not filtered.

use document::Node;

use crate::spec::{Operation, Spec, entries, flag, text, word};

/// A request.
pub(crate) struct Request<'a> {
    /// The method in upper case.
    pub(crate) method: String,
    pub(crate) url: String,
    pub(crate) headers: Vec<(&'a str, Header)>,
    pub(crate) body: Option<&'a Node>,
}

/// The value of a header.
pub(crate) enum Header {
    /// The variable `KEY` as a bearer token.
    Key,
    /// A new idempotency key.
    New,
    Text(String),
}

impl Request<'_> {
    /// Returns lines that read the variable `KEY`, if the request needs it.
    pub(crate) fn with_key<'t>(&self, lines: &'t str) -> &'t str {
        let has_key = self.headers.iter().any(|(_, value)| matches!(value, Header::Key));
        if has_key { lines } else { "" }
    }

    /// Returns lines that make an idempotency key, if the request has one.
    pub(crate) fn with_new<'t>(&self, lines: &'t str) -> &'t str {
        let is_idempotent = self.headers.iter().any(|(_, value)| matches!(value, Header::New));
        if is_idempotent { lines } else { "" }
    }
}

/// Returns the request of an operation. `base` is the base URL of the service.
pub(crate) fn of<'a>(spec: &Spec<'a>, operation: &Operation<'a>, base: &str) -> Request<'a> {
    let mut url = format!("{base}{}", operation.path);
    let mut query = Vec::new();
    let mut headers = Vec::from_iter(credential(spec, operation));
    for parameter in spec.parameters(operation) {
        let (name, value) = (text(parameter, "name"), value(spec, parameter));
        let is_required = flag(parameter, "required");
        match text(parameter, "in") {
            "header" if name.eq_ignore_ascii_case("Idempotency-Key") => headers.push((name, Header::New)),
            "path" if is_required => url = url.replace(&format!("{{{name}}}"), &value),
            "query" if is_required => query.push(format!("{name}={value}")),
            "header" if is_required => headers.push((name, Header::Text(value))),
            _ => {}
        }
    }
    if !query.is_empty() {
        url += &format!("?{}", query.join("&"));
    }
    let body = operation.node.get("requestBody").map(|body| spec.resolve(body));
    let content = body.and_then(|body| entries(body, "content").next());
    headers.extend(content.map(|(media_type, _)| ("Content-Type", Header::Text(media_type.to_owned()))));
    let example = content.and_then(|(_, content)| spec.examples(content).into_iter().next());
    Request { method: operation.method.to_uppercase(), url, headers, body: example.map(|(_, value)| value) }
}

/// Returns the value of a parameter: its example, else a word in its place.
fn value(spec: &Spec<'_>, parameter: &Node) -> String {
    let example = spec.examples(parameter).into_iter().next();
    example.map_or_else(|| text(parameter, "name").to_uppercase(), |(_, value)| word(value))
}

/// Returns the header with the credential of the first alternative, if it is a bearer token.
fn credential<'a>(spec: &Spec<'a>, operation: &Operation<'a>) -> Option<(&'a str, Header)> {
    let name = &spec.security(operation).first()?.entries().first()?.key;
    let (_, scheme) = spec.components("securitySchemes").find(|(known, _)| known == name)?;
    let is_bearer = text(spec.resolve(scheme), "scheme").eq_ignore_ascii_case("bearer");
    is_bearer.then_some(("Authorization", Header::Key))
}

/// Returns the codes that the examples of errors have: the text in their field `code`.
pub(crate) fn error_codes<'a>(spec: &Spec<'a>, response: &'a Node) -> Vec<&'a str> {
    let mut codes: Vec<&str> = Vec::new();
    for (_, content) in entries(response, "content") {
        for (_, example) in spec.examples(content) {
            let code = example.get("code").and_then(Node::as_str);
            codes.extend(code.filter(|code| !codes.contains(code)));
        }
    }
    codes
}
