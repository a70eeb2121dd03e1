//! The difference of two texts as a unified diff.

use std::fmt::Write as _;

/// The number of equal lines around a difference.
const CONTEXT: usize = 3;
/// The number of equal lines after which two texts are the same again.
const ENOUGH: usize = 3;
/// The limit of lines to look ahead. Beyond it, the rest of both texts differs.
const MAX_AHEAD: usize = 4000;

/// Returns the unified diff of two versions of a file. Empty if they are the same.
pub(crate) fn unified(path: &str, old: &str, new: &str) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let changes = changes(&old, &new);
    let mut text = String::new();
    if !changes.is_empty() {
        let _ = writeln!(text, "--- {path}\n+++ {path}");
    }
    for hunk in changes.chunk_by(|one, next| next.old.0 - one.old.1 <= 2 * CONTEXT) {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { continue };
        let before = CONTEXT.min(first.old.0);
        let after = CONTEXT.min(old.len() - last.old.1);
        let range = |(start, _): (usize, usize), (_, end): (usize, usize)| {
            let (start, end) = (start - before, end + after);
            // An empty range is after the line before it.
            format!("{},{}", start + usize::from(end > start), end - start)
        };
        let _ = writeln!(text, "@@ -{} +{} @@", range(first.old, last.old), range(first.new, last.new));
        let mut at = first.old.0 - before;
        for change in hunk {
            lines(&mut text, ' ', &old[at..change.old.0]);
            lines(&mut text, '-', &old[change.old.0..change.old.1]);
            lines(&mut text, '+', &new[change.new.0..change.new.1]);
            at = change.old.1;
        }
        lines(&mut text, ' ', &old[at..at + after]);
    }
    text
}

/// The lines of both texts that differ, as start and end.
struct Change {
    old: (usize, usize),
    new: (usize, usize),
}

fn changes(old: &[&str], new: &[&str]) -> Vec<Change> {
    let (mut i, mut j, mut changes) = (0, 0, Vec::new());
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            (i, j) = (i + 1, j + 1);
            continue;
        }
        let (removed, added) = skipped(&old[i..], &new[j..]);
        changes.push(Change { old: (i, i + removed), new: (j, j + added) });
        (i, j) = (i + removed, j + added);
    }
    changes
}

/// Returns the least numbers of lines after which both texts are the same for some lines.
fn skipped(old: &[&str], new: &[&str]) -> (usize, usize) {
    for total in 1..=MAX_AHEAD.min(old.len() + new.len()) {
        for removed in total.saturating_sub(new.len())..=total.min(old.len()) {
            let (rest, other) = (&old[removed..], &new[total - removed..]);
            let equal = rest.iter().zip(other).take(ENOUGH).take_while(|(one, other)| one == other).count();
            if equal == ENOUGH || equal == rest.len() && equal == other.len() {
                return (removed, total - removed);
            }
        }
    }
    (old.len(), new.len())
}

fn lines(text: &mut String, sign: char, lines: &[&str]) {
    for line in lines {
        text.push(sign);
        text.push_str(line);
        if !line.ends_with('\n') {
            text.push_str("\n\\ No newline at end of file\n");
        }
    }
}
