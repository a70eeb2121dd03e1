//! The limit of failed authentications for each client address.
//!
//! An address that exceeds it gets 429. Clients with a valid key may share the address, for example behind a proxy. So a
//! key that was valid before is still authenticated, and other well-formed keys are as long as all addresses above the
//! limit together query no more than [`QUERIES_PER_SECOND`].

use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::time::Duration;

use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use quick_cache::sync::Cache;
// Unlike the clock of `std`, tests can pause and advance this one.
use tokio::time::Instant;

use crate::rate_limit::{RateLimit, RateLimitExceeded, TokioClock, whole_seconds};

const PERIOD: Duration = Duration::from_secs(60);
/// The maximum number of addresses and of keys that are remembered.
const CAPACITY: usize = 10_000;
/// The maximum number of queries for addresses above the limit. A query takes 8 µs on SQLite, so these take 0.4% of a
/// core; on PostgreSQL they take 8%, half of them in the server.
const QUERIES_PER_SECOND: NonZeroU32 = NonZeroU32::new(500).unwrap();

/// Counts failed authentications with the generic cell rate algorithm. `governor` has it too, but counts each
/// request that it checks, and remembers every address for ever.
pub(crate) struct FailureLimiter {
    limit: RateLimit,
    /// For each address, when its failures are forgotten.
    forgotten: Cache<IpAddr, Instant>,
    /// The SHA-256 of keys that were valid.
    valid: Cache<[u8; 32], ()>,
    /// The queries for addresses above the limit.
    queries: RateLimiter<NotKeyed, InMemoryState, TokioClock, NoOpMiddleware<std::time::Instant>>,
}

impl FailureLimiter {
    /// Allows each address this many failures in a minute.
    pub(crate) fn new(failures: NonZeroU32) -> Self {
        Self {
            limit: RateLimit { requests: failures, period: PERIOD },
            forgotten: Cache::new(CAPACITY),
            valid: Cache::new(CAPACITY),
            queries: RateLimiter::direct_with_clock(Quota::per_second(QUERIES_PER_SECOND), TokioClock),
        }
    }

    /// Checks whether a key with this SHA-256 may be authenticated for this address. A malformed key has none.
    ///
    /// # Errors
    /// [`RateLimitExceeded`].
    pub(crate) fn check(&self, client: IpAddr, hash: Option<&[u8; 32]>) -> Result<(), RateLimitExceeded> {
        let may_query = |hash| self.valid.get(hash).is_some() || self.queries.check().is_ok();
        self.check_address(client)
            .or_else(|exceeded| hash.is_some_and(may_query).then_some(()).ok_or(exceeded))
    }

    /// Counts a failed authentication, and forgets the key with this SHA-256: it may have expired or been revoked.
    ///
    /// # Errors
    /// [`RateLimitExceeded`] if the limit was exceeded before. The failure is not counted then, so that the address
    /// is not limited for longer than a minute.
    pub(crate) fn failed(&self, client: IpAddr, hash: Option<&[u8; 32]>) -> Result<(), RateLimitExceeded> {
        if let Some(hash) = hash {
            self.valid.remove(hash);
        }
        self.check_address(client)?;
        let client = network(client);
        let now = Instant::now();
        let forgotten = self.forgotten.get(&client).map_or(now, |forgotten| forgotten.max(now));
        self.forgotten.insert(client, forgotten + PERIOD / self.limit.requests.get());
        Ok(())
    }

    fn check_address(&self, client: IpAddr) -> Result<(), RateLimitExceeded> {
        let Some(forgotten) = self.forgotten.get(&network(client)) else { return Ok(()) };
        let allowed = forgotten + PERIOD / self.limit.requests.get();
        let wait = allowed.saturating_duration_since(Instant::now()).saturating_sub(PERIOD);
        if wait.is_zero() {
            return Ok(());
        }
        Err(RateLimitExceeded { limit: self.limit, retry_after: whole_seconds(wait) })
    }

    /// Remembers a valid key.
    pub(crate) fn succeeded(&self, hash: &[u8; 32]) {
        if self.valid.get(hash).is_none() {
            self.valid.insert(*hash, ());
        }
    }
}

/// Returns the address, or the /64 network of an IPv6 address, all of which one client may use.
fn network(client: IpAddr) -> IpAddr {
    match client.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIENT: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn limiter(failures: u32) -> FailureLimiter {
        FailureLimiter::new(NonZeroU32::new(failures).unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn failures_are_limited_and_forgotten() {
        let limiter = limiter(60);
        for _ in 0..60 {
            assert_eq!(limiter.check(CLIENT, None), Ok(()));
            assert_eq!(limiter.failed(CLIENT, None), Ok(()));
        }
        assert_eq!(limiter.check(CLIENT, None).unwrap_err().retry_after, 1);
        assert_eq!(limiter.failed(CLIENT, None).unwrap_err().retry_after, 1);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(limiter.check(CLIENT, None), Ok(()));
        assert_eq!(limiter.failed(CLIENT, None), Ok(()));
        assert!(limiter.check(CLIENT, None).is_err());
        assert_eq!(limiter.check([127, 0, 0, 2].into(), None), Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn above_the_limit_keys_that_were_not_valid_share_the_queries() {
        let limiter = limiter(1);
        limiter.succeeded(&[1; 32]);
        limiter.failed(CLIENT, None).unwrap();
        let allowed = |hash| (0..1_000).filter(|_| limiter.check(CLIENT, Some(&[hash; 32])).is_ok()).count();
        assert_eq!(allowed(2), 500);
        assert_eq!(allowed(1), 1_000);
        tokio::time::advance(Duration::from_millis(100)).await;
        assert_eq!(allowed(2), 50);
        // Once it is revoked, it is a guess like any other.
        assert!(limiter.failed(CLIENT, Some(&[1; 32])).is_err());
        assert_eq!(allowed(1), 0);
    }

    #[test]
    fn the_addresses_of_a_network_are_one_client() {
        assert_eq!(network("2001:db8::1".parse().unwrap()), network("2001:db8::ffff:2".parse().unwrap()));
        assert_ne!(network("2001:db8::1".parse().unwrap()), network("2001:db8:0:1::1".parse().unwrap()));
        assert_eq!(network("::ffff:127.0.0.1".parse().unwrap()), CLIENT);
    }
}
