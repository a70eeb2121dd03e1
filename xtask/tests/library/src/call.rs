//! Never compiled: what findings about the frozen documents point into.

/// How any call can be refused, whatever it is for.
pub const COMMON_CODES: &[ErrorCode] = &[ErrorCode::Unauthorized, ErrorCode::RateLimited, ErrorCode::Unavailable, ErrorCode::Internal];

/// A call that takes an `I` and whose operation may fail with an `E`.
pub struct Call<I, E> {
    body: Body,
    takes: PhantomData<fn() -> (I, E)>,
}
