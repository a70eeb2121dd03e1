//! Keywords that no other module compares: extensions, and keywords that OpenAPI 3.0 does not define. They are
//! compared as data, so that no difference is missed.

use std::collections::BTreeMap;

use document::openapi::{Keys, Kind, Object};

use super::comparer::Comparer;
use super::data::difference;
use super::place::At;
use super::rules;
use crate::exception::EXTENSION;

/// Compares the keys of an object that its table of keywords does not list, without those in `except`.
pub(super) fn compare<'a>(cx: &mut Comparer<'a>, old: &Object<'a>, new: &Object<'a>, except: &[&str]) {
    let (base, revision) = (others(old, except), others(new, except));
    compare_entries(cx, base, revision, At::of(new));
}

/// Returns the keys of an object that its table of keywords does not list, without those in `except`.
pub(super) fn others<'a>(object: &Object<'a>, except: &[&str]) -> Vec<(&'a str, At<'a>)> {
    let table = object.kind().table();
    // `required: true` in a property is invalid, but its author means the property.
    let is_misplaced = |key: &str| {
        key == "required"
            && object.kind() == Kind::Schema
            && object.get(key).is_some_and(|at| at.as_bool().is_some())
    };
    let is_known = |key: &str| match table.others.0 {
        _ if is_misplaced(key) => false,
        Keys::Extensions | Keys::Nothing => table.keywords.iter().any(|(keyword, ..)| *keyword == key),
        _ => !key.starts_with("x-"),
    };
    let entries = object.node().entries().iter().map(|entry| entry.key.as_str());
    let unknown = entries.filter(|key| !is_known(key) && !except.contains(key) && *key != EXTENSION);
    unknown.filter_map(|key| Some((key, At::value(object, key)?))).collect()
}

/// Compares values by their keys.
pub(super) fn compare_entries<'a>(
    cx: &mut Comparer<'a>,
    base: Vec<(&'a str, At<'a>)>,
    revision: Vec<(&'a str, At<'a>)>,
    owner: At<'a>,
) {
    let mut entries: BTreeMap<&str, [Option<At<'a>>; 2]> = BTreeMap::new();
    base.into_iter().for_each(|(key, at)| entries.entry(key).or_default()[0] = Some(at));
    revision.into_iter().for_each(|(key, at)| entries.entry(key).or_default()[1] = Some(at));
    for (key, [old, new]) in entries {
        if let Some(what) = difference(&format!("`{key}`"), old.as_deref(), new.as_deref()) {
            let rule =
                if key.starts_with("x-") { &rules::EXTENSION_CHANGED } else { &rules::KEYWORD_CHANGED };
            cx.report(rule, old, new.or(Some(owner)), what);
        }
    }
}
