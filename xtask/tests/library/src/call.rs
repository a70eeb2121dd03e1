//! Never compiled: what findings about the frozen documents point into.

/// How any call can be refused, whatever it is for.
pub const JUDGED: &[Code] = &[Code::Unauthorized, Code::RateLimited, Code::Unavailable, Code::Internal];

/// A call that takes an `I` and whose operation may fail with an `E`.
pub struct Call<I, E> {
    body: Body,
    takes: PhantomData<fn() -> (I, E)>,
}
