//! Compares two objects of the same kind, keyword by keyword, by the tables of OpenAPI 3.0.3.

use std::collections::BTreeSet;

use document::openapi::{Keys, Kind, METHODS, Object, PathItem, Shape};

use super::names::Named;
use super::tolerated::tolerates;
use super::{Comparison, Pair};

impl Comparison {
    /// Compares two objects that are not references.
    pub(super) fn object(&mut self, pair: &Pair<'_>) {
        let Pair { written, coded, .. } = pair;
        let kind = written.kind();
        let table = kind.table();
        for (keyword, _, shape) in table.keywords {
            if (written.has(keyword) || coded.has(keyword)) && !tolerates(kind, keyword) {
                self.keyword(pair, keyword, shape);
            }
        }
        // Other keys are compared as values: a misspelt keyword, and an extension that the code has.
        let is_extension = |key: &&str| key.starts_with("x-");
        let is_other = |key: &&str| {
            let may_be_name = !matches!(table.others.0, Keys::Extensions | Keys::Nothing);
            let is_keyword = *key == "$ref" || table.keywords.iter().any(|(keyword, ..)| keyword == key);
            is_extension(key) || !(may_be_name || is_keyword)
        };
        let [document, code] =
            [written, coded].map(|it| it.node().entries().iter().map(|it| it.key.as_str()));
        let keys: BTreeSet<&str> =
            document.filter(|key| !is_extension(key)).chain(code).filter(is_other).collect();
        keys.into_iter().for_each(|key| self.value(pair, key, &Shape::Any));
        // Objects whose keys are names: paths, statuses, expressions.
        if let (Keys::Paths | Keys::Statuses | Keys::Expressions, Shape::Either(inner)) = table.others {
            self.named(pair, inner.word(), &written.spot(), |object| {
                object.parts().map(Named::keyed).collect()
            });
        }
    }

    fn keyword<'a>(&mut self, pair: &Pair<'a>, keyword: &'static str, shape: &'static Shape) {
        let (written, kind) = (pair.written, pair.written.kind());
        match (kind, keyword, shape) {
            // Operations inherit these keywords, and compare them.
            (Kind::OpenApi | Kind::PathItem | Kind::Operation, "servers" | "security" | "parameters", _) => {}
            (Kind::PathItem, method, _) if METHODS.contains(&method) => {}
            // They identify the parameter.
            (Kind::Parameter, "name" | "in", _) => {}
            // The other components are compared where they are used.
            (Kind::Components, other, _) if !matches!(other, "schemas" | "securitySchemes") => {}
            (_, _, Shape::Map(_, Shape::Object(inner) | Shape::Either(inner))) => {
                // OpenAPI ignores it in a response.
                let ignored = |it: &Object<'a>| {
                    kind == Kind::Response && it.name().eq_ignore_ascii_case("content-type")
                };
                let word = if keyword == "properties" { "property" } else { inner.word() };
                self.named(pair, word, &written.key_spot(keyword), |object| {
                    object.children(keyword).filter(|it| !ignored(it)).map(Named::keyed).collect()
                });
            }
            (Kind::OpenApi, "tags", _) => {
                let tag = |tag: Object<'a>| Some(Named::called(tag.text("name")?, tag));
                let tags = |object: Object<'a>| object.children("tags").filter_map(tag).collect();
                self.named(pair, "tag", &written.key_spot(keyword), tags);
            }
            (Kind::Schema, "additionalProperties", _) => self.additional_properties(pair),
            (Kind::Schema, "allOf" | "oneOf" | "anyOf", _) => self.members(pair, keyword),
            (_, _, Shape::Object(inner) | Shape::Either(inner)) => self.child(pair, keyword, *inner),
            _ => self.value(pair, keyword, shape),
        }
    }

    /// Compares the object under a keyword that holds one.
    fn child(&mut self, pair: &Pair<'_>, keyword: &'static str, inner: Kind) {
        let Pair { subject, written, coded } = pair;
        match (written.child(keyword), coded.child(keyword)) {
            (Some(document), Some(code)) => self.pair(match keyword {
                "paths" | "components" | "responses" | "schema" => {
                    Pair { subject: subject.clone(), written: document, coded: code }
                }
                "info" | "items" | "not" => pair.inner(keyword, "", document, code),
                _ => pair.inner(inner.word(), "", document, code),
            }),
            _ if keyword == "requestBody" => self.named(pair, inner.word(), &written.spot(), |object| {
                object.child(keyword).map(|it| Named::called("", it)).into_iter().collect()
            }),
            // Their named objects are reported one by one.
            _ if matches!(keyword, "paths" | "components" | "responses") => {
                for word in ["path", "schema", "security scheme", "response"] {
                    let of_word = |part: &Object<'_>| part.kind().word() == word;
                    self.named(pair, word, &written.spot(), |object| {
                        let parts = object.child(keyword).into_iter().flat_map(|it| it.parts());
                        parts.filter(of_word).map(Named::keyed).collect()
                    });
                }
            }
            _ if keyword == "info" => {}
            _ => self.value(pair, keyword, &Shape::Any),
        }
    }

    /// Compares two objects of the same place, either of which may be a reference.
    pub(super) fn pair(&mut self, mut pair: Pair<'_>) {
        if pair.written.kind() == Kind::Schema {
            return self.schema(pair);
        }
        let items = PathItem::new(pair.written).zip(PathItem::new(pair.coded));
        // A reference without a target is reported as not understood.
        let (Some(document), Some(code)) = (pair.written.resolved(), pair.coded.resolved()) else { return };
        if document != pair.written {
            pair.subject = pair.subject.component(document.name());
        }
        (pair.written, pair.coded) = (document, code);
        match items {
            Some((document, code)) if pair.written.kind() == Kind::PathItem => {
                self.path_item(&pair, document, code);
            }
            _ => self.object(&pair),
        }
    }
}
