//! The interactive page of a version: Swagger UI, started by `assets/viewer.js`.

use maud::html;

use crate::layout::{Page, Site, Version, link, versions};
use crate::{File, Hosting};

/// Returns the page of a version.
pub(crate) fn page(site: &Site<'_>, version: &Version<'_>) -> File {
    let path = version.viewer();
    let title = format!("Try {} {}", site.title(), version.name);
    let sends = *site.hosting == Hosting::Service;
    let head = html! {
        link rel="stylesheet" href="swagger-ui.css";
        link rel="stylesheet" href="viewer.css";
        script src="swagger-ui-bundle.js" defer {}
        script src="viewer.js" defer {}
    };
    let main = html! {
        h1 { (title) }
        (versions(site, &path, version, |version| version.viewer()))
        @if sends {
            p { "To try an operation, press Authorize and enter your key; open the operation, press Try it out, and "
                "Execute. The key stays in this page and is forgotten when you leave it." }
        } @else {
            p { "This copy of the pages sends no requests, since the service does not allow other hosts to read its "
                "responses. The page " code { "/docs/try.html" } " of a running service does." }
        }
        noscript {
            p.notice { "This page needs JavaScript. The " a href=(link(&path, &version.page())) { "documentation" }
                " does not." }
        }
        nav.parts aria-label="On this page" hidden { ul {} }
        div #viewer data-document=(link(&path, &version.document("json"))) data-sends=(sends) {}
    };
    Page { path: &path, title: &title, bar: "docs/try.html", is_text: false, head, aside: html! {}, main }
        .file(site)
}
