//! The rules about schemas. One keyword and one way of changing it make a pair of rules: a lower `maximum`
//! refuses requests, but keeps responses within what clients expect.

use super::{Bump, ChangeRule, Chapter, OURS};
use crate::finding::Severity;
use crate::rule::Rule;

const REFUSED: &str = "Requests that the old version accepted are refused.";
const ACCEPTED: &str = "Requests that the old version refused are accepted.";
const MISUNDERSTOOD: &str = "Requests that the old version accepted are refused or understood differently.";
const SAME_REQUESTS: &str = "The same requests are accepted, but some are understood differently.";
const WITHIN: &str = "Responses stay within what the old version described.";
const UNEXPECTED: &str = "Clients may receive values that the old version ruled out.";
const OTHER_KIND: &str = "Clients may receive values of another kind than the old version described.";
const SAME_RESPONSES: &str = "Responses stay the same.";
const KEPT: &str = "It is not planned to be removed any more.";

/// The part that a schema plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::breaking) enum Role {
    /// The whole value of a parameter, which is text in the request.
    Parameter,
    /// A request body, or a part of a request.
    Request,
    /// The whole value of a header, which is text in the response.
    Header,
    /// A response body, or a part of a response.
    Response,
}

impl Role {
    /// Whether clients send the value, so that they break where it is refused. What clients receive breaks
    /// them where it is new.
    pub(in crate::breaking) fn is_request(self) -> bool {
        matches!(self, Self::Parameter | Self::Request)
    }

    /// Whether the value is text in the request or response, whatever its type.
    pub(in crate::breaking) fn is_text(self) -> bool {
        matches!(self, Self::Parameter | Self::Header)
    }

    /// The part that the properties and items of the schema play.
    pub(in crate::breaking) fn piece(self) -> Self {
        if self.is_request() { Self::Request } else { Self::Response }
    }
}

/// The two rules for one way of changing a schema.
#[derive(Debug)]
pub(in crate::breaking) struct Family {
    request: ChangeRule,
    response: ChangeRule,
}

impl Family {
    /// The rule for a schema in this role.
    pub(in crate::breaking) fn rule(&'static self, role: Role) -> &'static ChangeRule {
        if role.is_request() { &self.request } else { &self.response }
    }
}

const fn rule(
    name: &'static str,
    severity: Severity,
    explanation: &'static str,
    origin: &'static str,
    chapter: Chapter,
) -> ChangeRule {
    let bump = if matches!(severity, Severity::Error) { Bump::Major } else { Bump::Minor };
    ChangeRule { rule: Rule::comparison(name, severity, origin, explanation), bump, chapter }
}

macro_rules! families {
    ($($id:ident = $chapter:ident,
        $request:literal, $refusal:ident, $sent:expr, $request_origin:expr;
        $response:literal, $surprise:ident, $received:expr, $response_origin:expr;)*) => {
        $(pub(in crate::breaking) static $id: Family = Family {
            request: rule($request, Severity::$refusal, $sent, $request_origin, Chapter::$chapter),
            response: rule($response, Severity::$surprise, $received, $response_origin, Chapter::$chapter),
        };)*
        static FAMILIES: &[&Family] = &[$(&$id),*];
    };
}

/// The rules about schemas.
pub(super) fn rules() -> impl Iterator<Item = &'static ChangeRule> {
    FAMILIES.iter().flat_map(|family| [&family.request, &family.response])
}

families! {
    TYPE_CHANGED = Changed, "request-type-changed", Error, MISUNDERSTOOD, "oasdiff: request-body-type-changed, request-parameter-property-type-changed, request-parameter-type-changed, request-property-type-changed";
        "response-type-changed", Error, OTHER_KIND, "oasdiff: response-body-type-changed, response-header-type-changed, response-property-type-changed";
    TYPE_GENERALIZED = Changed, "request-type-generalized", Info, ACCEPTED, "oasdiff: request-body-type-generalized, request-parameter-property-type-generalized, request-parameter-type-generalized, request-property-type-generalized";
        "response-type-generalized", Error, UNEXPECTED, "oasdiff: response-body-type-generalized, response-header-type-changed, response-header-type-generalized, response-property-type-generalized";
    TYPE_SPECIALIZED = Changed, "request-type-specialized", Error, REFUSED, "oasdiff: request-body-type-changed, request-parameter-property-type-specialized, request-parameter-type-changed, request-property-type-changed";
        "response-type-specialized", Info, WITHIN, "oasdiff: response-body-type-specialized, response-header-type-compatible, response-header-type-specialized, response-property-type-specialized";
    NULLABLE = Changed, "request-became-nullable", Info, ACCEPTED, "oasdiff: request-body-became-nullable, request-parameter-became-nullable, request-parameter-property-became-nullable, request-property-became-nullable";
        "response-became-nullable", Error, UNEXPECTED, "oasdiff: response-body-became-nullable, response-header-became-nullable, response-property-became-nullable";
    NOT_NULLABLE = Changed, "request-became-not-nullable", Error, REFUSED, "oasdiff: request-body-became-not-nullable, request-parameter-became-not-nullable, request-parameter-property-became-not-nullable, request-property-became-not-nullable";
        "response-became-not-nullable", Info, WITHIN, "oasdiff: response-body-became-not-nullable, response-header-became-not-nullable, response-property-became-not-nullable";
    ENUM_SET = Changed, "request-became-enum", Error, REFUSED, "oasdiff: request-body-became-enum, request-parameter-became-enum, request-property-became-enum";
        "response-became-enum", Info, WITHIN, OURS;
    ENUM_UNSET = Changed, "request-became-not-enum", Info, ACCEPTED, OURS;
        "response-became-not-enum", Error, UNEXPECTED, OURS;
    ENUM_VALUE_ADDED = Added, "request-enum-value-added", Info, ACCEPTED, "oasdiff: request-parameter-enum-value-added, request-parameter-property-enum-value-added, request-property-enum-value-added";
        "response-enum-value-added", Error, UNEXPECTED, "oasdiff: response-property-enum-value-added";
    ENUM_VALUE_REMOVED = Removed, "request-enum-value-removed", Error, REFUSED, "oasdiff: request-body-enum-value-removed, request-parameter-enum-value-removed, request-parameter-property-enum-value-removed, request-property-enum-value-removed";
        "response-enum-value-removed", Info, WITHIN, "oasdiff: response-mediatype-enum-value-removed, response-property-enum-value-removed";
    MAX_SET = Changed, "request-max-set", Error, REFUSED, "oasdiff: request-body-max-set, request-parameter-max-set, request-property-max-set";
        "response-max-set", Info, WITHIN, OURS;
    MAX_UNSET = Changed, "request-max-unset", Info, ACCEPTED, OURS;
        "response-max-unset", Error, UNEXPECTED, OURS;
    MAX_INCREASED = Changed, "request-max-increased", Info, ACCEPTED, "oasdiff: request-body-max-increased, request-parameter-max-increased, request-property-max-increased";
        "response-max-increased", Error, UNEXPECTED, "oasdiff: response-body-max-increased, response-property-max-increased";
    MAX_DECREASED = Changed, "request-max-decreased", Error, REFUSED, "oasdiff: request-body-max-decreased, request-parameter-max-decreased, request-property-max-decreased";
        "response-max-decreased", Info, WITHIN, OURS;
    EXCLUSIVE_MAX_SET = Changed, "request-exclusive-max-set", Error, REFUSED, "oasdiff: request-body-exclusive-max-set, request-parameter-exclusive-max-set, request-property-exclusive-max-set";
        "response-exclusive-max-set", Info, WITHIN, OURS;
    EXCLUSIVE_MAX_UNSET = Changed, "request-exclusive-max-unset", Info, ACCEPTED, OURS;
        "response-exclusive-max-unset", Error, UNEXPECTED, OURS;
    MIN_SET = Changed, "request-min-set", Error, REFUSED, "oasdiff: request-body-min-set, request-parameter-min-set, request-property-min-set";
        "response-min-set", Info, WITHIN, OURS;
    MIN_UNSET = Changed, "request-min-unset", Info, ACCEPTED, OURS;
        "response-min-unset", Error, UNEXPECTED, OURS;
    MIN_INCREASED = Changed, "request-min-increased", Error, REFUSED, "oasdiff: request-body-min-increased, request-parameter-min-increased, request-property-min-increased";
        "response-min-increased", Info, WITHIN, OURS;
    MIN_DECREASED = Changed, "request-min-decreased", Info, ACCEPTED, "oasdiff: request-body-min-decreased, request-parameter-min-decreased, request-property-min-decreased";
        "response-min-decreased", Error, UNEXPECTED, "oasdiff: response-body-min-decreased, response-property-min-decreased";
    EXCLUSIVE_MIN_SET = Changed, "request-exclusive-min-set", Error, REFUSED, "oasdiff: request-body-exclusive-min-set, request-parameter-exclusive-min-set, request-property-exclusive-min-set";
        "response-exclusive-min-set", Info, WITHIN, OURS;
    EXCLUSIVE_MIN_UNSET = Changed, "request-exclusive-min-unset", Info, ACCEPTED, OURS;
        "response-exclusive-min-unset", Error, UNEXPECTED, OURS;
    MAX_LENGTH_SET = Changed, "request-max-length-set", Error, REFUSED, "oasdiff: request-body-max-length-set, request-parameter-max-length-set, request-property-max-length-set";
        "response-max-length-set", Info, WITHIN, OURS;
    MAX_LENGTH_UNSET = Changed, "request-max-length-unset", Info, ACCEPTED, OURS;
        "response-max-length-unset", Error, UNEXPECTED, "oasdiff: response-body-max-length-unset, response-property-max-length-unset";
    MAX_LENGTH_INCREASED = Changed, "request-max-length-increased", Info, ACCEPTED, "oasdiff: request-body-max-length-increased, request-parameter-max-length-increased, request-property-max-length-increased";
        "response-max-length-increased", Error, UNEXPECTED, "oasdiff: response-body-max-length-increased, response-property-max-length-increased";
    MAX_LENGTH_DECREASED = Changed, "request-max-length-decreased", Error, REFUSED, "oasdiff: request-body-max-length-decreased, request-parameter-max-length-decreased, request-property-max-length-decreased";
        "response-max-length-decreased", Info, WITHIN, OURS;
    MIN_LENGTH_INCREASED = Changed, "request-min-length-increased", Error, REFUSED, "oasdiff: request-body-min-length-increased, request-parameter-min-length-increased, request-property-min-length-increased";
        "response-min-length-increased", Info, WITHIN, OURS;
    MIN_LENGTH_DECREASED = Changed, "request-min-length-decreased", Info, ACCEPTED, "oasdiff: request-body-min-length-decreased, request-parameter-min-length-decreased, request-property-min-length-decreased";
        "response-min-length-decreased", Error, UNEXPECTED, "oasdiff: response-body-min-length-decreased, response-property-min-length-decreased";
    MAX_ITEMS_SET = Changed, "request-max-items-set", Error, REFUSED, OURS;
        "response-max-items-set", Info, WITHIN, OURS;
    MAX_ITEMS_UNSET = Changed, "request-max-items-unset", Info, ACCEPTED, OURS;
        "response-max-items-unset", Error, UNEXPECTED, OURS;
    MAX_ITEMS_INCREASED = Changed, "request-max-items-increased", Info, ACCEPTED, "oasdiff: request-parameter-max-items-increased";
        "response-max-items-increased", Error, UNEXPECTED, OURS;
    MAX_ITEMS_DECREASED = Changed, "request-max-items-decreased", Error, REFUSED, "oasdiff: request-parameter-max-items-decreased";
        "response-max-items-decreased", Info, WITHIN, OURS;
    MIN_ITEMS_SET = Changed, "request-min-items-set", Error, REFUSED, "oasdiff: request-body-min-items-set, request-parameter-min-items-set, request-property-min-items-set";
        "response-min-items-set", Info, WITHIN, OURS;
    MIN_ITEMS_UNSET = Changed, "request-min-items-unset", Info, ACCEPTED, OURS;
        "response-min-items-unset", Error, UNEXPECTED, "oasdiff: response-body-min-items-unset, response-property-min-items-unset";
    MIN_ITEMS_INCREASED = Changed, "request-min-items-increased", Error, REFUSED, "oasdiff: request-body-min-items-increased, request-parameter-min-items-increased, request-property-min-items-increased";
        "response-min-items-increased", Info, WITHIN, OURS;
    MIN_ITEMS_DECREASED = Changed, "request-min-items-decreased", Info, ACCEPTED, "oasdiff: request-parameter-min-items-decreased";
        "response-min-items-decreased", Error, UNEXPECTED, "oasdiff: response-body-min-items-decreased, response-property-min-items-decreased";
    MAX_PROPERTIES_SET = Changed, "request-max-properties-set", Error, REFUSED, OURS;
        "response-max-properties-set", Info, WITHIN, OURS;
    MAX_PROPERTIES_UNSET = Changed, "request-max-properties-unset", Info, ACCEPTED, OURS;
        "response-max-properties-unset", Error, UNEXPECTED, OURS;
    MAX_PROPERTIES_INCREASED = Changed, "request-max-properties-increased", Info, ACCEPTED, OURS;
        "response-max-properties-increased", Error, UNEXPECTED, OURS;
    MAX_PROPERTIES_DECREASED = Changed, "request-max-properties-decreased", Error, REFUSED, OURS;
        "response-max-properties-decreased", Info, WITHIN, OURS;
    MIN_PROPERTIES_INCREASED = Changed, "request-min-properties-increased", Error, REFUSED, OURS;
        "response-min-properties-increased", Info, WITHIN, OURS;
    MIN_PROPERTIES_DECREASED = Changed, "request-min-properties-decreased", Info, ACCEPTED, OURS;
        "response-min-properties-decreased", Error, UNEXPECTED, OURS;
    MULTIPLE_SET = Changed, "request-multiple-of-set", Error, REFUSED, OURS;
        "response-multiple-of-set", Info, WITHIN, OURS;
    MULTIPLE_UNSET = Changed, "request-multiple-of-unset", Info, ACCEPTED, OURS;
        "response-multiple-of-unset", Error, UNEXPECTED, OURS;
    MULTIPLE_CHANGED = Changed, "request-multiple-of-changed", Error, MISUNDERSTOOD, OURS;
        "response-multiple-of-changed", Error, OTHER_KIND, OURS;
    UNIQUE_SET = Changed, "request-unique-items-set", Error, REFUSED, OURS;
        "response-unique-items-set", Info, WITHIN, OURS;
    UNIQUE_UNSET = Changed, "request-unique-items-unset", Info, ACCEPTED, OURS;
        "response-unique-items-unset", Error, UNEXPECTED, OURS;
    PATTERN_ADDED = Changed, "request-pattern-added", Error, REFUSED, "oasdiff: request-parameter-pattern-added, request-property-pattern-added";
        "response-pattern-added", Info, WITHIN, "oasdiff: response-property-pattern-added";
    PATTERN_REMOVED = Changed, "request-pattern-removed", Info, ACCEPTED, "oasdiff: request-parameter-pattern-removed, request-property-pattern-removed";
        "response-pattern-removed", Error, UNEXPECTED, "oasdiff: response-property-pattern-removed";
    PATTERN_CHANGED = Changed, "request-pattern-changed", Error, "Requests may be refused: whether the new pattern matches all that the old one matched is not known.", "oasdiff: request-parameter-pattern-changed, request-property-pattern-changed";
        "response-pattern-changed", Warning, "Clients may receive values that do not match the old pattern.", "oasdiff: response-property-pattern-changed";
    PATTERN_GENERALIZED = Changed, "request-pattern-generalized", Info, ACCEPTED, "oasdiff: request-parameter-pattern-generalized, request-property-pattern-generalized";
        "response-pattern-generalized", Error, UNEXPECTED, OURS;
    DEFAULT_ADDED = Changed, "request-default-value-added", Warning, SAME_REQUESTS, "oasdiff: request-body-default-value-added, request-property-default-value-added";
        "response-default-value-added", Info, SAME_RESPONSES, "oasdiff: response-body-default-value-added, response-property-default-value-added";
    DEFAULT_REMOVED = Changed, "request-default-value-removed", Warning, SAME_REQUESTS, "oasdiff: request-body-default-value-removed, request-property-default-value-removed";
        "response-default-value-removed", Info, SAME_RESPONSES, "oasdiff: response-body-default-value-removed, response-property-default-value-removed";
    DEFAULT_CHANGED = Changed, "request-default-value-changed", Error, SAME_REQUESTS, "oasdiff: request-body-default-value-changed, request-parameter-default-value-changed, request-property-default-value-changed";
        "response-default-value-changed", Info, SAME_RESPONSES, "oasdiff: response-body-default-value-changed, response-property-default-value-changed";
    ADDITIONAL_CLOSED = Changed, "request-additional-properties-forbidden", Error, REFUSED, OURS;
        "response-additional-properties-forbidden", Info, WITHIN, OURS;
    ADDITIONAL_OPENED = Changed, "request-additional-properties-allowed", Info, ACCEPTED, OURS;
        "response-additional-properties-allowed", Warning, "Clients that refuse unknown properties may fail.", OURS;
    ADDITIONAL_NARROWED = Changed, "request-additional-properties-specialized", Error, REFUSED, OURS;
        "response-additional-properties-specialized", Info, WITHIN, OURS;
    ADDITIONAL_WIDENED = Changed, "request-additional-properties-generalized", Info, ACCEPTED, OURS;
        "response-additional-properties-generalized", Error, UNEXPECTED, OURS;
    ONE_OF_ADDED = Added, "request-one-of-added", Info, ACCEPTED, "oasdiff: request-body-one-of-added, request-property-one-of-added";
        "response-one-of-added", Error, UNEXPECTED, "oasdiff: response-body-one-of-added, response-property-one-of-added";
    ONE_OF_REMOVED = Removed, "request-one-of-removed", Error, REFUSED, "oasdiff: request-body-one-of-removed, request-property-one-of-removed";
        "response-one-of-removed", Info, WITHIN, "oasdiff: response-body-one-of-removed, response-property-one-of-removed";
    ANY_OF_ADDED = Added, "request-any-of-added", Info, ACCEPTED, "oasdiff: request-body-any-of-added, request-property-any-of-added";
        "response-any-of-added", Error, UNEXPECTED, "oasdiff: response-body-any-of-added, response-property-any-of-added";
    ANY_OF_REMOVED = Removed, "request-any-of-removed", Error, REFUSED, "oasdiff: request-body-any-of-removed, request-property-any-of-removed";
        "response-any-of-removed", Info, WITHIN, "oasdiff: response-body-any-of-removed, response-property-any-of-removed";
    WRAPPED = Changed, "request-wrapped-in-one-of", Warning, "Requests that match several alternatives are refused, and generated clients have another type.", "oasdiff: request-body-wrapped-in-one-of";
        "response-wrapped-in-one-of", Error, OTHER_KIND, "oasdiff: response-body-wrapped-in-one-of";
    UNWRAPPED = Changed, "request-unwrapped-from-one-of", Error, MISUNDERSTOOD, OURS;
        "response-unwrapped-from-one-of", Warning, "Responses stay within what the old version described, but generated clients have another type.", OURS;
    ALTERNATIVES_SET = Changed, "request-alternatives-set", Error, REFUSED, OURS;
        "response-alternatives-set", Info, WITHIN, OURS;
    ALTERNATIVES_UNSET = Changed, "request-alternatives-unset", Info, ACCEPTED, OURS;
        "response-alternatives-unset", Error, UNEXPECTED, OURS;
    NOT_SET = Changed, "request-not-set", Error, REFUSED, OURS;
        "response-not-set", Info, WITHIN, OURS;
    NOT_UNSET = Changed, "request-not-unset", Info, ACCEPTED, OURS;
        "response-not-unset", Error, UNEXPECTED, OURS;
    NOT_CHANGED = Changed, "request-not-changed", Error, MISUNDERSTOOD, OURS;
        "response-not-changed", Error, OTHER_KIND, OURS;
    DISCRIMINATOR_ADDED = Changed, "request-discriminator-added", Warning, SAME_REQUESTS, "oasdiff: request-body-discriminator-added, request-property-discriminator-added";
        "response-discriminator-added", Info, SAME_RESPONSES, "oasdiff: response-body-discriminator-added, response-property-discriminator-added";
    DISCRIMINATOR_REMOVED = Changed, "request-discriminator-removed", Warning, SAME_REQUESTS, "oasdiff: request-body-discriminator-removed, request-property-discriminator-removed";
        "response-discriminator-removed", Error, "Clients that choose a type by the property can no longer do so.", "oasdiff: response-body-discriminator-removed, response-property-discriminator-removed";
    DISCRIMINATOR_RENAMED = Changed, "request-discriminator-property-name-changed", Error, MISUNDERSTOOD, "oasdiff: request-body-discriminator-property-name-changed, request-property-discriminator-property-name-changed";
        "response-discriminator-property-name-changed", Error, OTHER_KIND, "oasdiff: response-body-discriminator-property-name-changed, response-property-discriminator-property-name-changed";
    MAPPING_ADDED = Changed, "request-discriminator-mapping-added", Info, ACCEPTED, "oasdiff: request-body-discriminator-mapping-added, request-property-discriminator-mapping-added";
        "response-discriminator-mapping-added", Error, UNEXPECTED, "oasdiff: response-body-discriminator-mapping-added, response-property-discriminator-mapping-added";
    MAPPING_DELETED = Changed, "request-discriminator-mapping-deleted", Error, REFUSED, "oasdiff: request-body-discriminator-mapping-deleted, request-property-discriminator-mapping-deleted";
        "response-discriminator-mapping-deleted", Info, WITHIN, "oasdiff: response-body-discriminator-mapping-deleted, response-property-discriminator-mapping-deleted";
    MAPPING_CHANGED = Changed, "request-discriminator-mapping-changed", Error, MISUNDERSTOOD, "oasdiff: request-body-discriminator-mapping-changed, request-property-discriminator-mapping-changed";
        "response-discriminator-mapping-changed", Error, OTHER_KIND, "oasdiff: response-body-discriminator-mapping-changed, response-property-discriminator-mapping-changed";
    SCHEMA_DEPRECATED = Deprecated, "request-deprecated", Info, "The value still works. Plan requests without it.", "oasdiff: request-parameter-deprecated, request-property-deprecated";
        "response-deprecated", Info, "The value is still sent. Plan clients without it.", "oasdiff: response-property-deprecated";
    SCHEMA_REACTIVATED = Changed, "request-reactivated", Info, KEPT, "oasdiff: request-parameter-reactivated, request-property-reactivated";
        "response-reactivated", Info, KEPT, "oasdiff: response-property-reactivated";
}
