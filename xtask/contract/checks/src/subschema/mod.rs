//! Decides by meaning whether every value of one schema is a value of another.
//!
//! A comparison of keywords cannot find that `oneOf: [A]` equals `A`, or an enum of integers a range. So each schema
//! is first brought into a normal form: alternatives, each of one JSON type, each a conjunction of everything that holds
//! for it ([`normal`]). Two normal forms are compared alternative by alternative ([`inclusion`], [`within`]). Prior work:
//! Habib et al., "Finding Data Compatibility Bugs with JSON Subschema Checking", ISSTA 2021.
//!
//! "Included" means proven. Where alternatives are too many, or two patterns differ, the result is "not
//! included". The schemas of properties and items stay references to other schemas, which are compared in
//! turn, so recursive schemas are compared like others, and the cost is linear in the size of the documents.

mod budget;
mod format;
mod inclusion;
mod normal;
mod number;
mod shape;
mod unchanged;
mod within;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

pub(crate) use budget::Budget;
pub(crate) use format::{is_base64, restricts_strings};
pub(crate) use inclusion::{Inclusion, Question, Reading};
pub(crate) use number::exact;
use shape::{Case, Shape};
pub(crate) use shape::{canonical, canonical_node};

use document::openapi::{Id, Model, Object};

use crate::pattern::Patterns;
use unchanged::Unchanged;

/// The keywords without effect on validation.
pub(crate) const ANNOTATIONS: [&str; 6] =
    ["title", "description", "example", "externalDocs", "discriminator", "deprecated"];

/// A conjunction of schemas: all of them hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Conjunction(u32);

/// Every value.
const ANY: Conjunction = Conjunction(0);
/// No value, as in `additionalProperties: false`.
const NEVER: Conjunction = Conjunction(1);
/// The value `null`.
const NULL: Conjunction = Conjunction(2);
/// Stands for the schema of `null` among the parts of a conjunction.
const ONLY_NULL: Id = Id::MAX - 1;
/// Stands for a schema without values among the parts of a conjunction.
const NOTHING: Id = Id::MAX;

/// The alternatives are too many or nested too deeply to compare.
#[derive(Clone, Copy, Debug)]
struct Undecided;

/// The alternatives of a schema.
type Normal = Result<Rc<[Case]>, Undecided>;

/// The schemas of two documents. Schemas that are the same data, with all that they lead to, are one.
pub(crate) struct Schemas<'a> {
    models: [&'a Model<'a>; 2],
    unchanged: Unchanged,
    parts: Vec<Vec<Id>>,
    numbers: HashMap<Vec<Id>, Conjunction>,
    /// The normal forms, by conjunction, `hiding` and `may_overlap`.
    normals: HashMap<(Conjunction, Option<&'static str>, bool), Normal>,
    /// The keyword of the properties that are absent: `readOnly` in requests, `writeOnly` in responses.
    hiding: Option<&'static str>,
    /// Whether a value may match several alternatives of `oneOf`, as with `anyOf`.
    may_overlap: bool,
    /// The depth of nested computations of normal forms.
    depth: usize,
    budget: Budget,
    patterns: Patterns,
}

impl<'a> Schemas<'a> {
    /// The schemas of two versions of a document.
    pub(crate) fn new(base: &'a Model<'a>, revision: &'a Model<'a>, budget: Budget) -> Self {
        let (never, null) = (vec![NOTHING], vec![ONLY_NULL]);
        Self {
            models: [base, revision],
            unchanged: Unchanged::of(base, revision),
            numbers: HashMap::from([(Vec::new(), ANY), (never.clone(), NEVER), (null.clone(), NULL)]),
            parts: vec![Vec::new(), never, null],
            normals: HashMap::new(),
            hiding: None,
            may_overlap: false,
            depth: 0,
            budget,
            patterns: Patterns::default(),
        }
    }

    /// Returns the conjunction of these schemas, whose `allOf` is resolved already.
    pub(crate) fn conjunction(&mut self, parts: &[Object<'a>]) -> Conjunction {
        self.numbered(parts.iter().map(|part| self.id(part)).collect())
    }

    /// Returns what identifies a schema of either document.
    fn id(&self, schema: &Object<'a>) -> Id {
        let [base, revision] = self.models;
        let is_new = std::ptr::eq(schema.model(), revision);
        self.unchanged.first[schema.id + if is_new { base.len() } else { 0 }]
    }

    fn schema(&self, id: Id) -> Object<'a> {
        let [base, revision] = self.models;
        id.checked_sub(base.len()).map_or_else(|| base.object(id), |id| revision.object(id))
    }

    /// Whether two conjunctions are the same data, with all that they lead to by references and discriminators.
    pub(crate) fn are_unchanged(&self, base: Conjunction, revision: Conjunction) -> bool {
        let leads = |id: &Id| self.unchanged.leads.get(*id).copied().unwrap_or_default();
        base == revision && !self.parts[base.0 as usize].iter().any(leads)
    }

    /// The conjunction of the schemas at these places.
    fn at(&mut self, places: impl IntoIterator<Item = Object<'a>>) -> Conjunction {
        let budget = self.budget.clone();
        let parts = flattened(places, &mut || budget.spend(1));
        self.conjunction(&parts)
    }

    fn numbered(&mut self, mut parts: Vec<Id>) -> Conjunction {
        parts.sort_unstable();
        parts.dedup();
        let next = Conjunction(u32::try_from(self.parts.len()).unwrap_or(u32::MAX));
        *self.numbers.entry(parts).or_insert_with_key(|parts| {
            self.parts.push(parts.clone());
            next
        })
    }

    /// Returns the conjunction of both. A `readOnly` or `writeOnly` schema keeps its flag even if it has no value.
    fn and(&mut self, one: Conjunction, other: Conjunction) -> Conjunction {
        match (one, other) {
            (NEVER, other) | (other, NEVER)
                if !self.flag(other, "readOnly") && !self.flag(other, "writeOnly") =>
            {
                NEVER
            }
            (ANY, same) | (same, ANY) => same,
            _ if one == other => one,
            _ => {
                self.numbered([one, other].iter().flat_map(|of| self.parts[of.0 as usize].clone()).collect())
            }
        }
    }

    /// Whether certainly no value matches a schema, counting what is known of the lengths of formats.
    pub(crate) fn accepts_nothing(&mut self, schema: Object<'a>) -> bool {
        self.budget.begin();
        let schema = self.at([schema]);
        let is_nothing =
            |case: &Case| matches!(&case.shape, Shape::Text(text) if format::is_contradictory(text));
        self.normal(schema).is_ok_and(|cases| cases.iter().all(is_nothing))
    }

    fn parts(&self, of: Conjunction) -> impl Iterator<Item = Object<'a>> + use<'a> {
        let parts = self.parts[of.0 as usize].iter().filter(|id| **id < ONLY_NULL);
        parts.map(|id| self.schema(*id)).collect::<Vec<_>>().into_iter()
    }

    /// Whether the conjunction includes [`NEVER`].
    fn is_never(&self, of: Conjunction) -> bool {
        self.parts[of.0 as usize].contains(&NOTHING)
    }

    /// Whether the conjunction includes [`NULL`].
    fn is_null(&self, of: Conjunction) -> bool {
        self.parts[of.0 as usize].contains(&ONLY_NULL)
    }

    /// Whether a property with this schema is absent.
    fn is_hidden(&self, of: Conjunction) -> bool {
        self.hiding.is_some_and(|hiding| self.flag(of, hiding))
    }

    /// Whether a keyword is `true` in one of the schemas.
    fn flag(&self, of: Conjunction, keyword: &str) -> bool {
        let mut schemas = self.parts[of.0 as usize].iter().filter(|id| **id < ONLY_NULL);
        schemas.any(|id| self.schema(*id).flag(keyword))
    }
}

/// Returns the schemas at these places and those that their `allOf` adds, with references resolved. Stops when
/// `go_on`, called before each step, returns `false`.
pub(crate) fn flattened<'a>(
    places: impl IntoIterator<Item = Object<'a>>,
    go_on: &mut dyn FnMut() -> bool,
) -> Vec<Object<'a>> {
    let mut parts = Vec::new();
    let mut seen: HashSet<Id> = HashSet::new();
    let mut open: Vec<Object<'a>> = places.into_iter().collect();
    open.reverse();
    while let Some(place) = open.pop() {
        if !go_on() {
            break;
        }
        let Some(part) = place.resolved().filter(|part| seen.insert(part.id)) else { continue };
        parts.push(part);
        let first = open.len();
        open.extend(part.children("allOf"));
        open[first..].reverse();
    }
    parts
}
