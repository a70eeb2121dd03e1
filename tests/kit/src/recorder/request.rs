//! Sends requests of reqwest and reads complete responses.

use std::time::Duration;

use super::wire::Response;

/// Sends a request.
pub trait RequestExt {
    /// Sends the request. Returns the complete response.
    fn response(self) -> impl Future<Output = Response> + Send;
}

impl RequestExt for reqwest::RequestBuilder {
    async fn response(self) -> Response {
        let response = self.timeout(Duration::from_secs(60)).send().await.expect("a response");
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = response.bytes().await.expect("a complete response").to_vec();
        Response { status, headers, body }
    }
}
