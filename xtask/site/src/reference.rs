//! The pages of a version: its documentation, and the page that sends requests.

use document::Node;
use maud::{Markup, html};
use pulldown_cmark::HeadingLevel;

use crate::layout::{HOME, Page, Site, Version, contents, link, versions};
use crate::markdown::{self, Section, headings, is_outside, permalink};
use crate::operation::{Context, endpoint, section};
use crate::sample::LANGUAGES;
use crate::schema::{details, others, summary};
use crate::spec::{Spec, anchor, flag, items, sample, text};
use crate::{File, Hosting, assets};

/// Returns the page of a version.
pub(crate) fn page(site: &Site<'_>, version: &Version) -> File {
    let path = &version.page();
    let spec = version.spec();
    let info = version.root.get("info");
    let description = info.map(|info| text(info, "description")).unwrap_or_default();
    let (description, sections) = markdown::render(description, HeadingLevel::H2, &|_| None);
    let heading = format!("{} {}", version.title(), version.name);
    let (viewer, base) = (link(path, &version.viewer()), site.base(version));
    let context = Context { spec, viewer, base, description: &description.0 };
    let main = html! {
        h1 { (heading) }
        (state(site, version, path))
        (description)
        @if let Some(info) = info { (about(info)) }
        (servers(site, version))
        section aria-labelledby="operations" {
            h2 #operations { "Operations" (permalink("operations", "Operations")) }
            @for tag in items(spec.root, "tags") {
                div.tag {
                    p { strong { (text(tag, "name")) } }
                    (markdown::block(text(tag, "description")))
                    (others(tag, "name description"))
                }
            }
            (languages())
            @for operation in &spec.operations() { (section(&context, operation)) }
        }
        (schemas(&spec))
        (security_schemes(&spec))
        (others(spec.root, "openapi info servers security tags paths components"))
    };
    let aside = html! {
        div.aside {
            (versions(site, path, version, Version::page))
            (contents(&places(&spec, &sections)))
        }
    };
    Page { aside, ..Page::of(path, &heading, HOME, main) }.file(site)
}

/// Returns the interactive page of a version: Swagger UI, started by `assets/viewer.js`.
pub(crate) fn viewer(site: &Site<'_>, version: &Version) -> File {
    let path = version.viewer();
    let title = format!("Try {} {}", site.current.title(), version.name);
    let sends = *site.hosting == Hosting::Service;
    let head = html! {
        @for name in ["swagger-ui.css", "viewer.css"] { link rel="stylesheet" href=(link(&path, assets::path(name))); }
        @for name in ["swagger-ui-bundle.js", "viewer.js"] { script src=(link(&path, assets::path(name))) defer {} }
    };
    let documentation = link(&path, &version.page());
    let main = html! {
        h1 { (title) }
        (versions(site, &path, version, Version::viewer))
        @if sends {
            p { "Press Authorize and enter your key; open an operation, and press Execute. Requests change the data of this service. "
                "The key is forgotten when you leave this page. "
                "The " a href=(documentation) { "documentation" } " says what each operation does." }
        } @else {
            p { "This copy of the pages sends no requests, since the service does not allow other hosts to read its "
                "responses. The page " code { "/docs/try.html" } " of a running service does." }
        }
        noscript {
            p.notice { "This page needs JavaScript. The " a href=(documentation) { "documentation" } " does not." }
        }
        div #viewer data-document=(link(&path, &version.document("json"))) data-sends=(sends) {}
    };
    Page { head: Some(head), ..Page::of(&path, &title, "docs/try.html", main) }.file(site)
}

/// Returns when the version was released, whether there is a newer one, and links to its files.
fn state(site: &Site<'_>, version: &Version, path: &str) -> Markup {
    let release = site.released.iter().find(|past| version.is_released && past.version.name == version.name);
    let newest = site.released.first().filter(|newest| newest.version.name != version.name);
    let newest = newest.map(|newest| {
        html! { "The newest release is " a href=(link(path, &newest.version.page())) { (newest.version.name) } "." }
    });
    let [yaml, json] = ["yaml", "json"].map(|format| link(path, &version.document(format)));
    html! {
        @if let Some(past) = release {
            p.state {
                "Released on " time { (past.changes.date) } ". "
                a href=(link(path, &past.version.changes())) { "Changes in " (version.name) }
            }
            @if let Some(newest) = newest { p.notice { (newest) } }
        } @else {
            p.notice { strong { "Not released." } " This version may change." @if let Some(newest) = newest { " " (newest) } }
        }
        p {
            "The document: " a href=(yaml) { "YAML" } ", " a href=(json) { "JSON" } ". "
            a href=(link(path, &version.viewer())) { "Try it" } " sends requests, with JavaScript."
        }
    }
}

/// Returns the contact, the licence and other keywords.
fn about(info: &Node) -> Markup {
    html! {
        @for (words, keyword) in [("Contact: ", "contact"), ("Licence: ", "license")] {
            @if let Some(node) = info.get(keyword) {
                @let (name, url) = (text(node, "name"), text(node, "url"));
                @let name = if name.is_empty() { url } else { name };
                p { (words) @if is_outside(url) { a href=(url) { (name) } } @else { (name) } }
                (others(node, "name url"))
            }
        }
        (others(info, "title version description contact license"))
    }
}

/// Returns the base URLs: that of this service, or those that the document names.
fn servers(site: &Site<'_>, version: &Version) -> Markup {
    html! {
        h2 #servers { "Servers" (permalink("servers", "Servers")) }
        ul {
            @if *site.hosting == Hosting::Service { li { code { (site.base(version)) } " This service" } }
            @for (url, description) in version.spec().servers() {
                li { code { (url) } @if !description.is_empty() { " " (description) } }
            }
        }
    }
}

/// Returns the choice of the language of all samples.
fn languages() -> Markup {
    html! {
        fieldset.languages {
            legend.hidden { "Language of the samples" }
            @for (position, (name, id, _)) in LANGUAGES.iter().enumerate() {
                label {
                    input type="radio" name="language" id={ "language-" (id) } value=(id) checked[position == 0];
                    " " (name)
                }
            }
        }
    }
}

fn schemas(spec: &Spec<'_>) -> Markup {
    html! {
        h2 #schemas { "Schemas" (permalink("schemas", "Schemas")) }
        @for (name, schema) in spec.components("schemas") {
            @let id = anchor("schema", name);
            section.schema id=(id) {
                h3 { (name) (permalink(&id, name)) }
                p { (summary(spec, schema)) }
                (markdown::block(text(schema, "description")))
                (details(spec, schema, 0))
                @if let Some(example) = schema.get("example") {
                    figure { figcaption { "Example" } pre { code { (sample(example)) } } }
                }
            }
        }
    }
}

fn security_schemes(spec: &Spec<'_>) -> Markup {
    html! {
        h2 #credentials { "Credentials" (permalink("credentials", "Credentials")) }
        @for (name, scheme) in spec.components("securitySchemes") {
            @let scheme = spec.resolve(scheme);
            @let id = anchor("security", name);
            section id=(id) {
                h3 { (name) (permalink(&id, name)) }
                (markdown::block(text(scheme, "description")))
                (others(scheme, "description"))
            }
        }
    }
}

/// Returns the links to the parts of the page.
fn places(spec: &Spec<'_>, sections: &[Section]) -> Markup {
    html! {
        ul {
            (headings(sections))
            li { a href="#servers" { "Servers" } }
            li {
                a href="#operations" { "Operations" }
                ul { @for operation in spec.operations() {
                    li {
                        a href={ "#" (anchor("operation", &operation.name())) } { (endpoint(&operation)) }
                        @if flag(operation.node, "deprecated") { " " span.deprecated { "deprecated" } }
                    }
                } }
            }
            li {
                a href="#schemas" { "Schemas" }
                ul { @for (name, _) in spec.components("schemas") {
                    li { a href={ "#" (anchor("schema", name)) } { (name) } }
                } }
            }
            li { a href="#credentials" { "Credentials" } }
        }
    }
}
