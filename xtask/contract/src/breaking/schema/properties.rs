//! `properties` and `required`: what an object has, must have, and may no longer have.
//!
//! A read-only property is never in a request and a write-only one never in a response (OpenAPI 3.0.3,
//! section 4.7.24.2), so there nothing about it matters.

use std::collections::HashMap;

use crate::document::Node;

use super::{Both, Schema, at};
use crate::breaking::comparer::{Comparer, Side};
use crate::breaking::role::Direction;
use crate::breaking::rules;

/// What an object says about one of its properties.
#[derive(Default)]
struct Property<'a> {
    /// Its schemas, of which all hold.
    schemas: Vec<&'a Node>,
    /// Where it is required.
    required: Option<&'a Node>,
}

impl<'a> Property<'a> {
    /// Where to point for it.
    fn place(&self) -> Option<&'a Node> {
        self.schemas.first().copied().or(self.required)
    }
}

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    let base = properties(&both.base);
    let revision = properties(&both.revision);
    for (name, old) in &base.listed {
        match revision.find(name) {
            Some(new) => common(cx, both, name, old, new),
            None => removed(cx, both, name, old),
        }
    }
    for (name, new) in &revision.listed {
        if base.find(name).is_none() {
            added(cx, both, name, new);
        }
    }
}

fn added<'a>(cx: &mut Comparer<'a>, both: &Both<'a>, name: &str, new: &Property<'a>) {
    let schema = schema(cx, Side::Revision, new, both.revision.anchor);
    let rule = match both.role.direction() {
        Direction::Request if schema.flag("readOnly").is_some() => return,
        Direction::Request if new.required.is_none() => &rules::NEW_OPTIONAL_PROPERTY,
        Direction::Request if schema.first("default").is_some() => &rules::NEW_REQUIRED_PROPERTY_WITH_DEFAULT,
        Direction::Request => &rules::NEW_REQUIRED_PROPERTY,
        Direction::Response if schema.flag("writeOnly").is_some() => return,
        Direction::Response if is_closed(&both.base) => &rules::RESPONSE_PROPERTY_ADDED_TO_CLOSED,
        Direction::Response if new.required.is_some() => &rules::RESPONSE_REQUIRED_PROPERTY_ADDED,
        Direction::Response => &rules::RESPONSE_OPTIONAL_PROPERTY_ADDED,
    };
    let required = if new.required.is_some() { " and required" } else { "" };
    let what = match new.schemas.is_empty() {
        true => format!("the property `{name}` is new{required}, though without a schema"),
        false => format!("it is new{required}"),
    };
    cx.report(rule, None, new.place(), what);
}

fn removed<'a>(cx: &mut Comparer<'a>, both: &Both<'a>, name: &str, old: &Property<'a>) {
    let schema = schema(cx, Side::Base, old, both.base.anchor);
    let rule = match both.role.direction() {
        Direction::Request if schema.flag("readOnly").is_some() => return,
        Direction::Request if is_closed(&both.revision) => &rules::REQUEST_PROPERTY_REFUSED,
        Direction::Request => &rules::REQUEST_PROPERTY_REMOVED,
        Direction::Response if schema.flag("writeOnly").is_some() => return,
        Direction::Response if old.required.is_some() => &rules::RESPONSE_REQUIRED_PROPERTY_REMOVED,
        Direction::Response => &rules::RESPONSE_OPTIONAL_PROPERTY_REMOVED,
    };
    let survivor = both.revision.first("properties").unwrap_or(both.revision.anchor);
    cx.report(rule, old.place(), Some(survivor), format!("the property `{name}` was removed"));
}

fn common<'a>(cx: &mut Comparer<'a>, both: &Both<'a>, name: &str, old: &Property<'a>, new: &Property<'a>) {
    let direction = both.role.direction();
    let base = schema(cx, Side::Base, old, both.base.anchor);
    let revision = schema(cx, Side::Revision, new, both.revision.anchor);
    let hiding = if direction == Direction::Request { "readOnly" } else { "writeOnly" };
    match (base.flag(hiding), revision.flag(hiding)) {
        (Some(_), Some(_)) => return,
        (None, Some(place)) => {
            let rule = match direction {
                Direction::Request => &rules::REQUEST_READ_ONLY,
                Direction::Response if old.required.is_some() => &rules::RESPONSE_REQUIRED_WRITE_ONLY,
                Direction::Response => &rules::RESPONSE_OPTIONAL_WRITE_ONLY,
            };
            let what = format!("the property `{name}` became `{hiding}`");
            return cx.report(rule, old.place(), Some(place), what);
        }
        (Some(place), None) => {
            let rule = match direction {
                Direction::Request if new.required.is_some() => &rules::REQUEST_REQUIRED_NOT_READ_ONLY,
                Direction::Request => &rules::REQUEST_OPTIONAL_NOT_READ_ONLY,
                Direction::Response => &rules::RESPONSE_NOT_WRITE_ONLY,
            };
            let what = format!("the property `{name}` is no longer `{hiding}`");
            return cx.report(rule, Some(place), new.place(), what);
        }
        (None, None) => {}
    }
    required(cx, both, name, old, new, &revision);
    let base = (old.schemas.as_slice(), both.base.anchor);
    let revision = (new.schemas.as_slice(), both.revision.anchor);
    super::compare_at(cx, base, revision, both.role.piece());
}

fn required<'a>(
    cx: &mut Comparer<'a>,
    both: &Both<'a>,
    name: &str,
    old: &Property<'a>,
    new: &Property<'a>,
    revision: &Schema<'a>,
) {
    let direction = both.role.direction();
    match (old.required, new.required) {
        (None, Some(place)) => {
            let rule = match direction {
                Direction::Request if revision.first("default").is_some() => {
                    &rules::REQUEST_PROPERTY_REQUIRED_WITH_DEFAULT
                }
                Direction::Request => &rules::REQUEST_PROPERTY_REQUIRED,
                Direction::Response => &rules::RESPONSE_PROPERTY_REQUIRED,
            };
            cx.report(rule, old.place(), Some(place), format!("the property `{name}` became required"));
        }
        (Some(place), None) => {
            let rule = match direction {
                Direction::Request => &rules::REQUEST_PROPERTY_OPTIONAL,
                Direction::Response => &rules::RESPONSE_PROPERTY_OPTIONAL,
            };
            let survivor = both.revision.first("required").or(new.place());
            cx.report(rule, Some(place), survivor, format!("the property `{name}` became optional"));
        }
        _ => {}
    }
}

/// The properties of an object, in the order of the file.
#[derive(Default)]
struct Properties<'a> {
    listed: Vec<(&'a str, Property<'a>)>,
    positions: HashMap<&'a str, usize>,
}

impl<'a> Properties<'a> {
    fn find(&self, name: &str) -> Option<&Property<'a>> {
        self.positions.get(name).and_then(|position| self.listed.get(*position)).map(|(_, property)| property)
    }

    fn named(&mut self, name: &'a str) -> &mut Property<'a> {
        let position = *self.positions.entry(name).or_insert_with(|| {
            self.listed.push((name, Property::default()));
            self.listed.len() - 1
        });
        &mut self.listed[position].1
    }
}

fn properties<'a>(schema: &Schema<'a>) -> Properties<'a> {
    let mut properties = Properties::default();
    for mapping in schema.all("properties") {
        for entry in mapping.entries() {
            properties.named(&entry.key).schemas.push(&entry.value);
        }
    }
    for required in schema.all("required") {
        for name in required.items() {
            if let Some(text) = name.as_str() {
                properties.named(text).required = Some(name);
            }
        }
    }
    properties
}

fn schema<'a>(cx: &mut Comparer<'a>, side: Side, property: &Property<'a>, owner: &'a Node) -> Schema<'a> {
    let id = at(cx, side, &property.schemas, owner);
    cx.schema(side, id).unwrap_or(Schema { parts: Vec::new(), anchor: owner })
}

/// Whether an object refuses properties that are not listed.
fn is_closed(schema: &Schema) -> bool {
    schema.all("additionalProperties").any(|node| node.as_bool() == Some(false))
}
