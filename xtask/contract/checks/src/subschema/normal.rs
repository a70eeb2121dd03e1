//! The normal form of a schema: its alternatives, each of one JSON type.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use document::Node;
use document::openapi::{Id, Object};
use num_traits::Signed;
use serde_json::Value;

use super::number::{End, Range, exact};
use super::shape::{Array, Case, Count, Formats, Members, Shape, Text, canonical, canonical_node};
use super::{ANNOTATIONS, ANY, Conjunction, NEVER, NULL, Normal, Schemas, Undecided, flattened, format};
use crate::pattern::is_universal;

/// The limit of alternatives of a schema.
const MAX_CASES: usize = 200;
/// The limit of nested alternatives.
const MAX_LEVELS: usize = 60;
/// The limit of values by which a range of integers is replaced.
const MAX_VALUES: i64 = 64;

impl<'a> Schemas<'a> {
    /// Returns the alternatives of a conjunction, none if no value is valid.
    pub(super) fn normal(&mut self, of: Conjunction) -> Normal {
        let key = (of, self.hiding, self.may_overlap);
        if let Some(known) = self.normals.get(&key) {
            return known.clone();
        }
        if self.depth > MAX_LEVELS {
            return Err(Undecided);
        }
        // A normal form that depends on itself is undecided.
        self.normals.insert(key, Err(Undecided));
        self.depth += 1;
        let cases = self.alternatives(of);
        self.depth -= 1;
        let normal = cases.map(|cases| self.merged(cases).into());
        if self.budget.is_cut() {
            // Another question may have more steps left.
            self.normals.remove(&key);
            return Err(Undecided);
        }
        self.normals.insert(key, normal.clone());
        normal
    }

    fn alternatives(&mut self, of: Conjunction) -> Result<Vec<Case>, Undecided> {
        if self.is_never(of) {
            return Ok(Vec::new());
        }
        let null = || Some(vec![Case::from(Shape::values([Value::Null]))]);
        if self.is_null(of) {
            return self.restricted(null(), of, self.parts(of), &["oneOf", "anyOf"]);
        }
        let mut cases = self.restricted(None, of, self.parts(of), &["oneOf", "anyOf"])?;
        let around = self.parts(of).filter(is_nullable_around).collect::<Vec<_>>();
        if !around.is_empty() {
            // Null does not have to match what the schemas with `nullable` combine.
            let combined = flattened(around.iter().flat_map(|part| part.children("allOf")), &mut || true);
            let combined: HashSet<Id> = combined.iter().map(|part| self.id(part)).collect();
            let (own, others): (Vec<_>, Vec<_>) = self
                .parts(of)
                .filter(|part| !combined.contains(&self.id(part)))
                .partition(|part| around.contains(part));
            let nulls = self.restricted(null(), of, own, &[])?;
            cases.extend(self.restricted(Some(nulls), of, others, &["oneOf", "anyOf"])?);
        }
        Ok(cases)
    }

    /// Returns the values of the cases, or else of all, that are values of each of these schemas, of which unions only
    /// under `unions`.
    fn restricted(
        &mut self,
        mut cases: Option<Vec<Case>>,
        of: Conjunction,
        parts: impl IntoIterator<Item = Object<'a>>,
        unions: &[&str],
    ) -> Result<Vec<Case>, Undecided> {
        for part in parts {
            let own = self.own(&part);
            let mut left = match cases {
                Some(cases) => self.product(&cases, &own)?,
                None => own,
            };
            if let Some(list) = part.get("enum") {
                // With `nullable`, authors leave null out of the list.
                let null = part.flag("nullable").then_some(Value::Null);
                let values = list.items().iter().map(|item| (canonical_node(item), item.to_json()));
                let values = Shape::Values(values.chain(null.map(|null| (canonical(&null), null))).collect());
                left = self.product(&left, &[values.into()])?;
            }
            for keyword in unions {
                if self.is_subtype(of, &part, keyword) {
                    continue;
                }
                if let Some(union) = self.union(&part, keyword)? {
                    left = self.product(&left, &union)?;
                }
            }
            for excluded in part.children("not") {
                let excluded = self.at([excluded]);
                left = self.without(left, &[excluded])?;
            }
            cases = Some(left);
        }
        Ok(cases.unwrap_or_else(|| Shape::every().map(Case::from).into()))
    }

    fn product(&mut self, ones: &[Case], others: &[Case]) -> Result<Vec<Case>, Undecided> {
        let mut cases = Vec::new();
        for one in ones {
            for other in others {
                cases.extend(self.both(one, other));
                if cases.len() > MAX_CASES || self.budget.is_cut() {
                    return Err(Undecided);
                }
            }
        }
        Ok(cases)
    }

    /// Returns the cases without the values of schemas. A case with some of the values of one gets it as an exception.
    fn without(&mut self, cases: Vec<Case>, excluded: &[Conjunction]) -> Result<Vec<Case>, Undecided> {
        let normals: Vec<Normal> = excluded.iter().map(|schema| self.normal(*schema)).collect();
        let mut left = Vec::new();
        'cases: for case in cases {
            let mut except = BTreeSet::new();
            for (schema, normal) in excluded.iter().zip(&normals) {
                match normal {
                    Ok(others) if others.iter().all(|other| self.both(&case, other).is_none()) => {}
                    Ok(others) if others.iter().any(|other| is_whole(other, &case)) => continue 'cases,
                    _ => drop(except.insert(*schema)),
                }
                if self.budget.is_cut() {
                    return Err(Undecided);
                }
            }
            let exception = Case { except, ..case.clone() };
            left.extend(if exception.except.is_empty() { Some(case) } else { self.both(&case, &exception) });
        }
        Ok(left)
    }

    /// Merges all lists of values and short ranges of integers into one list.
    fn merged(&mut self, cases: Vec<Case>) -> Vec<Case> {
        let mut merged = Vec::new();
        let mut values = BTreeMap::new();
        for mut case in joined(cases) {
            if let Shape::Number(range, formats) = &case.shape
                && formats.is_empty()
                && let Some(numbers) = range.listed(MAX_VALUES)
            {
                let listed = Shape::values(numbers.into_iter().map(Value::Number)).into();
                let Some(both) = self.both(&case, &listed) else { continue };
                case = both;
            }
            match case.shape {
                Shape::Values(listed) if self.excludes_none(&case.except, &listed) => values.extend(listed),
                shape => merged.push(Case { shape, ..case }),
            }
        }
        if !values.is_empty() {
            merged.push(Shape::Values(values).into());
        }
        merged
    }

    /// Whether certainly none of the values is in one of the schemas.
    fn excludes_none(&mut self, except: &BTreeSet<Conjunction>, values: &BTreeMap<String, Value>) -> bool {
        except.iter().all(|except| values.values().all(|value| self.accepts(*except, value) == Some(false)))
    }

    /// Returns the alternatives under a keyword, if the schema has it. With a discriminator each value selects one
    /// alternative, so the alternatives of `oneOf` do not exclude each other.
    fn union(&mut self, part: &Object<'a>, keyword: &str) -> Result<Option<Vec<Case>>, Undecided> {
        let members: Vec<Conjunction> =
            part.children(keyword).map(|member| self.alternative(member)).collect();
        if members.is_empty() {
            return Ok(None);
        }
        if members.len() > MAX_CASES {
            return Err(Undecided);
        }
        let exclusive = keyword == "oneOf" && !self.may_overlap && !part.has("discriminator");
        let mut cases = Vec::new();
        for (position, member) in members.iter().enumerate() {
            let mut own = self.normal(*member)?.to_vec();
            if exclusive {
                let others = [&members[..position], &members[position + 1..]].concat();
                own = self.without(own, &others)?;
            }
            cases.extend(own);
            if cases.len() > MAX_CASES {
                return Err(Undecided);
            }
        }
        Ok(Some(cases))
    }

    /// Whether the conjunction is an alternative of a union of its own parent: a child with `allOf` of the parent, and the
    /// parent with `oneOf` of its children, as generators write them. Its values match the union.
    fn is_subtype(&mut self, of: Conjunction, parent: &Object<'a>, keyword: &str) -> bool {
        let members: Vec<_> = parent.children(keyword).filter(Object::is_reference).collect();
        members.into_iter().any(|member| {
            let member = self.alternative(member);
            let (parts, whole) = (&self.parts[member.0 as usize], &self.parts[of.0 as usize]);
            parts.contains(&self.id(parent)) && parts.iter().all(|part| whole.contains(part))
        })
    }

    /// Returns an alternative of a union. `nullable: true` alone is read as null: OpenAPI 3.0.3 (section 4.7.24.1)
    /// allows every value there, but generators write it for a reference that may be null.
    fn alternative(&mut self, member: Object<'a>) -> Conjunction {
        let entries = member.node().entries().iter().map(|entry| entry.key.as_str());
        let keywords: Vec<_> = entries.filter(|key| !ANNOTATIONS.contains(key)).collect();
        match keywords.as_slice() {
            ["nullable"] if member.flag("nullable") => NULL,
            _ => self.at([member]),
        }
    }

    /// Returns the cases of one schema without its combinations, one case for each type.
    fn own(&mut self, part: &Object<'a>) -> Vec<Case> {
        let name = part.text("type");
        let is = |names: &[&str]| name.is_none_or(|name| names.contains(&name));
        let null = name.is_none() || part.flag("nullable") || name == Some("null");
        let null = null.then_some(Value::Null);
        let bools = [false, true].into_iter().filter(|_| is(&["boolean"]));
        let mut shapes = vec![Shape::values(null.into_iter().chain(bools.map(Value::Bool)))];
        if is(&["number", "integer"]) {
            shapes.push(number(part, name == Some("integer")));
        }
        if is(&["string"]) {
            shapes.push(Shape::Text(Self::string(part)));
        }
        if is(&["array"]) {
            let (count, unique) = (count(part, "Items"), part.flag("uniqueItems"));
            shapes.push(Shape::Array(Array { count, unique, items: self.at(part.child("items")) }));
        }
        // The conjunction with itself is `None` for contradictory keywords.
        let possible = |shape: Shape| {
            let case = shape.into();
            self.both(&case, &case)
        };
        let mut cases: Vec<Case> = shapes.into_iter().filter_map(possible).collect();
        if is(&["object"]) {
            let members = self.object(part);
            cases.extend(self.possible(members).map(|members| Shape::Object(Box::new(members)).into()));
        }
        cases
    }

    fn string(part: &Object<'a>) -> Text {
        let pattern = part.text("pattern").filter(|pattern| !is_universal(pattern));
        let format = part.text("format").filter(|format| format::restricts_strings(format));
        Text {
            length: count(part, "Length"),
            patterns: pattern.into_iter().map(str::to_owned).collect(),
            formats: format.into_iter().map(str::to_owned).collect(),
        }
    }

    fn object(&mut self, part: &Object<'a>) -> Members {
        let required = part.get("required").map(Node::items).unwrap_or_default();
        let others = match part.child("additionalProperties") {
            Some(schema) => {
                Some(schema).filter(|any| !any.node().entries().is_empty()).map(|one| self.at([one]))
            }
            None => {
                part.get("additionalProperties").and_then(Node::as_bool).filter(|any| !any).map(|_| NEVER)
            }
        };
        Members {
            count: count(part, "Properties"),
            required: required.iter().filter_map(Node::as_str).map(str::to_owned).collect(),
            properties: part
                .children("properties")
                .map(|one| (one.name().to_owned(), self.at([one])))
                .collect(),
            lists: part.has("properties"),
            others,
        }
    }
}

/// Joins ranges of numbers that touch.
fn joined(cases: Vec<Case>) -> Vec<Case> {
    let (mut joined, mut ranges): (Vec<Case>, Vec<(Range, Formats)>) = (Vec::new(), Vec::new());
    for case in cases {
        match case.shape {
            Shape::Number(range, formats) if case.except.is_empty() => ranges.push((range, formats)),
            shape => joined.push(Case { shape, ..case }),
        }
    }
    ranges.sort_by(|(one, _), (other, _)| one.low_first(other));
    let mut kept: Vec<(Range, Formats)> = Vec::new();
    for (range, formats) in ranges {
        match kept
            .last_mut()
            .and_then(|(last, known)| Some((last.joined(&range).filter(|_| *known == formats)?, last)))
        {
            Some((both, last)) => *last = both,
            None => kept.push((range, formats)),
        }
    }
    joined.extend(kept.into_iter().map(|(range, formats)| Case::from(Shape::Number(range, formats))));
    joined
}

/// Whether a schema with `nullable: true` has no `type`, but combines schemas. OpenAPI 3.0.3 (section 4.7.24.1) gives
/// `nullable` no effect there, but generators write it for a reference that may be null.
fn is_nullable_around(part: &Object<'_>) -> bool {
    let combines = |keyword: &&str| part.children(keyword).next().is_some();
    part.flag("nullable") && !part.has("type") && ["allOf", "oneOf", "anyOf"].iter().any(combines)
}

/// Whether a case has all values of the type of another.
fn is_whole(case: &Case, of: &Case) -> bool {
    let whole = match (&case.shape, &of.shape) {
        (Shape::Number(range, formats), Shape::Number(..)) => {
            *range == Range::default() && formats.is_empty()
        }
        (Shape::Text(text), Shape::Text(_)) => {
            text.length == Count::default() && text.patterns.is_empty() && text.formats.is_empty()
        }
        (Shape::Array(array), Shape::Array(_)) => {
            array.count == Count::default() && !array.unique && array.items == ANY
        }
        (Shape::Object(members), Shape::Object(_)) => {
            members.count == Count::default()
                && members.required.is_empty()
                && members.properties.values().chain(&members.others).all(|schema| *schema == ANY)
        }
        _ => false,
    };
    whole && case.except.is_empty()
}

fn number_at<'a>(part: &Object<'a>, keyword: &str) -> Option<&'a document::Number> {
    match &part.get(keyword)?.value {
        document::Value::Number(number) => Some(number),
        _ => None,
    }
}

fn number(part: &Object<'_>, is_integer: bool) -> Shape {
    let end = |keyword, exclusive| {
        let value = exact(number_at(part, keyword)?)?;
        Some(End { value, inclusive: !part.flag(exclusive) })
    };
    let low = end("minimum", "exclusiveMinimum");
    let high = end("maximum", "exclusiveMaximum");
    let step = number_at(part, "multipleOf").and_then(exact).filter(Signed::is_positive);
    let all = if is_integer { Range::integers() } else { Range::default() };
    let mut range = all.and(&Range { low, high, step });
    let mut formats = Formats::new();
    match part.text("format") {
        Some("int32") if is_integer => range = range.and(&Range::of_bits(32)),
        Some("int64") if is_integer => range = range.and(&Range::of_bits(64)),
        Some(format @ "float") => drop(formats.insert(format.to_owned())),
        // JSON numbers are read as doubles in any case, the widths of integers apply to integers only, and other formats
        // have no definition for numbers.
        _ => {}
    }
    Shape::Number(range, formats)
}

/// Returns the bounds under `min` and `max` with this suffix. Bounds that are not whole numbers are ignored.
fn count(part: &Object<'_>, suffix: &str) -> Count {
    let at = |bound: &str| {
        let number = number_at(part, &format!("{bound}{suffix}"))?;
        number.as_u64().or_else(|| {
            number.as_f64().filter(|float| float.fract() == 0.0 && *float >= 0.0).map(|float| float as u64)
        })
    };
    Count { min: at("min").unwrap_or_default(), max: at("max") }
}
