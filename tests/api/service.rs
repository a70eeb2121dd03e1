//! Starts the service in this process, and sends requests to it.
//!
//! All requests pass through a proxy whose recorder checks responses against the OpenAPI document. When a [`Service`]
//! is dropped, its test fails if a response violated the document or if the log contains a key.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use animal_store::config::{Config, ConnectionLimits, Flags};
use animal_store::keys::{self, NewKey};
use animal_store::server::{Listeners, Server, Starting};
use animal_store::service::RateLimit;
use animal_store::storage::{self, Migrate, PostgresOptions, Store, StoreMetrics, StoreOptions};
use animal_store::telemetry::metrics::Metrics;
use animal_store::{Deprecation, Document};
use jiff::{SignedDuration, Timestamp};
use reqwest::Method;
use serde_json::{Value, json};
use slog::{Drain, Logger, o};
use tokio::runtime::Handle;

use crate::client::Client;
use crate::database::{Database, Engine, Lock};
use crate::failing_store::FailingStore;
use crate::raw::Raw;
pub use kit::recorder::request::RequestExt;
use kit::recorder::wire::Response;
use kit::recorder::{Recorder, proxy};

/// The document that the service publishes and that responses are checked against.
pub const DOCUMENT: &str = include_str!("../../openapi/animal-store.yaml");

/// The default time limit of each wait. A busy machine does not reach it.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// A running service with an empty store and one valid key.
pub struct Service {
    /// The API key that [`Self::request`] and [`Self::client`] send.
    pub key: String,
    /// The store of the service, which can be made to fail.
    pub store: Arc<FailingStore>,
    pub recorder: Arc<Recorder>,
    /// The address of the recording proxy, which clients must use.
    pub address: SocketAddr,
    pub log: Log,
    /// `None` once stopped.
    pub server: Option<Server>,
    http: reqwest::Client,
    database: Database,
}

/// The options of a service.
pub struct Setup {
    engine: Engine,
    config: Config,
    store: StoreOptions,
    document: Document,
}

impl Setup {
    /// Returns default options.
    pub fn on(engine: Engine) -> Self {
        let defaults = Config::load(&Flags::default()).unwrap();
        let connections = ConnectionLimits { header_timeout: TIMEOUT, ..defaults.connections };
        let config = Config {
            bind: SocketAddr::from(([127, 0, 0, 1], 0)),
            request_timeout: TIMEOUT,
            connections,
            ..defaults
        };
        let document = animal_store::DOCUMENT.expect("the document");
        Self { engine, config, store: store_options(4096), document }
    }

    /// Sets the time limit of each step of a request.
    pub fn request_timeout(mut self, limit: Duration) -> Self {
        self.config.request_timeout = limit;
        self
    }

    /// Sets a rate limit per key.
    pub fn rate_limit(mut self, requests: u32, period: Duration) -> Self {
        let requests = NonZeroU32::new(requests).expect("a limit is not zero");
        self.config.rate_limit = Some(RateLimit { requests, period });
        self
    }

    /// Sets the length of the write queue and the time limit for a lock.
    pub fn writes(mut self, queue: usize, lock_timeout: Duration) -> Self {
        self.store.write_queue = queue;
        self.store.lock_timeout = lock_timeout;
        self
    }

    /// Sets the dates of deprecation. Responses are still checked against [`DOCUMENT`].
    pub fn deprecations(mut self, deprecations: &'static [Deprecation]) -> Self {
        self.document.deprecations = deprecations;
        self
    }

    /// Starts the service.
    pub async fn start(self) -> Service {
        let database = Database::fresh(self.engine).await;
        let log = Log::default();
        let logger = log.logger();
        let metrics = Arc::new(Metrics::default());
        let mut store = StoreOptions { log: logger.clone(), metrics: metrics.store.clone(), ..self.store };
        store.postgres.schema = database.schema();
        let store = storage::open(&database.url(), &store).await.expect("a store");
        let store = Arc::new(FailingStore::around(store));
        let listeners = Listeners::open(&self.config, None, None).expect("a free port");
        let api = Handle::current();
        let starting = Starting::new(&self.config, listeners, &self.document, metrics, &logger, &api);
        let server = starting.expect("no listener").serve(store.store()).expect("a server");
        let recorder = Arc::new(Recorder::default());
        recorder.add_secret(database.secret());
        let address = proxy::start(server.address, Arc::clone(&recorder)).await.expect("the proxy");
        // Proxies from the environment must not be used for loopback addresses.
        let http = reqwest::Client::builder().no_proxy().build().expect("a client");
        let mut service = Service {
            key: String::new(),
            store,
            recorder,
            address,
            log,
            server: Some(server),
            http,
            database,
        };
        service.key = service.new_key("tests", None).await.secret;
        service
    }
}

fn store_options(write_queue: usize) -> StoreOptions {
    StoreOptions {
        write_queue,
        lock_timeout: TIMEOUT,
        migrate: Migrate::Apply,
        version: "0.0.0",
        postgres: PostgresOptions {
            connect_timeout: TIMEOUT,
            statement_timeout: TIMEOUT,
            ..Config::load(&Flags::default()).unwrap().postgres
        },
        log: Logger::root(slog::Discard, o!()),
        metrics: StoreMetrics::default(),
    }
}

impl Service {
    /// Starts a service with default options on SQLite. Tests that reach SQL take an [`Engine`] instead.
    pub async fn start() -> Self {
        Self::setup().start().await
    }

    /// Returns default options on SQLite, to change before the start.
    pub fn setup() -> Setup {
        Setup::on(Engine::Sqlite)
    }

    /// Creates another key.
    pub async fn new_key(&self, name: &str, expires_in: Option<SignedDuration>) -> NewKey {
        let made = keys::create(&self.store, name, None, Timestamp::now(), expires_in).await.expect("a key");
        self.recorder.add_secret(&made.secret);
        made
    }

    /// Opens the store a second time, as another process would.
    pub async fn open_store_again(&self) -> Arc<Store> {
        let mut options = store_options(16);
        options.postgres.schema = self.database.schema();
        storage::open(&self.database.url(), &options).await.expect("a store")
    }

    /// Executes SQL in the database, as another program.
    pub async fn execute_sql(&self, sql: &str) {
        self.database.execute(sql).await;
    }

    /// Blocks writes to the store until the lock is released.
    pub async fn lock(&self) -> Lock {
        self.database.lock().await
    }

    /// All stored data as bytes, to search in.
    pub async fn stored(&self) -> Vec<u8> {
        self.database.contents().await
    }

    /// Returns the generated client with the default key.
    pub fn client(&self) -> Client {
        self.client_with(&self.key)
    }

    /// Returns the generated client with another key.
    pub fn client_with(&self, key: &str) -> Client {
        let mut headers = reqwest::header::HeaderMap::new();
        headers.insert("authorization", format!("Bearer {key}").parse().expect("a header"));
        let client = reqwest::Client::builder().no_proxy().default_headers(headers).build();
        Client::new_with_client(&self.url("/v1"), client.expect("a client"))
    }

    /// Builds a request with the default key.
    pub fn request(&self, method: Method, target: &str) -> reqwest::RequestBuilder {
        self.anonymous(method, target).bearer_auth(&self.key)
    }

    /// Builds a request without a key.
    pub fn anonymous(&self, method: Method, target: &str) -> reqwest::RequestBuilder {
        self.http.request(method, self.url(target))
    }

    /// Sends a GET request with the default key.
    pub async fn get(&self, target: &str) -> Response {
        self.request(Method::GET, target).response().await
    }

    /// Sends a GET request with another key.
    pub async fn get_with(&self, key: &str, target: &str) -> Response {
        self.anonymous(Method::GET, target).bearer_auth(key).response().await
    }

    /// Sends `POST /v1/pets` with this JSON.
    pub async fn post(&self, body: Value) -> Response {
        self.post_text(body.to_string()).await
    }

    /// Sends `POST /v1/pets` with this body as `application/json`.
    pub async fn post_text(&self, body: impl Into<reqwest::Body>) -> Response {
        let request = self.request(Method::POST, "/v1/pets").header("content-type", "application/json");
        request.body(body).response().await
    }

    /// Adds `count` animals without a status. Returns their identifiers.
    pub async fn add(&self, count: usize) -> Vec<i64> {
        let mut ids = Vec::new();
        for number in 0..count {
            let pet = self.post(json!({ "name": format!("animal {number}"), "categoryId": 1 })).await;
            ids.push(id(&pet.expect(201)));
        }
        ids
    }

    /// Adds an animal with this status. Returns its identifier.
    pub async fn add_with(&self, status: &str) -> i64 {
        id(&self.post(json!({ "name": "Rex", "categoryId": 3, "status": status })).await.expect(201))
    }

    /// Opens a connection for arbitrary bytes.
    pub async fn raw(&self) -> Raw {
        Raw::connect(self.address, &self.key).await
    }

    /// Shuts the server down; requests in progress have `grace` to finish.
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
        self.recorder.assert_no_violations();
        assert!(!log.contains("ask_"), "the log contains a key:\n{log}");
    }
}

/// The identifier of an animal.
pub fn id(pet: &Value) -> i64 {
    pet["id"].as_i64().expect("an animal has an id")
}

/// The identifiers of a list of animals.
pub fn ids(pets: &Value) -> Vec<i64> {
    pets.as_array().expect("a list of animals").iter().map(id).collect()
}

/// The log of the service, at the most verbose level.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// The log so far.
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
