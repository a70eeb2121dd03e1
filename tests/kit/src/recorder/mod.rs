//! The recorder: checks every response of every test against the OpenAPI document.
//!
//! Tests send requests to a [`proxy`] that forwards bytes unchanged. An [`Exchange`] parses them ([`wire`]), pairs each
//! response with its request, and checks it with the [`contract`] before the client receives it. This covers the generated
//! client, the plain client and hand-written bytes alike, without code in the tests. Clients that need a connection of
//! their own, such as those over TLS and HTTP/2, check each response themselves ([`assert_documented`]).
//!
//! The owner of a recorder fails the test if there are violations.

pub mod contract;
mod exchange;
pub mod proxy;
mod published;
mod reading;
pub mod request;
mod schema;
pub mod wire;

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use contract::Contract;
pub use exchange::Exchange;
use wire::{RequestLine, Response};

/// Fails if the document does not allow a response.
#[track_caller]
pub fn assert_documented(request: &RequestLine, response: &Response) {
    let recorder = Recorder::default();
    recorder.observe(Some(request), response);
    recorder.assert_no_violations();
}

/// The responses seen, and their violations of the document.
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
    /// Checks against `openapi/animal-store.yaml`.
    fn default() -> Self {
        Self::with_contract(Contract::get())
    }
}

impl Recorder {
    /// Checks against another document.
    pub fn with_contract(contract: &'static Contract) -> Self {
        Self { contract, record: Mutex::default() }
    }

    /// Reports every later response that contains `secret` in a header or the body.
    pub fn add_secret(&self, secret: impl Into<String>) {
        self.record().secrets.push(secret.into());
    }

    /// Returns one line for each violation.
    pub fn violations(&self) -> Vec<String> {
        self.record().violations.clone()
    }

    /// Fails if there are violations.
    #[track_caller]
    pub fn assert_no_violations(&self) {
        let violations = self.violations();
        assert!(violations.is_empty(), "responses violate the document:\n{}", violations.join("\n"));
    }

    /// Returns the pairs of `operationId` and status of all responses.
    pub fn seen(&self) -> BTreeSet<(String, u16)> {
        self.record().seen.clone()
    }

    /// Returns the values of `Error.code` of all responses.
    pub fn codes(&self) -> BTreeSet<String> {
        self.record().codes.clone()
    }

    /// Checks a response. There is no request if the client's bytes were not HTTP.
    pub fn observe(&self, request: Option<&RequestLine>, response: &Response) {
        let mut record = self.record();
        let line = request.map_or("(no request)".to_owned(), |line| {
            format!("{} {}", line.method, line.target.chars().take(200).collect::<String>())
        });
        let found = match request {
            Some(line) => {
                let checked = self.contract.check(line, response);
                record.seen.extend(checked.operation.map(|id| (id, response.status)));
                record.codes.extend(checked.code);
                checked.violations
            }
            None => self.contract.check_without_request(response).violations,
        };
        let leaks = record.secrets.iter().any(|secret| response.contains(secret));
        let leak = leaks.then(|| "the response contains a secret".to_owned());
        let found: Vec<_> = found
            .into_iter()
            .chain(leak)
            .map(|finding| format!("{line} -> {}: {finding}", response.status))
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
