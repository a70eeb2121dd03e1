//! Prepares what the service says about its OpenAPI document as constants, builds the pages of its documentation, and
//! generates the typed client of the tests, each with its feature.
//!
//! An invalid document does not fail the build, so that the service can be linked and `cargo xtask check` can
//! explain what is wrong. The constant then contains an error, and the client a `compile_error!` that only the
//! tests see.

#[cfg(feature = "document")]
#[path = "build/document.rs"]
mod document;
#[cfg(feature = "document")]
#[path = "build/published.rs"]
mod published;

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    #[cfg(feature = "document")]
    constants::write()?;
    Ok(())
}

#[cfg(feature = "document")]
mod constants {
    use std::path::{Path, PathBuf};
    use std::{env, fs, io};

    use site::File;

    use super::document::Constants;
    use super::published;

    pub(crate) const DOCUMENT: &str = "openapi/animal-store.yaml";
    const RELEASED: &str = "openapi/released";
    const CLIENTS: &str = "openapi/clients.md";
    /// Beside the instructions; [`site::Sources::read`] reads both.
    const EXAMPLES: &str = "openapi/examples";

    pub(crate) fn write() -> io::Result<()> {
        for path in [DOCUMENT, RELEASED, CLIENTS, EXAMPLES] {
            println!("cargo::rerun-if-changed={path}");
        }
        let output = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
        let text = fs::read_to_string(DOCUMENT).map_err(|error| error.to_string());
        let read = text.and_then(|text| Ok((Constants::read(&text)?, text)));
        let constant = match (&read, pages()) {
            (Ok((constants, text)), Ok(pages)) => {
                let own = [("openapi.yaml", text), ("openapi.json", &constants.json)];
                let own = own.map(|(path, content)| File::text(path, content.clone()));
                let files = own.into_iter().chain(published::releases(Path::new(RELEASED))?).chain(pages);
                let files: io::Result<String> = files.map(|file| published::write(&output, &file)).collect();
                constants.to_rust(site::ORIGIN, &files?)
            }
            (Err(problem), _) => {
                format!("Err({:?})", format!("{DOCUMENT}: {problem}; run `cargo xtask check`"))
            }
            (_, Err(problem)) => {
                format!("Err({:?})", format!("{problem}; run `cargo xtask release --verify`"))
            }
        };
        fs::write(output.join("document.rs"), constant)?;
        #[cfg(feature = "client")]
        fs::write(output.join("client.rs"), super::client::generate(read.map(|(constants, _)| constants)))?;
        Ok(())
    }

    /// Builds the pages as the service serves them.
    fn pages() -> Result<Vec<File>, String> {
        let sources = site::Sources::read(Path::new(DOCUMENT), Path::new(RELEASED), Path::new(CLIENTS))?;
        site::build(&sources, &site::Hosting::Service)
    }
}

#[cfg(feature = "client")]
mod client {
    use std::panic;

    use progenitor::{GenerationSettings, Generator, InterfaceStyle};

    use super::constants::DOCUMENT;
    use super::document::Constants;

    pub(crate) fn generate(document: Result<Constants, String>) -> String {
        document.and_then(|document| client(&document.json)).unwrap_or_else(|problem| {
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
