//! Histories of random clients under faults, judged by the linearizability checker of the crate `todc-utils`.
//!
//! Clients add animals with and without idempotency keys, repeat additions without an outcome, get animals and read
//! pages, while processes are killed and suspended. Each call is recorded with its begin and its end (`recording.rs`).
//! A 503, a broken connection, or a client that does not wait leaves an addition without an end: it may take effect
//! at any later time or never.
//!
//! # What is checked
//!
//! A history is linearizable if each operation can be given a moment between its begin and its end such that the
//! operations in this order are right for `model.rs`. Judged as operations of single moments are:
//!
//! - each addition: with one idempotency key only one animal is stored, whatever is repeated and raced; the one request
//!   that stored it has no `Idempotency-Replayed`, all others with 201 have it, and requests with another animal get 422;
//! - each get, found or not;
//! - each page of a list: it contains all animals with identifiers after those of the previous page, up to its last one,
//!   or all others if it links to no next page. A list of several pages is several operations, since animals may be
//!   added in between. It follows that each animal that was acknowledged before the list began is on exactly one page;
//! - that no animal appears before the last one of an earlier page, which clients that poll rely on.
//!
//! Whole histories are too long for a checker, so `judge.rs` splits them: the animals of four neighbouring identifiers,
//! with all that was recorded of them, form one history. Locality makes that exact for additions and gets: histories
//! that are linearizable for each object are linearizable together. A page concerns several objects, so its atomicity is
//! checked only for the animals that share a history. Reads before the first addition of a history that found
//! nothing, and reads after all its animals were known that found all, cannot make it wrong, and are left out.
//!
//! `wrong.rs` has small records that must be refused, and changes the record of each short run (an animal lost, a stale
//! page, another identifier), which must be refused then.
//!
//! `STORE_TESTS_SEED=N` repeats a run: the same steps of each client and the same faults, in the same order, but with
//! another interleaving (`schedule.rs`). `STORE_TESTS_LONG=1` runs two minutes on each database.
//!
//! `retries.rs` counts instead: thousands of additions that are repeated until they are acknowledged, during hundreds of
//! kills and failovers.
//!
//! Not checked: that failed requests fail for a reason, expiry of idempotency keys, changes of API keys, and faults of
//! disks, which are in `tests/resilience/faults`.

mod clients;
mod engines;
mod judge;
mod model;
mod recording;
mod retries;
mod run;
mod schedule;
mod transcript;
mod wrong;
