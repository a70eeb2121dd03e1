//! `xml`: the names and the nesting of elements (OpenAPI 3.0.3, section 4.7.26). It has no effect in other notations.

use std::collections::BTreeMap;

use document::Value;

use super::{Both, Schema};
use crate::breaking::comparer::Comparer;
use crate::breaking::place::At;
use crate::breaking::{rules, unknown};

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    let objects = |schema: &Schema<'a>| schema.children("xml").first().copied();
    if let (Some(old), Some(new)) = (objects(&both.base), objects(&both.revision)) {
        unknown::compare(cx, &old, &new, &[]);
    }
    let (old, new) = (keywords(&both.base), keywords(&both.revision));
    let changed = old.keys().chain(new.keys()).find(|key| old.get(*key) != new.get(*key));
    let Some(changed) = changed else { return };
    let value = |keywords: &BTreeMap<&str, String>| match keywords.get(changed) {
        Some(value) => format!("`{value}`"),
        None => "its default".to_owned(),
    };
    let what = format!("`{changed}` of its `xml` changed from {} to {}", value(&old), value(&new));
    let (base, revision) = (both.base.first("xml"), both.revision.first("xml"));
    if cx.in_xml {
        both.note(cx, &rules::XML_CHANGED, base, revision, what);
    } else {
        let revision = revision.unwrap_or_else(|| At::of(&both.revision.anchor));
        cx.report(&rules::WITHOUT_EFFECT, base, Some(revision), what);
    }
}

/// The keywords that have an effect and do not repeat a default. The prefix of a namespace has no meaning.
fn keywords<'a>(schema: &Schema<'a>) -> BTreeMap<&'a str, String> {
    let mut keywords = BTreeMap::new();
    for part in &schema.parts {
        let Some(xml) = part.child("xml") else { continue };
        for entry in xml.node().entries() {
            let value = match (entry.key.as_str(), &entry.value.value) {
                ("name", Value::String(name)) if part.keyword() == "properties" && name == part.name() => {
                    continue;
                }
                ("name" | "namespace", Value::String(text)) => text.clone(),
                ("attribute", Value::Bool(true)) => "true".to_owned(),
                ("wrapped", Value::Bool(true)) if schema.may_be(&["array"]) => "true".to_owned(),
                _ => continue,
            };
            keywords.entry(entry.key.as_str()).or_insert(value);
        }
    }
    keywords
}
