//! `discriminator`: the property that selects the schema of a value (OpenAPI 3.0.3, section 4.7.25).
//!
//! A value of the property names a schema: by `mapping`, or by the name of the component. The schemas are the
//! alternatives of `oneOf` and `anyOf`, and the components whose `allOf` refers to the schema with the
//! discriminator. So a response described by the parent may be a value of any of its children.

use std::collections::{BTreeMap, HashMap, HashSet};

use document::Node;
use document::openapi::Object;

use super::both::{Both, at};
use super::unions::unions;
use crate::breaking::comparer::Comparer;
use crate::breaking::conjunction::{Schema, Verdict};
use crate::breaking::place::At;
use crate::breaking::{rules, unknown};

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    let first = |schema: &Schema<'a>| schema.children("discriminator").first().copied();
    let (old, new) = match (first(&both.base), first(&both.revision)) {
        (None, None) => return,
        (None, Some(new)) => {
            let what = "a `discriminator` was added";
            both.note(cx, &rules::DISCRIMINATOR_ADDED, None, Some(At::of(&new)), what);
            return compare_sent(cx, both, &new, false);
        }
        (Some(old), None) => {
            let what = "its `discriminator` was removed";
            both.note(cx, &rules::DISCRIMINATOR_REMOVED, Some(At::of(&old)), None, what);
            return compare_sent(cx, both, &old, true);
        }
        (Some(old), Some(new)) => (old, new),
    };
    // The schemas that extend the owner have the discriminator too.
    let part =
        if both.role.is_request() { "discriminator of a request" } else { "discriminator of a response" };
    cx.once((part, old.id, new.id), |cx| compare_both(cx, both, (old, new)));
}

fn compare_both<'a>(cx: &mut Comparer<'a>, both: &Both<'a>, (old, new): (Object<'a>, Object<'a>)) {
    cx.compare_keyword(rules::DISCRIMINATOR_RENAMED.rule(both.role), (&old, &new), "propertyName");
    unknown::compare(cx, &old, &new, &[]);
    let (base, revision) = (named(cx, &old), named(cx, &new));
    let names: HashSet<&str> = revision.values().map(|named| named.name).collect();
    for (value, before) in &base {
        let Some(after) = revision.get(value) else {
            let what = format!("the discriminating value `{value}` was removed");
            let remaining = At::value_or_object(&new, "mapping");
            both.note(cx, &rules::MAPPING_DELETED, Some(before.place), Some(remaining), what);
            continue;
        };
        let (Some(one), Some(other)) = (before.schema, after.schema) else { continue };
        let schemas = (at(cx, &[one], one), at(cx, &[other], other));
        let (one, other) = (cx.schema(schemas.0), cx.schema(schemas.1));
        let verdict = Verdict::of(&mut cx.inclusion, (&one, &other), both.role);
        // A component that was renamed may be the same one.
        let is_kept = names.contains(before.name);
        if before.name != after.name && verdict > if is_kept { Verdict::Equal } else { Verdict::Same } {
            let what = format!(
                "the discriminating value `{value}` changed from `{}` to `{}`",
                before.name, after.name
            );
            both.note(cx, &rules::MAPPING_CHANGED, Some(before.place), Some(after.place), what);
        } else {
            cx.compare_within(schemas.0, schemas.1, both.role, verdict);
        }
    }
    let alternatives = |schema: &Schema<'a>| -> HashSet<&'a str> {
        let alternatives = unions(schema).into_iter().flat_map(|union| union.alternatives);
        alternatives.filter_map(|one| one.text("$ref")?.rsplit('/').next()).collect()
    };
    let (listed_before, listed) = (alternatives(&both.base), alternatives(&both.revision));
    let property = new.text("propertyName").unwrap_or_default();
    let (values_before, values) =
        (listed_values(&both.base, property), listed_values(&both.revision, property));
    for (value, after) in revision.iter().filter(|(value, _)| !base.contains_key(*value)) {
        let is_new_alternative = listed.contains(after.name) && !listed_before.contains(after.name);
        let is_new_value = !values_before.is_empty()
            && values.contains(value.as_str())
            && !values_before.contains(value.as_str());
        if is_new_alternative || is_new_value {
            // The alternative, or the value of the property, is reported.
            continue;
        }
        let what = format!("the discriminating value `{value}` was added");
        both.note(cx, &rules::MAPPING_ADDED, None, Some(after.place), what);
    }
}

/// For a discriminator on one side only: compares the schemas that it names with the whole schema of the other
/// side. Only values that are sent matter: the requests of the base, and the responses of the revision.
fn compare_sent<'a>(cx: &mut Comparer<'a>, both: &Both<'a>, discriminator: &Object<'a>, is_old: bool) {
    if both.role.is_request() != is_old {
        return;
    }
    for named in named(cx, discriminator).into_values() {
        let Some(schema) = named.schema else { continue };
        let (base, revision) = match is_old {
            true => (vec![schema], both.revision.parts.clone()),
            false => (both.base.parts.clone(), vec![schema]),
        };
        let base = at(cx, &base, both.base.anchor);
        let revision = at(cx, &revision, both.revision.anchor);
        let schemas = (&cx.schema(base), &cx.schema(revision));
        if Verdict::of(&mut cx.inclusion, schemas, both.role) == Verdict::Breaking {
            cx.compare_within(base, revision, both.role, Verdict::Breaking);
        }
    }
}

/// Returns the values that the `enum` of a property lists.
fn listed_values<'a>(schema: &Schema<'a>, property: &str) -> HashSet<&'a str> {
    let properties = schema.children("properties").into_iter().filter(|it| it.name() == property);
    let lists = properties.filter_map(|property| property.resolved()?.get("enum"));
    lists.flat_map(|list| list.items().iter().filter_map(Node::as_str)).collect()
}

/// A schema that a value of the discriminator names.
struct Named<'a> {
    place: At<'a>,
    name: &'a str,
    schema: Option<Object<'a>>,
}

/// The schemas by the values that name them.
fn named<'a>(cx: &Comparer<'a>, discriminator: &Object<'a>) -> BTreeMap<String, Named<'a>> {
    let (mut named, mut names) = (BTreeMap::new(), HashSet::new());
    let Some(owner) = discriminator.parent() else { return named };
    let last = |text: &'a str| text.rsplit('/').next().unwrap_or(text);
    let components: HashMap<&str, Object<'a>> =
        owner.model().schemas().map(|schema| (schema.name(), schema)).collect();
    for (value, place) in At::value(discriminator, "mapping").into_iter().flat_map(At::entries) {
        let name = last(place.node().as_str().unwrap_or_default());
        let schema = components.get(name).and_then(Object::resolved);
        names.insert(name);
        named.insert(value.to_owned(), Named { place, name, schema });
    }
    let alternatives = ["oneOf", "anyOf"].into_iter().flat_map(|keyword| owner.children(keyword));
    let alternatives = alternatives.filter_map(|one| Some((one, last(one.text("$ref")?))));
    let subtypes = cx.subtypes.all(owner).into_iter().map(|subtype| (subtype, subtype.name()));
    let implied: Vec<_> = alternatives.chain(subtypes).collect();
    for (place, name) in implied {
        if names.insert(name) {
            named.insert(name.to_owned(), Named { place: At::of(&place), name, schema: place.resolved() });
        }
    }
    named
}
