//! Compares two schemas.
//!
//! [`crate::subschema`] decides by meaning whether values are refused or new. This module then finds the keywords
//! that made the difference: it traverses both schemas, and reports a keyword only if the [`Verdict`] on the values
//! allows its severity. Where no keyword explains a verdict, the smallest schema with that verdict is reported.
//!
//! A schema here is a conjunction: the schema itself and everything that its `allOf` adds, through references.
//! So moving a property or a bound into an `allOf`, or out of it, is not a change.

mod annotations;
mod both;
mod composition;
mod discriminator;
mod keywords;
mod properties;
mod types;
mod unexplained;
mod unions;
mod values;

pub(super) use both::{compare_children, compare_item, compare_schemas};

use document::openapi::Object;

use super::comparer::Comparer;
use super::conjunction::{Schema, Verdict};
use super::place::At;
use super::rules::{self, Role};
use both::Both;

/// Compares all pairs of schemas in the queue.
pub(super) fn compare_waiting(cx: &mut Comparer<'_>) {
    while cx.may_go_on()
        && let Some(pair) = cx.next_pair()
    {
        let base = cx.schema(pair.base);
        let revision = cx.schema(pair.revision);
        let mut both = Both { base, revision, role: pair.role, verdict: pair.verdict };
        unions::unwrap(cx, &mut both);
        compare(cx, &both);
    }
    match cx.may_go_on() {
        true => unexplained::report(cx),
        false => cx.report_exhaustion(),
    }
}

fn compare<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    if types::reshaped(cx, both) || (both.verdict > Verdict::Equal && composition::is_wrapping(cx, both)) {
        return;
    }
    types::null(cx, both);
    if !composition::distribute(cx, both) {
        let is_reported = types::compare(cx, both);
        // Where every value is allowed, the other keywords say nothing more.
        if !(is_reported && (composition::is_any(&both.base) || composition::is_any(&both.revision))) {
            keywords::compare(cx, both);
            values::compare(cx, both);
            properties::compare(cx, both);
            items(cx, both);
            composition::compare(cx, both);
        }
    }
    composition::not(cx, both);
    discriminator::compare(cx, both);
    if both.role == Role::Parameter {
        annotations::default(cx, both);
    }
    values::compare_open(cx, both);
    annotations::compare(cx, both);
}

fn items<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    let (base, revision) = (both.base.children("items"), both.revision.children("items"));
    let is_array = |schema: &Schema<'a>| schema.all("type").any(|kind| kind.as_str() == Some("array"));
    let arrays = (is_array(&both.base), is_array(&both.revision));
    if (!base.is_empty() && !revision.is_empty()) || arrays == (true, true) {
        if !base.is_empty() || !revision.is_empty() {
            both.compare_at(cx, &base, &revision, both.role.item());
        }
    } else if arrays.0 == arrays.1 && base.is_empty() != revision.is_empty() {
        // Otherwise the change of the type is reported.
        let (family, what) = match base.is_empty() {
            true => (&rules::TYPE_SPECIALIZED, "`items` was added"),
            false => (&rules::TYPE_GENERALIZED, "`items` was removed"),
        };
        let place = |items: &[Object<'a>]| items.first().map(At::of);
        both.report(cx, family, place(&base), place(&revision), what);
    }
}
