//! Keeps an old primary out that comes back before it is demoted.
//!
//! Each promotion of a standby increases the timeline of the cluster (PostgreSQL documentation, "Timelines"). A
//! connection to a lower timeline than this process has seen is rejected, and open ones are closed as soon as a higher one
//! is seen.

use tokio::sync::watch;

/// Returns the timeline of a primary: the first eight hexadecimal digits of the name of its WAL file. Every role may
/// execute it. Fails on a standby.
pub(super) const CURRENT: &str = "SELECT substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8)";

/// The highest timeline that this process has seen.
pub(super) struct Timelines(watch::Sender<u32>);

/// A connection is to an older timeline than another one was.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is an old primary: its timeline is {found}, but {highest} was seen before")]
pub(super) struct OldTimeline {
    found: u32,
    highest: u32,
}

impl Timelines {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(0))
    }

    /// Notes the timeline of a new connection. Rejects it if a higher one was seen.
    pub(super) fn admit(&self, found: u32) -> Result<Admitted, OldTimeline> {
        self.0.send_if_modified(|highest| {
            let is_higher = found > *highest;
            *highest = found.max(*highest);
            is_higher
        });
        let highest = *self.0.borrow();
        if found < highest {
            return Err(OldTimeline { found, highest });
        }
        Ok(Admitted { timeline: found, highest: self.0.subscribe() })
    }
}

/// The timeline of a connection.
pub(super) struct Admitted {
    timeline: u32,
    highest: watch::Receiver<u32>,
}

impl Admitted {
    /// Completes when a higher timeline is seen.
    pub(super) async fn replaced(mut self) {
        if self.highest.wait_for(|highest| *highest > self.timeline).await.is_err() {
            // The store was closed.
            std::future::pending().await
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    #[test]
    fn a_higher_timeline_replaces_lower_ones_for_good() {
        let timelines = Timelines::new();
        let first = timelines.admit(3).unwrap();
        let second = timelines.admit(3).unwrap();
        assert!(first.replaced().now_or_never().is_none());
        let third = timelines.admit(4).unwrap();
        assert!(second.replaced().now_or_never().is_some());
        assert_eq!(timelines.admit(3).err(), Some(OldTimeline { found: 3, highest: 4 }));
        assert!(third.replaced().now_or_never().is_none());
    }
}
