//! `cargo xtask scaffold`: the Rust that the document asks for and the code lacks.
//!
//! What comes out compiles and makes the check quiet about it; only the behaviour is missing, and answers
//! 501. Nothing is guessed silently: what has no form in dropshot, schemars or this service is told of with
//! the reason.

mod answer;
mod bounds;
mod code;
mod command;
mod fields;
mod missing;
mod names;
mod newtype;
mod operation;
mod order;
mod parameters;
mod place;
mod routes;
mod sample;
mod test_of;
mod types;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use quote::quote;
use serde_json::Value;

use crate::dropshot::source::{SchemaType, Sources};
use code::Code;
use contract::document::Document;
use missing::Missing;
use operation::Operation;
use types::{Place, Scope, Types};

pub use command::{Arguments, run};
pub use place::{Addition, Where};

/// What is to be added to the workspace.
#[derive(Debug, Default)]
pub struct Scaffold {
    /// New files: their paths from the root, and their texts.
    pub files: Vec<(String, String)>,
    /// Lines for files that are there.
    pub additions: Vec<Addition>,
    /// What could not be made, or does not do all that the document says, with the reason.
    pub notes: Vec<String>,
}

impl Scaffold {
    /// Everything that the document has and the code lacks, or one operation with what it needs.
    ///
    /// # Errors
    /// A sentence, when there is no such operation.
    pub fn of(
        document: &Document,
        served: &Value,
        sources: &Sources,
        operation: Option<&str>,
    ) -> Result<Self, String> {
        let document = &order::keep(&document.root);
        let missing = Missing::find(document, served, operation)?;
        let new = missing.schemas.iter().map(|(name, uses)| {
            let words = document.pointer("/components/schemas").and_then(|schemas| schemas.get(name));
            let words = words.and_then(|schema| schema.get("enum")).and_then(Value::as_array);
            let words: Vec<&str> = words.into_iter().flatten().filter_map(Value::as_str).collect();
            let variants = names::variants(words.iter().copied());
            let of = SchemaType {
                name: names::pascal(name).to_string(),
                is_read: uses.read,
                is_written: uses.written,
                members: words
                    .into_iter()
                    .zip(variants)
                    .map(|(word, variant)| (word.to_owned(), variant.to_string()))
                    .collect(),
            };
            (name.clone(), of)
        });
        let scope = Scope { document, sources, new: new.collect() };
        let mut scaffold = Self::default();
        let mut taken: BTreeSet<String> = sources.type_names().map(str::to_owned).collect();
        taken.extend(scope.new.values().map(|of| of.name.clone()));
        let made = scaffold.schemas(&scope, &mut taken);
        let paths = served["paths"].as_object().into_iter().flatten().map(|(path, _)| path.clone()).collect();
        scaffold.operations(&scope, &missing.operations, &taken, &made, paths);
        Ok(scaffold)
    }

    /// The files of the schemas. Returns the names of those that could be made.
    fn schemas(&mut self, scope: &Scope<'_>, taken: &mut BTreeSet<String>) -> BTreeSet<String> {
        let mut made = BTreeSet::new();
        let mut modules = BTreeMap::new();
        for (wire, of) in &scope.new {
            let mut types = Types {
                scope,
                code: Code::with_taken(taken.clone()),
                place: Place::Json,
                read: of.is_read,
                written: of.is_written,
                visible: quote! { pub },
                current: Some(wire.clone()),
                made: Vec::new(),
                notes: Vec::new(),
            };
            let module = names::file(wire).ok_or("its name can be no Rust file".to_owned());
            let text = module.and_then(|module| {
                types.component(wire, &of.name)?;
                Ok((module, types.code.text(&format!("`{wire}`."))?))
            });
            match text {
                Ok((module, text)) => {
                    taken.extend(types.made.iter().cloned());
                    self.notes.extend(types.notes.iter().map(|note| format!("schema `{wire}`: {note}")));
                    self.files.push((format!("src/schemas/{module}.rs"), text));
                    modules.insert(module, types.made);
                    made.insert(wire.clone());
                }
                Err(reason) => self.notes.push(format!("schema `{wire}` was left out: {reason}.")),
            }
        }
        if !modules.is_empty() {
            let path = "src/schemas/mod.rs".to_owned();
            let lines = modules.keys().map(|module| format!("mod {module};")).collect();
            self.additions.push(Addition { path: path.clone(), place: Where::BesideModules, lines });
            let exports = modules.iter().map(|(module, types)| match &types[..] {
                [only] => format!("pub use {module}::{only};"),
                _ => format!("pub use {module}::{{{}}};", types.join(", ")),
            });
            let lines = exports.collect();
            self.additions.push(Addition { path, place: Where::AtTheEnd, lines });
        }
        made
    }

    fn operations(
        &mut self,
        scope: &Scope<'_>,
        operations: &[Operation],
        taken: &BTreeSet<String>,
        schemas: &BTreeSet<String>,
        mut paths: Vec<String>,
    ) {
        let (mut modules, mut registrations, mut tags) = (Vec::new(), Vec::new(), BTreeSet::new());
        for operation in operations {
            let what = format!("{} {}", operation.method.to_uppercase(), operation.path);
            let needs = missing::schemas_of(scope.document, &operation.object);
            let lacking = needs.iter().find(|name| scope.new.contains_key(*name) && !schemas.contains(*name));
            let clash = paths.iter().find_map(|path| routes::clash(&operation.path, path));
            let made = match (lacking, clash) {
                (Some(name), _) => Err(format!("it needs the schema `{name}`")),
                (None, Some(clash)) => Err(clash),
                (None, None) => operation.make(scope, Code::with_taken(taken.clone())),
            };
            match made {
                Ok(made) => {
                    self.notes.extend(made.notes.iter().map(|note| format!("{what}: {note}")));
                    paths.push(operation.path.clone());
                    modules.push(format!("mod {};", made.module));
                    registrations.push(format!("api.register({0}::{0})?;", made.module));
                    tags.extend(operation.tags().into_iter().map(str::to_owned));
                    match test_of::make(operation, &made) {
                        Ok(test) => {
                            test_of::place(&made, &operation.path, test, scope.sources.shown().root(), self)
                        }
                        Err(reason) => self.notes.push(format!("{what}: there is no test: {reason}.")),
                    }
                    self.files.push((format!("src/operations/{}.rs", made.module), made.text));
                }
                Err(reason) => self.notes.push(format!("{what} was left out: {reason}.")),
            }
        }
        if modules.is_empty() {
            return;
        }
        let path = || "src/operations/mod.rs".to_owned();
        self.additions.push(Addition { path: path(), place: Where::BesideModules, lines: modules });
        self.additions.push(Addition { path: path(), place: Where::Before("Ok(api)"), lines: registrations });
        tags.retain(|tag| !scope.sources.says(tag));
        if !tags.is_empty() {
            let lines = tags.iter().map(|tag| format!("({tag:?}.to_owned(), TagDetails::default()),"));
            self.additions.push(Addition { path: path(), place: Where::InTags, lines: lines.collect() });
        }
    }

    /// Writes the new files, and adds the lines to those that are there.
    ///
    /// # Errors
    /// The first that cannot be written, or is there already; nothing is overwritten.
    pub fn write(&self, root: &Path) -> Result<(), String> {
        let wrong = |path: &Path, problem: &dyn std::fmt::Display| format!("{}: {problem}", path.display());
        for (path, _) in &self.files {
            let path = root.join(path);
            if path.exists() {
                return Err(wrong(&path, &"is there already"));
            }
        }
        for (path, text) in &self.files {
            let path = root.join(path);
            if let Some(directory) = path.parent() {
                std::fs::create_dir_all(directory).map_err(|error| wrong(directory, &error))?;
            }
            std::fs::write(&path, text).map_err(|error| wrong(&path, &error))?;
        }
        for addition in &self.additions {
            let path = root.join(&addition.path);
            let text = std::fs::read_to_string(&path).map_err(|error| wrong(&path, &error))?;
            let text = addition.apply(&text).ok_or_else(|| wrong(&path, &addition.place))?;
            std::fs::write(&path, text).map_err(|error| wrong(&path, &error))?;
        }
        Ok(())
    }
}
