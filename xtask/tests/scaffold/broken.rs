//! Property tests with broken documents: the result is valid Rust or errors, never a panic.

use std::sync::LazyLock;

use document::Document;
use document::openapi::Model;
use document::rule::Findings;
use proptest::prelude::*;
use serde_json::Value;
use xtask::dropshot::source::Sources;
use xtask::scaffold::Scaffold;

use crate::{frozen, toys};

static SOURCES: LazyLock<Sources> = LazyLock::new(|| Sources::read(frozen()));

/// Scaffolds the operations of a text if it can be read, and checks that the results are valid Rust.
fn scaffolded(text: &str) {
    let Ok(broken) = Document::parse("broken.yaml", text) else { return };
    let model = Model::of(&broken, &mut Findings::default());
    for operation in model.operations().filter_map(|operation| operation.id()) {
        let Ok(made) = Scaffold::of(&broken, &SOURCES, operation) else { continue };
        for (path, text) in &made.files {
            if let Err(error) = syn::parse_file(text) {
                panic!("{path}: {error}\n{text}");
            }
        }
    }
}

/// Replacement values.
const VALUES: &[&str] = &[
    "",
    " null",
    " 5",
    " -1",
    " 1.5",
    " true",
    " text",
    " []",
    " {}",
    " [[]]",
    " {a: {}}",
    " [{}]",
    " [a, a]",
    " {$ref: '#/components/schemas/Toy'}",
    " {$ref: '#/components/schemas/NewToy'}",
    " {$ref: '#'}",
    " {$ref: 3}",
    " ''",
    " '☃'",
    " 'fn'",
    " '*/ \"'",
    " 'a\\nb'",
    " 1e300",
    " [null, 1]",
    " array",
    " integer",
    " string",
    " 9223372036854775808",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn any_value_in_any_place(
        edits in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(VALUES)), 1..4),
    ) {
        let mut text = toys();
        for (line, value) in edits {
            let lines: Vec<&str> = text.lines().collect();
            let at = line.index(lines.len());
            let Some((key, _)) = lines[at].split_once(':') else { continue };
            let indent = |line: &str| line.len() - line.trim_start().len();
            let is_below = |line: &&&str| line.trim().is_empty() || indent(line) > indent(key);
            let below = lines[at + 1..].iter().take_while(is_below).count();
            let edited = format!("{key}:{value}");
            text = [&lines[..at], &[edited.as_str()], &lines[at + 1 + below..]].concat().join("\n");
        }
        scaffolded(&text);
    }

    #[test]
    fn names_of_all_kinds(name in "[ -~]{0,12}|\\PC{0,6}", place in 0_usize..5) {
        let name = Value::from(name).to_string();
        let text = toys();
        let (old, new) = match place {
            0 => ("operationId: removeToy", format!("operationId: {name}")),
            1 => ("    NewToy:\n", format!("    {name}:\n")),
            2 => ("- name: q\n", format!("- name: {name}\n")),
            3 => ("  /toyCounts:\n", format!("  {name}:\n")),
            _ => ("        price:\n", format!("        {name}:\n")),
        };
        prop_assert!(text.contains(old), "{}", old);
        scaffolded(&text.replacen(old, &new, 1));
    }
}
