//! A schema as the comparison sees it: the conjunction of all its parts, and how the values of two of them differ.

use std::collections::HashSet;

use document::openapi::{Id, Object};

use super::place::At;
use super::rules::Role;
use crate::subschema::{Conjunction, Inclusion, Question, Reading};

/// The keywords of which a value must match an alternative.
pub(super) const UNIONS: [&str; 2] = ["oneOf", "anyOf"];

/// The types of OpenAPI 3.0. Any other name says nothing.
pub(super) const TYPES: [&str; 6] = ["string", "number", "integer", "boolean", "array", "object"];

/// How the values of two schemas differ, for clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Verdict {
    /// Both allow the same values.
    Equal,
    /// Both allow the same values, except for properties that neither document lists.
    Same,
    /// A request may have more values, or a response has fewer.
    Compatible,
    /// A request may have fewer values, or a response has more, or the question is undecided.
    Breaking,
}

impl Verdict {
    /// How the values are read in a role.
    pub(super) fn reading(role: Role) -> Reading {
        match role {
            Role::Parameter | Role::RequiredParameter | Role::RequestText => Reading::RequestText,
            Role::Header | Role::ResponseText => Reading::ResponseText,
            Role::Request => Reading::Request,
            Role::Parts => Reading::Parts,
            Role::Part => Reading::Part,
            Role::Response => Reading::Response,
        }
    }

    pub(super) fn of<'a>(
        inclusion: &mut Inclusion<'a>,
        (base, revision): (&Schema<'a>, &Schema<'a>),
        role: Role,
    ) -> Self {
        let (reading, may_overlap) = (Self::reading(role), false);
        let (old, new) = (base.values, revision.values);
        let keeps = inclusion.includes(Question { narrow: old, wide: new, reading, may_overlap });
        let adds = !inclusion.includes(Question { narrow: new, wide: old, reading, may_overlap });
        let (breaks, changes) = if role.is_request() { (!keeps, adds) } else { (adds, !keeps) };
        match (breaks, changes) {
            (true, _) => Self::Breaking,
            (false, true) => Self::Compatible,
            (false, false) if inclusion.are_equal(old, new) => Self::Equal,
            (false, false) => Self::Same,
        }
    }
}

/// A schema: a conjunction of its parts. Without parts it allows every value.
#[derive(Clone, Debug)]
pub(super) struct Schema<'a> {
    pub(super) parts: Vec<Object<'a>>,
    /// The place of the whole schema.
    pub(super) anchor: Object<'a>,
    /// The conjunction of the parts, in [`crate::subschema`].
    pub(super) values: Conjunction,
    /// Whether a reference in `allOf` leads nowhere or to another file, so that parts are missing.
    pub(super) is_partial: bool,
    /// The unions of which one alternative is among the parts: the part and the keyword.
    pub(super) chosen: Vec<(Id, &'static str)>,
}

impl<'a> Schema<'a> {
    /// The values of a keyword, one for each part that has it.
    pub(super) fn all(&self, keyword: &str) -> impl Iterator<Item = At<'a>> {
        self.parts.iter().filter_map(move |part| At::value(part, keyword))
    }

    /// Whether one of two schemas has no value by the letter, although neither has `not` or two types, and both have
    /// as many unions under each keyword.
    pub(super) fn is_contradictory(&self, other: &Self, inclusion: &mut Inclusion<'a>) -> bool {
        let is_plain = |schema: &Self| {
            let types: HashSet<_> = schema.all("type").filter_map(|at| at.node().as_str()).collect();
            types.len() < 2 && !schema.parts.iter().any(|part| part.has("not"))
        };
        let unions = |of: &Self| UNIONS.map(|keyword| of.all(keyword).count());
        (inclusion.is_empty(self.values) || inclusion.is_empty(other.values))
            && is_plain(self)
            && is_plain(other)
            && unions(self) == unions(other)
    }

    /// The first value of a keyword.
    pub(super) fn first(&self, keyword: &str) -> Option<At<'a>> {
        self.all(keyword).next()
    }

    /// Returns the place where a keyword is true, if any.
    pub(super) fn flag(&self, keyword: &str) -> Option<At<'a>> {
        self.all(keyword).find(|at| at.as_bool() == Some(true))
    }

    /// The schemas under a keyword, of all parts.
    pub(super) fn children(&self, keyword: &str) -> Vec<Object<'a>> {
        let has = self.parts.iter().filter(|part| part.has(keyword));
        has.flat_map(|part| part.children(keyword)).collect()
    }

    /// Whether keywords about values of these types can have an effect.
    pub(super) fn may_be(&self, types: &[&str]) -> bool {
        self.all("type").all(|kind| kind.as_str().is_none_or(|kind| types.contains(&kind)))
    }
}
