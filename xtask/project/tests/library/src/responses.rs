//! A fixture that is parsed and never compiled: findings about the frozen documents refer to its lines.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum ErrorCode {
    InvalidParameter,
    InvalidBody,
    Unauthorized,
    NotFound,
    MethodNotAllowed,
    RequestTimeout,
    BodyTooLarge,
    UnsupportedMediaType,
    RateLimited,
    Internal,
    Unavailable,
    NotImplemented,
}

impl ErrorCode {
    pub const ALL: [Self; 11] = [
        Self::InvalidParameter,
        Self::InvalidBody,
        Self::Unauthorized,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::RequestTimeout,
        Self::BodyTooLarge,
        Self::UnsupportedMediaType,
        Self::RateLimited,
        Self::Internal,
        Self::Unavailable,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidParameter => "invalid_parameter",
            Self::InvalidBody => "invalid_body",
            Self::Unauthorized => "unauthorized",
            Self::NotFound => "not_found",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::RequestTimeout => "request_timeout",
            Self::BodyTooLarge => "body_too_large",
            Self::UnsupportedMediaType => "unsupported_media_type",
            Self::RateLimited => "rate_limited",
            Self::Internal => "internal",
            Self::Unavailable => "unavailable",
            Self::NotImplemented => "not_implemented",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.as_str() == word)
    }

    pub const fn status(self) -> StatusCode {
        match self {
            Self::InvalidParameter | Self::InvalidBody => StatusCode::BAD_REQUEST,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
            Self::BodyTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::RateLimited => StatusCode::TOO_MANY_REQUESTS,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Self::NotImplemented => StatusCode::NOT_IMPLEMENTED,
        }
    }

    pub const fn headers(self) -> &'static [HeaderField] {
        const RETRY_AFTER: HeaderField =
            HeaderField { name: "Retry-After", schema: HeaderSchema::Integer { minimum: 1 }, required: true };
        match self {
            Self::Unauthorized => const { &[HeaderField::string("WWW-Authenticate")] },
            Self::MethodNotAllowed => const { &[HeaderField::string("Allow")] },
            Self::UnsupportedMediaType => const { &[HeaderField::string("Accept-Post")] },
            Self::RateLimited => {
                const { &[RETRY_AFTER, HeaderField::string("RateLimit"), HeaderField::string("RateLimit-Policy")] }
            }
            Self::Unavailable => &[RETRY_AFTER],
            Self::InvalidParameter
            | Self::InvalidBody
            | Self::NotFound
            | Self::RequestTimeout
            | Self::BodyTooLarge
            | Self::Internal
            | Self::NotImplemented => &[],
        }
    }
}

pub trait ErrorCodes {
    const CODES: &'static [ErrorCode];
}

impl ErrorCodes for StoreError {
    const CODES: &'static [ErrorCode] = &[ErrorCode::Internal, ErrorCode::Unavailable];
}

#[derive(Debug)]
pub enum Missing {
    NotFound(&'static str),
    Store(StoreError),
}

impl ErrorCodes for Missing {
    const CODES: &'static [ErrorCode] = &[ErrorCode::NotFound, ErrorCode::Internal, ErrorCode::Unavailable];
}
