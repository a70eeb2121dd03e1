//! The test of an operation: one request that the document allows, and the status that it promises.
//!
//! The test fails while the operation is not implemented, so that a promise without behaviour does not pass CI.

use std::path::Path;

use contract::openapi::Operation;
use proc_macro2::Literal;
use quote::{format_ident, quote};
use syn::ext::IdentExt;

use super::code::formatted;
use super::edit::Place;
use super::operation::Made;
use super::sample;
use super::{Scaffold, names};

/// The directory of the tests, which has one for each segment of a path.
const TESTS: &str = "tests/http/v1";

/// Adds the test of an operation. Returns its path.
///
/// # Errors
/// Why no request can be derived from the document.
pub(super) fn make(
    operation: Operation<'_>,
    made: &Made,
    root: &Path,
    scaffold: &mut Scaffold,
) -> Result<String, String> {
    let text = text(operation, made)?;
    let mut directory = TESTS.to_owned();
    for segment in operation.path().split('/').filter(|segment| !segment.is_empty()) {
        let below = format!("{directory}/{}", names::snake(segment).unraw());
        if !root.join(&below).join("mod.rs").exists() {
            break;
        }
        directory = below;
    }
    let path = format!("{directory}/{}.rs", made.module);
    scaffold.files.push((path.clone(), text));
    scaffold.add(&format!("{directory}/mod.rs"), Place::Modules, format!("mod {};", made.module));
    Ok(path)
}

fn text(operation: Operation<'_>, made: &Made) -> Result<String, String> {
    let request = sample::request(operation)?;
    let method = format_ident!("{}", operation.method().to_uppercase());
    let target = format!("/v1{}", request.target);
    let module = &made.module;
    let body = request.body.map(|body| raw(&body.to_string())).transpose()?;
    let body = body.map(|body| quote! { .header("content-type", "application/json").body(#body) });
    let success = Literal::u16_unsuffixed(made.status);
    // The store is empty, so what the path names may not exist.
    let absent = operation.path().contains('{') && operation.responses().any(|(status, _)| status == "404");
    let (suffix, other) = if absent { ("_or_404", Some(quote! { , 404 })) } else { ("", None) };
    let name = format_ident!("{module}_answers_{success}{suffix}");
    let test = formatted(&quote! {
        #[tokio::test]
        async fn #name() {
            let service = Service::start().await;
            let answer = service.request(Method::#method, #target) #body .answer().await;
            assert!([#success #other].contains(&answer.status), "{}: {}", answer.status, answer.text());
        }
    })?;
    let imports = "use reqwest::Method;\n\nuse crate::service::{Ask, Service};";
    Ok(format!("//! `{}`.\n\n{imports}\n\n{test}", operation.name()))
}

/// JSON as a raw string literal.
fn raw(text: &str) -> Result<Literal, String> {
    let mut hashes = "#".to_owned();
    while text.contains(&format!("\"{hashes}")) {
        hashes.push('#');
    }
    let literal = format!("r{hashes}\"{text}\"{hashes}").parse();
    literal.map_err(|error| format!("the body is not a literal: {error}"))
}
