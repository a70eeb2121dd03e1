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
use quote::quote;

use crate::dropshot::source::{SchemaType, Sources};
use code::Code;
use missing::{Missing, Uses, schemas_of};
use refused::{Refuse, Refused};
use types::{Place as Written, Scope, Types};

pub use command::{Arguments, run};
pub use edit::{Addition, Place};

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
        operation: Option<&str>,
    ) -> Result<Self, String> {
        let mut invalid = Findings::default();
        let document = Model::of(document, &mut invalid);
        let code = Model::of(code, &mut Findings::default());
        let errors: Vec<_> =
            invalid.sorted().into_iter().filter(|finding| finding.severity >= Severity::Error).collect();
        if !errors.is_empty() {
            return Ok(Self { errors, ..Self::default() });
        }
        let missing = Missing::find(&document, &code, operation);
        let missing = missing
            .ok_or_else(|| format!("the document has no operation `{}`", operation.unwrap_or_default()))?;
        let mut scaffold = Self::default();
        let mut taken = names::reserved();
        taken.extend(sources.type_names().map(str::to_owned));
        let mut scope = Scope { sources, new: BTreeMap::new() };
        let (mut wanted, mut failed) = (Vec::new(), BTreeSet::new());
        for (wire, (schema, uses)) in missing.schemas {
            match type_for(schema, wire, uses, &mut taken, sources) {
                Ok(Some(of)) => {
                    scope.new.insert(wire, of);
                    wanted.push((wire, schema));
                }
                Ok(None) => {}
                Err(refused) => {
                    scaffold.errors.push(refused.finding(&format!("The schema `{wire}`")));
                    failed.insert(wire);
                }
            }
        }
        failed.extend(scaffold.schemas(&scope, wanted, &mut taken));
        let paths = code.path_items().map(|item| item.path().to_owned()).collect();
        scaffold.operations(&scope, &missing.operations, &taken, &failed, paths);
        if operation.is_some() && !scaffold.errors.is_empty() {
            // An operation without all of its schemas is of no use.
            return Ok(Self { errors: scaffold.errors, ..Self::default() });
        }
        Ok(scaffold)
    }

    /// Writes the files of the schemas. Returns the names of those that cannot be written.
    fn schemas<'a>(
        &mut self,
        scope: &Scope<'a>,
        wanted: Vec<(&'a str, Schema<'a>)>,
        taken: &mut BTreeSet<String>,
    ) -> BTreeSet<&'a str> {
        let mut failed = BTreeSet::new();
        let mut modules = BTreeMap::new();
        for (wire, schema) in wanted {
            match component(scope, wire, schema, taken) {
                Ok((module, text, types)) => {
                    taken.extend(types.made.iter().cloned());
                    let path = format!("src/schemas/{module}.rs");
                    self.steps.extend(types.notes.iter().map(|note| format!("{path}: {note}.")));
                    self.files.push((path, text));
                    modules.insert(module, types.made);
                }
                Err(refused) => {
                    self.errors.push(refused.finding(&format!("The schema `{wire}`")));
                    failed.insert(wire);
                }
            }
        }
        if !modules.is_empty() {
            let path = "src/schemas/mod.rs".to_owned();
            let lines = modules.keys().map(|module| format!("mod {module};")).collect();
            self.additions.push(Addition { path: path.clone(), place: Place::Modules, lines });
            let exports = modules.iter().map(|(module, types)| match &types[..] {
                [only] => format!("pub use {module}::{only};"),
                _ => format!("pub use {module}::{{{}}};", types.join(", ")),
            });
            let lines = exports.collect();
            self.additions.push(Addition { path, place: Place::End, lines });
        }
        failed
    }

    fn operations(
        &mut self,
        scope: &Scope<'_>,
        operations: &[Operation<'_>],
        taken: &BTreeSet<String>,
        failed: &BTreeSet<&str>,
        mut paths: Vec<String>,
    ) {
        let (mut modules, mut registrations, mut tags) = (Vec::new(), Vec::new(), BTreeSet::new());
        for operation in operations.iter().copied() {
            let made = match (
                schemas_of([*operation]).into_iter().find(|name| failed.contains(name)),
                paths.iter().find_map(|path| routes::clash(operation.path(), path)),
            ) {
                (Some(schema), _) => Err(operation.refused(format!("it needs the schema `{schema}`"))),
                (None, Some(clash)) => Err(operation.item().refused(clash)),
                (None, None) => operation::make(operation, scope, Code::with_taken(taken.clone())),
            };
            let made = match made {
                Ok(made) if modules.contains(&format!("mod {};", made.module)) => {
                    Err(operation.refused(format!("another operation has the file `{}.rs`", made.module)))
                }
                made => made,
            };
            match made {
                Ok(made) => self.operation(operation, made, scope.sources, |module| {
                    paths.push(operation.path().to_owned());
                    modules.push(format!("mod {module};"));
                    registrations.push(format!("api.register({module}::{module})?;"));
                    tags.extend(operation::tags(operation));
                }),
                Err(refused) => {
                    self.errors.push(refused.finding(&format!("The operation `{}`", operation.name())))
                }
            }
        }
        if modules.is_empty() {
            return;
        }
        let mut add = |place, lines| {
            self.additions.push(Addition { path: "src/operations/mod.rs".to_owned(), place, lines });
        };
        add(Place::Modules, modules);
        add(Place::Registrations, registrations);
        tags.retain(|tag| !scope.sources.says(tag));
        if !tags.is_empty() {
            let lines = tags.iter().map(|tag| format!("({tag:?}.to_owned(), TagDetails::default()),"));
            add(Place::Tags, lines.collect());
        }
    }

    /// Adds the files of an operation and what is left to do for it.
    fn operation(
        &mut self,
        operation: Operation<'_>,
        made: operation::Made,
        sources: &Sources,
        register: impl FnOnce(&str),
    ) {
        let module = &made.module;
        register(module);
        self.steps.extend(made.notes.iter().cloned());
        self.steps.push(format!(
            "src/storage: add the method that `{module}` needs to the trait `Store`, and implement it for SQLite and PostgreSQL."
        ));
        self.steps.push(format!(
            "src/operations/{module}.rs: replace `NotImplemented` with what the operation does; until then it answers 501."
        ));
        self.files.push((format!("src/operations/{module}.rs"), made.text.clone()));
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
    }
}

/// The type to write for a schema; `None` if the code has it already.
fn type_for(
    schema: Schema<'_>,
    wire: &str,
    uses: Uses,
    taken: &mut BTreeSet<String>,
    sources: &Sources,
) -> Result<Option<SchemaType>, Refused> {
    let words = types::strings(schema).unwrap_or_default();
    if let Some(known) = sources.schema(wire) {
        let mut members: Vec<&str> = known.members.iter().map(|(wire, _)| wire.as_str()).collect();
        let properties = schema.properties().map(|(name, _)| name);
        let mut wanted: Vec<&str> = properties.chain(words.iter().copied()).collect();
        members.sort_unstable();
        wanted.sort_unstable();
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
    let variants = names::variants(words.iter().copied()).into_iter().map(|variant| variant.to_string());
    let members = words.iter().map(|word| (*word).to_owned()).zip(variants).collect();
    // An enum always implements `Serialize`, for a `default`.
    let is_written = uses.written || !words.is_empty();
    Ok(Some(SchemaType { name, is_read: uses.read, is_written, members }))
}

/// The module, the text and the types of a schema.
fn component<'a>(
    scope: &'a Scope<'a>,
    wire: &str,
    schema: Schema<'_>,
    taken: &BTreeSet<String>,
) -> Result<(String, String, Types<'a>), Refused> {
    let of = scope.new.get(wire).ok_or_else(|| schema.refused("its type has no name"))?;
    let module =
        names::file(wire).ok_or_else(|| schema.refused("its name cannot be the name of a module in Rust"))?;
    let mut types = Types {
        scope,
        code: Code::with_taken(taken.clone()),
        place: Written::Json,
        read: of.is_read,
        written: of.is_written,
        visible: quote! { pub },
        current: Some(schema.id),
        made: Vec::new(),
        notes: Vec::new(),
    };
    types.component(schema, wire, &of.name)?;
    let text = types.code.text(&format!("`{wire}`.")).map_err(|reason| schema.refused(reason))?;
    Ok((module, text, types))
}
