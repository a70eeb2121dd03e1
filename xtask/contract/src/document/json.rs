//! JSON (RFC 8259) to a tree.
//!
//! YAML readers refuse some JSON: escaped surrogate pairs, U+007F, tabs between tokens.

use super::scalar::shown;
use super::tree::{Entry, Mapping, Node, Problem, Span, Value};
use super::yaml::{MAX_DEPTH, MAX_NODES, duplicate_key, too_deep, too_many};

/// Reads one JSON document.
///
/// # Errors
/// The first place where the text is not JSON, repeats a key, or is too deep or too large.
pub(super) fn read(text: &str) -> Result<Node, Problem> {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut reader = Reader { text, at: start, counted: start, line: 1, column: 1, nodes: 0 };
    let root = reader.value(1)?;
    reader.skip_space();
    match reader.peek() {
        None => Ok(root),
        Some(_) => Err(reader.error("the JSON document ends before this; remove the rest")),
    }
}

struct Reader<'t> {
    text: &'t str,
    /// The next byte to read.
    at: usize,
    /// The byte that `line` and `column` belong to. Positions ascend, so each character is counted once.
    counted: usize,
    line: usize,
    column: usize,
    nodes: usize,
}

impl<'t> Reader<'t> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// The empty place at the next byte.
    fn here(&mut self) -> Span {
        for character in self.text[self.counted..self.at].chars() {
            self.column += 1;
            if character == '\n' {
                (self.line, self.column) = (self.line + 1, 1);
            }
        }
        self.counted = self.at;
        Span { start: self.at, end: self.at, line: self.line, column: self.column }
    }

    fn error(&mut self, message: impl Into<String>) -> Problem {
        problem(self.here(), message)
    }

    /// An error where something else than the next character is expected.
    fn expected(&mut self, what: &str) -> Problem {
        let found = match self.text[self.at..].chars().next() {
            None => "the end of the file".to_owned(),
            Some(character) => format!("`{}`", character.escape_debug()),
        };
        self.error(format!("expected {what}, found {found}"))
    }

    fn value(&mut self, depth: usize) -> Result<Node, Problem> {
        self.skip_space();
        let start = self.here();
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(problem(start, too_many()));
        }
        let value = match self.peek() {
            Some(b'{' | b'[') if depth > MAX_DEPTH => return Err(problem(start, too_deep())),
            Some(b'{') => Value::Mapping(self.object(start, depth)?),
            Some(b'[') => Value::Sequence(self.array(start, depth)?),
            Some(b'"') => Value::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number(start)?,
            _ => self.word()?,
        };
        Ok(Node { value, span: Span { end: self.at, ..start } })
    }

    fn object(&mut self, start: Span, depth: usize) -> Result<Mapping, Problem> {
        let mut mapping = Mapping::default();
        while self.member(b'}', mapping.entries().is_empty(), start, "a key in double quotes")? {
            let key_start = self.here();
            if self.peek() != Some(b'"') {
                return Err(self.expected("a key in double quotes"));
            }
            let key = self.string()?;
            if let Some(first) = mapping.get(&key) {
                return Err(problem(key_start, duplicate_key(&key, first)));
            }
            let key_span = Span { end: self.at, ..key_start };
            self.skip_space();
            if self.peek() != Some(b':') {
                return Err(self.expected("`:` after the key"));
            }
            self.at += 1;
            let value = self.value(depth + 1)?;
            mapping.push(Entry { key, key_span, value });
        }
        Ok(mapping)
    }

    fn array(&mut self, start: Span, depth: usize) -> Result<Vec<Node>, Problem> {
        let mut items = Vec::new();
        while self.member(b']', items.is_empty(), start, "a value")? {
            items.push(self.value(depth + 1)?);
        }
        Ok(items)
    }

    /// Skips the opening bracket or a comma; whether another member follows. `start` is the opening bracket.
    fn member(&mut self, close: u8, first: bool, start: Span, what: &str) -> Result<bool, Problem> {
        let close_shown = char::from(close);
        if first {
            self.at = self.at.max(start.start + 1);
        }
        self.skip_space();
        match self.peek() {
            None => {
                let open = &self.text[start.start..=start.start];
                return Err(problem(start, format!("this `{open}` is never closed; add `{close_shown}`")));
            }
            Some(byte) if byte == close => {
                self.at += 1;
                return Ok(false);
            }
            Some(_) if first => return Ok(true),
            Some(b',') => self.at += 1,
            Some(_) => return Err(self.expected(&format!("`,` or `{close_shown}`"))),
        }
        self.skip_space();
        match self.peek() {
            Some(byte) if byte == close => Err(self.expected(&format!("{what} after `,`"))),
            _ => Ok(true),
        }
    }

    fn string(&mut self) -> Result<String, Problem> {
        let start = self.here();
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.at += 2,
                Some(b'\n' | b'\r') | None => {
                    return Err(problem(start, "this string has no closing quote on its line; add `\"`"));
                }
                Some(byte) if byte < b' ' => {
                    return Err(
                        self.error(format!("U+{byte:04X} is not allowed in a string; write `\\u{byte:04x}`"))
                    );
                }
                Some(_) => self.at += 1,
            }
        }
        self.at += 1;
        let written = self.text.get(start.start..self.at).unwrap_or_default();
        serde_json::from_str(written).map_err(|_| {
            problem(start, format!("the string {} has an escape that JSON does not define", shown(written)))
        })
    }

    fn number(&mut self, start: Span) -> Result<Value, Problem> {
        while matches!(self.peek(), Some(b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z')) {
            self.at += 1;
        }
        let written = &self.text[start.start..self.at];
        let invalid =
            |_| problem(start, format!("`{}` is not a number that JSON can express", shown(written)));
        serde_json::from_str(written).map(Value::Number).map_err(invalid)
    }

    fn word(&mut self) -> Result<Value, Problem> {
        for (word, value) in
            [("null", Value::Null), ("true", Value::Bool(true)), ("false", Value::Bool(false))]
        {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.expected("a value"))
    }
}

fn problem(span: Span, message: impl Into<String>) -> Problem {
    Problem { line: span.line, column: span.column, message: message.into() }
}
