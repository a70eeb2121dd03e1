//! The record of a run: each call with the times of its invocation and of its response.
//!
//! Times are positions in one sequence that all clients share, so "before" means before in real time.

use std::sync::{Mutex, MutexGuard};

use serde_json::{Value, json};

/// An animal that a client sends. All that the service stores of it follows from these numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Animal {
    /// The number of the addition. Retries of one addition, and additions with one idempotency key, share it.
    pub number: u32,
    /// Distinguishes different animals that are sent with one idempotency key.
    pub variant: u8,
}

impl Animal {
    /// Returns the status that the animal is sent with.
    pub fn status(self) -> Option<&'static str> {
        ["available", "pending", "sold"].get((self.number as usize + usize::from(self.variant)) % 4).copied()
    }

    /// Returns the body of the request that adds the animal.
    pub fn body(self) -> Value {
        let mut body =
            json!({ "name": format!("animal {}/{}", self.number, self.variant), "categoryId": self.number });
        if let Some(status) = self.status() {
            body["status"] = json!(status);
        }
        body
    }

    /// Reads an animal and its identifier from a response. Panics if the animal was changed.
    pub fn read(pet: &Value) -> (i64, Self) {
        let parse = || {
            let (number, variant) = pet["name"].as_str()?.strip_prefix("animal ")?.split_once('/')?;
            Some(Self { number: number.parse().ok()?, variant: variant.parse().ok()? })
        };
        let animal = parse().unwrap_or_else(|| panic!("not sent by a client: {pet}"));
        let id = pet["id"].as_i64().expect("an identifier");
        let mut sent = animal.body();
        sent["id"] = json!(id);
        assert_eq!(*pet, sent, "the animal was changed");
        (id, animal)
    }
}

/// What a client asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// Adds an animal.
    Add(Animal),
    /// Gets the animal with this identifier.
    Get(i64),
    /// Lists one page: the animals after an identifier, with a status if one is given.
    Page { after: i64, status: Option<&'static str> },
    /// Lists all animals, page by page, after the clients have ended.
    All,
}

/// What a client learned. Without an answer, nothing is known, not even whether the call has an effect later.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// 201, with the identifier and whether the response said that an earlier request added the animal.
    Added { id: i64, replayed: bool },
    /// 422: another animal was added with the idempotency key.
    Reused,
    /// 200 with an animal.
    Found(Animal),
    /// 404.
    NotFound,
    /// 200 with a page, and whether it links to a next one.
    Page { animals: Vec<(i64, Animal)>, more: bool },
    /// All pages were read.
    Listed,
}

/// A call and its answer.
#[derive(Clone, Debug)]
pub struct Operation {
    /// The client, for messages only.
    pub client: usize,
    pub call: Call,
    pub begin: usize,
    /// The time and content of the response; `None` after a 503, a broken connection, or if the client did not wait.
    pub end: Option<(usize, Answer)>,
}

/// A record that clients write to concurrently.
#[derive(Default)]
pub struct Recording(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    now: usize,
    operations: Vec<Operation>,
}

impl Recording {
    /// Records that a client is about to send a request. Returns its number.
    pub fn begin(&self, client: usize, call: Call) -> usize {
        let mut inner = self.inner();
        inner.now += 1;
        let begin = inner.now;
        inner.operations.push(Operation { client, call, begin, end: None });
        inner.operations.len() - 1
    }

    /// Records that a client has received the response to a request.
    pub fn end(&self, operation: usize, answer: Answer) {
        let mut inner = self.inner();
        inner.now += 1;
        let end = inner.now;
        inner.operations[operation].end = Some((end, answer));
    }

    /// Records a call and its answer, which no other call overlaps.
    pub fn both(&self, client: usize, call: Call, answer: Answer) {
        let operation = self.begin(client, call);
        self.end(operation, answer);
    }

    /// Returns the operations, by their begin.
    pub fn operations(&self) -> Vec<Operation> {
        self.inner().operations.clone()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().expect("no client panicked")
    }
}
