//! `properties`, `required` and `additionalProperties`: the properties that an object may have and must have.
//!
//! A read-only property is never in a request and a write-only one never in a response (OpenAPI 3.0.3,
//! section 4.7.24.2), so changes of such a property are ignored there.

use std::collections::HashMap;

use document::openapi::Object;

use super::annotations::default;
use super::both::{Both, at};
use super::composition::is_any;
use super::unions::unwrap;
use crate::breaking::comparer::Comparer;
use crate::breaking::conjunction::{Schema, Verdict};
use crate::breaking::data::pairs;
use crate::breaking::matching::renamed;
use crate::breaking::place::At;
use crate::breaking::rules::{self, ChangeRule};
use crate::subschema::ANNOTATIONS;

/// A property of an object.
#[derive(Debug, Default)]
struct Property<'a> {
    name: &'a str,
    /// Its schemas, which all apply.
    schemas: Vec<Object<'a>>,
    /// The place that lists the property as required.
    required: Option<At<'a>>,
}

impl<'a> Property<'a> {
    /// Returns the place of the property for messages.
    fn place(&self) -> Option<At<'a>> {
        self.schemas.first().map(At::of).or(self.required)
    }
}

/// Compares the properties. If both schemas allow the same values, a property of one side only is ignored: the
/// other side has it in an alternative.
pub(super) fn compare<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    let (base, revision) = (properties(&both.base), properties(&both.revision));
    let named = |properties: &'_ [Property<'a>]| {
        let names = properties.iter().map(|property| property.name);
        names.enumerate().map(|(position, name)| (name, position)).collect::<Vec<_>>()
    };
    let paired = pairs(named(&base), named(&revision));
    for (old, new) in paired.both {
        common(cx, both, &base[old], &revision[new]);
    }
    if both.verdict == Verdict::Equal {
        return;
    }
    for old in paired.removed.iter().map(|old| &base[*old]) {
        let new = paired.added.iter().map(|new| &revision[*new]);
        let new = new.filter(|new| new.required.is_some() == old.required.is_some());
        let name = renamed((old.name, &old.schemas), new.map(|new| (new.name, new.schemas.clone())));
        removed(cx, both, old, name);
    }
    paired.added.into_iter().for_each(|new| added(cx, both, &revision[new]));
    if both.base.may_be(&["object"]) && both.revision.may_be(&["object"]) {
        additional(cx, both);
    }
}

fn added<'a>(cx: &mut Comparer<'a>, both: &Both<'a>, new: &Property<'a>) {
    let schema = schema(cx, new, &both.revision);
    let others = both.base.children("additionalProperties");
    if !others.is_empty() && !new.schemas.is_empty() {
        // The base allowed the property under the schema of properties that are not listed.
        both.compare_at(cx, &others, &new.schemas, both.role.property());
    }
    if both.verdict == Verdict::Breaking
        && both.role.is_request()
        && new.required.is_none()
        && is_free(&both.base)
    {
        let what = format!("it must now be {}; before, any value was allowed", described(&schema));
        if !is_any(&schema) && schema.flag("readOnly").is_none() {
            return both.report(cx, &rules::VALUES_NARROWED, None, new.place(), what);
        }
    }
    let rule = match both.role.is_request() {
        true if schema.flag("readOnly").is_some() => return,
        true if new.required.is_none() => &rules::NEW_OPTIONAL_PROPERTY,
        true if schema.first("default").is_some() => &rules::NEW_REQUIRED_PROPERTY_WITH_DEFAULT,
        true => &rules::NEW_REQUIRED_PROPERTY,
        false if schema.flag("writeOnly").is_some() => return,
        false if closed(&both.base).is_some() && !new.schemas.is_empty() => {
            &rules::RESPONSE_PROPERTY_ADDED_TO_CLOSED
        }
        false if new.required.is_some() => &rules::RESPONSE_REQUIRED_PROPERTY_ADDED,
        false => &rules::RESPONSE_OPTIONAL_PROPERTY_ADDED,
    };
    let required = if new.required.is_some() { " and required" } else { "" };
    let what = match new.schemas.is_empty() {
        true => format!("the property `{}` is new{required}, but without a schema", new.name),
        false => format!("it is new{required}"),
    };
    both.report_property(cx, rule, None, new.place(), what);
}

fn removed<'a>(cx: &mut Comparer<'a>, both: &Both<'a>, old: &Property<'a>, renamed: Option<&str>) {
    if let Some(place) = old.required.filter(|_| old.schemas.is_empty()) {
        return became_optional(cx, both, old.name, place);
    }
    let schema = schema(cx, old, &both.base);
    if both.verdict == Verdict::Breaking
        && !both.role.is_request()
        && old.required.is_none()
        && is_free(&both.revision)
    {
        let what = format!(
            "the property `{}` may now have any value; before, it was {}",
            old.name,
            described(&schema)
        );
        if !is_any(&schema) && schema.flag("writeOnly").is_none() {
            return both.report(cx, &rules::VALUES_WIDENED, old.place(), None, what);
        }
    }
    let rule = match both.role.is_request() {
        true if schema.flag("readOnly").is_some() => return,
        true if closed(&both.revision).is_some() => &rules::REQUEST_PROPERTY_REFUSED,
        true => &rules::REQUEST_PROPERTY_REMOVED,
        false if schema.flag("writeOnly").is_some() => return,
        false if old.required.is_some() => &rules::RESPONSE_REQUIRED_PROPERTY_REMOVED,
        false => &rules::RESPONSE_OPTIONAL_PROPERTY_REMOVED,
    };
    if both.agrees(rule) {
        report_removed(cx, both, old, rule, renamed);
    }
}

fn report_removed<'a>(
    cx: &mut Comparer<'a>,
    both: &Both<'a>,
    old: &Property<'a>,
    rule: &'static ChangeRule,
    renamed: Option<&str>,
) {
    let owner = old.schemas.first().and_then(Object::parent).map(|owner| At::of(&owner));
    let remaining = At::value_or_object(&both.remaining(owner.as_ref()), "properties");
    let renamed = renamed.map(|name| format!("; perhaps it is `{name}` now")).unwrap_or_default();
    let what = format!("the property `{}` was removed{renamed}", old.name);
    cx.report(rule, old.place(), Some(remaining), what);
}

fn common<'a>(cx: &mut Comparer<'a>, both: &Both<'a>, old: &Property<'a>, new: &Property<'a>) {
    let is_request = both.role.is_request();
    let base = schema(cx, old, &both.base);
    let revision = schema(cx, new, &both.revision);
    let (hiding, name) = (if is_request { "readOnly" } else { "writeOnly" }, new.name);
    match (base.flag(hiding), revision.flag(hiding)) {
        (Some(_), Some(_)) => return,
        (None, Some(place)) => {
            let rule = match is_request {
                true => &rules::REQUEST_READ_ONLY,
                false if old.required.is_some() => &rules::RESPONSE_REQUIRED_WRITE_ONLY,
                false => &rules::RESPONSE_OPTIONAL_WRITE_ONLY,
            };
            let what = format!("it became `{hiding}`");
            return both.report_property(cx, rule, old.place(), Some(place), what);
        }
        (Some(place), None) => {
            let rule = match is_request {
                true if new.required.is_some() => &rules::REQUEST_REQUIRED_NOT_READ_ONLY,
                true => &rules::REQUEST_OPTIONAL_NOT_READ_ONLY,
                false => &rules::RESPONSE_NOT_WRITE_ONLY,
            };
            let what = format!("it is no longer `{hiding}`");
            return both.report_property(cx, rule, Some(place), new.place(), what);
        }
        (None, None) => {}
    }
    match (old.required, new.required) {
        _ if both.verdict == Verdict::Equal => {}
        (None, Some(place)) => {
            let rule = match is_request {
                true if revision.first("default").is_some() => &rules::REQUEST_PROPERTY_REQUIRED_WITH_DEFAULT,
                true => &rules::REQUEST_PROPERTY_REQUIRED,
                false => &rules::RESPONSE_PROPERTY_REQUIRED,
            };
            let what = format!("the property `{name}` became required");
            both.report_property(cx, rule, old.place(), Some(place), what);
        }
        (Some(place), None) => became_optional(cx, both, name, place),
        _ => {}
    }
    if !old.schemas.is_empty() && new.schemas.is_empty() && both.verdict > Verdict::Equal {
        // `required` still names the property, but only the base has its schema.
        let rule = match is_request {
            true => &rules::REQUEST_REQUIRED_PROPERTY_REMOVED,
            false => &rules::RESPONSE_REQUIRED_PROPERTY_REMOVED,
        };
        return report_removed(cx, both, old, rule, None);
    }
    both.compare_at(cx, &old.schemas, &new.schemas, both.role.property());
    if old.required.is_none() && new.required.is_none() {
        let mut both = Both { base, revision, role: both.role.property(), verdict: both.verdict };
        unwrap(cx, &mut both);
        default(cx, &both);
    }
}

fn became_optional<'a>(cx: &mut Comparer<'a>, both: &Both<'a>, name: &str, place: At<'a>) {
    let rule = match both.role.is_request() {
        true => &rules::REQUEST_PROPERTY_OPTIONAL,
        false => &rules::RESPONSE_PROPERTY_OPTIONAL,
    };
    let what = format!("the property `{name}` became optional");
    let remaining = At::value_or_object(&both.remaining(Some(&place)), "required");
    both.report_property(cx, rule, Some(place), Some(remaining), what);
}

impl<'a> Both<'a> {
    /// Reports a change of a property, if the verdict allows its severity.
    fn report_property(
        &self,
        cx: &mut Comparer<'a>,
        rule: &'static ChangeRule,
        base: Option<At<'a>>,
        revision: Option<At<'a>>,
        what: String,
    ) {
        if self.agrees(rule) {
            cx.report(rule, base, revision, what);
        }
    }
}

/// The properties of an object, in the order of the file.
fn properties<'a>(schema: &Schema<'a>) -> Vec<Property<'a>> {
    let mut properties: Vec<Property<'a>> = Vec::new();
    let mut positions = HashMap::new();
    let mut named = |name: &'a str, change: &mut dyn FnMut(&mut Property<'a>)| {
        let position = *positions.entry(name).or_insert_with(|| {
            properties.push(Property { name, ..Property::default() });
            properties.len() - 1
        });
        change(&mut properties[position]);
    };
    for object in schema.children("properties") {
        named(object.name(), &mut |property| property.schemas.push(object));
    }
    for name in schema.all("required").flat_map(At::items) {
        if let Some(text) = name.node().as_str() {
            named(text, &mut |property| property.required = Some(name));
        }
    }
    properties
}

fn schema<'a>(cx: &mut Comparer<'a>, property: &Property<'a>, owner: &Schema<'a>) -> Schema<'a> {
    let id = at(cx, &property.schemas, owner.anchor);
    cx.schema(id)
}

/// Whether a schema lists no properties and restricts none, so that clients and services send any.
fn is_free(schema: &Schema<'_>) -> bool {
    let restricts = ["properties", "required", "oneOf", "anyOf"];
    let is_open = |at: At<'_>| at.as_bool() == Some(true) || at.node().entries().is_empty();
    !schema.parts.iter().any(|part| restricts.iter().any(|keyword| part.has(keyword)))
        && schema.all("additionalProperties").all(is_open)
}

/// Returns what the values of a schema are, for a sentence.
fn described(schema: &Schema<'_>) -> String {
    match schema.first("type").and_then(|kind| kind.node().as_str()) {
        Some(kind) => format!("of the type `{kind}`"),
        None => "as its schema describes it".to_owned(),
    }
}

/// Returns the place that forbids properties that are not listed, if any.
fn closed<'a>(schema: &Schema<'a>) -> Option<At<'a>> {
    schema.all("additionalProperties").find(|at| at.as_bool() == Some(false))
}

/// Compares the properties that are not listed.
fn additional<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    let schemas = |schema: &Schema<'a>| {
        let mut schemas = schema.children("additionalProperties");
        let restricts = |keyword: &str| !ANNOTATIONS.contains(&keyword);
        schemas.retain(|schema| schema.node().entries().iter().any(|entry| restricts(&entry.key)));
        schemas
    };
    let (old, new) = (schemas(&both.base), schemas(&both.revision));
    let places =
        [&both.base, &both.revision].map(|schema| closed(schema).or(schema.first("additionalProperties")));
    // The service accepted requests with such properties, although the document does not list them.
    let mut report = |family, what| both.note(cx, family, places[0], places[1], what);
    match (closed(&both.base).is_some(), closed(&both.revision).is_some()) {
        (true, true) => {}
        (false, true) => {
            report(&rules::ADDITIONAL_CLOSED, "properties that are not listed are no longer allowed");
        }
        (true, false) => report(&rules::ADDITIONAL_OPENED, "properties that are not listed are now allowed"),
        _ if !old.is_empty() && !new.is_empty() => both.compare_at(cx, &old, &new, both.role.property()),
        _ if !new.is_empty() => {
            report(&rules::ADDITIONAL_NARROWED, "properties that are not listed must now match a schema");
        }
        _ if !old.is_empty() => {
            report(&rules::ADDITIONAL_WIDENED, "properties that are not listed may now have any value");
        }
        _ => {}
    }
}
