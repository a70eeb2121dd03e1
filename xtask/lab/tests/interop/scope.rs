//! Which parts a change concerns.

use clap::ValueEnum as _;
use lab::interop::Part;
use lab::interop::scope::{CONCERNED, concerned};
use xtask::workspace::workspace;

#[test]
fn a_change_concerns_the_parts_of_its_files() {
    assert_eq!(concerned([]), []);
    assert_eq!(concerned(["tests/faults/kill.rs"]), []);
    assert_eq!(concerned([".github/workflows/ci.yml"]), [Part::Workflow]);
    let both = concerned(["tests/store/main.rs", "xtask/contract/language-server/src/lib.rs"]);
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

#[test]
fn each_language_of_the_page_for_clients_has_a_part() {
    let page = std::fs::read_to_string(workspace().join("openapi/clients.md")).unwrap();
    let languages: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    assert!(languages.len() > 3, "{languages:?}");
    assert!(languages.iter().all(|language| Part::from_str(language, true).is_ok()), "{languages:?}");
}

/// A directory with another name would concern all parts, which nobody would notice.
#[test]
fn the_places_exist() {
    for (place, _) in CONCERNED {
        assert!(workspace().join(place).is_dir(), "{place}");
    }
}
