//! The test of an operation: a request that is in order, and the status that the document promises for it.
//!
//! It fails as long as there is no behaviour: the document would promise what the service does not do, and
//! that must not pass CI.

use std::path::Path;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::code::formatted;
use super::operation::{Made, Operation};
use super::place::{Addition, Where};
use super::{Scaffold, names};

/// The tests' tree, which mirrors the URLs.
const TESTS: &str = "tests/http/v1";

/// The text of the test.
pub(super) fn make(operation: &Operation, made: &Made) -> Result<String, String> {
    let id = operation.id()?;
    let method = format_ident!("{}", operation.method.to_uppercase());
    let target = format!("/v1{}", made.taken.target);
    let status = proc_macro2::Literal::u16_unsuffixed(made.status);
    let name = format_ident!("{}_answers_{}", made.module, made.status);
    let body = match &made.taken.body {
        Some(body) => {
            let body = raw(&body.to_string())?;
            quote! { .header("content-type", "application/json").body(#body) }
        }
        None => TokenStream::new(),
    };
    let imports = formatted(&quote! { use reqwest::Method; })?;
    let own = formatted(&quote! { use crate::service::{Ask, Service}; })?;
    let test = formatted(&quote! {
        #[tokio::test]
        async fn #name() {
            let service = Service::start().await;
            let answer = service.request(Method::#method, #target) #body .answer().await;
            assert_eq!(answer.status, #status, "{}", answer.text());
        }
    })?;
    Ok(format!("//! `{id}`.\n\n{imports}\n{own}\n{test}"))
}

/// A text as a raw literal, which JSON reads better in.
fn raw(text: &str) -> Result<TokenStream, String> {
    let longest = text.split('"').skip(1).map(|rest| rest.len() - rest.trim_start_matches('#').len()).max();
    let hashes = "#".repeat(longest.map_or(1, |longest| longest + 1));
    format!("r{hashes}\"{text}\"{hashes}").parse().map_err(|error| format!("the body is no literal: {error}"))
}

/// Puts the test where its URL says, with the modules that lead there.
pub(super) fn place(made: &Made, url: &str, test: String, root: &Path, scaffold: &mut Scaffold) {
    let mut directory = TESTS.to_owned();
    let segments = url.split('/').filter(|segment| !segment.is_empty());
    for segment in segments {
        let module = names::bare(&names::snake(segment));
        module_in(&directory, &module, url, root, scaffold);
        directory = format!("{directory}/{module}");
    }
    module_in(&directory, &made.module, url, root, scaffold);
    scaffold.files.push((format!("{directory}/{}.rs", made.module), test));
}

/// Declares a module in the `mod.rs` of a directory, once.
fn module_in(directory: &str, module: &str, url: &str, root: &Path, scaffold: &mut Scaffold) {
    let path = format!("{directory}/mod.rs");
    let line = format!("mod {module};");
    if let Some((_, text)) = scaffold.files.iter_mut().find(|(known, _)| *known == path) {
        if !text.lines().any(|known| known == line) {
            text.push_str(&format!("{line}\n"));
        }
        return;
    }
    match std::fs::read_to_string(root.join(&path)) {
        Ok(text) if text.lines().any(|known| known == line) => {}
        Ok(_) => {
            let place = Where::BesideModules;
            match scaffold.additions.iter_mut().find(|known| known.path == path && known.place == place) {
                Some(addition) if addition.lines.contains(&line) => {}
                Some(addition) => addition.lines.push(line),
                None => scaffold.additions.push(Addition { path, place, lines: vec![line] }),
            }
        }
        Err(_) => {
            let part = directory.strip_prefix(TESTS).unwrap_or_default();
            let essay = if part.is_empty() { url } else { part };
            scaffold.files.push((path, format!("//! `/v1{essay}`.\n\n{line}\n")));
        }
    }
}
