//! Changes of existing files: exact positions, nothing overwritten, and no change by a second run.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use xtask::dropshot::source::Sources;
use xtask::scaffold::Scaffold;

use crate::{document, frozen, scaffold, toys};

/// Creates a copy of the frozen sources.
fn workspace() -> TempDir {
    let directory = TempDir::new().unwrap();
    for path in ["src/schemas/mod.rs", "src/schemas/book.rs", "src/operations/mod.rs"] {
        copy(&frozen().join(path), &directory.path().join(path));
    }
    directory
}

fn copy(from: &Path, to: &Path) {
    write(to, &fs::read_to_string(from).unwrap());
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn read(directory: &TempDir, path: &str) -> String {
    fs::read_to_string(directory.path().join(path)).unwrap()
}

#[test]
fn lines_are_inserted_once() {
    let directory = workspace();
    let made = scaffold(&toys(), "findToys").unwrap();
    let changed = made.write(directory.path()).unwrap();
    assert!(changed.contains(&"src/operations/find_toys.rs"), "{changed:?}");
    let operations = read(&directory, "src/operations/mod.rs");
    for part in [
        "//! The operations.\n\nmod find_toys;\nmod list_books;\n\nuse",
        "    api.register(list_books::list_books)?;\n    api.register(find_toys::find_toys)?;\n    Ok(api)\n}\n\n#[cfg",
    ] {
        assert!(operations.contains(part), "{part} is not in {operations}");
    }
    let schemas = read(&directory, "src/schemas/mod.rs");
    for part in ["\nmod toy;\nmod ", "\npub use toy_sort::{ToySort};\n", "\npub use book"] {
        assert!(schemas.contains(part), "{part} is not in {schemas}");
    }
    let again =
        Scaffold::of(&document("invented.yaml", &toys()), &Sources::read(directory.path()), "findToys");
    assert_eq!(again.unwrap().write(directory.path()).unwrap(), [""; 0]);
}

#[test]
fn nothing_is_written_if_a_file_exists() {
    let directory = workspace();
    let made = scaffold(&toys(), "findToys").unwrap();
    write(&directory.path().join("src/schemas/toy.rs"), "mine");
    let error = made.write(directory.path()).unwrap_err();
    assert_eq!(error, "src/schemas/toy.rs: the file exists; nothing was written");
    assert_eq!(read(&directory, "src/schemas/toy.rs"), "mine");
    assert!(!directory.path().join("src/operations/find_toys.rs").exists());
}

#[test]
fn nothing_is_written_if_a_position_is_not_found() {
    let directory = workspace();
    write(&directory.path().join("src/operations/mod.rs"), "//! Tests.\n\nmod a;\nfn api() { todo!() }\n");
    let error = scaffold(&toys(), "findToys").unwrap().write(directory.path()).unwrap_err();
    assert!(
        error.contains(
            "no line begins with `Ok(api)`; add `    api.register(find_toys::find_toys)?;` by hand"
        ),
        "{error}"
    );
    assert!(!directory.path().join("src/operations/find_toys.rs").exists());
}
