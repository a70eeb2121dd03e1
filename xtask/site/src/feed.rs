//! The feed of releases: Atom (RFC 4287).
//!
//! The library for HTML writes it: it escapes text in the same way as XML demands, and an element with braces is closed.
//! Its links are relative to its own address unless the URL of the site is known.

use maud::{PreEscaped, html};

use crate::File;
use crate::changelog::chapters;
use crate::layout::{Site, link};

const PATH: &str = "docs/releases.atom";

/// Returns the feed, if there is a release.
pub(crate) fn feed(site: &Site<'_>) -> Option<File> {
    let releases: Vec<_> =
        site.released.iter().filter_map(|version| Some((version, version.release.as_ref()?))).collect();
    let (_, (_, newest)) = releases.first()?;
    let (_, (first, _)) = releases.last()?;
    let to = |path: &str| site.url().map_or_else(|| link(PATH, path), |url| format!("{url}/{path}"));
    let name = |name: &str| html! { code { (name) } };
    let feed = html! {
        (PreEscaped("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"))
        feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en" {
            title { (characters(&format!("Releases of {}", site.title()))) }
            id { (identifier(first, 1)) }
            updated { (newest.date) "T00:00:00Z" }
            author { name { (characters(site.title())) } }
            link rel="self" type="application/atom+xml" href=(to(PATH)) {}
            link rel="alternate" type="text/html" href=(to("docs/changelog.html")) {}
            @for (version, (files, release)) in &releases {
                entry {
                    title { (characters(&format!("{} {}", site.title(), version.name))) }
                    id { (identifier(files, 0)) }
                    updated { (release.date) "T00:00:00Z" }
                    link rel="alternate" type="text/html" href=(to(&version.changes().unwrap_or_default())) {}
                    content type="html" {
                        @let sentence = release.without_changes().map(|sentence| html! { p { (sentence) } });
                        @let changes = html! { @if let Some(sentence) = sentence { (sentence) } (chapters(release, &name)) };
                        (characters(&changes.into_string()))
                    }
                }
            }
        }
    };
    Some(File::text(PATH, feed.into_string() + "\n"))
}

/// Returns a permanent identifier: a UUID of version 8 (RFC 9562, section 5.8) from the checksum of a file of the release,
/// which never changes.
fn identifier(release: &crate::Released, file: usize) -> String {
    let sum = release.files.get(file).map(|(_, sum)| sum.as_str()).unwrap_or_default();
    let digits: String =
        sum.chars().filter(char::is_ascii_hexdigit).chain(std::iter::repeat('0')).take(32).collect();
    format!(
        "urn:uuid:{}-{}-8{}-8{}-{}",
        &digits[..8],
        &digits[8..12],
        &digits[13..16],
        &digits[17..20],
        &digits[20..]
    )
}

/// Returns text without the characters that XML 1.0 cannot contain (section 2.2).
fn characters(text: &str) -> String {
    let is_allowed = |character: &char| !character.is_control() || matches!(character, '\t' | '\n' | '\r');
    let is_allowed =
        |character: &char| is_allowed(character) && !matches!(character, '\u{fffe}' | '\u{ffff}');
    text.chars().filter(is_allowed).collect()
}
