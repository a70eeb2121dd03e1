//! What users of the API download: the files of each version, the commands that generate clients, and examples.

use maud::{Markup, html};

use crate::code::highlighted;
use crate::layout::{HOME, Page, Site, link};
use crate::markdown::{self, Headings, Section};
use crate::spec::anchor;
use crate::{File, Hosting, ORIGIN};

const FILES: &str = "docs/files.html";
const CLIENTS: &str = "docs/clients.html";
const EXAMPLES: &str = "docs/examples.html";

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
            pre { code { (highlighted("sha256sum --check --ignore-missing SHA256SUMS", "sh")) } }
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

/// Returns the page with the instructions for clients: `openapi/clients.md` with the newest version, the URL of the service
/// and, if it is known, that of the site.
pub(crate) fn clients(site: &Site<'_>) -> File {
    let newest = site.released.first().unwrap_or(&site.current);
    let mut text = site.sources.clients.replace("VERSION", &newest.name);
    text = text.replace("https://HOST/v1", &site.base(newest));
    let own = Some(ORIGIN).filter(|_| *site.hosting == Hosting::Service);
    let unknown = "\"${SITE:?set it to the address of these pages}\"";
    text = text.replace("https://SITE", site.url().or(own).unwrap_or(unknown));
    let is_example = |target: &str| {
        let name = target.strip_prefix("examples/")?;
        site.sources.examples.iter().any(|(known, _)| known == name).then(|| anchor("example", name))
    };
    let (main, sections) = markdown::render(&text, Headings::Page, &|target| {
        if let Some(example) = is_example(target) {
            return Some(format!("{}#{example}", link(CLIENTS, EXAMPLES)));
        }
        let page = match target {
            "CHANGELOG.md" => "docs/changelog.html",
            target if target.ends_with(".yaml") => HOME,
            // Other files of the repository are not part of the site.
            _ => return None,
        };
        Some(link(CLIENTS, page))
    });
    let aside = contents(&sections);
    Page { path: CLIENTS, title: "Clients", bar: CLIENTS, is_text: true, head: html! {}, aside, main }
        .file(site)
}

/// Returns the page that shows the example programs, and the programs. None if there are no examples.
pub(crate) fn examples(site: &Site<'_>) -> Vec<File> {
    let examples = &site.sources.examples;
    if examples.is_empty() {
        return Vec::new();
    }
    let path = |name: &str| format!("docs/examples/{name}");
    let main = html! {
        h1 { "Example programs" }
        p {
            "Each does the same in another language, with a generated client. "
            a href=(link(EXAMPLES, CLIENTS)) { "Clients" } " has the commands that generate the clients and run them."
        }
        @for (name, content) in examples {
            h2 id=(anchor("example", name)) { (name) }
            p { a href=(link(EXAMPLES, &path(name))) { "The file " (name) } }
            pre { code { (highlighted(content, name.rsplit('.').next().unwrap_or_default())) } }
        }
    };
    let sections: Vec<_> = examples.iter().map(|(name, _)| (name.clone(), anchor("example", name))).collect();
    let aside = contents(&sections);
    let page = Page {
        path: EXAMPLES,
        title: "Example programs",
        bar: CLIENTS,
        is_text: true,
        head: html! {},
        aside,
        main,
    };
    let files = examples.iter().map(|(name, content)| File::text(path(name), content.clone()));
    std::iter::once(page.file(site)).chain(files).collect()
}

/// Returns the list of the sections of a page, beside its content.
fn contents(sections: &[Section]) -> Markup {
    html! {
        div.aside {
            nav.contents aria-label="On this page" {
                details {
                    summary { "On this page" }
                    ul { @for (title, id) in sections { li { a href={ "#" (id) } { (title) } } } }
                }
            }
        }
    }
}
