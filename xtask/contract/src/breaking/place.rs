//! A place in one of the two documents: an object of OpenAPI, or a value in it.

use std::ops::Deref;

use super::change::Location;
use super::data::shown;
use crate::document::{Node, Span, Value};
use crate::finding::Subject;
use crate::openapi::{Kind, Object, Step, head};

/// A place. What it holds is the node that it derefs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct At<'a> {
    object: Object<'a>,
    node: &'a Node,
    /// The last key on the way from the object to the node.
    key: Option<Span>,
    steps: [Option<Step<'a>>; 2],
}

impl<'a> At<'a> {
    /// A whole object.
    pub(super) fn of(object: &Object<'a>) -> Self {
        Self { object: *object, node: object.node(), key: None, steps: [None; 2] }
    }

    /// The value of a keyword.
    pub(super) fn value(object: &Object<'a>, keyword: &str) -> Option<Self> {
        Self::of(object).entry(keyword)
    }

    /// The value of a keyword, or the object that does not have it.
    pub(super) fn value_or_object(object: &Object<'a>, keyword: &str) -> Self {
        Self::value(object, keyword).unwrap_or_else(|| Self::of(object))
    }

    /// The node at the place.
    pub(super) fn node(&self) -> &'a Node {
        self.node
    }

    /// Whether this is a whole object, which a sentence about the place begins with.
    pub(super) fn is_object(&self) -> bool {
        self.steps[0].is_none()
    }

    /// The name in a sentence: the key, or the value of an item.
    pub(super) fn name(&self) -> String {
        match self.steps.iter().flatten().last() {
            Some(Step::Item(_)) => shown(self.node),
            Some(Step::Key(key)) => format!("`{key}`"),
            None => format!("`{}`", self.object.name()),
        }
    }

    /// The value under a key.
    pub(super) fn entry(&self, key: &str) -> Option<Self> {
        let entry = self.node.entry(key)?;
        Some(self.below(Step::Key(&entry.key), &entry.value, Some(entry.key_span)))
    }

    /// The values of a mapping, with their keys.
    pub(super) fn entries(self) -> impl Iterator<Item = (&'a str, Self)> {
        let entries = self.node.entries().iter();
        entries.map(move |entry| {
            (entry.key.as_str(), self.below(Step::Key(&entry.key), &entry.value, Some(entry.key_span)))
        })
    }

    /// The items of a list.
    pub(super) fn items(self) -> impl Iterator<Item = Self> {
        let items = self.node.items().iter().enumerate();
        items.map(move |(position, item)| self.below(Step::Item(position), item, None))
    }

    fn below(&self, step: Step<'a>, node: &'a Node, key: Option<Span>) -> Self {
        let steps = match self.steps {
            [None, _] => [Some(step), None],
            [first, _] => [first, Some(step)],
        };
        Self { object: self.object, node, key, steps }
    }

    /// The file, the pointer and the text to point at: a scalar itself, the key of anything larger.
    pub(super) fn location(&self, file: &str) -> Location {
        let steps: Vec<_> = self.steps.into_iter().flatten().collect();
        let is_whole = matches!(self.node.value, Value::Mapping(_) | Value::Sequence(_));
        let spot = match steps.is_empty() {
            true => self.object.spot(),
            false => {
                let span = self.key.filter(|_| is_whole).unwrap_or_else(|| head(self.node));
                self.object.spot_at(&steps, span)
            }
        };
        Location { file: file.to_owned(), pointer: spot.pointer, span: spot.span }
    }

    /// What to call the place. A schema without a name is called by what it belongs to.
    pub(super) fn subject(&self) -> Subject {
        let mut object = self.object;
        let mut part = None;
        while object.kind() == Kind::Schema && !matches!(object.keyword(), "properties" | "schemas") {
            part = part.or(match object.keyword() {
                "items" => Some("items"),
                "additionalProperties" => Some("other properties"),
                _ => None,
            });
            let Some(parent) = object.parent() else { break };
            object = parent;
        }
        let subject = object.subject();
        part.map_or_else(|| subject.clone(), |part| subject.with(part, ""))
    }
}

impl<'a> From<Object<'a>> for At<'a> {
    fn from(object: Object<'a>) -> Self {
        Self::of(&object)
    }
}

impl Deref for At<'_> {
    type Target = Node;

    fn deref(&self) -> &Node {
        self.node
    }
}
