//! The headers of a response. The case of their names has no meaning (RFC 9110, section 5.1).

use super::comparer::Comparer;
use super::data::pairs;
use super::place::At;
use super::rules::{self, Role};
use super::{parameter, unknown};
use crate::openapi::{Header, Response};

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, old: &Response<'a>, new: &Response<'a>) {
    let headers = |response: &Response<'a>| {
        let headers = response.headers().map(|(name, header)| (name.to_ascii_lowercase(), header));
        headers.collect::<Vec<_>>()
    };
    let survivor = At::value_or_object(new, "headers");
    for pair in pairs(headers(old), headers(new)) {
        match pair {
            (Some(old), Some(new)) => both(cx, &old, &new),
            (Some(old), None) => {
                let rule = match old.is_required() {
                    true => &rules::HEADER_REMOVED_REQUIRED,
                    false => &rules::HEADER_REMOVED_OPTIONAL,
                };
                let what = format!("the header `{}` was removed", old.declared().name());
                cx.report(rule, Some(At::of(&old.declared())), Some(survivor), what);
            }
            (None, Some(new)) => {
                cx.report(&rules::HEADER_ADDED, None, Some(At::of(&new.declared())), "it was added");
            }
            (None, None) => {}
        }
    }
}

fn both<'a>(cx: &mut Comparer<'a>, old: &Header<'a>, new: &Header<'a>) {
    unknown::compare(cx, old, new, &[]);
    let rules = (&rules::HEADER_REQUIRED, &rules::HEADER_OPTIONAL);
    cx.report_flag(rules, (old, new), "required", ("it became required", "it became optional"));
    parameter::deprecated(cx, (old, new), Role::Header);
    if old.explode() != new.explode() {
        let what = format!("`explode` changed from {} to {}", old.explode(), new.explode());
        cx.report_keyword(&rules::HEADER_SERIALIZATION, (old, new), "explode", what);
    }
    parameter::value(cx, (old, new), &rules::HEADER_SERIALIZATION, Role::Header);
}
