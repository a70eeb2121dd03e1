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
        {
            let json = _json.map_err(|problem| format!("{problem}; run `cargo xtask check`"));
            // progenitor panics on some documents; the message below names the part.
            std::panic::set_hook(Box::new(|_| {}));
            let client = json.and_then(|json| client::client(&json)).unwrap_or_else(|problem| {
                let message = format!("{}: {problem}", site::embedded::DOCUMENT);
                format!("compile_error!({message:?});")
            });
            std::fs::write(output.join("client.rs"), client)?;
        }
    }
    Ok(())
}

#[cfg(feature = "client")]
#[path = "tests/program/generator/client.rs"]
mod client;
