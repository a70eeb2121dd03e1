//! Runs the program in a temporary directory ([`WorkDir`]), and starts the service as a process ([`Program`]).

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use reqwest::Method;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::recorder::request::RequestExt;
use crate::recorder::wire::Response;
use crate::recorder::{Recorder, proxy};

mod directory;

pub use directory::{Finished, WorkDir, patient, prefix, program};

/// The time limit of each wait.
pub const TIMEOUT: Duration = Duration::from_secs(300);

/// A running service.
pub struct Program {
    child: Child,
    stdout: Option<Lines<BufReader<ChildStdout>>>,
    log: Arc<Log>,
    reading: Option<JoinHandle<()>>,
    /// The address of the service, not of the proxy.
    pub direct: SocketAddr,
    /// The address of the recording proxy, which clients must use.
    pub address: SocketAddr,
    recorder: Arc<Recorder>,
    http: reqwest::Client,
}

impl Program {
    /// Starts the service and waits until it is ready.
    async fn ready(mut command: Command) -> Self {
        let mut child = command.spawn().expect("the program");
        let mut stdout = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let log = Arc::new(Log::default());
        let reading = child.stderr.take().map(|stderr| tokio::spawn(Arc::clone(&log).read(stderr)));
        let ready = timeout(TIMEOUT, stdout.next_line())
            .await
            .expect("a line within the time limit")
            .expect("a pipe");
        let Some(ready) = ready else { panic!("the service exited before it was ready: {}", log.text()) };
        let url = ready.strip_prefix("ready: ").and_then(|url| url.strip_suffix("/v1")).expect(&ready);
        let (scheme, address) = url.split_once("://").expect(&ready);
        let direct: SocketAddr = address.parse().expect("an address");
        let recorder = Arc::new(Recorder::default());
        // The recorder cannot read encrypted bytes.
        let address = match scheme {
            "http" => proxy::start(direct, Arc::clone(&recorder)).await.expect("the proxy"),
            _ => direct,
        };
        let http = reqwest::Client::builder().no_proxy().build().expect("a client");
        Self { child, stdout: Some(stdout), log, reading, direct, address, recorder, http }
    }

    /// Sends a GET request with this key.
    pub async fn get(&self, key: &str, target: &str) -> Response {
        self.request(Method::GET, key, target).response().await
    }

    /// Sends a POST request that adds an animal.
    pub async fn post(&self, key: &str, pet: &Value) -> Response {
        self.request(Method::POST, key, "/v1/pets").json(pet).response().await
    }

    /// Adds `count` animals. Returns their identifiers.
    pub async fn add(&self, key: &str, count: usize) -> Vec<i64> {
        let mut ids = Vec::new();
        for _ in 0..count {
            let pet = self.post(key, &json!({ "name": "Rex", "categoryId": 3 })).await.expect(201);
            ids.push(pet["id"].as_i64().expect("an identifier"));
        }
        ids
    }

    /// Returns all animals, read page by page.
    pub async fn all(&self, key: &str) -> Vec<Value> {
        let (mut found, mut target) = (Vec::new(), Some("/v1/pets?limit=100".to_owned()));
        while let Some(page) = target {
            let response = self.get(key, &page).await;
            found.extend(response.expect(200).as_array().expect("a list").iter().cloned());
            let next = response.header("link").and_then(|link| link.strip_prefix('<')?.split_once('>'));
            target = next.map(|(target, _)| target.to_owned());
        }
        found
    }

    /// Builds a request with this key.
    pub fn request(&self, method: Method, key: &str, target: &str) -> reqwest::RequestBuilder {
        self.http.request(method, format!("http://{}{target}", self.address)).bearer_auth(key)
    }

    /// Repeats a GET request until the response has this status. Returns how long that took.
    pub async fn wait_for_status(&self, status: u16, key: &str) -> Duration {
        let start = Instant::now();
        while self.get(key, "/v1/pets").await.status != status {
            assert!(start.elapsed() < TIMEOUT, "no response had status {status}");
        }
        start.elapsed()
    }

    /// The process identifier.
    pub fn pid(&self) -> Pid {
        let id = self.child.id().expect("it was not reaped before");
        Pid::from_raw(id.try_into().expect("a process id")).expect("a process id")
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).expect("a signal");
    }

    /// Waits until the process exits. Returns the exit status and how long that took.
    pub async fn exit(&mut self) -> (Option<i32>, Duration) {
        let start = Instant::now();
        let status = timeout(TIMEOUT, self.child.wait())
            .await
            .expect("the end within the time limit")
            .expect("a status");
        let took = start.elapsed();
        self.resume_reading_the_log();
        if let Some(reading) = self.reading.take() {
            reading.await.expect("the log");
        }
        (status.code(), took)
    }

    /// Sends SIGTERM, and checks that the exit status is 0.
    pub async fn stop(mut self) {
        self.signal(Signal::TERM);
        assert_eq!(self.exit().await.0, Some(0), "{}", self.log());
    }

    /// Reads the rest of standard output.
    pub async fn rest_of_stdout(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(stdout) = &mut self.stdout {
            while let Some(line) = stdout.next_line().await.expect("a pipe") {
                lines.push(line);
            }
        }
        lines
    }

    /// Closes the pipe of standard output.
    pub fn close_stdout(&mut self) {
        self.stdout = None;
    }

    /// Stops reading standard error, and leaves the pipe open.
    pub fn stop_reading_the_log(&self) {
        self.log.reading.send_replace(false);
    }

    /// Continues to read standard error.
    pub fn resume_reading_the_log(&self) {
        self.log.reading.send_replace(true);
    }

    /// Sends a GET request to the operators' listener. Returns status and body.
    pub async fn ops(&self, target: &str) -> (u16, String) {
        let (url, start) = (format!("http://{}{target}", self.ops_address().await), Instant::now());
        loop {
            let attempt = Instant::now();
            match self.http.get(&url).send().await {
                Ok(response) => return (response.status().as_u16(), response.text().await.expect("a text")),
                // The listener gives a client two seconds, which a busy machine may take before it sends the request.
                Err(error) => {
                    let is_late = !error.is_connect() && attempt.elapsed() >= Duration::from_secs(1);
                    assert!(is_late && start.elapsed() < TIMEOUT, "{error}");
                }
            }
        }
    }

    /// Returns the address of the operators' listener, from the log record `ready`.
    pub async fn ops_address(&self) -> String {
        loop {
            let log = self.log();
            // The line break shows that the address is complete.
            let reported = log.split_once(" operators=").and_then(|(_, rest)| rest.split_once('\n'));
            if let Some((address, _)) = reported {
                return address.to_owned();
            }
            timeout(TIMEOUT, self.log.more.notified()).await.expect("the address within the time limit");
        }
    }

    /// Polls `/readyz` until it has this status. Returns the body.
    pub async fn wait_for_readiness(&self, status: u16) -> String {
        self.wait_for_ready_response(status, "").await
    }

    /// Polls `/readyz` until it is 503 with this reason. On a busy machine it may be 503 because the store is slow.
    pub async fn wait_for_unreadiness(&self, reason: &str) {
        self.wait_for_ready_response(503, reason).await;
    }

    async fn wait_for_ready_response(&self, status: u16, text: &str) -> String {
        let start = Instant::now();
        loop {
            let (now, body) = self.ops("/readyz").await;
            if now == status && body.contains(text) {
                return body;
            }
            assert!(start.elapsed() < TIMEOUT, "readiness is {now}: {body}");
            sleep(Duration::from_millis(10)).await;
        }
    }

    /// Waits until the log contains `text`.
    pub async fn wait_for_log(&self, text: &str) {
        self.wait_for_log_times(text, 1).await;
    }

    /// Waits until the log contains `text` this many times.
    pub async fn wait_for_log_times(&self, text: &str, times: usize) {
        while self.log().matches(text).count() < times {
            timeout(TIMEOUT, self.log.more.notified()).await.expect("the text within the time limit");
        }
    }

    /// The log so far.
    pub fn log(&self) -> String {
        self.log.text()
    }
}

/// The standard error of a service.
struct Log {
    text: Mutex<String>,
    more: Notify,
    /// Whether the pipe is read.
    reading: watch::Sender<bool>,
}

impl Default for Log {
    fn default() -> Self {
        Self { text: Mutex::default(), more: Notify::new(), reading: watch::Sender::new(true) }
    }
}

impl Log {
    fn text(&self) -> String {
        self.text.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn read(self: Arc<Self>, mut stderr: ChildStderr) {
        let mut bytes = vec![0; 64 * 1024];
        let mut reading = self.reading.subscribe();
        loop {
            // Cannot fail, because the sender is in `self`.
            let _ = reading.wait_for(|reading| *reading).await;
            let count = tokio::select! {
                read = stderr.read(&mut bytes) => read.unwrap_or(0),
                _ = reading.changed() => continue,
            };
            if count == 0 {
                return;
            }
            let text = String::from_utf8_lossy(&bytes[..count]);
            self.text.lock().unwrap_or_else(PoisonError::into_inner).push_str(&text);
            self.more.notify_one();
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Reaps the process even if the test failed.
        let _ = self.child.start_kill();
        while let Ok(None) = self.child.try_wait() {
            thread::yield_now();
        }
        let log = self.log();
        if thread::panicking() {
            eprintln!("the log of the service:\n{log}");
            return;
        }
        self.recorder.assert_no_violations();
        assert!(!log.contains("ask_"), "the log contains an API key:\n{log}");
    }
}
