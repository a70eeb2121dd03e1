//! Checks the structure of the document by the tables of OpenAPI 3.0.3 in [`tables`].
//!
//! Each key of each object is in the table of its kind, an `x-` extension where the specification allows one,
//! or an error. Examples, defaults and extensions may hold any value.
//!
//! The same pass builds the [`Model`] that all other rules use.

use std::collections::{HashMap, HashSet};

use crate::text::{Entry, Node, Span, Value};

use super::model::{Id, Model, Record, Step, address, head};
use super::tables::{Demand, Keys, Kind, Shape};
use super::{Flaw, Invalid, Reason, references, shapes};
use crate::text::{Document, pointer};

/// Builds the model of a document.
pub(super) fn model(document: &Document) -> Model<'_> {
    let model = Model {
        text: &document.text,
        objects: Vec::new(),
        kinds: HashMap::new(),
        places: HashMap::new(),
        invalid: Vec::new(),
    };
    let mut walker = Walker { model, parent: None, steps: Vec::new(), wrong_keys: HashSet::new() };
    walker.open(Kind::OpenApi, &document.root, None, false);
    walker.extensions(&document.root);
    let mut model = walker.model;
    references::follow(&document.root, &mut model);
    references::check(&mut model);
    model
}

struct Walker<'a> {
    model: Model<'a>,
    parent: Option<Id>,
    /// The steps from the parent to the current node.
    steps: Vec<Step<'a>>,
    /// The places of keys that are no keywords of their object. Each alias has those of its value again.
    wrong_keys: HashSet<(Kind, usize)>,
}

impl<'a> Walker<'a> {
    /// Visits an object, or a reference to one if `reference` is its `$ref`.
    fn object(&mut self, kind: Kind, node: &'a Node, key: Option<Span>, reference: Option<&'a Entry>) {
        self.open(kind, node, key, reference.is_some());
        let Some(reference) = reference else { return };
        self.steps.push(Step::Key("$ref"));
        self.value(Shape::Text, &reference.value, None);
        self.steps.pop();
        // The fields of a path item complete those of the referenced one (section 4.7.9.1).
        let siblings = node.entries().iter().filter(|entry| entry.key != "$ref" && kind != Kind::PathItem);
        for entry in siblings {
            self.note(&[Step::Key(&entry.key)], entry.key_span, Flaw::Sibling(&entry.key), None);
        }
    }

    /// Visits the objects in extensions to which references lead.
    fn extensions(&mut self, root: &'a Node) {
        let mut id = 0;
        while let Some(Record { kind, node, is_reference, .. }) = self.model.objects.get(id) {
            id += 1;
            let reference = node.get("$ref").and_then(Node::as_str).filter(|_| *is_reference);
            let pointer = reference.and_then(pointer::in_reference).filter(|pointer| pointer.contains("/x-"));
            let Some((steps, entry)) = pointer.and_then(|pointer| steps_to(root, &pointer)) else { continue };
            if !self.model.places.contains_key(&address(&entry.value)) {
                (self.parent, self.steps) = (Some(0), steps);
                self.value(Shape::Either(*kind), &entry.value, Some(entry.key_span));
            }
        }
    }

    /// Adds an object to the model and, unless it is a reference, checks its content.
    fn open(&mut self, kind: Kind, node: &'a Node, key: Option<Span>, is_reference: bool) {
        let id = self.model.objects.len();
        let (parent, steps, children) = (self.parent, self.steps.clone(), Vec::new());
        let end = (!is_reference).then_some(id);
        let object = Record { kind, node, key, parent, steps, children, is_reference, target: None, end };
        self.model.objects.push(object);
        self.model.kinds.entry(kind).or_default().push(id);
        self.model.places.insert(address(node), id);
        if let Some(parent) = parent {
            self.model.objects[parent].children.push(id);
        }
        if is_reference && kind != Kind::PathItem {
            return;
        }
        let steps = std::mem::take(&mut self.steps);
        self.parent = Some(id);
        let table = kind.table();
        for entry in node.entries().iter().filter(|entry| !is_reference || entry.key != "$ref") {
            self.steps.push(Step::Key(&entry.key));
            match table.keywords.iter().find(|(keyword, ..)| *keyword == entry.key) {
                Some((.., shape)) => self.value(*shape, &entry.value, Some(entry.key_span)),
                None => self.other(kind, entry),
            }
            self.steps.pop();
        }
        for (keyword, demand, _) in table.keywords {
            // A misspelt keyword is reported by another rule.
            let is_misspelt = |entry: &Entry| {
                !entry.key.starts_with("x-") && shapes::meant(kind, &entry.key) == Some(*keyword)
            };
            let is_missing = *demand == Demand::Required && node.entry(keyword).is_none();
            if is_missing && !node.entries().iter().any(is_misspelt) {
                // Such a parameter is left out of its operation.
                let reason = (kind == Kind::Parameter).then_some(Reason::Content);
                let (span, flaw) = (self.model.object(id).span(), Flaw::Missing(keyword));
                self.model.invalid.push(Invalid { object: id, steps: Vec::new(), span, flaw, reason });
            }
        }
        self.parent = parent;
        self.steps = steps;
    }

    /// Visits a key that is not in the table.
    fn other(&mut self, kind: Kind, entry: &'a Entry) {
        let (keys, shape) = &kind.table().others;
        let extensible = !matches!(keys, Keys::Nothing | Keys::Names);
        if extensible && entry.key.starts_with("x-") {
            return;
        }
        if matches!(keys, Keys::Extensions | Keys::Nothing) {
            if !self.wrong_keys.insert((kind, entry.key_span.start)) {
                return;
            }
            // A reference where the specification allows none replaces everything that surrounds it.
            let reason = (entry.key == "$ref").then(|| reason(entry));
            return self.note(&[], entry.key_span, Flaw::Keyword(entry), reason);
        }
        if !shapes::has_form(*keys, &entry.key) {
            return self.note(&[], entry.key_span, Flaw::Key(*keys, &entry.key), Some(reason(entry)));
        }
        self.value(*shape, &entry.value, Some(entry.key_span));
    }

    fn value(&mut self, shape: Shape, node: &'a Node, key: Option<Span>) {
        if let Some(flaw) = shapes::wrong_value(&shape, node) {
            let is_unusable = matches!(flaw, Flaw::Type(..)) && !self.is_harmless(node);
            return self.note(&[], head(node), flaw, is_unusable.then_some(Reason::Content));
        }
        match shape {
            Shape::List(shape) => {
                for (number, item) in node.items().iter().enumerate() {
                    self.steps.push(Step::Item(number));
                    self.value(*shape, item, None);
                    self.steps.pop();
                }
            }
            Shape::Map(keys, shape) => {
                for entry in node.entries() {
                    self.steps.push(Step::Key(&entry.key));
                    if !shapes::has_form(keys, &entry.key) {
                        self.note(&[], entry.key_span, Flaw::Key(keys, &entry.key), None);
                    }
                    self.value(*shape, &entry.value, Some(entry.key_span));
                    self.steps.pop();
                }
            }
            Shape::Object(kind) => self.object(kind, node, key, None),
            Shape::Either(kind) => self.object(kind, node, key, node.entry("$ref")),
            Shape::SchemaOrBoolean if matches!(node.value, Value::Mapping(_)) => {
                self.object(Kind::Schema, node, key, node.entry("$ref"));
            }
            _ => {}
        }
    }

    /// Whether a value of the wrong type does not prevent a comparison: it is in a text for people, or it reads like an
    /// absent keyword.
    fn is_harmless(&self, node: &Node) -> bool {
        let Some(parent) = self.parent.map(|id| self.model.object(id)) else { return false };
        let [Step::Key(keyword), rest @ ..] = self.steps.as_slice() else { return false };
        let (table, is_null) = (parent.kind().table(), matches!(node.value, Value::Null));
        // A property called `description` is an object of its own.
        let Some((_, demand, shape)) = table.keywords.iter().find(|(known, ..)| known == keyword) else {
            // What is at the key of a callback instead of a path item, or the scopes of a requirement.
            let is_requirement = parent.kind() == Kind::SecurityRequirement && is_null;
            return rest.is_empty() && (parent.kind() == Kind::Callback || is_requirement);
        };
        match (parent.kind(), *keyword) {
            (_, "description" | "summary" | "title" | "example" | "examples" | "externalDocs") => true,
            (Kind::Info | Kind::Contact | Kind::License | Kind::Tag, keyword) => keyword != "version",
            (Kind::ExternalDocumentation | Kind::Example, _) | (Kind::OpenApi, "openapi" | "tags") => true,
            // The names of required properties belong to the object.
            (Kind::Schema, "required") => matches!(node.value, Value::Bool(_)) && rest.is_empty(),
            (_, keyword) => is_null && *demand == Demand::Optional && shape.is_scalar() && keyword != "type",
        }
    }

    /// Notes a violation at the current place, or at the end of more steps.
    fn note(&mut self, more: &[Step<'a>], span: Span, flaw: Flaw<'a>, reason: Option<Reason>) {
        let steps = [self.steps.as_slice(), more].concat();
        let object = self.parent.unwrap_or_default();
        self.model.invalid.push(Invalid { object, steps, span, flaw, reason });
    }
}

/// Why a comparison cannot use an entry: a reference that is not allowed where it is may lead to another file.
fn reason(entry: &Entry) -> Reason {
    match entry.value.as_str() {
        Some(reference) if entry.key == "$ref" && !reference.starts_with('#') => Reason::OtherFile,
        _ => Reason::Content,
    }
}

/// Returns an entry and the steps to it, by a JSON pointer without items of lists.
fn steps_to<'a>(root: &'a Node, pointer: &str) -> Option<(Vec<Step<'a>>, &'a Entry)> {
    let mut steps = Vec::new();
    let mut found: Option<&Entry> = None;
    for token in pointer::tokens(pointer)? {
        let entry = found.map_or(root, |entry| &entry.value).entry(&token)?;
        steps.push(Step::Key(&entry.key));
        found = Some(entry);
    }
    Some((steps, found?))
}
