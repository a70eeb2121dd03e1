//! The rules about schemas. One keyword and one way of changing it make a pair of rules: a lower `maximum`
//! refuses requests, but keeps responses within what clients expect.

use document::openapi::is_json;

use super::{Bump, ChangeRule, Chapter, OURS};
use crate::finding::Severity::{self, Error, Info, Warning};
use crate::rule::Rule;

const MISUNDERSTOOD: &str = "Requests that the old version accepted are refused or understood differently.";
const SAME_REQUESTS: &str = "The same requests are accepted, but some are understood differently.";
const OTHER_KIND: &str = "Clients may receive values of another kind than the old version described.";
const SAME_RESPONSES: &str = "Responses stay the same.";
const NOT_DEPRECATED: &str = "It is not planned to be removed any more.";

/// The severity of a change, and its impact on clients.
type Impact = (Severity, &'static str);

/// The impact on requests and responses of allowing fewer values.
const NARROWED: (Impact, Impact) = (
    (Error, "Requests that the old version accepted are refused."),
    (Info, "Responses stay within what the old version described."),
);
/// The impact of allowing more values.
const WIDENED: (Impact, Impact) = (
    (Info, "Requests that the old version refused are accepted."),
    (Error, "Clients may receive values that the old version ruled out."),
);
/// The impact of allowing other values.
const REPLACED: (Impact, Impact) = ((Error, MISUNDERSTOOD), (Error, OTHER_KIND));

/// The role of a schema in a request or response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::breaking) enum Role {
    /// The whole value of a parameter, which is text in the request.
    Parameter,
    /// The whole value of a required parameter, whose default has no effect.
    RequiredParameter,
    /// A part of a parameter, or a form, in which every value is text.
    RequestText,
    /// A request body, or a part of one.
    Request,
    /// A form of several parts (`multipart`).
    Parts,
    /// A part of such a form: text, a list of such parts, or an object in JSON (OpenAPI 3.0.3, section 4.7.14.4).
    Part,
    /// The whole value of a header, which is text in the response.
    Header,
    /// A part of a header.
    ResponseText,
    /// A response body, or a part of one.
    Response,
}

impl Role {
    /// Whether clients send the value. A value that clients send breaks them if it is refused; a value that
    /// clients receive breaks them if it is new.
    pub(in crate::breaking) fn is_request(self) -> bool {
        !matches!(self, Self::Header | Self::ResponseText | Self::Response)
    }

    /// Whether the request or response contains the value as text, even if its type is a number.
    pub(in crate::breaking) fn is_text(self) -> bool {
        !matches!(self, Self::Request | Self::Parts | Self::Response)
    }

    /// Returns the role of the properties of the schema.
    pub(in crate::breaking) fn property(self) -> Self {
        match self {
            Self::Parts => Self::Part,
            Self::Part => Self::Request,
            _ => self.item(),
        }
    }

    /// Returns the role of the items of the schema.
    pub(in crate::breaking) fn item(self) -> Self {
        match self {
            Self::Parameter | Self::RequiredParameter => Self::RequestText,
            Self::Header => Self::ResponseText,
            _ => self,
        }
    }

    /// Returns the role of the value in a media type: in JSON it is not text.
    pub(in crate::breaking) fn in_media_type(self, name: &str) -> Self {
        match (self, name.split(';').next().unwrap_or_default()) {
            (Self::Request, "application/x-www-form-urlencoded") => Self::RequestText,
            (Self::Request, name) if name.starts_with("multipart/") => Self::Parts,
            (Self::Parameter | Self::RequiredParameter, name) if is_json(name) => Self::Request,
            (Self::Header, name) if is_json(name) => Self::Response,
            _ => self,
        }
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
    (severity, explanation): Impact,
    origin: &'static str,
    chapter: Chapter,
) -> ChangeRule {
    let bump = if matches!(severity, Error) { Bump::Major } else { Bump::Minor };
    ChangeRule { rule: Rule::comparison(name, severity, origin, explanation), bump, chapter, fix: "" }
}

/// A family is declared by its changelog chapter, the names of its two rules, the impact on requests and
/// responses, and the origin of each rule.
macro_rules! families {
    ($($id:ident = $chapter:ident, $request:literal, $response:literal, $impact:expr,
        $request_origin:expr, $response_origin:expr;)*) => {
        $(pub(in crate::breaking) static $id: Family = Family {
            request: rule($request, $impact.0, $request_origin, Chapter::$chapter),
            response: rule($response, $impact.1, $response_origin, Chapter::$chapter),
        };)*
        static FAMILIES: &[&Family] = &[$(&$id),*];
    };
}

/// The rules about schemas.
pub(super) fn rules() -> impl Iterator<Item = &'static ChangeRule> {
    FAMILIES.iter().flat_map(|family| [&family.request, &family.response])
}

families! {
    VALUES_NARROWED = Changed, "request-values-narrowed", "response-values-narrowed", NARROWED, OURS, OURS;
    VALUES_WIDENED = Changed, "request-values-widened", "response-values-widened", WIDENED, OURS, OURS;
    TYPE_CHANGED = Changed, "request-type-changed", "response-type-changed", REPLACED,
        "oasdiff: request-body-type-changed, request-parameter-property-type-changed, request-parameter-type-changed, request-property-type-changed", "oasdiff: response-body-type-changed, response-header-type-changed, response-property-type-changed";
    TYPE_GENERALIZED = Changed, "request-type-generalized", "response-type-generalized", WIDENED,
        "oasdiff: request-body-type-generalized, request-parameter-property-type-generalized, request-parameter-type-generalized, request-property-type-generalized", "oasdiff: response-body-type-generalized, response-header-type-changed, response-header-type-generalized, response-property-type-generalized";
    TYPE_SPECIALIZED = Changed, "request-type-specialized", "response-type-specialized", NARROWED,
        "oasdiff: request-body-type-changed, request-parameter-property-type-specialized, request-parameter-type-changed, request-property-type-changed", "oasdiff: response-body-type-specialized, response-header-type-compatible, response-header-type-specialized, response-property-type-specialized";
    NULLABLE = Changed, "request-became-nullable", "response-became-nullable", WIDENED,
        "oasdiff: request-body-became-nullable, request-parameter-became-nullable, request-parameter-property-became-nullable, request-property-became-nullable", "oasdiff: response-body-became-nullable, response-header-became-nullable, response-property-became-nullable";
    NOT_NULLABLE = Changed, "request-became-not-nullable", "response-became-not-nullable", NARROWED,
        "oasdiff: request-body-became-not-nullable, request-parameter-became-not-nullable, request-parameter-property-became-not-nullable, request-property-became-not-nullable", "oasdiff: response-body-became-not-nullable, response-header-became-not-nullable, response-property-became-not-nullable";
    ENUM_SET = Changed, "request-became-enum", "response-became-enum", NARROWED, "oasdiff: request-body-became-enum, request-parameter-became-enum, request-property-became-enum", OURS;
    ENUM_UNSET = Changed, "request-became-not-enum", "response-became-not-enum", WIDENED, OURS, OURS;
    ENUM_VALUE_ADDED = Added, "request-enum-value-added", "response-enum-value-added", WIDENED, "oasdiff: request-parameter-enum-value-added, request-parameter-property-enum-value-added, request-property-enum-value-added", "oasdiff: response-property-enum-value-added";
    ENUM_VALUE_REMOVED = Removed, "request-enum-value-removed", "response-enum-value-removed", NARROWED,
        "oasdiff: request-body-enum-value-removed, request-parameter-enum-value-removed, request-parameter-property-enum-value-removed, request-property-enum-value-removed", "oasdiff: response-mediatype-enum-value-removed, response-property-enum-value-removed";
    OPEN_ENUM_VALUE_ADDED = Added, "request-x-extensible-enum-value-added", "response-x-extensible-enum-value-added", ((Info, "Requests may contain the value."), (Info, "Clients may receive the value. The list is open, so they expect others.")), OURS, OURS;
    OPEN_ENUM_VALUE_REMOVED = Removed, "request-x-extensible-enum-value-removed", "response-x-extensible-enum-value-removed", ((Error, "Requests with the value may be refused or understood differently."), (Info, "Clients no longer receive the value.")),
        OURS, OURS;
    MAX_SET = Changed, "request-max-set", "response-max-set", NARROWED, "oasdiff: request-body-max-set, request-parameter-max-set, request-property-max-set", OURS;
    MAX_UNSET = Changed, "request-max-unset", "response-max-unset", WIDENED, OURS, OURS;
    MAX_INCREASED = Changed, "request-max-increased", "response-max-increased", WIDENED, "oasdiff: request-body-max-increased, request-parameter-max-increased, request-property-max-increased", "oasdiff: response-body-max-increased, response-property-max-increased";
    MAX_DECREASED = Changed, "request-max-decreased", "response-max-decreased", NARROWED, "oasdiff: request-body-max-decreased, request-parameter-max-decreased, request-property-max-decreased", OURS;
    EXCLUSIVE_MAX_SET = Changed, "request-exclusive-max-set", "response-exclusive-max-set", NARROWED, "oasdiff: request-body-exclusive-max-set, request-parameter-exclusive-max-set, request-property-exclusive-max-set", OURS;
    EXCLUSIVE_MAX_UNSET = Changed, "request-exclusive-max-unset", "response-exclusive-max-unset", WIDENED, OURS, OURS;
    MIN_SET = Changed, "request-min-set", "response-min-set", NARROWED, "oasdiff: request-body-min-set, request-parameter-min-set, request-property-min-set", OURS;
    MIN_UNSET = Changed, "request-min-unset", "response-min-unset", WIDENED, OURS, OURS;
    MIN_INCREASED = Changed, "request-min-increased", "response-min-increased", NARROWED, "oasdiff: request-body-min-increased, request-parameter-min-increased, request-property-min-increased", OURS;
    MIN_DECREASED = Changed, "request-min-decreased", "response-min-decreased", WIDENED, "oasdiff: request-body-min-decreased, request-parameter-min-decreased, request-property-min-decreased", "oasdiff: response-body-min-decreased, response-property-min-decreased";
    EXCLUSIVE_MIN_SET = Changed, "request-exclusive-min-set", "response-exclusive-min-set", NARROWED, "oasdiff: request-body-exclusive-min-set, request-parameter-exclusive-min-set, request-property-exclusive-min-set", OURS;
    EXCLUSIVE_MIN_UNSET = Changed, "request-exclusive-min-unset", "response-exclusive-min-unset", WIDENED, OURS, OURS;
    MAX_LENGTH_SET = Changed, "request-max-length-set", "response-max-length-set", NARROWED, "oasdiff: request-body-max-length-set, request-parameter-max-length-set, request-property-max-length-set", OURS;
    MAX_LENGTH_UNSET = Changed, "request-max-length-unset", "response-max-length-unset", WIDENED, OURS, "oasdiff: response-body-max-length-unset, response-property-max-length-unset";
    MAX_LENGTH_INCREASED = Changed, "request-max-length-increased", "response-max-length-increased", WIDENED,
        "oasdiff: request-body-max-length-increased, request-parameter-max-length-increased, request-property-max-length-increased", "oasdiff: response-body-max-length-increased, response-property-max-length-increased";
    MAX_LENGTH_DECREASED = Changed, "request-max-length-decreased", "response-max-length-decreased", NARROWED, "oasdiff: request-body-max-length-decreased, request-parameter-max-length-decreased, request-property-max-length-decreased", OURS;
    MIN_LENGTH_INCREASED = Changed, "request-min-length-increased", "response-min-length-increased", NARROWED, "oasdiff: request-body-min-length-increased, request-parameter-min-length-increased, request-property-min-length-increased", OURS;
    MIN_LENGTH_DECREASED = Changed, "request-min-length-decreased", "response-min-length-decreased", WIDENED,
        "oasdiff: request-body-min-length-decreased, request-parameter-min-length-decreased, request-property-min-length-decreased", "oasdiff: response-body-min-length-decreased, response-property-min-length-decreased";
    MAX_ITEMS_SET = Changed, "request-max-items-set", "response-max-items-set", NARROWED, OURS, OURS;
    MAX_ITEMS_UNSET = Changed, "request-max-items-unset", "response-max-items-unset", WIDENED, OURS, OURS;
    MAX_ITEMS_INCREASED = Changed, "request-max-items-increased", "response-max-items-increased", WIDENED, "oasdiff: request-parameter-max-items-increased", OURS;
    MAX_ITEMS_DECREASED = Changed, "request-max-items-decreased", "response-max-items-decreased", NARROWED, "oasdiff: request-parameter-max-items-decreased", OURS;
    MIN_ITEMS_SET = Changed, "request-min-items-set", "response-min-items-set", NARROWED, "oasdiff: request-body-min-items-set, request-parameter-min-items-set, request-property-min-items-set", OURS;
    MIN_ITEMS_UNSET = Changed, "request-min-items-unset", "response-min-items-unset", WIDENED, OURS, "oasdiff: response-body-min-items-unset, response-property-min-items-unset";
    MIN_ITEMS_INCREASED = Changed, "request-min-items-increased", "response-min-items-increased", NARROWED, "oasdiff: request-body-min-items-increased, request-parameter-min-items-increased, request-property-min-items-increased", OURS;
    MIN_ITEMS_DECREASED = Changed, "request-min-items-decreased", "response-min-items-decreased", WIDENED, "oasdiff: request-parameter-min-items-decreased", "oasdiff: response-body-min-items-decreased, response-property-min-items-decreased";
    MAX_PROPERTIES_SET = Changed, "request-max-properties-set", "response-max-properties-set", NARROWED, OURS, OURS;
    MAX_PROPERTIES_UNSET = Changed, "request-max-properties-unset", "response-max-properties-unset", WIDENED, OURS, OURS;
    MAX_PROPERTIES_INCREASED = Changed, "request-max-properties-increased", "response-max-properties-increased", WIDENED, OURS, OURS;
    MAX_PROPERTIES_DECREASED = Changed, "request-max-properties-decreased", "response-max-properties-decreased", NARROWED, OURS, OURS;
    MIN_PROPERTIES_INCREASED = Changed, "request-min-properties-increased", "response-min-properties-increased", NARROWED, OURS, OURS;
    MIN_PROPERTIES_DECREASED = Changed, "request-min-properties-decreased", "response-min-properties-decreased", WIDENED, OURS, OURS;
    MULTIPLE_SET = Changed, "request-multiple-of-set", "response-multiple-of-set", NARROWED, OURS, OURS;
    MULTIPLE_UNSET = Changed, "request-multiple-of-unset", "response-multiple-of-unset", WIDENED, OURS, OURS;
    MULTIPLE_CHANGED = Changed, "request-multiple-of-changed", "response-multiple-of-changed", REPLACED, OURS, OURS;
    UNIQUE_SET = Changed, "request-unique-items-set", "response-unique-items-set", NARROWED, OURS, OURS;
    UNIQUE_UNSET = Changed, "request-unique-items-unset", "response-unique-items-unset", WIDENED, OURS, OURS;
    PATTERN_ADDED = Changed, "request-pattern-added", "response-pattern-added", NARROWED, "oasdiff: request-parameter-pattern-added, request-property-pattern-added", "oasdiff: response-property-pattern-added";
    PATTERN_REMOVED = Changed, "request-pattern-removed", "response-pattern-removed", WIDENED, "oasdiff: request-parameter-pattern-removed, request-property-pattern-removed", "oasdiff: response-property-pattern-removed";
    PATTERN_CHANGED = Changed, "request-pattern-changed", "response-pattern-changed", ((Error, "Requests may be refused: whether the new pattern matches all that the old one matched is not known."), (Error, "Clients may receive values that do not match the old pattern.")),
        "oasdiff: request-parameter-pattern-changed, request-property-pattern-changed", "oasdiff: response-property-pattern-changed";
    DEFAULT_ADDED = Changed, "request-default-value-added", "response-default-value-added", ((Warning, SAME_REQUESTS), (Info, SAME_RESPONSES)),
        "oasdiff: request-body-default-value-added, request-property-default-value-added", "oasdiff: response-body-default-value-added, response-property-default-value-added";
    DEFAULT_REMOVED = Changed, "request-default-value-removed", "response-default-value-removed", ((Warning, SAME_REQUESTS), (Info, SAME_RESPONSES)),
        "oasdiff: request-body-default-value-removed, request-property-default-value-removed", "oasdiff: response-body-default-value-removed, response-property-default-value-removed";
    DEFAULT_CHANGED = Changed, "request-default-value-changed", "response-default-value-changed", ((Error, SAME_REQUESTS), (Info, SAME_RESPONSES)),
        "oasdiff: request-body-default-value-changed, request-parameter-default-value-changed, request-property-default-value-changed", "oasdiff: response-body-default-value-changed, response-property-default-value-changed";
    ADDITIONAL_CLOSED = Changed, "request-additional-properties-forbidden", "response-additional-properties-forbidden", NARROWED, OURS, OURS;
    ADDITIONAL_OPENED = Changed, "request-additional-properties-allowed", "response-additional-properties-allowed", (WIDENED.0, (Warning, "Clients that refuse unknown properties may fail.")), OURS, OURS;
    ADDITIONAL_NARROWED = Changed, "request-additional-properties-specialized", "response-additional-properties-specialized", NARROWED, OURS, OURS;
    ADDITIONAL_WIDENED = Changed, "request-additional-properties-generalized", "response-additional-properties-generalized", WIDENED, OURS, OURS;
    ONE_OF_ADDED = Added, "request-one-of-added", "response-one-of-added", WIDENED, "oasdiff: request-body-one-of-added, request-property-one-of-added", "oasdiff: response-body-one-of-added, response-property-one-of-added";
    ONE_OF_REMOVED = Removed, "request-one-of-removed", "response-one-of-removed", NARROWED, "oasdiff: request-body-one-of-removed, request-property-one-of-removed", "oasdiff: response-body-one-of-removed, response-property-one-of-removed";
    ANY_OF_ADDED = Added, "request-any-of-added", "response-any-of-added", WIDENED, "oasdiff: request-body-any-of-added, request-property-any-of-added", "oasdiff: response-body-any-of-added, response-property-any-of-added";
    ANY_OF_REMOVED = Removed, "request-any-of-removed", "response-any-of-removed", NARROWED, "oasdiff: request-body-any-of-removed, request-property-any-of-removed", "oasdiff: response-body-any-of-removed, response-property-any-of-removed";
    COVERED = Changed, "request-alternative-covered", "response-alternative-covered", ((Warning, "Requests that follow the alternative match another one by the letter, which may mean something else."), (Warning, "Responses that follow the alternative match another one by the letter, which may mean something else.")), OURS, OURS;
    OVERLAP = Changed, "request-alternatives-overlap", "response-alternatives-overlap", ((Info, "Only requests that match several alternatives of `oneOf` are affected, which the letter forbids."), (Info, "Only responses that match several alternatives of `oneOf` are affected, which the letter forbids.")), OURS, OURS;
    WRAPPED = Changed, "request-wrapped-in-one-of", "response-wrapped-in-one-of", ((Info, "Requests may follow another alternative. Generated clients have another type."), (Error, OTHER_KIND)),
        "oasdiff: request-body-wrapped-in-one-of", "oasdiff: response-body-wrapped-in-one-of";
    UNWRAPPED = Changed, "request-unwrapped-from-one-of", "response-unwrapped-from-one-of", ((Error, MISUNDERSTOOD), (Info, "Responses stay within what the old version described. Generated clients have another type.")), OURS, OURS;
    ALTERNATIVES_SET = Changed, "request-alternatives-set", "response-alternatives-set", NARROWED, OURS, OURS;
    ALTERNATIVES_UNSET = Changed, "request-alternatives-unset", "response-alternatives-unset", WIDENED, OURS, OURS;
    NOT_SET = Changed, "request-not-set", "response-not-set", NARROWED, OURS, OURS;
    NOT_UNSET = Changed, "request-not-unset", "response-not-unset", WIDENED, OURS, OURS;
    NOT_CHANGED = Changed, "request-not-changed", "response-not-changed", REPLACED, OURS, OURS;
    XML_CHANGED = Changed, "request-xml-changed", "response-xml-changed", ((Error, "Requests with the elements and attributes of the old version are refused or misunderstood."), (Error, "Clients do not find the elements and attributes that the old version described.")), OURS, OURS;
    DISCRIMINATOR_ADDED = Changed, "request-discriminator-added", "response-discriminator-added", ((Warning, SAME_REQUESTS), (Info, SAME_RESPONSES)),
        "oasdiff: request-body-discriminator-added, request-property-discriminator-added", "oasdiff: response-body-discriminator-added, response-property-discriminator-added";
    DISCRIMINATOR_REMOVED = Changed, "request-discriminator-removed", "response-discriminator-removed", ((Warning, SAME_REQUESTS), (Error, "Clients that choose a type by the property can no longer do so.")),
        "oasdiff: request-body-discriminator-removed, request-property-discriminator-removed", "oasdiff: response-body-discriminator-removed, response-property-discriminator-removed";
    DISCRIMINATOR_RENAMED = Changed, "request-discriminator-property-name-changed", "response-discriminator-property-name-changed", REPLACED,
        "oasdiff: request-body-discriminator-property-name-changed, request-property-discriminator-property-name-changed", "oasdiff: response-body-discriminator-property-name-changed, response-property-discriminator-property-name-changed";
    MAPPING_ADDED = Changed, "request-discriminator-mapping-added", "response-discriminator-mapping-added", WIDENED,
        "oasdiff: request-body-discriminator-mapping-added, request-property-discriminator-mapping-added", "oasdiff: response-body-discriminator-mapping-added, response-property-discriminator-mapping-added";
    MAPPING_DELETED = Changed, "request-discriminator-mapping-deleted", "response-discriminator-mapping-deleted", NARROWED,
        "oasdiff: request-body-discriminator-mapping-deleted, request-property-discriminator-mapping-deleted", "oasdiff: response-body-discriminator-mapping-deleted, response-property-discriminator-mapping-deleted";
    MAPPING_CHANGED = Changed, "request-discriminator-mapping-changed", "response-discriminator-mapping-changed", REPLACED,
        "oasdiff: request-body-discriminator-mapping-changed, request-property-discriminator-mapping-changed", "oasdiff: response-body-discriminator-mapping-changed, response-property-discriminator-mapping-changed";
    SCHEMA_DEPRECATED = Deprecated, "request-deprecated", "response-deprecated", ((Info, "The value still works. Plan requests without it."), (Info, "The value is still sent. Plan clients without it.")),
        "oasdiff: request-parameter-deprecated, request-property-deprecated", "oasdiff: response-property-deprecated";
    SCHEMA_REACTIVATED = Changed, "request-reactivated", "response-reactivated", ((Info, NOT_DEPRECATED), (Info, NOT_DEPRECATED)), "oasdiff: request-parameter-reactivated, request-property-reactivated", "oasdiff: response-property-reactivated";
}
