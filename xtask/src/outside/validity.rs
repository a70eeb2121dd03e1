//! Validity: `lint` at profile `spec` and openapi-spec-validator judge mutants of frozen documents.
//!
//! Where only one of them finds errors, `tests/third_party/python/argued.toml` must say why.

use std::collections::BTreeMap;
use std::fs;

use contract::config::Config;
use contract::document::Document;
use contract::finding::Finding;
use contract::lint::lint;
use contract::rule::Profile;
use jiff::civil::date;
use regex::Regex;
use serde::Deserialize;
use serde_json::Value;

use super::Place;
use super::mutants::{Mutant, mutants};
use crate::release::errors;
use crate::workspace::{in_file, workspace};

/// Valid documents, from the root of the repository.
const BASES: [&str; 3] = [
    "xtask/contract/tests/breaking/shapes.yaml",
    "xtask/contract/tests/documents/features.yaml",
    "xtask/contract/tests/documents/library.yaml",
];
const MUTANTS: usize = 4_000;
const SEED: u64 = 303;

/// A disagreement for which there is a reason.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Argued {
    /// A regular expression for the finding.
    finding: String,
    /// A regular expression for the description of the mutant.
    #[serde(default)]
    mutant: String,
    /// Who is right, and why.
    reason: String,
    /// The section of the OpenAPI Specification 3.0.3, or of what it refers to.
    section: String,
}

/// Lets both judge all mutants.
pub(super) fn run_all(place: &Place) -> Result<String, String> {
    let file = place.directory.join("python/argued.toml");
    let table = fs::read_to_string(&file).map_err(in_file(&file))?;
    // By who alone finds an error: `lint` or `validator`.
    let table: BTreeMap<String, Vec<Argued>> = toml::from_str(&table).map_err(in_file(&file))?;
    let bases = BASES.map(base).into_iter().collect::<Result<Vec<_>, _>>()?;
    let unchanged =
        bases.iter().map(|(name, base)| Mutant { what: (*name).to_owned(), text: base.to_string() });
    let mutants: Vec<_> = unchanged.chain(mutants(&bases, MUTANTS, SEED)).collect();
    let (mut valid, mut invalid) = (0, 0);
    let (mut argued, mut disagreements) = (BTreeMap::<_, usize>::new(), Vec::new());
    for (mutant, theirs) in mutants.iter().zip(theirs(place, &mutants)?) {
        let ours = ours(mutant);
        if ours.is_empty() == theirs.is_empty() {
            *(if ours.is_empty() { &mut valid } else { &mut invalid }) += 1;
            continue;
        }
        let (by, findings) = if ours.is_empty() { ("validator", theirs) } else { ("lint", ours) };
        let reason = |finding: &String| {
            let mut reasons = table.get(by).into_iter().flatten();
            reasons.find(|it| matches(&it.finding, finding) && matches(&it.mutant, &mutant.what))
        };
        let reasons: Vec<_> = findings.iter().filter_map(reason).collect();
        // One error that only `lint` can find is enough. What the validator finds must all be wrong.
        match reasons[..] {
            [first, ..] if by == "lint" || reasons.len() == findings.len() => {
                *argued.entry((by, &first.reason, &first.section)).or_default() += 1;
            }
            _ => disagreements.push(format!("{by} alone: {}\n    {}", mutant.what, findings.join("\n    "))),
        }
    }
    for ((by, reason, section), uses) in &argued {
        println!("outside: {uses} times {by} alone: {reason} ({section})");
    }
    let counts = format!(
        "{} mutants with seed {SEED}: {valid} valid and {invalid} invalid for both, {} argued, {} disagreements",
        mutants.len(),
        argued.values().sum::<usize>(),
        disagreements.len()
    );
    if disagreements.is_empty() { Ok(counts) } else { Err(format!("{}\n{counts}", disagreements.join("\n"))) }
}

fn matches(expression: &str, text: &str) -> bool {
    Regex::new(expression).is_ok_and(|expression| expression.is_match(text))
}

fn base(path: &str) -> Result<(&str, Value), String> {
    let document = Document::load(&workspace().join(path));
    let document = document.map_err(|error| format!("{}: {}", error.path, error.problem))?;
    Ok((path.rsplit('/').next().unwrap_or(path), document.root.to_json()))
}

/// The errors that `lint` finds in a mutant at profile `spec`.
fn ours(mutant: &Mutant) -> Vec<String> {
    let found = match Document::parse("mutant.json", &mutant.text) {
        Ok(document) => lint(&document, date(2026, 1, 1)),
        Err(unreadable) => vec![Finding::from(&unreadable)],
    };
    let validity = Config::default().with_profile(Some(Profile::Spec));
    errors(&validity, found).iter().map(|error| format!("{}: {}", error.rule, error.message)).collect()
}

/// The errors that openapi-spec-validator finds in each mutant.
fn theirs(place: &Place, mutants: &[Mutant]) -> Result<Vec<Vec<String>>, String> {
    let input = place.directory.join("logs/mutants.jsonl");
    let lines: String = mutants.iter().map(|mutant| format!("{}\n", mutant.text)).collect();
    fs::write(&input, lines).map_err(in_file(&input))?;
    let mut validator = place.python("python");
    let printed = place.run("validity", validator.arg("validity.py").arg(&input))?;
    let found: Result<Vec<_>, _> = printed.lines().map(serde_json::from_str).collect();
    let found = found.ok().filter(|found| found.len() == mutants.len());
    found.ok_or_else(|| "the output of validity.py is not a line for each document".to_owned())
}
