//! The command: load, compare names, make, print or write.

use std::path::PathBuf;
use std::process::ExitCode;

use super::Scaffold;
use crate::dropshot::served;
use crate::dropshot::source::Sources;
use crate::workspace::{own_spec, workspace};
use contract::document::Document;
use contract::report::{self, About, Format};

/// What the command is asked to do.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// Only this operation, and the schemas that it needs.
    #[arg(value_name = "OPERATION_ID")]
    pub operation: Option<String>,
    /// The document to read, instead of the one in openapi/.
    #[arg(long, value_name = "FILE")]
    pub spec: Option<PathBuf>,
    /// Write the files and add the lines, instead of printing them. Overwrites nothing.
    #[arg(long)]
    pub write: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> ExitCode {
    match scaffold(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            if !problem.is_empty() {
                anstream::eprintln!("error: {problem}");
            }
            ExitCode::from(2)
        }
    }
}

fn scaffold(arguments: &Arguments) -> Result<(), String> {
    let root = workspace();
    let spec = arguments.spec.clone().unwrap_or_else(own_spec);
    let document = Document::load(&spec).map_err(|unreadable| {
        let finding = contract::finding::Finding::from(&unreadable);
        let about = About { path: &unreadable.path, text: &unreadable.text, findings: &[finding] };
        report::print(Format::Text, &[about], Sources::none(&root).shown(), "");
        String::new()
    })?;
    let served =
        served::document().map_err(|problem| format!("the code describes no interface: {problem}"))?;
    let sources = Sources::read(&root);
    let made = Scaffold::of(&document, &served, &sources, arguments.operation.as_deref())?;
    if arguments.write {
        made.write(&root)?;
        for (path, _) in &made.files {
            println!("wrote {path}");
        }
        for addition in &made.additions {
            println!("added to {} {}:\n    {}", addition.path, addition.place, addition.lines.join("\n    "));
        }
        print!("{}", notes(&made));
        println!("Now: cargo fmt --all && cargo xtask check");
    } else {
        print!("{}", printed(&made));
    }
    Ok(())
}

/// All of it as text, each part under a comment that says where it belongs.
fn printed(made: &Scaffold) -> String {
    if made.files.is_empty() && made.notes.is_empty() {
        return "// The code has every operation and schema that the document has.\n".to_owned();
    }
    let mut text = notes(made);
    for (path, file) in &made.files {
        text.push_str(&format!("// ──── {path} (new)\n{file}\n"));
    }
    for addition in &made.additions {
        let lines = addition.lines.join("\n");
        text.push_str(&format!("// ──── {}, {}\n{lines}\n\n", addition.path, addition.place));
    }
    text.push_str("// Then: cargo fmt --all && cargo xtask check\n");
    text
}

fn notes(made: &Scaffold) -> String {
    made.notes.iter().map(|note| format!("// NOTE {note}\n")).collect()
}
