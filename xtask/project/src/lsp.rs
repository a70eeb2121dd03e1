//! `cargo xtask lsp`: the language server with the releases and the code of this project.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use document::place::Subject;
use language_server::{Locate, Project, serve};
use xtask::process::cargo;
use xtask::workspace::workspace;

use crate::release::released;
use crate::source::Sources;
use crate::workspace::{RELEASED, SPEC};

/// The options of `cargo xtask lsp`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Options {
    /// The root of the project, instead of this workspace.
    #[arg(long, value_name = "DIRECTORY", hide = true)]
    pub root: Option<PathBuf>,
    /// The code's document as a JSON file, instead of that of the service.
    #[arg(long, value_name = "FILE", hide = true)]
    pub code: Option<PathBuf>,
    /// The document of the project, from its root [default: openapi/animal-store.yaml].
    #[arg(long, value_name = "FILE", hide = true)]
    pub spec: Option<PathBuf>,
}

/// Serves an editor until it sends `exit` or closes standard input. Returns the exit status.
pub fn run(options: &Options) -> u8 {
    let root = options.root.clone().unwrap_or_else(workspace);
    // The URIs of editors have no symbolic links or relative parts.
    let root = root.canonicalize().unwrap_or(root);
    let spec = root.join(options.spec.as_deref().unwrap_or(Path::new(SPEC)));
    serve(Arc::new(Repository { root, spec, code: options.code.clone() }))
}

/// This repository, or one like it.
struct Repository {
    /// The directory with `src` and the released documents.
    root: PathBuf,
    spec: PathBuf,
    /// The code's document, instead of that of the service.
    code: Option<PathBuf>,
}

impl Project for Repository {
    fn root(&self) -> PathBuf {
        self.root.clone()
    }

    fn document(&self) -> Option<PathBuf> {
        Some(self.spec.clone())
    }

    fn base(&self) -> Option<PathBuf> {
        // Without releases there is no comparison.
        released(&self.root.join(RELEASED)).ok()?.into_values().next_back()
    }

    fn implementation(&self) -> Option<Arc<Locate>> {
        let sources = Sources::read(&self.root);
        Some(Arc::new(move |subject: &Subject| sources.place(subject)))
    }

    fn drift(&self, document: &Path) -> Option<Command> {
        let mut command = match &self.code {
            // Nothing has to be built.
            Some(_) => Command::new(std::env::current_exe().ok()?),
            None => cargo(&["xtask"]),
        };
        command.args(["check", "--format", "json", "--root"]).arg(&self.root).arg("--spec").arg(document);
        if let Some(code) = &self.code {
            command.arg("--code").arg(code);
        }
        // The server reads the errors of the compiler.
        command.env("CARGO_TERM_COLOR", "never");
        Some(command)
    }
}
