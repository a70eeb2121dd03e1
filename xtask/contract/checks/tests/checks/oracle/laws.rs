//! Laws that hold for every document: rewrites, reordering, and symmetry of requests and responses.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use checks::breaking::Change;
use fixtures::LIBRARY;
use serde_json::{Map, Value, json};

use super::alarms::admits_nothing;
use super::case::{
    Case, DIRECTIONS, Dice, Direction, breaks, changes, changes_in, changes_of, changes_of_texts, generated,
    is_required_but_not_listed, names, read, yaml,
};
use super::edit::{edited, places};
use super::generate::{self, Vocabulary};
use super::rewrite::{Around, REWRITES, Rewrite};
use super::shrink;
use crate::breaking::documents::SHAPES;

/// The number of rewritten schemas, and of reversed pairs, in short runs.
const CASES: usize = 12;

/// Whether a rewrite may cause the change: generated clients have other types, but requests and responses are equal.
fn is_allowed(change: &Change) -> bool {
    let rules = ["api-schema-added", "api-schema-removed"];
    !change.breaks() && rules.contains(&change.rule.name)
}

/// The changes that a rewrite should not cause.
fn wrong(mut changes: Vec<Change>) -> Vec<Change> {
    changes.retain(|change| !is_allowed(change));
    changes
}

/// Rewrites the schema at a place.
fn rewritten(
    schema: &Value,
    components: &Map<String, Value>,
    rewrite: Rewrite,
) -> Option<(Value, Map<String, Value>)> {
    let mut around = Around { components, added: Map::new(), dice: Dice::new(3) };
    let other = rewrite.1(schema, &mut around)?;
    Some((other, around.added))
}

/// Returns all cases that the rewrite produces from this one, each at another place.
fn variants(case: &Case, rewrite: Rewrite) -> Vec<Case> {
    let mut found = Vec::new();
    let roots = std::iter::once(None).chain(case.components.keys().map(Some));
    for root in roots {
        let schema = root.map_or(&case.schema, |name| &case.components[name]);
        for place in places(schema) {
            let here = schema.pointer(&place).expect("it was listed");
            let Some((other, added)) = rewritten(here, &case.components, rewrite) else { continue };
            let mut variant = case.clone();
            let schema = root.map_or(&mut variant.schema, |name| &mut variant.components[name.as_str()]);
            *schema.pointer_mut(&place).expect("it was listed") = other;
            variant.components.extend(added);
            found.push(variant);
        }
    }
    found.retain(shrink::is_sound);
    found
}

/// Returns a variant with changes in requests or responses, from the case to the variant or back.
fn violation(case: &Case, variants: Vec<Case>) -> Option<(Case, Vec<Change>)> {
    let document = |case: &Case| read(&case.document_with(&DIRECTIONS).to_string());
    let base = document(case);
    variants.into_iter().find_map(|variant| {
        let other = document(&variant);
        let forth = wrong(changes_of(&base, &other));
        let said = if forth.is_empty() { wrong(changes_of(&other, &base)) } else { forth };
        (!said.is_empty()).then_some((variant, said))
    })
}

/// Schemas that are rarely generated.
fn rare() -> Vec<Case> {
    let schemas = json!([
        {"type": "integer", "format": "int32"},
        {"type": "integer", "minimum": 5, "exclusiveMinimum": true, "maximum": 9, "exclusiveMaximum": true},
        {"type": "object", "nullable": true, "required": ["a"], "additionalProperties": {}},
        {"oneOf": [{"type": "string", "enum": ["a", "b"]}, {"type": "number", "nullable": true}, {"type": "array", "items": {}}]},
    ]);
    let schemas = schemas.as_array().cloned().unwrap_or_default().into_iter();
    schemas.map(|schema| Case { schema, components: Map::new() }).collect()
}

/// Whether a rewrite changes the keywords of a schema without values, which are compared one by one.
fn is_compared_by_keyword(rewrite: &str, case: &Case) -> bool {
    rewrite.starts_with("integer bounds")
        && DIRECTIONS.iter().any(|direction| admits_nothing(case, *direction))
}

#[test]
fn rewrites_of_generated_schemas_change_nothing() {
    let (mut applied, mut failures) = (0, String::new());
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let make = |dice: &mut Dice| {
        let vocabulary = Vocabulary::random(dice);
        generate::case(dice, Vocabulary { depth: 1, ..vocabulary })
    };
    for case in rare().into_iter().chain(generated(CASES, make).filter(shrink::is_sound)) {
        for rewrite in REWRITES {
            let variants_of = |case: &Case| variants(case, *rewrite);
            let variants = variants_of(&case);
            applied += variants.len();
            let count = counts.entry(rewrite.0).or_default();
            count.0 += variants.len();
            if variants.is_empty()
                || violation(&case, variants).is_none()
                || is_compared_by_keyword(rewrite.0, &case)
            {
                continue;
            }
            count.1 += 1;
            if count.1 <= 3 {
                let violation = |case: &Case| {
                    violation(case, variants_of(case)).filter(|_| !is_compared_by_keyword(rewrite.0, case))
                };
                let small = shrink::one(case.clone(), |case| violation(case).is_some());
                let (variant, said) = violation(&small).expect("it is a violation");
                let text = format!("## {}\n# {}\n{}", rewrite.0, names(&said), yaml(&small, &variant));
                if !failures.contains(&text) {
                    let _ = writeln!(failures, "{text}");
                }
            }
        }
    }
    let wrong: usize = counts.values().map(|(_, wrong)| wrong).sum();
    println!("rewrites: {applied} of generated schemas, {wrong} wrong");
    for (name, (number, wrong)) in &counts {
        println!("  {name}: {number} places, {wrong} schemas with a wrong one");
    }
    assert!(failures.is_empty(), "{failures}");
    let never: Vec<_> = REWRITES.iter().map(|(name, _)| name).filter(|name| counts[**name].0 == 0).collect();
    assert!(never.is_empty() || !kit::is_long(), "never applied: {never:?}");
}

/// The JSON pointers of all schemas of a document.
fn schemas(document: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), document)];
    while let Some((at, value)) = open.pop() {
        let children: Vec<(String, &Value)> = match value {
            Value::Object(map) => {
                map.iter().map(|(key, value)| (key.replace('~', "~0").replace('/', "~1"), value)).collect()
            }
            Value::Array(list) => {
                list.iter().enumerate().map(|(index, value)| (index.to_string(), value)).collect()
            }
            _ => continue,
        };
        for (key, value) in children {
            let here = format!("{at}/{key}");
            if key == "schema" || at == "/components/schemas" {
                found.extend(places(value).into_iter().map(|place| format!("{here}{place}")));
            } else if !["example", "examples", "default"].contains(&key.as_str()) {
                open.push((here, value));
            }
        }
    }
    found
}

fn json_of(yaml: &str) -> Value {
    read(yaml).root.to_json()
}

/// Whether the place is an alternative that a discriminator selects by the name of a component.
fn is_chosen_by_name(document: &Value, at: &str) -> bool {
    let mut parents = at.rsplitn(3, '/').skip(2);
    let parent = parents.next().and_then(|parent| document.pointer(parent));
    parent.is_some_and(|parent| parent["discriminator"].is_object())
}

#[test]
fn rewrites_of_frozen_documents_change_nothing() {
    let mut applied = 0;
    let mut failures: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for (title, text) in [("library", LIBRARY), ("shapes", SHAPES)] {
        let (base, document) = (read(text), json_of(text));
        let components = document["components"]["schemas"].as_object().expect("it has schemas");
        let places = schemas(&document);
        let places = places.into_iter().filter(|at| !is_chosen_by_name(&document, at));
        for at in kit::sample(places) {
            for rewrite in REWRITES {
                let here = document.pointer(&at).expect("it was listed");
                let Some((other, added)) = rewritten(here, components, *rewrite) else { continue };
                let mut revision = document.clone();
                *revision.pointer_mut(&at).expect("it was listed") = other.clone();
                revision["components"]["schemas"].as_object_mut().expect("it has schemas").extend(added);
                applied += 1;
                let revision = read(&revision.to_string());
                let forwards = applied % 2 == 0;
                let (base, revision) = if forwards { (&base, &revision) } else { (&revision, &base) };
                let said = wrong(changes_of(base, revision));
                if !said.is_empty() {
                    let way = if forwards { "to" } else { "from" };
                    let text = format!("# {title}{at}: {}\n{here}\n# {way}\n{other}", names(&said));
                    failures.entry(format!("{} in {title}", rewrite.0)).or_insert((0, text)).0 += 1;
                }
            }
        }
    }
    println!(
        "rewrites: {applied} of frozen documents, {} wrong",
        failures.values().map(|(count, _)| count).sum::<usize>()
    );
    assert!(applied > if kit::is_long() { 1000 } else { 200 }, "only {applied}");
    let text: String = failures
        .iter()
        .map(|(said, (count, text))| format!("## {count} times, {said}\n{text}\n\n"))
        .collect();
    assert!(failures.is_empty(), "{text}");
}

/// Returns the document as text, with all keys, and all lists whose order has no meaning, in reverse order.
fn reversed(value: &Value, key: &str) -> String {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<String> =
                map.iter().map(|(key, value)| format!("{}: {}", json!(key), reversed(value, key))).collect();
            entries.reverse();
            format!("{{{}}}", entries.join(", "))
        }
        Value::Array(list) => {
            let mut items: Vec<String> = list.iter().map(|value| reversed(value, "")).collect();
            if ["required", "enum", "oneOf", "anyOf", "allOf", "tags", "security"].contains(&key) {
                items.reverse();
            }
            format!("[{}]", items.join(", "))
        }
        other => other.to_string(),
    }
}

/// The document with every schema component under another name.
fn renamed(document: &Value) -> Value {
    let text = document.to_string().replace("#/components/schemas/", "#/components/schemas/Other");
    let mut other: Value = serde_json::from_str(&text).expect("it is JSON");
    if let Some(schemas) = other.pointer_mut("/components/schemas").and_then(Value::as_object_mut) {
        *schemas = std::mem::take(schemas)
            .into_iter()
            .map(|(name, schema)| (format!("Other{name}"), schema))
            .collect();
    }
    other
}

/// Returns the changes from a document to itself, also in another order and with other names.
fn changes_of_the_same(document: &Value) -> Option<String> {
    let text = document.to_string();
    [
        ("the same", changes_of_texts(&text, &text)),
        ("reordered", wrong(changes_of_texts(&text, &reversed(document, "")))),
        ("renamed", wrong(changes(document, &renamed(document)))),
    ]
    .into_iter()
    .find_map(|(what, said)| (!said.is_empty()).then(|| format!("{what}: {}", names(&said))))
}

#[test]
fn the_same_document_reordered_or_renamed_has_no_change() {
    let mut failures: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for (title, text) in [("library", LIBRARY), ("shapes", SHAPES)] {
        if let Some(said) = changes_of_the_same(&json_of(text)) {
            failures.insert(format!("{title} {said}"), (1, String::new()));
        }
    }
    let make = |dice: &mut Dice| {
        let vocabulary = Vocabulary { references: dice.chance(70), ..Vocabulary::random(dice) };
        generate::case(dice, vocabulary)
    };
    let mut documents = 2;
    for case in generated(CASES, make).filter(shrink::is_sound) {
        for direction in DIRECTIONS {
            documents += 1;
            let fails = |case: &Case| changes_of_the_same(&case.document(direction));
            if fails(&case).is_some() {
                let small = shrink::one(case.clone(), |case| fails(case).is_some());
                let said = fails(&small).expect("it is a failure");
                let text = format!("# {direction:?}\n{}", yaml(&small, &small));
                failures.entry(said).or_insert((0, text)).0 += 1;
            }
        }
    }
    println!(
        "identity: {documents} documents, {} wrong",
        failures.values().map(|(count, _)| count).sum::<usize>()
    );
    let text: String =
        failures.iter().map(|(said, (count, text))| format!("## {count} times, {said}\n{text}\n")).collect();
    assert!(failures.is_empty(), "{text}");
}

/// The case with `readOnly` and `writeOnly` exchanged.
fn mirrored(case: &Case) -> Case {
    let mirror = |value: &Value| -> Value {
        let text =
            value.to_string().replace("\"readOnly\"", "\"-\"").replace("\"writeOnly\"", "\"readOnly\"");
        serde_json::from_str(&text.replace("\"-\"", "\"writeOnly\"")).expect("it is JSON")
    };
    let components = case.components.iter().map(|(name, schema)| (name.clone(), mirror(schema))).collect();
    Case { schema: mirror(&case.schema), components }
}

/// Whether the change of a request and the opposite change of a response are judged differently.
///
/// In both cases the values of `base` are sent and `revision` accepts them, so the verdicts are the same. There are
/// two exceptions by policy. One is a property that `required` names but that is no longer listed. The other: if
/// the revision has `additionalProperties: false`, a service refuses other properties, but clients rarely do, so a
/// response with more properties is a warning.
fn is_judged_differently(base: &Case, revision: &Case) -> Option<(Vec<Change>, Vec<Change>)> {
    let request = changes_in(Direction::Request, base, revision);
    let response = changes_in(Direction::Response, &mirrored(revision), &mirrored(base));
    let tolerated = ["response-additional-properties-allowed", "response-property-added-to-closed-object"];
    let closed = |change: &Change| tolerated.contains(&change.rule.name);
    let mut exempt =
        request.iter().chain(&response).filter(|change| closed(change) || is_required_but_not_listed(change));
    let differs = breaks(&request) != breaks(&response) && exempt.next().is_none();
    differs.then_some((request, response))
}

#[test]
fn a_narrower_request_is_judged_like_a_wider_response() {
    let (mut pairs, mut breaking) = (0, 0);
    let mut failures: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let make = |dice: &mut Dice| {
        let vocabulary = Vocabulary::random(dice);
        let base = generate::case(dice, vocabulary);
        let revision = edited(dice, &base, vocabulary);
        (base, revision)
    };
    for (base, revision) in generated(4 * CASES, make) {
        if ![&base, &revision].into_iter().all(shrink::is_sound) {
            continue;
        }
        pairs += 1;
        breaking += usize::from(breaks(&changes_in(Direction::Request, &base, &revision)));
        if is_judged_differently(&base, &revision).is_some() {
            let (base, revision) = shrink::pair(base, revision, |base, revision| {
                is_judged_differently(base, revision).is_some()
            });
            let (request, response) = is_judged_differently(&base, &revision).expect("it is a failure");
            let said = format!("request: {}; response: {}", names(&request), names(&response));
            let text = format!("# {said}\n{}", yaml(&base, &revision));
            failures.entry(said).or_insert((0, text)).0 += 1;
        }
    }
    println!(
        "duality: {pairs} pairs, {breaking} breaking, {} judged differently",
        failures.values().map(|(count, _)| count).sum::<usize>()
    );
    let text: String = failures.values().map(|(count, text)| format!("## {count} times\n{text}\n")).collect();
    assert!(breaking > pairs / 10, "only {breaking} of {pairs} pairs break requests");
    assert!(failures.is_empty(), "{text}");
}
