//! The request of an operation as samples send it: the required parameters, the body of the first example, credentials from
//! a variable, and a new idempotency key. Other optional parameters are left out, so a list is not filtered.

use document::Node;

use crate::schema::sample;
use crate::spec::{Operation, Spec, entries, flag, items, text};

/// A request.
pub(crate) struct Request<'a> {
    /// The method in upper case.
    pub(crate) method: String,
    pub(crate) url: String,
    pub(crate) credential: Option<Credential<'a>>,
    /// Whether the request has an `Idempotency-Key`, which must be a new one.
    pub(crate) is_idempotent: bool,
    /// The other headers, with that of the body.
    pub(crate) headers: Vec<(&'a str, String)>,
    pub(crate) body: Option<&'a Node>,
}

/// The header that has the variable `KEY`.
pub(crate) struct Credential<'a> {
    pub(crate) header: &'a str,
    /// The word before the key, with a space.
    pub(crate) prefix: &'static str,
    /// What the reader is told to set `KEY` to.
    pub(crate) hint: &'static str,
}

/// Returns the request of an operation. `base` is the base URL of the service.
pub(crate) fn of<'a>(spec: &Spec<'a>, operation: &Operation<'a>, base: &str) -> Request<'a> {
    let mut url = format!("{base}{}", operation.path);
    let mut query = Vec::new();
    let mut headers = Vec::new();
    let mut is_idempotent = false;
    for parameter in spec.parameters(operation) {
        let (name, value) = (text(parameter, "name"), value(spec, parameter));
        let is_required = flag(parameter, "required");
        match text(parameter, "in") {
            "header" if name.eq_ignore_ascii_case("Idempotency-Key") => is_idempotent = true,
            "path" if is_required => url = url.replace(&format!("{{{name}}}"), &value),
            "query" if is_required => query.push(format!("{name}={value}")),
            "header" if is_required => headers.push((name, value)),
            _ => {}
        }
    }
    if !query.is_empty() {
        url += &format!("?{}", query.join("&"));
    }
    let body = operation.node.get("requestBody").map(|body| spec.resolve(body));
    let content = body.and_then(|body| entries(body, "content").next());
    headers.extend(content.map(|(media_type, _)| ("Content-Type", media_type.to_owned())));
    let example = content.and_then(|(_, content)| examples(spec, content).into_iter().next());
    Request {
        method: operation.method.to_uppercase(),
        url,
        credential: credential(spec, operation),
        is_idempotent,
        headers,
        body: example.map(|(_, example)| example),
    }
}

/// Returns the examples of a parameter, a header or a media type, each with its title.
pub(crate) fn examples<'a>(spec: &Spec<'a>, owner: &'a Node) -> Vec<(&'a str, &'a Node)> {
    let named = entries(owner, "examples").map(|(name, example)| (name, spec.resolve(example)));
    let named = named.filter_map(|(name, example)| {
        let title = Some(text(example, "summary")).filter(|summary| !summary.is_empty()).unwrap_or(name);
        Some((title, example.get("value").or_else(|| example.get("externalValue"))?))
    });
    let schema = owner.get("schema").map(|schema| spec.resolve(schema));
    let own =
        owner.get("example").or_else(|| schema.filter(|_| owner.get("examples").is_none())?.get("example"));
    own.map(|example| ("Example", example)).into_iter().chain(named).collect()
}

/// Returns the value of a parameter: its example, else a word in its place.
fn value(spec: &Spec<'_>, parameter: &Node) -> String {
    let example = examples(spec, parameter).into_iter().next();
    example.map_or_else(|| text(parameter, "name").to_uppercase(), |(_, value)| sample(value))
}

/// Returns the credential of the first alternative, if a header has it.
fn credential<'a>(spec: &Spec<'a>, operation: &Operation<'a>) -> Option<Credential<'a>> {
    let name = &spec.security(operation).first()?.entries().first()?.key;
    let (_, scheme) = spec.components("securitySchemes").find(|(known, _)| known == name)?;
    let scheme = spec.resolve(scheme);
    let hint = "set KEY to your API key";
    match (text(scheme, "type"), text(scheme, "scheme").to_ascii_lowercase().as_str(), text(scheme, "in")) {
        ("http", "basic", _) => Some(Credential {
            header: "Authorization",
            prefix: "Basic ",
            hint: "set KEY to user:password in base64",
        }),
        ("http", _, _) | ("oauth2" | "openIdConnect", _, _) => {
            Some(Credential { header: "Authorization", prefix: "Bearer ", hint })
        }
        // The document chooses the name; it is left out unless it is a plain word.
        ("apiKey", _, "header")
            if text(scheme, "name").bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-') =>
        {
            Some(Credential { header: text(scheme, "name"), prefix: "", hint })
        }
        _ => None,
    }
}

/// Returns the codes that the examples of errors have: the text in their field `code`.
pub(crate) fn error_codes<'a>(spec: &Spec<'a>, response: &'a Node) -> Vec<&'a str> {
    let mut codes: Vec<&str> = Vec::new();
    for (_, content) in entries(response, "content") {
        for (_, example) in examples(spec, content) {
            let code = example.get("code").and_then(Node::as_str);
            codes.extend(code.filter(|code| !codes.contains(code)));
        }
    }
    codes
}

/// Returns the scopes of a requirement in words, such as ` (read, write)`.
pub(crate) fn scopes(requirement: &Node, name: &str) -> String {
    let scopes: Vec<&str> = items(requirement, name).filter_map(Node::as_str).collect();
    if scopes.is_empty() { String::new() } else { format!(" ({})", scopes.join(", ")) }
}
