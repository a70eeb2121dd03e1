//! Checks the rules for the inputs that `cargo xtask fuzz` begins with.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rules::TARGETS;

mod rules;

#[test]
fn the_corpus_breaks_no_rule() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let directories: BTreeSet<_> =
        fs::read_dir(&corpus).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(directories, TARGETS.map(|(name, _)| name.into()).into());
    for (name, check) in TARGETS {
        for file in fs::read_dir(corpus.join(name)).unwrap() {
            let path = file.unwrap().path();
            println!("{}", path.display());
            check(&fs::read(&path).unwrap());
        }
    }
}
