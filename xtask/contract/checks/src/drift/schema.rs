//! Compares schemas by name if they have one, else keyword by keyword.

use document::openapi::{Kind, Object, Shape, head};
use document::place::Spot;
use document::repair::Repair;
use serde_json::json;

use super::rules::{SCHEMA_REFERENCE, differs};
use super::tolerated::tolerates;
use super::{Comparison, Pair, keyword};

impl Comparison {
    pub(super) fn schema(&mut self, mut pair: Pair<'_>) {
        let (written, coded) = (only_member(pair.written), only_member(pair.coded));
        (pair.written, pair.coded) = (written, coded);
        let subject = &pair.subject;
        let (document, code) = (reference_name(written), reference_name(coded));
        let fix = match (document, code) {
            (None, None) => return self.object(&pair),
            (Some(_), Some(_)) if target(written) == target(coded) => return,
            (Some(document), Some(code)) => {
                format!("Use `{document}` in the code, or write `$ref: '#/components/schemas/{code}'` here.")
            }
            (Some(document), None) => format!("Use `{document}` in the code, or write the schema out here."),
            (None, Some(code)) => {
                format!(
                    "Write the schema out in the code, or write `$ref: '#/components/schemas/{code}'` here."
                )
            }
        };
        let quoted = |name: Option<&str>| name.map_or("unnamed".to_owned(), |name| format!("`{name}`"));
        let message = format!(
            "the schema of {subject} is {} in the document and {} in the code.",
            quoted(document),
            quoted(code)
        );
        let here = Spot { span: head(written.node()), ..written.spot() };
        let spot = if document.is_some() { written.value_spot("$ref") } else { here };
        let finding = SCHEMA_REFERENCE.at(&spot).message(subject, message);
        let schemas = written.model().root().node().pointer("/components/schemas");
        // A reference to a schema that the document does not have would be invalid.
        let code = code.filter(|code| schemas.is_some_and(|schemas| schemas.get(code).is_some()));
        let reference = code.map(|code| format!("#/components/schemas/{code}"));
        let repair = reference.map(|reference| match document {
            Some(_) => Repair::Write { at: spot.pointer, value: reference.into() },
            None => Repair::Write { at: spot.pointer, value: json!({ "$ref": reference }) },
        });
        let finding = finding.sides(name_or_content(written), name_or_content(coded));
        self.add(finding.fix(fix).repair(repair));
    }

    pub(super) fn additional_properties(&mut self, pair: &Pair<'_>) {
        fn schema(object: Object<'_>) -> Option<Object<'_>> {
            object.child("additionalProperties").filter(|schema| !schema.node().entries().is_empty())
        }
        match (schema(pair.written), schema(pair.coded)) {
            (Some(document), Some(code)) => {
                self.schema(pair.inner("additional properties", "", document, code));
            }
            _ => self.value(pair, "additionalProperties", &Shape::SchemaOrBoolean),
        }
    }

    /// Compares the members of `allOf`, `oneOf` or `anyOf`, in any order.
    pub(super) fn members(&mut self, pair: &Pair<'_>, keyword: &'static str) {
        let subject = &pair.subject;
        let mut code: Vec<_> = pair.coded.children(keyword).collect();
        let mut document = Vec::new();
        for member in pair.written.children(keyword) {
            let before = self.found.len();
            let equal = code.iter().position(|other| {
                self.schema(pair.inner(keyword, "", member, *other));
                let equal = self.found.len() == before;
                self.found.truncate(before);
                equal
            });
            match equal {
                Some(position) => drop(code.remove(position)),
                None => document.push(member),
            }
        }
        // One member on each side: it changed.
        if let ([document], [code]) = (&document[..], &code[..]) {
            return self.schema(pair.inner(keyword, "", *document, *code));
        }
        let about = subject.with("keyword", keyword);
        let of_document = document.into_iter().map(|it| (it, ("document", "code"), it.spot()));
        let at = pair.written.key_spot(keyword);
        let of_code = code.into_iter().map(|it| (it, ("code", "document"), at.clone()));
        for (schema, (here, there), spot) in of_document.chain(of_code) {
            let member = name_or_content(schema);
            let message =
                format!("`{keyword}` of {subject} has {member} in the {here}, but not in the {there}.");
            let fix = format!("Add {member} to the {there}, or remove it from the {here}.");
            let none = "no such member";
            let finding = differs(Kind::Schema).at(&spot).message(&about, message);
            let (document, code) = if here == "code" { (none, &*member) } else { (&*member, none) };
            self.add(finding.sides(document, code).fix(fix));
        }
    }
}

/// Returns the name of the component that a reference leads to directly.
fn reference_name(schema: Object<'_>) -> Option<&str> {
    schema.text("$ref").filter(|_| schema.is_reference())?.rsplit('/').next()
}

fn name_or_content(schema: Object<'_>) -> String {
    let content = || keyword::display(&schema.node().to_json());
    reference_name(schema).map_or_else(content, |name| format!("`{name}`"))
}

/// Returns the name of the target of a reference, or the reference itself if it has no target.
fn target(schema: Object<'_>) -> Option<String> {
    let target = schema.model().target(schema.id).map(|target| target.pointer());
    target.or_else(|| schema.text("$ref").map(|text| text.trim_start_matches('#').to_owned()))
}

/// Returns the only member of an `allOf`, unless the schema has other keywords that are compared.
fn only_member(mut schema: Object<'_>) -> Object<'_> {
    loop {
        let ignored = |keyword: &str| {
            keyword == "allOf" || keyword.starts_with("x-") || tolerates(Kind::Schema, keyword)
        };
        let mut members = schema.children("allOf");
        match (members.next(), members.next()) {
            (Some(member), None)
                if !schema.is_reference()
                    && schema.node().entries().iter().all(|entry| ignored(&entry.key)) =>
            {
                schema = member;
            }
            _ => return schema,
        }
    }
}
