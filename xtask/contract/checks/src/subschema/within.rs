//! Decides whether the values of one alternative are in the alternatives of another schema.

use std::collections::BTreeSet;

use serde_json::Value;

use super::inclusion::{Inclusion, Question, Reading};
use super::shape::{Case, Count, Members, Shape};
use super::{ANY, Conjunction, NEVER, format};

impl Inclusion<'_> {
    /// Whether the values of a case are in the cases of the other side.
    pub(super) fn is_covered(&mut self, question: Question, case: &Case, wide: &[Case]) -> bool {
        if let Shape::Values(values) = &case.shape {
            // Text cannot express null.
            let is_sent = |value: &Value| !(question.reading.is_text() && value.is_null());
            let mut sent = values.iter().filter(|(_, value)| is_sent(value));
            return sent.all(|(key, value)| wide.iter().any(|wide| self.has(question, wide, key, value)));
        }
        wide.iter().any(|wide| self.is_within(question, case, wide))
    }

    /// Whether a value is in a case of the wide side.
    fn has(&mut self, question: Question, wide: &Case, key: &str, value: &Value) -> bool {
        let schemas = &mut self.schemas;
        let as_text = question.reading.is_text() && (value.is_number() || value.is_boolean());
        schemas.holds_listed(wide, key, value) == Some(true)
            || (as_text && schemas.holds(wide, &Value::String(value.to_string())) == Some(true))
    }

    /// Whether all values of a case without a list of values are in another.
    fn is_within(&mut self, question: Question, narrow: &Case, wide: &Case) -> bool {
        if !self.budget.spend(narrow.size() + wide.size()) {
            return false;
        }
        let within = match (&narrow.shape, &wide.shape) {
            (Shape::Number(narrow, formats), Shape::Number(wide, demanded)) => {
                wide.includes(narrow) && demanded.is_subset(formats)
            }
            (Shape::Number(..), Shape::Text(text)) if question.reading.is_text() => {
                text.length == Count::default() && text.patterns.is_empty() && text.formats.is_empty()
            }
            (Shape::Text(narrow), Shape::Text(wide)) => {
                wide.length.includes(format::length(narrow))
                    && wide.formats.is_subset(&narrow.formats)
                    && wide.patterns.is_subset(&narrow.patterns)
            }
            (Shape::Array(narrow), Shape::Array(wide)) => {
                let none = narrow.count.max == Some(0);
                wide.count.includes(narrow.count)
                    && (!wide.unique || narrow.unique || narrow.count.max.is_some_and(|max| max < 2))
                    && (none || self.lookup(Question { narrow: narrow.items, wide: wide.items, ..question }))
            }
            (Shape::Object(narrow), Shape::Object(wide)) => self.is_object_within(question, narrow, wide),
            _ => false,
        };
        within && wide.except.iter().all(|except| self.is_outside(question, narrow, *except))
    }

    fn is_object_within(&mut self, question: Question, narrow: &Members, wide: &Members) -> bool {
        let is_hidden =
            |of: &Members, name: &str| of.property(name).is_some_and(|schema| self.schemas.is_hidden(schema));
        let reading = question.reading.property();
        let is_sent = |name: &String| !is_hidden(narrow, name) && !is_hidden(wide, name);
        let is_required = |name: &String| narrow.required.contains(name) && !is_hidden(narrow, name);
        if wide.required.iter().any(|name| !is_required(name) && !is_hidden(wide, name)) {
            return false;
        }
        let least = narrow.required.iter().filter(|name| is_required(name)).count() as u64;
        let is_new = |name: &&String| !narrow.properties.contains_key(*name);
        let others = wide.properties.keys().filter(is_new);
        let undescribed =
            wide.required.iter().filter(|name| is_new(name) && !wide.properties.contains_key(*name));
        let names = narrow.properties.keys().chain(others).chain(undescribed);
        let sent: Vec<_> = names.filter(|name| is_sent(name)).collect();
        // If the schema lists properties, others are sent only if `additionalProperties` allows them.
        let unlisted = match narrow.others {
            None if question.reading == Reading::Strict || !narrow.lists => ANY,
            None => NEVER,
            Some(others) => others,
        };
        let mut count = narrow.count;
        count.min = count.min.max(least);
        if unlisted == NEVER {
            let listed = narrow.properties.iter().filter(|(_, schema)| **schema != NEVER);
            let most =
                listed.map(|(name, _)| name).chain(&narrow.required).collect::<BTreeSet<_>>().len() as u64;
            count.max = Some(count.max.map_or(most, |max| max.min(most)));
        }
        let within = wide.count == Count::default() || wide.count.includes(count);
        within
            && sent.into_iter().all(|name| {
                let required = narrow.required.contains(name).then_some(ANY);
                let narrow =
                    narrow.properties.get(name).copied().or(narrow.others).or(required).unwrap_or(unlisted);
                let wide = wide.property(name).unwrap_or(ANY);
                self.lookup(Question { narrow, wide, reading, ..question })
            })
            && wide
                .others
                .is_none_or(|wide| self.lookup(Question { narrow: unlisted, wide, reading, ..question }))
    }

    /// Whether no value of a case is a value of an excluded schema: what they have in common is excluded from the case too.
    fn is_outside(&mut self, question: Question, narrow: &Case, excluded: Conjunction) -> bool {
        let Ok(cases) = self.schemas.normal(excluded) else { return false };
        let own = Case::from(narrow.shape.clone());
        let strict = Question { reading: Reading::Strict, ..question };
        cases.iter().all(|case| {
            let Some(common) = self.schemas.both(case, &own) else { return !self.budget.is_cut() };
            narrow.except.iter().any(|except| {
                let wide = self.schemas.normal(*except);
                wide.is_ok_and(|wide| self.is_covered(strict, &common, &wide))
            })
        })
    }
}
