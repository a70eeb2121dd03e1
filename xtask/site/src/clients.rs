//! The instructions for clients: `openapi/clients.md` as a page, with the newest version and the URL of the site.

use maud::html;

use crate::File;
use crate::layout::{HOME, Page, Site, link};
use crate::markdown::{self, Headings};

const PATH: &str = "docs/clients.html";

/// Returns the page.
pub(crate) fn page(site: &Site<'_>) -> File {
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
        Some(link(PATH, page))
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
    Page { path: PATH, title: "Clients", bar: PATH, is_text: true, head: html! {}, aside, main }.file(site)
}
