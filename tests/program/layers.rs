//! The layers of `src`: a module imports only from modules below it in the list in `src/lib.rs`, and no files import
//! each other in a cycle.

use std::collections::{BTreeMap, BTreeSet};

use kit::layers::{Crate, paths, target};

const SERVICE: Crate = Crate { directory: env!("CARGO_MANIFEST_DIR"), name: "animal_store" };

#[test]
fn imports_point_downwards() {
    SERVICE.assert_imports_point_downwards();
}

#[test]
fn no_files_import_each_other() {
    let files = SERVICE.files_in_cycles();
    assert!(files.is_empty(), "these files import each other: {files:?}");
}

#[test]
fn imports_are_found() {
    let text = "use crate::a::{self, b::{C, d}};\nuse super::e;\n// crate::not\nfn f() { crate::g::h(); }\n\
                #[cfg(test)]\nmod tests { use crate::not; }";
    let found = paths(text, SERVICE.name);
    assert_eq!(found, ["crate::a::self", "crate::a::b::C", "crate::a::b::d", "super::e", "crate::g::h"]);
    let files = ["main", "cli/mod", "cli/key", "lib", "http/mod", "http/call", "keys"];
    let files: BTreeMap<String, String> = files.map(|name| (format!("{name}.rs"), String::new())).into();
    for (from, path, to) in [
        ("http/call.rs", "crate::keys::KeyId", Some("keys.rs")),
        ("http/call.rs", "super::BASE_PATH", Some("http/mod.rs")),
        ("http/mod.rs", "crate::http::call::Call", Some("http/call.rs")),
        ("cli/key.rs", "animal_store::keys::create", Some("keys.rs")),
        ("cli/key.rs", "super::mod::run", Some("cli/mod.rs")),
        ("keys.rs", "super::http::call::Call", Some("http/call.rs")),
        ("keys.rs", "crate::keys::KeyId", None),
    ] {
        assert_eq!(target(&files, SERVICE.name, from, path).as_deref(), to, "{path} in {from}");
    }
    // What every other check relies on: the real sources import something.
    assert!(SERVICE.imports().values().map(BTreeSet::len).sum::<usize>() > 100);
}
