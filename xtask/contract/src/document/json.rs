//! JSON (RFC 8259) to a tree.
//!
//! YAML readers refuse some JSON: escaped surrogate pairs, U+007F, tabs between tokens.

use jsonc_parser::ast::{ObjectPropName, Value as Parsed};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};

use super::scalar::shown;
use super::tree::{Entry, Mapping, Node, Problem, Span, Value};
use super::yaml::{MAX_DEPTH, MAX_NODES, problem_after, too_deep};

const RFC_8259: ParseOptions = ParseOptions {
    allow_comments: false,
    allow_loose_object_property_names: false,
    allow_trailing_commas: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Reads one JSON document.
///
/// # Errors
/// The first place where the text is not JSON, repeats a key, or is too deep or too large.
pub(super) fn read(text: &str) -> Result<Node, Problem> {
    let collect = CollectOptions { comments: CommentCollectionStrategy::Off, tokens: false };
    let parsed = parse_to_ast(text, &collect, &RFC_8259).map_err(|error| {
        let start = text.floor_char_boundary(error.range().start.min(text.len()));
        problem_after(&text[..start], format!("this is not JSON: {}", error.kind()))
    })?;
    let value = parsed.value.ok_or_else(|| problem_after("", "the document is empty".to_owned()))?;
    let mut reader = Reader { text, read_to: 0, line: 1, line_start: 0, nodes: 0 };
    reader.node(&value, 1)
}

/// Positions ascend in the order of the visit, so lines are counted once.
struct Reader<'t> {
    text: &'t str,
    read_to: usize,
    line: usize,
    line_start: usize,
    nodes: usize,
}

impl Reader<'_> {
    fn node(&mut self, parsed: &Parsed<'_>, depth: usize) -> Result<Node, Problem> {
        let span = self.span(parsed.range());
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(problem(span, format!("the document has more than {MAX_NODES} values")));
        }
        if depth > MAX_DEPTH + 1 {
            return Err(problem(span, too_deep()));
        }
        let value = match parsed {
            Parsed::NullKeyword(_) => Value::Null,
            Parsed::BooleanLit(literal) => Value::Bool(literal.value),
            Parsed::StringLit(literal) => Value::String(literal.value.to_string()),
            Parsed::NumberLit(literal) => {
                let number = literal.value.parse().map_err(|_| {
                    problem(span, format!("`{}` is a number that JSON cannot hold", shown(literal.value)))
                })?;
                Value::Number(number)
            }
            Parsed::Array(array) => {
                let items = array.elements.iter().map(|item| self.node(item, depth + 1));
                Value::Sequence(items.collect::<Result<_, _>>()?)
            }
            Parsed::Object(object) => {
                let mut mapping = Mapping::default();
                for property in &object.properties {
                    let key = match &property.name {
                        ObjectPropName::String(name) => name.value.as_ref(),
                        ObjectPropName::Word(name) => name.value,
                    };
                    let key_span = self.span(property.name.range());
                    if let Some(first) = mapping.get(key) {
                        let line = first.key_span.line;
                        let message = format!("the key `{}` is already there, on line {line}", shown(key));
                        return Err(problem(key_span, message));
                    }
                    let value = self.node(&property.value, depth + 1)?;
                    mapping.push(Entry { key: key.to_owned(), key_span, value });
                }
                Value::Mapping(mapping)
            }
        };
        Ok(Node { value, span })
    }

    fn span(&mut self, range: Range) -> Span {
        for (offset, _) in self.text[self.read_to..range.start].match_indices('\n') {
            self.line += 1;
            self.line_start = self.read_to + offset + 1;
        }
        self.read_to = range.start;
        let column = self.text[self.line_start..range.start].chars().count() + 1;
        Span { start: range.start, end: range.end, line: self.line, column }
    }
}

fn problem(span: Span, message: String) -> Problem {
    Problem { line: span.line, column: span.column, message }
}
