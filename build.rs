//! Lists the released documents, and generates the typed client of the tests from the OpenAPI document
//! when the feature `client` is on.
//!
//! It never fails over the document: `cargo xtask check` links the library, so it could then not explain
//! what is wrong. What cannot be generated becomes a `compile_error!` in the client instead, and only the
//! tests see it.

use std::path::PathBuf;
use std::{env, fs, io};

const RELEASED: &str = "openapi/released";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={RELEASED}");
    let list = released().expect("the released documents can be listed");
    fs::write(out("released.rs"), list).expect("OUT_DIR can be written");
    #[cfg(feature = "client")]
    client::generate();
}

/// The released documents as Rust: a slice of their names and contents.
fn released() -> io::Result<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(RELEASED)? {
        let name = entry?.file_name().into_string().unwrap_or_default();
        names.extend(Some(name).filter(|name| name.ends_with(".yaml") || name.ends_with(".json")));
    }
    names.sort();
    let entry = |name: &String| {
        let path = format!("/{RELEASED}/{name}");
        format!("({name:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {path:?}))),")
    };
    Ok(format!("&[{}]", names.iter().map(entry).collect::<String>()))
}

fn out(file: &str) -> PathBuf {
    PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join(file)
}

#[cfg(feature = "client")]
mod client {
    use std::{fs, panic};

    use progenitor::{GenerationSettings, Generator, InterfaceStyle};

    const DOCUMENT: &str = "openapi/animal-store.yaml";

    pub(crate) fn generate() {
        println!("cargo::rerun-if-changed={DOCUMENT}");
        let code = client().unwrap_or_else(|problem| {
            let message = format!("{DOCUMENT}: {problem}; `cargo xtask check` tells more");
            format!("compile_error!({message:?});")
        });
        fs::write(super::out("client.rs"), code).expect("OUT_DIR can be written");
    }

    fn client() -> Result<String, String> {
        let text = fs::read_to_string(DOCUMENT).map_err(|error| error.to_string())?;
        let json = contract::document::read(&text).map_err(|problem| problem.to_string())?.to_json();
        let document: openapiv3::OpenAPI = serde_json::from_value(json).map_err(|error| error.to_string())?;
        let tokens = quietly(move || {
            let mut settings = GenerationSettings::new();
            settings.with_interface(InterfaceStyle::Builder);
            Generator::new(&settings).generate_tokens(&document).map_err(|error| error.to_string())
        })?;
        Ok(tokens.to_string())
    }

    /// progenitor panics on documents that it cannot digest.
    fn quietly<T>(work: impl FnOnce() -> Result<T, String> + panic::UnwindSafe) -> Result<T, String> {
        panic::set_hook(Box::new(|_| {}));
        let result = panic::catch_unwind(work);
        let _ = panic::take_hook();
        result.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given");
            Err(format!("progenitor cannot generate a client: {text}"))
        })
    }
}
