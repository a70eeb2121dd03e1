//! The frame of each page, and links between pages.

use document::Node;
use document::release::Release;
use maud::{DOCTYPE, Markup, html};

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
    pub(crate) current: Version<'a>,
    /// The releases, the newest first.
    pub(crate) released: Vec<Version<'a>>,
    /// The path of the file that the search reads.
    pub(crate) search: String,
}

/// A version of the document.
pub(crate) struct Version<'a> {
    /// `info.version`, or the name of the file of a release.
    pub(crate) name: String,
    /// The tree.
    pub(crate) root: Node,
    /// The release. `None` for the working document.
    pub(crate) release: Option<(&'a crate::Released, Release)>,
    /// Whether its text is that of a release, if it is the working document.
    pub(crate) is_released: bool,
}

impl<'a> Site<'a> {
    /// Reads the documents.
    ///
    /// # Errors
    /// A message, if one cannot be read.
    pub(crate) fn of(sources: &'a Sources, hosting: &'a Hosting) -> Result<Self, String> {
        let read = |name: &str, text: &str| {
            document::read(text).map_err(|problem| format!("the document of version {name}: {problem}"))
        };
        let root = read("in work", &sources.working)?;
        let name = root.pointer("/info/version").and_then(Node::as_str).unwrap_or("unknown").to_owned();
        let is_released = sources.released.iter().any(|release| release.yaml == sources.working);
        let current = Version { name, root, release: None, is_released };
        let released = sources.released.iter().map(|release| {
            let name = release.version.clone();
            let root = read(&name, &release.yaml)?;
            let changes = serde_json::from_str(&release.changes)
                .map_err(|error| format!("the changes of version {name}: {error}"))?;
            Ok(Version { name, root, release: Some((release, changes)), is_released: true })
        });
        Ok(Self {
            released: released.collect::<Result<_, String>>()?,
            sources,
            hosting,
            current,
            search: String::new(),
        })
    }

    /// The title of the API.
    pub(crate) fn title(&self) -> &str {
        match self.current.root.get("info").map(|info| text(info, "title")) {
            None | Some("") => "API",
            Some(title) => title,
        }
    }

    /// The URL of the site, without a slash at its end, if it is known.
    pub(crate) fn url(&self) -> Option<&str> {
        match self.hosting {
            Hosting::Static { url: Some(url) } => Some(url.trim_end_matches('/')),
            _ => None,
        }
    }

    /// The base URL of the service for a version: its own address, or the first server that the document names.
    pub(crate) fn base(&self, version: &Version<'_>) -> String {
        let server = Spec { root: &version.root }
            .servers()
            .into_iter()
            .next()
            .map_or_else(String::new, |(url, _)| url);
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

impl Version<'_> {
    /// The path of its page with a permanent address, or of the first page for the working document.
    pub(crate) fn page(&self) -> String {
        self.release.as_ref().map_or_else(|| HOME.to_owned(), |_| format!("docs/{}.html", self.name))
    }

    /// The path of the page that sends requests.
    pub(crate) fn viewer(&self) -> String {
        let path = |_| format!("docs/{}.try.html", self.name);
        self.release.as_ref().map_or_else(|| "docs/try.html".to_owned(), path)
    }

    /// The path of the document in a format, `yaml` or `json`.
    pub(crate) fn document(&self, format: &str) -> String {
        let path = |_| format!("openapi/{}.{format}", self.name);
        self.release.as_ref().map_or_else(|| format!("openapi.{format}"), path)
    }

    /// The path of the page with its changes. The working document has none.
    pub(crate) fn changes(&self) -> Option<String> {
        self.release.as_ref().map(|_| format!("docs/{}.changes.html", self.name))
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
    /// Whether it has the style of text. The viewer has a style of its own.
    pub(crate) is_text: bool,
    /// More elements of the head.
    pub(crate) head: Markup,
    /// The navigation beside the content.
    pub(crate) aside: Markup,
    pub(crate) main: Markup,
}

impl Page<'_> {
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
                    @if self.is_text {
                        @for name in ["site.css", "operation.css"] { link rel="stylesheet" href=(to(assets::path(name))); }
                    }
                    link rel="stylesheet" media="print" href=(to(assets::path("print.css")));
                    link rel="icon" type="image/png" href=(to(assets::path("favicon-32x32.png")));
                    @if !site.released.is_empty() {
                        link rel="alternate" type="application/atom+xml" title="Releases" href=(to("docs/releases.atom"));
                    }
                    (self.head)
                    script src=(to(assets::path("site.js"))) data-search=(to(&site.search)) data-root=(to("")) defer {}
                }
                body {
                    a.skip href="#content" { "Skip to the content" }
                    header.bar {
                        a.brand href=(to(HOME)) { (site.title()) }
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
                        main #content { (self.main) }
                    }
                    footer { p { (site.title()) " " (site.current.label()) } }
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

/// Returns the list of versions to choose from. `path` returns the page of a version.
pub(crate) fn versions(
    site: &Site<'_>,
    page: &str,
    shown: &Version<'_>,
    path: fn(&Version<'_>) -> String,
) -> Markup {
    let unreleased = Some(&site.current).filter(|current| !current.is_released);
    // The first page shows the working document, which may be a release too.
    let is_shown = |version: &Version<'_>| version.label() == shown.label();
    html! {
        nav.versions aria-label="Versions" {
            details {
                summary { "Version " (shown.label()) }
                ul {
                    @for version in unreleased.into_iter().chain(&site.released) {
                        li {
                            a href=(link(page, &path(version))) aria-current=[is_shown(version).then_some("true")] {
                                (version.label())
                            }
                            @if let Some((_, release)) = &version.release { " " time { (release.date) } }
                        }
                    }
                }
            }
        }
    }
}
