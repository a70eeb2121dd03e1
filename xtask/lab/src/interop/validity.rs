//! Validity: compares `lint` at profile `spec` with openapi-spec-validator on mutants of frozen documents.
//!
//! Each disagreement must be explained in `tests/interop/python/disagreements.toml`.

use std::collections::BTreeMap;
use std::fs;

use checks::config::Config;
use checks::finding::Finding;
use checks::lint::lint;
use checks::rule::Profile;
use document::Document;
use jiff::civil::date;
use regex::Regex;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use xtask::workspace::{in_file, workspace};

use project::release::errors;

use super::Context;
use super::mutants::{Mutant, mutants};

/// Valid documents, from the root of the repository.
const BASES: [&str; 3] = [
    "xtask/contract/checks/tests/checks/breaking/shapes.yaml",
    "xtask/contract/fixtures/features.yaml",
    "xtask/contract/fixtures/library.yaml",
];
const MUTANTS: usize = 4_000;
const SEED: u64 = 303;

/// An explained disagreement. In the file, each also has its reason, and the section of a specification.
#[derive(Deserialize)]
struct Explained {
    /// What the finding matches.
    #[serde(deserialize_with = "regex")]
    finding: Option<Regex>,
    /// What the description of the mutant matches.
    #[serde(default, deserialize_with = "regex")]
    mutant: Option<Regex>,
}

/// Checks all mutants with both tools.
pub(super) fn run_all(context: &Context) -> Result<String, String> {
    let file = context.directory.join("python/disagreements.toml");
    let table = fs::read_to_string(&file).map_err(in_file(&file))?;
    // By the tool that alone finds an error: `lint` or `validator`.
    let table: BTreeMap<String, Vec<Explained>> = toml::from_str(&table).map_err(in_file(&file))?;
    let bases = BASES.map(base).into_iter().collect::<Result<Vec<_>, _>>()?;
    let unchanged =
        bases.iter().map(|(name, base)| Mutant { what: (*name).to_owned(), text: base.to_string() });
    let mutants: Vec<_> = unchanged.chain(mutants(&bases, MUTANTS, SEED)).collect();
    let (mut valid, mut invalid, mut explained, mut disagreements) = (0, 0, 0, Vec::new());
    for (mutant, theirs) in mutants.iter().zip(validator_errors(context, &mutants)?) {
        let ours = lint_errors(mutant);
        let (by, findings) = match (ours.is_empty(), theirs.is_empty()) {
            (true, true) => {
                valid += 1;
                continue;
            }
            (false, false) => {
                invalid += 1;
                continue;
            }
            (true, false) => ("validator", theirs),
            (false, true) => ("lint", ours),
        };
        let is_explained = |finding: &String| {
            let mut reasons = table.get(by).into_iter().flatten();
            reasons.any(|it| matches(&it.finding, finding) && matches(&it.mutant, &mutant.what))
        };
        // If `lint` alone finds errors, one explained error is enough; if the validator does, all must be explained.
        let count = findings.iter().filter(|finding| is_explained(finding)).count();
        if count == findings.len() || by == "lint" && count > 0 {
            explained += 1;
        } else {
            disagreements.push(format!("{by} alone: {}\n    {}", mutant.what, findings.join("\n    ")));
        }
    }
    let counts = format!(
        "{} mutants with seed {SEED}: {valid} valid and {invalid} invalid for both, {explained} explained, {} disagreements",
        mutants.len(),
        disagreements.len()
    );
    if disagreements.is_empty() { Ok(counts) } else { Err(format!("{}\n{counts}", disagreements.join("\n"))) }
}

fn regex<'de, D: Deserializer<'de>>(text: D) -> Result<Option<Regex>, D::Error> {
    Regex::new(&String::deserialize(text)?).map(Some).map_err(D::Error::custom)
}

fn matches(expression: &Option<Regex>, text: &str) -> bool {
    expression.as_ref().is_none_or(|expression| expression.is_match(text))
}

fn base(path: &str) -> Result<(&str, Value), String> {
    let document = Document::load(&workspace().join(path));
    let document = document.map_err(|error| format!("{}: {}", error.path, error.problem))?;
    Ok((path.rsplit('/').next().unwrap_or(path), document.root.to_json()))
}

/// Returns the errors that `lint` finds in a mutant at profile `spec`.
fn lint_errors(mutant: &Mutant) -> Vec<String> {
    let mut validity = Config::default();
    validity.profile = Profile::Spec;
    let found = match Document::parse("mutant.json", &mutant.text) {
        Ok(document) => errors(&validity, &document, lint(&document, date(2026, 1, 1)), "lint"),
        Err(unreadable) => vec![Finding::from(&unreadable)],
    };
    found.iter().map(|error| format!("{}: {}", error.rule, error.message)).collect()
}

/// Returns the errors that openapi-spec-validator finds in each mutant.
fn validator_errors(context: &Context, mutants: &[Mutant]) -> Result<Vec<Vec<String>>, String> {
    let input = context.directory.join("logs/mutants.jsonl");
    let lines: String = mutants.iter().map(|mutant| format!("{}\n", mutant.text)).collect();
    fs::write(&input, lines).map_err(in_file(&input))?;
    let mut validator = context.python("python");
    let printed = context.run("validity", validator.arg("validity.py").arg(&input))?;
    let found: Result<Vec<_>, _> = printed.lines().map(serde_json::from_str).collect();
    let found = found.ok().filter(|found| found.len() == mutants.len());
    found.ok_or_else(|| "validity.py did not print one line of JSON per document".to_owned())
}
