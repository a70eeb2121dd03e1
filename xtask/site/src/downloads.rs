//! What users of the API download: the files of each version, and clients.

use maud::{Markup, html};

use crate::File;
use crate::layout::{HOME, Page, Site, link};
use crate::markdown::{self, Headings};

const FILES: &str = "docs/files.html";
const CLIENTS: &str = "docs/clients.html";

/// Returns the page with the files of each version and their checksums.
pub(crate) fn files(site: &Site<'_>) -> File {
    let main = html! {
        h1 { "Files" }
        p {
            (of_working(site)) " are the document of version " (site.current.label())
            ". The next version replaces them."
        }
        @if !site.released.is_empty() {
            p {
                "The files of a release never change. Beside each is its SHA-256 checksum; "
                a href=(link(FILES, "openapi/SHA256SUMS")) { "SHA256SUMS" } " has all of them. To check downloaded files:"
            }
            pre { code { "sha256sum --check --ignore-missing SHA256SUMS" } }
        }
        @for version in &site.released {
            @if let Some((files, _)) = &version.release {
                h2 { (version.name) }
                ul.files { @for (name, sum) in &files.files {
                    li { a href=(link(FILES, &format!("openapi/{name}"))) { (name) } " " code { (sum) } }
                } }
            }
        }
    };
    Page { path: FILES, title: "Files", bar: FILES, is_text: true, head: html! {}, aside: html! {}, main }
        .file(site)
}

/// Returns the links to the files of the working document.
fn of_working(site: &Site<'_>) -> Markup {
    html! {
        @for (position, format) in ["yaml", "json"].into_iter().enumerate() {
            @let path = site.current.document(format);
            @if position > 0 { " and " }
            a href=(link(FILES, &path)) { (path) }
        }
    }
}

/// Returns the page with the instructions for clients: `openapi/clients.md` with the newest version and the URL of the
/// site.
pub(crate) fn clients(site: &Site<'_>) -> File {
    let newest = site.released.first().map_or(&*site.current.name, |newest| &*newest.name);
    let mut text = site.sources.clients.replace("VERSION", newest);
    if let Some(url) = site.url() {
        text = text.replace("https://HOST", url);
    }
    let (main, sections) = markdown::render(&text, Headings::Page, &|target| {
        let page = match target {
            "CHANGELOG.md" => "docs/changelog.html",
            target if target.ends_with(".yaml") => HOME,
            // Other files of the repository are not part of the site.
            _ => return None,
        };
        Some(link(CLIENTS, page))
    });
    let aside = html! {
        div.aside {
            nav.contents aria-label="On this page" {
                details open {
                    summary { "On this page" }
                    ul { @for (title, id) in sections { li { a href={ "#" (id) } { (title) } } } }
                }
            }
        }
    };
    Page { path: CLIENTS, title: "Clients", bar: CLIENTS, is_text: true, head: html! {}, aside, main }
        .file(site)
}
