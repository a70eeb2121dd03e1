//! JSON (RFC 8259) to a tree.
//!
//! A YAML parser cannot be used, since it refuses escaped surrogate pairs, U+007F, and tabs between tokens.

use granit_parser::ScalarStyle;
use jsonc_parser::ast::{ObjectPropName, Value as Parsed};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::errors::ParseErrorKind;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};

use super::scalar;
use super::tree::{Entry, Mapping, Node, Problem, Span, Value};
use super::yaml::{MAX_DEPTH, MAX_NODES, duplicate_key, too_deep, too_many};

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
    // The parser does not skip a byte order mark.
    let start = text.len() - text.trim_start_matches('\u{feff}').len();
    let parsed = parse_to_ast(&text[start..], &collect, &RFC_8259).map_err(|error| {
        let message = match error.kind() {
            ParseErrorKind::NestingDepthExceeded => too_deep(),
            kind => format!("this is not JSON: {kind}"),
        };
        Problem::in_text(text, start + error.range().start, message)
    })?;
    let value = parsed.value.ok_or_else(|| Problem::in_text(text, 0, "the document is empty"))?;
    let mut reader = Reader { text, start, counted: start, line: 1, column: 1, nodes: 0 };
    reader.node(&value, 1)
}

/// Converts the parser's tree. Positions ascend in the order of the visit, so each character is counted once.
struct Reader<'t> {
    text: &'t str,
    /// The offset after a byte order mark, from which the parser counts positions.
    start: usize,
    counted: usize,
    line: usize,
    column: usize,
    nodes: usize,
}

impl Reader<'_> {
    fn node(&mut self, parsed: &Parsed<'_>, depth: usize) -> Result<Node, Problem> {
        let span = self.span(parsed.range());
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(Problem::at(span, too_many()));
        }
        if depth > MAX_DEPTH + 1 {
            return Err(Problem::at(span, too_deep()));
        }
        let value = match parsed {
            Parsed::NullKeyword(_) => Value::Null,
            Parsed::BooleanLit(literal) => Value::Bool(literal.value),
            Parsed::StringLit(literal) => Value::String(literal.value.to_string()),
            // Each number of JSON is one of YAML.
            Parsed::NumberLit(literal) => scalar::value(literal.value, ScalarStyle::Plain)
                .map_err(|message| Problem::at(span, message))?,
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
                        return Err(Problem::at(key_span, duplicate_key(key, first.key_span)));
                    }
                    let value = self.node(&property.value, depth + 1)?;
                    mapping.push(Entry { key: key.to_owned(), key_span, value });
                }
                Value::Mapping(mapping)
            }
        };
        Ok(Node::new(value, span))
    }

    fn span(&mut self, range: Range) -> Span {
        let (start, end) = (self.start + range.start, self.start + range.end);
        for character in self.text[self.counted..start].chars() {
            self.column += 1;
            if character == '\n' {
                (self.line, self.column) = (self.line + 1, 1);
            }
        }
        self.counted = start;
        Span { start, end, line: self.line, column: self.column }
    }
}
