//! A place in one of the two documents: an object of OpenAPI, or a value in it.

use std::ops::Deref;

use document::openapi::{Kind, Object, Step, head};
use document::place::Subject;
use document::{Entry, Node, Span, Value};

use super::data::{canonical, display};
use crate::finding::Location;

/// A place. It dereferences to the node at the place.
#[derive(Clone, Copy, Debug)]
pub(super) struct At<'a> {
    object: Object<'a>,
    node: &'a Node,
    /// The text to mark: a scalar itself, or the key of a list or mapping. `None` for the whole object.
    span: Option<Span>,
    steps: [Option<Step<'a>>; 2],
}

impl<'a> At<'a> {
    /// A whole object.
    pub(super) fn of(object: &Object<'a>) -> Self {
        Self { object: *object, node: object.node(), span: None, steps: [None; 2] }
    }

    /// The value of a keyword.
    pub(super) fn value(object: &Object<'a>, keyword: &str) -> Option<Self> {
        object.node().entry(keyword).map(|entry| Self::of(object).under(entry))
    }

    /// The value of a keyword, or the object that does not have it.
    pub(super) fn value_or_object(object: &Object<'a>, keyword: &str) -> Self {
        Self::value(object, keyword).unwrap_or_else(|| Self::of(object))
    }

    /// The object that the place is in.
    pub(super) fn object(&self) -> Object<'a> {
        self.object
    }

    /// The node at the place.
    pub(super) fn node(&self) -> &'a Node {
        self.node
    }

    /// Whether this is a whole object, whose name begins each sentence about the place.
    pub(super) fn is_object(&self) -> bool {
        self.steps[0].is_none()
    }

    /// The name in a sentence: the key, or the value of an item.
    pub(super) fn name(&self) -> String {
        match self.steps.iter().flatten().last() {
            Some(Step::Item(_)) => display(self.node),
            Some(Step::Key(key)) => format!("`{key}`"),
            None => format!("`{}`", self.object.name()),
        }
    }

    /// Returns the first sentence of the summary or the description of a whole object, without line breaks.
    pub(super) fn description(&self) -> Option<String> {
        let object = self.object.resolved().filter(|_| self.is_object())?;
        let text =
            ["summary", "description"].into_iter().find_map(|keyword| object.get(keyword)?.as_str())?;
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        // A full stop within a sentence, such as that of "e.g.", comes before a small letter.
        let end = text
            .match_indices(". ")
            .find(|(at, _)| text[at + 2..].starts_with(|next: char| !next.is_lowercase()));
        let sentence = end.map_or(&*text, |(at, _)| &text[..at]).trim_end_matches('.');
        (!sentence.is_empty()).then(|| format!("{sentence}."))
    }

    /// Returns the list under a keyword that this is an item of.
    pub(super) fn list(&self) -> Option<Self> {
        let [Some(Step::Key(keyword)), Some(Step::Item(_))] = self.steps else { return None };
        Self::value(&self.object, keyword)
    }

    /// Returns a keyword with its value, or an item, for use in a sentence. `None` for a whole object.
    pub(super) fn written(&self) -> Option<String> {
        match self.steps.iter().flatten().last()? {
            Step::Item(_) => Some(display(self.node)),
            Step::Key(key) => Some(match self.short() {
                Some(value) => format!("`{key}: {value}`"),
                None => format!("`{key}`"),
            }),
        }
    }

    /// Returns a scalar, or a list of a few, as it is written. `None` if it is long.
    fn short(&self) -> Option<String> {
        const LONGEST: usize = 60;
        let is_scalar = |node: &Node| !matches!(node.value, Value::Mapping(_) | Value::Sequence(_));
        let items = self.node.items();
        let is_small = is_scalar(self.node) || (1..10).contains(&items.len()) && items.iter().all(is_scalar);
        let value =
            is_small.then(|| self.node.as_str().map_or_else(|| canonical(self.node), str::to_owned))?;
        (value.len() <= LONGEST && !value.contains(['\n', '`'])).then_some(value)
    }

    /// The values of a mapping, with their keys.
    pub(super) fn entries(self) -> impl Iterator<Item = (&'a str, Self)> {
        self.node.entries().iter().map(move |entry| (entry.key.as_str(), self.under(entry)))
    }

    /// The items of a list.
    pub(super) fn items(self) -> impl Iterator<Item = Self> {
        let items = self.node.items().iter().enumerate();
        items.map(move |(position, item)| self.below(Step::Item(position), item, head(item)))
    }

    fn under(&self, entry: &'a Entry) -> Self {
        let is_whole = matches!(entry.value.value, Value::Mapping(_) | Value::Sequence(_));
        let span = if is_whole { entry.key_span } else { entry.value.span };
        self.below(Step::Key(&entry.key), &entry.value, span)
    }

    fn below(&self, step: Step<'a>, node: &'a Node, span: Span) -> Self {
        let steps = match self.steps {
            [None, _] => [Some(step), None],
            [first, _] => [first, Some(step)],
        };
        Self { node, span: Some(span), steps, ..*self }
    }

    /// The place in a file.
    pub(super) fn location(&self, file: &str) -> Location {
        let steps: Vec<_> = self.steps.into_iter().flatten().collect();
        let spot = self.span.map_or_else(|| self.object.spot(), |span| self.object.spot_at(&steps, span));
        Location { file: file.to_owned(), pointer: spot.pointer, span: spot.span }
    }

    /// Returns the names for messages about the place. A schema without a name is named by its owner.
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
