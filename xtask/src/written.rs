//! What the file says: its text, its tree, and the way around in it.

use std::path::Path;
use std::{fs, io};

use animal_store::yaml::{self, Entry, Node, Problem, Span, Value};

/// How many references may follow each other before it is taken for a circle.
const MAX_REFERENCES: usize = 100;

/// An OpenAPI document as it is written.
#[derive(Debug)]
pub struct Document {
    /// How to call the file.
    pub path: String,
    /// Its text.
    pub text: String,
    /// Its tree.
    pub root: Node,
}

/// Why a file could not be read.
#[derive(Debug)]
pub struct Unreadable {
    /// How the file was called.
    pub path: String,
    /// Its text, as far as it is text.
    pub text: String,
    /// What is wrong, and where.
    pub problem: Problem,
}

impl Document {
    /// Reads a file.
    ///
    /// # Errors
    /// When there is none, or it holds no YAML that could be an OpenAPI document.
    pub fn load(path: &Path) -> Result<Self, Unreadable> {
        let name = path.display().to_string();
        let unreadable = |text: String, problem| Unreadable { path: name.clone(), text, problem };
        let bytes = fs::read(path).map_err(|error| {
            let message = match error.kind() {
                io::ErrorKind::NotFound => "there is no such file".to_owned(),
                _ => format!("the file cannot be read: {error}"),
            };
            unreadable(String::new(), Problem { line: 1, column: 1, message })
        })?;
        let text = yaml::decode(&bytes)
            .map_err(|problem| unreadable(String::from_utf8_lossy(&bytes).into_owned(), problem))?;
        Self::parse(&name, text)
    }

    /// Reads a text that was found in a file called `path`.
    ///
    /// # Errors
    /// When it is no YAML that could be an OpenAPI document.
    pub fn parse(path: &str, text: &str) -> Result<Self, Unreadable> {
        let unreadable = |problem| Unreadable { path: path.to_owned(), text: text.to_owned(), problem };
        let root = yaml::read(text).map_err(unreadable)?;
        if !matches!(root.value, Value::Mapping(_)) {
            let Span { line, column, .. } = root.span;
            let message = "an OpenAPI document is a mapping that begins with `openapi:`".to_owned();
            return Err(unreadable(Problem { line, column, message }));
        }
        if let (Some(Entry { key_span: Span { line, column, .. }, .. }), None) =
            (root.entry("swagger"), root.entry("openapi"))
        {
            let message = "this is Swagger 2.0; an OpenAPI 3.0 document begins with `openapi:`".to_owned();
            return Err(unreadable(Problem { line: *line, column: *column, message }));
        }
        Ok(Self { path: path.to_owned(), text: text.to_owned(), root })
    }

    /// Where everything begins.
    pub fn root(&self) -> Place<'_> {
        Place { node: &self.root, pointer: String::new(), key: None }
    }

    /// Follows `$ref` until there is none.
    ///
    /// # Errors
    /// The first reference that leads nowhere, or in a circle.
    pub fn resolve<'a>(&'a self, place: &Place<'a>) -> Result<Place<'a>, BadReference<'a>> {
        let mut place = place.clone();
        for _ in 0..MAX_REFERENCES {
            let Some(reference) = place.get("$ref") else { return Ok(place) };
            let Some(target) = reference.node.as_str().and_then(|target| self.find(target)) else {
                return Err(BadReference { reference, circle: false });
            };
            place = target;
        }
        let reference = place.get("$ref").unwrap_or(place);
        Err(BadReference { reference, circle: true })
    }

    /// The place that a reference such as `#/components/schemas/Pet` names.
    pub fn find(&self, reference: &str) -> Option<Place<'_>> {
        let pointer = percent_decoded(reference.strip_prefix('#')?)?;
        let mut place = self.root();
        if pointer.is_empty() {
            return Some(place);
        }
        for token in pointer.strip_prefix('/')?.split('/') {
            let key = token.replace("~1", "/").replace("~0", "~");
            place = match place.node.value {
                Value::Sequence(_) => place.items().nth(key.parse().ok()?)?,
                _ => place.get(&key)?,
            };
        }
        Some(place)
    }
}

/// A `$ref` that leads nowhere.
#[derive(Debug)]
pub struct BadReference<'a> {
    /// The value of the `$ref`.
    pub reference: Place<'a>,
    /// Whether it leads in a circle.
    pub circle: bool,
}

/// A node of the document, and how one gets there.
#[derive(Clone, Debug)]
pub struct Place<'a> {
    /// What is there.
    pub node: &'a Node,
    /// Its JSON pointer (RFC 6901).
    pub pointer: String,
    /// Its key, unless it is an item of a list.
    pub key: Option<Span>,
}

/// What stands under a key that is not there.
static NOTHING: Node = Node { value: Value::Null, span: Span { start: 0, end: 0, line: 1, column: 1 } };

impl<'a> Place<'a> {
    /// The value under this key, if there is one.
    pub fn get(&self, key: &str) -> Option<Place<'a>> {
        let entry = self.node.entry(key)?;
        Some(Place { node: &entry.value, pointer: below(&self.pointer, key), key: Some(entry.key_span) })
    }

    /// The value under this key; if there is none, nothing, standing where its owner stands.
    pub fn get_or_nothing(&self, key: &str) -> Place<'a> {
        let nothing = || Place { node: &NOTHING, pointer: self.pointer.clone(), key: Some(self.anchor()) };
        self.get(key).unwrap_or_else(nothing)
    }

    /// Whether this stands for what is not there.
    pub fn is_nothing(&self) -> bool {
        std::ptr::eq(self.node, &NOTHING)
    }

    /// The keys of a mapping with their values, in the order of the file.
    pub fn entries(&self) -> impl Iterator<Item = (&'a str, Place<'a>)> + use<'a> {
        let owner = self.pointer.clone();
        self.node.entries().iter().map(move |entry| {
            let pointer = below(&owner, &entry.key);
            (entry.key.as_str(), Place { node: &entry.value, pointer, key: Some(entry.key_span) })
        })
    }

    /// The items of a list.
    pub fn items(&self) -> impl Iterator<Item = Place<'a>> + use<'a> {
        let owner = self.pointer.clone();
        let items = self.node.items().iter().enumerate();
        items.map(move |(position, node)| Place {
            node,
            pointer: below(&owner, &position.to_string()),
            key: None,
        })
    }

    /// Whether this is a mapping.
    pub fn is_mapping(&self) -> bool {
        matches!(self.node.value, Value::Mapping(_))
    }

    /// Where to point for the whole of it: its key, else where it begins.
    pub fn anchor(&self) -> Span {
        self.key.unwrap_or(self.node.span)
    }
}

fn below(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// RFC 3986, section 2.1. `None` if what it stands for is no text.
fn percent_decoded(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
            let (high, low) = (digit(rest.next())?, digit(rest.next())?);
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}
