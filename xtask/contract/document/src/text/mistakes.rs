//! Explains the errors of the YAML parser, at the place of their likely cause.

use granit_parser::{ErrorKind as Kind, ScanError};

use super::tree::{Problem, Span};
use super::yaml::too_deep;

/// What was read before an error of the parser.
pub(super) struct Before {
    /// The last scalar or bracket.
    pub(super) last: Span,
    /// The innermost list or mapping with brackets that has not ended.
    pub(super) flow: Option<Span>,
}

/// Explains an error of the parser, which it reports at a place.
pub(super) fn explained(text: &str, error: &ScanError, place: Span, before: &Before) -> Problem {
    let (kind, last) = (error.kind(), before.last);
    if *kind == Kind::RecursionLimitExceeded {
        return Problem::at(place, too_deep());
    }
    // The scalar that cannot be read begins after the indicators that follow the last one.
    let rest = text[last.end..].trim_start_matches(|it: char| it.is_whitespace() || ":,-?[{".contains(it));
    let begin = text.len() - rest.len();
    let has_lines = text.get(begin..place.start).is_some_and(|scalar| scalar.contains('\n'));
    if rest.starts_with(['\'', '"']) && (has_lines || *kind == Kind::UnclosedQuotedScalar) {
        let message = "this quote is not closed on its line; close it, or use a block scalar (`|`)";
        return Problem::in_text(text, begin, message);
    }
    let is_unclosed = matches!(kind, Kind::UnclosedFlowCollection { .. });
    match before.flow {
        Some(open) if is_unclosed || open.line < place.line => {
            let bracket = &text[open.start..=open.start];
            let close = if bracket == "[" { "]" } else { "}" };
            let message = format!("this `{bracket}` is not closed; add `{close}`, or the missing `,` inside");
            return Problem::at(open, message);
        }
        Some(_) => return Problem::at(place, known(error)),
        None => {}
    }
    // The parser reports some tabs at the scalar before.
    let next = if *kind == Kind::TabInPlainScalar { place.line + 1 } else { place.line };
    if let Some(tab) = [place.line, next].into_iter().find_map(|line| tab(text, line)) {
        return Problem::in_text(text, tab, "a tab cannot be used for indentation; use spaces");
    }
    // A key without a value, such as one that is being written, and the key below it are one scalar of two lines.
    let begins_line = text[..last.start].rsplit('\n').next().is_some_and(|it| it.trim_start().is_empty());
    let word = match kind {
        Kind::SimpleKeyExpected => Some(place),
        Kind::MappingValueNotAllowed if begins_line && text[last.start..last.end].contains('\n') => {
            Some(last)
        }
        _ => None,
    };
    match word {
        Some(word) => Problem::at(word, "expected `key: value`, but this has no `: `"),
        None => Problem::at(place, known(error)),
    }
}

/// Returns the offset of the first tab in the indentation of a line.
fn tab(text: &str, line: usize) -> Option<usize> {
    let start = text.split_inclusive('\n').take(line - 1).map(str::len).sum::<usize>();
    let tab = text[start..].find('\t')?;
    text[start..start + tab].chars().all(|before| before == ' ').then_some(start + tab)
}

fn known(error: &ScanError) -> String {
    let text = match error.kind() {
        Kind::TabNotAllowed
        | Kind::TabInBlockIndentation
        | Kind::TabInIndentation
        | Kind::TabInPlainScalar
        | Kind::TabAtBlockScalarStart
        | Kind::InvalidBlockEntryWhitespace
        | Kind::InvalidMappingValueWhitespace => "a tab is not allowed here; use spaces",
        Kind::MappingValueNotAllowed | Kind::InvalidColonPlacement => {
            "a `: ` is not allowed inside a plain value; quote the value, or write a space after the first `:`"
        }
        Kind::UnknownAnchor => "no anchor with this name is defined above; quote the value if it is text",
        Kind::InvalidTrailingSingleQuotedScalar | Kind::InvalidTrailingDoubleQuotedScalar => {
            "text follows the closing quote; double a quote inside single quotes"
        }
        Kind::UnexpectedCharacter { .. } => "this character cannot begin a value; quote the value",
        _ => return format!("this is not valid YAML: {}", error.info()),
    };
    text.to_owned()
}
