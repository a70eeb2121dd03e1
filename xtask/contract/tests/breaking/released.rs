//! Which released document is the newest.

use contract::breaking::newest;

#[test]
fn the_newest_is_the_one_with_the_greatest_version() {
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(newest(&directory.path().join("nothing")).unwrap(), None);
    assert_eq!(newest(directory.path()).unwrap(), None);
    for name in ["1.9.0.yaml", "1.10.0.yaml", "1.10.0-rc.1.yaml", "2.0.0.json", "notes.yaml"] {
        std::fs::write(directory.path().join(name), "").unwrap();
    }
    let (version, path) = newest(directory.path()).unwrap().unwrap();
    assert_eq!(version.to_string(), "1.10.0");
    assert_eq!(path, directory.path().join("1.10.0.yaml"));
}
