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
    match (is_deprecated(old), is_deprecated(new)) {
        (false, false) => &[],
        (true, true) => &["x-sunset"],
        _ => &["x-sunset", "x-deprecated-since"],
    }
}

fn is_deprecated(object: &Object<'_>) -> bool {
    object.flag("deprecated")
}

/// Returns when something will be removed: a date, also of a point in time (RFC 3339), or the value that is not one, for
/// use in a message.
fn sunset(object: &Object<'_>) -> Option<Result<Date, String>> {
    let written = object.get("x-sunset")?;
    let date = |text: &str| {
        let timestamp = || Some(text.parse::<Timestamp>().ok()?.to_zoned(TimeZone::UTC).date());
        text.parse().ok().or_else(timestamp)
    };
    Some(written.as_str().and_then(date).ok_or_else(|| display(written)))
}

/// Returns the rule of a parameter that was removed.
pub(super) fn removal(cx: &Comparer<'_>, old: &Parameter<'_>) -> &'static ChangeRule {
    match sunset(old) {
        Some(Ok(date)) if is_deprecated(old) && date <= cx.today => &rules::PARAMETER_REMOVED_DEPRECATED,
        Some(Ok(_)) if is_deprecated(old) => &rules::PARAMETER_REMOVED_BEFORE_SUNSET,
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
    let (rule, why) = match sunset(old) {
        _ if !is_deprecated(old) => {
            (&rules::REMOVED_WITHOUT_DEPRECATION, " without having been deprecated".to_owned())
        }
        None => (&rules::REMOVED_WITHOUT_SUNSET, "; it had no sunset date".to_owned()),
        Some(Err(sunset)) => (&rules::REMOVED_SUNSET_PARSE, format!("; its sunset {sunset} is not a date")),
        Some(Ok(date)) if cx.today < date => {
            (&rules::REMOVED_BEFORE_SUNSET, format!(" before {date}, its sunset date"))
        }
        Some(Ok(date)) => (&rules::REMOVED_WITH_DEPRECATION, format!(" after {date}, its sunset date")),
    };
    let moved = moved.map(|new| format!("; it is `{}` now", method_and_path(new)));
    let what = format!("`{}` was removed{why}{}", method_and_path(old), moved.unwrap_or_default());
    cx.report(rule, Some(At::of(old)), Some(remaining), what);
}

/// Compares whether an operation is deprecated, and its dates.
pub(super) fn compare<'a>(cx: &mut Comparer<'a>, old: &Operation<'a>, new: &Operation<'a>) {
    match (is_deprecated(old), is_deprecated(new)) {
        (false, true) => became_deprecated(cx, new),
        (true, false) => {
            let what = "it is no longer deprecated";
            cx.report_keyword(&rules::REACTIVATED, (old, new), "deprecated", what);
        }
        (true, true) => {
            let rule = match (sunset(old), sunset(new)) {
                (Some(Ok(before)), Some(Ok(after))) if after < before => &rules::SUNSET_EARLIER,
                (Some(Ok(before)), Some(Ok(after))) if after > before => &rules::SUNSET_LATER,
                (Some(Ok(_)), Some(Ok(_))) => &rules::EXTENSION_CHANGED,
                (_, Some(Ok(_))) => &rules::DEPRECATED,
                (_, None) => &rules::SUNSET_DELETED,
                (_, Some(Err(_))) => &rules::DEPRECATED_SUNSET_PARSE,
            };
            cx.compare_keyword(rule, (old, new), "x-sunset");
        }
        (false, false) => {}
    }
}

fn became_deprecated<'a>(cx: &mut Comparer<'a>, new: &Operation<'a>) {
    let (rule, keyword, how) = match sunset(new) {
        None => (&rules::DEPRECATED_SUNSET_MISSING, "deprecated", " without a sunset date".to_owned()),
        Some(Err(written)) => {
            (&rules::DEPRECATED_SUNSET_PARSE, "x-sunset", format!(", and its sunset {written} is not a date"))
        }
        Some(Ok(date)) if date <= cx.today => {
            (&rules::SUNSET_TOO_SMALL, "x-sunset", format!(" with the sunset date {date}, which has passed"))
        }
        Some(Ok(date)) => (&rules::DEPRECATED, "deprecated", format!(" and will be removed on {date}")),
    };
    cx.report(rule, None, At::value(new, keyword), format!("it is deprecated{how}"));
}
