//! Changes of existing files: exact positions, nothing overwritten, and no change by a second run.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use xtask::scaffold::{Addition, Position};

use crate::{frozen, scaffold, toys};

/// Creates a copy of the frozen sources, with a directory of tests.
fn workspace() -> TempDir {
    let directory = TempDir::new().unwrap();
    for path in ["src/schemas/mod.rs", "src/operations/mod.rs"] {
        copy(&frozen().join(path), &directory.path().join(path));
    }
    write(&directory.path().join("tests/http/v1/mod.rs"), "//! Tests.\n\nmod books;\n");
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
    let made = scaffold(&toys(), Some("findToys")).unwrap();
    let changed = made.write(directory.path()).unwrap();
    assert!(changed.contains(&"src/operations/find_toys.rs".to_owned()), "{changed:?}");
    let operations = read(&directory, "src/operations/mod.rs");
    for part in [
        "mod list_books;\nmod find_toys;\n\nuse",
        "    api.register(list_books::list_books)?;\n    api.register(find_toys::find_toys)?;\n    Ok(api)\n}\n\n#[cfg",
    ] {
        assert!(operations.contains(part), "{part} is not in {operations}");
    }
    let schemas = read(&directory, "src/schemas/mod.rs");
    assert!(
        schemas.contains(
            "mod book;\nmod maker;\nmod toy;\nmod toy_kind;\nmod toy_size;\nmod toy_sort;\n\npub use book"
        ),
        "{schemas}"
    );
    assert!(schemas.ends_with("pub use toy_sort::ToySort;\n"), "{schemas}");
    assert_eq!(read(&directory, "tests/http/v1/mod.rs"), "//! Tests.\n\nmod books;\nmod find_toys;\n");
    assert_eq!(made.write(directory.path()).unwrap(), [""; 0], "a second run changed a file");
    assert_eq!(read(&directory, "src/operations/mod.rs"), operations);
}

#[test]
fn nothing_is_written_if_a_file_exists() {
    let directory = workspace();
    let made = scaffold(&toys(), Some("findToys")).unwrap();
    write(&directory.path().join("src/schemas/toy.rs"), "mine");
    let error = made.write(directory.path()).unwrap_err();
    assert_eq!(error, "src/schemas/toy.rs: the file exists with different content; nothing was written");
    assert_eq!(read(&directory, "src/schemas/toy.rs"), "mine");
    assert!(!directory.path().join("src/operations/find_toys.rs").exists());
}

#[test]
fn nothing_is_written_if_a_position_is_not_found() {
    let directory = workspace();
    write(&directory.path().join("src/operations/mod.rs"), "mod a;\nfn api() { todo!() }\n");
    let error = scaffold(&toys(), Some("findToys")).unwrap().write(directory.path()).unwrap_err();
    assert!(error.contains("cannot find the position before the `Ok(api)`"), "{error}");
    assert!(!directory.path().join("src/operations/find_toys.rs").exists());
}

#[test]
fn modules_with_a_body_are_ignored() {
    let lines = vec!["mod b;".to_owned()];
    let addition = Addition { path: "x.rs".to_owned(), position: Position::Modules, lines };
    let text = "mod a;\nfn f() {}\nmod tests {\n    mod c;\n}\n";
    assert_eq!(addition.apply(text).unwrap(), "mod a;\nmod b;\nfn f() {}\nmod tests {\n    mod c;\n}\n");
    assert!(addition.apply("fn f() {}\n").is_err());
}
