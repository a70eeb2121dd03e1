//! The parts of `cargo xtask interop`.

use std::fs;

use clap::ValueEnum as _;
use lab::interop::Part;
use xtask::workspace::workspace;

#[test]
fn each_language_of_the_page_for_clients_has_a_part() {
    let page = fs::read_to_string(workspace().join("openapi/clients.md")).unwrap();
    let languages: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    assert!(languages.len() > 3, "{languages:?}");
    assert!(languages.iter().all(|language| Part::from_str(language, true).is_ok()), "{languages:?}");
}
