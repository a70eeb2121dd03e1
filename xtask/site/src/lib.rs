//! Builds the published pages of an OpenAPI document: the documentation of each version, the changelog, the files with
//! their checksums, the commands and example programs for clients, and a feed of releases.
//!
//! All text is static HTML, readable without JavaScript; one page for each version sends requests, with Swagger UI. The
//! build script of the service embeds the pages, and `cargo xtask site` writes them for any web server. All links between
//! pages are relative, so the pages work from any directory. The service serves `index.html` at `/docs`, whose relative
//! links have the same base as those of `/index.html`.
//!
//! Modules, the lowest layer first: [`sources`] reads the files; `code`, `markdown`, `spec`, `schema`, `request`,
//! `sample` and `operation` render the parts of a document; `assets` are the files that pages load; `layout` is the frame
//! of a page; `reference`, `changelog`, `downloads`, `missing`, `search` and `feed` are the pages; [`embedded`] writes
//! them for the build script.

mod assets;
mod changelog;
mod code;
mod downloads;
pub mod embedded;
mod feed;
mod layout;
mod markdown;
mod missing;
mod operation;
mod reference;
mod request;
mod sample;
mod schema;
mod search;
pub mod sources;
mod spec;

pub use sources::Sources;

use layout::Site;

/// A file of the site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The path below the root of the site, without a leading slash. All but `index.html` are in `docs`.
    pub path: String,
    /// The content.
    pub content: Vec<u8>,
    /// Whether another content would have another path.
    pub is_immutable: bool,
}

impl File {
    /// Returns a file of text whose next version has the same path.
    pub fn text(path: impl Into<String>, content: String) -> Self {
        Self { path: path.into(), content: content.into_bytes(), is_immutable: false }
    }
}

/// The address of the service in its own pages, which `assets/site.js` replaces by the one that the reader uses. The domain
/// is reserved (RFC 2606).
pub const ORIGIN: &str = "https://this-service.invalid";
/// The page for readers who ask for one that does not exist. Only the service has it.
pub const MISSING: &str = "missing.html";

/// Where the pages are served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hosting {
    /// By the service itself; the interactive pages send requests to it.
    Service,
    /// By another web server. Responses of the service cannot be read by pages of other hosts, so the interactive pages
    /// send no requests.
    Static {
        /// The URL of the site, for the feed and for commands to copy. Without it, the feed has relative links.
        url: Option<String>,
    },
}

/// Builds the pages, the files that they load, and the documents.
///
/// # Errors
/// A message, if a document cannot be read.
pub fn build(sources: &Sources, hosting: &Hosting) -> Result<Vec<File>, String> {
    let mut site = Site::of(sources, hosting)?;
    let index = search::index(&site);
    site.search.clone_from(&index.path);
    let mut files = downloads::all(&site);
    for version in std::iter::once(&site.current).chain(site.released.iter().map(|past| &past.version)) {
        files.push(reference::page(&site, version));
        files.push(reference::viewer(&site, version));
    }
    files.extend(site.released.iter().map(|past| changelog::page(&site, past)));
    files.extend([changelog::index(&site), downloads::files(&site), downloads::clients(&site), index]);
    files.extend(feed::feed(&site));
    files.extend((*hosting == Hosting::Service).then(|| missing::page(&site)));
    files.extend(assets::files());
    Ok(files)
}
