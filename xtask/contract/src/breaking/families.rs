//! The rules about schemas: one keyword and one way of changing it make a family, with a rule for each
//! [`Role`] that a schema can play, since a lower `maximum` refuses requests but only keeps answers within
//! what clients expect.

use super::role::{Direction, Role};
use super::rules::{Bump, Chapter, Rule};
use crate::finding::Severity;

/// A keyword of schemas, and one way of changing it.
#[derive(Debug)]
pub(super) struct Family {
    /// What the names of its rules end with.
    stem: &'static str,
    /// How bad it is in a request.
    request: Severity,
    /// How bad it is in a response.
    response: Severity,
    /// Which values there are afterwards.
    effect: Effect,
}

#[derive(Clone, Copy, Debug)]
enum Effect {
    Fewer,
    More,
    Other,
    Same,
}

macro_rules! families {
    ($($id:ident = $stem:literal, $request:ident, $response:ident, $effect:ident;)*) => {
        $(pub(super) static $id: Family = Family {
            stem: $stem,
            request: Severity::$request,
            response: Severity::$response,
            effect: Effect::$effect,
        };)*
        /// All families.
        pub(super) static FAMILIES: &[&Family] = &[$(&$id),*];
    };
}

families! {
    TYPE_CHANGED = "type-changed", Error, Error, Other;
    TYPE_GENERALIZED = "type-generalized", Info, Error, More;
    TYPE_SPECIALIZED = "type-specialized", Error, Info, Fewer;
    NULLABLE = "became-nullable", Info, Error, More;
    NOT_NULLABLE = "became-not-nullable", Error, Info, Fewer;
    ENUM_SET = "became-enum", Error, Info, Fewer;
    ENUM_UNSET = "became-not-enum", Info, Error, More;
    ENUM_VALUE_ADDED = "enum-value-added", Info, Error, More;
    ENUM_VALUE_REMOVED = "enum-value-removed", Error, Info, Fewer;
    MAX_SET = "max-set", Error, Info, Fewer;
    MAX_UNSET = "max-unset", Info, Error, More;
    MAX_INCREASED = "max-increased", Info, Error, More;
    MAX_DECREASED = "max-decreased", Error, Info, Fewer;
    EXCLUSIVE_MAX_SET = "exclusive-max-set", Error, Info, Fewer;
    EXCLUSIVE_MAX_UNSET = "exclusive-max-unset", Info, Error, More;
    MIN_SET = "min-set", Error, Info, Fewer;
    MIN_UNSET = "min-unset", Info, Error, More;
    MIN_INCREASED = "min-increased", Error, Info, Fewer;
    MIN_DECREASED = "min-decreased", Info, Error, More;
    EXCLUSIVE_MIN_SET = "exclusive-min-set", Error, Info, Fewer;
    EXCLUSIVE_MIN_UNSET = "exclusive-min-unset", Info, Error, More;
    MAX_LENGTH_SET = "max-length-set", Error, Info, Fewer;
    MAX_LENGTH_UNSET = "max-length-unset", Info, Error, More;
    MAX_LENGTH_INCREASED = "max-length-increased", Info, Error, More;
    MAX_LENGTH_DECREASED = "max-length-decreased", Error, Info, Fewer;
    MIN_LENGTH_INCREASED = "min-length-increased", Error, Info, Fewer;
    MIN_LENGTH_DECREASED = "min-length-decreased", Info, Error, More;
    MAX_ITEMS_SET = "max-items-set", Error, Info, Fewer;
    MAX_ITEMS_UNSET = "max-items-unset", Info, Error, More;
    MAX_ITEMS_INCREASED = "max-items-increased", Info, Error, More;
    MAX_ITEMS_DECREASED = "max-items-decreased", Error, Info, Fewer;
    MIN_ITEMS_SET = "min-items-set", Error, Info, Fewer;
    MIN_ITEMS_UNSET = "min-items-unset", Info, Error, More;
    MIN_ITEMS_INCREASED = "min-items-increased", Error, Info, Fewer;
    MIN_ITEMS_DECREASED = "min-items-decreased", Info, Error, More;
    MAX_PROPERTIES_SET = "max-properties-set", Error, Info, Fewer;
    MAX_PROPERTIES_UNSET = "max-properties-unset", Info, Error, More;
    MAX_PROPERTIES_INCREASED = "max-properties-increased", Info, Error, More;
    MAX_PROPERTIES_DECREASED = "max-properties-decreased", Error, Info, Fewer;
    MIN_PROPERTIES_INCREASED = "min-properties-increased", Error, Info, Fewer;
    MIN_PROPERTIES_DECREASED = "min-properties-decreased", Info, Error, More;
    MULTIPLE_SET = "multiple-of-set", Error, Info, Fewer;
    MULTIPLE_UNSET = "multiple-of-unset", Info, Error, More;
    MULTIPLE_CHANGED = "multiple-of-changed", Error, Error, Other;
    UNIQUE_SET = "unique-items-set", Error, Info, Fewer;
    UNIQUE_UNSET = "unique-items-unset", Info, Error, More;
    PATTERN_ADDED = "pattern-added", Error, Info, Fewer;
    PATTERN_REMOVED = "pattern-removed", Info, Error, More;
    PATTERN_CHANGED = "pattern-changed", Error, Warning, Other;
    PATTERN_GENERALIZED = "pattern-generalized", Info, Error, More;
    DEFAULT_ADDED = "default-value-added", Warning, Info, Same;
    DEFAULT_REMOVED = "default-value-removed", Warning, Info, Same;
    DEFAULT_CHANGED = "default-value-changed", Error, Info, Same;
    ADDITIONAL_CLOSED = "additional-properties-forbidden", Error, Info, Fewer;
    ADDITIONAL_OPENED = "additional-properties-allowed", Info, Warning, More;
    ADDITIONAL_NARROWED = "additional-properties-specialized", Error, Info, Fewer;
    ADDITIONAL_WIDENED = "additional-properties-generalized", Info, Error, More;
    ONE_OF_ADDED = "one-of-added", Info, Error, More;
    ONE_OF_REMOVED = "one-of-removed", Error, Info, Fewer;
    ANY_OF_ADDED = "any-of-added", Info, Error, More;
    ANY_OF_REMOVED = "any-of-removed", Error, Info, Fewer;
    WRAPPED = "wrapped-in-one-of", Warning, Error, Other;
    UNWRAPPED = "unwrapped-from-one-of", Error, Warning, Other;
    ALTERNATIVES_SET = "alternatives-set", Error, Info, Fewer;
    ALTERNATIVES_UNSET = "alternatives-unset", Info, Error, More;
    NOT_SET = "not-set", Error, Info, Fewer;
    NOT_UNSET = "not-unset", Info, Error, More;
    NOT_CHANGED = "not-changed", Error, Error, Other;
    DISCRIMINATOR_ADDED = "discriminator-added", Warning, Info, Same;
    DISCRIMINATOR_REMOVED = "discriminator-removed", Warning, Error, Same;
    DISCRIMINATOR_RENAMED = "discriminator-property-name-changed", Error, Error, Other;
    MAPPING_ADDED = "discriminator-mapping-added", Info, Error, More;
    MAPPING_DELETED = "discriminator-mapping-deleted", Error, Info, Fewer;
    MAPPING_CHANGED = "discriminator-mapping-changed", Error, Error, Other;
    SCHEMA_DEPRECATED = "deprecated", Info, Info, Same;
    SCHEMA_REACTIVATED = "reactivated", Info, Info, Same;
}

impl Family {
    /// The rule for a schema in this role.
    pub(super) fn rule(&self, role: Role) -> Rule {
        let name = match (role, self.stem) {
            // oasdiff calls these otherwise than its own scheme would.
            (Role::ResponseBody, "enum-value-removed") => "response-mediatype-enum-value-removed".to_owned(),
            _ => format!("{}-{}", role.prefix(), self.stem),
        };
        let severity = match (role, self.stem) {
            // Whoever leaves the parameter out gets another answer than before.
            (Role::Parameter, "default-value-added" | "default-value-removed") => Severity::Error,
            _ if role.direction() == Direction::Request => self.request,
            _ => self.response,
        };
        let bump = if severity == Severity::Error { Bump::Major } else { Bump::Minor };
        let chapter = match self.stem {
            "deprecated" => Chapter::Deprecated,
            "one-of-added" | "any-of-added" | "enum-value-added" => Chapter::Added,
            "one-of-removed" | "any-of-removed" | "enum-value-removed" => Chapter::Removed,
            _ => Chapter::Changed,
        };
        Rule { name: name.into(), severity, bump, chapter, whom: self.whom(role) }
    }

    fn whom(&self, role: Role) -> &'static str {
        let direction = role.direction();
        match (self.stem, direction) {
            ("deprecated", Direction::Request) => "It still works; whoever sends it should plan without it.",
            ("deprecated", Direction::Response) => {
                "It is still there; whoever reads it should plan without it."
            }
            ("reactivated", _) => "It is no longer to be removed.",
            ("pattern-changed", Direction::Request) => {
                "Requests that were accepted may be refused: nobody can tell whether the new pattern takes all that the old one took."
            }
            ("pattern-changed", Direction::Response) => {
                "Clients may get values that do not match the old pattern: nobody can tell."
            }
            ("wrapped-in-one-of", Direction::Request) => {
                "Requests that match more than one alternative are refused, and generated clients have another type."
            }
            ("unwrapped-from-one-of", Direction::Response) => {
                "Answers are one of those that were possible, but generated clients have another type."
            }
            ("discriminator-removed", Direction::Response) => {
                "Clients that choose the type by this property can no longer tell which one they got."
            }
            ("additional-properties-allowed", Direction::Response) => {
                "Clients that refuse properties they do not know may fail."
            }
            _ => match (self.effect, direction) {
                (Effect::Fewer, Direction::Request) => "Requests that were accepted until now are refused.",
                (Effect::More, Direction::Request) => "Requests that were refused until now are accepted.",
                (Effect::Other, Direction::Request) => {
                    "Requests that were accepted until now are refused or mean something else."
                }
                (Effect::Same, Direction::Request) => {
                    "The same requests are accepted, but some may mean something else."
                }
                (Effect::Fewer, Direction::Response) => "Answers stay within what clients expect.",
                (Effect::More, Direction::Response) => {
                    "Clients get values that the document ruled out until now, and may fail on them."
                }
                (Effect::Other, Direction::Response) => {
                    "Clients that read the old kind of value fail on the new one."
                }
                (Effect::Same, Direction::Response) => "Clients get the same values.",
            },
        }
    }
}
