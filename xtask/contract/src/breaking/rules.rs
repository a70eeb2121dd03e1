//! Every rule: its name, how bad it is, what the version owes it, and whom it concerns.
//!
//! Names are those of oasdiff wherever it has one, so that they can be looked up. Most rules about the
//! rest of a document stand alone; those about schemas come in [`families`](super::families).

use std::borrow::Cow;
use std::fmt::Write as _;

pub(super) use super::families::*;
use super::role::Role;
use crate::finding::Severity;

/// What a change asks of `info.version`, from the least to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bump {
    /// The contract is the same.
    None,
    /// The contract grew or moved without breaking anybody.
    Minor,
    /// Somebody's client breaks.
    Major,
}

/// The chapter of the changelog a change belongs to, unless it breaks somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Chapter {
    /// What is new.
    Added,
    /// What is different.
    Changed,
    /// What will be removed.
    Deprecated,
    /// What is gone.
    Removed,
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name, in kebab-case.
    pub name: Cow<'static, str>,
    /// How bad it is.
    pub severity: Severity,
    /// What the version owes it.
    pub bump: Bump,
    /// Its chapter of the changelog.
    pub chapter: Chapter,
    /// Whom it concerns, and how.
    pub whom: &'static str,
}

macro_rules! rules {
    ($($id:ident = $name:literal, $severity:ident, $bump:ident, $chapter:ident, $whom:literal;)*) => {
        $(pub(super) static $id: Rule = Rule {
            name: Cow::Borrowed($name),
            severity: Severity::$severity,
            bump: Bump::$bump,
            chapter: Chapter::$chapter,
            whom: $whom,
        };)*
        /// The rules that stand alone.
        static ALONE: &[&Rule] = &[$(&$id),*];
    };
}

rules! {
    NOT_UNDERSTOOD = "not-understood", Unreadable, None, Changed, "Nothing below this place was compared.";

    ENDPOINT_ADDED = "endpoint-added", Info, Minor, Added, "There is one more operation to call.";
    REMOVED_WITHOUT_DEPRECATION = "api-removed-without-deprecation", Error, Major, Removed, "Whoever calls it gets an error, and nothing announced it.";
    PATH_REMOVED_WITHOUT_DEPRECATION = "api-path-removed-without-deprecation", Error, Major, Removed, "Whoever calls it gets an error, and nothing announced it.";
    REMOVED_BEFORE_SUNSET = "api-removed-before-sunset", Error, Major, Removed, "Whoever counts on it until its sunset date gets an error.";
    PATH_REMOVED_BEFORE_SUNSET = "api-path-removed-before-sunset", Error, Major, Removed, "Whoever counts on it until its sunset date gets an error.";
    REMOVED_WITHOUT_SUNSET = "api-removed-without-sunset", Error, Major, Removed, "It was deprecated, but nobody was told a date, so somebody may still call it.";
    REMOVED_WITH_DEPRECATION = "api-removed-with-deprecation", Info, Minor, Removed, "It was deprecated, and its sunset date is past.";
    PATH_REMOVED_WITH_DEPRECATION = "api-path-removed-with-deprecation", Info, Minor, Removed, "It was deprecated, and its sunset date is past.";
    PATH_SUNSET_PARSE = "api-path-sunset-parse", Error, Major, Removed, "Its sunset date is no date, so nobody could know when it would go.";
    DEPRECATED = "endpoint-deprecated-with-sunset", Info, Minor, Deprecated, "It works until its sunset date; whoever calls it has to move by then.";
    DEPRECATED_SUNSET_MISSING = "api-deprecated-sunset-missing", Error, Minor, Deprecated, "Whoever calls it cannot know how long it will work. Say so in `x-sunset`.";
    DEPRECATED_SUNSET_PARSE = "api-deprecated-sunset-parse", Error, Minor, Deprecated, "Whoever calls it cannot know how long it will work. Write `x-sunset` as YYYY-MM-DD.";
    SUNSET_TOO_SMALL = "api-sunset-date-too-small", Error, Minor, Deprecated, "Whoever calls it has no time to move. Choose a later date.";
    DEPRECATED_SINCE_MISSING = "api-deprecated-since-missing", Warning, Minor, Deprecated, "The answers cannot say since when it is deprecated (RFC 9745). Say so in `x-deprecated-since`.";
    DEPRECATED_SINCE_CHANGED = "api-deprecated-since-changed", Info, Minor, Deprecated, "The `Deprecation` header of the answers changes with it.";
    SUNSET_DELETED = "sunset-deleted", Error, Minor, Deprecated, "Whoever planned by the date no longer knows how long it will work.";
    SUNSET_EARLIER = "api-sunset-date-changed-too-small", Error, Major, Deprecated, "Whoever planned by the old date has less time than was promised.";
    SUNSET_LATER = "api-sunset-date-changed-later", Info, Minor, Deprecated, "Whoever calls it has more time.";
    REACTIVATED = "endpoint-reactivated", Info, Minor, Changed, "It is no longer to be removed.";

    PATH_PARAMETER_RENAMED = "path-parameter-renamed", Warning, Minor, Changed, "Requests stay as they are; generated clients may name the argument anew.";
    OPERATION_ID_REMOVED = "api-operation-id-removed", Error, Major, Changed, "Requests stay as they are; programs with a generated client no longer compile, as the function is named after it.";
    OPERATION_ID_ADDED = "api-operation-id-added", Info, Minor, Changed, "Generated clients have a name for the function.";
    TAG_REMOVED = "api-tag-removed", Info, Minor, Changed, "Some generated clients group their functions by tag.";
    TAG_ADDED = "api-tag-added", Info, Minor, Changed, "Some generated clients group their functions by tag.";

    PARAMETER_ADDED_REQUIRED = "new-required-request-parameter", Error, Major, Added, "Requests that do not have it, all those sent today, are refused.";
    PARAMETER_ADDED_OPTIONAL = "new-optional-request-parameter", Info, Minor, Added, "Requests may have it or not.";
    PATH_PARAMETER_ADDED = "new-request-path-parameter", Error, Major, Added, "Generated clients have one more required argument.";
    PARAMETER_REMOVED = "request-parameter-removed", Error, Major, Removed, "Requests that have it are refused, or answered as if they had not.";
    PARAMETER_REMOVED_DEPRECATED = "request-parameter-removed-with-deprecation", Info, Minor, Removed, "It was deprecated, and its sunset date is past.";
    PARAMETER_REMOVED_BEFORE_SUNSET = "request-parameter-removed-before-sunset", Error, Major, Removed, "Whoever counts on it until its sunset date is refused or ignored.";
    PARAMETER_MOVED = "request-parameter-location-changed", Error, Major, Changed, "Requests that have it in the old place are refused, or answered as if they had not.";
    PARAMETER_REQUIRED = "request-parameter-became-required", Error, Major, Changed, "Requests without it are refused.";
    PARAMETER_OPTIONAL = "request-parameter-became-optional", Info, Minor, Changed, "Requests may leave it out.";
    PARAMETER_STYLE = "request-parameter-style-changed", Error, Major, Changed, "Requests that write its value in the old way are misunderstood.";
    PARAMETER_EXPLODE = "request-parameter-explode-changed", Error, Major, Changed, "Requests that write its list or object in the old way are misunderstood.";
    PARAMETER_SERIALIZATION = "request-parameter-serialization-changed", Error, Major, Changed, "Requests that write its value in the old way are misunderstood.";
    PARAMETER_FREEDOM_LOST = "request-parameter-spelling-narrowed", Error, Major, Changed, "Requests that write its value so are refused.";
    PARAMETER_FREEDOM_WON = "request-parameter-spelling-widened", Info, Minor, Changed, "Requests may write its value in one more way.";

    BODY_ADDED_REQUIRED = "request-body-added-required", Error, Major, Added, "Requests without a body, all those sent today, are refused.";
    BODY_ADDED_OPTIONAL = "request-body-added-optional", Info, Minor, Added, "Requests may have a body.";
    BODY_REMOVED = "request-body-removed", Error, Major, Removed, "Requests with a body are refused, or answered as if they had none.";
    BODY_REQUIRED = "request-body-became-required", Error, Major, Changed, "Requests without a body are refused.";
    BODY_OPTIONAL = "request-body-became-optional", Info, Minor, Changed, "Requests may leave the body out.";
    REQUEST_MEDIA_ADDED = "request-body-media-type-added", Info, Minor, Added, "The body may be sent in one more way.";
    REQUEST_MEDIA_REMOVED = "request-body-media-type-removed", Error, Major, Removed, "Requests with a body of this type are refused.";
    RESPONSE_MEDIA_ADDED = "response-media-type-added", Info, Minor, Added, "Clients may ask for one more type.";
    RESPONSE_MEDIA_REMOVED = "response-media-type-removed", Error, Major, Removed, "Clients that read this type get another one, or an error.";
    ENCODING_CHANGED = "request-body-encoding-changed", Error, Major, Changed, "Bodies whose parts are written in the old way are misunderstood.";

    SUCCESS_REMOVED = "response-success-status-removed", Error, Major, Removed, "Clients that wait for this status never see it.";
    SUCCESS_ADDED = "response-success-status-added", Info, Minor, Added, "Clients may see one more status that means success.";
    FAILURE_REMOVED = "response-non-success-status-removed", Info, Minor, Removed, "Clients no longer see this status.";
    FAILURE_ADDED = "response-non-success-status-added", Info, Minor, Added, "Clients may see one more status that means failure.";
    LINKS_CHANGED = "response-links-changed", Warning, Minor, Changed, "Programs that follow the links by name may miss one.";
    CALLBACKS_CHANGED = "api-callbacks-changed", Warning, Minor, Changed, "Whoever answers the callbacks should look; they are not compared further.";
    HEADER_ADDED = "response-header-added", Info, Minor, Added, "Answers have one more header.";
    HEADER_REMOVED_REQUIRED = "required-response-header-removed", Error, Major, Removed, "Clients that read it, promised to be there, find nothing.";
    HEADER_REMOVED_OPTIONAL = "optional-response-header-removed", Warning, Minor, Removed, "Clients that read it where it was there never find it.";
    HEADER_OPTIONAL = "response-header-became-optional", Error, Major, Changed, "Clients that read it without asking whether it is there fail.";
    HEADER_REQUIRED = "response-header-became-required", Info, Minor, Changed, "Answers always have it.";
    HEADER_SERIALIZATION = "response-header-serialization-changed", Error, Major, Changed, "Clients that read its value in the old way misunderstand it.";

    NEW_REQUIRED_PROPERTY = "new-required-request-property", Error, Major, Added, "Requests that do not have it, all those sent today, are refused.";
    NEW_REQUIRED_PROPERTY_WITH_DEFAULT = "new-required-request-property-with-default", Error, Major, Added, "Requests that do not have it are refused: a default does not make a required property optional.";
    NEW_OPTIONAL_PROPERTY = "new-optional-request-property", Info, Minor, Added, "Requests may have it or not.";
    REQUEST_PROPERTY_REMOVED = "request-property-removed", Warning, Minor, Removed, "What requests say with it is ignored.";
    REQUEST_PROPERTY_REFUSED = "request-property-removed-and-refused", Error, Major, Removed, "Requests that have it are refused, as the object takes no property that is not listed.";
    REQUEST_PROPERTY_REQUIRED = "request-property-became-required", Error, Major, Changed, "Requests without it are refused.";
    REQUEST_PROPERTY_REQUIRED_WITH_DEFAULT = "request-property-became-required-with-default", Error, Major, Changed, "Requests without it are refused: a default does not make a required property optional.";
    REQUEST_PROPERTY_OPTIONAL = "request-property-became-optional", Info, Minor, Changed, "Requests may leave it out.";
    RESPONSE_REQUIRED_PROPERTY_ADDED = "response-required-property-added", Info, Minor, Added, "Answers always have one more property.";
    RESPONSE_OPTIONAL_PROPERTY_ADDED = "response-optional-property-added", Info, Minor, Added, "Answers may have one more property.";
    RESPONSE_PROPERTY_ADDED_TO_CLOSED = "response-property-added-to-closed-object", Warning, Minor, Added, "Clients that hold answers to `additionalProperties: false` refuse them.";
    RESPONSE_REQUIRED_PROPERTY_REMOVED = "response-required-property-removed", Error, Major, Removed, "Clients that read it, promised to be there, find nothing.";
    RESPONSE_OPTIONAL_PROPERTY_REMOVED = "response-optional-property-removed", Warning, Minor, Removed, "Clients that read it where it was there never find it.";
    RESPONSE_PROPERTY_OPTIONAL = "response-property-became-optional", Error, Major, Changed, "Clients that read it without asking whether it is there fail.";
    RESPONSE_PROPERTY_REQUIRED = "response-property-became-required", Info, Minor, Changed, "Answers always have it.";
    REQUEST_READ_ONLY = "request-property-became-read-only", Warning, Minor, Changed, "What requests say with it is ignored or refused.";
    REQUEST_REQUIRED_NOT_READ_ONLY = "request-required-property-became-not-read-only", Error, Major, Changed, "Requests must have it now, and today's do not.";
    REQUEST_OPTIONAL_NOT_READ_ONLY = "request-optional-property-became-not-read-only", Info, Minor, Changed, "Requests may have it.";
    RESPONSE_REQUIRED_WRITE_ONLY = "response-required-property-became-write-only", Error, Major, Changed, "Clients that read it, promised to be there, find nothing.";
    RESPONSE_OPTIONAL_WRITE_ONLY = "response-optional-property-became-write-only", Warning, Minor, Changed, "Clients that read it where it was there never find it.";
    RESPONSE_NOT_WRITE_ONLY = "response-property-became-not-write-only", Info, Minor, Changed, "Answers may have it.";
    SCHEMA_ADDED = "api-schema-added", Info, Minor, Added, "Generated clients have one more type.";
    SCHEMA_REMOVED = "api-schema-removed", Warning, Minor, Removed, "Requests and answers stay as they are; generated clients lose the type of this name.";
    UNUSED_SCHEMA_CHANGED = "api-unused-schema-changed", Info, Minor, Changed, "Requests and answers stay as they are; generated clients have another type of this name.";

    SECURITY_REQUIRED = "api-security-required", Error, Major, Changed, "Requests without credentials are refused.";
    GLOBAL_SECURITY_REQUIRED = "api-global-security-required", Error, Major, Changed, "Requests without credentials are refused.";
    SECURITY_LIFTED = "api-security-lifted", Warning, Minor, Changed, "No client breaks, but anybody may call it without credentials. Make sure that this is meant.";
    GLOBAL_SECURITY_LIFTED = "api-global-security-lifted", Warning, Minor, Changed, "No client breaks, but anybody may call it without credentials. Make sure that this is meant.";
    SECURITY_REMOVED = "api-security-removed", Error, Major, Removed, "Requests with these credentials are refused.";
    GLOBAL_SECURITY_REMOVED = "api-global-security-removed", Error, Major, Removed, "Requests with these credentials are refused.";
    SECURITY_ADDED = "api-security-added", Info, Minor, Added, "Requests may have other credentials instead.";
    GLOBAL_SECURITY_ADDED = "api-global-security-added", Info, Minor, Added, "Requests may have other credentials instead.";
    SCOPE_ADDED = "api-security-scope-added", Error, Major, Changed, "Requests whose credentials do not have the scope are refused.";
    GLOBAL_SCOPE_ADDED = "api-global-security-scope-added", Error, Major, Changed, "Requests whose credentials do not have the scope are refused.";
    SCOPE_REMOVED = "api-security-scope-removed", Info, Minor, Changed, "Credentials need less than before.";
    GLOBAL_SCOPE_REMOVED = "api-global-security-scope-removed", Info, Minor, Changed, "Credentials need less than before.";
    SCHEME_ADDED = "api-security-component-added", Info, Minor, Added, "Operations may ask for one more kind of credentials.";
    SCHEME_REMOVED = "api-security-component-removed", Info, Minor, Removed, "No operation asks for this kind of credentials any more.";
    SCHEME_TYPE = "api-security-component-type-changed", Error, Major, Changed, "Credentials of the old kind are refused.";
    SCHEME_PLACE = "api-security-component-place-changed", Error, Major, Changed, "Credentials sent in the old way are not found.";
    SCHEME_HINT = "api-security-component-bearer-format-changed", Info, Minor, Changed, "Clients should treat the token as opaque; one that looks into it may stumble.";
    SCHEME_AUTHORIZATION_URL = "api-security-component-oauth-url-changed", Error, Major, Changed, "Clients that ask for authorization at the old address get none.";
    SCHEME_TOKEN_URL = "api-security-component-oauth-token-url-changed", Error, Major, Changed, "Clients that fetch tokens at the old address get none.";
    SCHEME_SCOPE_ADDED = "api-security-component-oauth-scope-added", Info, Minor, Added, "Clients may ask for one more scope.";
    SCHEME_SCOPE_REMOVED = "api-security-component-oauth-scope-removed", Error, Major, Removed, "Clients that ask for this scope are refused.";
    SCHEME_FLOW_ADDED = "api-security-component-oauth-flow-added", Info, Minor, Added, "Clients may get tokens in one more way.";
    SCHEME_FLOW_REMOVED = "api-security-component-oauth-flow-removed", Error, Major, Removed, "Clients that get tokens in this way get none.";

    SERVER_ADDED = "server-added", Info, Minor, Added, "There is one more address to call.";
    SERVER_REMOVED = "server-removed", Error, Major, Removed, "Requests to this address may go nowhere.";
    SERVER_CHANGED = "server-url-changed", Error, Major, Changed, "Requests to the old address may go nowhere.";
    SERVER_VARIABLE_ADDED = "server-variable-added", Info, Minor, Added, "Clients may set it, or leave it at its default.";
    SERVER_VARIABLE_REMOVED = "server-variable-removed", Error, Major, Removed, "Clients that set it end up at another address.";
    SERVER_VARIABLE_DEFAULT = "server-variable-default-changed", Error, Major, Changed, "Clients that leave it at its default call another address, and requests to the old one may go nowhere.";
    SERVER_VARIABLE_VALUE_ADDED = "server-variable-enum-value-added", Info, Minor, Added, "Clients may choose one more value.";
    SERVER_VARIABLE_VALUE_REMOVED = "server-variable-enum-value-removed", Error, Major, Removed, "Clients that chose this value have no address.";

    EXTENSION_CHANGED = "extension-changed", Info, Minor, Changed, "Only programs that know this extension can tell what it means.";
    KEYWORD_CHANGED = "keyword-changed", Warning, Minor, Changed, "This keyword is not compared further, so somebody should look whom it concerns.";

    VERSION_UNREADABLE = "api-version-unreadable", Error, None, Changed, "Nobody can tell from it whether a change breaks them. Write it as MAJOR.MINOR.PATCH (semver.org).";
    VERSION_DECREASED = "api-version-decreased", Error, None, Changed, "Whoever goes by the version takes the older contract for the newer one.";
    VERSION_SAME = "api-version-not-bumped", Error, None, Changed, "Two different contracts would have one version.";
    VERSION_NOT_MAJOR = "api-major-version-not-bumped", Error, None, Changed, "Whoever goes by the version takes a breaking change for a harmless one.";
    VERSION_NOT_MINOR = "api-minor-version-not-bumped", Error, None, Changed, "Whoever goes by the version takes a change of the contract for one of its words.";

    WAIVER_INVALID = "waiver-invalid", Error, None, Changed, "It waives nothing until it is complete.";
    WAIVER_EXPIRED = "waiver-expired", Error, None, Changed, "It waives nothing any more. Mend what it waived, or decide again and give a later day.";
    WAIVER_UNUSED = "waiver-unused", Warning, None, Changed, "It would waive the next change that fits, which nobody decided. Delete it.";
}

/// All rules, those that stand alone first.
pub fn all() -> impl Iterator<Item = Rule> {
    let in_families = FAMILIES.iter().flat_map(|family| Role::ALL.iter().map(|role| family.rule(*role)));
    ALONE.iter().copied().cloned().chain(in_families)
}

/// The rules and levels that oasdiff has (`checker/rules.go`, read at commit 4553c69 of August 2026), as
/// far as the names are ours too or our tests compare with them.
static OASDIFF: &str = include_str!("oasdiff.tsv");

/// How bad oasdiff finds what has this rule name: `error`, `warning` or `info`.
pub fn oasdiff(name: &str) -> Option<&'static str> {
    let mut rules = OASDIFF.lines().filter_map(|line| line.split_once('\t'));
    rules.find(|(rule, _)| *rule == name).map(|(_, level)| level)
}

/// All rules as a table in Markdown.
pub fn table() -> String {
    let mut table =
        "| rule | severity | version | oasdiff | whom it concerns |\n| --- | --- | --- | --- | --- |\n"
            .to_owned();
    for rule in all() {
        let bump = match rule.bump {
            Bump::None => "",
            Bump::Minor => "minor",
            Bump::Major => "major",
        };
        let theirs = oasdiff(&rule.name).unwrap_or("none");
        let _ =
            writeln!(table, "| `{}` | {} | {bump} | {theirs} | {} |", rule.name, rule.severity, rule.whom);
    }
    table
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_rule_has_a_name_of_its_own_and_a_sentence() {
        let mut names = HashSet::new();
        for rule in all() {
            assert!(names.insert(rule.name.clone()), "{} is there twice", rule.name);
            assert!(rule.whom.ends_with('.'), "{}", rule.name);
            assert!(rule.name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", rule.name);
        }
    }

    #[test]
    fn what_breaks_wants_a_new_major_version() {
        for rule in all().filter(|rule| rule.bump == Bump::Major) {
            assert_eq!(rule.severity, Severity::Error, "{}", rule.name);
        }
        assert_eq!(oasdiff("endpoint-added"), Some("info"));
        assert!(table().contains("| `endpoint-added` | info | minor | info |"));
    }
}
