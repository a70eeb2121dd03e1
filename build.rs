//! Embeds the OpenAPI document and the pages of its documentation, and generates the typed client of the tests, each with
//! its feature.
//!
//! An invalid document does not fail the build, so that the service can be linked and `cargo xtask check` can
//! explain what is wrong. The constant then contains an error, and the client a `compile_error!` that only the
//! tests see.

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "document")]
    {
        for path in site::embedded::INPUTS {
            println!("cargo::rerun-if-changed={path}");
        }
        let output = std::path::PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
        let _json = site::embedded::write(&output)?;
        #[cfg(feature = "client")]
        std::fs::write(output.join("client.rs"), client::generate(_json))?;
    }
    Ok(())
}

#[cfg(feature = "client")]
mod client {
    use std::panic;

    use progenitor::{GenerationSettings, Generator, InterfaceStyle};
    use site::embedded::DOCUMENT;

    pub(crate) fn generate(document: Result<String, String>) -> String {
        document.and_then(|json| client(&json)).unwrap_or_else(|problem| {
            let message = format!("{DOCUMENT}: {problem}; run `cargo xtask check`");
            format!("compile_error!({message:?});")
        })
    }

    fn client(json: &str) -> Result<String, String> {
        let document: openapiv3::OpenAPI = serde_json::from_str(json).map_err(|error| error.to_string())?;
        let tokens = without_panic(move || {
            let mut settings = GenerationSettings::new();
            settings.with_interface(InterfaceStyle::Builder);
            Generator::new(&settings).generate_tokens(&document).map_err(|error| error.to_string())
        })?;
        Ok(tokens.to_string())
    }

    /// progenitor panics on some documents.
    fn without_panic<T>(work: impl FnOnce() -> Result<T, String> + panic::UnwindSafe) -> Result<T, String> {
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
