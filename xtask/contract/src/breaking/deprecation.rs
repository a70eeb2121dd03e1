//! Deprecation before removal: an operation is deprecated with a date, and removed after that date.
//!
//! `x-sunset` and `x-deprecated-since` hold dates (YYYY-MM-DD), which the service sends as the headers
//! `Sunset` (RFC 8594) and `Deprecation` (RFC 9745).

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::comparer::Comparer;
use super::data::shown;
use super::place::At;
use super::rules::{self, ChangeRule};
use super::{operation, unknown};
use crate::openapi::{Object, Operation};

/// The extensions that hold the dates.
pub(super) const DATES: [&str; 2] = ["x-sunset", "x-deprecated-since"];

/// When something will be removed.
pub(super) enum Sunset {
    Unknown,
    /// Not a date; the value as it is shown.
    Unreadable(String),
    On(Date),
}

impl Sunset {
    pub(super) fn of(object: &Object<'_>) -> Self {
        let Some(written) = object.get("x-sunset") else { return Self::Unknown };
        match written.as_str().and_then(date) {
            Some(date) => Self::On(date),
            None => Self::Unreadable(shown(written)),
        }
    }
}

/// A date, or the date of a point in time (RFC 3339).
fn date(text: &str) -> Option<Date> {
    let timestamp = || Some(text.parse::<Timestamp>().ok()?.to_zoned(TimeZone::UTC).date());
    text.parse().ok().or_else(timestamp)
}

/// Reports that an operation was removed, or its whole path. `survivor` is the nearest place that is left.
pub(super) fn removed<'a>(cx: &mut Comparer<'a>, old: &Operation<'a>, survivor: At<'a>, whole_path: bool) {
    cx.begin(old.name());
    let sunset = Sunset::of(old);
    let why = match &sunset {
        _ if !old.is_deprecated() => " without having been deprecated".to_owned(),
        Sunset::Unknown => "; it had no sunset date".to_owned(),
        Sunset::Unreadable(written) => format!("; its sunset {written} is not a date"),
        Sunset::On(date) if cx.today < *date => format!(" before {date}, its sunset date"),
        Sunset::On(date) => format!(" after {date}, its sunset date"),
    };
    let (rule, path_rule) = match sunset {
        _ if !old.is_deprecated() => {
            (&rules::REMOVED_WITHOUT_DEPRECATION, &rules::PATH_REMOVED_WITHOUT_DEPRECATION)
        }
        Sunset::Unknown => (&rules::REMOVED_WITHOUT_SUNSET, &rules::REMOVED_WITHOUT_SUNSET),
        Sunset::Unreadable(_) => (&rules::PATH_SUNSET_PARSE, &rules::PATH_SUNSET_PARSE),
        Sunset::On(date) if cx.today < date => {
            (&rules::REMOVED_BEFORE_SUNSET, &rules::PATH_REMOVED_BEFORE_SUNSET)
        }
        Sunset::On(_) => (&rules::REMOVED_WITH_DEPRECATION, &rules::PATH_REMOVED_WITH_DEPRECATION),
    };
    let rule = if whole_path { path_rule } else { rule };
    let what = format!("`{}` was removed{why}", operation::method_and_path(old));
    cx.report(rule, Some(At::of(old)), Some(survivor), what);
}

/// Compares whether an operation is deprecated, and its dates.
pub(super) fn compare<'a>(cx: &mut Comparer<'a>, old: &Operation<'a>, new: &Operation<'a>) {
    match (old.is_deprecated(), new.is_deprecated()) {
        (false, true) => begins(cx, new),
        (true, false) => {
            let what = "it is no longer deprecated";
            cx.report_keyword(&rules::REACTIVATED, (old, new), "deprecated", what);
        }
        (true, true) => {
            if let Some(rule) = sunset(old, new) {
                cx.compare_keyword(rule, (old, new), "x-sunset");
            }
            let since = "x-deprecated-since";
            let (removed, changed) = (&rules::DEPRECATED_SINCE_MISSING, &rules::DEPRECATED_SINCE_CHANGED);
            cx.compare_keyword(if new.has(since) { changed } else { removed }, (old, new), since);
        }
        // Without deprecation the dates mean nothing, and are compared like any extension.
        (false, false) => {
            let dates = |object: &Object<'a>| {
                DATES.into_iter().filter_map(|key| Some((key, At::value(object, key)?))).collect()
            };
            unknown::compare_entries(cx, dates(old), dates(new), At::of(new));
        }
    }
}

fn begins<'a>(cx: &mut Comparer<'a>, new: &Operation<'a>) {
    let (rule, keyword, what) = match Sunset::of(new) {
        Sunset::Unknown => {
            let what = "it is deprecated without a sunset date".to_owned();
            (&rules::DEPRECATED_SUNSET_MISSING, "deprecated", what)
        }
        Sunset::Unreadable(written) => {
            let what = format!("it is deprecated, and its sunset {written} is not a date");
            (&rules::DEPRECATED_SUNSET_PARSE, "x-sunset", what)
        }
        Sunset::On(date) if date <= cx.today => {
            let what = format!("it is deprecated with the sunset date {date}, which has passed");
            (&rules::SUNSET_TOO_SMALL, "x-sunset", what)
        }
        Sunset::On(date) => {
            let what = format!("it is deprecated and will be removed on {date}");
            (&rules::DEPRECATED, "deprecated", what)
        }
    };
    cx.report(rule, None, At::value(new, keyword), what);
    if !new.has("x-deprecated-since") {
        let what = "it is deprecated without a date of deprecation";
        cx.report(&rules::DEPRECATED_SINCE_MISSING, None, At::value(new, "deprecated"), what);
    }
}

/// The rule for a change of the sunset date of something that stays deprecated.
fn sunset(old: &Operation<'_>, new: &Operation<'_>) -> Option<&'static ChangeRule> {
    match (Sunset::of(old), Sunset::of(new)) {
        (Sunset::On(before), Sunset::On(after)) if after < before => Some(&rules::SUNSET_EARLIER),
        (Sunset::On(before), Sunset::On(after)) if after > before => Some(&rules::SUNSET_LATER),
        (Sunset::On(_), Sunset::Unknown) => Some(&rules::SUNSET_DELETED),
        (Sunset::On(_) | Sunset::Unknown, Sunset::Unreadable(_)) => Some(&rules::DEPRECATED_SUNSET_PARSE),
        (Sunset::Unknown | Sunset::Unreadable(_), Sunset::On(_)) => Some(&rules::DEPRECATED),
        _ => None,
    }
}
