//! Every rule: its name, its severity, the version increment that it requires, and its impact on clients.
//!
//! The names are those of oasdiff where it has the same rule, so that people can look them up. The rules about
//! schemas are pairs, one for requests and one for responses, in [`schemas`].

mod callbacks;
mod schemas;

pub(super) use callbacks::reversed;
pub(super) use schemas::*;

use std::ops::Deref;

use crate::finding::Severity;
use crate::rule::Rule;
use crate::understood;

const OASDIFF: &str = "oasdiff";
const OURS: &str = "this project";

/// The increment of `info.version` that a change requires, from the least to the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bump {
    /// The contract is the same.
    None,
    /// Requests and responses are the same, but generated clients or other programs may be affected.
    Patch,
    /// The contract changed without breaking a client.
    Minor,
    /// Clients break.
    Major,
}

/// The chapter of the changelog that a change belongs to, unless it breaks clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Chapter {
    /// New items.
    Added,
    /// Items that differ.
    Changed,
    /// Items that will be removed.
    Deprecated,
    /// Removed items.
    Removed,
}

/// A rule about a difference between two documents. Its explanation is the impact on clients.
#[derive(Debug, PartialEq, Eq)]
pub struct ChangeRule {
    /// Name, severity, explanation and origin.
    pub rule: Rule,
    /// The version increment that such a change requires.
    pub bump: Bump,
    /// The chapter of the changelog.
    pub chapter: Chapter,
    /// The fix, without its full stop. Empty if it is to undo the change.
    pub fix: &'static str,
}

impl Deref for ChangeRule {
    type Target = Rule;

    fn deref(&self) -> &Rule {
        &self.rule
    }
}

macro_rules! rules {
    ($($id:ident = $name:literal, $severity:ident, $bump:ident, $chapter:ident, $origin:expr, $explanation:literal $(, $fix:literal)?;)*) => {
        $(pub(super) static $id: ChangeRule = ChangeRule {
            rule: Rule::comparison($name, Severity::$severity, $origin, $explanation),
            bump: Bump::$bump,
            chapter: Chapter::$chapter,
            fix: concat!($($fix)?),
        };)*
        static SINGLE: &[&ChangeRule] = &[&NOT_UNDERSTOOD, $(&$id),*];
    };
}

/// The rule of a document of which some part is not understood.
pub(super) static NOT_UNDERSTOOD: ChangeRule =
    ChangeRule { rule: understood::NOT_UNDERSTOOD, bump: Bump::None, chapter: Chapter::Changed, fix: "" };

/// All rules, those about schemas last.
pub fn change_rules() -> impl Iterator<Item = &'static ChangeRule> {
    SINGLE.iter().copied().chain(schemas::rules())
}

rules! {
    ENDPOINT_ADDED = "endpoint-added", Info, Minor, Added, OASDIFF, "Clients can call one more operation.";
    REMOVED_WITHOUT_DEPRECATION = "api-removed-without-deprecation", Error, Major, Removed, "oasdiff: api-removed-without-deprecation, api-path-removed-without-deprecation", "Calls fail, and no earlier version announced it.", "Restore the operation and deprecate it";
    REMOVED_BEFORE_SUNSET = "api-removed-before-sunset", Error, Major, Removed, "oasdiff: api-removed-before-sunset, api-path-removed-before-sunset", "Calls fail before the announced sunset date.", "Restore the operation until its sunset date";
    REMOVED_WITHOUT_SUNSET = "api-removed-without-sunset", Error, Major, Removed, OURS, "Calls fail. The operation was deprecated, but without a date of removal.", "Restore the operation with `x-sunset`";
    REMOVED_WITH_DEPRECATION = "api-removed-with-deprecation", Info, Minor, Removed, "oasdiff: api-removed-with-deprecation, api-path-removed-with-deprecation", "The operation was deprecated, and its sunset date has passed.";
    REMOVED_SUNSET_PARSE = "api-path-sunset-parse", Error, Major, Removed, OASDIFF, "Calls fail. The operation was deprecated, but its date of removal was not a date.";
    DEPRECATED = "endpoint-deprecated-with-sunset", Info, Minor, Deprecated, OASDIFF, "The operation works until its sunset date. Clients have to stop calling it by then.";
    DEPRECATED_SUNSET_MISSING = "api-deprecated-sunset-missing", Warning, Minor, Deprecated, OASDIFF, "Clients cannot know how long the operation will work.", "Add `x-sunset`";
    DEPRECATED_SUNSET_PARSE = "api-deprecated-sunset-parse", Error, Minor, Deprecated, OASDIFF, "Clients cannot know how long the operation will work.", "Write `x-sunset` as YYYY-MM-DD";
    SUNSET_TOO_SMALL = "api-sunset-date-too-small", Error, Minor, Deprecated, OASDIFF, "Clients have no time to change.", "Choose a later date";
    SUNSET_DELETED = "sunset-deleted", Error, Minor, Deprecated, OASDIFF, "Clients no longer know how long the operation will work.";
    SUNSET_EARLIER = "api-sunset-date-changed-too-small", Error, Major, Deprecated, OASDIFF, "Clients have less time to change than was announced.";
    SUNSET_LATER = "api-sunset-date-changed-later", Info, Minor, Deprecated, OURS, "Clients have more time to change.";
    STABILITY_DECREASED = "api-stability-decreased", Error, Major, Changed, OURS, "Clients may expect fewer breaking changes than there will be.";
    STABILITY_INCREASED = "api-stability-increased", Info, Minor, Changed, OURS, "Clients may rely on the operation more than before.";
    STABILITY_INVALID = "api-invalid-stability-level", Error, Minor, Changed, OURS, "Clients cannot know how far they may rely on the operation.";
    REACTIVATED = "endpoint-reactivated", Info, Minor, Changed, OASDIFF, "The operation is not planned to be removed any more.";

    PATH_PARAMETER_RENAMED = "path-parameter-renamed", Info, Patch, Changed, OURS, "Requests stay the same. Generated clients may have another name for the argument.";
    OPERATION_ID_REMOVED = "api-operation-id-removed", Info, Patch, Changed, OASDIFF, "Requests stay the same. Programs that use a generated client no longer compile, since it names the function after the operationId.";
    OPERATION_ID_ADDED = "api-operation-id-added", Info, Patch, Changed, OASDIFF, "Generated clients have a name for the function.";
    TAG_REMOVED = "api-tag-removed", Info, Patch, Changed, OASDIFF, "Some generated clients group their functions by tag.";
    TAG_ADDED = "api-tag-added", Info, Patch, Changed, OASDIFF, "Some generated clients group their functions by tag.";

    PARAMETER_ADDED_REQUIRED = "new-required-request-parameter", Error, Major, Added, OASDIFF, "Requests without the parameter are refused.", "Make it optional";
    PARAMETER_ADDED_OPTIONAL = "new-optional-request-parameter", Info, Minor, Added, OASDIFF, "Requests may contain one more parameter.";
    PATH_PARAMETER_ADDED = "new-request-path-parameter", Error, Major, Added, OASDIFF, "Requests with other values in the path may be refused.";
    PARAMETER_REMOVED = "request-parameter-removed", Error, Major, Removed, OASDIFF, "Requests with the parameter are refused, or the parameter is ignored.";
    PARAMETER_REMOVED_DEPRECATED = "request-parameter-removed-with-deprecation", Info, Minor, Removed, OASDIFF, "The parameter was deprecated, and its sunset date has passed.";
    PARAMETER_REMOVED_BEFORE_SUNSET = "request-parameter-removed-before-sunset", Error, Major, Removed, OASDIFF, "Requests with the parameter fail before its announced sunset date.";
    PARAMETER_MOVED = "request-parameter-location-changed", Error, Major, Changed, OURS, "Requests with the parameter in the old location are refused, or the parameter is ignored.";
    PARAMETER_REQUIRED = "request-parameter-became-required", Error, Major, Changed, OASDIFF, "Requests without the parameter are refused.", "Keep it optional";
    PARAMETER_OPTIONAL = "request-parameter-became-optional", Info, Minor, Changed, OASDIFF, "Requests may omit the parameter.";
    PARAMETER_DEFAULT_ADDED = "request-parameter-default-value-added", Error, Major, Changed, OASDIFF, "Requests without the parameter are understood differently.";
    PARAMETER_DEFAULT_REMOVED = "request-parameter-default-value-removed", Error, Major, Changed, OASDIFF, "Requests without the parameter are understood differently.";
    PARAMETER_SERIALIZATION = "request-parameter-serialization-changed", Error, Major, Changed, OURS, "Values serialized in the old way are misunderstood.";
    PARAMETER_BECAME_LIST = "request-parameter-became-list", Info, Minor, Changed, OURS, "Requests may contain several values. One value is a list of one, so the old requests are valid.";
    PARAMETER_BECAME_SPLIT_LIST = "request-parameter-became-split-list", Warning, Minor, Changed, OURS, "Requests may contain several values. One value is a list of one, unless it contains a comma.";
    PARAMETER_SPELLING_NARROWED = "request-parameter-spelling-narrowed", Error, Major, Changed, OURS, "Requests with such values are refused or misunderstood.";
    PARAMETER_SPELLING_WIDENED = "request-parameter-spelling-widened", Info, Minor, Changed, OURS, "Requests may contain such values.";

    BODY_ADDED_REQUIRED = "request-body-added-required", Error, Major, Added, OASDIFF, "Requests without a body are refused.", "Make the body optional";
    BODY_ADDED_OPTIONAL = "request-body-added-optional", Info, Minor, Added, OASDIFF, "Requests may have a body.";
    BODY_REMOVED = "request-body-removed", Error, Major, Removed, OASDIFF, "Requests with a body are refused, or the body is ignored.";
    BODY_REQUIRED = "request-body-became-required", Error, Major, Changed, OASDIFF, "Requests without a body are refused.";
    BODY_OPTIONAL = "request-body-became-optional", Info, Minor, Changed, OASDIFF, "Requests may omit the body.";
    REQUEST_MEDIA_ADDED = "request-body-media-type-added", Info, Minor, Added, OASDIFF, "Requests may send the body in one more media type.";
    REQUEST_MEDIA_REMOVED = "request-body-media-type-removed", Error, Major, Removed, OASDIFF, "Requests with a body of this media type are refused.";
    RESPONSE_MEDIA_ADDED = "response-media-type-added", Info, Minor, Added, OASDIFF, "Clients may ask for one more media type.";
    RESPONSE_MEDIA_REMOVED = "response-media-type-removed", Error, Major, Removed, OASDIFF, "Clients that read this media type receive another one, or an error.";
    ENCODING_WIDENED = "request-body-encoding-widened", Info, Minor, Changed, OURS, "Request bodies may have parts that are encoded in more ways.";
    ENCODING_CHANGED = "request-body-encoding-changed", Error, Major, Changed, OURS, "Request bodies whose parts are encoded in the old way are misunderstood.";

    SUCCESS_REMOVED = "response-success-status-removed", Error, Major, Removed, OASDIFF, "Clients that expect this status never receive it.";
    SUCCESS_ADDED = "response-success-status-added", Info, Minor, Added, OASDIFF, "Clients may receive one more status that means success.";
    FAILURE_REMOVED = "response-non-success-status-removed", Info, Minor, Removed, OASDIFF, "Clients no longer receive this status.";
    FAILURE_ADDED = "response-non-success-status-added", Info, Minor, Added, OASDIFF, "Clients may receive one more status that means failure.";
    STATUS_DESCRIBED = "response-status-described", Info, Minor, Changed, OURS, "Clients receive what `default` described.";
    STATUS_DESCRIBED_ANEW = "response-status-described-anew", Warning, Minor, Changed, OURS, "Clients that read the response as `default` described it may not understand it.", "Describe the status like `default`";
    LINKS_CHANGED = "response-links-changed", Warning, Minor, Changed, OURS, "Clients that follow the links by name may not find one.";
    CALLBACK_REMOVED = "callback-removed", Error, Major, Removed, OURS, "Clients that wait for the request never receive it.";
    CALLBACK_ADDED = "callback-added", Info, Minor, Added, OURS, "Clients may receive one more request.";
    CALLBACK_REQUEST_INCOMPATIBLE = "callback-request-incompatible", Error, Major, Changed, OURS, "Clients receive requests other than the old version described.";
    CALLBACK_REQUEST_CHANGED = "callback-request-changed", Info, Minor, Changed, OURS, "The requests that clients receive contain all that the old version described.";
    CALLBACK_REPLY_INCOMPATIBLE = "callback-reply-incompatible", Error, Major, Changed, OURS, "Replies of clients that the old version accepted are refused or misunderstood.";
    CALLBACK_REPLY_CHANGED = "callback-reply-changed", Info, Minor, Changed, OURS, "Clients may reply in all ways that the old version accepted.";
    CALLBACKS_CHANGED = "api-callbacks-changed", Warning, Minor, Changed, OURS, "Servers that receive the callbacks may be affected.", "Compare the two versions by hand: this part of a callback is not compared in detail";
    HEADER_ADDED = "response-header-added", Info, Minor, Added, OASDIFF, "Responses have one more header.";
    HEADER_REMOVED_REQUIRED = "required-response-header-removed", Error, Major, Removed, OASDIFF, "Clients that rely on the header do not find it.";
    HEADER_REMOVED_OPTIONAL = "optional-response-header-removed", Warning, Minor, Removed, OASDIFF, "Clients that read the header when it is present never find it.";
    HEADER_OPTIONAL = "response-header-became-optional", Error, Major, Changed, OASDIFF, "Clients that rely on the header may not find it.";
    HEADER_REQUIRED = "response-header-became-required", Info, Minor, Changed, OURS, "Responses always have the header.";
    HEADER_SERIALIZATION = "response-header-serialization-changed", Error, Major, Changed, OURS, "Clients that parse the value in the old way misunderstand it.";

    NEW_REQUIRED_PROPERTY = "new-required-request-property", Error, Major, Added, OASDIFF, "Requests without the property are refused.", "Make it optional";
    NEW_REQUIRED_PROPERTY_WITH_DEFAULT = "new-required-request-property-with-default", Error, Major, Added, OASDIFF, "Requests without the property are refused: a default does not make a required property optional.", "Make it optional";
    NEW_OPTIONAL_PROPERTY = "new-optional-request-property", Info, Minor, Added, OASDIFF, "Requests may contain one more property.";
    REQUEST_PROPERTY_REMOVED = "request-property-removed", Warning, Minor, Removed, OASDIFF, "The property is ignored where requests contain it.";
    REQUEST_REQUIRED_PROPERTY_REMOVED = "request-required-property-removed", Error, Major, Removed, OURS, "Requests without the property are refused, but the schema no longer lists it, so new clients do not send it.";
    REQUEST_PROPERTY_REFUSED = "request-property-removed-and-refused", Error, Major, Removed, OURS, "Requests with the property are refused, since the schema forbids properties that it does not list.";
    REQUEST_PROPERTY_REQUIRED = "request-property-became-required", Error, Major, Changed, OASDIFF, "Requests without the property are refused.", "Keep it optional";
    REQUEST_PROPERTY_REQUIRED_WITH_DEFAULT = "request-property-became-required-with-default", Error, Major, Changed, OASDIFF, "Requests without the property are refused: a default does not make a required property optional.", "Keep it optional";
    REQUEST_PROPERTY_OPTIONAL = "request-property-became-optional", Info, Minor, Changed, OASDIFF, "Requests may omit the property.";
    RESPONSE_REQUIRED_PROPERTY_ADDED = "response-required-property-added", Info, Minor, Added, OASDIFF, "Responses always have one more property.";
    RESPONSE_OPTIONAL_PROPERTY_ADDED = "response-optional-property-added", Info, Minor, Added, OASDIFF, "Responses may have one more property.";
    RESPONSE_PROPERTY_ADDED_TO_CLOSED = "response-property-added-to-closed-object", Error, Major, Added, OURS, "Clients that validate responses by the old `additionalProperties: false` refuse them.";
    RESPONSE_REQUIRED_PROPERTY_REMOVED = "response-required-property-removed", Error, Major, Removed, OASDIFF, "Clients that rely on the property do not find it.";
    RESPONSE_OPTIONAL_PROPERTY_REMOVED = "response-optional-property-removed", Warning, Minor, Removed, OASDIFF, "Clients that read the property when it is present never find it.";
    RESPONSE_PROPERTY_OPTIONAL = "response-property-became-optional", Error, Major, Changed, OASDIFF, "Clients that rely on the property may not find it.", "Keep it required";
    RESPONSE_PROPERTY_REQUIRED = "response-property-became-required", Info, Minor, Changed, OASDIFF, "Responses always have the property.";
    REQUEST_READ_ONLY = "request-property-became-read-only", Warning, Minor, Changed, OURS, "The property is ignored or refused where requests contain it.";
    REQUEST_REQUIRED_NOT_READ_ONLY = "request-required-property-became-not-read-only", Error, Major, Changed, OASDIFF, "Requests without the property are refused.";
    REQUEST_OPTIONAL_NOT_READ_ONLY = "request-optional-property-became-not-read-only", Info, Minor, Changed, OASDIFF, "Requests may contain the property.";
    RESPONSE_REQUIRED_WRITE_ONLY = "response-required-property-became-write-only", Error, Major, Changed, OASDIFF, "Clients that rely on the property do not find it.";
    RESPONSE_OPTIONAL_WRITE_ONLY = "response-optional-property-became-write-only", Warning, Minor, Changed, OASDIFF, "Clients that read the property when it is present never find it.";
    RESPONSE_NOT_WRITE_ONLY = "response-property-became-not-write-only", Info, Minor, Changed, OURS, "Responses may have the property.";
    SCHEMA_ADDED = "api-schema-added", Info, Patch, Added, OURS, "Generated clients have one more type.";
    SCHEMA_REMOVED = "api-schema-removed", Info, Patch, Removed, OASDIFF, "Requests and responses stay the same. Generated clients no longer have a type of this name.";

    SECURITY_REQUIRED = "api-security-required", Error, Major, Changed, OURS, "Requests without credentials are refused.", "Accept requests without credentials";
    SECURITY_LIFTED = "api-security-lifted", Warning, Minor, Changed, OURS, "No client breaks, but requests without credentials are accepted.", "Check that this is intended";
    SECURITY_REMOVED = "api-security-removed", Error, Major, Removed, "oasdiff: api-security-removed, api-global-security-removed", "Requests with these credentials are refused.";
    SECURITY_ADDED = "api-security-added", Info, Minor, Added, "oasdiff: api-security-added, api-global-security-added", "Requests may use other credentials instead.";
    SCOPE_ADDED = "api-security-scope-added", Error, Major, Changed, "oasdiff: api-security-scope-added, api-global-security-scope-added", "Requests whose credentials lack the scope are refused.";
    SCOPE_REMOVED = "api-security-scope-removed", Info, Minor, Changed, "oasdiff: api-security-scope-removed, api-global-security-scope-removed", "Credentials need fewer scopes.";
    SCHEME_RENAMED = "api-security-component-renamed", Info, Patch, Changed, OURS, "Requests stay the same. Generated clients may have another name for the credentials.";
    SCHEME_TYPE = "api-security-component-type-changed", Error, Major, Changed, OASDIFF, "Credentials of the old kind are refused.";
    SCHEME_PLACE = "api-security-component-place-changed", Error, Major, Changed, OURS, "Credentials that are sent in the old way are not found.";
    SCHEME_BEARER_FORMAT = "api-security-component-bearer-format-changed", Info, Minor, Changed, OURS, "Clients that parse the token may fail.";
    SCHEME_AUTHORIZATION_URL = "api-security-component-oauth-url-changed", Error, Major, Changed, OASDIFF, "Clients that ask for authorization at the old URL receive none.";
    SCHEME_TOKEN_URL = "api-security-component-oauth-token-url-changed", Error, Major, Changed, OASDIFF, "Clients that fetch tokens at the old URL receive none.";
    SCHEME_SCOPE_ADDED = "api-security-component-oauth-scope-added", Info, Minor, Added, OASDIFF, "Clients may ask for one more scope.";
    SCHEME_SCOPE_REMOVED = "api-security-component-oauth-scope-removed", Error, Major, Removed, OASDIFF, "Clients that ask for the scope are refused.";
    SCHEME_FLOW_ADDED = "api-security-component-oauth-flow-added", Info, Minor, Added, OURS, "Clients may obtain tokens in one more way.";
    SCHEME_FLOW_REMOVED = "api-security-component-oauth-flow-removed", Error, Major, Removed, OURS, "Clients that obtain tokens in this way receive none.";

    SERVER_ADDED = "server-added", Info, Minor, Added, OURS, "Clients may send requests to one more URL.";
    SERVER_REMOVED = "server-removed", Error, Major, Removed, OURS, "Requests to the URL may fail.";

    EXTENSION_CHANGED = "extension-changed", Info, Patch, Changed, OURS, "Programs that read the extension may be affected.";
    KEYWORD_CHANGED = "keyword-changed", Warning, Minor, Changed, OURS, "The keyword is not compared in detail, so clients may be affected.", "Check whether clients use it";

    VERSION_UNREADABLE = "api-version-unreadable", Warning, None, Changed, OURS, "Neither this check nor clients can compare the version with others.", "Write it as MAJOR.MINOR.PATCH (semver.org), or switch the rule off: `\"api-version-unreadable\" = \"off\"` below `[rules]` in `contract.toml`";
    VERSION_DECREASED = "api-version-decreased", Error, None, Changed, OASDIFF, "Clients that compare versions treat the older contract as the newer one.";
    VERSION_SAME = "api-version-not-bumped", Error, None, Changed, OASDIFF, "Two different contracts would have one version.";
    VERSION_NOT_MAJOR = "api-major-version-not-bumped", Error, None, Changed, OASDIFF, "Clients that compare versions treat a breaking change as compatible.";
    VERSION_NOT_MINOR = "api-minor-version-not-bumped", Error, None, Changed, OURS, "Clients that compare versions do not see that the contract changed.";

    WAIVER_EXPIRED = "waiver-expired", Error, None, Changed, OURS, "The waiver has no effect any more.", "Undo the change that it waived, or set a later date";
    WAIVER_UNUSED = "waiver-unused", Warning, None, Changed, OURS, "The waiver would cover the next change that matches.", "Delete it";
}
