//! The part a schema plays: which way its values travel, and whether it is the whole or a piece.

/// Which way values travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Direction {
    /// From the client: what is refused from now on breaks somebody.
    Request,
    /// To the client: what comes from now on breaks somebody.
    Response,
}

/// The part a schema plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Role {
    Parameter,
    ParameterProperty,
    RequestBody,
    RequestProperty,
    ResponseBody,
    ResponseProperty,
    ResponseHeader,
    ResponseHeaderProperty,
}

impl Role {
    pub(super) const ALL: [Role; 8] = [
        Role::Parameter,
        Role::ParameterProperty,
        Role::RequestBody,
        Role::RequestProperty,
        Role::ResponseBody,
        Role::ResponseProperty,
        Role::ResponseHeader,
        Role::ResponseHeaderProperty,
    ];

    /// What the names of the rules begin with.
    pub(super) fn prefix(self) -> &'static str {
        match self {
            Role::Parameter => "request-parameter",
            Role::ParameterProperty => "request-parameter-property",
            Role::RequestBody => "request-body",
            Role::RequestProperty => "request-property",
            Role::ResponseBody => "response-body",
            Role::ResponseProperty => "response-property",
            Role::ResponseHeader => "response-header",
            Role::ResponseHeaderProperty => "response-header-property",
        }
    }

    /// Which way its values travel.
    pub(super) fn direction(self) -> Direction {
        match self {
            Role::Parameter | Role::ParameterProperty | Role::RequestBody | Role::RequestProperty => {
                Direction::Request
            }
            Role::ResponseBody
            | Role::ResponseProperty
            | Role::ResponseHeader
            | Role::ResponseHeaderProperty => Direction::Response,
        }
    }

    /// The part that its properties and items play.
    pub(super) fn piece(self) -> Self {
        match self {
            Role::Parameter | Role::ParameterProperty => Role::ParameterProperty,
            Role::RequestBody | Role::RequestProperty => Role::RequestProperty,
            Role::ResponseBody | Role::ResponseProperty => Role::ResponseProperty,
            Role::ResponseHeader | Role::ResponseHeaderProperty => Role::ResponseHeaderProperty,
        }
    }

    /// Whether its values are text on the wire, whatever their type.
    pub(super) fn is_text(self) -> bool {
        matches!(self, Role::Parameter | Role::ResponseHeader)
    }
}
