//! The document as OpenAPI sees it: which node is which object, what belongs to what, and where each
//! reference leads.
//!
//! It is made once, while the structure is checked. Rules then ask for all objects of one kind instead of
//! walking the tree, so each costs what it looks at. Places are put into words only for findings.

use std::collections::HashMap;

use animal_store::yaml::{Node, Span, Value};

use super::rule::Spot;
use super::structure::kinds::Kind;
use crate::finding::Subject;

/// Names an object of an outline.
pub(super) type Id = usize;

/// One step from an object to what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step<'a> {
    /// Under a key.
    Key(&'a str),
    /// An item of a list.
    Item(usize),
}

/// Where the chain of references that begins at an object ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// At this object, which is no reference.
    At(Id),
    /// Nowhere: at a reference that does not resolve.
    Nowhere,
    /// Never: they go round.
    Circle,
}

#[derive(Debug)]
pub(super) struct Object<'a> {
    pub(super) kind: Kind,
    pub(super) node: &'a Node,
    pub(super) key: Option<Span>,
    pub(super) parent: Option<Id>,
    /// From the parent to here: a keyword, and a key or number if it holds several; or just a key.
    pub(super) steps: Vec<Step<'a>>,
    pub(super) children: Vec<Id>,
    /// Whether it is a Reference Object in the place of an object of its kind.
    pub(super) is_reference: bool,
    /// The object that the reference names, of whatever kind.
    pub(super) target: Option<Id>,
    pub(super) end: End,
}

/// All objects of a document.
#[derive(Debug)]
pub(super) struct Outline<'a> {
    pub(super) text: &'a str,
    pub(super) objects: Vec<Object<'a>>,
    pub(super) kinds: HashMap<Kind, Vec<Id>>,
}

impl<'a> Outline<'a> {
    pub(super) fn object(&self, id: Id) -> Obj<'_, 'a> {
        Obj { outline: self, id }
    }

    /// The OpenAPI Object.
    pub(super) fn root(&self) -> Obj<'_, 'a> {
        self.object(0)
    }

    /// The objects of a kind, references left out, in the order of the file.
    pub(super) fn all(&self, kind: Kind) -> impl Iterator<Item = Obj<'_, 'a>> {
        let ids = self.kinds.get(&kind).map(Vec::as_slice).unwrap_or_default();
        ids.iter().map(|id| self.object(*id)).filter(|object| !object.is_reference())
    }

    /// Every object, references too.
    pub(super) fn everything(&self) -> impl Iterator<Item = Obj<'_, 'a>> {
        (0..self.objects.len()).map(|id| self.object(id))
    }
}

/// An object of an outline.
#[derive(Clone, Copy)]
pub(super) struct Obj<'o, 'a> {
    pub(super) outline: &'o Outline<'a>,
    pub(super) id: Id,
}

impl PartialEq for Obj<'_, '_> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl<'o, 'a> Obj<'o, 'a> {
    fn data(&self) -> &'o Object<'a> {
        &self.outline.objects[self.id]
    }

    pub(super) fn kind(&self) -> Kind {
        self.data().kind
    }

    pub(super) fn node(&self) -> &'a Node {
        self.data().node
    }

    pub(super) fn is_reference(&self) -> bool {
        self.data().is_reference
    }

    pub(super) fn parent(&self) -> Option<Obj<'o, 'a>> {
        self.data().parent.map(|id| self.outline.object(id))
    }

    /// This and everything it is in, from the inside out.
    pub(super) fn ancestors(&self) -> impl Iterator<Item = Obj<'o, 'a>> + use<'o, 'a> {
        std::iter::successors(Some(*self), Obj::parent)
    }

    /// The nearest object of a kind that this is in, itself included.
    pub(super) fn within(&self, kind: Kind) -> Option<Obj<'o, 'a>> {
        self.ancestors().find(|object| object.kind() == kind)
    }

    /// The keyword of the parent that this stands under.
    pub(super) fn keyword(&self) -> &'a str {
        match self.data().steps.first() {
            Some(Step::Key(keyword)) => keyword,
            _ => "",
        }
    }

    /// The last key on the way here, or nothing for an item of a list.
    pub(super) fn name(&self) -> &'a str {
        match self.data().steps.last() {
            Some(Step::Key(name)) => name,
            _ => "",
        }
    }

    pub(super) fn get(&self, keyword: &str) -> Option<&'a Node> {
        self.node().get(keyword)
    }

    pub(super) fn has(&self, keyword: &str) -> bool {
        self.get(keyword).is_some()
    }

    pub(super) fn text(&self, keyword: &str) -> Option<&'a str> {
        self.get(keyword)?.as_str()
    }

    pub(super) fn flag(&self, keyword: &str) -> bool {
        self.get(keyword).and_then(Node::as_bool).unwrap_or_default()
    }

    /// Everything that is directly in this.
    pub(super) fn parts(&self) -> impl Iterator<Item = Obj<'o, 'a>> + use<'o, 'a> {
        let outline = self.outline;
        self.data().children.iter().map(|id| outline.object(*id))
    }

    /// The objects under a keyword.
    pub(super) fn children(&self, keyword: &str) -> impl Iterator<Item = Obj<'o, 'a>> {
        self.parts().filter(move |child| child.keyword() == keyword)
    }

    /// The object under a keyword that has one.
    pub(super) fn child(&self, keyword: &str) -> Option<Obj<'o, 'a>> {
        self.children(keyword).next()
    }

    /// What this is once its references are followed; nothing if they lead nowhere.
    pub(super) fn resolved(&self) -> Option<Obj<'o, 'a>> {
        match self.data().end {
            End::At(id) => Some(self.outline.object(id)).filter(|end| end.kind() == self.kind()),
            End::Nowhere | End::Circle => None,
        }
    }

    /// The objects under a keyword, references followed.
    pub(super) fn resolved_children(&self, keyword: &str) -> impl Iterator<Item = Obj<'o, 'a>> {
        self.children(keyword).filter_map(|child| child.resolved())
    }

    /// Its place, pointing at its key, else at where it begins.
    pub(super) fn spot(&self) -> Spot {
        let span = self.data().key.unwrap_or_else(|| head(self.node()));
        Spot { pointer: self.pointer(), span, subject: self.subject() }
    }

    /// The place of one of its keys; its own if there is no such key.
    pub(super) fn key_spot(&self, keyword: &str) -> Spot {
        self.below(keyword, |key, _| key)
    }

    /// The place of the value of one of its keys; its own if there is no such key.
    pub(super) fn value_spot(&self, keyword: &str) -> Spot {
        self.below(keyword, |_, value| value)
    }

    /// The place of a node in it, at the end of these steps.
    pub(super) fn spot_at(&self, steps: &[Step<'_>], span: Span) -> Spot {
        let mut spot = self.spot();
        push(&mut spot.pointer, steps);
        spot.span = span;
        spot
    }

    fn below(&self, keyword: &str, pick: impl Fn(Span, Span) -> Span) -> Spot {
        match self.node().entry(keyword) {
            Some(entry) => self.spot_at(&[Step::Key(keyword)], pick(entry.key_span, head(&entry.value))),
            None => self.spot(),
        }
    }

    pub(super) fn pointer(&self) -> String {
        let mut path: Vec<_> = self.ancestors().collect();
        path.reverse();
        let mut pointer = String::new();
        for object in path {
            push(&mut pointer, &object.data().steps);
        }
        pointer
    }

    /// What to call it, from the outside in.
    pub(super) fn subject(&self) -> Subject {
        let mut path: Vec<_> = self.ancestors().collect();
        path.reverse();
        let mut subject = Subject::document();
        for object in path {
            let with = |kind, name| subject.with(kind, clipped(name));
            subject = match object.kind() {
                Kind::OpenApi | Kind::Components | Kind::Paths | Kind::Responses => continue,
                Kind::PathItem => Subject::document().with("path", clipped(object.name())),
                Kind::Operation => {
                    let path = object.parent().map(|path| clipped(path.name())).unwrap_or_default();
                    Subject::document().with("operation", &format!("{} {path}", object.name().to_uppercase()))
                }
                Kind::Parameter => with("parameter", object.text("name").unwrap_or(object.name())),
                Kind::Tag => with("tag", object.text("name").unwrap_or_default()),
                Kind::Server => with("server", object.text("url").unwrap_or_default()),
                Kind::Schema if object.keyword() == "properties" => with("property", object.name()),
                // A schema without a name says little about what is in it.
                Kind::Schema if !object.is_named() && object != *self => continue,
                kind => with(kind.word(), if object.is_named() { object.name() } else { "" }),
            };
        }
        subject
    }

    /// Whether its name is one that somebody chose.
    fn is_named(&self) -> bool {
        let steps = &self.data().steps;
        let own_key =
            !matches!(self.parent().map(|parent| parent.kind()), Some(Kind::Responses | Kind::Callback));
        matches!(steps.last(), Some(Step::Key(_))) && !(steps.len() == 1 && own_key)
    }
}

/// Where a node begins: all of a scalar, the first key or item of a collection.
pub(super) fn head(node: &Node) -> Span {
    let mut node = node;
    loop {
        match &node.value {
            Value::Mapping(mapping) => {
                return mapping.entries().first().map_or(node.span, |entry| entry.key_span);
            }
            Value::Sequence(items) if !items.is_empty() => node = &items[0],
            _ => return node.span,
        }
    }
}

fn push(pointer: &mut String, steps: &[Step<'_>]) {
    for step in steps {
        pointer.push('/');
        match step {
            Step::Key(key) => pointer.push_str(&clipped(key).replace('~', "~0").replace('/', "~1")),
            Step::Item(number) => pointer.push_str(&number.to_string()),
        }
    }
}

/// Keys are copied for each place below them, and a broken file may have one of a megabyte.
fn clipped(key: &str) -> &str {
    const LONGEST: usize = 200;
    &key[..key.floor_char_boundary(LONGEST.min(key.len()))]
}
