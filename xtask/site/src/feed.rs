//! The feed of releases: Atom (RFC 4287).
//!
//! The library for HTML writes it: it escapes text in the same way as XML demands, and an element with braces is closed.
//! Its links are relative to its own address unless the URL of the site is known.

use maud::{PreEscaped, html};

use crate::File;
use crate::changelog::chapters;
use crate::layout::{Past, Site, link};

const PATH: &str = "docs/releases.atom";

/// Returns the feed, if there is a release.
pub(crate) fn feed(site: &Site<'_>) -> Option<File> {
    let (newest, first) = (site.released.first()?, site.released.last()?);
    let to = |path: &str| site.url().map_or_else(|| link(PATH, path), |url| format!("{url}/{path}"));
    let name = |name: &str| html! { code { (name) } };
    let id = |name: String| identifier(site.sources.sum(&name));
    let feed = html! {
        (PreEscaped("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"))
        feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en" {
            title { (characters(&format!("Releases of {}", site.current.title()))) }
            id { (id(format!("{}.json", first.version.name))) }
            updated { (newest.changes.date) "T00:00:00Z" }
            author { name { (characters(site.current.title())) } }
            link rel="self" type="application/atom+xml" href=(to(PATH)) {}
            link rel="alternate" type="text/html" href=(to("docs/changelog.html")) {}
            @for Past { version, changes, .. } in &site.released {
                entry {
                    title { (characters(&format!("{} {}", site.current.title(), version.name))) }
                    id { (id(format!("{}.yaml", version.name))) }
                    updated { (changes.date) "T00:00:00Z" }
                    link rel="alternate" type="text/html" href=(to(&version.changes())) {}
                    content type="html" { (characters(&chapters(changes, &name).into_string())) }
                }
            }
        }
    };
    Some(File::text(PATH, feed.into_string() + "\n"))
}

/// Returns a permanent identifier: a UUID of version 8 (RFC 9562, section 5.8) from the checksum of a file of a release,
/// which never changes.
fn identifier(sum: &str) -> String {
    let digits = sum.chars().filter(char::is_ascii_hexdigit);
    let digits: String = digits.chain(std::iter::repeat('0')).take(32).collect();
    let parts = [&digits[..8], &digits[8..12], &digits[13..16], &digits[17..20], &digits[20..]];
    format!("urn:uuid:{}-{}-8{}-8{}-{}", parts[0], parts[1], parts[2], parts[3], parts[4])
}

/// Returns text without the characters that XML 1.0 cannot contain (section 2.2).
fn characters(text: &str) -> String {
    let is_allowed = |character: &char| match character {
        '\t' | '\n' | '\r' => true,
        character => !character.is_control() && !matches!(character, '\u{fffe}' | '\u{ffff}'),
    };
    text.chars().filter(is_allowed).collect()
}
