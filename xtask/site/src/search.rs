//! The file that the search of the pages reads: what can be found, with the words to find it by.

use pulldown_cmark::HeadingLevel;

use crate::File;
use crate::assets::hashed;
use crate::layout::Site;
use crate::markdown::{self, words};
use crate::spec::{anchor, entries, text};

/// Something to find: its title, its page and fragment, and its words. A fragment alone is one of the first page.
type Entry = (String, String, String);

/// Returns the file: a list of entries in JSON. It covers the working document, the changelog and the other pages.
pub(crate) fn index(site: &Site<'_>) -> File {
    let spec = site.current.spec();
    let info = spec.root.get("info").map_or("", |info| text(info, "description"));
    let mut found = sections(info, HeadingLevel::H2, "");
    found.extend(spec.operations().iter().map(|operation| {
        let title = format!("{} {} {}", operation.method.to_uppercase(), operation.path, operation.name());
        let mut all =
            format!("{} {}", text(operation.node, "summary"), words(text(operation.node, "description")));
        for parameter in spec.parameters(operation) {
            all += &format!(" {} {}", text(parameter, "name"), words(text(parameter, "description")));
        }
        (title, format!("#{}", anchor("operation", &operation.name())), all)
    }));
    found.extend(spec.components("schemas").map(|(name, schema)| {
        let mut all = words(text(schema, "description"));
        for (name, property) in entries(schema, "properties") {
            all += &format!(" {name} {}", words(text(property, "description")));
        }
        (format!("Schema {name}"), format!("#{}", anchor("schema", name)), all)
    }));
    found.extend(site.released.iter().map(|past| {
        let sentences: Vec<String> =
            past.changes.changes.iter().map(|it| it.sentence.replace('`', "")).collect();
        (format!("Changes in {}", past.version.name), past.version.changes(), sentences.join(". "))
    }));
    found.extend(sections(&site.sources.clients, HeadingLevel::H1, "docs/clients.html"));
    let files = ["Files", "docs/files.html", "documents checksums SHA256SUMS YAML JSON"].map(str::to_owned);
    found.push(files.into());
    let content = serde_json::to_vec(&found).unwrap_or_default();
    File { path: hashed("search.json", &content), content, is_immutable: true }
}

/// Returns the sections of a text on a page, and the codes of the first page.
fn sections(text: &str, highest: HeadingLevel, page: &str) -> Vec<Entry> {
    let (_, sections) = markdown::render(text, highest, &|_| None);
    let entry = |it: markdown::Section| (it.title, format!("{page}#{}", it.id), it.words.trim().to_owned());
    sections.into_iter().map(entry).collect()
}
