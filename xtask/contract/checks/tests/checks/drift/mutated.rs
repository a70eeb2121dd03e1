//! Each mutant of the document is reported, at its line if that still exists, or differs in prose only.

use std::num::NonZero;
use std::thread;

use checks::finding::Finding;
use checks::lint::lint;
use document::Document;
use fixtures::{Mutant, mutants};
use jiff::civil::date;

use super::document::{exit_code, findings_of};
use crate::judge::summary;

/// Whether a place is prose, by the last or any part of its JSON pointer. Independent of the table of tolerated
/// differences in the code, which it tests.
fn is_prose(pointer: &str) -> bool {
    let parts: Vec<&str> = pointer.split('/').skip(1).collect();
    let words = [
        "description",
        "summary",
        "example",
        "examples",
        "contact",
        "license",
        "bearerFormat",
        "title",
        "version",
    ];
    // Below these, a part is a name and not a keyword.
    let named = ["properties", "schemas", "responses", "headers", "paths", "content", "variables"];
    parts.iter().enumerate().any(|(position, part)| {
        words.contains(part) && !position.checked_sub(1).is_some_and(|before| named.contains(&parts[before]))
    })
}

#[test]
fn every_mutant_is_reported_or_prose() {
    let all: Vec<Mutant> = kit::sample(mutants()).collect();
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let judged: Vec<Result<bool, String>> = thread::scope(|scope| {
        let shares = all.chunks(all.len().div_ceil(threads));
        let judges: Vec<_> =
            shares.map(|share| scope.spawn(|| share.iter().map(judge).collect::<Vec<_>>())).collect();
        judges.into_iter().flat_map(|judge| judge.join().unwrap()).collect()
    });
    let refused = judged.iter().filter(|judged| **judged == Ok(true)).count();
    let quiet = judged.iter().filter(|judged| **judged == Ok(false)).count();
    let wrong: Vec<_> = judged.into_iter().filter_map(Result::err).collect();
    println!("{} mutants: {refused} refused, {quiet} quiet, {} wrong", all.len(), wrong.len());
    assert!(wrong.is_empty(), "{} of {} are wrong:\n{}", wrong.len(), all.len(), wrong.join("\n"));
    assert!(refused > all.len() / 4, "only {refused} were refused");
}

/// Returns whether a mutant is reported, or a message if that is not as expected.
fn judge(mutant: &Mutant) -> Result<bool, String> {
    let Mutant { what, pointer, text, line } = mutant;
    let wrong = |problem: String| format!("{what} {pointer} (line {line:?}): {problem}");
    // A renamed keyword for prose is an unknown keyword.
    let words = is_prose(if *what == "renamed" { pointer.rsplit_once('/').unwrap().0 } else { pointer });
    // A project that uses these extensions has rules about them.
    let words = words || pointer.ends_with("x-deprecated-since") || pointer.ends_with("x-successor");
    // The number of hosts is not compared.
    let one_host_less = *what == "removed" && matches!(pointer.as_str(), "/servers/0" | "/servers/1");
    let document = match Document::parse("mutant.yaml", text) {
        Ok(document) => document,
        // A document without `openapi` cannot be read.
        Err(_) if pointer == "/openapi" => return Ok(true),
        Err(unreadable) => return Err(wrong(format!("made no YAML: {}", unreadable.problem))),
    };
    let found = findings_of(&document);
    // A renamed extension is reported as missing.
    let line = line.filter(|_| *what != "renamed" || !pointer.contains("/x-"));
    let at_line = |found: &[Finding]| line.is_none_or(|line| found.iter().any(|it| it.span.line == line));
    // Lint reports problems of the document alone.
    let refused = (exit_code(&found) > 0 && at_line(&found)) || {
        let linted = lint(&document, date(2026, 12, 1));
        exit_code(&linted) > 0 && at_line(&linted)
    };
    match (words || one_host_less, exit_code(&found)) {
        (true, 0) => Ok(false),
        (false, _) if refused => Ok(true),
        _ => Err(wrong(summary(&found))),
    }
}
