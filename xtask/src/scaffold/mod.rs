//! `cargo xtask scaffold`: generates Rust code for operations and schemas that the document has and the code lacks.
//!
//! The generated code compiles without warnings and agrees with the document; whether types that the sources have do, is for
//! `cargo xtask check` to say. The operation itself is not implemented and returns 501. A construct that cannot be
//! generated is an error with its position.

mod code;
mod command;
mod edit;
mod generated_test;
mod missing;
mod names;
mod newtype;
mod operation;
mod parameters;
mod response;
mod sample;
mod types;
mod unsupported;

use std::collections::{BTreeMap, BTreeSet};

use document::Document;
use document::finding::{Finding, Severity};
use document::openapi::{Model, Operation, Schema};
use document::rule::Findings;

use crate::dropshot::source::{SchemaType, Sources};
use code::Code;
use missing::{MissingSchema, schemas_used};
use operation::OperationFile;
use types::{Scope, Types};
use unsupported::{Unsupported, UnsupportedAt};

pub use command::{Arguments, run};
pub use edit::{Addition, Position};

const SCHEMAS: &str = "src/schemas/mod.rs";
const OPERATIONS: &str = "src/operations/mod.rs";

/// The generated files, changes and remaining steps.
#[derive(Debug, Default)]
pub struct Scaffold {
    /// New files: paths relative to the root, and texts.
    pub files: Vec<(String, String)>,
    /// Lines for existing files.
    pub additions: Vec<Addition>,
    /// What cannot be generated, and why.
    pub errors: Vec<Finding>,
    /// The steps that remain to be done by hand, in order.
    pub steps: Vec<String>,
}

impl Scaffold {
    /// Generates everything that the code lacks, or one operation with the schemas it needs.
    ///
    /// # Errors
    /// A message, if the document does not have the operation.
    pub fn of(
        document: &Document,
        code: &Document,
        sources: &Sources,
        only: Option<&str>,
    ) -> Result<Self, String> {
        let mut invalid = Findings::default();
        let document = Model::of(document, &mut invalid);
        crate::rules::routes::check(&document, &mut invalid);
        let code = Model::of(code, &mut Findings::default());
        let mut errors = invalid.sorted();
        errors.retain(|finding| finding.severity >= Severity::Error);
        if !errors.is_empty() {
            return Ok(Self { errors, ..Self::default() });
        }
        let operations = missing::operations(&document, &code, only);
        let operations = operations
            .ok_or_else(|| format!("the document has no operation `{}`", only.unwrap_or_default()))?;
        let mut schemas = missing::schemas(&document, &code);
        schemas.retain(|wire, _| sources.schema(wire).is_none());
        if only.is_some() {
            let used: BTreeSet<_> = operations.iter().flat_map(schemas_used).collect();
            schemas.retain(|wire, _| used.contains(wire));
        }
        let mut scaffold = Self::default();
        let mut taken = names::reserved();
        taken.extend(sources.type_names().map(str::to_owned));
        let mut scope = Scope { sources, new: BTreeMap::new() };
        for (wire, missing) in &schemas {
            let (name, of) = (names::pascal(wire).to_string(), format!("The schema `{wire}`"));
            let reason = format!("the name `{name}` is used for something else in the code");
            let is_free = missing.schema.unsupported_if(!taken.insert(name.clone()), "", reason);
            scaffold.errors.extend(is_free.err().map(|error| error.finding(&of)));
            let MissingSchema { is_read, is_written, .. } = *missing;
            scope.new.insert(wire, SchemaType { name, is_read, is_written });
        }
        for (wire, of) in &scope.new {
            let added = scaffold.schema(&scope, schemas[wire].schema, wire, of, &mut taken);
            let error = added.err().map(|error| error.finding(&format!("The schema `{wire}`")));
            scaffold.errors.extend(error);
        }
        for operation in operations {
            let made = operation::make(operation, &scope, &code, Code::with_taken(taken.clone()));
            let added = made.and_then(|made| scaffold.operation(operation, made, sources));
            let error =
                added.err().map(|error| error.finding(&format!("The operation `{}`", operation.name())));
            scaffold.errors.extend(error);
        }
        if !scaffold.errors.is_empty() {
            // An operation is useless without all of its schemas.
            return Ok(Self { errors: scaffold.errors, ..Self::default() });
        }
        Ok(scaffold)
    }

    /// Adds a line to an existing file, at most once.
    fn add(&mut self, path: &str, position: Position, line: String) {
        let same = |known: &&mut Addition| known.path == path && known.position == position;
        match self.additions.iter_mut().find(same) {
            Some(known) if known.lines.contains(&line) => {}
            Some(known) => known.lines.push(line),
            None => self.additions.push(Addition { path: path.to_owned(), position, lines: vec![line] }),
        }
    }

    /// Adds the file of a schema.
    fn schema(
        &mut self,
        scope: &Scope<'_>,
        schema: Schema<'_>,
        wire: &str,
        of: &SchemaType,
        taken: &mut BTreeSet<String>,
    ) -> Result<(), Unsupported> {
        let module = names::file(wire)
            .ok_or_else(|| schema.unsupported("its name cannot be the name of a Rust module"))?;
        let mut types = Types::new(scope, Code::with_taken(taken.clone()), Some(schema.id));
        (types.read, types.written) = (of.is_read, of.is_written);
        types.component(schema, wire, &of.name)?;
        let text = types.code.text(&format!("`{wire}`.")).map_err(|reason| schema.unsupported(reason))?;
        taken.extend(types.made.iter().cloned());
        let path = format!("src/schemas/{module}.rs");
        self.steps.extend(types.notes.iter().map(|note| format!("{path}: {note}.")));
        self.files.push((path, text));
        self.add(SCHEMAS, Position::Modules, format!("mod {module};"));
        let export = match &types.made[..] {
            [only] => format!("pub use {module}::{only};"),
            all => format!("pub use {module}::{{{}}};", all.join(", ")),
        };
        self.add(SCHEMAS, Position::End, export);
        Ok(())
    }

    /// Adds the files of an operation, and the remaining steps.
    fn operation(
        &mut self,
        operation: Operation<'_>,
        made: OperationFile,
        sources: &Sources,
    ) -> Result<(), Unsupported> {
        let module = &made.module;
        let path = format!("src/operations/{module}.rs");
        if self.files.iter().any(|(known, _)| *known == path) {
            return Err(operation.unsupported(format!("another operation has the file `{module}.rs`")));
        }
        self.files.push((path.clone(), made.text.clone()));
        self.add(OPERATIONS, Position::Modules, format!("mod {module};"));
        self.add(OPERATIONS, Position::Registrations, format!("api.register({module}::{module})?;"));
        self.steps.extend(made.notes.iter().map(|note| format!("{path}: {note}.")));
        self.steps.push(format!(
            "{path}: replace `NotImplemented` with the implementation; until then the operation returns 501."
        ));
        let tests = generated_test::make(operation, &made, sources.shown().root(), self);
        self.steps.push(match tests {
            Ok(path) => format!(
                "{path}: the test fails with 501 until then. Add tests for each status, each parameter and both storage engines."
            ),
            Err(reason) => format!(
                "tests/http/v1: write a test of `{}`. None was generated, because no value can be derived: {reason}. \
                 Add an `example` to the document to have one generated.",
                operation.name()
            ),
        });
        Ok(())
    }
}
