//! What can be written to a store, as data: each engine executes every variant.

use jiff::Timestamp;
use tokio::sync::oneshot;

use super::idempotency::{Expiry, RequestKey};
use super::types::{AddedOnce, KeyRecord, StoreError};
use crate::schemas::NewPet;

/// A write, with the caller that waits for its result. The `animals.rs` of each engine executes it.
pub(super) enum Write {
    AddPet(Addition, Caller<AddedOnce>),
    Key(KeyChange, Caller<bool>),
    /// Removes a chunk of the idempotency keys that have expired.
    RemoveExpired(Expiry, Caller<()>),
    /// Checks that the database can be written, and changes nothing.
    Check(Caller<()>),
}

/// An animal to add.
pub(super) struct Addition {
    pub(super) new: NewPet,
    pub(super) key: Option<RequestKey>,
}

/// A write of API keys, whose result is whether it found what it changes. The `keys.rs` of each engine executes it.
pub(super) enum KeyChange {
    /// Adds a key. Fails if one with its identifier or hash exists.
    Add(Box<KeyRecord>),
    /// Stores that a key was used, at a time in seconds.
    NoteUse {
        id: String,
        at: i64,
    },
    Revoke {
        id: String,
        at: Timestamp,
    },
    Rotate {
        old: String,
        old_expires: Timestamp,
        new: Box<KeyRecord>,
    },
}

/// The caller of a write, and the result that it gets.
pub(super) struct Caller<T> {
    sender: oneshot::Sender<Result<T, StoreError>>,
    /// Known before COMMIT, and sent after it.
    result: Option<T>,
}

impl<T> Caller<T> {
    pub(super) fn new(sender: oneshot::Sender<Result<T, StoreError>>) -> Self {
        Self { sender, result: None }
    }

    fn is_gone(&self) -> bool {
        self.sender.is_closed()
    }

    /// Keeps the result until [`Write::complete`].
    pub(super) fn keep(&mut self, result: T) {
        self.result = Some(result);
    }

    /// Sends `failed`, else the result that was kept. A write that was skipped has none, and no caller.
    fn complete(self, failed: Option<StoreError>) {
        if let Some(result) = failed.map(Err).or(self.result.map(Ok)) {
            // The caller may be gone.
            let _ = self.sender.send(result);
        }
    }
}

impl Write {
    pub(super) fn is_check(&self) -> bool {
        matches!(self, Self::Check(_))
    }

    /// Whether the caller is gone.
    pub(super) fn is_abandoned(&self) -> bool {
        match self {
            Self::AddPet(_, caller) => caller.is_gone(),
            Self::Key(_, caller) => caller.is_gone(),
            Self::RemoveExpired(_, caller) | Self::Check(caller) => caller.is_gone(),
        }
    }

    /// Sends the result to the caller: `failed`, else what was kept.
    pub(super) fn complete(self, failed: Option<StoreError>) {
        match self {
            Self::AddPet(_, caller) => caller.complete(failed),
            Self::Key(_, caller) => caller.complete(failed),
            Self::RemoveExpired(_, caller) | Self::Check(caller) => caller.complete(failed),
        }
    }
}
