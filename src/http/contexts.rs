//! The request contexts with which dropshot's handlers are called.
//!
//! dropshot's own server limits neither the number of connections nor how long they may do nothing, so
//! [`crate::server`] accepts connections itself. A handler needs a [`RequestContext`], which has no
//! constructor: only dropshot's server creates one. So dropshot serves a port of 127.0.0.1 for a moment, this
//! file sends requests to it, and its handler keeps their contexts. Each of them then belongs to one request
//! of the service at a time, and is used again.
//!
//! Rejected: a proxy in front of dropshot's server (a second connection, parser and copy for each request),
//! and a watch on its sockets from outside (Linux only, and blind to HTTP/2 streams).

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use dropshot::{
    ApiDescription, ApiEndpoint, ApiEndpointVersions, HttpError, HttpResponseUpdatedNoContent,
    RequestContext, ServerBuilder,
};
use http::Method;
use slog::{Discard, Logger, o};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::mpsc;

use crate::service::Service;

/// How many contexts are created at a time.
const BATCH: usize = 64;

/// The contexts that no request uses. There are as many contexts as there were requests at the same time.
pub(crate) struct Contexts {
    service: Service,
    free: Mutex<Vec<RequestContext<Service>>>,
    creating: tokio::sync::Mutex<()>,
}

impl Contexts {
    pub(crate) fn new(service: Service) -> Self {
        Self { service, free: Mutex::default(), creating: tokio::sync::Mutex::default() }
    }

    /// Returns a context. Its public fields are those of the request that [`create`] sent: [`Call`] has the request
    /// of the client.
    ///
    /// [`Call`]: super::call::Call
    ///
    /// # Errors
    /// When a context must be created, and no port of 127.0.0.1 can be used.
    pub(super) async fn take(&self) -> io::Result<RequestContext<Service>> {
        loop {
            if let Some(context) = self.free().pop() {
                return Ok(context);
            }
            let _creating = self.creating.lock().await;
            if self.free().is_empty() {
                let created = create(&self.service).await?;
                self.free().extend(created);
            }
        }
    }

    /// Keeps a context for another request.
    pub(super) fn give_back(&self, context: RequestContext<Service>) {
        self.free().push(context);
    }

    fn free(&self) -> MutexGuard<'_, Vec<RequestContext<Service>>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Creates [`BATCH`] contexts with a server of dropshot.
async fn create(service: &Service) -> io::Result<Vec<RequestContext<Service>>> {
    let (sender, mut receiver) = mpsc::channel(BATCH);
    let keep = move |context: RequestContext<Service>| {
        let sender = sender.clone();
        async move {
            // If the receiver has enough, the context is dropped.
            let _ = sender.send(context).await;
            Ok::<_, HttpError>(HttpResponseUpdatedNoContent())
        }
    };
    let mut api = ApiDescription::new();
    let (name, versions) = ("keep".to_owned(), ApiEndpointVersions::All);
    api.register(ApiEndpoint::new(name, keep, Method::GET, "application/json", "/", versions))
        .map_err(io::Error::other)?;
    // By default on a free port of 127.0.0.1.
    let server = ServerBuilder::new(api, service.clone(), Logger::root(Discard, o!()))
        .start()
        .map_err(io::Error::other)?;
    let mut client = TcpStream::connect(server.local_addr()).await?;
    client.write_all("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(BATCH).as_bytes()).await?;
    let mut contexts = Vec::with_capacity(BATCH);
    while contexts.len() < BATCH {
        match receiver.recv().await {
            Some(context) => contexts.push(context),
            None => return Err(io::Error::other("dropshot's server stopped")),
        }
    }
    // Not `close`: it waits until all contexts are gone.
    drop(server);
    Ok(contexts)
}
