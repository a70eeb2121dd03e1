//! The requests and responses of one connection over HTTP/1.1.

use std::collections::VecDeque;
use std::sync::Arc;

use super::Recorder;
use super::wire::{RequestLine, Requests, Response, Responses};

/// The requests of a connection that have no response yet, and the state of both parsers.
pub struct Exchange {
    recorder: Arc<Recorder>,
    requests: Requests,
    waiting: VecDeque<RequestLine>,
    responses: Responses,
    malformed: bool,
}

impl Exchange {
    /// Returns the exchange of a new connection, whose responses `recorder` checks.
    pub fn new(recorder: Arc<Recorder>) -> Self {
        let (requests, waiting) = (Requests::default(), VecDeque::new());
        Self { recorder, requests, waiting, responses: Responses::default(), malformed: false }
    }

    /// Parses bytes of the client.
    pub fn sent(&mut self, bytes: &[u8]) {
        self.waiting.extend(self.requests.feed(bytes));
    }

    /// Parses bytes of the server; none if it has closed the connection. Returns the responses that are complete with
    /// them, which were checked.
    pub fn received(&mut self, bytes: &[u8]) -> Vec<Response> {
        if self.malformed {
            return Vec::new();
        }
        let begun = usize::from(self.responses.is_partial());
        let mut next = self.waiting.iter().skip(begun);
        let to_head = || next.next().is_some_and(|line| line.method == "HEAD");
        let responses: Result<Vec<Response>, _> = if bytes.is_empty() {
            self.responses.end().map(|last| last.into_iter().collect())
        } else {
            self.responses.feed(bytes, to_head)
        };
        match responses {
            Ok(responses) => {
                for response in responses.iter().filter(|response| response.status >= 200) {
                    self.recorder.observe(self.waiting.pop_front().as_ref(), response);
                }
                responses
            }
            Err(malformed) => {
                self.malformed = true;
                self.recorder.violation(&format!("the service sent malformed HTTP: {}", malformed.0));
                Vec::new()
            }
        }
    }
}
