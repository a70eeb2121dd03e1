//! The rules about callbacks, in which the client receives the requests.

use super::ChangeRule;

macro_rules! reversed {
    ($($reversed:ident: $($rule:ident)+;)*) => {
        [$((&super::$reversed, &[$(&super::$rule),+] as &[&ChangeRule])),*]
    };
}

/// The rules about callbacks, each with the rules about operations that it replaces.
static REVERSED: [(&ChangeRule, &[&ChangeRule]); 4] = reversed! {
    CALLBACK_REQUEST_INCOMPATIBLE:
        PARAMETER_REMOVED PARAMETER_REMOVED_BEFORE_SUNSET PARAMETER_MOVED PARAMETER_OPTIONAL PARAMETER_SERIALIZATION
        PARAMETER_SPELLING_WIDENED BODY_REMOVED BODY_OPTIONAL REQUEST_MEDIA_ADDED ENCODING_CHANGED ENCODING_WIDENED;
    CALLBACK_REQUEST_CHANGED:
        PARAMETER_ADDED_REQUIRED PARAMETER_ADDED_OPTIONAL PATH_PARAMETER_ADDED PARAMETER_REMOVED_DEPRECATED
        PARAMETER_REQUIRED PARAMETER_SPELLING_NARROWED BODY_ADDED_REQUIRED BODY_ADDED_OPTIONAL BODY_REQUIRED
        REQUEST_MEDIA_REMOVED;
    CALLBACK_REPLY_INCOMPATIBLE:
        SUCCESS_REMOVED RESPONSE_MEDIA_REMOVED HEADER_REQUIRED HEADER_SERIALIZATION;
    CALLBACK_REPLY_CHANGED:
        SUCCESS_ADDED FAILURE_ADDED FAILURE_REMOVED RESPONSE_MEDIA_ADDED HEADER_ADDED HEADER_OPTIONAL
        HEADER_REMOVED_REQUIRED HEADER_REMOVED_OPTIONAL;
};

/// Returns the rule about callbacks that replaces a rule about operations.
pub(in crate::breaking) fn reversed(rule: &'static ChangeRule) -> &'static ChangeRule {
    let reversed = REVERSED.iter().find(|(_, rules)| rules.contains(&rule));
    reversed.map_or(rule, |(reversed, _)| reversed)
}
