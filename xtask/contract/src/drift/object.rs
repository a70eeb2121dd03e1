//! Compares two objects of the same kind, keyword by keyword, by the tables of OpenAPI 3.0.3.

use super::names::{Named, nearest};
use super::rules::{UNKNOWN_KEYWORD, differs};
use super::tolerated::tolerates;
use super::{Comparison, below, keyword};
use crate::finding::{Subject, shortened};
use crate::openapi::{Keys, Kind, METHODS, Object, PathItem, Schema, Shape, shapes};

impl Comparison<'_> {
    /// Compares two objects that are not references.
    pub(super) fn object<'a>(&mut self, subject: &Subject, written: Object<'a>, coded: Object<'a>) {
        let kind = written.kind();
        self.unknown_keywords(subject, written, coded);
        for (keyword, _, shape) in kind.table().keywords {
            let in_either = written.has(keyword) || coded.has(keyword);
            if in_either && !tolerates(kind, keyword) && !self.is_unclear(written, keyword) {
                self.keyword(subject, written, coded, keyword, shape);
            }
        }
        // An extension is compared if the code has it.
        for entry in coded.node().entries().iter().filter(|entry| entry.key.starts_with("x-")) {
            self.value(subject, written, coded, &entry.key, &Shape::Any);
        }
        // The objects whose keys are names: paths, statuses, expressions.
        if let (Keys::Paths | Keys::Statuses | Keys::Expressions, Shape::Either(inner)) = kind.table().others
        {
            let children = |object: Object<'a>| object.parts().map(Named::keyed).collect();
            self.named(subject, inner.word(), written.spot(), written, children(written), children(coded));
        }
    }

    fn keyword<'a>(
        &mut self,
        subject: &Subject,
        written: Object<'a>,
        coded: Object<'a>,
        keyword: &'static str,
        shape: &'static Shape,
    ) {
        let kind = written.kind();
        let at = || written.key_spot(keyword);
        match (kind, keyword, shape) {
            // Inherited by operations, and compared there.
            (Kind::OpenApi | Kind::PathItem | Kind::Operation, "servers" | "security" | "parameters", _) => {}
            (Kind::PathItem, method, _) if METHODS.contains(&method) => {}
            // Identify the parameter.
            (Kind::Parameter, "name" | "in", _) => {}
            // The other components are compared where they are used.
            (Kind::Components, other, _) if !matches!(other, "schemas" | "securitySchemes") => {}
            (_, _, Shape::Map(_, Shape::Object(inner) | Shape::Either(inner))) => {
                // Of a response, OpenAPI ignores it.
                let ignored = |it: &Object<'a>| {
                    kind == Kind::Response && it.name().eq_ignore_ascii_case("content-type")
                };
                let children = |object: Object<'a>| {
                    object.children(keyword).filter(|it| !ignored(it)).map(Named::keyed).collect()
                };
                let word = if keyword == "properties" { "property" } else { inner.word() };
                self.named(subject, word, at(), written, children(written), children(coded));
            }
            (Kind::OpenApi, "tags", _) if self.has_unclear_item(written, keyword) => {}
            (Kind::OpenApi, "tags", _) => {
                let children = |object: Object<'a>| object.children("tags").filter_map(Named::tag).collect();
                self.named(subject, "tag", at(), written, children(written), children(coded));
            }
            (Kind::Schema, "additionalProperties", _) => self.additional_properties(subject, written, coded),
            (Kind::Schema, "allOf" | "oneOf" | "anyOf", _) => self.members(subject, written, coded, keyword),
            (_, _, Shape::Object(inner) | Shape::Either(inner)) => {
                self.child(subject, written, coded, keyword, *inner);
            }
            _ => self.value(subject, written, coded, keyword, shape),
        }
    }

    /// Compares the object under a keyword that holds one.
    fn child<'a>(
        &mut self,
        subject: &Subject,
        written: Object<'a>,
        coded: Object<'a>,
        keyword: &'static str,
        inner: Kind,
    ) {
        let subject_of = match keyword {
            "info" => subject.with("info", ""),
            "paths" | "components" | "responses" | "schema" => subject.clone(),
            "items" | "not" => subject.with(keyword, ""),
            _ => subject.with(inner.word(), ""),
        };
        match (written.child(keyword), coded.child(keyword)) {
            (Some(document), Some(code)) => self.pair(subject_of, document, code),
            (document, code) if keyword == "requestBody" => {
                let named =
                    |object: Option<Object<'a>>| object.map(|it| Named::called("", it)).into_iter().collect();
                let (document, code) = (named(document), named(code));
                self.named(subject, inner.word(), written.spot(), written, document, code);
            }
            // The named things in these are reported one by one.
            (document, code) if matches!(keyword, "paths" | "components" | "responses") => {
                for word in ["path", "schema", "security scheme", "response"] {
                    let (document, code) = (named_in(document, word), named_in(code, word));
                    self.named(subject, word, written.spot(), written, document, code);
                }
            }
            _ if keyword == "info" => {}
            _ => self.value(subject, written, coded, keyword, &Shape::Any),
        }
    }

    /// Compares two objects of the same place, either of which may be a reference.
    pub(super) fn pair<'a>(&mut self, subject: Subject, written: Object<'a>, coded: Object<'a>) {
        if written.kind() == Kind::Schema {
            return self.schema(&subject, Schema::new(written), Schema::new(coded));
        }
        // A reference that leads nowhere is reported as not understood.
        let (Some(document), Some(code)) = (written.resolved(), coded.resolved()) else { return };
        let subject = if document == written { subject } else { subject.component(document.name()) };
        match PathItem::new(written).zip(PathItem::new(coded)) {
            Some((document, code)) if written.kind() == Kind::PathItem => {
                self.path_item(&subject, document, code);
            }
            _ => self.object(&subject, document, code),
        }
    }

    /// Reports keys that are not keywords. The keyword that was meant is not compared.
    pub(super) fn unknown_keywords(&mut self, subject: &Subject, written: Object<'_>, coded: Object<'_>) {
        let kind = written.kind();
        let table = kind.table();
        if !matches!(table.others.0, Keys::Extensions | Keys::Nothing) {
            return;
        }
        let unknown = |key: &str| {
            let known = table.keywords.iter().any(|(keyword, ..)| *keyword == key);
            !known && key != "$ref" && !key.starts_with("x-")
        };
        for entry in written.node().entries().iter().filter(|entry| unknown(&entry.key)) {
            let key = shortened(&entry.key);
            let lacking = coded.node().entries().iter().map(|entry| entry.key.as_str());
            let meant = nearest(&entry.key, lacking.filter(|keyword| !written.has(keyword)));
            let fix = match meant {
                Some(meant) => {
                    self.unclear.insert(below(written, meant));
                    format!("Write `{meant}`, which the code has.")
                }
                None => shapes::instead_of(kind, &entry.key),
            };
            let message = format!("`{key}` of {subject} is not a keyword of the {}.", table.name);
            let code = meant.map(|meant| {
                keyword::line(meant, coded.get(meant).map(|node| node.to_json()).as_ref(), None)
            });
            self.add(&UNKNOWN_KEYWORD, &written.key_spot(&entry.key), |finding| {
                let about = subject.with("keyword", meant.unwrap_or(&entry.key));
                finding.message(&about, message).sides(key, code.unwrap_or_default()).fix(fix).instead(meant)
            });
        }
        for entry in
            coded.node().entries().iter().filter(|entry| unknown(&entry.key) && !written.has(&entry.key))
        {
            let message =
                format!("`{}` of {subject} in the code is not a keyword of the {}.", entry.key, table.name);
            let code = keyword::line(&entry.key, Some(&entry.value.to_json()), None);
            self.add(&UNKNOWN_KEYWORD, &written.spot(), |finding| {
                let finding = finding.message(&subject.with("keyword", &entry.key), message);
                finding.sides(format!("no {}", entry.key), code).fix("Take it out of the code.")
            });
        }
    }

    /// Compares a keyword that holds plain data.
    pub(super) fn value(
        &mut self,
        subject: &Subject,
        written: Object<'_>,
        coded: Object<'_>,
        keyword: &str,
        shape: &Shape,
    ) {
        if let Some(difference) = keyword::difference(subject, written, coded, keyword, shape) {
            self.add(differs(written.kind()), &difference.spot, |finding| {
                finding
                    .message(&subject.with("keyword", keyword), difference.message)
                    .sides(difference.document, difference.code)
                    .fix(difference.fix)
                    .instead(difference.item)
            });
        }
    }
}

/// The things with this word in `paths`, `components` or `responses`.
fn named_in<'a>(container: Option<Object<'a>>, word: &str) -> Vec<Named<'a>> {
    let Some(container) = container else { return Vec::new() };
    let of_word = |part: &Object<'a>| part.kind().word() == word;
    container.parts().filter(of_word).map(Named::keyed).collect()
}
