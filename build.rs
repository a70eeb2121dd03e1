//! Prepares what the service says about its OpenAPI document as constants, builds the pages of its documentation, and
//! generates the typed client of the tests, each with its feature.
//!
//! An invalid document does not fail the build, so that the service can be linked and `cargo xtask check` can
//! explain what is wrong. The constant then contains an error, and the client a `compile_error!` that only the
//! tests see.

#[cfg(feature = "document")]
#[path = "build/document.rs"]
mod document;

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

    use super::document::Constants;

    pub(crate) const DOCUMENT: &str = "openapi/animal-store.yaml";
    const RELEASED: &str = "openapi/released";
    const CLIENTS: &str = "openapi/clients.md";
    /// Beside the instructions; [`site::Sources::read`] reads both.
    const EXAMPLES: &str = "openapi/examples";

    pub(crate) fn write() -> io::Result<()> {
        println!("cargo::rerun-if-changed={DOCUMENT}");
        println!("cargo::rerun-if-changed={RELEASED}");
        println!("cargo::rerun-if-changed={CLIENTS}");
        println!("cargo::rerun-if-changed={EXAMPLES}");
        let text = fs::read_to_string(DOCUMENT);
        let read = text.map_err(|error| error.to_string()).and_then(|text| Constants::read(&text));
        let constant = match (&read, pages()) {
            (Ok(constants), Ok(pages)) => {
                fs::write(out("openapi.json"), &constants.json)?;
                constants.to_rust(Path::new(DOCUMENT), &released()?, &write_pages(&pages)?)
            }
            (Err(problem), _) => {
                format!("Err({:?})", format!("{DOCUMENT}: {problem}; run `cargo xtask check`"))
            }
            (_, Err(problem)) => {
                format!("Err({:?})", format!("{problem}; run `cargo xtask release --verify`"))
            }
        };
        fs::write(out("document.rs"), constant)?;
        #[cfg(feature = "client")]
        fs::write(out("client.rs"), super::client::generate(read))?;
        Ok(())
    }

    /// Builds the pages as the service serves them.
    fn pages() -> Result<Vec<site::File>, String> {
        let sources = site::Sources::read(Path::new(DOCUMENT), Path::new(RELEASED), Path::new(CLIENTS))?;
        site::build(&sources, &site::Hosting::Service)
    }

    /// Writes the pages to `site` in the output directory. Returns their paths in it.
    fn write_pages(pages: &[site::File]) -> io::Result<Vec<String>> {
        for page in pages {
            let path = out("site").join(&page.path);
            fs::create_dir_all(path.parent().unwrap_or(&path))?;
            fs::write(path, &page.content)?;
        }
        Ok(pages.iter().map(|page| page.path.clone()).collect())
    }

    /// Returns the paths of the released files.
    fn released() -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(RELEASED)? {
            let name = entry?.file_name().into_string().unwrap_or_default();
            let is_published =
                |name: &String| [".yaml", ".json", "SUMS"].iter().any(|end| name.ends_with(end));
            names.extend(Some(name).filter(is_published));
        }
        names.sort();
        Ok(names.into_iter().map(|name| format!("{RELEASED}/{name}")).collect())
    }

    fn out(file: &str) -> PathBuf {
        PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join(file)
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
