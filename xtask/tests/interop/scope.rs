//! Which parts a change concerns.

use std::path::Path;

use clap::ValueEnum as _;
use xtask::interop::Part;
use xtask::interop::scope::{CONCERNED, concerned};

#[test]
fn a_change_concerns_the_parts_of_its_files() {
    assert_eq!(concerned([]), []);
    assert_eq!(concerned(["tests/faults/kill.rs"]), []);
    assert_eq!(concerned([".github/workflows/ci.yml"]), [Part::Workflow]);
    let both = concerned(["tests/store/main.rs", "xtask/language-server/src/lib.rs"]);
    assert_eq!(both, [Part::Postgres, Part::Editors]);
}

#[test]
fn a_change_of_what_many_parts_use_concerns_all() {
    for file in [
        "Cargo.lock",
        "openapi/animal-store.yaml",
        "tests/interop/python/requirements.txt",
        "xtask/src/process.rs",
    ] {
        assert_eq!(concerned(["tests/faults/kill.rs", file]), Part::value_variants(), "{file}");
    }
}

/// A directory with another name would concern all parts, which nobody would notice.
#[test]
fn the_places_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (place, _) in CONCERNED {
        assert!(root.join(place).is_dir(), "{place}");
    }
}
