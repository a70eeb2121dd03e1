//! The changelog: one page for each release, and a list of releases.

use changes::{Entry, Release};
use maud::{Markup, html};

use crate::File;
use crate::layout::{Page, Past, Site, link};
use crate::markdown::code;
use crate::spec::anchor;

const INDEX: &str = "docs/changelog.html";

/// Returns the list of releases.
pub(crate) fn index(site: &Site<'_>) -> File {
    let main = html! {
        h1 { "Changelog" }
        @if site.released.is_empty() {
            p { "Nothing has been released yet." }
        } @else {
            p {
                "A breaking change increases the major version, an addition the minor version, and a change of words the "
                "patch version. " a href=(link(INDEX, "docs/releases.atom")) { "The feed of releases" } " is in Atom."
            }
        }
        @for Past { version, changes, .. } in &site.released {
            section {
                h2 id=(anchor("version", &version.name)) {
                    a href=(link(INDEX, &version.changes())) { (version.name) }
                }
                p { "Released on " time { (changes.date) } ". " (changes.without_changes().unwrap_or_default()) }
                @if !changes.changes.is_empty() {
                    ul { @for change in &changes.changes { li { (change.chapter) ": " (code(&change.sentence)) } } }
                }
            }
        }
    };
    Page::of(INDEX, "Changelog", INDEX, main).file(site)
}

/// Returns the page of a release.
pub(crate) fn page(site: &Site<'_>, Past { version, changes, .. }: &Past) -> File {
    let path = version.changes();
    let title = format!("Changes in {}", version.name);
    let operations: Vec<_> = version.spec().operations().iter().map(|it| it.name()).collect();
    let documentation = link(&path, &version.page());
    let linked = |name: &str| {
        let target = operations.iter().any(|known| known == name);
        html! {
            @if target { a href={ (documentation) "#" (anchor("operation", name)) } { code { (name) } } }
            @else { code { (name) } }
        }
    };
    let main = html! {
        h1 { (title) }
        p { "Released on " time { (changes.date) } "."
            @if let Some(previous) = &changes.previous { " The version before it is " (previous) "." }
            " " a href=(documentation) { "Documentation of " (version.name) }
        }
        (chapters(changes, &linked))
        p { a href=(link(&path, INDEX)) { "All releases" } }
    };
    Page::of(&path, &title, INDEX, main).file(site)
}

/// Returns the changes by chapter. `operation` returns the name of an operation, with a link if the page can have one.
pub(crate) fn chapters(release: &Release, operation: &dyn Fn(&str) -> Markup) -> Markup {
    html! {
        @if let Some(sentence) = release.without_changes() { p { (sentence) } }
        @for (title, entries) in release.chapters() {
            h2 { (title) }
            ul.changes { @for entry in entries { li { (change(entry, operation)) } } }
        }
    }
}

fn change(entry: &Entry, operation: &dyn Fn(&str) -> Markup) -> Markup {
    let severity = match (&entry.waiver, entry.severity.as_str()) {
        (Some(_), _) => "breaking, allowed by a waiver",
        (None, "error") => "breaking",
        (None, "warning") => "may affect clients",
        (None, _) => "compatible",
    };
    html! {
        p { (code(&entry.sentence)) "." }
        @if let Some(description) = &entry.description { p { (code(description)) } }
        dl {
            dt { "Impact" } dd { (code(&entry.impact)) " (" (severity) ")" }
            @if let Some(reason) = &entry.waiver { dt { "Waiver" } dd { (code(reason)) } }
            dt { "Operations" }
            dd {
                @if entry.operations.is_empty() { "the whole document" }
                @for (position, name) in entry.operations.iter().enumerate() {
                    @if position > 0 { ", " } (operation(name))
                }
            }
            dt { "Place" } dd { @for place in &entry.places { code { (place) } " " } }
            dt { "Rule" } dd { code { (entry.rule) } }
        }
    }
}
