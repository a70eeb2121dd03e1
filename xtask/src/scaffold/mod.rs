//! `cargo xtask scaffold`: generates the Rust code of an operation, and of the schemas that it needs and the code lacks.
//!
//! The generated code compiles without warnings and agrees with the document. The operation itself is not implemented and
//! returns 501. A construct that cannot be generated is an error with its position.

mod file;
mod operation;
mod schema;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use checks::report::{self, About, Format, Report};
use document::Document;
use document::finding::{Finding, Severity};
use document::openapi::{Model, Object};
use document::rule::Findings;
use launcher::workspace::{in_file, workspace};

use crate::dropshot::source::Sources;
use crate::workspace::own_spec;
use file::{File, RESERVED};

const SCHEMAS: &str = "src/schemas/mod.rs";
const OPERATIONS: &str = "src/operations/mod.rs";

/// The options of the command.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// The operation. The schemas that it needs are generated, too.
    #[arg(value_name = "OPERATION_ID")]
    pub operation: String,
    /// The document to read [default: openapi/animal-store.yaml].
    #[arg(long, value_name = "FILE")]
    pub spec: Option<PathBuf>,
}

/// Runs the command. Returns the exit status: 1 if something cannot be generated, 2 if the document cannot be read.
///
/// # Errors
/// A message, if a file exists or cannot be written.
pub fn run(arguments: &Arguments) -> Result<u8, String> {
    let root = workspace();
    let sources = Sources::read(&root);
    let print = |path: &str, text: &str, findings: &[Finding]| {
        let about = [About { path, text, findings }];
        let report = Report { command: "scaffold", files: &about, sources: sources.shown(), summary: "" };
        report::print(Format::Text, &report);
    };
    let document = match Document::load(&arguments.spec.clone().unwrap_or_else(own_spec)) {
        Ok(document) => document,
        Err(unreadable) => {
            print(&unreadable.path, &unreadable.text, &[Finding::from(&unreadable)]);
            return Ok(2);
        }
    };
    match Scaffold::of(&document, &sources, &arguments.operation) {
        Ok(scaffold) => print!("{}", scaffold.written(&scaffold.write(&root)?)),
        Err(errors) => {
            print(&document.path, &document.text, &errors);
            return Ok(1);
        }
    }
    Ok(0)
}

/// The generated files, changes and remaining steps.
#[derive(Debug, Default)]
pub struct Scaffold {
    /// New files: paths relative to the root, and texts.
    pub files: Vec<(String, String)>,
    /// Lines for existing files.
    lines: Vec<Line>,
    /// The steps that remain to be done by hand, in order.
    pub steps: Vec<String>,
}

/// A line to insert into an existing file.
#[derive(Debug)]
struct Line {
    path: &'static str,
    line: String,
    /// The text before which the line is inserted, with the end of the line before it.
    before: &'static str,
}

impl Scaffold {
    /// Generates an operation with the schemas that it needs, except what the code has.
    ///
    /// # Errors
    /// The errors of an invalid document, or what cannot be generated, and why.
    pub fn of(document: &Document, sources: &Sources, id: &str) -> Result<Self, Vec<Finding>> {
        let mut invalid = Findings::default();
        let model = Model::of(document, &mut invalid);
        crate::rules::routes::check(&model, &mut invalid);
        let mut errors = invalid.sorted();
        errors.retain(|finding| finding.severity >= Severity::Error);
        if !errors.is_empty() {
            return Err(errors);
        }
        let mut generator = Generator::new(sources);
        generator.all(&model, id).map_err(|error| vec![*error])?;
        Ok(generator.scaffold)
    }

    /// Adds the file of a module, and its declaration in the `mod.rs` beside it. `name` may be a raw identifier.
    fn module(&mut self, beside: &'static str, name: &str, text: String) {
        let file = name.trim_start_matches("r#");
        self.files.push((beside.replace("mod.rs", &format!("{file}.rs")), text));
        self.lines.push(Line { path: beside, line: format!("mod {name};"), before: "\nmod " });
    }

    /// Writes the new files and edits the existing ones. Returns the paths of these files.
    ///
    /// # Errors
    /// A message, if a new file exists or an existing file has no position for a line, in which case nothing is written;
    /// or if a file cannot be written.
    pub fn write(&self, root: &Path) -> Result<Vec<&str>, String> {
        let mut changed: BTreeMap<&str, String> = BTreeMap::new();
        for (path, text) in &self.files {
            if root.join(path).exists() {
                return Err(format!("{path}: the file exists; nothing was written"));
            }
            changed.insert(path, text.clone());
        }
        for Line { path, line, before } in &self.lines {
            let text = match changed.remove(path) {
                Some(text) => text,
                None => fs::read_to_string(root.join(path)).map_err(in_file(Path::new(path)))?,
            };
            if !text.contains(before) {
                let before = before.trim();
                return Err(format!("{path}: no line begins with `{before}`; add `{line}` by hand"));
            }
            changed.insert(path, text.replacen(before, &format!("\n{line}{before}"), 1));
        }
        for (path, text) in &changed {
            fs::write(root.join(path), text).map_err(in_file(Path::new(path)))?;
        }
        Ok(changed.into_keys().collect())
    }

    /// Formats the written files and the remaining steps.
    fn written(&self, paths: &[&str]) -> String {
        if paths.is_empty() {
            return "The code has the operation and its schemas; there is nothing to write.\n".to_owned();
        }
        let mut text = String::new();
        for path in paths {
            let is_new = self.files.iter().any(|(new, _)| new == path);
            text.push_str(&format!("{} {path}\n", if is_new { "wrote " } else { "edited" }));
        }
        text.push_str("Left to do by hand, in this order:\n  1. Run `cargo fmt --all`.\n");
        let last = "Run `cargo xtask check` and `cargo test`.".to_owned();
        for (step, number) in self.steps.iter().chain([&last]).zip(2..) {
            text.push_str(&format!("  {number}. {step}\n"));
        }
        text
    }
}

/// The result of generating a part: an error has the position of what cannot be generated.
type Generated<T> = Result<T, Box<Finding>>;

/// Returns an error about an object, or one of its keywords. The reason is the end of a sentence, without the full stop.
fn unsupported(of: Object<'_>, keyword: &str, reason: impl AsRef<str>) -> Box<Finding> {
    let at = of.key_spot(keyword);
    let subject = match at.subject.parts() {
        [] => "this".to_owned(),
        _ => at.subject.to_string(),
    };
    let message = format!("{subject} cannot be generated: {}.", reason.as_ref());
    Box::new(Finding::new(Severity::Error, "scaffold", &at.pointer, at.span).message(&at.subject, message))
}

/// Fails for keywords of an object that neither are known nor describe it only.
fn only(of: Object<'_>, known: &[&str]) -> Generated<()> {
    let mut keywords = of.node().entries().iter().map(|entry| entry.key.as_str());
    match keywords.find(|keyword| !known.contains(keyword) && !is_annotation(keyword)) {
        Some(keyword) => Err(unsupported(of, keyword, format!("`{keyword}` is not supported here"))),
        None => Ok(()),
    }
}

/// Whether a keyword has no effect on the code.
fn is_annotation(keyword: &str) -> bool {
    ["title", "summary", "description", "example", "examples", "externalDocs"].contains(&keyword)
        || keyword.starts_with("x-")
}

/// Generates one file after another.
struct Generator<'a> {
    sources: &'a Sources,
    scaffold: Scaffold,
    /// The names of all types that the code or a generated file has.
    taken: BTreeSet<String>,
    /// The file that is being generated.
    file: File,
    /// Whether requests contain its types.
    is_read: bool,
    /// Whether responses contain its types.
    is_written: bool,
    /// Whether the schemas are those of parameters, which are encoded as text.
    is_parameter: bool,
}

impl<'a> Generator<'a> {
    fn new(sources: &'a Sources) -> Self {
        let taken = sources.type_names().chain(RESERVED.split(' ')).map(str::to_owned).collect();
        Self {
            sources,
            scaffold: Scaffold::default(),
            taken,
            file: File::default(),
            is_read: false,
            is_written: false,
            is_parameter: false,
        }
    }

    /// Generates the schemas of an operation, then the operation.
    fn all(&mut self, model: &Model<'_>, id: &str) -> Generated<()> {
        let operation = model.operation(id).ok_or_else(|| {
            unsupported(model.root(), "paths", format!("no operation has the `operationId` `{id}`"))
        })?;
        // All errors have the same body, which the code has.
        let inputs = operation.parameters().into_iter().map(|parameter| *parameter);
        let successes = operation::successes(&operation).map(|(_, response)| *response);
        let needed = schema::used(inputs.chain(operation.child("requestBody")).chain(successes));
        let requests = model.operations().flat_map(|operation| {
            let parameters = operation.parameters().into_iter().map(|parameter| *parameter);
            parameters.chain(operation.child("requestBody"))
        });
        let read = schema::used(requests);
        let written = schema::used(model.operations().filter_map(|operation| operation.child("responses")));
        for (wire, schema) in model.schemas() {
            if needed.contains(wire) && self.sources.schema(wire).is_none() {
                (self.is_read, self.is_written) = (read.contains(wire), written.contains(wire));
                self.component(schema, wire)?;
            }
        }
        match self.sources.has_operation(operation.method(), operation.path()) {
            true => Ok(()),
            false => self.operation(operation, id),
        }
    }

    /// Reserves a name for a type of the current file.
    fn claim(&mut self, name: &str, of: Object<'_>) -> Generated<String> {
        let name = file::pascal(name).filter(|name| self.taken.insert(name.clone())).ok_or_else(|| {
            let reason =
                format!("the name of its type, from `{name}`, is used already or is not a name in Rust");
            unsupported(of, "", reason)
        })?;
        self.file.types.push(name.clone());
        Ok(name)
    }
}
