//! Asking with a plain client.

use std::time::Duration;

use super::wire::Response;

/// Sending a request.
pub trait Ask {
    /// The whole answer.
    async fn answer(self) -> Response;
}

impl Ask for reqwest::RequestBuilder {
    async fn answer(self) -> Response {
        let response = self.timeout(Duration::from_secs(20)).send().await.expect("an answer");
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = response.bytes().await.expect("a complete answer").to_vec();
        Response { status, headers, body }
    }
}
