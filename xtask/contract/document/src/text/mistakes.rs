//! Finds and explains common mistakes in YAML. The parser often reports them many lines later.

use granit_parser::{ErrorKind as Kind, ScanError};

/// The greatest distance in lines between an unclosed quote and the error of the parser.
const LINES: usize = 200;

/// Returns the offset of a quote that is not closed on its own line, but on the line of the error or not at all.
pub(super) fn unclosed_quote(text: &str, error_line: usize) -> Option<usize> {
    let first = error_line.saturating_sub(LINES);
    let mut start = text.split_inclusive('\n').take(first).map(str::len).sum::<usize>();
    for (number, line) in text[start..].split_inclusive('\n').enumerate().take(error_line - first) {
        if let Some(position) = opening_quote(line) {
            let value = &text[start + position..];
            let lines = quoted(value).map(|end| value[..end].matches('\n').count());
            if lines.is_none_or(|lines| lines > 0 && first + number + 1 + lines >= error_line) {
                return Some(start + position);
            }
        }
        start += line.len();
    }
    None
}

/// The first quote of a line that begins a value.
fn opening_quote(line: &str) -> Option<usize> {
    let quotes = line.char_indices().filter(|(_, character)| matches!(character, '\'' | '"'));
    let mut begins = quotes.map(|(position, _)| (position, line[..position].trim_end()));
    let (position, before) = begins.next()?;
    let begins_value = before.is_empty() || before.ends_with([':', '-', ',', '[', '{']);
    begins_value.then_some(position)
}

/// Returns the length of the string in quotes with which a text begins; `None` if the quote is not closed.
fn quoted(text: &str) -> Option<usize> {
    let mut characters = text.char_indices();
    let (_, quote) = characters.next()?;
    while let Some((position, character)) = characters.next() {
        match character {
            '\\' if quote == '"' => drop(characters.next()),
            // Two single quotes are an escaped single quote.
            '\'' if quote == '\'' && characters.as_str().starts_with('\'') => drop(characters.next()),
            _ if character == quote => return Some(position + 1),
            _ => {}
        }
    }
    None
}

/// The number of lines up to that of the error in which a key without a value is searched.
const LINES_OF_KEY: usize = 3;

/// Returns the offset of a key without a value, such as one that is being written: the text of the line of the error, or
/// of a line shortly before it, if it has no colon and the indentation of a key beside it.
pub(super) fn half_written(text: &str, error_line: usize) -> Option<usize> {
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let lines: Vec<&str> = text.split_inclusive('\n').take(error_line + 1).collect();
    (error_line.saturating_sub(LINES_OF_KEY)..error_line).find_map(|number| {
        let line = *lines.get(number)?;
        let word = line.trim();
        let is_inside = |other: &&&str| indentation(other) > indentation(line);
        let before = lines[..number].iter().rev().find(|other| !is_inside(other));
        let is_key = |other: &&str| other.contains(':') && indentation(other) == indentation(line);
        let is_beside_key = before.into_iter().chain(lines.get(number + 1)).any(is_key);
        let is_word = !word.is_empty() && !word.contains(':') && !word.starts_with(['-', '#', '\'', '"']);
        // The lines of a block scalar are text.
        let owner = lines[..number].iter().rev().find(|it| indentation(it) < indentation(line));
        let header = owner.and_then(|owner| owner.split_whitespace().last());
        let is_text = header.is_some_and(|header| header.starts_with(['|', '>']));
        let before = lines[..number].iter().map(|line| line.len()).sum::<usize>();
        (is_word && is_beside_key && !is_text).then(|| before + indentation(line))
    })
}

/// The offset of the first tab in the indentation of a line.
pub(super) fn tab(text: &str, line: usize) -> Option<usize> {
    let start = text.split_inclusive('\n').take(line - 1).map(str::len).sum::<usize>();
    let tab = text[start..].find('\t')?;
    text[start..start + tab].chars().all(|before| before == ' ').then_some(start + tab)
}

/// Explains an error of the parser.
pub(super) fn explained(error: &ScanError) -> String {
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
        Kind::ExpectedBlockSequenceEntry => "expected `- ` at this indentation, as in the items above",
        Kind::ExpectedBlockMappingKey => "expected `key: value` at this indentation",
        Kind::SimpleKeyExpected => "expected `key: value`; quote the text if it is a value",
        Kind::ExpectedFlowSequenceSeparator => "expected `,` or `]`",
        Kind::ExpectedFlowMappingSeparator => "expected `,` or `}`",
        Kind::UnknownQuotedScalarEscape | Kind::InvalidQuotedScalarHexEscape | Kind::InvalidUnicodeEscape => {
            "this escape is not valid in YAML; double the backslash, or use single quotes"
        }
        Kind::InvalidIndentation | Kind::InvalidBlockScalarIndent => {
            "the indentation does not match the lines above"
        }
        Kind::UnexpectedCharacter { .. } => "this character cannot begin a value; quote the value",
        _ => return format!("this is not valid YAML: {}", error.info()),
    };
    text.to_owned()
}
