//! A request that can be pasted into a shell: `curl` with the required parameters, the body of the first example, and an
//! API key in a variable.

use contract::document::Node;

use crate::schema::{json, sample};
use crate::spec::{Operation, Spec, entries, flag, items, text};

/// Returns the command. Optional parameters are left out, so a list is not filtered.
pub(crate) fn request(spec: &Spec<'_>, operation: &Operation<'_>) -> String {
    let mut url = spec.servers().into_iter().next().map(|(url, _)| url).unwrap_or_default();
    url += operation.path;
    let mut query = Vec::new();
    let mut headers = Vec::new();
    for parameter in spec.parameters(operation).into_iter().filter(|parameter| flag(parameter, "required")) {
        let (name, value) = (text(parameter, "name"), value(spec, parameter));
        match text(parameter, "in") {
            "path" => url = url.replace(&format!("{{{name}}}"), &value),
            "query" => query.push(format!("{name}={value}")),
            "header" => headers.push(format!("{name}: {value}")),
            _ => {}
        }
    }
    if !query.is_empty() {
        url += &format!("?{}", query.join("&"));
    }
    let mut words = vec!["curl -i".to_owned()];
    if operation.method != "get" {
        words.push(format!("-X {}", operation.method.to_uppercase()));
    }
    words.push(quoted(&url));
    words.extend(key(spec, operation));
    words.extend(headers.iter().map(|header| format!("-H {}", quoted(header))));
    let body = operation.node.get("requestBody").map(|body| spec.resolve(body));
    if let Some((media_type, content)) = body.and_then(|body| entries(body, "content").next()) {
        words.push(format!("-H {}", quoted(&format!("Content-Type: {media_type}"))));
        let example = examples(spec, content).into_iter().next();
        words.extend(example.map(|(_, example)| {
            let text = if example.as_str().is_some() { sample(example) } else { json(example) };
            format!("-d {}", quoted(&text))
        }));
    }
    words.join(" \\\n  ")
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

/// Returns the option that sends the credentials of the first alternative.
fn key(spec: &Spec<'_>, operation: &Operation<'_>) -> Option<String> {
    let alternative = *spec.security(operation).first()?;
    let name = &alternative.entries().first()?.key;
    let (_, scheme) = spec.components("securitySchemes").find(|(known, _)| known == name)?;
    let scheme = spec.resolve(scheme);
    match (text(scheme, "type"), text(scheme, "scheme").to_ascii_lowercase().as_str(), text(scheme, "in")) {
        ("http", "basic", _) => Some("-u \"$USER:$PASSWORD\"".to_owned()),
        ("http", _, _) | ("oauth2" | "openIdConnect", _, _) => {
            Some("-H \"Authorization: Bearer $KEY\"".to_owned())
        }
        // The name is the only part that the document chooses; it is left out unless it is a plain word.
        ("apiKey", _, "header")
            if text(scheme, "name").bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-') =>
        {
            Some(format!("-H \"{}: $KEY\"", text(scheme, "name")))
        }
        _ => None,
    }
}

/// Returns a word of a POSIX shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
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
