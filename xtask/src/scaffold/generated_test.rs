//! Generates the test of an operation: one valid request, and the declared status of success.
//!
//! The test fails until the operation is implemented, so that CI fails for a declared operation without behaviour.

use std::path::Path;

use document::openapi::Operation;
use proc_macro2::Literal;
use quote::{format_ident, quote};
use syn::ext::IdentExt;

use super::code::formatted;
use super::edit::Position;
use super::operation::OperationFile;
use super::sample;
use super::{Scaffold, names};

/// The directory of the tests, with a subdirectory for each segment of a path.
const TESTS: &str = "tests/http/v1";

/// Adds the test of an operation. Returns its path.
///
/// # Errors
/// The reason why no request can be derived from the document.
pub(super) fn make(
    operation: Operation<'_>,
    made: &OperationFile,
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
    scaffold.add(&format!("{directory}/mod.rs"), Position::Modules, format!("mod {};", made.module));
    Ok(path)
}

fn text(operation: Operation<'_>, made: &OperationFile) -> Result<String, String> {
    let request = sample::request(operation)?;
    let method = format_ident!("{}", operation.method().to_uppercase());
    let target = format!("/v1{}", request.target);
    let module = &made.module;
    let body = request.body.map(|body| raw(&body.to_string())).transpose()?;
    let body = body.map(|body| quote! { .header("content-type", "application/json").body(#body) });
    let success = Literal::u16_unsuffixed(made.status);
    // The store is empty, so the resource of the path may not exist.
    let absent = operation.path().contains('{') && operation.responses().any(|(status, _)| status == "404");
    let (suffix, other) = if absent { ("_or_404", Some(quote! { , 404 })) } else { ("", None) };
    let name = format_ident!("{module}_returns_{success}{suffix}");
    let test = formatted(&quote! {
        #[tokio::test]
        async fn #name() {
            let service = Service::start().await;
            let response = service.request(Method::#method, #target) #body .response().await;
            assert!([#success #other].contains(&response.status), "{}: {}", response.status, response.text());
        }
    })?;
    let imports = "use reqwest::Method;\n\nuse crate::service::{RequestExt, Service};";
    Ok(format!("//! `{}`.\n\n{imports}\n\n{test}", operation.name()))
}

/// Returns JSON as a raw string literal.
fn raw(text: &str) -> Result<Literal, String> {
    let mut hashes = "#".to_owned();
    while text.contains(&format!("\"{hashes}")) {
        hashes.push('#');
    }
    let literal = format!("r{hashes}\"{text}\"{hashes}").parse();
    literal.map_err(|error| format!("the body is not a literal: {error}"))
}
