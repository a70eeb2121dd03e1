//! The pages of a version: its documentation, and the page that sends requests.

use document::Node;
use maud::{Markup, html};

use crate::layout::{HOME, Page, Site, Version, link, versions};
use crate::markdown::{self, Headings, Section, permalink};
use crate::operation::{Context, documentation, endpoint, section};
use crate::sample::LANGUAGES;
use crate::schema::{Nesting, details, others, summary};
use crate::spec::{Spec, anchor, entries, flag, items, text};
use crate::{File, Hosting, assets};

/// Returns the page of a version at a path.
pub(crate) fn page(site: &Site<'_>, version: &Version<'_>, path: &str) -> File {
    let spec = Spec { root: &version.root };
    let operations = spec.operations();
    let info = version.root.get("info");
    let title = info.map(|info| text(info, "title")).filter(|title| !title.is_empty()).unwrap_or("API");
    let description = info.map(|info| text(info, "description")).unwrap_or_default();
    let (description, sections) = markdown::render(description, Headings::Sections, &|_| None);
    let heading = format!("{title} {}", version.name);
    let (viewer, base) = (link(path, &version.viewer()), site.base(version));
    let context = Context { spec, viewer, base, description: &description.0 };
    let main = html! {
        h1 { (heading) }
        (state(site, version, path))
        (description)
        @if let Some(info) = info { (contact(info)) }
        (documentation(&version.root))
        (servers(site, version))
        section aria-labelledby="operations" {
            h2 #operations { "Operations" (permalink("operations", "Operations")) }
            (tags(&spec))
            (languages())
            @for operation in &operations { (section(&context, operation)) }
        }
        (schemas(&spec))
        (security_schemes(&spec))
    };
    let aside = html! {
        div.aside {
            (versions(site, path, version, |version| version.page()))
            nav.contents aria-label="On this page" {
                details {
                    summary { "On this page" }
                    (contents(&spec, &sections))
                }
            }
        }
    };
    Page { path, title: &heading, bar: HOME, is_text: true, head: html! {}, aside, main }.file(site)
}

/// Returns the interactive page of a version: Swagger UI, started by `assets/viewer.js`.
pub(crate) fn viewer(site: &Site<'_>, version: &Version<'_>) -> File {
    let path = version.viewer();
    let title = format!("Try {} {}", site.title(), version.name);
    let sends = *site.hosting == Hosting::Service;
    let head = html! {
        @for name in ["swagger-ui.css", "viewer.css"] { link rel="stylesheet" href=(link(&path, assets::path(name))); }
        @for name in ["swagger-ui-bundle.js", "viewer.js"] { script src=(link(&path, assets::path(name))) defer {} }
    };
    let documentation = link(&path, &version.page());
    let main = html! {
        h1 { (title) }
        (versions(site, &path, version, |version| version.viewer()))
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
    Page { path: &path, title: &title, bar: "docs/try.html", is_text: false, head, aside: html! {}, main }
        .file(site)
}

/// Returns when the version was released, whether there is a newer one, and links to its files.
fn state(site: &Site<'_>, version: &Version<'_>, path: &str) -> Markup {
    let is_same = |known: &&Version<'_>| version.is_released && known.name == version.name;
    let release = site.released.iter().find(is_same);
    let newest = site.released.first().filter(|newest| newest.name != version.name);
    html! {
        @match release.and_then(|release| release.release.as_ref()) {
            Some((_, changes)) => { p.state {
                "Released on " time { (changes.date) } ". "
                @if let Some(page) = release.and_then(Version::changes) {
                    a href=(link(path, &page)) { "Changes in " (version.name) }
                }
            } }
            None => { p.notice {
                strong { "Not released." } " This version may change."
                @if let Some(newest) = newest {
                    " The newest release is " a href=(link(path, &newest.page())) { (newest.name) } "."
                }
            } }
        }
        @if let (Some(_), Some(newest)) = (&version.release, newest) {
            p.notice { "The newest release is " a href=(link(path, &newest.page())) { (newest.name) } "." }
        }
        p {
            "The document: "
            @for (position, format) in ["yaml", "json"].into_iter().enumerate() {
                @if position > 0 { ", " }
                a href=(link(path, &version.document(format))) { (format.to_uppercase()) }
            }
            ". " a href=(link(path, &version.viewer())) { "Try it" } " sends requests, with JavaScript."
        }
    }
}

/// Returns the contact, the licence and the terms of service.
fn contact(info: &Node) -> Markup {
    let linked = |name: &str, url: &str| {
        let words = if name.is_empty() { url.to_owned() } else { name.to_owned() };
        let is_web = url.starts_with("https://") || url.starts_with("http://");
        html! { @if is_web { a href=(url) { (words) } } @else { (words) } }
    };
    let named = |keyword: &str| info.get(keyword).map(|node| linked(text(node, "name"), text(node, "url")));
    let email = info.get("contact").map(|contact| text(contact, "email")).filter(|email| email.contains('@'));
    let terms = Some(text(info, "termsOfService")).filter(|terms| !terms.is_empty());
    html! {
        @if let Some(contact) = named("contact") { p { "Contact: " (contact) } }
        @if let Some(email) = email { p { a href={ "mailto:" (email) } { (email) } } }
        @if let Some(licence) = named("license") { p { "Licence: " (licence) } }
        @if let Some(terms) = terms { p { "Terms of service: " (linked("", terms)) } }
    }
}

/// Returns the base URLs: that of this service, or those that the document names.
fn servers(site: &Site<'_>, version: &Version<'_>) -> Markup {
    let named = Spec { root: &version.root }.servers();
    html! {
        @if !named.is_empty() {
            h2 #servers { "Servers" (permalink("servers", "Servers")) }
            ul {
                @if *site.hosting == Hosting::Service { li { code { (site.base(version)) } " This service" } }
                @for (url, description) in named {
                    li { code { (url) } @if !description.is_empty() { " " (description) } }
                }
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

fn tags(spec: &Spec<'_>) -> Markup {
    html! {
        @for tag in items(spec.root, "tags") {
            div.tag {
                p { strong { (text(tag, "name")) } }
                (markdown::block(text(tag, "description"), Headings::Bold))
                (documentation(tag))
            }
        }
    }
}

fn schemas(spec: &Spec<'_>) -> Markup {
    let schemas: Vec<_> = spec.components("schemas").collect();
    html! {
        @if !schemas.is_empty() {
            h2 #schemas { "Schemas" (permalink("schemas", "Schemas")) }
            @for (name, schema) in schemas {
                @let id = anchor("schema", name);
                section.schema id=(id) {
                    h3 { (name) (permalink(&id, name)) }
                    p { (summary(spec, schema)) }
                    (markdown::block(text(schema, "description"), Headings::Bold))
                    (details(spec, schema, Nesting::COMPONENTS))
                    @if let Some(example) = schema.get("example") {
                        figure { figcaption { "Example" } pre { code { (crate::schema::sample(example)) } } }
                    }
                }
            }
        }
    }
}

fn security_schemes(spec: &Spec<'_>) -> Markup {
    let schemes: Vec<_> = spec.components("securitySchemes").collect();
    html! {
        @if !schemes.is_empty() {
            h2 #credentials { "Credentials" (permalink("credentials", "Credentials")) }
            @for (name, scheme) in schemes {
                @let scheme = spec.resolve(scheme);
                @let id = anchor("security", name);
                section id=(id) {
                    h3 { (name) (permalink(&id, name)) }
                    (markdown::block(text(scheme, "description"), Headings::Bold))
                    (others(scheme, &["description", "flows"]))
                    @for (flow, details) in entries(scheme, "flows") {
                        p { "Flow " code { (flow) } }
                        (others(details, &[]))
                    }
                }
            }
        }
    }
}

/// Returns the links to the parts of the page.
fn contents(spec: &Spec<'_>, sections: &[Section]) -> Markup {
    let schemas: Vec<_> = spec.components("schemas").collect();
    html! {
        ul {
            @for (title, id) in sections { li { a href={ "#" (id) } { (title) } } }
            @if !spec.servers().is_empty() { li { a href="#servers" { "Servers" } } }
            li {
                a href="#operations" { "Operations" }
                ul { @for operation in spec.operations() {
                    li {
                        a href={ "#" (anchor("operation", &operation.name())) } { (endpoint(&operation)) }
                        @if flag(operation.node, "deprecated") { " " span.deprecated { "deprecated" } }
                    }
                } }
            }
            @if !schemas.is_empty() {
                li {
                    a href="#schemas" { "Schemas" }
                    ul { @for (name, _) in schemas { li { a href={ "#" (anchor("schema", name)) } { (name) } } } }
                }
            }
            @if spec.components("securitySchemes").next().is_some() {
                li { a href="#credentials" { "Credentials" } }
            }
        }
    }
}
