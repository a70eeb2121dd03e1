//! Decides whether every value of a schema in one document is a value of a schema in another.

use std::collections::{BTreeSet, HashMap, VecDeque};

use document::openapi::{Model, Object};
use serde_json::Value;

use super::shape::{Case, Count, Members, Shape, Text};
use super::unchanged::Unchanged;
use super::{ANY, Conjunction, NEVER, Patterns, Schemas, are_identical, format};

/// The limit of cases to combine for each question. Real documents need less than ten.
const CASES_PER_QUESTION: usize = 20;

/// One of the two documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Side {
    Base,
    Revision,
}

impl Side {
    fn other(self) -> Self {
        match self {
            Self::Base => Self::Revision,
            Self::Revision => Self::Base,
        }
    }
}

/// How values are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Reading {
    /// Values that clients send: without `readOnly` properties, and without properties that are not listed where
    /// `additionalProperties` is missing.
    Request,
    /// Values that the service sends: without `writeOnly` properties, and without properties that are not listed
    /// where `additionalProperties` is missing.
    Response,
    /// A value that is text when it is sent, so that a string may also be a number.
    Text,
    /// Every value.
    Strict,
}

impl Reading {
    /// Returns the keyword that marks properties as absent.
    fn hiding(self) -> Option<&'static str> {
        match self {
            Self::Request | Self::Text => Some("readOnly"),
            Self::Response => Some("writeOnly"),
            Self::Strict => None,
        }
    }

    /// Returns how the properties and items of the value are read.
    fn nested(self) -> Self {
        if self == Self::Text { Self::Request } else { self }
    }
}

/// Whether all values of a schema are values of a schema of the other document.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Question {
    side: Side,
    narrow: Conjunction,
    wide: Conjunction,
    reading: Reading,
    /// Whether a value may match several alternatives of `oneOf`.
    may_overlap: bool,
}

/// The schemas of two documents, and the questions decided so far.
///
/// A result is assumed to be `true` until a counterexample is found; then the questions that depend on it are
/// decided again. So recursive schemas include each other unless some value is valid against one only.
pub(crate) struct Inclusion<'a> {
    pub(crate) schemas: [Schemas<'a>; 2],
    unchanged: Unchanged,
    numbers: HashMap<Question, usize>,
    questions: Vec<Question>,
    results: Vec<bool>,
    dependents: Vec<Vec<usize>>,
    open: VecDeque<usize>,
    current: usize,
    /// How many more times a question may be decided.
    work: usize,
}

impl<'a> Inclusion<'a> {
    pub(crate) fn new(base: &'a Model<'a>, revision: &'a Model<'a>, work: usize) -> Self {
        Self {
            schemas: [base, revision]
                .map(|model| Schemas::new(model, work.saturating_mul(CASES_PER_QUESTION))),
            unchanged: Unchanged::of(base, revision),
            numbers: HashMap::new(),
            questions: Vec::new(),
            results: Vec::new(),
            dependents: Vec::new(),
            open: VecDeque::new(),
            current: 0,
            work,
        }
    }

    /// Whether it is proven that all values of `narrow`, which is in the document of this side, are values of
    /// `wide`, which is in the other.
    pub(crate) fn includes(
        &mut self,
        side: Side,
        narrow: Conjunction,
        wide: Conjunction,
        reading: Reading,
    ) -> bool {
        self.result(Question { side, narrow, wide, reading, may_overlap: false })
    }

    /// Same as [`Self::includes`] if a value may match several alternatives of `oneOf`, in both documents.
    pub(crate) fn includes_overlapping(
        &mut self,
        side: Side,
        narrow: Conjunction,
        wide: Conjunction,
        reading: Reading,
    ) -> bool {
        self.result(Question { side, narrow, wide, reading, may_overlap: true })
    }

    fn result(&mut self, question: Question) -> bool {
        if self.is_unchanged(question) {
            return true;
        }
        let number = self.number(question);
        while let Some(next) = self.open.pop_front() {
            self.current = next;
            self.work = self.work.saturating_sub(1);
            if self.results[next] && (self.work == 0 || !self.decide(self.questions[next])) {
                self.results[next] = false;
                self.open.extend(std::mem::take(&mut self.dependents[next]));
            }
        }
        self.read(Reading::Strict, false);
        self.results[number]
    }

    /// Sets how the values of both documents are read.
    fn read(&mut self, reading: Reading, may_overlap: bool) {
        for schemas in &mut self.schemas {
            (schemas.hiding, schemas.may_overlap) = (reading.hiding(), may_overlap);
        }
    }

    /// Whether two schemas of one document may have a value in common.
    pub(crate) fn overlap(
        &mut self,
        side: Side,
        (one, other): (Object<'a>, Object<'a>),
        reading: Reading,
    ) -> bool {
        self.read(reading, false);
        let overlap = self.of(side).overlap(one, other);
        self.read(Reading::Strict, false);
        overlap
    }

    fn number(&mut self, question: Question) -> usize {
        let next = self.questions.len();
        let number = *self.numbers.entry(question).or_insert(next);
        if number == next {
            self.questions.push(question);
            self.results.push(true);
            self.dependents.push(Vec::new());
            self.open.push_back(next);
        }
        number
    }

    fn is_unchanged(&self, question: Question) -> bool {
        match question.side {
            Side::Base => self.are_unchanged(question.narrow, question.wide),
            Side::Revision => self.are_unchanged(question.wide, question.narrow),
        }
    }

    /// Whether two conjunctions are the same data, with all that they refer to.
    pub(crate) fn are_unchanged(&self, base: Conjunction, revision: Conjunction) -> bool {
        let parts = |side: Side, of: Conjunction| self.schemas[side as usize].parts[of.0 as usize].as_slice();
        self.unchanged.are_all(parts(Side::Base, base), parts(Side::Revision, revision))
    }

    /// Whether two objects have the same text, without regard to what their references lead to.
    pub(crate) fn is_same_text(&self, base: Object<'a>, revision: Object<'a>) -> bool {
        self.unchanged.is_text(base.id, revision.id)
    }

    /// Returns the result so far, and records that the current question depends on it.
    fn lookup(&mut self, question: Question) -> bool {
        if question.wide == ANY || question.narrow == NEVER || self.is_unchanged(question) {
            return true;
        }
        let number = self.number(question);
        if self.results[number] && self.dependents[number].last() != Some(&self.current) {
            self.dependents[number].push(self.current);
        }
        self.results[number]
    }

    /// Whether two conjunctions have the same values, counting properties that they do not list.
    pub(crate) fn are_equal(&mut self, base: Conjunction, revision: Conjunction) -> bool {
        self.includes(Side::Base, base, revision, Reading::Strict)
            && self.includes(Side::Revision, revision, base, Reading::Strict)
    }

    /// Whether a conjunction certainly has no value.
    pub(crate) fn is_empty(&mut self, side: Side, of: Conjunction) -> bool {
        self.of(side).is_empty(of)
    }

    /// Whether both conjunctions have a normal form.
    pub(crate) fn is_decided(&mut self, base: Conjunction, revision: Conjunction) -> bool {
        self.of(Side::Base).normal(base).is_ok() && self.of(Side::Revision).normal(revision).is_ok()
    }

    /// Whether the work that the size of the documents allows is used up.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.work == 0 || self.schemas.iter().any(Schemas::is_exhausted)
    }

    /// The patterns of the base.
    pub(crate) fn patterns(&mut self) -> &mut Patterns {
        &mut self.of(Side::Base).patterns
    }

    fn of(&mut self, side: Side) -> &mut Schemas<'a> {
        &mut self.schemas[side as usize]
    }

    fn decide(&mut self, question: Question) -> bool {
        self.read(question.reading, question.may_overlap);
        let (side, other) = (question.side, question.side.other());
        let narrow = self.of(side).normal(question.narrow);
        let wide = self.of(other).normal(question.wide);
        let (Ok(narrow), Ok(wide)) = (narrow, wide) else {
            let parts = (self.of(side).parts(question.narrow), self.of(other).parts(question.wide));
            let (ones, others): (Vec<_>, Vec<_>) = (parts.0.collect(), parts.1.collect());
            return ones.len() == others.len() && are_identical(ones.into_iter().zip(others));
        };
        narrow.iter().all(|case| self.is_covered(question, case, &wide))
    }

    /// Whether the values of a case are in the cases of the other side.
    fn is_covered(&mut self, question: Question, case: &Case, wide: &[Case]) -> bool {
        if let Shape::Values(values) = &case.shape {
            // Text cannot express null.
            let is_sent = |value: &&Value| question.reading != Reading::Text || !value.is_null();
            return values
                .values()
                .filter(is_sent)
                .all(|value| wide.iter().any(|wide| self.has(question, wide, value)));
        }
        if wide.iter().any(|wide| self.is_within(question, case, wide, None)) {
            return true;
        }
        // No alternative has all values of the case, but each may have those in which a property has one value.
        let Shape::Object(members) = &case.shape else { return false };
        members.required.iter().any(|name| {
            let Some(schema) = members.property(name) else { return false };
            let Ok(values) = self.of(question.side).normal(schema) else { return false };
            let [Case { shape: Shape::Values(values), .. }] = &*values else { return false };
            values.len() > 1
                && values.values().all(|value| {
                    wide.iter().any(|wide| self.is_within(question, case, wide, Some((name, value))))
                })
        })
    }

    /// Whether a value is in a case of the wide side.
    fn has(&mut self, question: Question, wide: &Case, value: &Value) -> bool {
        if let (Shape::Text(text), Value::String(string)) = (&wide.shape, value)
            && !text.formats.iter().all(|format| format::has(format, string))
        {
            return false;
        }
        let schemas = self.of(question.side.other());
        let as_text = question.reading == Reading::Text && (value.is_number() || value.is_boolean());
        schemas.holds(wide, value) == Some(true)
            || (as_text && schemas.holds(wide, &Value::String(value.to_string())) == Some(true))
    }

    /// Whether all values of a case without a list of values are in another. `fixed` sets a property to one value.
    fn is_within(
        &mut self,
        question: Question,
        narrow: &Case,
        wide: &Case,
        fixed: Option<(&str, &Value)>,
    ) -> bool {
        let nested = Question { reading: question.reading.nested(), ..question };
        let within = match (&narrow.shape, &wide.shape) {
            (Shape::Number(narrow, formats), Shape::Number(wide, demanded)) => {
                wide.includes(narrow) && demanded.is_subset(formats)
            }
            (Shape::Number(..), Shape::Text(text)) if question.reading == Reading::Text => {
                text.length == Count::default() && text.patterns.is_empty() && text.formats.is_empty()
            }
            (Shape::Text(narrow), Shape::Text(wide)) => self.is_text_within(question.side, narrow, wide),
            (Shape::Array(narrow), Shape::Array(wide)) => {
                let none = narrow.count.max == Some(0);
                wide.count.includes(narrow.count)
                    && (!wide.unique || narrow.unique || narrow.count.max.is_some_and(|max| max < 2))
                    && (none || self.lookup(Question { narrow: narrow.items, wide: wide.items, ..nested }))
            }
            (Shape::Object(narrow), Shape::Object(wide)) => {
                self.is_object_within(nested, narrow, wide, fixed)
            }
            _ => false,
        };
        within && wide.except.iter().all(|except| self.is_outside(question, narrow, *except))
    }

    fn is_text_within(&mut self, side: Side, narrow: &Text, wide: &Text) -> bool {
        let patterns = &mut self.of(side).patterns;
        let length = format::length(narrow);
        let counted = wide.length.pattern();
        let is_counted = |wide: &String, patterns: &mut Patterns| {
            narrow.patterns.iter().any(|narrow| patterns.includes(wide, narrow))
        };
        (wide.length.includes(length) || counted.is_some_and(|counted| is_counted(&counted, patterns)))
            && wide.formats.is_subset(&narrow.formats)
            && wide
                .patterns
                .iter()
                .all(|wide| narrow.patterns.iter().any(|narrow| patterns.includes(wide, narrow)))
    }

    fn is_object_within(
        &mut self,
        question: Question,
        narrow: &Members,
        wide: &Members,
        fixed: Option<(&str, &Value)>,
    ) -> bool {
        let is_hidden = |side: Side, schema: Option<Conjunction>| {
            schema.is_some_and(|schema| self.schemas[side as usize].is_hidden(schema))
        };
        let (side, other) = (question.side, question.side.other());
        let names: BTreeSet<&String> =
            narrow.properties.keys().chain(wide.properties.keys()).chain(&wide.required).collect();
        let mut sent = Vec::new();
        let mut least = 0;
        for name in names {
            let hidden = (is_hidden(side, narrow.property(name)), is_hidden(other, wide.property(name)));
            let required =
                (narrow.required.contains(name) && !hidden.0, wide.required.contains(name) && !hidden.1);
            if required == (false, true) {
                return false;
            }
            least += u64::from(required.0);
            if hidden == (false, false) {
                sent.push(name);
            }
        }
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
                match fixed.filter(|(fixed, _)| fixed == name) {
                    Some((_, value)) => self.of(other).accepts(wide, value) == Some(true),
                    None => self.lookup(Question { narrow, wide, ..question }),
                }
            })
            && wide.others.is_none_or(|wide| self.lookup(Question { narrow: unlisted, wide, ..question }))
    }

    /// Whether no value of a case is a value of an excluded schema of the other document: the types, numbers or
    /// strings differ, or the case excludes at least the same values.
    fn is_outside(&mut self, question: Question, narrow: &Case, excluded: Conjunction) -> bool {
        let other = question.side.other();
        let Ok(cases) = self.of(other).normal(excluded) else { return false };
        let differs = |case: &Case| match (&case.shape, &narrow.shape) {
            (Shape::Values(values), _) => values
                .values()
                .all(|value| self.schemas[question.side as usize].holds(narrow, value) == Some(false)),
            (Shape::Number(..), Shape::Number(..)) | (Shape::Text(_), Shape::Text(_)) => {
                self.schemas[question.side as usize].both(&case.shape.clone().into(), narrow).is_none()
            }
            (one, other) => std::mem::discriminant(one) != std::mem::discriminant(other),
        };
        if cases.iter().all(differs) {
            return true;
        }
        let strict =
            Question { side: other, narrow: excluded, wide: ANY, reading: Reading::Strict, ..question };
        narrow.except.iter().any(|except| self.lookup(Question { wide: *except, ..strict }))
    }
}
