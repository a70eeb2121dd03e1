//! Mutants of valid OpenAPI documents: copies that differ in one edit.

use std::collections::HashSet;

use document::shortened;
use fastrand::Rng;
use serde_json::{Value, json};

/// A document with one edit.
pub(super) struct Mutant {
    /// The name of the document and the edit.
    pub(super) what: String,
    /// The text as JSON.
    pub(super) text: String,
}

/// A value in a named document.
struct Target<'b> {
    name: &'b str,
    document: &'b Value,
    pointer: String,
}

/// Returns `number` different mutants of named documents. The same seed gives the same mutants.
pub(super) fn mutants(bases: &[(&str, Value)], number: usize, seed: u64) -> Vec<Mutant> {
    let mut random = Rng::with_seed(seed);
    let targets: Vec<_> = bases.iter().flat_map(|(name, document)| targets(name, document)).collect();
    let mut known = HashSet::new();
    let mut mutants = Vec::new();
    while mutants.len() < number && !targets.is_empty() {
        let mutant = mutant(&targets, &mut random);
        mutants.extend(mutant.filter(|mutant| known.insert(mutant.what.clone())));
    }
    mutants
}

/// Returns a mutant, or `None` if the chosen edit does not apply or changes nothing.
fn mutant(targets: &[Target<'_>], random: &mut Rng) -> Option<Mutant> {
    let Target { name, document, pointer } = random.choice(targets)?;
    let (parent, key) = pointer.rsplit_once('/')?;
    let (new_key, new) = material(targets, pointer, random)?;
    let mut edited = (*document).clone();
    let shown = shortened(&new.to_string());
    let done = if random.bool() {
        *edited.pointer_mut(pointer)? = new;
        format!("is `{shown}`")
    } else {
        let (key, number) = (unescaped(key), key.parse::<usize>());
        match (random.usize(..3), edited.pointer_mut(parent)?) {
            (0, Value::Object(entries)) => entries.remove(&key).map(|_| "is removed".to_owned())?,
            (0, Value::Array(items)) => {
                items.remove(number.ok()?);
                "is removed".to_owned()
            }
            (1, Value::Object(entries)) => {
                let name = if random.bool() { format!("{key}x") } else { new_key };
                let (done, entry) = (format!("is renamed to `{name}`"), entries.remove(&key)?);
                entries.insert(name, entry);
                done
            }
            (1, Value::Array(items)) => {
                items.push(items.get(number.ok()?)?.clone());
                "is repeated".to_owned()
            }
            (_, Value::Object(entries)) => {
                let done = format!("gets `{new_key}: {shown}` beside it");
                entries.insert(new_key, new);
                done
            }
            _ => return None,
        }
    };
    let what = format!("{name}: `{pointer}` {done}");
    (edited != **document).then(|| Mutant { what, text: edited.to_string() })
}

fn unescaped(key: &str) -> String {
    key.replace("~1", "/").replace("~0", "~")
}

/// Returns a key and a value for an edit: unusual ones, or those of a random place, half of the time with the same key.
fn material(targets: &[Target<'_>], pointer: &str, random: &mut Rng) -> Option<(String, Value)> {
    if random.bool() {
        let keys = ["unknown", "x-unknown", "$ref", "200", "2xx", "20", "600", "default", "/{id}", "a b"];
        let values = json!([null, true, 7, -1, 0.5, [], {}, "", "text", "[", "/a/{b}", "3.1.0", "#/paths"]);
        return Some((random.choice(keys)?.to_owned(), random.choice(values.as_array()?)?.clone()));
    }
    let key = |pointer: &str| pointer.rsplit('/').next().map(unescaped).unwrap_or_default();
    let any = random.bool();
    let others = targets.iter().filter(|other| any || key(&other.pointer) == key(pointer));
    let other = random.choice(others.collect::<Vec<_>>())?;
    Some((key(&other.pointer), other.document.pointer(&other.pointer)?.clone()))
}

/// Returns all values of a document except those inside examples and extensions, which have no schema.
fn targets<'b>(name: &'b str, document: &'b Value) -> Vec<Target<'b>> {
    let mut targets = vec![Target { name, document, pointer: String::new() }];
    let mut next = 0;
    while let Some(Target { pointer, .. }) = targets.get(next) {
        let keys: Vec<String> = match document.pointer(pointer) {
            Some(Value::Object(entries)) => entries.keys().cloned().collect(),
            Some(Value::Array(items)) => (0..items.len()).map(|number| number.to_string()).collect(),
            _ => Vec::new(),
        };
        let keys = keys.iter().filter(|key| !key.starts_with("x-") && *key != "example" && *key != "value");
        let below = keys.map(|key| format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1")));
        let below: Vec<_> = below.map(|pointer| Target { name, document, pointer }).collect();
        targets.extend(below);
        next += 1;
    }
    targets
}
