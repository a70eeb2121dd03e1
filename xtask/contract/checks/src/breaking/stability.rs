//! `x-stability-level` of an operation: how far clients may rely on it. The names are those of oasdiff. A change that
//! concerns only operations which were drafts or alpha versions is a note.

use document::openapi::Operation;

use super::comparer::Comparer;
use super::data::display;
use super::rules;

/// The extension.
pub(super) const KEYWORD: &str = "x-stability-level";
/// The levels, the least reliable first. An operation without a level is stable.
const LEVELS: [&str; 4] = ["draft", "alpha", "beta", "stable"];

/// The number of levels of which clients may expect breaking changes at any time.
const UNSTABLE: usize = 2;

/// Returns the position of the level among [`LEVELS`]. `None` if there is no such level.
fn level(operation: &Operation<'_>) -> Option<usize> {
    let Some(written) = operation.get(KEYWORD) else { return Some(LEVELS.len() - 1) };
    LEVELS.iter().position(|level| written.as_str() == Some(level))
}

/// Whether clients may expect breaking changes of an operation at any time.
pub(super) fn is_unstable(operation: &Operation<'_>) -> bool {
    level(operation).is_some_and(|level| level < UNSTABLE)
}

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, old: &Operation<'a>, new: &Operation<'a>) {
    let (rule, what) = match (level(old), level(new)) {
        (_, None) => {
            let written = new.get(KEYWORD).map(display).unwrap_or_default();
            let what = format!("its stability {written} is not one of {}", LEVELS.join(", "));
            (&rules::STABILITY_INVALID, what)
        }
        (Some(before), Some(after)) if after < before => {
            let what = format!("its stability decreased from `{}` to `{}`", LEVELS[before], LEVELS[after]);
            (&rules::STABILITY_DECREASED, what)
        }
        (before, after) if before == after => return,
        (_, Some(after)) => (&rules::STABILITY_INCREASED, format!("it is `{}` now", LEVELS[after])),
    };
    cx.report_keyword(rule, (old, new), KEYWORD, what);
}
