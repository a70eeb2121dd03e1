//! Which versions and tests run, and how they are counted.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use lab::interop::postgres::{VERSIONS, count_passed, modules, reachable};

fn strings(all: &[&str]) -> Vec<String> {
    all.iter().map(|one| (*one).to_owned()).collect()
}

#[test]
fn every_supported_version_is_pinned() {
    let pins = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/interop/postgres/package.json");
    let pins: serde_json::Value = serde_json::from_slice(&fs::read(pins).unwrap()).unwrap();
    let pinned: Vec<_> = pins["devDependencies"].as_object().unwrap().keys().collect();
    assert_eq!(pinned, VERSIONS.map(|version| format!("postgres-{version}")).iter().collect::<Vec<_>>());
}

#[test]
fn only_modules_that_use_postgresql_are_selected() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    assert_eq!(
        modules(&tests.join("store")),
        Ok(strings(&["conformance::", "copy::", "expiry::", "metrics::", "postgres::"]))
    );
    let program = modules(&tests.join("program")).unwrap();
    assert!(program.contains(&"outage::".to_owned()), "{program:?}");
    assert!(!program.contains(&"signals::".to_owned()), "{program:?}");
    modules(&tests.join("no_such")).unwrap_err();
}

#[test]
fn passed_tests_are_counted_and_none_may_be_ignored() {
    let summary = |passed: u32, ignored: u32| {
        format!("test result: ok. {passed} passed; 0 failed; {ignored} ignored; 0 measured; 7 filtered out\n")
    };
    assert_eq!(count_passed(&format!("running 3 tests\n...\n{}\n{}", summary(3, 0), summary(4, 0))), Ok(7));
    for printed in [String::new(), summary(0, 0), summary(3, 1)] {
        count_passed(&printed).unwrap_err();
    }
}

#[test]
fn a_server_is_copied_if_the_user_that_runs_it_cannot_read_it() {
    let private = tempfile::tempdir().unwrap();
    let server = private.path().join("native");
    fs::create_dir_all(server.join("bin")).unwrap();
    let program = |server: &Path| server.join("bin/postgres");
    fs::write(program(&server), "program").unwrap();
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    mode(&program(&server), 0o700);
    for parent in [&server, &server.join("bin"), private.path()] {
        mode(parent, 0o700);
    }
    let (found, copy) = reachable(&server).unwrap();
    if !rustix::process::geteuid().is_root() {
        // The same user runs the server.
        assert_eq!(found, server);
        return;
    }
    assert_ne!(found, server);
    assert_eq!(fs::read_to_string(program(&found)).unwrap(), "program");
    let readable = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o005 == 0o005;
    assert!(program(&found).ancestors().all(readable));
    drop(copy);
    assert!(!found.exists());

    for parent in [&program(&server), &server, &server.join("bin"), private.path()] {
        mode(parent, 0o755);
    }
    assert_eq!(reachable(&server).unwrap().0, server);
}
