//! Generates the typed client of the tests from the OpenAPI document, when the feature `client` is on.
//!
//! It never fails over the document: `cargo xtask check` links the library, so it could then not explain
//! what is wrong. What cannot be generated becomes a `compile_error!` in the client instead, and only the
//! tests see it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "client")]
    client::generate();
}

#[cfg(feature = "client")]
#[path = "src/yaml/mod.rs"]
#[allow(dead_code, unreachable_pub, unused_imports)] // It is the library's module.
mod yaml;

#[cfg(feature = "client")]
mod client {
    use std::path::PathBuf;
    use std::{env, fs, panic};

    use progenitor::{GenerationSettings, Generator, InterfaceStyle};

    const DOCUMENT: &str = "openapi/animal-store.yaml";

    pub(crate) fn generate() {
        println!("cargo::rerun-if-changed={DOCUMENT}");
        println!("cargo::rerun-if-changed=src/yaml");
        let code = client().unwrap_or_else(|problem| {
            let message = format!("{DOCUMENT}: {problem}; `cargo xtask check` tells more");
            format!("compile_error!({message:?});")
        });
        let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
        fs::write(out.join("client.rs"), code).expect("OUT_DIR can be written");
    }

    fn client() -> Result<String, String> {
        let text = fs::read_to_string(DOCUMENT).map_err(|error| error.to_string())?;
        let json = super::yaml::read(&text).map_err(|problem| problem.to_string())?.to_json();
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
