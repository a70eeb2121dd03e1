//! `cargo xtask scaffold`: writes the Rust for operations and schemas that the document has and the code lacks.
//!
//! What is written compiles without warnings and agrees with the document. The operation itself is left to a
//! person: it answers 501. A construct for which no Rust can be written is an error, with its place.

mod answer;
mod bounds;
mod code;
mod command;
mod edit;
mod fields;
mod missing;
mod names;
mod newtype;
mod operation;
mod parameters;
mod refused;
mod routes;
mod sample;
mod test_of;
mod types;

use std::collections::{BTreeMap, BTreeSet};

use contract::document::Document;
use contract::finding::{Finding, Severity};
use contract::openapi::{Model, Operation, Schema};
use contract::rule::Findings;

use crate::dropshot::source::{SchemaType, Sources};
use code::Code;
use missing::{MissingSchema, schemas_used};
use operation::Made;
use refused::{Refuse, Refused};
use types::{Scope, Types};

pub use command::{Arguments, run};
pub use edit::{Addition, Place};

const SCHEMAS: &str = "src/schemas/mod.rs";
const OPERATIONS: &str = "src/operations/mod.rs";

/// What is added to the workspace.
#[derive(Debug, Default)]
pub struct Scaffold {
    /// New files: their paths from the root, and their texts.
    pub files: Vec<(String, String)>,
    /// Lines for existing files.
    pub additions: Vec<Addition>,
    /// What cannot be written, and why.
    pub errors: Vec<Finding>,
    /// What is left to do by hand, in order.
    pub steps: Vec<String>,
}

impl Scaffold {
    /// Everything that the document has and the code lacks, or one operation with the schemas it needs.
    ///
    /// # Errors
    /// A sentence, when the document has no such operation.
    pub fn of(
        document: &Document,
        code: &Document,
        sources: &Sources,
        only: Option<&str>,
    ) -> Result<Self, String> {
        let mut invalid = Findings::default();
        let document = Model::of(document, &mut invalid);
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
        if only.is_some() {
            let used: BTreeSet<_> = operations.iter().flat_map(schemas_used).collect();
            schemas.retain(|wire, _| used.contains(wire));
        }
        let mut scaffold = Self::default();
        let mut taken = names::reserved();
        taken.extend(sources.type_names().map(str::to_owned));
        let mut scope = Scope { sources, new: BTreeMap::new() };
        let mut failed = BTreeMap::new();
        for (wire, missing) in &schemas {
            match type_for(missing, wire, &mut taken, sources) {
                Ok(of) => scope.new.extend(of.map(|of| (*wire, of))),
                Err(refused) => failed.extend([(*wire, refused)]),
            }
        }
        for (wire, of) in &scope.new {
            let added = scaffold.schema(&scope, schemas[wire].schema, wire, of, &mut taken);
            failed.extend(added.err().map(|refused| (*wire, refused)));
        }
        for (wire, refused) in &failed {
            scaffold.errors.push(refused.finding(&format!("The schema `{wire}`")));
        }
        let mut routed: Vec<_> = code.path_items().map(|item| item.path()).collect();
        for operation in operations {
            let needed = schemas_used(&operation).into_iter().find(|name| failed.contains_key(name));
            let clash = routed.iter().find_map(|path| routes::clash(operation.path(), path));
            let made = match (needed, clash) {
                (Some(schema), _) => Err(operation.refused(format!("it needs the schema `{schema}`"))),
                (None, Some(clash)) => Err(operation.item().refused(clash)),
                (None, None) => operation::make(operation, &scope, Code::with_taken(taken.clone())),
            };
            match made.and_then(|made| scaffold.operation(operation, made, sources)) {
                Ok(()) => routed.push(operation.path()),
                Err(refused) => {
                    scaffold.errors.push(refused.finding(&format!("The operation `{}`", operation.name())));
                }
            }
        }
        if only.is_some() && !scaffold.errors.is_empty() {
            // An operation without all of its schemas is of no use.
            return Ok(Self { errors: scaffold.errors, ..Self::default() });
        }
        Ok(scaffold)
    }

    /// Adds a line to an existing file, once.
    fn add(&mut self, path: &str, place: Place, line: String) {
        let same = |known: &&mut Addition| known.path == path && known.place == place;
        match self.additions.iter_mut().find(same) {
            Some(known) if known.lines.contains(&line) => {}
            Some(known) => known.lines.push(line),
            None => self.additions.push(Addition { path: path.to_owned(), place, lines: vec![line] }),
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
    ) -> Result<(), Refused> {
        let module = names::file(wire)
            .ok_or_else(|| schema.refused("its name cannot be the name of a module in Rust"))?;
        let mut types = Types::new(scope, Code::with_taken(taken.clone()), Some(schema.id));
        (types.read, types.written) = (of.is_read, of.is_written);
        types.component(schema, wire, &of.name)?;
        let text = types.code.text(&format!("`{wire}`.")).map_err(|reason| schema.refused(reason))?;
        taken.extend(types.made.iter().cloned());
        let path = format!("src/schemas/{module}.rs");
        self.steps.extend(types.notes.iter().map(|note| format!("{path}: {note}.")));
        self.files.push((path, text));
        self.add(SCHEMAS, Place::Modules, format!("mod {module};"));
        let export = match &types.made[..] {
            [only] => format!("pub use {module}::{only};"),
            all => format!("pub use {module}::{{{}}};", all.join(", ")),
        };
        self.add(SCHEMAS, Place::End, export);
        Ok(())
    }

    /// Adds the files of an operation and what is left to do for it.
    fn operation(&mut self, operation: Operation<'_>, made: Made, sources: &Sources) -> Result<(), Refused> {
        let module = &made.module;
        let path = format!("src/operations/{module}.rs");
        if self.files.iter().any(|(known, _)| *known == path) {
            return Err(operation.refused(format!("another operation has the file `{module}.rs`")));
        }
        self.files.push((path.clone(), made.text.clone()));
        self.add(OPERATIONS, Place::Modules, format!("mod {module};"));
        self.add(OPERATIONS, Place::Registrations, format!("api.register({module}::{module})?;"));
        for tag in operation::tags(operation).into_iter().filter(|tag| !sources.says(tag)) {
            self.add(OPERATIONS, Place::Tags, format!("({tag:?}.to_owned(), TagDetails::default()),"));
        }
        self.steps.extend(made.notes.iter().map(|note| format!("{path}: {note}.")));
        self.steps.push(
            "If the operation needs a new method of the store: add it to the trait `Animals` in \
             src/storage/store.rs, implement it in the `store.rs` of each engine and in \
             tests/http/faulty.rs, and add a test to tests/store/battery/animals.rs."
                .to_owned(),
        );
        self.steps.push(format!(
            "{path}: replace `NotImplemented` with what the operation does; until then it answers 501."
        ));
        let tests = test_of::make(operation, &made, sources.shown().root(), self);
        self.steps.push(match tests {
            Ok(path) => format!(
                "{path}: the test fails with 501 until then; add tests for each status, each parameter and both storage engines."
            ),
            Err(reason) => format!(
                "tests/http/v1: write the test of `{}`; none was generated, because of the {reason}. \
                 An `example` in the document would give the value.",
                operation.name()
            ),
        });
        Ok(())
    }
}

/// The type to write for a schema; `None` if the code has it already.
fn type_for(
    missing: &MissingSchema<'_>,
    wire: &str,
    taken: &mut BTreeSet<String>,
    sources: &Sources,
) -> Result<Option<SchemaType>, Refused> {
    let schema = missing.schema;
    let words = types::strings(schema).unwrap_or_default();
    if let Some(known) = sources.schema(wire) {
        let members: BTreeSet<&str> = known.members.iter().map(|(wire, _)| wire.as_str()).collect();
        let properties = schema.properties().map(|(name, _)| name);
        let wanted: BTreeSet<&str> = properties.chain(words.iter().copied()).collect();
        // A type whose schema is written by hand may have other fields.
        return match members == wanted || members.is_empty() {
            true => Ok(None),
            false => Err(schema.refused(format!("the code has a type `{}` with other members", known.name))),
        };
    }
    let name = names::pascal(wire).to_string();
    if !taken.insert(name.clone()) {
        return Err(schema.refused(format!("the name `{name}` has another meaning in the code")));
    }
    Ok(Some(SchemaType {
        name,
        is_read: missing.is_read,
        // An enum always implements `Serialize`, for a `default`.
        is_written: missing.is_written || !words.is_empty(),
        members: names::variants(&words),
    }))
}
