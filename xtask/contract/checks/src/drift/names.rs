//! Compares objects by name, and reports names that only one side has.

use std::collections::{HashMap, HashSet};

use document::openapi::{Kind, Object};
use document::place::{Spot, Subject};
use document::shortened;

use super::{Comparison, Pair, rules};

/// An object with its name.
#[derive(Clone)]
pub(super) struct Named<'a> {
    pub(super) name: String,
    pub(super) object: Object<'a>,
}

impl<'a> Named<'a> {
    /// Returns an object with its key as its name.
    pub(super) fn keyed(object: Object<'a>) -> Self {
        Self::called(object.name(), object)
    }

    /// Returns an object with the name `name`.
    pub(super) fn called(name: &str, object: Object<'a>) -> Self {
        Self { name: name.to_owned(), object }
    }

    /// Returns the place of the name: the key, or the `name` of an item of a list.
    fn spot(&self) -> Spot {
        match self.object.kind() {
            Kind::Parameter | Kind::Tag => self.object.value_spot("name"),
            _ => self.object.spot(),
        }
    }

    /// Returns the name for comparisons. Names of headers are case-insensitive (RFC 9110, section 5.1).
    fn folded(&self) -> String {
        let is_header = match self.object.kind() {
            Kind::Header => true,
            Kind::Parameter => self.name.ends_with(" in header"),
            _ => false,
        };
        if is_header { self.name.to_ascii_lowercase() } else { self.name.clone() }
    }
}

impl Comparison {
    /// Compares the named objects that `list` finds in two objects. `at` is the place where the document would have
    /// a missing one.
    pub(super) fn named<'a>(
        &mut self,
        pair: &Pair<'a>,
        word: &'static str,
        at: &Spot,
        list: impl Fn(Object<'a>) -> Vec<Named<'a>>,
    ) {
        for (document, code) in self.matched(pair, word, at, list(pair.written), list(pair.coded)) {
            self.pair(pair.inner(word, &document.name, document.object, code.object));
        }
    }

    /// Reports the objects that only one side has, and returns the others in pairs.
    pub(super) fn matched<'a>(
        &mut self,
        pair: &Pair<'a>,
        word: &'static str,
        at: &Spot,
        written: Vec<Named<'a>>,
        coded: Vec<Named<'a>>,
    ) -> Vec<(Named<'a>, Named<'a>)> {
        let subject = &pair.subject;
        let (only_written, only_coded) = rules::one_sided(word, pair.written.kind());
        let names: HashSet<String> = written.iter().map(Named::folded).collect();
        let by_name: HashMap<String, &Named<'a>> =
            coded.iter().map(|named| (named.folded(), named)).collect();
        let mut pairs = Vec::new();
        for named in written {
            if let Some(code) = by_name.get(&named.folded()) {
                pairs.push((named, (*code).clone()));
                continue;
            }
            let shown = quoted(word, &shortened(&named.name));
            let fix = format!("Add {shown} to the code, or remove it here.");
            let message = one_sided(subject, &shown, "document", "code");
            let finding = only_written.at(&named.spot()).message(&subject.with(word, &named.name), message);
            let finding = finding.sides(name_or_word(word, &named.name), format!("no such {word}"));
            self.add(finding.fix(fix));
        }
        for named in coded.iter().filter(|named| !names.contains(&named.folded())) {
            let shown = quoted(word, &shortened(&named.name));
            let fix = format!("Remove {shown} from the code, or describe it here.");
            let message = one_sided(subject, &shown, "code", "document");
            let finding = only_coded.at(at).message(&subject.with(word, &named.name), message);
            self.add(finding.sides(format!("no such {word}"), name_or_word(word, &named.name)).fix(fix));
        }
        pairs
    }
}

fn name_or_word(word: &str, name: &str) -> String {
    if name.is_empty() { word.to_owned() } else { shortened(name) }
}

fn quoted(word: &str, name: &str) -> String {
    if name.is_empty() { format!("the {word}") } else { format!("{word} `{name}`") }
}

fn one_sided(subject: &Subject, shown: &str, here: &str, there: &str) -> String {
    match subject.parts() {
        [] => format!("{shown} is in the {here}, but not in the {there}."),
        _ => format!("{subject} has {shown} in the {here}, but not in the {there}."),
    }
}
