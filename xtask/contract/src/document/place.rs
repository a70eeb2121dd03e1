//! The older way around in a document, which drift and breaking changes still use.

use super::{Document, Node, Span, Value, pointer};

/// How many references may follow each other before it is taken for a circle.
const MAX_REFERENCES: usize = 100;

impl Document {
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
        let pointer = pointer::in_reference(reference)?;
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
    let mut below = pointer.to_owned();
    super::pointer::push(&mut below, key);
    below
}
