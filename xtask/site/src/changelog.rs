//! The changelog: one page for each release, and a list of releases.

use document::release::{Entry, Release};
use maud::{Markup, html};

use crate::File;
use crate::layout::{Page, Site, Version, link};
use crate::markdown::code;
use crate::spec::{Spec, anchor};

const INDEX: &str = "docs/changelog.html";

/// Returns the list of releases.
pub(crate) fn index(site: &Site<'_>) -> File {
    let releases = site.released.iter().filter_map(|version| Some((version, &version.release.as_ref()?.1)));
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
        @for (version, release) in releases {
            section {
                h2 id=(anchor("version", &version.name)) {
                    a href=(link(INDEX, &version.changes().unwrap_or_default())) { (version.name) }
                }
                p { "Released on " time { (release.date) } ". " (counts(release)) }
                @if !release.changes.is_empty() { ul { @for change in &release.changes { li { (code(&change.sentence)) } } } }
            }
        }
    };
    Page { path: INDEX, title: "Changelog", bar: INDEX, is_text: true, head: html! {}, aside: html! {}, main }
        .file(site)
}

/// Returns the number of changes in each chapter, as a sentence.
fn counts(release: &Release) -> String {
    release.without_changes().unwrap_or_else(|| {
        let counts = release.chapters().map(|(title, entries)| format!("{title}: {}", entries.len()));
        format!("{}.", counts.collect::<Vec<_>>().join(", "))
    })
}

/// Returns the page of a release.
pub(crate) fn page(site: &Site<'_>, version: &Version<'_>) -> File {
    let path = version.changes().unwrap_or_default();
    let title = format!("Changes in {}", version.name);
    let release = version.release.as_ref().map(|(_, release)| release);
    let operations: Vec<_> = Spec { root: &version.root }.operations().iter().map(|it| it.name()).collect();
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
        @if let Some(release) = release {
            p { "Released on " time { (release.date) } "."
                @if let Some(previous) = &release.previous { " The version before it is " (previous) "." }
                " " a href=(documentation) { "Documentation of " (version.name) }
            }
            @if let Some(sentence) = release.without_changes() { p { (sentence) } }
            (chapters(release, &linked))
        }
        p { a href=(link(&path, INDEX)) { "All releases" } }
    };
    Page { path: &path, title: &title, bar: INDEX, is_text: true, head: html! {}, aside: html! {}, main }
        .file(site)
}

/// Returns the changes by chapter. `operation` returns the name of an operation, with a link if the page can have one.
pub(crate) fn chapters(release: &Release, operation: &dyn Fn(&str) -> Markup) -> Markup {
    html! {
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
