//! Sends an exact number of requests over 64 connections that are open already, so that their cost can be divided by
//! their number.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use http::StatusCode;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use super::clients::good::{Client, Protocol};
use super::load::{BODY, CONNECTIONS, Request};
use super::server::Server;

/// Open connections to a server.
pub(super) struct Clients {
    runtime: Runtime,
    idle: Vec<Client>,
    /// The number of the next request.
    next: u64,
}

impl Clients {
    pub(super) fn connect(server: &Server<'_>) -> Result<Self, String> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| format!("cannot start the tokio runtime: {error}"))?;
        let address = server.address.trim_start_matches("http://");
        let address: SocketAddr = address.parse().map_err(|error| format!("{address}: {error}"))?;
        let key = server.key().unwrap_or_default();
        let plain = Protocol { http2: false, tls: None };
        let idle = runtime.block_on(async {
            let mut idle = Vec::new();
            for _ in 0..CONNECTIONS {
                idle.push(Client::connect(&plain, address, key).await?);
            }
            Ok(idle)
        });
        let idle = idle.map_err(|error: super::clients::good::Error| format!("{address}: {error}"))?;
        Ok(Self { runtime, idle, next: 0 })
    }

    /// Sends a number of requests, as fast as they are answered.
    pub(super) fn send(&mut self, request: &Request, count: u64) -> Result<(), String> {
        let (next, end) = (Arc::new(AtomicU64::new(self.next)), self.next + count);
        self.next = end;
        let clients = std::mem::take(&mut self.idle);
        self.idle = self.runtime.block_on(async {
            let mut tasks = JoinSet::new();
            for mut client in clients {
                let (next, request) = (Arc::clone(&next), request.clone());
                tasks.spawn(async move {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= end {
                            return Ok(client);
                        }
                        send(&mut client, &request, number).await?;
                    }
                });
            }
            tasks.join_all().await.into_iter().collect::<Result<_, String>>()
        })?;
        Ok(())
    }
}

/// Sends one request.
async fn send(client: &mut Client, request: &Request, number: u64) -> Result<(), String> {
    let (expected, response) = match request {
        Request::Path(path) => (StatusCode::OK, client.get(path).await),
        // A prime, so that the identifiers are spread over all animals.
        Request::Random(animals) => {
            let id = number.wrapping_mul(7_919) % animals + 1;
            (StatusCode::OK, client.get(&format!("/v1/pets/{id}")).await)
        }
        Request::Add => (StatusCode::CREATED, client.post("/v1/pets", BODY).await),
        Request::AddOnce => {
            let key = format!("\"bench {number:032}\"");
            (StatusCode::CREATED, client.post_once("/v1/pets", BODY, &key).await)
        }
    };
    match response {
        Ok((status, _)) if status == expected => Ok(()),
        Ok((status, body)) => Err(format!("{request:?}: {status} {}", String::from_utf8_lossy(&body))),
        Err(error) => Err(format!("{request:?}: {error}")),
    }
}
