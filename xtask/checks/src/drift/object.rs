//! Compares two objects of the same kind, keyword by keyword, by the tables of OpenAPI 3.0.3.

use document::finding::shortened;
use document::openapi::{Keys, Kind, METHODS, Object, PathItem, Shape, shapes};
use document::pointer;
use document::repair::Repair;

use super::names::{Named, nearest};
use super::rules::UNKNOWN_KEYWORD;
use super::tolerated::tolerates;
use super::{Comparison, Pair, keyword};

impl Comparison<'_> {
    /// Compares two objects that are not references.
    pub(super) fn object(&mut self, pair: &Pair<'_>) {
        let Pair { written, coded, .. } = pair;
        let kind = written.kind();
        self.unknown_keywords(pair);
        for (keyword, _, shape) in kind.table().keywords {
            let in_either = written.has(keyword) || coded.has(keyword);
            if in_either && !tolerates(kind, keyword) && !self.is_unclear(*written, keyword) {
                self.keyword(pair, keyword, shape);
            }
        }
        // An extension is compared if the code has it.
        for entry in coded.node().entries().iter().filter(|entry| entry.key.starts_with("x-")) {
            self.value(pair, &entry.key, &Shape::Any);
        }
        // Objects whose keys are names: paths, statuses, expressions.
        if let (Keys::Paths | Keys::Statuses | Keys::Expressions, Shape::Either(inner)) = kind.table().others
        {
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
            (Kind::OpenApi, "tags", _) if self.has_unclear_item(written, keyword) => {}
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

    /// Reports keys that are not keywords. A keyword that a key misspells is not compared.
    pub(super) fn unknown_keywords(&mut self, pair: &Pair<'_>) {
        let Pair { subject, written, coded } = pair;
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
                    self.unclear.insert(pointer::below(written.pointer(), meant));
                    format!("Write `{meant}`, which the code has.")
                }
                None => shapes::instead_of(kind, &entry.key),
            };
            let message = format!("`{key}` of {subject} is not a keyword of the {}.", table.name);
            let code = meant.map(|meant| {
                keyword::line(meant, coded.get(meant).map(|node| node.to_json()).as_ref(), None)
            });
            let about = subject.with("keyword", meant.unwrap_or(&entry.key));
            let finding = UNKNOWN_KEYWORD.at(&written.key_spot(&entry.key)).message(&about, message);
            let at = finding.pointer.clone();
            let repair = match meant {
                Some(meant) => Some(Repair::Rename { at, to: meant.to_owned() }),
                None => shapes::repair_of(kind, &entry.key, at),
            };
            self.add(finding.sides(key, code.unwrap_or_default()).fix(fix).instead(meant).repair(repair));
        }
        for entry in
            coded.node().entries().iter().filter(|entry| unknown(&entry.key) && !written.has(&entry.key))
        {
            let message =
                format!("`{}` of {subject} in the code is not a keyword of the {}.", entry.key, table.name);
            let code = keyword::line(&entry.key, Some(&entry.value.to_json()), None);
            let about = subject.with("keyword", &entry.key);
            let finding = UNKNOWN_KEYWORD.at(&written.spot()).message(&about, message);
            self.add(finding.sides(format!("no {}", entry.key), code).fix("Remove it from the code."));
        }
    }
}
