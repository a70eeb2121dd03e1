//! Operations: description, samples, parameters, request body, responses, security and deprecation.

use document::{Entry, Node};
use maud::{Markup, html};

use crate::code::highlighted;
use crate::markdown::{self, permalink};
use crate::request::{self, error_codes};
use crate::sample::LANGUAGES;
use crate::schema::{BODY, field, nested, others, summary};
use crate::spec::{Operation, Spec, anchor, entries, flag, items, sample, text};

/// The keywords of an operation that are shown in words.
const SHOWN: &str = "operationId summary description tags deprecated x-deprecated-since x-sunset x-successor parameters \
    requestBody responses security";

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
                (markdown::block(text(operation.node, "description")))
                p { "Credentials: " (security(&context.spec, operation)) }
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
        p { a href={ (context.viewer) "#/" (tag.replace(' ', "_")) "/" (name) } { "Try " (name) } }
        @for (status, response) in successes {
            (figures(spec, spec.resolve(response), &format!("Response {status}")))
        }
    }
}

/// Returns the examples of a request body or a response. `title` is the title of one without a name.
fn figures(spec: &Spec<'_>, owner: &Node, title: &str) -> Markup {
    html! {
        @for (media_type, content) in entries(owner, "content") {
            @let language = if media_type.contains("json") { "json" } else { "" };
            @for (name, example) in spec.examples(content) {
                figure {
                    figcaption { (title) @if name != "Example" { ": " (name) } }
                    pre { code { (highlighted(&sample(example), language)) } }
                }
            }
        }
    }
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

/// Returns the alternatives of security in one line.
fn security(spec: &Spec<'_>, operation: &Operation<'_>) -> Markup {
    let alternatives = spec.security(operation);
    html! {
        @if alternatives.is_empty() { "none" }
        @for (position, alternative) in alternatives.iter().enumerate() {
            @if position > 0 { ", or " }
            @if alternative.entries().is_empty() { "none" }
            @for (position, Entry { key, .. }) in alternative.entries().iter().enumerate() {
                @if position > 0 { " and " }
                a href={ "#" (anchor("security", key)) } { (key) }
            }
        }
    }
}

/// Returns the parameters, the request body, the responses, and other keywords.
fn parts(context: &Context<'_>, operation: &Operation<'_>) -> Markup {
    let spec = &context.spec;
    let parameters = spec.parameters(operation);
    let responses = entries(operation.node, "responses").map(|(status, it)| (status, spec.resolve(it)));
    let (errors, successes): (Vec<_>, Vec<_>) =
        responses.partition(|(status, _)| status.starts_with(['4', '5']));
    html! {
        @if !parameters.is_empty() {
            h4 { "Parameters" }
            ul.fields {
                @for parameter in parameters {
                    @let required = flag(parameter, "required").then_some("required");
                    li { (field(spec, text(parameter, "name"), parameter, text(parameter, "in"), required)) }
                }
            }
        }
        @if let Some(body) = operation.node.get("requestBody").map(|body| spec.resolve(body)) {
            h4 { "Request body" }
            @if flag(body, "required") { p { strong.required { "required" } } }
            (markdown::block(text(body, "description")))
            (content(spec, body))
            @if entries(body, "content").any(|(_, content)| spec.examples(content).len() > 1) {
                details { summary { "Examples" } (figures(spec, body, "Example")) }
            }
        }
        @for (status, response) in successes {
            h4 { "Response " strong { (status) } }
            (markdown::block(text(response, "description")))
            (headers(spec, response))
            (content(spec, response))
            (others(response, "description headers content"))
        }
        @if !errors.is_empty() {
            h4 { "Errors" }
            ul.errors { @for (status, response) in errors { li { (error(context, status, response)) } } }
        }
        (others(operation.node, SHOWN))
    }
}

/// Returns an error: its status, its codes with links to the table of the description, and its parts, folded.
fn error(context: &Context<'_>, status: &str, response: &Node) -> Markup {
    let spec = &context.spec;
    html! {
        strong { (status) } " "
        @for code in error_codes(spec, response) {
            @let id = anchor("code", code);
            @let is_listed = context.description.contains(&format!("id=\"{id}\""));
            @if is_listed { a href={ "#" (id) } { code.code { (code) } } } @else { code.code { (code) } } " "
        }
        (markdown::code(text(response, "description").trim_end()))
        details {
            summary { "Headers and body" span.hidden { " of " (status) } }
            (headers(spec, response))
            @for (_, content) in entries(response, "content") {
                @if let Some(schema) = content.get("schema") { p { "Body: " (summary(spec, schema)) } }
            }
            (figures(spec, response, "Example"))
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
                    @let required = flag(header, "required").then_some("always present");
                    li { (field(spec, name, header, "", required)) }
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
            @if let Some(schema) = content.get("schema") { p { (summary(spec, schema)) } (nested(spec, schema, BODY)) }
            (others(content, "schema example examples"))
        }
    }
}
