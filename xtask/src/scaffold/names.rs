//! Converts names of the document, which may be any text, to Rust identifiers.

use std::collections::BTreeSet;

use heck::{ToPascalCase, ToSnakeCase};
use proc_macro2::{Ident, Span};
use quote::format_ident;

use super::code::IMPORTS;

/// The names of types that generated code defines or that the prelude has.
const PRELUDE: &str = "Box Default None Ok Option Result Some String TryFrom Vec";

/// Returns the names that a generated type must not have.
pub(super) fn reserved() -> BTreeSet<String> {
    let names =
        IMPORTS.into_iter().map(|(_, names)| names).chain([PRELUDE]).flat_map(|names| names.split(' '));
    names.map(str::to_owned).collect()
}

/// Returns the name of a field, function or module.
pub(super) fn snake(wire: &str) -> Ident {
    ident(&ascii(&wire.to_snake_case()), "n_")
}

/// Returns the name of a type or variant.
pub(super) fn pascal(wire: &str) -> Ident {
    ident(&ascii(&wire.to_pascal_case()), "N")
}

/// Returns the variants of an enum, one for each string. Duplicate names get numbers.
pub(super) fn variants(words: &[&str]) -> Vec<(String, String)> {
    let mut variants: Vec<(String, String)> = Vec::new();
    for word in words {
        let wanted = pascal(word).to_string();
        let numbered = (2..).map(|number| format!("{}{number}", wanted.trim_end_matches('_')));
        let mut names = std::iter::once(wanted.clone()).chain(numbered);
        let free = names.find(|name| variants.iter().all(|(_, known)| known != name));
        variants.extend(free.map(|name| ((*word).to_owned(), name)));
    }
    variants
}

/// Returns the name of a module and its file. `None` for a keyword or the name of an imported crate.
pub(super) fn file(wire: &str) -> Option<String> {
    let name = ascii(&wire.to_snake_case());
    let hides = ["dropshot", "schemars", "serde", "serde_json", "std", "core"].contains(&name.as_str());
    (!hides && syn::parse_str::<Ident>(&name).is_ok()).then_some(name)
}

/// Removes all characters but ASCII letters, digits and underscores.
fn ascii(name: &str) -> String {
    name.chars().filter(|character| character.is_ascii_alphanumeric() || *character == '_').collect()
}

/// Returns the identifier for a name. `before` precedes a digit or an empty name.
fn ident(name: &str, before: &str) -> Ident {
    let name = match name.starts_with(|first: char| !first.is_ascii_digit()) {
        true => name.to_owned(),
        false => format!("{before}{name}"),
    };
    syn::parse_str(&name).unwrap_or_else(|_| match name.as_str() {
        // These keywords cannot be raw identifiers.
        "self" | "Self" | "super" | "crate" | "_" => format_ident!("{name}_"),
        _ => Ident::new_raw(&name, Span::call_site()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_becomes_a_rust_identifier() {
        for (wire, field, kind) in [
            ("petId", "pet_id", "PetId"),
            ("type", "r#type", "Type"),
            ("self", "self_", "Self_"),
            ("", "n_", "N"),
            ("2nd choice!", "n_2nd_choice", "N2ndChoice"),
            ("größe", "gre", "Gre"),
            ("x-request-id", "x_request_id", "XRequestId"),
            ("\"; drop", "drop", "Drop"),
        ] {
            assert_eq!((snake(wire).to_string().as_str(), pascal(wire).to_string().as_str()), (field, kind));
        }
        let numbered = variants(&["name", "-name", "Name", "name2"]).into_iter().map(|(_, name)| name);
        assert_eq!(numbered.collect::<Vec<_>>(), ["Name", "Name2", "Name3", "Name22"]);
        assert_eq!((file("removeToy").as_deref(), file("type"), file("☃")), (Some("remove_toy"), None, None));
    }
}
