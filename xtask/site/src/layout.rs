//! The frame of each page, and links between pages.

use changes::Release;
use document::Node;
use maud::{DOCTYPE, Markup, html};

use crate::sources::{DOCUMENT, RELEASED};
use crate::spec::{Spec, text};
use crate::{File, Hosting, MISSING, ORIGIN, Sources, assets};

/// The path of the first page.
pub(crate) const HOME: &str = "index.html";
/// The pages that the bar of each page links to.
const BAR: [(&str, &str); 5] = [
    (HOME, "Documentation"),
    ("docs/try.html", "Try it"),
    ("docs/changelog.html", "Changelog"),
    ("docs/files.html", "Files"),
    ("docs/clients.html", "Clients"),
];
/// What a page may load: files of its own host. The service sends the same as a header, with `frame-ancestors`, which only
/// a header can have (Content Security Policy Level 3, section 3.3).
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; base-uri 'none'; form-action 'none'";

/// The documents, read.
pub(crate) struct Site<'a> {
    pub(crate) sources: &'a Sources,
    pub(crate) hosting: &'a Hosting,
    /// The working document.
    pub(crate) current: Version,
    /// The releases, the newest first.
    pub(crate) released: Vec<Past>,
    /// The path of the file that the search reads.
    pub(crate) search: String,
}

/// A version of the document.
pub(crate) struct Version {
    /// `info.version`, or the name of the file of a release.
    pub(crate) name: String,
    /// The tree.
    pub(crate) root: Node,
    /// Whether it is the working document, whose page is the first one.
    is_working: bool,
    /// Whether its text is that of a release.
    pub(crate) is_released: bool,
}

/// A release.
pub(crate) struct Past {
    pub(crate) version: Version,
    pub(crate) changes: Release,
}

impl<'a> Site<'a> {
    /// Reads the documents.
    ///
    /// # Errors
    /// A message, if one cannot be read.
    pub(crate) fn of(sources: &'a Sources, hosting: &'a Hosting) -> Result<Self, String> {
        let read =
            |name: &str, text: &str| document::read(text).map_err(|problem| format!("{name}: {problem}"));
        let root = read(DOCUMENT, &sources.working)?;
        let name = root.pointer("/info/version").and_then(Node::as_str).unwrap_or("unknown").to_owned();
        let is_released = sources.released.values().any(|text| *text == sources.working);
        let current = Version { name, root, is_working: true, is_released };
        let file = |name: &str| {
            sources.released.get(name).ok_or_else(|| format!("{RELEASED}/{name} is missing; restore it"))
        };
        let released = sources.versions().into_iter().map(|name| {
            let [yaml, json, changes] = ["yaml", "json", "changes.json"].map(|it| format!("{name}.{it}"));
            let root = file(&yaml).and_then(|text| read(&yaml, text))?;
            file(&json)?;
            let changes = serde_json::from_str(file(&changes)?)
                .map_err(|error| format!("{RELEASED}/{changes}: {error}"))?;
            let version = Version { name: name.to_owned(), root, is_working: false, is_released: true };
            Ok(Past { version, changes })
        });
        let released = released.collect::<Result<_, String>>()?;
        Ok(Self { released, sources, hosting, current, search: String::new() })
    }

    /// The URL of the site, without a slash at its end, if it is known.
    pub(crate) fn url(&self) -> Option<&str> {
        match self.hosting {
            Hosting::Static { url: Some(url) } => Some(url.trim_end_matches('/')),
            _ => None,
        }
    }

    /// The base URL of the service for a version: its own address, or the first server that the document names.
    pub(crate) fn base(&self, version: &Version) -> String {
        let server = version.spec().servers().into_iter().next().map_or_else(String::new, |(url, _)| url);
        match self.hosting {
            Hosting::Service => {
                let path = server.split_once("://").map_or(&*server, |(_, rest)| rest);
                let path = path.find('/').map_or("", |slash| &path[slash..]);
                format!("{ORIGIN}{}", path.trim_end_matches('/'))
            }
            Hosting::Static { .. } => server,
        }
    }
}

impl Version {
    pub(crate) fn spec(&self) -> Spec<'_> {
        Spec { root: &self.root }
    }

    /// `info.title`.
    pub(crate) fn title(&self) -> &str {
        let title = self.root.get("info").map(|info| text(info, "title"));
        title.filter(|title| !title.is_empty()).unwrap_or("API")
    }

    /// The path of its page.
    pub(crate) fn page(&self) -> String {
        self.path(HOME, "docs/VERSION.html")
    }

    /// The path of the page that sends requests.
    pub(crate) fn viewer(&self) -> String {
        self.path("docs/try.html", "docs/VERSION.try.html")
    }

    /// The path of the document in a format, `yaml` or `json`.
    pub(crate) fn document(&self, format: &str) -> String {
        self.path("openapi.", "openapi/VERSION.") + format
    }

    /// The path of the page with the changes of a release.
    pub(crate) fn changes(&self) -> String {
        self.path("", "docs/VERSION.changes.html")
    }

    fn path(&self, working: &str, released: &str) -> String {
        if self.is_working { working.to_owned() } else { released.replace("VERSION", &self.name) }
    }

    /// Its name, with a note if it is not released.
    pub(crate) fn label(&self) -> String {
        if self.is_released { self.name.clone() } else { format!("{} (not released)", self.name) }
    }
}

/// A page: its path, its title, and its parts.
pub(crate) struct Page<'a> {
    pub(crate) path: &'a str,
    pub(crate) title: &'a str,
    /// The page of the bar that it belongs to.
    pub(crate) bar: &'a str,
    /// The elements of the head of a page that has not the style of text.
    pub(crate) head: Option<Markup>,
    /// The navigation beside the content.
    pub(crate) aside: Markup,
    pub(crate) main: Markup,
}

impl<'a> Page<'a> {
    /// A page of text.
    pub(crate) fn of(path: &'a str, title: &'a str, bar: &'a str, main: Markup) -> Self {
        Self { path, title, bar, head: None, aside: html! {}, main }
    }

    /// Returns the whole page.
    pub(crate) fn file(self, site: &Site<'_>) -> File {
        let to = |target: &str| link(self.path, target);
        let content = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta http-equiv="Content-Security-Policy" content=(POLICY);
                    meta name="color-scheme" content="light dark";
                    title { (self.title) }
                    link rel="stylesheet" href=(to(assets::path("frame.css")));
                    @if self.head.is_none() {
                        @for name in ["site.css", "operation.css"] { link rel="stylesheet" href=(to(assets::path(name))); }
                    }
                    link rel="stylesheet" media="print" href=(to(assets::path("print.css")));
                    link rel="icon" type="image/png" href=(to(assets::path("favicon-32x32.png")));
                    @if !site.released.is_empty() {
                        link rel="alternate" type="application/atom+xml" title="Releases" href=(to("docs/releases.atom"));
                    }
                    @if let Some(head) = &self.head { (head) }
                    script src=(to(assets::path("site.js"))) data-search=(to(&site.search)) data-root=(to("")) defer {}
                }
                body {
                    a.skip href="#content" { "Skip to the content" }
                    header.bar {
                        a.brand href=(to(HOME)) { (site.current.title()) }
                        nav aria-label="Pages" {
                            ul {
                                @for (path, title) in BAR {
                                    li { a href=(to(path)) aria-current=[(path == self.bar).then_some("page")] { (title) } }
                                }
                            }
                        }
                        div.search role="search" hidden {
                            label { span.hidden { "Search" } input type="search" placeholder="Search"; }
                            ul.results aria-label="Results" {}
                        }
                    }
                    div.columns {
                        (self.aside)
                        main #content {
                            @if self.main.0.contains(ORIGIN) {
                                noscript { p.notice { "Replace " code { (ORIGIN) } " by the address of this service." } }
                            }
                            (self.main)
                        }
                    }
                    footer { p { (site.current.title()) " " (site.current.label()) } }
                }
            }
        };
        File::text(self.path, content.into_string() + "\n")
    }
}

/// Returns the relative link from one page to another file. The first page is the directory that it is in, since the
/// service serves it under another name. The page for missing pages is shown at any path.
pub(crate) fn link(from: &str, target: &str) -> String {
    if from == MISSING {
        return format!("/{}", if target == HOME { "docs" } else { target });
    }
    let up = "../".repeat(from.matches('/').count());
    match (target, up.as_str()) {
        (HOME, "") => "./".to_owned(),
        (HOME, up) => up.to_owned(),
        (target, up) => format!("{up}{target}"),
    }
}

/// Returns the links to the parts of a page, beside its content and folded on small screens.
pub(crate) fn contents(links: &Markup) -> Markup {
    html! {
        nav.contents aria-label="On this page" { details { summary { "On this page" } (links) } }
    }
}

/// Returns the list of versions to choose from. `path` returns the page of a version.
pub(crate) fn versions(site: &Site<'_>, page: &str, shown: &Version, path: fn(&Version) -> String) -> Markup {
    let released = site.released.iter().map(|past| (&past.version, &*past.changes.date));
    let unreleased = Some((&site.current, "")).filter(|(current, _)| !current.is_released);
    // The first page shows the working document, which may be a release too.
    let is_shown = |version: &Version| version.label() == shown.label();
    html! {
        nav.versions aria-label="Versions" {
            details {
                summary { "Version " (shown.label()) }
                ul {
                    @for (version, date) in unreleased.into_iter().chain(released) {
                        li {
                            a href=(link(page, &path(version))) aria-current=[is_shown(version).then_some("true")] {
                                (version.label())
                            }
                            @if !date.is_empty() { " " time { (date) } }
                        }
                    }
                }
            }
        }
    }
}
