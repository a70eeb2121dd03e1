//! Builds a Rust file from items, with imports for the names that they use.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::Token;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};

/// The names that generated code may import, by module.
pub(super) const IMPORTS: [(&str, &str); 8] = [
    ("schemars", "JsonSchema"),
    ("schemars::r#gen", "SchemaGenerator"),
    ("schemars::schema", "Schema"),
    ("serde", "Deserialize Serialize"),
    (
        "crate::http::dropshot",
        "self HttpResponseAccepted HttpResponseCreated HttpResponseDeleted HttpResponseError HttpResponseHeaders \
         HttpResponseOk HttpResponseUpdatedNoContent Path Query RequestContext TypedBody endpoint",
    ),
    ("crate::http::error_code", "ErrorCode"),
    ("crate::service", "Service"),
    ("crate::storage", "StoreError"),
];

/// A Rust file. The imports are derived from the names that the items use.
#[derive(Default)]
pub(super) struct Code {
    /// Names from `crate::schemas`.
    schemas: BTreeSet<String>,
    items: Vec<TokenStream>,
    /// The names of existing types.
    taken: BTreeSet<String>,
}

impl Code {
    /// Returns an empty file in which these names are used already.
    pub(super) fn with_taken(taken: BTreeSet<String>) -> Self {
        Self { taken, ..Self::default() }
    }

    pub(super) fn import_schema(&mut self, name: &str) {
        self.schemas.insert(name.to_owned());
    }

    pub(super) fn push_first(&mut self, item: TokenStream) {
        self.items.insert(0, item);
    }

    pub(super) fn push(&mut self, item: TokenStream) {
        self.items.push(item);
    }

    /// Returns this name, with a number appended if it is used already.
    pub(super) fn free(&mut self, name: &str) -> Ident {
        let mut free = name.to_owned();
        let mut number = 2;
        while !self.taken.insert(free.clone()) {
            free = format!("{name}{number}");
            number += 1;
        }
        format_ident!("{free}")
    }

    /// Returns the text of the file, with an empty line between items.
    pub(super) fn text(&self, comment: &str) -> Result<String, String> {
        let (mut used, mut items) = (Used::default(), String::new());
        let mut file = parsed(&self.items.iter().cloned().collect())?;
        used.visit_file(&file);
        for item in std::mem::take(&mut file.items) {
            file.items = vec![item];
            items.push('\n');
            items.push_str(&prettyplease::unparse(&file));
        }
        Ok(format!("//! {}\n\n{}{items}", plain(comment), self.imports(&used.0)))
    }

    /// Returns the `use` declarations in two groups: other crates, this crate.
    fn imports(&self, used: &BTreeSet<String>) -> String {
        let mut by_parent = BTreeMap::from(IMPORTS.map(|(parent, names)| {
            // The macro `endpoint` needs the name of its module.
            let is_used = |name: &&str| used.contains(if *name == "self" { "endpoint" } else { *name });
            (parent, names.split(' ').filter(is_used).collect::<Vec<_>>())
        }));
        by_parent.insert("crate::schemas", self.schemas.iter().map(String::as_str).collect());
        let mut groups = vec![String::new(); 2];
        for (parent, names) in by_parent {
            let names = match &names[..] {
                [] => continue,
                [name] => (*name).to_owned(),
                _ => format!("{{{}}}", names.join(", ")),
            };
            groups[usize::from(parent.starts_with("crate"))].push_str(&format!("use {parent}::{names};\n"));
        }
        groups.retain(|group| !group.is_empty());
        groups.join("\n")
    }
}

/// Collects the names that items use: the first segment of each path and of each derived trait.
#[derive(Default)]
struct Used(BTreeSet<String>);

impl<'ast> Visit<'ast> for Used {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.0.extend(path.segments.first().map(|segment| segment.ident.to_string()));
        visit::visit_path(self, path);
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        visit::visit_attribute(self, attribute);
        if attribute.path().is_ident("derive") {
            let traits = attribute.parse_args_with(Punctuated::<syn::Path, Token![,]>::parse_terminated);
            traits.iter().flatten().for_each(|path| self.visit_path(path));
        }
    }
}

/// Formats an item.
pub(super) fn formatted(item: &TokenStream) -> Result<String, String> {
    parsed(item).map(|file| prettyplease::unparse(&file))
}

fn parsed(item: &TokenStream) -> Result<syn::File, String> {
    let file = syn::parse2(item.clone());
    file.map_err(|error| format!("the generated text is not valid Rust: {error}: {item}"))
}

/// Returns a doc comment: the first sentence of a description, or `otherwise`.
pub(super) fn doc(description: Option<&str>, otherwise: &str) -> TokenStream {
    let text = description.map(str::trim).filter(|text| !text.is_empty()).unwrap_or(otherwise);
    let paragraph: Vec<&str> = text.lines().take_while(|line| !line.trim().is_empty()).collect();
    let paragraph = plain(&paragraph.join(" "));
    let sentence = paragraph.split_inclusive(". ").next().unwrap_or_default();
    let comment = format!(" {}", sentence.trim());
    quote! { #[doc = #comment] }
}

/// Makes text safe for a one-line comment: removes control characters, and those that change the direction of text, which
/// the compiler rejects.
fn plain(text: &str) -> String {
    let is_bidirectional = |character| matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let words = text.split(|character: char| {
        character.is_whitespace() || character.is_control() || is_bidirectional(character)
    });
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}
