//! The harness: a service that runs in this process, and ways to talk to it.
//!
//! Everything goes through a tap whose recorder knows the OpenAPI document. When a [`Service`] is dropped,
//! its test fails if any answer was not as the document says, or if a key stands in the log.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use animal_store::document::{self, Deprecation, Document};
use animal_store::keys::{self, NewKey};
use animal_store::rate_limit::RateLimit;
use animal_store::server::{Server, ServerOptions};
use animal_store::storage::{self, Store, StoreMetrics, StoreOptions};
use jiff::{SignedDuration, Timestamp};
use reqwest::Method;
use serde_json::{Value, json};
use slog::{Drain, Logger, o};

use crate::client::Client;
use crate::faulty::Faulty;
use crate::place::{Lock, Place};
use crate::raw::Raw;
pub use crate::recorder::ask::Ask;
use crate::recorder::wire::Response;
use crate::recorder::{Recorder, tap};

/// The document that the service serves and is judged by.
pub const DOCUMENT: &str = include_str!("../../openapi/animal-store.yaml");

/// The time limit of each step of a request, and of a write for a lock, where a test sets no other: longer
/// than either takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running service with an empty store and one good key.
pub struct Service {
    /// The secret of the key that [`Self::request`] and [`Self::client`] send.
    pub key: String,
    /// What the service keeps animals in; can be told to fail.
    pub store: Arc<Faulty>,
    pub recorder: Arc<Recorder>,
    /// Where the tap listens, which is what clients must talk to.
    pub address: SocketAddr,
    pub log: Log,
    /// `None` once stopped.
    pub server: Option<Server>,
    http: reqwest::Client,
    place: Place,
}

/// How to start a service.
pub struct Setup {
    options: ServerOptions,
    store: StoreOptions,
    document: Document,
}

impl Setup {
    /// With the documents of released versions, by file name.
    pub fn released(mut self, released: &'static [(&'static str, &'static str)]) -> Self {
        self.document.released = released;
        self
    }

    /// With a time limit for each step of a request.
    pub fn request_timeout(mut self, limit: Duration) -> Self {
        self.options.request_timeout = limit;
        self
    }

    /// With a rate limit for each key.
    pub fn rate_limit(mut self, requests: u32, period: Duration) -> Self {
        let requests = NonZeroU32::new(requests).expect("a limit is not zero");
        self.options.rate_limit = Some(RateLimit { requests, period });
        self
    }

    /// With so many writes that may wait, each so long for a lock.
    pub fn writes(mut self, queue: usize, lock_timeout: Duration) -> Self {
        self.store.write_queue = queue;
        self.store.lock_timeout = lock_timeout;
        self
    }

    /// With other dates of deprecation.
    pub fn deprecations(mut self, deprecations: &'static [Deprecation]) -> Self {
        self.document.deprecations = deprecations;
        self
    }

    /// Starts it.
    pub async fn start(self) -> Service {
        let place = Place::fresh().await;
        let log = Log::default();
        let logger = log.logger();
        let metrics = self.options.metrics.store().clone();
        let store = StoreOptions { log: logger.clone(), metrics, ..self.store };
        let store = storage::open(&place.url(), &store).await.expect("a store");
        let store = Arc::new(Faulty::around(store));
        let server =
            Server::start(&self.options, &self.document, Arc::clone(&store) as _, &logger).expect("a server");
        let recorder = Arc::new(Recorder::default());
        recorder.keep_secret(place.secret());
        let address = tap::start(server.address(), Arc::clone(&recorder)).await.expect("a tap");
        // Proxies of the environment are not for addresses of this machine.
        let http = reqwest::Client::builder().no_proxy().build().expect("a client");
        let mut service =
            Service { key: String::new(), store, recorder, address, log, server: Some(server), http, place };
        service.key = service.new_key("tests", None).await.secret;
        service
    }
}

impl Service {
    /// A service as it is usually set up.
    pub async fn start() -> Self {
        Self::setup().start().await
    }

    /// A service to be set up.
    pub fn setup() -> Setup {
        let options = ServerOptions { request_timeout: PATIENCE, ..ServerOptions::default() };
        let log = Logger::root(slog::Discard, o!());
        let metrics = StoreMetrics::default();
        let store = StoreOptions { write_queue: 4096, lock_timeout: PATIENCE, log, metrics };
        let document = Document { released: &[], ..document::DOCUMENT.expect("the document") };
        Setup { options, store, document }
    }

    /// Makes another key.
    pub async fn new_key(&self, name: &str, expires_in: Option<SignedDuration>) -> NewKey {
        let made = keys::create(&*self.store, name, Timestamp::now(), expires_in).await.expect("a key");
        self.recorder.keep_secret(&made.secret);
        made
    }

    /// Opens its store once more, as another process would.
    pub async fn store_elsewhere(&self) -> Arc<dyn Store> {
        let log = Logger::root(slog::Discard, o!());
        let metrics = StoreMetrics::default();
        let options = StoreOptions { write_queue: 16, lock_timeout: PATIENCE, log, metrics };
        storage::open(&self.place.url(), &options).await.expect("a store")
    }

    /// Keeps its store from writing until the lock is released.
    pub async fn lock(&self) -> Lock {
        self.place.lock().await
    }

    /// All that is stored, as bytes in which one can search.
    pub async fn stored(&self) -> Vec<u8> {
        self.place.contents().await
    }

    /// The typed client, with the key.
    pub fn client(&self) -> Client {
        self.client_with(&self.key)
    }

    /// The typed client, with a key of one's own.
    pub fn client_with(&self, key: &str) -> Client {
        let mut headers = reqwest::header::HeaderMap::new();
        headers.insert("authorization", format!("Bearer {key}").parse().expect("a header"));
        let client = reqwest::Client::builder().no_proxy().default_headers(headers).build();
        Client::new_with_client(&self.url("/v1"), client.expect("a client"))
    }

    /// A request with the key.
    pub fn request(&self, method: Method, target: &str) -> reqwest::RequestBuilder {
        self.anonymous(method, target).bearer_auth(&self.key)
    }

    /// A request without a key.
    pub fn anonymous(&self, method: Method, target: &str) -> reqwest::RequestBuilder {
        self.http.request(method, self.url(target))
    }

    /// GET with the key.
    pub async fn get(&self, target: &str) -> Response {
        self.request(Method::GET, target).answer().await
    }

    /// GET with another key.
    pub async fn get_with(&self, key: &str, target: &str) -> Response {
        self.anonymous(Method::GET, target).bearer_auth(key).answer().await
    }

    /// `POST /v1/pets` with the key and this JSON.
    pub async fn post(&self, body: Value) -> Response {
        self.post_text(body.to_string()).await
    }

    /// `POST /v1/pets` with the key and this body as `application/json`.
    pub async fn post_text(&self, body: impl Into<reqwest::Body>) -> Response {
        let request = self.request(Method::POST, "/v1/pets").header("content-type", "application/json");
        request.body(body).answer().await
    }

    /// Adds so many animals without a status, and tells their identifiers.
    pub async fn add(&self, count: usize) -> Vec<i64> {
        let mut ids = Vec::new();
        for number in 0..count {
            let pet = self.post(json!({ "name": format!("animal {number}"), "categoryId": 1 })).await;
            ids.push(id(&pet.expect(201)));
        }
        ids
    }

    /// Adds an animal with this status, and tells its identifier.
    pub async fn add_with(&self, status: &str) -> i64 {
        id(&self.post(json!({ "name": "Rex", "categoryId": 3, "status": status })).await.expect(201))
    }

    /// A connection to write bytes to.
    pub async fn raw(&self) -> Raw {
        Raw::connect(self.address, &self.key).await
    }

    /// Stops the server, within `grace`.
    pub async fn stop(&mut self, grace: Duration) {
        self.server.take().expect("it was not stopped before").stop(grace).await;
    }

    fn url(&self, target: &str) -> String {
        format!("http://{}{target}", self.address)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let log = self.log.text();
        if thread::panicking() {
            eprintln!("the log of the service:\n{log}");
            return;
        }
        let violations = self.recorder.violations();
        assert!(violations.is_empty(), "not as the document says:\n{}", violations.join("\n"));
        assert!(!log.contains("ask_"), "a key stands in the log:\n{log}");
    }
}

/// The identifier of an animal.
pub fn id(pet: &Value) -> i64 {
    pet["id"].as_i64().expect("an animal has an id")
}

/// The identifiers of a page of animals.
pub fn ids(pets: &Value) -> Vec<i64> {
    pets.as_array().expect("a list of animals").iter().map(id).collect()
}

/// What the service logs, at every level.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// All of it until now.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }

    fn logger(&self) -> Logger {
        let decorator = slog_term::PlainSyncDecorator::new(self.clone());
        Logger::root(slog_term::FullFormat::new(decorator).build().fuse(), o!())
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
