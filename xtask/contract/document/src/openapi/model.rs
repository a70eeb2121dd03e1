//! The model: all objects of a document with their places.

use std::collections::HashMap;

use super::{Flaw, Invalid, Kind};
use crate::place::{Spot, Subject};
use crate::text::{Document, Node, Span, Value, pointer};

/// Identifies an object within its model.
pub type Id = usize;

/// One step from an object to a value in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step<'a> {
    /// Under a key.
    Key(&'a str),
    /// An item of a list.
    Item(usize),
}

/// The data of an object in the model.
#[derive(Debug)]
pub(super) struct Record<'a> {
    pub(super) kind: Kind,
    pub(super) node: &'a Node,
    pub(super) key: Option<Span>,
    pub(super) parent: Option<Id>,
    /// The steps from the parent: a keyword, and a key or number if the keyword holds several objects; or one key.
    pub(super) steps: Vec<Step<'a>>,
    pub(super) children: Vec<Id>,
    /// Whether it is a Reference Object in the place of an object of its kind.
    pub(super) is_reference: bool,
    /// The target of the reference, of any kind.
    pub(super) target: Option<Id>,
    /// The object at the end of the chain of references that begins here, or this object if it is not a reference.
    /// `None` if the chain has no target or is a cycle.
    pub(super) end: Option<Id>,
}

/// All objects of a document.
#[derive(Debug)]
pub struct Model<'a> {
    pub(super) text: &'a str,
    pub(super) objects: Vec<Record<'a>>,
    pub(super) kinds: HashMap<Kind, Vec<Id>>,
    /// The object of each node that is one, by the address of the node.
    pub(super) places: HashMap<usize, Id>,
    pub(super) invalid: Vec<Invalid<'a>>,
}

impl<'a> Model<'a> {
    /// Builds the model of a document.
    pub fn of(document: &'a Document) -> Self {
        super::structure::model(document)
    }

    /// Whether the whole document is in one file. If not, further checks would report only consequences.
    pub fn is_complete(&self) -> bool {
        !self.invalid.iter().any(|invalid| matches!(invalid.flaw, Flaw::OtherFile(_)))
    }

    /// What violates the specification in the structure. An alias has its violations at each use.
    pub fn invalid(&self) -> &[Invalid<'a>] {
        &self.invalid
    }

    /// The text of the document.
    pub fn source(&self) -> &'a str {
        self.text
    }

    /// Returns the target of a reference, of any kind.
    pub fn target(&'a self, id: Id) -> Option<Object<'a>> {
        self.objects[id].target.map(|id| self.object(id))
    }

    /// The object with this identifier.
    pub fn object(&'a self, id: Id) -> Object<'a> {
        Object { model: self, id }
    }

    /// Returns the object that a node of the document is.
    pub fn at(&'a self, node: &Node) -> Option<Object<'a>> {
        self.places.get(&address(node)).map(|id| self.object(*id))
    }

    /// Returns the object at a JSON pointer.
    pub fn object_at(&'a self, pointer: &str) -> Option<Object<'a>> {
        self.at(self.root().node().pointer(pointer)?)
    }

    /// The OpenAPI Object.
    pub fn root(&'a self) -> Object<'a> {
        self.object(0)
    }

    /// Returns the objects of a kind without references, in the order of the file.
    pub fn all(&'a self, kind: Kind) -> impl Iterator<Item = Object<'a>> {
        let ids = self.kinds.get(&kind).map(Vec::as_slice).unwrap_or_default();
        ids.iter().map(|id| self.object(*id)).filter(|object| !object.is_reference())
    }

    /// Returns the schemas of the components.
    pub fn schemas(&'a self) -> impl Iterator<Item = Object<'a>> {
        self.root().child("components").into_iter().flat_map(|components| components.children("schemas"))
    }

    /// The number of all objects, including references.
    #[expect(clippy::len_without_is_empty, reason = "a document is an object")]
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Returns all objects, including references.
    pub fn everything(&'a self) -> impl Iterator<Item = Object<'a>> {
        (0..self.objects.len()).map(|id| self.object(id))
    }
}

/// An object of the specification at its place in the document: the base of every view.
#[derive(Clone, Copy)]
pub struct Object<'a> {
    pub(super) model: &'a Model<'a>,
    /// Its identifier within the model.
    pub id: Id,
}

impl std::fmt::Debug for Object<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{:?} at {}", self.kind(), self.pointer())
    }
}

impl PartialEq for Object<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl<'a> Object<'a> {
    /// The model that the object belongs to.
    pub fn model(&self) -> &'a Model<'a> {
        self.model
    }

    fn data(&self) -> &'a Record<'a> {
        &self.model.objects[self.id]
    }

    /// Its kind.
    pub fn kind(&self) -> Kind {
        self.data().kind
    }

    /// Its node in the tree.
    pub fn node(&self) -> &'a Node {
        self.data().node
    }

    /// Whether it is a Reference Object in the place of an object of its kind.
    pub fn is_reference(&self) -> bool {
        self.data().is_reference
    }

    /// Returns the object that contains this one.
    pub fn parent(&self) -> Option<Object<'a>> {
        self.data().parent.map(|id| self.model.object(id))
    }

    /// Returns this object and the objects that contain it, the innermost first.
    pub fn ancestors(&self) -> impl Iterator<Item = Object<'a>> + use<'a> {
        std::iter::successors(Some(*self), Object::parent)
    }

    fn outside_in(&self) -> impl Iterator<Item = Object<'a>> + use<'a> {
        self.ancestors().collect::<Vec<_>>().into_iter().rev()
    }

    /// Returns the nearest object of a kind among this object and the objects that contain it.
    pub fn within(&self, kind: Kind) -> Option<Object<'a>> {
        self.ancestors().find(|object| object.kind() == kind)
    }

    /// Returns the steps from the object that contains this one: a keyword, and a key or number if the keyword holds
    /// several objects; or one key.
    pub fn steps(&self) -> &'a [Step<'a>] {
        &self.data().steps
    }

    /// Returns the place of its key. `None` for an item of a list and for the document.
    pub fn key_span(&self) -> Option<Span> {
        self.data().key
    }

    /// Returns the text of its place: that of its key, or else that of its beginning.
    pub fn span(&self) -> Span {
        self.key_span().unwrap_or_else(|| head(self.node()))
    }

    /// Returns the keyword of the parent that contains this object.
    pub fn keyword(&self) -> &'a str {
        match self.data().steps.first() {
            Some(Step::Key(keyword)) => keyword,
            _ => "",
        }
    }

    /// Returns the last key of the pointer, or an empty string for an item of a list.
    pub fn name(&self) -> &'a str {
        match self.data().steps.last() {
            Some(Step::Key(name)) => name,
            _ => "",
        }
    }

    /// The value of a keyword.
    pub fn get(&self, keyword: &str) -> Option<&'a Node> {
        self.node().get(keyword)
    }

    /// Whether a keyword is present.
    pub fn has(&self, keyword: &str) -> bool {
        self.get(keyword).is_some()
    }

    /// The value of a keyword, if it is a string.
    pub fn text(&self, keyword: &str) -> Option<&'a str> {
        self.get(keyword)?.as_str()
    }

    /// Whether a keyword is `true`.
    pub fn flag(&self, keyword: &str) -> bool {
        self.get(keyword).and_then(Node::as_bool).unwrap_or_default()
    }

    /// Whether it has `required: true`.
    pub fn is_required(&self) -> bool {
        self.flag("required")
    }

    /// Returns the `schema` of a parameter, a header or a media type, without resolving a reference.
    pub fn schema(&self) -> Option<Object<'a>> {
        self.child("schema")
    }

    /// Returns the objects directly in this one.
    pub fn parts(&self) -> impl Iterator<Item = Object<'a>> + use<'a> {
        let model = self.model;
        self.data().children.iter().map(|id| model.object(*id))
    }

    /// The objects under a keyword.
    pub fn children<'k>(&self, keyword: &'k str) -> impl Iterator<Item = Object<'a>> + use<'a, 'k> {
        // An object can have very many parts under another keyword.
        let has = self.has(keyword);
        self.parts().take_while(move |_| has).filter(move |child| child.keyword() == keyword)
    }

    /// The object under a keyword that has one.
    pub fn child(&self, keyword: &str) -> Option<Object<'a>> {
        self.children(keyword).next()
    }

    /// Returns this object with references resolved. `None` if a reference has no target.
    pub fn resolved(&self) -> Option<Object<'a>> {
        self.data().end.map(|id| self.model.object(id)).filter(|end| end.kind() == self.kind())
    }

    /// Returns the objects under a keyword, with references resolved.
    pub fn resolved_children<'k>(&self, keyword: &'k str) -> impl Iterator<Item = Object<'a>> + use<'a, 'k> {
        self.children(keyword).filter_map(|child| child.resolved())
    }

    /// Returns its place: that of its key, or else that of its beginning.
    pub fn spot(&self) -> Spot {
        self.spot_at(&[], self.span())
    }

    /// Returns the place of one of its keys, or its own place if there is no such key.
    pub fn key_spot(&self, keyword: &str) -> Spot {
        let span = self.node().entry(keyword).map(|entry| entry.key_span);
        span.map_or_else(|| self.spot(), |span| self.spot_at(&[Step::Key(keyword)], span))
    }

    /// Returns the place of the value of one of its keys, or its own place if there is no such key.
    pub fn value_spot(&self, keyword: &str) -> Spot {
        let value = self.get(keyword);
        value.map_or_else(|| self.spot(), |value| self.spot_at(&[Step::Key(keyword)], head(value)))
    }

    /// Returns the place of a node in it, at the end of these steps.
    pub fn spot_at(&self, steps: &[Step<'_>], span: Span) -> Spot {
        let mut pointer = self.pointer();
        extend(&mut pointer, steps);
        let alias = self.model.root().node().alias_at(&pointer, span);
        Spot { pointer, span, subject: self.subject(), alias }
    }

    /// Its JSON pointer (RFC 6901).
    pub fn pointer(&self) -> String {
        let mut pointer = String::new();
        for object in self.outside_in() {
            extend(&mut pointer, &object.data().steps);
        }
        pointer
    }

    /// Returns its name for messages, the outermost object first.
    pub fn subject(&self) -> Subject {
        let mut subject = Subject::document();
        for object in self.outside_in() {
            let (kind, own) = (object.kind(), |keyword: &str| object.text(keyword));
            let is_hidden = match kind {
                Kind::OpenApi | Kind::Paths | Kind::Responses | Kind::OAuthFlows => true,
                // A schema without a name does not help to find its parts.
                Kind::Components | Kind::Schema => object != *self && !object.is_named(),
                _ => false,
            };
            if is_hidden {
                continue;
            }
            let word = match (kind, object.keyword()) {
                (Kind::Schema, "properties") => "property",
                (Kind::Schema, "items") => "items",
                (Kind::Schema, "allOf") => "`allOf` part",
                (Kind::Schema, "oneOf") => "`oneOf` alternative",
                (Kind::Schema, "anyOf") => "`anyOf` alternative",
                _ => kind.word(),
            };
            let request;
            let name = match (kind, own("operationId")) {
                (Kind::Operation, Some(id)) => id,
                (Kind::Operation, None) => {
                    let path = object.parent().map(|path| clipped(path.name())).unwrap_or_default();
                    request = format!("{} {path}", object.name().to_uppercase());
                    &request
                }
                (Kind::Parameter, _) => {
                    object.resolved().and_then(|it| it.text("name")).unwrap_or(object.name())
                }
                (Kind::Tag, _) => own("name").unwrap_or_default(),
                (Kind::Server, _) => own("url").unwrap_or_default(),
                _ if object.is_named() => object.name(),
                _ => "",
            };
            if matches!(kind, Kind::PathItem | Kind::Operation) {
                subject = Subject::document();
            }
            subject = subject.with(word, clipped(name));
        }
        subject
    }

    /// Whether its key tells it from objects of its kind.
    fn is_named(&self) -> bool {
        let is_map = |owner: Object<'_>| {
            matches!(owner.kind(), Kind::Paths | Kind::Responses | Kind::Callback | Kind::OAuthFlows)
        };
        match self.steps() {
            [Step::Key(_)] => self.parent().is_some_and(is_map),
            steps => matches!(steps.last(), Some(Step::Key(_))),
        }
    }
}

/// Returns the place where a node begins: the whole of a scalar, the first key or item of a collection.
pub fn head(node: &Node) -> Span {
    let mut node = node;
    loop {
        match &node.value {
            Value::Mapping(mapping) => {
                let first = mapping.entries().first().filter(|first| node.inherited(first).is_none());
                return first.map_or(node.span, |first| first.key_span);
            }
            Value::Sequence(items) if !items.is_empty() => node = &items[0],
            _ => return node.span,
        }
    }
}

/// Returns what identifies a node while the document is borrowed.
pub(super) fn address(node: &Node) -> usize {
    std::ptr::from_ref(node).addr()
}

fn extend(pointer: &mut String, steps: &[Step<'_>]) {
    for step in steps {
        match step {
            Step::Key(key) => pointer::push(pointer, clipped(key)),
            Step::Item(number) => pointer::push(pointer, &number.to_string()),
        }
    }
}

/// Shortens a key. Each place below a key has a copy of it, and an invalid file may have a key of a megabyte.
fn clipped(key: &str) -> &str {
    const LONGEST: usize = 200;
    &key[..key.floor_char_boundary(LONGEST.min(key.len()))]
}
