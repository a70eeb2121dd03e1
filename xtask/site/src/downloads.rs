//! What users of the API download: the files of each version, the commands that generate clients, and examples.

use maud::html;
use pulldown_cmark::HeadingLevel;

use crate::code::highlighted;
use crate::layout::{HOME, Page, Past, Site, contents, link};
use crate::markdown::{self, headings};
use crate::sources::SUMS;
use crate::{File, Hosting, ORIGIN};

const FILES: &str = "docs/files.html";
const CLIENTS: &str = "docs/clients.html";

/// Returns the files themselves: the documents, their checksums, and the example programs.
pub(crate) fn all(site: &Site<'_>) -> Vec<File> {
    let json = serde_json::to_string(&site.current.root).unwrap_or_default();
    let mut files =
        vec![File::text("openapi.yaml", site.sources.working.clone()), File::text("openapi.json", json)];
    // The list of checksums grows with each release.
    files.extend(site.sources.released.iter().map(|(name, content)| File {
        is_immutable: name != SUMS,
        ..File::text(format!("openapi/{name}"), content.clone())
    }));
    let examples = site.sources.examples.iter();
    files
        .extend(examples.map(|(name, content)| File::text(format!("docs/examples/{name}"), content.clone())));
    files
}

/// Returns the page with the files of each version and their checksums.
pub(crate) fn files(site: &Site<'_>) -> File {
    let main = html! {
        h1 { "Files" }
        p {
            a href=(link(FILES, "openapi.yaml")) { "openapi.yaml" } " and "
            a href=(link(FILES, "openapi.json")) { "openapi.json" }
            " are the document of version " (site.current.label()) ". The next version replaces them."
        }
        @if !site.released.is_empty() {
            p {
                "The files of a release never change. Beside each is its SHA-256 checksum; "
                a href=(link(FILES, &format!("openapi/{SUMS}"))) { "SHA256SUMS" } " has all of them. To check downloaded files:"
            }
            pre { code { (highlighted("sha256sum --check --ignore-missing SHA256SUMS", "sh")) } }
        }
        @for Past { version, .. } in &site.released {
            h2 { (version.name) }
            ul.files { @for extension in ["yaml", "json", "changes.json"] {
                @let name = format!("{}.{extension}", version.name);
                li { a href=(link(FILES, &format!("openapi/{name}"))) { (name) } " " code { (site.sources.sum(&name)) } }
            } }
        }
    };
    Page::of(FILES, "Files", FILES, main).file(site)
}

/// Returns the page with the instructions for clients: `openapi/clients.md` with the newest version, the URL of the service
/// and, if it is known, that of the site.
pub(crate) fn clients(site: &Site<'_>) -> File {
    let newest = site.released.first().map_or(&site.current, |past| &past.version);
    let mut text = site.sources.clients.replace("VERSION", &newest.name);
    text = text.replace("https://HOST/v1", &site.base(newest));
    let own = Some(ORIGIN).filter(|_| *site.hosting == Hosting::Service);
    let unknown = "\"${SITE:?set it to the address of these pages}\"";
    text = text.replace("https://SITE", site.url().or(own).unwrap_or(unknown));
    let (main, sections) = markdown::render(&text, HeadingLevel::H1, &|target| {
        let example = target.strip_prefix("examples/");
        let is_example = example.is_some_and(|name| site.sources.examples.contains_key(name));
        Some(match target {
            "CHANGELOG.md" => link(CLIENTS, "docs/changelog.html"),
            target if target.ends_with(".yaml") => link(CLIENTS, HOME),
            target if is_example => link(CLIENTS, &format!("docs/{target}")),
            // Other files of the repository are not part of the site.
            _ => return None,
        })
    });
    let aside = html! { div.aside { (contents(&html! { ul { (headings(&sections)) } })) } };
    Page { aside, ..Page::of(CLIENTS, "Clients", CLIENTS, main) }.file(site)
}
