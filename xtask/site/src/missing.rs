//! The page for readers who ask for one that does not exist.

use maud::html;

use crate::layout::{HOME, Page, Site, link};
use crate::{File, MISSING};

/// Returns the page. The service shows it at any path, so its links begin at the root.
pub(crate) fn page(site: &Site<'_>) -> File {
    let main = html! {
        h1 { "There is no such page" }
        p { "Its address may be misspelled, or an earlier version of the service had it." }
        ul {
            li { a href=(link(MISSING, HOME)) { "Documentation of " (site.current.title()) } }
            li { a href=(link(MISSING, "docs/changelog.html")) { "What changed in each version" } }
        }
    };
    Page::of(MISSING, "Not found", "", main).file(site)
}
