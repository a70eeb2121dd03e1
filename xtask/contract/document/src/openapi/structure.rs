//! Checks the structure of the document by the tables of OpenAPI 3.0.3 in [`tables`].
//!
//! Each key of each object is in the table of its kind, an `x-` extension where the specification allows one,
//! or an error. Examples, defaults and extensions may hold any value.
//!
//! The same pass builds the [`Model`] that all other rules use.

use std::collections::HashMap;

use crate::text::{Entry, Node, Span, Value};

use super::model::{Id, Model, Record, Step, address, head};
use super::tables::{Demand, Keys, Kind, Shape};
use super::{Reason, references, shapes};
use crate::finding::{Spot, Subject, edit_distance, shortened};
use crate::rule::{Added, Findings, Rule, rules};
use crate::text::{Document, pointer};

rules! {
    KEYWORD: Spec Error fix Unsafe "struct-keyword", "OpenAPI 3.0.3, 4.7 and 4.9; Redocly: struct",
        "Each key of an object is a keyword of that object, or an `x-` extension where extensions are \
         allowed.";
    MISSING: Spec Error "struct-missing", "OpenAPI 3.0.3, 4.7; Redocly: struct",
        "An object has all of its required keywords.";
    TYPE: Spec Error fix Safe "struct-type", "OpenAPI 3.0.3, 4.7; Redocly: struct",
        "The value of a keyword has the type that the specification defines.";
    VALUE: Spec Error fix Unsafe "struct-value", "OpenAPI 3.0.3, 4.7; Redocly: struct",
        "A keyword with a fixed set of values has one of them; a URL, an email address and a count are \
         well-formed.";
    KEY: Spec Error fix Unsafe "struct-key", "OpenAPI 3.0.3, 4.7.7.1, 4.7.8.1 and 4.7.16.1",
        "Paths begin with `/`; status codes and component names have the required form.";
    SIBLINGS: Recommended Error fix Unsafe "no-$ref-siblings", "OpenAPI 3.0.3, 4.7.23; Spectral: no-$ref-siblings",
        "A Reference Object has no keyword beside `$ref`, because readers must ignore it.";
}

/// Builds the model of a document and reports the errors of its structure.
pub(super) fn model<'a>(document: &'a Document, findings: &mut Findings) -> Model<'a> {
    let model = Model {
        text: &document.text,
        objects: Vec::new(),
        kinds: HashMap::new(),
        places: HashMap::new(),
        complete: true,
        invalid: Vec::new(),
    };
    let mut walker = Walker { model, findings, parent: None, steps: Vec::new() };
    walker.open(Kind::OpenApi, &document.root, None, false);
    walker.extensions(&document.root);
    let mut model = walker.model;
    references::follow(&document.root, &mut model);
    references::check(&mut model, findings);
    model
}

struct Walker<'a, 'f> {
    model: Model<'a>,
    findings: &'f mut Findings,
    parent: Option<Id>,
    /// The steps from the parent to the current node.
    steps: Vec<Step<'a>>,
}

impl<'a> Walker<'a, '_> {
    /// Visits an object, or a reference to one if `reference` is its `$ref`.
    fn object(&mut self, kind: Kind, node: &'a Node, key: Option<Span>, reference: Option<&'a Entry>) {
        if !matches!(node.value, Value::Mapping(_)) {
            return self.wrong_type(&shapes::with_article(kind.table().name), node);
        }
        self.open(kind, node, key, reference.is_some());
        let Some(reference) = reference else { return };
        self.steps.push(Step::Key("$ref"));
        self.expect(&Shape::Text, &reference.value);
        self.steps.pop();
        // The fields of a path item complete those of the referenced one (section 4.7.9.1).
        let siblings = node.entries().iter().filter(|entry| entry.key != "$ref" && kind != Kind::PathItem);
        for entry in siblings {
            let message = format!("`{}` is ignored, because it is beside `$ref`.", shortened(&entry.key));
            let fix = "Remove it, or replace the reference by the object.";
            self.say(&SIBLINGS, &[Step::Key(&entry.key)], entry.key_span, message, fix).remove();
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
                self.object(*kind, &entry.value, Some(entry.key_span), entry.value.entry("$ref"));
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
                Some((.., shape)) => self.value(shape, &entry.value, Some(entry.key_span)),
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
                let spot = self.model.object(id).spot();
                let message = format!("{} has no `{keyword}`.", spot.subject);
                let added = self.findings.add(&MISSING, spot, message, format!("Add `{keyword}`."));
                // Such a parameter is left out of its operation.
                let parameter = added.copied().filter(|_| kind == Kind::Parameter);
                self.model.note_invalid(parameter, Reason::Content);
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
            let message =
                format!("`{}` is not a keyword of the {}.", shortened(&entry.key), kind.table().name);
            let fix = shapes::instead_of(kind, &entry.key);
            let added = self.say(&KEYWORD, &[], entry.key_span, message, fix);
            // A reference where the specification allows none replaces everything that surrounds it.
            let reference = added.copied().filter(|_| entry.key == "$ref");
            let reason = reason(entry);
            let at = added.place();
            shapes::repair_of(kind, &entry.key, at).into_iter().fold(added, Added::repair);
            self.model.note_invalid(reference, reason);
            return;
        }
        if let Some(fix) = shapes::wrong_key(*keys, &entry.key) {
            let message =
                format!("`{}` cannot be a key of the {}.", shortened(&entry.key), kind.table().name);
            let added = self.say(&KEY, &[], entry.key_span, message, fix);
            let found = added.copied();
            if *keys == Keys::Paths {
                added.rename(&format!("/{}", entry.key));
            }
            self.model.note_invalid(found, reason(entry));
            return;
        }
        self.value(shape, &entry.value, Some(entry.key_span));
    }

    fn value(&mut self, shape: &'static Shape, node: &'a Node, key: Option<Span>) {
        match shape {
            Shape::List(shape) => {
                let Value::Sequence(items) = &node.value else {
                    let is_one = matches!(**shape, Shape::Text) && node.as_str().is_some();
                    let list = is_one.then(|| vec![node.to_json()].into());
                    return self.wrong_type_or("an array", node, list);
                };
                for (number, item) in items.iter().enumerate() {
                    self.steps.push(Step::Item(number));
                    self.value(shape, item, None);
                    self.steps.pop();
                }
            }
            Shape::Map(keys, shape) => {
                if !matches!(node.value, Value::Mapping(_)) {
                    return self.wrong_type("a mapping", node);
                }
                for entry in node.entries() {
                    self.steps.push(Step::Key(&entry.key));
                    if let Some(fix) = shapes::wrong_key(*keys, &entry.key) {
                        let message =
                            format!("`{}` cannot be the name of a component.", shortened(&entry.key));
                        self.say(&KEY, &[], entry.key_span, message, fix);
                    }
                    self.value(shape, &entry.value, Some(entry.key_span));
                    self.steps.pop();
                }
            }
            Shape::Object(kind) => self.object(*kind, node, key, None),
            Shape::Either(kind) => self.object(*kind, node, key, node.entry("$ref")),
            Shape::SchemaOrBoolean if matches!(node.value, Value::Bool(_)) => {}
            Shape::SchemaOrBoolean => self.object(Kind::Schema, node, key, node.entry("$ref")),
            _ => self.expect(shape, node),
        }
    }

    /// Checks a value that contains no object.
    fn expect(&mut self, shape: &Shape, node: &'a Node) {
        match shapes::wrong_value(shape, node) {
            None => {}
            Some(shapes::Wrong::Type(expected)) => self.wrong_type(expected, node),
            Some(shapes::Wrong::Value(fix)) => {
                let value = shapes::text_of(node);
                let message = format!("`{}` cannot be `{}`.", self.last_keyword(), shortened(&value));
                let added = self.say(&VALUE, &[], head(node), message, fix);
                if let Shape::Word(words) = shape {
                    let mut words = words.to_vec();
                    words.sort_by_cached_key(|word| edit_distance(&shortened(&value), word));
                    words.into_iter().fold(added, Added::write);
                }
            }
        }
    }

    fn wrong_type(&mut self, expected: &str, node: &'a Node) {
        let right = match self.last_keyword() {
            // The number `3.0` lacks the patch version.
            "openapi" => Some("3.0.3".into()),
            _ => shapes::converted(expected, node, &self.model.source()[node.span.start..node.span.end]),
        };
        self.wrong_type_or(expected, node, right);
    }

    /// Reports a value of the wrong type. `right` is the same value with the right type, if there is one.
    fn wrong_type_or(&mut self, expected: &str, node: &'a Node, right: Option<serde_json::Value>) {
        let message =
            format!("`{}` is {}, but must be {expected}.", self.last_keyword(), shapes::type_of(node));
        let fix = format!("Write {expected}{}.", shapes::hint(self.last_keyword(), node));
        let is_harmless = self.is_harmless(node);
        let added = self.say(&TYPE, &[], head(node), message, fix);
        let found = added.copied().filter(|_| !is_harmless);
        right.into_iter().fold(added, Added::write);
        self.model.note_invalid(found, Reason::Content);
    }

    /// Whether a value of the wrong type does not prevent a comparison: it is in a text for people, or it reads like an
    /// absent keyword.
    fn is_harmless(&self, node: &Node) -> bool {
        let Some(parent) = self.parent.map(|id| self.model.object(id)) else { return false };
        let [Step::Key(keyword), rest @ ..] = self.steps.as_slice() else { return false };
        let known = parent.kind().table().keywords.iter().find(|(known, ..)| known == keyword);
        // A property called `description` is an object of its own.
        let Some((_, demand, shape)) = known else {
            // The scopes of a requirement, or what is at the key of a callback instead of a path item.
            let is_null = matches!(node.value, Value::Null);
            return rest.is_empty()
                && (parent.kind() == Kind::Callback
                    || (parent.kind() == Kind::SecurityRequirement && is_null));
        };
        match (parent.kind(), *keyword) {
            (_, "description" | "summary" | "title" | "example" | "examples" | "externalDocs") => true,
            (Kind::Info | Kind::Contact | Kind::License | Kind::Tag, keyword) => keyword != "version",
            (Kind::ExternalDocumentation | Kind::Example, _) | (Kind::OpenApi, "openapi" | "tags") => true,
            // The names of required properties belong to the object.
            (Kind::Schema, "required") => matches!(node.value, Value::Bool(_)) && rest.is_empty(),
            (_, keyword) => {
                let is_absent = matches!(node.value, Value::Null) && *demand == Demand::Optional;
                is_absent && shape.is_scalar() && keyword != "type"
            }
        }
    }

    fn last_keyword(&self) -> &'a str {
        let key = self.steps.iter().rev().find_map(|step| match step {
            Step::Key(key) => Some(*key),
            Step::Item(_) => None,
        });
        key.unwrap_or("the document")
    }

    fn say(
        &mut self,
        rule: &Rule,
        more: &[Step<'_>],
        span: Span,
        message: String,
        fix: impl Into<String>,
    ) -> Added<'_> {
        let steps: Vec<_> = self.steps.iter().chain(more).copied().collect();
        let spot = match self.parent {
            Some(parent) => self.model.object(parent).spot_at(&steps, span),
            None => Spot { pointer: String::new(), span, subject: Subject::document() },
        };
        self.findings.add(rule, spot, message, fix)
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
