//! Each mutant of the document is refused, at its line where there still is one, or differs in prose only.

use std::num::NonZero;
use std::thread;

use contract::document::Document;
use contract::finding::Finding;
use contract::lint::lint;
use jiff::civil::date;

use crate::document::{exit_code, findings, told};
use crate::mutants::{Mutant, all};

/// What the interface says in words only, by the last or any part of a JSON pointer. Kept apart from the
/// table in the code, which it is to be held against.
fn is_words(pointer: &str) -> bool {
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
    // Below these, a part is a name and no keyword.
    let named = ["properties", "schemas", "responses", "headers", "paths", "content", "variables"];
    parts.iter().enumerate().any(|(position, part)| {
        words.contains(part) && !position.checked_sub(1).is_some_and(|before| named.contains(&parts[before]))
    })
}

#[test]
fn every_mutant_is_refused_or_words() {
    let all = all();
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
    assert!(refused > 300, "only {refused} were refused");
}

/// Whether a mutant is refused; a sentence if it should be and is not, or the other way round.
fn judge(mutant: &Mutant) -> Result<bool, String> {
    let Mutant { what, pointer, text, line } = mutant;
    let wrong = |problem: String| format!("{what} {pointer} (line {line:?}): {problem}");
    // A keyword for words under another name is a keyword that nobody knows.
    let words = is_words(if *what == "renamed" { pointer.rsplit_once('/').unwrap().0 } else { pointer });
    // How many hosts there are is not for the code to know.
    let one_host_less = *what == "removed" && matches!(pointer.as_str(), "/servers/0" | "/servers/1");
    let document = match Document::parse("mutant.yaml", text) {
        Ok(document) => document,
        // Without its version a document is not read as OpenAPI.
        Err(_) if pointer == "/openapi" => return Ok(true),
        Err(unreadable) => return Err(wrong(format!("made no YAML: {}", unreadable.problem))),
    };
    let found = findings(text);
    // An extension under another name is missing where it was.
    let line = line.filter(|_| *what != "renamed" || !pointer.contains("/x-"));
    let at_line = |found: &[Finding]| line.is_none_or(|line| found.iter().any(|it| it.span.line == line));
    // What is wrong with the document alone is for lint to report.
    let refused = (exit_code(&found) > 0 && at_line(&found)) || {
        let linted = lint(&document, date(2026, 12, 1));
        exit_code(&linted) > 0 && at_line(&linted)
    };
    match (words || one_host_less, exit_code(&found)) {
        (true, 0) => Ok(false),
        (false, _) if refused => Ok(true),
        _ => Err(wrong(told(&found))),
    }
}
