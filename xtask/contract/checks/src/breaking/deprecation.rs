//! Deprecation before removal: an operation is deprecated with a date, and removed after that date.
//!
//! `x-sunset` holds a date (YYYY-MM-DD), which the service sends as the header `Sunset` (RFC 8594).

use document::openapi::{Object, Operation, Parameter};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::comparer::Comparer;
use super::data::display;
use super::place::At;
use super::rules::{self, ChangeRule};
use super::stability;

/// The extensions that [`compare`] compares. Without `deprecated` they have no effect.
pub(super) fn dates(old: &Operation<'_>, new: &Operation<'_>) -> &'static [&'static str] {
    match (old.is_deprecated(), new.is_deprecated()) {
        (false, false) => &[],
        (true, true) => &["x-sunset"],
        _ => &["x-sunset", "x-deprecated-since"],
    }
}

/// When something will be removed.
pub(super) enum Sunset {
    Unknown,
    /// Not a date; the value for use in a message.
    Unreadable(String),
    On(Date),
}

impl Sunset {
    pub(super) fn of(object: &Object<'_>) -> Self {
        let Some(written) = object.get("x-sunset") else { return Self::Unknown };
        match written.as_str().and_then(date) {
            Some(date) => Self::On(date),
            None => Self::Unreadable(display(written)),
        }
    }
}

/// A date, or the date of a point in time (RFC 3339).
fn date(text: &str) -> Option<Date> {
    let timestamp = || Some(text.parse::<Timestamp>().ok()?.to_zoned(TimeZone::UTC).date());
    text.parse().ok().or_else(timestamp)
}

/// Returns the rule of a parameter that was removed.
pub(super) fn removal(cx: &Comparer<'_>, old: &Parameter<'_>) -> &'static ChangeRule {
    match Sunset::of(old) {
        Sunset::On(date) if old.flag("deprecated") && date <= cx.today => {
            &rules::PARAMETER_REMOVED_DEPRECATED
        }
        Sunset::On(_) if old.flag("deprecated") => &rules::PARAMETER_REMOVED_BEFORE_SUNSET,
        _ => &rules::PARAMETER_REMOVED,
    }
}

/// Returns an operation as the first line of a request names it.
pub(super) fn method_and_path(operation: &Operation<'_>) -> String {
    format!("{} {}", operation.method().to_uppercase(), operation.path())
}

/// Reports that an operation was removed, at `remaining`, the nearest place that remains, or that it is `moved` now.
pub(super) fn removed<'a>(
    cx: &mut Comparer<'a>,
    old: &Operation<'a>,
    remaining: At<'a>,
    moved: Option<&Operation<'a>>,
) {
    cx.begin(old.name(), stability::is_unstable(old));
    let (rule, why) = match Sunset::of(old) {
        _ if !old.is_deprecated() => {
            (&rules::REMOVED_WITHOUT_DEPRECATION, " without having been deprecated".to_owned())
        }
        Sunset::Unknown => (&rules::REMOVED_WITHOUT_SUNSET, "; it had no sunset date".to_owned()),
        Sunset::Unreadable(sunset) => {
            (&rules::REMOVED_SUNSET_PARSE, format!("; its sunset {sunset} is not a date"))
        }
        Sunset::On(date) if cx.today < date => {
            (&rules::REMOVED_BEFORE_SUNSET, format!(" before {date}, its sunset date"))
        }
        Sunset::On(date) => (&rules::REMOVED_WITH_DEPRECATION, format!(" after {date}, its sunset date")),
    };
    let moved = moved.map(|new| format!("; it is `{}` now", method_and_path(new)));
    let what = format!("`{}` was removed{why}{}", method_and_path(old), moved.unwrap_or_default());
    cx.report(rule, Some(At::of(old)), Some(remaining), what);
}

/// Compares whether an operation is deprecated, and its dates.
pub(super) fn compare<'a>(cx: &mut Comparer<'a>, old: &Operation<'a>, new: &Operation<'a>) {
    match (old.is_deprecated(), new.is_deprecated()) {
        (false, true) => became_deprecated(cx, new),
        (true, false) => {
            let what = "it is no longer deprecated";
            cx.report_keyword(&rules::REACTIVATED, (old, new), "deprecated", what);
        }
        (true, true) => {
            let sunset = match (Sunset::of(old), Sunset::of(new)) {
                (Sunset::On(before), Sunset::On(after)) if after < before => &rules::SUNSET_EARLIER,
                (Sunset::On(before), Sunset::On(after)) if after > before => &rules::SUNSET_LATER,
                (Sunset::On(_), Sunset::On(_)) => &rules::EXTENSION_CHANGED,
                (_, Sunset::On(_)) => &rules::DEPRECATED,
                (_, Sunset::Unknown) => &rules::SUNSET_DELETED,
                (_, Sunset::Unreadable(_)) => &rules::DEPRECATED_SUNSET_PARSE,
            };
            cx.compare_keyword(sunset, (old, new), "x-sunset");
        }
        (false, false) => {}
    }
}

fn became_deprecated<'a>(cx: &mut Comparer<'a>, new: &Operation<'a>) {
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
}
