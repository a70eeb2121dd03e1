//! The feed of releases, read by a library for Atom.

use std::fs;
use std::path::Path;

use atom_syndication::{Entry, Feed, Text};
use site::sources::{self, RELEASED};
use site::{Hosting, Sources, build};

const DOCUMENT: &str = "openapi: 3.0.3\ninfo: {title: \"Toys & \\u0001<b>\", version: 1.1.0}\npaths: {}\n";
const OLD: &str = "openapi: 3.0.3\ninfo: {title: Toys, version: 1.0.0}\npaths: {}\n";

/// Writes releases as `cargo xtask release` does, and reads them.
fn read(directory: &Path) -> Sources {
    let released = directory.join(RELEASED);
    fs::create_dir_all(&released).unwrap();
    let mut sums = String::new();
    for (version, document, previous, digit) in
        [("1.0.0", OLD, "null", '1'), ("1.1.0", DOCUMENT, "\"1.0.0\"", '2')]
    {
        let change = r#"{"chapter": "Added", "rule": "r", "severity": "info", "sentence": "A <b> & `c`", "impact": "More ` of it.",
            "description": null, "waiver": null, "operations": [], "places": []}"#;
        let changes = if previous == "null" { "" } else { change };
        let changes = format!(
            r#"{{"version": "{version}", "date": "2026-11-2{digit}", "previous": {previous}, "changes": [{changes}]}}"#
        );
        for (extension, content) in [("yaml", document), ("json", "{}"), ("changes.json", &changes)] {
            fs::write(released.join(format!("{version}.{extension}")), content).unwrap();
            sums += &format!("{}  {version}.{extension}\n", digit.to_string().repeat(64));
        }
    }
    fs::write(released.join("SHA256SUMS"), sums).unwrap();
    fs::write(directory.join(sources::DOCUMENT), DOCUMENT).unwrap();
    fs::write(directory.join(sources::CLIENTS), "# Clients\n").unwrap();
    Sources::read(directory).unwrap()
}

fn feed(url: Option<&str>) -> Feed {
    let directory = tempfile::tempdir().unwrap();
    let hosting = Hosting::Static { url: url.map(str::to_owned) };
    let files = build(&read(directory.path()), &hosting).unwrap();
    let file = files.into_iter().find(|file| file.path == "docs/releases.atom").unwrap();
    let content = String::from_utf8(file.content).unwrap();
    Feed::read_from(content.as_bytes()).unwrap_or_else(|error| panic!("{error}: {content}"))
}

fn link(entry: &Entry) -> &str {
    assert_eq!(entry.links().len(), 1);
    &entry.links()[0].href
}

#[test]
fn it_has_the_releases_with_the_newest_first() {
    let feed = feed(None);
    // A control character cannot be in XML.
    assert_eq!(feed.title().as_str(), "Releases of Toys & <b>");
    assert_eq!(feed.updated().to_rfc3339(), "2026-11-22T00:00:00+00:00");
    assert_eq!(feed.authors().len(), 1);
    let titles: Vec<&Text> = feed.entries().iter().map(Entry::title).collect();
    assert_eq!(
        titles.iter().map(|title| title.as_str()).collect::<Vec<_>>(),
        ["Toys & <b> 1.1.0", "Toys & <b> 1.0.0"]
    );
    let content = feed.entries()[0].content().unwrap();
    assert_eq!(content.content_type(), Some("html"));
    assert!(content.value().unwrap().contains("<h2>Added</h2>"), "{content:?}");
    assert!(content.value().unwrap().contains("A &lt;b&gt; &amp; <code>c</code>."), "{content:?}");
    assert!(content.value().unwrap().contains("More ` of it."), "a backtick without a partner: {content:?}");
    assert!(feed.entries()[1].content().unwrap().value().unwrap().contains("The first release."));
}

#[test]
fn identifiers_follow_the_released_files_only() {
    let (relative, absolute) = (feed(None), feed(Some("https://docs.example.com/toys/")));
    let identifiers = |feed: &Feed| {
        let mut all: Vec<String> = feed.entries().iter().map(|entry| entry.id().to_owned()).collect();
        all.push(feed.id().to_owned());
        all
    };
    assert_eq!(identifiers(&relative), identifiers(&absolute));
    assert_eq!(relative.entries()[0].id(), "urn:uuid:22222222-2222-8222-8222-222222222222");
}

#[test]
fn a_damaged_checksum_is_no_defect() {
    let directory = tempfile::tempdir().unwrap();
    let mut sources = read(directory.path());
    let sums = sources.released.get_mut("SHA256SUMS").unwrap();
    *sums = sums.replace("2222", "é2é");
    let files = build(&sources, &Hosting::Static { url: None }).unwrap();
    assert!(files.iter().any(|file| file.path == "docs/releases.atom"));
}

#[test]
fn links_are_relative_unless_the_url_is_known() {
    let relative = feed(None);
    assert_eq!(link(&relative.entries()[0]), "../docs/1.1.0.changes.html");
    let absolute = feed(Some("https://docs.example.com/toys/"));
    assert_eq!(link(&absolute.entries()[0]), "https://docs.example.com/toys/docs/1.1.0.changes.html");
    let own: Vec<_> = absolute.links().iter().map(|link| (link.rel(), link.href())).collect();
    assert_eq!(
        own,
        [
            ("self", "https://docs.example.com/toys/docs/releases.atom"),
            ("alternate", "https://docs.example.com/toys/docs/changelog.html")
        ]
    );
}
