//! Operations: description, samples, parameters, request body, responses, security and deprecation.

use document::Node;
use maud::{Markup, html};

use crate::code::highlighted;
use crate::markdown::{self, Headings, permalink};
use crate::request::{self, error_codes, examples, scopes};
use crate::sample::LANGUAGES;
use crate::schema::{self, Nesting, field, others, sample, summary};
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

/// What the sections of operations have in common.
pub(crate) struct Context<'a> {
    pub(crate) spec: Spec<'a>,
    /// The page that sends requests.
    pub(crate) viewer: String,
    /// The base URL of the service.
    pub(crate) base: String,
    /// The description of the document, which may have a table of error codes.
    pub(crate) description: &'a str,
}

/// Returns the section of an operation: what it does, its samples, and its parts.
pub(crate) fn section(context: &Context<'_>, operation: &Operation<'_>) -> Markup {
    let spec = &context.spec;
    let name = operation.name();
    let id = anchor("operation", &name);
    let title = match text(operation.node, "summary") {
        "" => &name,
        summary => summary,
    };
    html! {
        section.operation id=(id) {
            div.purpose {
                h3 { (title) (permalink(&id, title)) }
                p.endpoint { (endpoint(operation)) " " code.id { (name) } }
                (deprecation(operation.node))
                (markdown::block(text(operation.node, "description"), Headings::Bold))
                (documentation(operation.node))
                p { "Credentials: " (security(spec, operation)) }
            }
            div.samples { (code(context, operation)) }
            div.parts { (parts(context, operation)) }
        }
    }
}

/// Returns the method and the path.
pub(crate) fn endpoint(operation: &Operation<'_>) -> Markup {
    html! {
        b class={ "method " (operation.method) } { (operation.method.to_uppercase()) } " "
        code.path { (operation.path) }
    }
}

/// Returns the request in each language, and the examples of the responses of success.
fn code(context: &Context<'_>, operation: &Operation<'_>) -> Markup {
    let spec = &context.spec;
    let name = operation.name();
    let request = request::of(spec, operation, &context.base);
    let tag = items(operation.node, "tags").find_map(Node::as_str).unwrap_or("default");
    let successes = entries(operation.node, "responses").filter(|(status, _)| status.starts_with('2'));
    html! {
        @for (language, id, program) in LANGUAGES {
            figure class={ "sample " (id) } {
                figcaption { "Request in " (language) }
                pre { code { (highlighted(&program(&request), id)) } }
            }
        }
        p { a href={ (context.viewer) "#/" (in_fragment(tag)) "/" (in_fragment(&name)) } { "Try " (name) } }
        @for (status, response) in successes {
            @for (media_type, content) in entries(spec.resolve(response), "content") {
                (figures(spec, content, media_type, &format!("Response {status}")))
            }
        }
    }
}

/// Returns the examples of a body. `title` is the title of one without a name.
fn figures(spec: &Spec<'_>, content: &Node, media_type: &str, title: &str) -> Markup {
    let language = if media_type.contains("json") { "json" } else { "" };
    html! {
        @for (name, example) in examples(spec, content) {
            figure {
                figcaption { (title) @if name != "Example" { ": " (name) } }
                pre { code { (highlighted(&sample(example), language)) } }
            }
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
fn parts(context: &Context<'_>, operation: &Operation<'_>) -> Markup {
    let spec = &context.spec;
    let parameters = spec.parameters(operation);
    let responses = || entries(operation.node, "responses").map(|(status, it)| (status, spec.resolve(it)));
    let is_error = |status: &str| status.starts_with(['4', '5']);
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
            @for (media_type, content) in entries(body, "content") {
                @if examples(spec, content).len() > 1 {
                    details { summary { "Examples" } (figures(spec, content, media_type, "Example")) }
                }
            }
        }
        @for (status, response) in responses().filter(|(status, _)| !is_error(status)) {
            h4 { "Response " strong { (status) } }
            (markdown::block(text(response, "description"), Headings::Bold))
            (response_parts(spec, response))
        }
        @if responses().any(|(status, _)| is_error(status)) {
            h4 { "Errors" }
            ul.errors {
                @for (status, response) in responses().filter(|(status, _)| is_error(status)) {
                    li { (error(context, status, response)) }
                }
            }
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

/// Returns an error: its status, its codes with links to the table of the description, and its parts, folded.
fn error(context: &Context<'_>, status: &str, response: &Node) -> Markup {
    let spec = &context.spec;
    let description = text(response, "description");
    let (first, whole) = markdown::first_paragraph(description);
    html! {
        strong { (status) } " "
        @for code in error_codes(spec, response) {
            @let id = anchor("code", code);
            @let is_listed = context.description.contains(&format!("id=\"{id}\""));
            @if is_listed { a href={ "#" (id) } { code.code { (code) } } } @else { code.code { (code) } } " "
        }
        (first)
        details {
            summary { "Headers and body" span.hidden { " of " (status) } }
            @if !whole { (markdown::block(description, Headings::Bold)) }
            (headers(spec, response))
            @for (media_type, content) in entries(response, "content") {
                @if let Some(schema) = content.get("schema") { p { "Body: " (summary(spec, schema)) } }
                (figures(spec, content, media_type, "Example"))
            }
        }
    }
}

/// Returns an operation that the service calls. Callbacks of callbacks are left out.
fn called(spec: &Spec<'_>, operation: &Operation<'_>) -> Markup {
    let body = operation.node.get("requestBody").map(|body| spec.resolve(body));
    html! {
        p.endpoint { (endpoint(operation)) }
        (markdown::block(text(operation.node, "description"), Headings::Bold))
        @if let Some(body) = body { (content(spec, body)) }
        @for (status, response) in entries(operation.node, "responses") {
            @let response = spec.resolve(response);
            h5 { "Response " strong { (status) } }
            (markdown::block(text(response, "description"), Headings::Bold))
            (response_parts(spec, response))
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
        (field(spec, name, owner, schema.unwrap_or(owner), place, required, Nesting::BODY))
        @for (title, example) in examples(spec, owner).iter().filter(|(title, _)| *title != "Example") {
            p.example { (title) ": " code { (sample(example)) } }
        }
    }
}

/// Returns the headers, the body and the links of a response.
fn response_parts(spec: &Spec<'_>, response: &Node) -> Markup {
    html! {
        @if let Some(reference) = response.get("$ref") { p { code { (schema::json(reference)) } } }
        (headers(spec, response))
        (content(spec, response))
        @for (name, link) in entries(response, "links") {
            p { "Link " code { (name) } ": " code { (schema::json(spec.resolve(link))) } }
        }
    }
}

fn headers(spec: &Spec<'_>, response: &Node) -> Markup {
    let headers: Vec<_> = entries(response, "headers").collect();
    html! {
        @if !headers.is_empty() {
            h5 { "Headers" }
            ul.fields {
                @for (name, header) in headers {
                    @let header = spec.resolve(header);
                    li { (named(spec, name, header, "", flag(header, "required").then_some("always present"))) }
                }
            }
        }
    }
}

/// Returns the media types of a body, each with its schema.
fn content(spec: &Spec<'_>, owner: &Node) -> Markup {
    html! {
        @for (media_type, content) in entries(owner, "content") {
            h5 { "Body " code { (media_type) } }
            @if let Some(schema) = content.get("schema") { (schema::whole(spec, schema)) }
            (others(content, &["schema", "example", "examples"]))
        }
    }
}
