//! A fixture that is parsed and never compiled: findings about the frozen documents refer to its lines.

pub const COMMON_CODES: &[ErrorCode] = &[ErrorCode::Unauthorized, ErrorCode::RateLimited, ErrorCode::Unavailable, ErrorCode::Internal];
