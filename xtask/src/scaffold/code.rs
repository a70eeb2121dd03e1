//! A file in the making: what it imports, its items, and what stands above them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

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
}

impl Code {
    /// An empty file in which these names mean something already.
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

    /// Adds what another one holds.
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

    /// Adds an item that many have use for, once.
    pub(super) fn push_once(&mut self, name: &str, item: TokenStream) {
        if self.taken.insert(name.to_owned()) {
            self.items.push(item);
        }
    }

    /// The name, or one like it that is not taken yet.
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
    pub(super) fn text(&self, essay: &str) -> Result<String, String> {
        let mut text = String::new();
        for line in essay.lines() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{}", format!("//! {line}").trim_end());
        }
        text.push('\n');
        text.push_str(&self.imports()?);
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

/// Rust as people write it.
pub(super) fn formatted(item: &TokenStream) -> Result<String, String> {
    let file = syn::parse2::<syn::File>(item.clone());
    let file = file.map_err(|error| format!("what was made is no Rust: {error}: {item}"))?;
    Ok(prettyplease::unparse(&file))
}

/// Comments for people: the first sentence of a description, or what there is to say without one.
pub(super) fn doc(description: Option<&str>, otherwise: &str) -> TokenStream {
    let text = description.map(str::trim).filter(|text| !text.is_empty()).unwrap_or(otherwise);
    let paragraph: Vec<&str> =
        text.lines().take_while(|line| !line.trim().is_empty()).map(str::trim).collect();
    let paragraph = paragraph.join(" ");
    let sentence = paragraph.split_inclusive(". ").next().unwrap_or_default().trim();
    let comment = format!(" {sentence}");
    quote! { #[doc = #comment] }
}
