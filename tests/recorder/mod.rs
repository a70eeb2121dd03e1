//! The recorder: holds every answer that a test sees against the OpenAPI document.
//!
//! Tests never talk to the service itself. They talk to a [`tap`], a forwarder of bytes that also reads
//! what passes ([`wire`]), pairs each answer with its request, and has the [`contract`] judge it before
//! the client gets to see it. Because it sits on the wire, it covers the typed client, the plain one and
//! bytes written by hand alike, and a new test is covered without thinking of it.
//!
//! A recorder is kept by the harness, which fails the test over what it found.

pub mod ask;
pub mod contract;
mod published;
mod schema;
pub mod tap;
pub mod wire;

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use contract::Contract;
use wire::{RequestLine, Response};

/// What was seen on the wire, and what of it the document does not allow.
pub struct Recorder {
    contract: &'static Contract,
    record: Mutex<Record>,
}

#[derive(Default)]
struct Record {
    violations: Vec<String>,
    seen: BTreeSet<(String, u16)>,
    codes: BTreeSet<String>,
    secrets: Vec<String>,
}

impl Default for Recorder {
    /// Judges by `openapi/animal-store.yaml`.
    fn default() -> Self {
        Self::of(Contract::get())
    }
}

impl Recorder {
    /// Judges by another document.
    pub fn of(contract: &'static Contract) -> Self {
        Self { contract, record: Mutex::default() }
    }

    /// No answer may hold `secret`, in its headers or its body.
    pub fn keep_secret(&self, secret: impl Into<String>) {
        self.record().secrets.push(secret.into());
    }

    /// What the document does not allow, a line for each finding.
    pub fn violations(&self) -> Vec<String> {
        self.record().violations.clone()
    }

    /// The pairs of operationId and status that were answered.
    pub fn seen(&self) -> BTreeSet<(String, u16)> {
        self.record().seen.clone()
    }

    /// The values of `Error.code` that were answered.
    pub fn codes(&self) -> BTreeSet<String> {
        self.record().codes.clone()
    }

    /// Judges an answer. Without a request, the service refused what is no HTTP.
    pub fn saw(&self, request: Option<&RequestLine>, response: &Response) {
        let mut record = self.record();
        let asked = request.map_or("(no request)".to_owned(), |line| {
            format!("{} {}", line.method, line.target.chars().take(200).collect::<String>())
        });
        let found = match request {
            Some(line) => {
                let judged = self.contract.judge(line, response);
                record.seen.extend(judged.operation.map(|id| (id, response.status)));
                record.codes.extend(judged.code);
                judged.violations
            }
            None => contract::judge_unrouted(response),
        };
        let leaks = record.secrets.iter().any(|secret| response.contains(secret));
        let leak = leaks.then(|| "the answer holds a secret".to_owned());
        let found: Vec<_> = found
            .into_iter()
            .chain(leak)
            .map(|finding| format!("{asked} -> {}: {finding}", response.status))
            .collect();
        record.violations.extend(found);
    }

    fn violation(&self, finding: &str) {
        self.record().violations.push(finding.to_owned());
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
