//! A generated Rust file, and the names and comments in it.

use std::collections::{BTreeMap, BTreeSet};

use heck::{ToPascalCase, ToSnakeCase};

/// The names of types that generated code uses, which its own types must not have.
pub(super) const RESERVED: &str = "Box Debug Default Deserialize Err ErrorCode HttpResponseAccepted \
    HttpResponseCreated HttpResponseDeleted HttpResponseError HttpResponseHeaders HttpResponseOk \
    HttpResponseUpdatedNoContent JsonSchema None Ok Option Path Query RequestContext Result Schema SchemaGenerator \
    Serialize Service Some StoreError String TryFrom TypedBody Vec";

/// A file that is being generated. `cargo fmt` formats it later.
#[derive(Default)]
pub(super) struct File {
    /// The name of the schema that the file is for. `None` for the file of an operation.
    pub(super) schema: Option<String>,
    /// The imported names, by module.
    pub(super) imports: BTreeMap<&'static str, BTreeSet<String>>,
    pub(super) items: Vec<String>,
    /// The names of the types in the file.
    pub(super) types: Vec<String>,
    /// What the document requires and the types do not check.
    pub(super) notes: Vec<String>,
}

impl File {
    /// Imports names, separated by spaces.
    pub(super) fn import(&mut self, module: &'static str, names: &str) {
        self.imports.entry(module).or_default().extend(names.split(' ').map(str::to_owned));
    }

    /// The visibility of types and fields.
    pub(super) fn visibility(&self) -> &'static str {
        if self.schema.is_some() { "pub" } else { "pub(super)" }
    }

    /// Returns the text, with these lines at its beginning.
    pub(super) fn text(&self, head: &str) -> String {
        let mut groups = [String::new(), String::new()];
        for (module, names) in &self.imports {
            let names = names.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            groups[usize::from(module.starts_with("crate"))]
                .push_str(&format!("use {module}::{{{names}}};\n"));
        }
        format!("{head}\n{}\n{}", groups.join("\n"), self.items.join("\n"))
    }
}

/// Returns the name of a field, a function or a module.
pub(super) fn snake(wire: &str) -> Option<String> {
    identifier(wire, wire.to_snake_case())
}

/// Returns the name of a type or a variant.
pub(super) fn pascal(wire: &str) -> Option<String> {
    identifier(wire, wire.to_pascal_case())
}

/// Returns a name as an identifier, a raw one if it is a keyword. `None` for a name that cannot be one or that
/// is not ASCII (the name of a file of a module must be), and if its form in the document, `wire`, could end a comment.
fn identifier(wire: &str, name: String) -> Option<String> {
    let raw = format!("r#{name}");
    let is_identifier = |name: &String| syn::parse_str::<syn::Ident>(name).is_ok();
    [name, raw]
        .into_iter()
        .find(is_identifier)
        .filter(|_| wire.is_ascii() && !wire.contains(char::is_control))
}

/// Returns the line that gives a type, a field or a variant its name in the document, if they differ.
pub(super) fn renamed(name: &str, wire: &str) -> String {
    match name.trim_start_matches("r#") == wire {
        true => String::new(),
        false => format!("#[serde(rename = {wire:?})]\n"),
    }
}

/// Returns a doc comment: the first sentence of a description, or `otherwise`.
pub(super) fn doc(description: Option<&str>, otherwise: &str) -> String {
    let paragraph = description.unwrap_or_default().trim().split("\n\n").next().unwrap_or_default();
    let words = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let sentence = words.split_inclusive(". ").next().unwrap_or(otherwise);
    format!("/// {}", sentence.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_identifiers() {
        for (wire, field, kind) in [
            ("petId", Some("pet_id"), Some("PetId")),
            ("type", Some("r#type"), Some("Type")),
            ("x-request-id", Some("x_request_id"), Some("XRequestId")),
            ("\"; drop", Some("drop"), Some("Drop")),
            ("a\nb", None, None),
            ("self", None, None),
            ("2nd", None, None),
            ("☃", None, None),
            ("größe", None, None),
            ("", None, None),
        ] {
            assert_eq!((snake(wire).as_deref(), pascal(wire).as_deref()), (field, kind), "{wire}");
        }
    }
}
