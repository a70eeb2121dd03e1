//! The object, key and value at an offset of a document.

use document::edits::all_uses;
use document::openapi::{Kind, Object, Step};
use document::{Entry, Node, Span, Value};

use crate::tree::Tree;

/// What is at an offset.
#[derive(Clone, Debug)]
pub(crate) struct Place<'a> {
    /// The innermost object of the specification that contains the offset.
    pub(crate) object: Object<'a>,
    /// The steps from that object to `node`.
    pub(crate) steps: Vec<Step<'a>>,
    /// Whether the offset is in the key of `node`.
    pub(crate) in_key: bool,
    /// The innermost value, or the value of the key.
    pub(crate) node: &'a Node,
    /// The text at the offset: that of the key, or of a scalar. Empty elsewhere.
    pub(crate) span: Span,
}

impl<'a> Place<'a> {
    /// Returns what is at an offset.
    pub(crate) fn at(tree: &'a Tree, offset: usize) -> Self {
        let model = tree.model();
        let mut place = Self {
            object: model.root(),
            steps: Vec::new(),
            in_key: false,
            node: &tree.document().root,
            span: Span::default(),
        };
        while place.descend(offset) {}
        place
    }

    /// Whether the offset is in the key or the scalar.
    pub(crate) fn is_on_text(&self) -> bool {
        self.span != Span::default()
    }

    /// Moves one level down. Returns whether there can be another.
    fn descend(&mut self, offset: usize) -> bool {
        match &self.node.value {
            Value::Mapping(mapping) => {
                let is_before = |entry: &&Entry| entry.key_span.start <= offset;
                let entry =
                    mapping.entries().iter().rfind(|it| is_before(it) && self.node.inherited(it).is_none());
                let Some(entry) = entry else { return false };
                self.step(Step::Key(&entry.key), &entry.value);
                if offset <= entry.key_span.end {
                    (self.in_key, self.span) = (true, entry.key_span);
                    return false;
                }
                // The value of an alias is elsewhere in the text.
                entry.value.alias.is_none()
            }
            Value::Sequence(items) => {
                let before = items.iter().enumerate().take_while(|(_, item)| item.place().start <= offset);
                let Some((number, item)) = before.last() else { return false };
                self.step(Step::Item(number), item);
                item.alias.is_none()
            }
            _ => {
                let Span { start, end, .. } = self.node.span;
                if (start..=end).contains(&offset) {
                    self.span = self.node.span;
                }
                false
            }
        }
    }

    fn step(&mut self, step: Step<'a>, node: &'a Node) {
        self.node = node;
        self.steps.push(step);
        if let Some(inner) = self.object.model().at(node) {
            self.object = inner;
            self.steps.clear();
        }
    }

    /// The keyword of the object, if the place is its key or its scalar value.
    pub(crate) fn keyword(&self) -> Option<&'a str> {
        match self.steps[..] {
            [Step::Key(keyword)] => Some(keyword),
            _ => None,
        }
    }

    /// Returns the object that the text at this place refers to, by a reference or by its name.
    pub(crate) fn target(&self) -> Option<Object<'a>> {
        let model = self.object.model();
        if self.in_key && self.object.is_reference() {
            return model.target(self.object.id);
        }
        all_uses(model).find(|used| self.is_on_text() && used.span == self.span)?.target(model)
    }

    /// Returns the component, operation or tag whose name or reference is at this place.
    pub(crate) fn named(&self) -> Option<Object<'a>> {
        // The name of a component that is a reference is its own.
        if let Some(target) = self.target().filter(|_| !self.in_key || !self.steps.is_empty()) {
            return Some(target);
        }
        let is_name = match (self.object.kind(), self.keyword()) {
            (Kind::Tag, Some("name")) | (Kind::Operation, Some("operationId")) => self.is_on_text(),
            _ => self.in_key && self.steps.is_empty(),
        };
        is_name.then_some(self.object)
    }
}
