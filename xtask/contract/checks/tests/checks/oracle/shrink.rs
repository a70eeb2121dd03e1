//! Reduces a pair of schemas that fails a test to a smaller pair that still fails.

use serde_json::Value;

use super::case::Case;
use super::edit::places;

/// The limit of attempts for one pair.
const MAX_ATTEMPTS: usize = 1500;

/// Returns the smallest pair found for which `fails` holds.
pub(crate) fn pair(base: Case, revision: Case, fails: impl Fn(&Case, &Case) -> bool) -> (Case, Case) {
    let mut pair = [base, revision];
    let mut attempts = 0;
    'again: loop {
        for candidate in smaller(&pair) {
            attempts += 1;
            if attempts > MAX_ATTEMPTS {
                break 'again;
            }
            if candidate.iter().all(is_sound) && fails(&candidate[0], &candidate[1]) {
                pair = candidate;
                continue 'again;
            }
        }
        break;
    }
    let [base, revision] = pair;
    (base, revision)
}

/// Returns the smallest case found for which `fails` holds.
pub(crate) fn one(case: Case, fails: impl Fn(&Case) -> bool) -> Case {
    pair(case.clone(), case, |one, other| one == other && fails(one)).0
}

/// A case with every schema in one tree.
fn tree(case: &Case) -> Value {
    serde_json::json!({"schema": case.schema, "components": case.components})
}

fn case(tree: &Value) -> Case {
    Case {
        schema: tree["schema"].clone(),
        components: tree["components"].as_object().cloned().unwrap_or_default(),
    }
}

fn schemas(tree: &Value) -> Vec<String> {
    let mut found: Vec<String> =
        places(&tree["schema"]).into_iter().map(|place| format!("/schema{place}")).collect();
    for (name, schema) in tree["components"].as_object().into_iter().flatten() {
        found.extend(places(schema).into_iter().map(|place| format!("/components/{name}{place}")));
    }
    found.sort_by_key(String::len);
    found
}

/// An edit that makes a tree smaller.
enum Cut {
    /// Replaces a schema by a schema inside it.
    Hoist(String, String),
    /// Removes a key or item.
    Remove(String, String),
    /// Replaces a value.
    Set(String, Value),
}

impl Cut {
    fn apply(&self, tree: &Value) -> Option<Value> {
        let mut tree = tree.clone();
        match self {
            Self::Hoist(at, below) => {
                let inner = tree.pointer(&format!("{at}{below}"))?.clone();
                *tree.pointer_mut(at)? = inner;
            }
            Self::Remove(at, key) => match tree.pointer_mut(at)? {
                Value::Object(map) => drop(map.remove(key)?),
                Value::Array(list) => {
                    let index: usize = key.parse().ok()?;
                    if index >= list.len() || list.len() == 1 {
                        return None;
                    }
                    list.remove(index);
                }
                _ => return None,
            },
            Self::Set(at, value) => *tree.pointer_mut(at)? = value.clone(),
        }
        Some(tree)
    }
}

fn cuts(tree: &Value) -> Vec<Cut> {
    let mut cuts = Vec::new();
    for at in schemas(tree) {
        let schema = tree.pointer(&at).expect("it was listed");
        let below: Vec<String> = places(schema).into_iter().filter(|place| !place.is_empty()).collect();
        cuts.extend(below.into_iter().map(|below| Cut::Hoist(at.clone(), below)));
        if let Some(name) = schema["$ref"].as_str().map(super::judge::component) {
            let there = &tree["components"][name];
            if !there.to_string().contains("$ref") {
                cuts.push(Cut::Set(at.clone(), there.clone()));
            }
        }
        for (keyword, value) in schema.as_object().into_iter().flatten() {
            cuts.push(Cut::Remove(at.clone(), keyword.clone()));
            let here = format!("{at}/{keyword}");
            match value {
                Value::Array(list) if keyword != "items" => {
                    cuts.extend((0..list.len()).map(|index| Cut::Remove(here.clone(), index.to_string())));
                }
                Value::Object(map) if keyword == "properties" => {
                    cuts.extend(map.keys().map(|name| Cut::Remove(here.clone(), name.clone())));
                }
                Value::Object(map) if !map.is_empty() => cuts.push(Cut::Set(here, serde_json::json!({}))),
                _ => {}
            }
        }
    }
    for name in tree["components"].as_object().into_iter().flatten().map(|(name, _)| name) {
        cuts.push(Cut::Remove("/components".to_owned(), name.clone()));
    }
    cuts
}

/// Smaller pairs: the same cut in both, then cuts in one of them.
fn smaller(pair: &[Case; 2]) -> impl Iterator<Item = [Case; 2]> + use<> {
    let trees = [tree(&pair[0]), tree(&pair[1])];
    let all = [cuts(&trees[0]), cuts(&trees[1])];
    let mut found = Vec::new();
    for cut in &all[0] {
        if let (Some(base), Some(revision)) = (cut.apply(&trees[0]), cut.apply(&trees[1])) {
            found.push([base, revision]);
        }
    }
    for cut in &all[0] {
        found.extend(cut.apply(&trees[0]).map(|base| [base, trees[1].clone()]));
    }
    for cut in &all[1] {
        found.extend(cut.apply(&trees[1]).map(|revision| [trees[0].clone(), revision]));
    }
    found.into_iter().map(|pair| pair.map(|tree| case(&tree)))
}

/// Whether the schemas are valid, refer to components that exist, and do not only refer to themselves.
pub(crate) fn is_sound(case: &Case) -> bool {
    let tree = tree(case);
    schemas(&tree).iter().all(|at| {
        let schema = tree.pointer(at).expect("it was listed");
        let refers = schema["$ref"].as_str().map(super::judge::component);
        let has_items = schema["type"] != "array" || schema["items"].is_object();
        let is_read_and_written = schema["readOnly"] == true && schema["writeOnly"] == true;
        schema.is_object()
            && refers.is_none_or(|name| case.components.contains_key(name))
            && has_items
            && !is_read_and_written
    }) && schemas(&tree).iter().all(|at| {
        // Elsewhere the meaning of a discriminator depends on the schemas around it.
        let discriminator = &tree.pointer(at).expect("it was listed")["discriminator"];
        discriminator.is_null() || at == "/components/Pet"
    }) && case.components.keys().all(|name| !reaches(case, &case.components[name], name, 8))
}

/// Whether a schema refers to a component for the same value.
fn reaches(case: &Case, schema: &Value, name: &str, depth: usize) -> bool {
    if let Some(other) = schema["$ref"].as_str().map(super::judge::component) {
        let there = case.components.get(other);
        return other == name
            || depth == 0
            || there.is_some_and(|there| reaches(case, there, name, depth - 1));
    }
    let parts =
        ["allOf", "oneOf", "anyOf"].into_iter().filter_map(|keyword| schema[keyword].as_array()).flatten();
    parts.chain(schema.get("not")).any(|part| reaches(case, part, name, depth))
}
