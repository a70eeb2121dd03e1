//! The files of each version, with their checksums.

use maud::{Markup, html};

use crate::File;
use crate::layout::{Page, Site, breakable, link};

const PATH: &str = "docs/files.html";

/// Returns the page.
pub(crate) fn page(site: &Site<'_>) -> File {
    let main = html! {
        h1 { "Files" }
        p { "A released file never changes; its checksum is SHA-256." }
        @if !site.current.is_released {
            h2 { (site.current.label()) }
            p { (of_working(site)) ". These files may change." }
        }
        @for version in &site.released {
            @if let Some((files, _)) = &version.release {
                h2 { (version.name) }
                ul.files { @for (name, sum) in &files.files {
                    li { a href=(link(PATH, &format!("openapi/{name}"))) { (name) } " " code { (sum) } }
                } }
            }
        }
        @if let Some(newest) = site.released.first() {
            h2 { "Check a file" }
            p { a href=(link(PATH, "openapi/SHA256SUMS")) { "SHA256SUMS" } " has all checksums. In a directory with it and "
                "the downloaded files:" }
            pre { code { "sha256sum --check --ignore-missing SHA256SUMS" } }
            h2 { "Newest" }
            p { (of_working(site)) @if site.current.is_released { " are the same as those of " (newest.name) "." }
                @else { " are not released." } }
        }
    };
    Page { path: PATH, title: "Files", bar: PATH, is_text: true, head: html! {}, aside: html! {}, main }
        .file(site)
}

/// Returns the links to the files of the working document.
fn of_working(site: &Site<'_>) -> Markup {
    html! {
        @for (position, format) in ["yaml", "json"].into_iter().enumerate() {
            @let path = site.current.document(format);
            @if position > 0 { " and " }
            a href=(link(PATH, &path)) { (breakable(&path)) }
        }
    }
}
