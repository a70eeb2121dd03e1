//! Values at the boundaries of several schemas.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use super::case::{Case, Dice, Direction};
use super::generate::PATTERNS;
use super::judge::{Judge, Part, component, plain};

/// The number of values for one pair.
pub(crate) const FEW: usize = 260;
/// The number of values if none is found among `FEW`.
pub(crate) const MANY: usize = 20_000;
/// The number of values of an item or a property.
const MAX_INSIDE: usize = 24;

/// The keywords of all schemas of one place that restrict its values.
#[derive(Default)]
struct Facets<'a> {
    numbers: BTreeSet<i64>,
    factors: BTreeSet<i64>,
    lengths: BTreeSet<usize>,
    counts: BTreeSet<usize>,
    constants: Vec<Value>,
    items: Vec<Sub<'a>>,
    properties: BTreeMap<&'a str, Vec<Sub<'a>>>,
    additional: Vec<Sub<'a>>,
    /// The properties that one schema lists, and those that it requires.
    groups: BTreeSet<BTreeSet<&'a str>>,
}

/// A schema and the case that has it.
type Sub<'a> = (&'a Value, &'a Case);

/// The state of a search for values.
struct Search {
    dice: Dice,
    direction: Direction,
    /// The limit of values.
    most: usize,
}

/// The values of a discriminator.
static CHOSEN: LazyLock<Value> = LazyLock::new(|| json!({"enum": ["Pet", "Cat", "Dog", "cat"]}));

/// Numbers are counted in thousandths.
const UNIT: f64 = 1000.0;

fn thousandths(value: &Value) -> Option<i64> {
    value.as_f64().filter(|number| number.abs() < 1e9).map(|number| (number * UNIT).round() as i64)
}

fn number(thousandths: i64) -> Value {
    plain(&json!(thousandths as f64 / UNIT))
}

/// Values near the limits of these schemas, the same for the same schemas.
pub(crate) fn values(direction: Direction, schemas: &[&Case], most: usize) -> Vec<Value> {
    let subs: Vec<Sub<'_>> = schemas.iter().map(|case| (&case.schema, *case)).collect();
    let mut search = Search { dice: Dice::new(7), direction, most };
    let mut found = candidates(&mut search, &subs, 3);
    let mut seen = BTreeSet::new();
    found.retain(|value| seen.insert(value.to_string()));
    found.truncate(most);
    found
}

fn candidates(search: &mut Search, subs: &[Sub<'_>], depth: usize) -> Vec<Value> {
    let mut facets = Facets::default();
    for (schema, case) in subs {
        gather(&mut facets, schema, case, 6);
    }
    let mut found = facets.constants.clone();
    found.extend([json!(null), json!(true), json!(false), json!({}), json!([])]);
    numbers(&facets, &mut found);
    strings(&facets, &mut found);
    if depth > 0 {
        arrays(search, &facets, depth, &mut found);
        objects(search, &facets, depth, &mut found);
    }
    found
}

/// Adds the keywords of a schema that apply to the value itself.
fn gather<'a>(facets: &mut Facets<'a>, schema: &'a Value, case: &'a Case, depth: usize) {
    if let Some(reference) = schema["$ref"].as_str() {
        if depth > 0 {
            gather(facets, &case.components[component(reference)], case, depth - 1);
        }
        return;
    }
    let count = |keyword: &str| schema[keyword].as_u64().and_then(|count| usize::try_from(count).ok());
    facets.numbers.extend(["minimum", "maximum"].iter().filter_map(|keyword| thousandths(&schema[*keyword])));
    facets.factors.extend(thousandths(&schema["multipleOf"]));
    facets.lengths.extend(["minLength", "maxLength"].iter().filter_map(|keyword| count(keyword)));
    facets
        .counts
        .extend(["minItems", "maxItems", "minProperties", "maxProperties"].iter().filter_map(|k| count(k)));
    facets.constants.extend(schema["enum"].as_array().into_iter().flatten().map(plain));
    match schema["format"].as_str() {
        Some("int32") => facets.constants.extend([
            json!(i32::MAX),
            json!(2_147_483_648_i64),
            json!(i32::MIN),
            json!(-2_147_483_649_i64),
        ]),
        Some("int64") => facets.constants.extend([
            json!(i64::MAX),
            json!(9_223_372_036_854_775_808_u64),
            json!(i64::MIN),
            json!(-1e19),
        ]),
        _ => {}
    }
    if schema["items"].is_object() {
        facets.items.push((&schema["items"], case));
    }
    if schema["additionalProperties"].is_object() {
        facets.additional.push((&schema["additionalProperties"], case));
    }
    let listed = schema["properties"].as_object();
    for (name, property) in listed.into_iter().flatten() {
        facets.properties.entry(name).or_default().push((property, case));
    }
    let required: BTreeSet<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for name in &required {
        facets.properties.entry(name).or_default();
    }
    let mut all = required.clone();
    all.extend(listed.into_iter().flatten().map(|(name, _)| name.as_str()));
    facets.groups.extend([required, all]);
    if let (Some(property), true) = (schema["discriminator"]["propertyName"].as_str(), depth > 0) {
        facets.properties.entry(property).or_default().push((&CHOSEN, case));
        for subtype in case.components.values().filter(|schema| schema["allOf"].is_array()) {
            gather(facets, subtype, case, depth - 1);
        }
    }
    if depth > 0 {
        for part in
            ["allOf", "oneOf", "anyOf"].iter().filter_map(|keyword| schema[*keyword].as_array()).flatten()
        {
            gather(facets, part, case, depth - 1);
        }
        if schema["not"].is_object() {
            gather(facets, &schema["not"], case, depth - 1);
        }
    }
}

fn numbers(facets: &Facets<'_>, found: &mut Vec<Value>) {
    let mut points = BTreeSet::from([0, 1000, -1000, 500, 11_000, 1_234_000]);
    for bound in &facets.numbers {
        points.extend([-1000, -500, -370, 0, 370, 500, 1000].map(|step| bound + step));
        // The multiples on both sides of the bound, and of products of factors.
        for factor in facets.factors.iter().filter(|factor| **factor > 0) {
            let below = bound.div_euclid(*factor) * factor;
            points.extend([below - factor, below, below + factor, below + 2 * factor]);
        }
    }
    for factor in &facets.factors {
        points.extend([1, 2, 3, 4, 5, 6, 12, -1].map(|times| factor * times));
        points.insert(factor / 2);
    }
    found.extend(points.into_iter().map(number));
}

fn strings(facets: &Facets<'_>, found: &mut Vec<Value>) {
    let mut lengths = BTreeSet::from([0, 1, 2, 3]);
    for length in &facets.lengths {
        lengths.extend([length.saturating_sub(1), *length, length + 1]);
    }
    let fill = |alphabet: &str, length| alphabet.chars().cycle().take(length).collect::<String>();
    for length in lengths {
        for alphabet in ["a", "ab", "b", "Z", "é", "7", "b7", "-a"] {
            found.push(json!(fill(alphabet, length)));
        }
    }
    debug_assert_eq!(PATTERNS.len(), 7, "the strings are made for these patterns");
}

/// Returns the candidates for a part of a value: first those that all schemas accept, then those that some accept.
fn inside(search: &mut Search, subs: &[Sub<'_>], depth: usize) -> Vec<Value> {
    let mut found = candidates(search, subs, depth - 1);
    let mut judges = Vec::new();
    for (schema, case) in subs {
        let case = Case { schema: (*schema).clone(), components: case.components.clone() };
        judges.extend([Part::Sender, Part::Receiver].map(|part| Judge::new(&case, search.direction, part)));
    }
    let mut seen = BTreeSet::new();
    found.retain(|value| seen.insert(value.to_string()));
    // Grouped by the schemas that accept them, the most accepted first.
    let mut groups: BTreeMap<(usize, Vec<bool>), Vec<Value>> = BTreeMap::new();
    for value in found {
        let refusals: Vec<bool> = judges.iter().map(|judge| !judge.accepts(&value)).collect();
        let number = refusals.iter().filter(|refused| **refused).count();
        groups.entry((number, refusals)).or_default().push(value);
    }
    let mut kept: Vec<(usize, Value)> = Vec::new();
    while kept.len() < MAX_INSIDE && groups.values().any(|group| !group.is_empty()) {
        for ((refusals, _), group) in groups.iter_mut().filter(|(_, group)| !group.is_empty()) {
            kept.push((*refusals, group.swap_remove(search.dice.below(group.len()))));
        }
    }
    kept.sort_by_key(|(refusals, _)| *refusals);
    kept.into_iter().map(|(_, value)| value).collect()
}

fn arrays(search: &mut Search, facets: &Facets<'_>, depth: usize, found: &mut Vec<Value>) {
    if facets.items.is_empty() && facets.counts.is_empty() {
        found.push(json!([1]));
        return;
    }
    let items = inside(search, &facets.items, depth);
    let mut counts = BTreeSet::from([0, 1, 2]);
    for count in &facets.counts {
        counts.extend([count.saturating_sub(1), *count, count + 1]);
    }
    // Items that one of the schemas accepts together, then items that all of them accept.
    let mut lists: Vec<Vec<Value>> = facets.items.iter().map(|sub| inside(search, &[*sub], depth)).collect();
    lists.dedup();
    lists.push(items.clone());
    for (list, count) in lists.iter().flat_map(|list| counts.iter().map(move |count| (list, *count))) {
        let differing: Vec<&Value> = list.iter().take(count).collect();
        found.push(json!(differing));
        found.push(json!(vec![&list[0]; count]));
    }
    found.extend(items.iter().map(|item| json!([item])));
    found.extend(items.iter().skip(1).map(|item| json!([items[0], item])));
}

fn objects(search: &mut Search, facets: &Facets<'_>, depth: usize, found: &mut Vec<Value>) {
    if facets.properties.is_empty() && facets.additional.is_empty() && facets.counts.is_empty() {
        found.push(json!({"z": 1}));
        return;
    }
    let additional = match facets.additional.is_empty() {
        true => vec![json!(1), json!("a")],
        false => inside(search, &facets.additional, depth),
    };
    let mut properties: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for (name, subs) in &facets.properties {
        // The schema of unlisted properties applies to a property that only `required` names.
        let mut all = subs.clone();
        all.extend(&facets.additional);
        let mut values = inside(search, &all, depth);
        if subs.is_empty() {
            values.truncate(2);
        }
        properties.insert(name, values);
    }
    let object = |names: &BTreeSet<&str>, choose: &mut dyn FnMut(&[Value]) -> Value| {
        names.iter().map(|name| ((*name).to_owned(), choose(&properties[name]))).collect::<Map<_, _>>()
    };
    let mut groups: BTreeSet<BTreeSet<&str>> = facets.groups.clone();
    for one in &facets.groups {
        groups.extend(facets.groups.iter().map(|other| one.union(other).copied().collect()));
    }
    let all: BTreeSet<&str> = properties.keys().copied().collect();
    groups.extend(all.iter().map(|name| all.iter().filter(|other| *other != name).copied().collect()));
    groups.insert(all);
    let mut seeds: Vec<(BTreeSet<&str>, Map<String, Value>)> = Vec::new();
    for names in groups {
        let seed = object(&names, &mut |values| values[0].clone());
        seeds.push((names, seed));
    }
    let mut objects: Vec<Map<String, Value>> = seeds.iter().map(|(_, seed)| seed.clone()).collect();
    for (names, seed) in &seeds {
        for name in properties.keys() {
            let mut other = seed.clone();
            if other.remove(*name).is_none() {
                other.insert((*name).to_owned(), properties[name][0].clone());
            }
            objects.push(other);
        }
        for value in additional.iter().take(4) {
            let mut other = seed.clone();
            other.insert("z".to_owned(), value.clone());
            objects.push(other);
        }
        let mut two = seed.clone();
        two.extend([("z".to_owned(), additional[0].clone()), ("y".to_owned(), additional[0].clone())]);
        objects.push(two);
        for _ in 0..search.most / 80 {
            objects.push(object(names, &mut |values| values[search.dice.below(values.len().min(4))].clone()));
        }
    }
    // Each value of each property: alone, in what one schema lists, in the largest object, in a random one.
    let listed: Vec<usize> =
        (0..seeds.len()).filter(|seed| facets.groups.contains(&seeds[*seed].0)).collect();
    for (name, values) in &properties {
        for value in values {
            objects.push(Map::from_iter([((*name).to_owned(), value.clone())]));
            for seed in [
                *search.dice.pick(&listed),
                *search.dice.pick(&listed),
                seeds.len() - 1,
                search.dice.below(seeds.len()),
            ] {
                let mut other = seeds[seed].1.clone();
                other.insert((*name).to_owned(), value.clone());
                objects.push(other.clone());
                if search.dice.chance(25) {
                    other.insert("z".to_owned(), additional[0].clone());
                    objects.push(other);
                }
            }
        }
    }
    for count in &facets.counts {
        for number in [count.saturating_sub(1), *count, count + 1] {
            let names = (0..number).map(|index| (format!("z{index}"), additional[0].clone()));
            objects.push(names.collect());
        }
    }
    let mut objects: Vec<Value> = objects.into_iter().map(Value::Object).collect();
    let mut seen = BTreeSet::new();
    objects.retain(|value| seen.insert(value.to_string()));
    // The seeds come first.
    let fixed = seeds.len().min(search.most / 4);
    while objects.len() > search.most - 40 {
        objects.remove(fixed + search.dice.below(objects.len() - fixed));
    }
    // The objects come first, because the schemas are mostly about objects.
    found.splice(0..0, objects);
}
