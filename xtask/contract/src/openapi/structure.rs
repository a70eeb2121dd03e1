//! Whether the document is one of OpenAPI 3.0.3, by the tables in [`tables`].
//!
//! The typed models of OpenAPI skip what they do not know, so that a misspelt keyword is as good as a
//! missing one. Here every key of every object is either in its table, an `x-` extension where the
//! specification allows one, or an error at its line. Inside examples, defaults and extensions anything
//! goes.
//!
//! The same walk makes the [`Model`] that all other rules use.

use std::collections::HashMap;

use crate::document::{Entry, Node, Span, Value};

use super::kind::{Demand, Keys, Kind, Shape};
use super::model::{End, Id, Model, Record, Step, head};
use super::{references, shapes};
use crate::document::Document;
use crate::finding::Severity;
use crate::finding::{Spot, shortened as shown};
use crate::rule::{Findings, Rule};

const KEYWORD: Rule = Rule::spec(
    "struct-keyword",
    "OpenAPI 3.0.3",
    "Each key of an object is a keyword of OpenAPI 3.0.3, or an `x-` extension where one is allowed.",
);
const MISSING: Rule =
    Rule::spec("struct-missing", "OpenAPI 3.0.3", "The keywords that an object must have are there.");
const TYPE: Rule = Rule::spec(
    "struct-type",
    "OpenAPI 3.0.3",
    "Each keyword holds the type of value that it is defined with.",
);
const VALUE: Rule = Rule::spec(
    "struct-value",
    "OpenAPI 3.0.3",
    "Where a keyword has a fixed set of values or a form, its value is one of them or has it.",
);
const KEY: Rule = Rule::spec(
    "struct-key",
    "OpenAPI 3.0.3",
    "Paths begin with a slash; statuses, component names and media types have their form.",
);
const SIBLINGS: Rule = Rule::recommended(
    "no-$ref-siblings",
    Severity::Error,
    "Spectral",
    "Nothing stands beside `$ref`, since readers must ignore it (section 4.7.23).",
);

/// The rules that [`Model::of`] checks.
pub const RULES: &[&[&Rule]] = &[&[&KEYWORD, &MISSING, &TYPE, &VALUE, &KEY, &SIBLINGS], references::RULES];

/// The model of a document, and what is invalid in its structure.
pub(super) fn model<'a>(document: &'a Document, findings: &mut Findings) -> Model<'a> {
    let model = Model { text: &document.text, objects: Vec::new(), kinds: HashMap::new() };
    let mut walker = Walker { model, findings, parent: None, steps: Vec::new() };
    walker.object(Kind::OpenApi, &document.root, None);
    let mut model = walker.model;
    references::follow(&document.root, &mut model);
    references::check(&model, findings);
    model
}

struct Walker<'a, 'f> {
    model: Model<'a>,
    findings: &'f mut Findings,
    parent: Option<Id>,
    /// From the parent to the node at hand.
    steps: Vec<Step<'a>>,
}

impl<'a> Walker<'a, '_> {
    fn object(&mut self, kind: Kind, node: &'a Node, key: Option<Span>) {
        if self.expect_mapping(node, kind.table().name) {
            self.open(kind, node, key, false);
        }
    }

    /// The object, or a reference to one.
    fn either(&mut self, kind: Kind, node: &'a Node, key: Option<Span>) {
        if !self.expect_mapping(node, kind.table().name) {
            return;
        }
        let Some(reference) = node.entry("$ref") else {
            self.open(kind, node, key, false);
            return;
        };
        self.open(kind, node, key, true);
        self.steps.push(Step::Key("$ref"));
        self.expect(&Shape::Text, &reference.value);
        self.steps.pop();
        for entry in node.entries().iter().filter(|entry| entry.key != "$ref") {
            let message = format!("`{}` stands beside `$ref` and is ignored.", shown(&entry.key));
            let fix = "Take it out, or write the object out in full instead of the reference.";
            self.say(&SIBLINGS, &[Step::Key(&entry.key)], entry.key_span, message, fix);
        }
    }

    /// Puts an object into the model and, unless it is a reference, checks what it holds.
    fn open(&mut self, kind: Kind, node: &'a Node, key: Option<Span>, is_reference: bool) {
        let id = self.model.objects.len();
        let steps = self.steps.clone();
        let parent = self.parent;
        let end = if is_reference { End::Nowhere } else { End::At(id) };
        let children = Vec::new();
        let object = Record { kind, node, key, parent, steps, children, is_reference, target: None, end };
        self.model.objects.push(object);
        self.model.kinds.entry(kind).or_default().push(id);
        if let Some(parent) = parent {
            self.model.objects[parent].children.push(id);
        }
        if is_reference {
            return;
        }
        let steps = std::mem::take(&mut self.steps);
        self.parent = Some(id);
        let table = kind.table();
        for entry in node.entries() {
            self.steps.push(Step::Key(&entry.key));
            match table.keywords.iter().find(|(keyword, ..)| *keyword == entry.key) {
                Some((.., shape)) => self.value(shape, &entry.value, Some(entry.key_span)),
                None => self.other(kind, entry),
            }
            self.steps.pop();
        }
        for (keyword, demand, _) in table.keywords {
            if *demand == Demand::Required && node.entry(keyword).is_none() {
                let message = format!("{} has no `{keyword}`.", self.model.object(id).subject());
                self.missing(id, message, format!("Add `{keyword}`."));
            }
        }
        self.parent = parent;
        self.steps = steps;
    }

    /// A key that is no keyword.
    fn other(&mut self, kind: Kind, entry: &'a Entry) {
        let (keys, shape) = &kind.table().others;
        let extensible = !matches!(keys, Keys::Nothing | Keys::Names);
        if extensible && entry.key.starts_with("x-") {
            return;
        }
        if matches!(keys, Keys::Extensions | Keys::Nothing) {
            let message = format!("`{}` is no keyword of the {}.", shown(&entry.key), kind.table().name);
            let fix = shapes::instead_of(kind, &entry.key);
            self.say(&KEYWORD, &[], entry.key_span, message, fix);
            return;
        }
        if let Some(fix) = shapes::wrong_key(*keys, &entry.key) {
            let message = format!("`{}` cannot be a key of the {}.", shown(&entry.key), kind.table().name);
            self.say(&KEY, &[], entry.key_span, message, fix);
            return;
        }
        self.value(shape, &entry.value, Some(entry.key_span));
    }

    fn value(&mut self, shape: &'static Shape, node: &'a Node, key: Option<Span>) {
        match shape {
            Shape::List(shape) => {
                let Value::Sequence(items) = &node.value else {
                    return self.wrong_type("a list", node);
                };
                for (number, item) in items.iter().enumerate() {
                    self.steps.push(Step::Item(number));
                    self.value(shape, item, None);
                    self.steps.pop();
                }
            }
            Shape::Map(keys, shape) => {
                if !self.expect_mapping(node, "mapping") {
                    return;
                }
                for entry in node.entries() {
                    self.steps.push(Step::Key(&entry.key));
                    if let Some(fix) = shapes::wrong_key(*keys, &entry.key) {
                        let message = format!("`{}` cannot be the name of a component.", shown(&entry.key));
                        self.say(&KEY, &[], entry.key_span, message, fix);
                    }
                    self.value(shape, &entry.value, Some(entry.key_span));
                    self.steps.pop();
                }
            }
            Shape::Object(kind) => self.object(*kind, node, key),
            Shape::Either(kind) => self.either(*kind, node, key),
            Shape::SchemaOrBoolean if matches!(node.value, Value::Bool(_)) => {}
            Shape::SchemaOrBoolean => self.either(Kind::Schema, node, key),
            _ => self.expect(shape, node),
        }
    }

    /// A value that holds no object.
    fn expect(&mut self, shape: &Shape, node: &'a Node) {
        match shapes::wrong_value(shape, node) {
            None => {}
            Some(shapes::Wrong::Type(expected)) => self.wrong_type(expected, node),
            Some(shapes::Wrong::Value(fix)) => {
                let value = shapes::text_of(node);
                let message = format!("`{}` cannot be {}.", self.last_keyword(), shown_value(&value));
                self.say(&VALUE, &[], head(node), message, fix);
            }
        }
    }

    fn expect_mapping(&mut self, node: &'a Node, name: &str) -> bool {
        if matches!(node.value, Value::Mapping(_)) {
            return true;
        }
        self.wrong_type(&shapes::with_article(name), node);
        false
    }

    fn wrong_type(&mut self, expected: &str, node: &'a Node) {
        let message = format!("`{}` holds {}, not {expected}.", self.last_keyword(), shapes::type_of(node));
        let fix = format!("Write {expected}{}.", shapes::hint(self.last_keyword(), node));
        self.say(&TYPE, &[], head(node), message, fix);
    }

    fn last_keyword(&self) -> &'a str {
        let key = self.steps.iter().rev().find_map(|step| match step {
            Step::Key(key) => Some(*key),
            Step::Item(_) => None,
        });
        key.unwrap_or("the document")
    }

    fn missing(&mut self, id: Id, message: String, fix: String) {
        let spot = self.model.object(id).spot();
        self.findings.add(&MISSING, spot, message, fix);
    }

    fn say(&mut self, rule: &Rule, more: &[Step<'_>], span: Span, message: String, fix: impl Into<String>) {
        if self.findings.is_full() {
            return;
        }
        let steps: Vec<_> = self.steps.iter().chain(more).copied().collect();
        let spot = match self.parent {
            Some(parent) => self.model.object(parent).spot_at(&steps, span),
            None => Spot { pointer: String::new(), span, subject: crate::finding::Subject::document() },
        };
        self.findings.add(rule, spot, message, fix);
    }
}

fn shown_value(value: &str) -> String {
    format!("`{}`", shown(value))
}
