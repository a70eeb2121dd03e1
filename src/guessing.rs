//! The limit of failed authentications for each client address.
//!
//! An address that exceeds it is answered without a query of the store, so that guessing keys costs the store
//! nothing. Clients with a valid key may share the address, for example behind a proxy: a key that was valid
//! before is still authenticated.

use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::time::Duration;

use quick_cache::sync::Cache;
// Unlike the clock of `std`, tests can pause and advance this one.
use tokio::time::Instant;

use crate::rate_limit::{RateLimit, RateLimitExceeded, Scope, whole_seconds};

const PERIOD: Duration = Duration::from_secs(60);
/// The maximum number of addresses and of keys that are remembered.
const CAPACITY: usize = 10_000;

/// Counts failed authentications with the generic cell rate algorithm. `governor` has it too, but counts each
/// request that it checks, and remembers every address for ever.
pub(crate) struct FailureLimiter {
    limit: RateLimit,
    /// For each address, when its failures are forgotten.
    forgotten: Cache<IpAddr, Instant>,
    /// The SHA-256 of keys that were valid.
    valid: Cache<[u8; 32], ()>,
}

impl FailureLimiter {
    /// Allows each address this many failures in a minute.
    pub(crate) fn new(failures: NonZeroU32) -> Self {
        Self {
            limit: RateLimit { requests: failures, period: PERIOD },
            forgotten: Cache::new(CAPACITY),
            valid: Cache::new(CAPACITY),
        }
    }

    /// Checks whether a key with this SHA-256 may be authenticated for this address.
    ///
    /// # Errors
    /// [`RateLimitExceeded`].
    pub(crate) fn check(&self, client: IpAddr, hash: Option<&[u8; 32]>) -> Result<(), RateLimitExceeded> {
        let Some(forgotten) = self.forgotten.get(&network(client)) else { return Ok(()) };
        let allowed = forgotten + PERIOD / self.limit.requests.get();
        let wait = allowed.saturating_duration_since(Instant::now()).saturating_sub(PERIOD);
        if wait.is_zero() || hash.is_some_and(|hash| self.valid.get(hash).is_some()) {
            return Ok(());
        }
        Err(RateLimitExceeded { scope: Scope::Address, limit: self.limit, retry_after: whole_seconds(wait) })
    }

    /// Counts a failed authentication, and forgets the key with this SHA-256: it may have expired or been revoked.
    pub(crate) fn failed(&self, client: IpAddr, hash: Option<&[u8; 32]>) {
        if let Some(hash) = hash {
            self.valid.remove(hash);
        }
        let client = network(client);
        let now = Instant::now();
        let forgotten = self.forgotten.get(&client).map_or(now, |forgotten| forgotten.max(now));
        self.forgotten.insert(client, forgotten + PERIOD / self.limit.requests.get());
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
            limiter.failed(CLIENT, None);
        }
        assert_eq!(limiter.check(CLIENT, None).unwrap_err().retry_after, 1);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(limiter.check(CLIENT, None), Ok(()));
        limiter.failed(CLIENT, None);
        assert!(limiter.check(CLIENT, None).is_err());
        assert_eq!(limiter.check([127, 0, 0, 2].into(), None), Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_that_was_valid_is_still_authenticated() {
        let limiter = limiter(1);
        limiter.succeeded(&[1; 32]);
        limiter.failed(CLIENT, None);
        assert!(limiter.check(CLIENT, Some(&[2; 32])).is_err());
        assert_eq!(limiter.check(CLIENT, Some(&[1; 32])), Ok(()));
        // Once it is revoked, it is a guess like any other.
        limiter.failed(CLIENT, Some(&[1; 32]));
        assert!(limiter.check(CLIENT, Some(&[1; 32])).is_err());
    }

    #[test]
    fn the_addresses_of_a_network_are_one_client() {
        assert_eq!(network("2001:db8::1".parse().unwrap()), network("2001:db8::ffff:2".parse().unwrap()));
        assert_ne!(network("2001:db8::1".parse().unwrap()), network("2001:db8:0:1::1".parse().unwrap()));
        assert_eq!(network("::ffff:127.0.0.1".parse().unwrap()), CLIENT);
    }
}
