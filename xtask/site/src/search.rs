//! The file that the search of the pages reads: what can be found, with the words to find it by.

use crate::File;
use crate::assets::hashed;
use crate::layout::Site;
use crate::markdown::{self, Headings};
use crate::spec::{Spec, anchor, entries, text};

/// Something to find: its title, its page and fragment, and its words. A fragment alone is one of the first page.
type Entry = (String, String, String);

/// Returns the file: a list of entries in JSON. It covers the working document, the changelog and the other pages.
pub(crate) fn index(site: &Site<'_>) -> File {
    let spec = Spec { root: &site.current.root };
    let mut found = sections(spec.root.get("info").map_or("", |info| text(info, "description")), "");
    found.extend(spec.operations().iter().map(|operation| {
        let parameters = spec.parameters(operation).into_iter();
        let parameters = parameters.map(|it| format!("{} {}", text(it, "name"), text(it, "description")));
        let words = [text(operation.node, "summary"), text(operation.node, "description")].map(str::to_owned);
        let words: Vec<String> = words.into_iter().chain(parameters).collect();
        let title = format!("{} {} {}", operation.method.to_uppercase(), operation.path, operation.name());
        (title, format!("#{}", anchor("operation", &operation.name())), words.join(" "))
    }));
    found.extend(spec.components("schemas").map(|(name, schema)| {
        let fields =
            entries(schema, "properties").map(|(name, it)| format!("{name} {}", text(it, "description")));
        let words: Vec<String> =
            std::iter::once(text(schema, "description").to_owned()).chain(fields).collect();
        (format!("Schema {name}"), format!("#{}", anchor("schema", name)), words.join(" "))
    }));
    found.extend(site.released.iter().filter_map(|version| {
        let (_, release) = version.release.as_ref()?;
        let sentences: Vec<&str> = release.changes.iter().map(|it| it.sentence.as_str()).collect();
        Some((format!("Changes in {}", version.name), version.changes()?, sentences.join(" ")))
    }));
    found.extend(sections(&site.sources.clients, "docs/clients.html"));
    let files = ("Files", "docs/files.html", "documents checksums SHA256SUMS YAML JSON");
    found.push((files.0.to_owned(), files.1.to_owned(), files.2.to_owned()));
    let found: Vec<Entry> =
        found.into_iter().map(|(title, path, words)| (title, path, plain(&words))).collect();
    let content = serde_json::to_vec(&found).unwrap_or_default();
    File { path: hashed("search.json", &content), content, is_immutable: true }
}

/// Returns the sections of a text on a page, and the rows of its tables that begin with a code.
fn sections(markdown: &str, page: &str) -> Vec<Entry> {
    let headings = if page.is_empty() { Headings::Sections } else { Headings::Page };
    let (_, titles) = markdown::render(markdown, headings, &|_| None);
    let parts = markdown.split("\n## ").skip(usize::from(!markdown.starts_with("## ")));
    let mut found = Vec::new();
    for ((title, id), part) in titles.into_iter().zip(parts) {
        let words = part.split_once('\n').map_or("", |(_, words)| words);
        found.push((title, format!("{page}#{id}"), words.to_owned()));
        let rows = part.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
        let row = |(code, meaning): (&str, &str)| {
            (code.to_owned(), format!("#{}", anchor("code", code)), meaning.to_owned())
        };
        found.extend(rows.map(row).filter(|_| page.is_empty()));
    }
    found
}

/// Returns the words of Markdown in one line.
fn plain(markdown: &str) -> String {
    let words = markdown.split(|character: char| character.is_whitespace() || "`|*#>".contains(character));
    words
        .filter(|word| !word.is_empty() && word.chars().any(char::is_alphanumeric))
        .collect::<Vec<_>>()
        .join(" ")
}
