//! What a save concerns: whether the service must be built, and which tests run.
//!
//! The mapping follows the conventions of the repository: `src/operations/create_pet.rs` is the operation `createPet`,
//! and the tests of the path `/pets/{petId}` are in `tests/http/v1/pets/pet_id`.

use std::collections::BTreeSet;

use heck::ToSnakeCase;

use super::edited::{Edited, Route};
use crate::workspace::SPEC;

/// What a save, or several saves, concern.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Scope {
    /// The service is built from a file that changed.
    pub(super) code: bool,
    /// The document changed.
    pub(super) document: bool,
    pub(super) tests: Tests,
}

/// The tests of a save.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Tests {
    /// Those of some operations, by name, and those of some modules such as `v1::pets::limit::`.
    Of { operations: BTreeSet<String>, modules: BTreeSet<String> },
    /// Those of all operations.
    All,
}

impl Default for Tests {
    fn default() -> Self {
        Self::Of { operations: BTreeSet::new(), modules: BTreeSet::new() }
    }
}

impl Scope {
    /// Returns what changed files concern. `edited` is the difference of the document, if that could be read.
    pub(super) fn of(changed: &[String], routes: &[Route], edited: Option<Edited>) -> Self {
        let mut scope = Self::default();
        for file in changed {
            if file == SPEC {
                scope.document = true;
            } else if let Some(tests) = file.strip_prefix("tests/http/") {
                scope.tests.add_module(tests);
            } else {
                scope.code = true;
                let operation = file.strip_prefix("src/operations/").and_then(|it| it.strip_suffix(".rs"));
                let route = routes.iter().find(|route| operation == Some(&*route.name.to_snake_case()));
                scope.tests.add(route.map(|route| BTreeSet::from([route.name.clone()])));
            }
        }
        if let Some(edited) = edited.filter(|_| scope.document) {
            scope.tests.add(match edited {
                Edited::Operations(names) => Some(names),
                Edited::Everything => None,
            });
        }
        scope
    }

    /// Adds what another save concerns.
    pub(super) fn merge(&mut self, other: Self) {
        self.code |= other.code;
        self.document |= other.document;
        match other.tests {
            Tests::All => self.tests = Tests::All,
            Tests::Of { operations, modules } => {
                self.tests.add(Some(operations));
                if let Tests::Of { modules: known, .. } = &mut self.tests {
                    known.extend(modules);
                }
            }
        }
    }
}

impl Tests {
    /// Adds the tests of operations, or of all if there is no set.
    fn add(&mut self, names: Option<BTreeSet<String>>) {
        match (&mut *self, names) {
            (Self::Of { operations, .. }, Some(names)) => operations.extend(names),
            (_, None) => *self = Self::All,
            (Self::All, Some(_)) => {}
        }
    }

    /// Adds the tests of a file, given relative to `tests/http`.
    fn add_module(&mut self, file: &str) {
        let module = file.strip_suffix(".rs").unwrap_or(file);
        let module = module.strip_suffix("/mod").unwrap_or(module);
        match (&mut *self, module) {
            (_, "main") => *self = Self::All,
            (Self::Of { modules, .. }, _) => {
                modules.insert(module.replace('/', "::") + "::");
            }
            (Self::All, _) => {}
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the arguments for the test binary `http`: names that a test contains, and names to leave out.
    pub(super) fn arguments(&self, routes: &[Route]) -> Vec<String> {
        let Self::Of { operations, modules } = self else { return vec!["v1::".to_owned()] };
        let (chosen, others): (Vec<_>, Vec<_>) =
            routes.iter().partition(|route| operations.contains(&route.name));
        let mut names: BTreeSet<String> = modules.clone();
        names.extend(chosen.iter().map(|route| module(&route.path)));
        // The tests of `/pets/{petId}` are below those of `/pets`.
        let mut left_out: BTreeSet<String> = others.iter().map(|route| module(&route.path)).collect();
        left_out.retain(|other| {
            names.iter().any(|name| other.starts_with(name))
                && !names.iter().any(|name| name.starts_with(other))
        });
        names.extend(operations.iter().map(|name| name.to_snake_case()));
        let left_out = left_out.into_iter().flat_map(|name| ["--skip".to_owned(), name]);
        names.into_iter().chain(left_out).collect()
    }

    /// Names the tests for a person.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::All => "all operations".to_owned(),
            Self::Of { operations, modules } => {
                let modules = modules.iter().map(|module| module.trim_end_matches(':'));
                let names: Vec<_> = operations.iter().map(String::as_str).chain(modules).collect();
                names.join(", ")
            }
        }
    }
}

/// Returns the module of the tests of a path.
fn module(path: &str) -> String {
    let segments = path.split('/').filter(|segment| !segment.is_empty());
    let names = segments.map(|segment| segment.trim_matches(['{', '}']).to_snake_case() + "::");
    format!("v1::{}", names.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn routes() -> Vec<Route> {
        [("listPets", "/pets"), ("createPet", "/pets"), ("getPet", "/pets/{petId}"), ("health", "/health")]
            .map(|(name, path)| Route { name: name.to_owned(), path: path.to_owned() })
            .to_vec()
    }

    fn scope(changed: &[&str], edited: Option<Edited>) -> Scope {
        Scope::of(&changed.iter().map(|&file| file.to_owned()).collect::<Vec<_>>(), &routes(), edited)
    }

    fn names(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn a_file_concerns_its_operation_or_all() {
        for (changed, code, described, arguments) in [
            (
                &["src/operations/create_pet.rs"][..],
                true,
                "createPet",
                "create_pet v1::pets:: --skip v1::pets::pet_id::",
            ),
            (&["src/operations/get_pet.rs"], true, "getPet", "get_pet v1::pets::pet_id::"),
            (
                &["src/operations/get_pet.rs", "src/operations/create_pet.rs"],
                true,
                "createPet, getPet",
                "create_pet get_pet v1::pets:: v1::pets::pet_id::",
            ),
            (&["src/operations/mod.rs"], true, "all operations", "v1::"),
            (&["src/operations/create_pet.rs", "src/main.rs"], true, "all operations", "v1::"),
            (&["Cargo.toml"], true, "all operations", "v1::"),
            (&["tests/http/v1/pets/limit.rs"], false, "v1::pets::limit", "v1::pets::limit::"),
            (&["tests/http/v1/pets/pet_id/mod.rs"], false, "v1::pets::pet_id", "v1::pets::pet_id::"),
            (
                &["tests/http/v1/pets/pet_id/get.rs", "src/operations/list_pets.rs"],
                true,
                "listPets, v1::pets::pet_id::get",
                "list_pets v1::pets:: v1::pets::pet_id::get::",
            ),
            (&["tests/http/keys.rs"], false, "keys", "keys::"),
            (&["tests/http/main.rs"], false, "all operations", "v1::"),
        ] {
            let scope = scope(changed, None);
            assert_eq!((scope.code, scope.document), (code, false), "{changed:?}");
            assert_eq!(scope.tests.describe(), described);
            assert_eq!(scope.tests.arguments(&routes()).join(" "), arguments);
        }
    }

    #[test]
    fn an_edit_of_the_document_concerns_its_operations() {
        let of = |edited| scope(&[SPEC], edited);
        let unreadable = of(None);
        assert!(unreadable.document && !unreadable.code && unreadable.tests.is_empty());
        assert_eq!(of(Some(Edited::Operations(names(&["getPet"])))).tests.describe(), "getPet");
        assert_eq!(of(Some(Edited::Everything)).tests, Tests::All);
        // Without a change of the document, its difference does not count.
        assert!(scope(&[], Some(Edited::Everything)).tests.is_empty());
    }

    #[test]
    fn saves_add_up_until_they_are_tested() {
        let mut all = scope(&["src/operations/create_pet.rs"], None);
        all.merge(scope(&["tests/http/v1/pets/limit.rs"], None));
        assert_eq!(all.tests.describe(), "createPet, v1::pets::limit");
        all.merge(scope(&[SPEC], Some(Edited::Operations(names(&["getPet"])))));
        assert!(all.code && all.document);
        assert_eq!(all.tests.describe(), "createPet, getPet, v1::pets::limit");
        all.merge(scope(&["src/lib.rs"], None));
        all.merge(scope(&["src/operations/get_pet.rs"], None));
        assert_eq!(all.tests, Tests::All);
    }
}
