//! A fixture that is parsed and never compiled: findings about the frozen documents refer to its lines.

pub const JUDGED: &[Code] = &[Code::Unauthorized, Code::RateLimited, Code::Unavailable, Code::Internal];

pub struct Call<I, E> {
    body: Body,
    takes: PhantomData<fn() -> (I, E)>,
}
