//! Systematic mutants of the frozen document: every key renamed, every value changed, every block entry and every
//! item removed.

use document::{Node, Value};

use crate::document::{TEXT, parsed};

pub(crate) struct Mutant {
    pub(crate) what: &'static str,
    pub(crate) pointer: String,
    pub(crate) text: String,
    /// The expected line of the finding, if it still exists.
    pub(crate) line: Option<usize>,
}

fn replaced(start: usize, end: usize, new: &str) -> String {
    format!("{}{new}{}", &TEXT[..start], &TEXT[end..])
}

/// Returns the end of the block that begins on the line of `start`: all lines that are indented more.
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

/// Adds the mutants of a node and of all nodes below it.
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

/// Returns all mutants.
pub(crate) fn all() -> Vec<Mutant> {
    let document = parsed(TEXT);
    let mut all = Vec::new();
    collect(&document.root, "", &mut all);
    all
}
