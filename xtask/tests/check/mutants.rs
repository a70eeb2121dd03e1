//! Mutants of the document, made by rule: every key renamed, every value changed, every block entry and
//! every item removed. Each is refused, at its line where there still is one, or is about words only.

use std::num::NonZero;
use std::thread;

use contract::document::{Node, Value};
use xtask::check::exit_code;
use xtask::compare::compare;
use xtask::written::Document;

use crate::document::{TEXT, TODAY, code, told};

/// What the interface says in words only, by the last or any part of a JSON pointer. Kept apart from the
/// table in the code, which it is to be held against.
fn is_words(pointer: &str) -> bool {
    let parts: Vec<&str> = pointer.split('/').skip(1).collect();
    let words =
        ["description", "summary", "example", "examples", "contact", "license", "bearerFormat", "title"];
    // Below these, a part is a name and no keyword.
    let named = ["properties", "schemas", "responses", "headers", "paths", "content", "variables"];
    parts.iter().enumerate().any(|(position, part)| {
        words.contains(part) && !position.checked_sub(1).is_some_and(|before| named.contains(&parts[before]))
    })
}

pub(crate) struct Mutant {
    pub(crate) what: &'static str,
    pub(crate) pointer: String,
    pub(crate) text: String,
    /// The line that a finding must be at, if the mutant left one.
    line: Option<usize>,
}

fn replaced(start: usize, end: usize, new: &str) -> String {
    format!("{}{new}{}", &TEXT[..start], &TEXT[end..])
}

/// The end of the block that begins on the line of `start`: all lines that are indented more.
fn block_end(start: usize) -> usize {
    let line_start = TEXT[..start].rfind('\n').map_or(0, |before| before + 1);
    let indent = start - line_start;
    let mut end = line_start;
    for (number, line) in TEXT[line_start..].split_inclusive('\n').enumerate() {
        let deeper = line.trim().is_empty() || line.len() - line.trim_start().len() > indent;
        if number > 0 && !deeper {
            break;
        }
        end += line.len();
    }
    end
}

/// Adds the mutants of a node and of all that is below it.
fn collect(node: &Node, pointer: &str, mutants: &mut Vec<Mutant>) {
    let mutant = |what, pointer: &str, text, line| Mutant { what, pointer: pointer.to_owned(), text, line };
    let slice = &TEXT[node.span.start..node.span.end];
    let changed = match &node.value {
        Value::Bool(bool) => Some((!bool).to_string()),
        Value::Number(number) => Some(format!("{}", number.as_i64().unwrap_or_default() + 1)),
        Value::String(_) if slice.starts_with('\'') => Some(format!("{}x'", &slice[..slice.len() - 1])),
        Value::String(_) if !slice.contains('\n') => Some(format!("{slice}x")),
        _ => None,
    };
    if let Some(changed) = changed {
        let text = replaced(node.span.start, node.span.end, &changed);
        mutants.push(mutant("changed", pointer, text, Some(node.span.line)));
    }
    for entry in node.entries() {
        let below = format!("{pointer}/{}", entry.key.replace('~', "~0").replace('/', "~1"));
        let key = entry.key_span;
        let name = &TEXT[key.start..key.end];
        let renamed = match name.strip_suffix('\'') {
            Some(open) => format!("{open}x'"),
            None => format!("{name}x"),
        };
        let whole_block = TEXT[..key.start].ends_with([' ', '\n'])
            && TEXT[..key.start].trim_end_matches(' ').ends_with('\n');
        mutants.push(mutant("renamed", &below, replaced(key.start, key.end, &renamed), Some(key.line)));
        if whole_block {
            let start = TEXT[..key.start].rfind('\n').map_or(0, |before| before + 1);
            mutants.push(mutant("removed", &below, replaced(start, block_end(key.start), ""), None));
        }
        collect(&entry.value, &below, mutants);
    }
    for (position, item) in node.items().iter().enumerate() {
        let below = format!("{pointer}/{position}");
        let before = TEXT[..item.span.start].trim_end();
        if before.ends_with('-') {
            let text = replaced(before.len() - 1, block_end(before.len() - 1), "\n");
            mutants.push(mutant("removed", &below, text, None));
        } else if node.items().len() > 1 {
            let (start, end) = match before.strip_suffix(',') {
                Some(before) => (before.len(), item.span.end),
                None => (item.span.start, node.items()[1].span.start),
            };
            mutants.push(mutant("removed", &below, replaced(start, end, ""), Some(item.span.line)));
        }
        collect(item, &below, mutants);
    }
}

/// All of them.
pub(crate) fn all() -> Vec<Mutant> {
    let document = Document::parse("animal-store.yaml", TEXT).unwrap();
    let mut all = Vec::new();
    collect(&document.root, "", &mut all);
    all
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
    let document = Document::parse("mutant.yaml", text);
    let document = document.map_err(|unreadable| wrong(format!("made no YAML: {}", unreadable.problem)))?;
    let findings = compare(&document, code(), TODAY);
    let at_line = line.is_none_or(|line| findings.iter().any(|finding| finding.span.line == line));
    match (words || one_host_less, exit_code(&findings)) {
        (true, 0) => Ok(false),
        (false, 1 | 2) if at_line => Ok(true),
        _ => Err(wrong(format!("{:?}", told(&findings)))),
    }
}
