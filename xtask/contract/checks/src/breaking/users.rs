//! The operations that a change affects.
//!
//! A user is the document, an operation, or a pair of schemas or of objects that operations share. Each user uses
//! the pairs below it. A change that is found in a user affects the operations above that user.

use std::collections::{BTreeMap, BTreeSet, HashSet};

pub use crate::exception::MAX_OPERATIONS;

/// The number of a user.
pub(super) type User = usize;

/// The document as a user.
pub(super) const DOCUMENT: User = 0;

/// An operation.
struct Used {
    name: String,
    /// Whether clients may expect breaking changes at any time.
    is_unstable: bool,
}

/// All users, and the users that each of them uses.
pub(super) struct Users {
    /// The user that is being compared.
    pub(super) current: User,
    /// The users that each user uses directly.
    below: Vec<Vec<User>>,
    /// The operations.
    operations: BTreeMap<User, Used>,
}

impl Users {
    /// Returns the users with the document as the only one.
    pub(super) fn new() -> Self {
        Self { current: DOCUMENT, below: vec![Vec::new()], operations: BTreeMap::new() }
    }

    /// Returns the number of users, which is also the number of the next user.
    pub(super) fn len(&self) -> usize {
        self.below.len()
    }

    /// Adds a user.
    pub(super) fn add(&mut self) -> User {
        self.below.push(Vec::new());
        self.below.len() - 1
    }

    /// Adds an operation.
    pub(super) fn add_operation(&mut self, name: String, is_unstable: bool) -> User {
        let user = self.add();
        self.operations.insert(user, Used { name, is_unstable });
        user
    }

    /// Whether schemas or shared objects are being compared now.
    pub(super) fn is_in_pair(&self) -> bool {
        self.current != DOCUMENT && !self.operations.contains_key(&self.current)
    }

    /// Notes that the current user uses another one.
    pub(super) fn uses(&mut self, user: User) {
        push_new(&mut self.below[self.current], user);
    }

    /// The users that use each user directly.
    pub(super) fn above(&self) -> Vec<Vec<User>> {
        let mut above = vec![Vec::new(); self.below.len()];
        for (user, below) in self.below.iter().enumerate() {
            below.iter().for_each(|below| above[*below].push(user));
        }
        above
    }

    /// Returns the operations that use each user. Only users in `changed`, and users above them, are filled in.
    pub(super) fn operations_of(&self, changed: impl Iterator<Item = User>) -> Vec<HashSet<User>> {
        let above = self.above();
        let mut leads_to_change = vec![false; self.below.len()];
        let mut open: Vec<User> = changed.collect();
        while let Some(user) = open.pop() {
            if !std::mem::replace(&mut leads_to_change[user], true) {
                open.extend(&above[user]);
            }
        }
        let mut operations: Vec<HashSet<User>> = vec![HashSet::new(); self.below.len()];
        let mut open: Vec<(User, User)> = self.operations.keys().rev().map(|user| (*user, *user)).collect();
        // The last is the first to be followed: a change that concerns a stable operation must list one.
        open.sort_by_key(|(user, _)| !self.operations[user].is_unstable);
        while let Some((user, operation)) = open.pop() {
            let known = &mut operations[user];
            if leads_to_change[user] && known.len() < MAX_OPERATIONS && known.insert(operation) {
                open.extend(self.below[user].iter().map(|below| (*below, operation)));
            }
        }
        operations
    }

    /// The names of operations in the order of the document, at most [`MAX_OPERATIONS`].
    pub(super) fn names(&self, operations: &BTreeSet<User>) -> Vec<String> {
        operations.iter().take(MAX_OPERATIONS).map(|user| self.operations[user].name.clone()).collect()
    }

    /// Whether there are operations, and clients may expect breaking changes of all of them at any time.
    pub(super) fn are_unstable(&self, operations: &BTreeSet<User>) -> bool {
        !operations.is_empty() && operations.iter().all(|user| self.operations[user].is_unstable)
    }
}

/// Adds a user to a list, unless it is the last one there.
pub(super) fn push_new(list: &mut Vec<User>, user: User) {
    if list.last() != Some(&user) {
        list.push(user);
    }
}
