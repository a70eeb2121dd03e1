//! The values of options that are one of a few names, with their descriptions in the help text.

use checks::finding::Severity;
use checks::outcome::FailOn;
use checks::report::Format;
use checks::rule::Profile;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::fix::Fix;

/// A value, its name, and its description.
type Named<T> = (T, &'static str, &'static str);

pub(crate) const FORMATS: &[Named<Format>] = &[
    (Format::Text, "text", "Text for terminals: excerpts with carets, with colours on a terminal"),
    (Format::Json, "json", "JSON for programs: one array of findings"),
    (Format::Github, "github", "For GitHub Actions: an annotation on the pull request for each finding"),
    (
        Format::Sarif,
        "sarif",
        "SARIF 2.1.0 for code scanning: rules, findings, and those that the configuration accepts",
    ),
    (Format::Markdown, "markdown", "Markdown for a comment on a pull request: a summary and a table"),
];

pub(crate) const PROFILES: &[Named<Profile>] = &[
    (Profile::Spec, "spec", "Validity by the specification, or by an RFC that it refers to"),
    (Profile::Recommended, "recommended", "Common practice of API design"),
    (Profile::Strict, "strict", "All rules, including those specific to one project"),
];

pub(crate) const LEVELS: &[Named<Severity>] = &[
    (Severity::Info, "info", "A fact without need for action"),
    (Severity::Warning, "warning", "Probably a mistake"),
    (Severity::Error, "error", "A violated requirement"),
];

pub(crate) const FAILURES: &[Named<Severity>] =
    &[(Severity::Error, "error", "An error"), (Severity::Warning, "warning", "An error or a warning")];

pub(crate) const FAILURES_OF_A_CHANGE: &[Named<FailOn>] = &[
    (FailOn::Error, "error", "A breaking change, or a version that is too low"),
    (FailOn::Error, "breaking", "The same as `error`"),
    (FailOn::Warning, "warning", "A warning too"),
    (
        FailOn::Version,
        "version",
        "A version that is too low for what changed. A breaking change with a new major version passes",
    ),
];

pub(crate) const FIXES: &[Named<Fix>] = &[
    (Fix::Safe, "safe", "Changes after which the document means the same"),
    (Fix::All, "all", "All changes; of several for one finding, the first"),
];

/// Returns the parser of an option with these values.
pub(crate) fn one_of<T: Copy + Send + Sync + 'static>(
    values: &'static [Named<T>],
) -> impl TypedValueParser<Value = T> {
    let names = values.iter().map(|(_, name, description)| PossibleValue::new(*name).help(*description));
    PossibleValuesParser::new(names).try_map(|name| {
        let found = values.iter().find(|(_, known, _)| *known == name);
        found.map(|(value, ..)| *value).ok_or("an unknown name")
    })
}
