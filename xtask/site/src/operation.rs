//! Operations: parameters, request body, responses, security, deprecation and a sample request.

use contract::document::Node;
use maud::{Markup, html};

use crate::markdown::{self, Headings};
use crate::sample::{error_codes, examples, request, scopes};
use crate::schema::{self, field, others, sample};
use crate::spec::{Operation, Spec, anchor, entries, flag, items, text};

/// The keywords of an operation that are shown in words.
const SHOWN: [&str; 14] = [
    "operationId",
    "summary",
    "description",
    "tags",
    "deprecated",
    "x-deprecated-since",
    "x-sunset",
    "x-successor",
    "parameters",
    "requestBody",
    "responses",
    "security",
    "callbacks",
    "externalDocs",
];

/// Returns the section of an operation. `viewer` is the page that sends requests.
pub(crate) fn section(spec: &Spec<'_>, operation: &Operation<'_>, viewer: &str) -> Markup {
    let name = operation.name();
    let title = match text(operation.node, "summary") {
        "" => &name,
        summary => summary,
    };
    let tag = items(operation.node, "tags").find_map(Node::as_str).unwrap_or("default");
    // The fragment of the viewer for an operation.
    let fragment = format!("#/{}/{}", in_fragment(tag), in_fragment(&name));
    html! {
        section.operation id=(anchor("operation", &name)) {
            h3 { (title) }
            p.endpoint {
                b.method { (operation.method.to_uppercase()) } " "
                code.path { (operation.path) } " " code.id { (name) } " "
                a href={ (viewer) (fragment) } { "Try " (name) }
                @for tag in items(operation.node, "tags").filter_map(Node::as_str) { " " span.bound { (tag) } }
            }
            (deprecation(operation.node))
            (markdown::block(text(operation.node, "description"), Headings::Bold))
            (documentation(operation.node))
            p { "Credentials: " (security(spec, operation)) }
            (body(spec, operation))
            h4 { "Sample request" }
            pre { code { (request(spec, operation)) } }
        }
    }
}

/// Returns text as a part of the viewer's fragment.
fn in_fragment(text: &str) -> String {
    let encoded = text.bytes().map(|byte| match byte {
        b' ' => "_".to_owned(),
        byte if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    });
    encoded.collect()
}

/// Returns the notice of a deprecated operation, with its dates.
fn deprecation(operation: &Node) -> Markup {
    let [since, sunset, successor] =
        ["x-deprecated-since", "x-sunset", "x-successor"].map(|keyword| text(operation, keyword));
    html! {
        @if flag(operation, "deprecated") {
            p.notice {
                strong { "Deprecated" }
                @if !since.is_empty() { " since " time { (since) } }
                @if !sunset.is_empty() { "; will be removed on " time { (sunset) } }
                "."
                @if !successor.is_empty() { " Use " code { (successor) } " instead." }
            }
        }
    }
}

/// Returns the link to further documentation.
pub(crate) fn documentation(owner: &Node) -> Markup {
    let Some(documentation) = owner.get("externalDocs") else { return html! {} };
    let url = text(documentation, "url");
    let words = match text(documentation, "description") {
        "" => "More about this",
        description => description,
    };
    html! {
        p {
            @if url.starts_with("https://") || url.starts_with("http://") { a href=(url) { (words) } }
            @else { (words) ": " code { (url) } }
        }
    }
}

/// Returns the alternatives of security in one line.
fn security(spec: &Spec<'_>, operation: &Operation<'_>) -> Markup {
    let alternatives = spec.security(operation);
    html! {
        @if alternatives.is_empty() { "none" }
        @for (position, alternative) in alternatives.iter().enumerate() {
            @if position > 0 { ", or " }
            @if alternative.entries().is_empty() { "none" }
            @for (position, entry) in alternative.entries().iter().enumerate() {
                @if position > 0 { " and " }
                @if spec.components("securitySchemes").any(|(name, _)| name == entry.key) {
                    a href={ "#" (anchor("security", &entry.key)) } { (entry.key) }
                } @else { (entry.key) }
                (scopes(alternative, &entry.key))
            }
        }
    }
}

/// Returns the parameters, the request body, the responses, the callbacks, and keywords of other tools.
fn body(spec: &Spec<'_>, operation: &Operation<'_>) -> Markup {
    let parameters = spec.parameters(operation);
    html! {
        @if !parameters.is_empty() {
            h4 { "Parameters" }
            ul.fields { @for node in parameters { li { (parameter(spec, node)) } } }
        }
        @if let Some(body) = operation.node.get("requestBody").map(|body| spec.resolve(body)) {
            h4 { "Request body" }
            @if flag(body, "required") { p { strong.required { "required" } } }
            (markdown::block(text(body, "description"), Headings::Bold))
            (content(spec, body))
        }
        h4 { "Responses" }
        @for (status, declared) in entries(operation.node, "responses") {
            (response(spec, status, spec.resolve(declared)))
        }
        @for (name, callback) in entries(operation.node, "callbacks") {
            h4 { "Callback " code { (name) } }
            @for (expression, item) in spec.resolve(callback).entries().iter().map(|it| (&*it.key, &it.value)) {
                @for operation in spec.operations_of(expression, spec.resolve(item)) { (called(spec, &operation)) }
            }
        }
        (others(operation.node, &SHOWN))
    }
}

/// Returns an operation that the service calls. Callbacks of callbacks are left out.
fn called(spec: &Spec<'_>, operation: &Operation<'_>) -> Markup {
    let body = operation.node.get("requestBody").map(|body| spec.resolve(body));
    html! {
        p.endpoint { b.method { (operation.method.to_uppercase()) } " " code.path { (operation.path) } }
        (markdown::block(text(operation.node, "description"), Headings::Bold))
        @if let Some(body) = body { (content(spec, body)) }
        @for (status, declared) in entries(operation.node, "responses") {
            (response(spec, status, spec.resolve(declared)))
        }
    }
}

/// Returns a parameter. Its type is in `schema` or in the first media type of `content`.
fn parameter(spec: &Spec<'_>, parameter: &Node) -> Markup {
    let place = match text(parameter, "in") {
        "" => "parameter",
        place => place,
    };
    let required = flag(parameter, "required").then_some("required");
    named(spec, text(parameter, "name"), parameter, place, required)
}

/// Returns a parameter or a header.
fn named(spec: &Spec<'_>, name: &str, owner: &Node, place: &str, required: Option<&str>) -> Markup {
    let schema = owner.get("schema").or_else(|| entries(owner, "content").next()?.1.get("schema"));
    html! {
        (field(spec, name, owner, schema.unwrap_or(owner), place, required))
        @for (title, example) in examples(spec, owner).iter().filter(|(title, _)| *title != "Example") {
            p.example { (title) ": " code { (sample(example)) } }
        }
    }
}

/// Returns a response. Those of success are open.
fn response(spec: &Spec<'_>, status: &str, response: &Node) -> Markup {
    let description = text(response, "description");
    let (first, whole) = markdown::first_paragraph(description);
    let headers: Vec<_> = entries(response, "headers").collect();
    html! {
        details.response open[status.starts_with('2')] {
            summary {
                strong { (status) } " " (first)
                @for code in error_codes(spec, response) { " " code.code { (code) } }
            }
            @if !whole { (markdown::block(description, Headings::Bold)) }
            @if let Some(reference) = response.get("$ref") { p { code { (schema::json(reference)) } } }
            @if !headers.is_empty() {
                h5 { "Headers" }
                ul.fields {
                    @for (name, header) in headers {
                        @let header = spec.resolve(header);
                        li { (named(spec, name, header, "", flag(header, "required").then_some("always present"))) }
                    }
                }
            }
            (content(spec, response))
            @for (name, link) in entries(response, "links") {
                p { "Link " code { (name) } ": " code { (schema::json(spec.resolve(link))) } }
            }
        }
    }
}

/// Returns the media types of a body, each with its schema and its examples.
fn content(spec: &Spec<'_>, owner: &Node) -> Markup {
    html! {
        @for (media_type, content) in entries(owner, "content") {
            div.content {
                h5 { "Body " code { (media_type) } }
                @if let Some(schema) = content.get("schema") { (schema::whole(spec, schema)) }
                @for (title, example) in examples(spec, content) {
                    figure { figcaption { (title) } pre { code { (sample(example)) } } }
                }
                (others(content, &["schema", "example", "examples"]))
            }
        }
    }
}
