//! Deprecation before removal: an operation is announced to go, with a date, and goes after that date.
//!
//! `x-sunset` and `x-deprecated-since` hold dates (YYYY-MM-DD), which the service sends as the headers
//! `Sunset` (RFC 8594) and `Deprecation` (RFC 9745).

use crate::document::Node;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::comparer::Comparer;
use super::operation::{self, Operation};
use super::rules;
use super::values::{same, shown};

/// When something will be removed.
pub(super) enum Sunset<'a> {
    Unknown,
    Unreadable(&'a Node),
    On(Date, &'a Node),
}

impl<'a> Sunset<'a> {
    pub(super) fn of(node: &'a Node) -> Self {
        let Some(written) = node.get("x-sunset") else { return Self::Unknown };
        match written.as_str().and_then(date) {
            Some(date) => Self::On(date, written),
            None => Self::Unreadable(written),
        }
    }
}

/// A date, or the date of a point in time (RFC 3339).
fn date(text: &str) -> Option<Date> {
    let timestamp = || Some(text.parse::<Timestamp>().ok()?.to_zoned(TimeZone::UTC).date());
    text.parse().ok().or_else(timestamp)
}

pub(super) fn is_deprecated(node: &Node) -> bool {
    node.get("deprecated").and_then(Node::as_bool) == Some(true)
}

/// Notes that an operation is gone, or its whole path. `survivor` is the nearest place that is still there.
pub(super) fn removed<'a>(
    cx: &mut Comparer<'a>,
    operation: &Operation<'a>,
    survivor: &'a Node,
    whole_path: bool,
) {
    operation::begin(cx, operation);
    let name = format!("`{} {}`", operation.method.to_uppercase(), operation.template);
    let node = operation.node;
    let (rule, what) = match Sunset::of(node) {
        _ if !is_deprecated(node) => {
            let rule = match whole_path {
                true => &rules::PATH_REMOVED_WITHOUT_DEPRECATION,
                false => &rules::REMOVED_WITHOUT_DEPRECATION,
            };
            (rule, format!("{name} was removed without having been deprecated"))
        }
        Sunset::Unknown => {
            (&rules::REMOVED_WITHOUT_SUNSET, format!("{name} was removed; it had no sunset date"))
        }
        Sunset::Unreadable(written) => {
            let what = format!("{name} was removed; its sunset {} is no date", shown(written));
            (&rules::PATH_SUNSET_PARSE, what)
        }
        Sunset::On(date, _) if cx.today < date => {
            let rule = match whole_path {
                true => &rules::PATH_REMOVED_BEFORE_SUNSET,
                false => &rules::REMOVED_BEFORE_SUNSET,
            };
            (rule, format!("{name} was removed before {date}, its sunset date"))
        }
        Sunset::On(date, _) => {
            let rule = match whole_path {
                true => &rules::PATH_REMOVED_WITH_DEPRECATION,
                false => &rules::REMOVED_WITH_DEPRECATION,
            };
            (rule, format!("{name} was removed after {date}, its sunset date"))
        }
    };
    cx.report(rule, Some(node), Some(survivor), what);
}

/// Compares what two versions of an operation say about its end.
pub(super) fn compare<'a>(cx: &mut Comparer<'a>, old: &'a Node, new: &'a Node) {
    let (before, after) = (old.get("deprecated"), new.get("deprecated"));
    match (is_deprecated(old), is_deprecated(new)) {
        (false, true) => begins(cx, new),
        (true, false) => {
            cx.report(&rules::REACTIVATED, before, after.or(Some(new)), "it is no longer deprecated");
        }
        (true, true) => goes_on(cx, old, new),
        // Without deprecation the dates mean nothing, but they are not passed over.
        (false, false) => {
            let is_date = |key: &str| matches!(key, "x-sunset" | "x-deprecated-since");
            super::unknown::compare_unless(cx, (old, new), |key| !is_date(key));
        }
    }
}

fn begins<'a>(cx: &mut Comparer<'a>, new: &'a Node) {
    let place = new.get("deprecated");
    match Sunset::of(new) {
        Sunset::Unknown => {
            cx.report(
                &rules::DEPRECATED_SUNSET_MISSING,
                None,
                place,
                "it is deprecated without a sunset date",
            );
        }
        Sunset::Unreadable(written) => {
            let what = format!("it is deprecated, and its sunset {} is no date", shown(written));
            cx.report(&rules::DEPRECATED_SUNSET_PARSE, None, Some(written), what);
        }
        Sunset::On(date, written) if date <= cx.today => {
            let what = format!("it is deprecated with the sunset date {date}, which is past");
            cx.report(&rules::SUNSET_TOO_SMALL, None, Some(written), what);
        }
        Sunset::On(date, _) => {
            let what = format!("it is deprecated and will be removed on {date}");
            cx.report(&rules::DEPRECATED, None, place, what);
        }
    }
    if new.get("x-deprecated-since").is_none() {
        let what = "it is deprecated without a date since when";
        cx.report(&rules::DEPRECATED_SINCE_MISSING, None, place, what);
    }
}

fn goes_on<'a>(cx: &mut Comparer<'a>, old: &'a Node, new: &'a Node) {
    match (Sunset::of(old), Sunset::of(new)) {
        (Sunset::On(before, old), Sunset::On(after, new)) if after < before => {
            let what = format!("its sunset date went from {before} to {after}, which is earlier");
            cx.report(&rules::SUNSET_EARLIER, Some(old), Some(new), what);
        }
        (Sunset::On(before, old), Sunset::On(after, new)) if after > before => {
            let what = format!("its sunset date went from {before} to {after}");
            cx.report(&rules::SUNSET_LATER, Some(old), Some(new), what);
        }
        (Sunset::On(before, old), Sunset::Unknown) => {
            let what = format!("its sunset date {before} was removed");
            cx.report(&rules::SUNSET_DELETED, Some(old), Some(new), what);
        }
        (Sunset::On(..) | Sunset::Unknown, Sunset::Unreadable(written)) => {
            let what = format!("its sunset {} is no date", shown(written));
            cx.report(&rules::DEPRECATED_SUNSET_PARSE, old.get("x-sunset"), Some(written), what);
        }
        (Sunset::Unknown | Sunset::Unreadable(_), Sunset::On(after, written)) => {
            let what = format!("it will be removed on {after}");
            cx.report(&rules::DEPRECATED, old.get("x-sunset"), Some(written), what);
        }
        _ => {}
    }
    let (before, after) = (old.get("x-deprecated-since"), new.get("x-deprecated-since"));
    match (before, after) {
        (Some(_), None) => {
            let what = "the date since when it is deprecated was removed";
            cx.report(&rules::DEPRECATED_SINCE_MISSING, before, Some(new), what);
        }
        (_, Some(now)) if before.is_none_or(|before| !same(before, now)) => {
            let what = format!("it is deprecated since {}", shown(now));
            cx.report(&rules::DEPRECATED_SINCE_CHANGED, before, after, what);
        }
        _ => {}
    }
}
