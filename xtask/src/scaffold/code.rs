//! A Rust file that is being written: its imports and its items.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;
use quote::quote;

/// A Rust file.
#[derive(Default)]
pub(super) struct Code {
    /// Full paths, each imported by its last name.
    uses: BTreeSet<&'static str>,
    /// Names from `crate::schemas`.
    schemas: BTreeSet<String>,
    items: Vec<TokenStream>,
    /// The names of the types in it, and of those that it imports.
    taken: BTreeSet<String>,
    /// The names of the items that were added once.
    once: BTreeSet<&'static str>,
}

impl Code {
    /// An empty file in which these names are in use.
    pub(super) fn with_taken(taken: BTreeSet<String>) -> Self {
        Self { taken, ..Self::default() }
    }

    pub(super) fn import(&mut self, path: &'static str) {
        self.uses.insert(path);
    }

    pub(super) fn import_all(&mut self, paths: &[&'static str]) {
        self.uses.extend(paths);
    }

    pub(super) fn import_schema(&mut self, name: &str) {
        self.schemas.insert(name.to_owned());
        self.taken.insert(name.to_owned());
    }

    /// Adds the contents of another file.
    pub(super) fn extend(&mut self, other: Self) {
        self.uses.extend(other.uses);
        self.schemas.extend(other.schemas);
        self.items.extend(other.items);
        self.taken.extend(other.taken);
    }

    pub(super) fn push_first(&mut self, item: TokenStream) {
        self.items.insert(0, item);
    }

    pub(super) fn push(&mut self, item: TokenStream) {
        self.items.push(item);
    }

    /// Adds an item that several others use, once.
    pub(super) fn push_once(&mut self, name: &'static str, item: TokenStream) {
        if self.once.insert(name) {
            self.items.push(item);
        }
    }

    /// This name, with a number if it is in use.
    pub(super) fn free(&mut self, name: &str) -> String {
        let mut free = name.to_owned();
        let mut number = 2;
        while !self.taken.insert(free.clone()) {
            free = format!("{name}{number}");
            number += 1;
        }
        free
    }

    /// The text, with an empty line between items.
    pub(super) fn text(&self, comment: &str) -> Result<String, String> {
        let mut text = format!("//! {}\n\n{}", plain(comment), self.imports()?);
        for item in &self.items {
            text.push('\n');
            text.push_str(&formatted(item)?);
        }
        Ok(text)
    }

    /// The `use` declarations: the standard library, other crates, this one.
    fn imports(&self) -> Result<String, String> {
        let mut by_parent: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for path in &self.uses {
            if let Some((parent, name)) = path.rsplit_once("::") {
                by_parent.entry(parent).or_default().insert(name);
            }
        }
        if !self.schemas.is_empty() {
            by_parent.entry("crate::schemas").or_default().extend(self.schemas.iter().map(String::as_str));
        }
        let mut groups = [String::new(), String::new(), String::new()];
        for (parent, names) in by_parent {
            let names = names.into_iter().collect::<Vec<_>>().join(", ");
            let names = if names.contains(", ") { format!("{{{names}}}") } else { names };
            let item: TokenStream = format!("use {parent}::{names};")
                .parse()
                .map_err(|error| format!("`{parent}` cannot be imported: {error}"))?;
            let group = match parent.split("::").next() {
                Some("std") => 0,
                Some("crate") => 2,
                _ => 1,
            };
            groups[group].push_str(&formatted(&item)?);
        }
        let groups: Vec<String> = groups.into_iter().filter(|group| !group.is_empty()).collect();
        Ok(groups.join("\n"))
    }
}

/// Rust in the usual layout.
pub(super) fn formatted(item: &TokenStream) -> Result<String, String> {
    let file = syn::parse2::<syn::File>(item.clone());
    let file = file.map_err(|error| format!("the generated text is not Rust: {error}: {item}"))?;
    Ok(prettyplease::unparse(&file))
}

/// A doc comment: the first sentence of a description, or `otherwise`.
pub(super) fn doc(description: Option<&str>, otherwise: &str) -> TokenStream {
    let text = description.map(str::trim).filter(|text| !text.is_empty()).unwrap_or(otherwise);
    let paragraph: Vec<&str> = text.lines().take_while(|line| !line.trim().is_empty()).collect();
    let paragraph = plain(&paragraph.join(" "));
    let sentence = paragraph.split_inclusive(". ").next().unwrap_or_default();
    let comment = format!(" {}", sentence.trim());
    quote! { #[doc = #comment] }
}

/// Text for a comment of one line: without control characters and those that change the direction of text,
/// which the compiler refuses.
fn plain(text: &str) -> String {
    let is_bidirectional = |character| matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let words = text.split(|character: char| {
        character.is_whitespace() || character.is_control() || is_bidirectional(character)
    });
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}
