//! The command: reads document and code, then prints or writes what is missing.

use std::path::PathBuf;

use document::Document;
use document::finding::Finding;
use launcher::workspace::workspace;

use super::Scaffold;
use checks::report::{self, About, Format, Report};

use crate::dropshot;
use crate::dropshot::source::Sources;
use crate::workspace::own_spec;

/// The options of the command.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// Only this operation, and the schemas that it needs.
    #[arg(value_name = "OPERATION_ID")]
    pub operation: Option<String>,
    /// The document to read [default: openapi/animal-store.yaml].
    #[arg(long, value_name = "FILE")]
    pub spec: Option<PathBuf>,
    /// Write the files and edit the existing ones, instead of printing them. Overwrites nothing.
    #[arg(long)]
    pub write: bool,
}

/// Runs the command. Returns the exit status: 1 if something cannot be generated, 2 if the document cannot be read.
///
/// # Errors
/// A message, if the document does not have the operation, the code has no document, or a file cannot be written.
pub fn run(arguments: &Arguments) -> Result<u8, String> {
    let root = workspace();
    let sources = Sources::read(&root);
    let document = match Document::load(&arguments.spec.clone().unwrap_or_else(own_spec)) {
        Ok(document) => document,
        Err(unreadable) => {
            let findings = [Finding::from(&unreadable)];
            print(About { path: &unreadable.path, text: &unreadable.text, findings: &findings }, &sources);
            return Ok(2);
        }
    };
    let code = dropshot::document()?;
    let made = Scaffold::of(&document, &code, &sources, arguments.operation.as_deref())?;
    print(About { path: &document.path, text: &document.text, findings: &made.errors }, &sources);
    match arguments.write {
        true => print!("{}", written(&made, &made.write(&root)?)),
        false => print!("{}", printed(&made)),
    }
    Ok(u8::from(!made.errors.is_empty()))
}

fn print(about: About<'_>, sources: &Sources) {
    let report = Report { command: "scaffold", files: &[about], sources: sources.shown(), summary: "" };
    report::print(Format::Text, &report);
}

const COMPLETE: &str = "The code has all requested operations and schemas; there is nothing to write.\n";

/// Formats the written files and the remaining steps.
fn written(made: &Scaffold, changed: &[String]) -> String {
    if changed.is_empty() && made.errors.is_empty() {
        return COMPLETE.to_owned();
    }
    let lines = changed.iter().map(|path| {
        let is_new = made.files.iter().any(|(new, _)| new == path);
        format!("{} {path}\n", if is_new { "wrote " } else { "edited" })
    });
    lines.collect::<String>() + &steps(made, "")
}

/// Formats all additions, each after a comment with its file and position.
fn printed(made: &Scaffold) -> String {
    if made.files.is_empty() && made.errors.is_empty() {
        return format!("// {COMPLETE}");
    }
    let mut text = String::new();
    for (path, file) in &made.files {
        text.push_str(&format!("// ---- new file {path}\n{file}\n"));
    }
    for addition in &made.additions {
        let lines = addition.lines.join("\n");
        text.push_str(&format!("// ---- {}, {}\n{lines}\n\n", addition.path, addition.position));
    }
    text + &steps(made, "// ")
}

fn steps(made: &Scaffold, prefix: &str) -> String {
    if made.files.is_empty() {
        return String::new();
    }
    let first = "Run `cargo fmt --all`.".to_owned();
    let last = "Run `cargo xtask check` and `cargo test`.".to_owned();
    let steps = [&first].into_iter().chain(&made.steps).chain([&last]).enumerate();
    let lines = steps.map(|(number, step)| format!("{prefix}  {}. {step}\n", number + 1));
    format!("{prefix}Left to do by hand, in this order:\n{}", lines.collect::<String>())
}
