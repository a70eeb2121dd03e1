//! `cargo xtask lsp`: the language server with the releases and the code of this project.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use document::finding::{Location, Subject};
use language_server::{Implementation, Project, serve};
use launcher::process::cargo;
use launcher::workspace::workspace;

use crate::dropshot::source::Sources;
use crate::release::released;
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
#[derive(Debug)]
pub struct Repository {
    /// The directory with `src` and the released documents.
    pub root: PathBuf,
    /// The document.
    pub spec: PathBuf,
    /// The code's document, instead of that of the service.
    pub code: Option<PathBuf>,
}

impl Project for Repository {
    fn root(&self) -> PathBuf {
        self.root.clone()
    }

    fn document(&self) -> Option<PathBuf> {
        Some(self.spec.clone())
    }

    fn releases(&self) -> Vec<PathBuf> {
        // Without releases there is no comparison.
        released(&self.root.join(RELEASED)).map(|it| it.into_values().collect()).unwrap_or_default()
    }

    fn implementation(&self) -> Option<Arc<dyn Implementation>> {
        Some(Arc::new(Code(Sources::read(&self.root))))
    }

    fn drift(&self, document: &Path) -> Option<Command> {
        let check = ["check", "--format", "json"];
        let mut command = match &self.code {
            // Nothing has to be built.
            Some(code) => {
                let mut command = Command::new(std::env::current_exe().ok()?);
                command.args(check).arg("--code").arg(code);
                command
            }
            None => {
                let mut command = cargo(&["xtask"]);
                command.args(check);
                command
            }
        };
        // The server reads the errors of the compiler.
        command.env("CARGO_TERM_COLOR", "never");
        command.arg("--root").arg(&self.root).arg("--spec").arg(document);
        Some(command)
    }

    fn scaffold(&self, document: &Path, operation: &str) -> Option<Command> {
        // Without `--` an operationId could be read as an option.
        let mut command = cargo(&["xtask", "scaffold", "--write", "--spec"]);
        command.arg(document).arg("--").arg(operation);
        Some(command)
    }
}

/// The sources, as they were when they were read.
struct Code(Sources);

impl std::fmt::Debug for Code {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "the sources of {}", self.0.shown().root().display())
    }
}

impl Implementation for Code {
    fn locate(&self, subject: &Subject) -> Option<Location> {
        self.0.place(subject)
    }

    fn text(&self, file: &str) -> Option<&str> {
        self.0.shown().text(file)
    }
}
