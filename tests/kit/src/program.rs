//! Runs the program in a temporary directory, and starts the service as a process.

use std::env;
use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Output, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use reqwest::Method;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::recorder::request::RequestExt;
use crate::recorder::wire::Response;
use crate::recorder::{Recorder, proxy};

/// The time limit of each wait.
pub const TIMEOUT: Duration = Duration::from_secs(300);

/// Returns the path of `animal-store`. Cargo builds it beside the directory of the test programs.
pub fn program() -> PathBuf {
    let test = env::current_exe().expect("the path of the test program");
    let built = test.ancestors().nth(2).expect("the directory of the test programs").join("animal-store");
    assert!(built.is_file(), "{} is missing: build the tests with cargo", built.display());
    built
}

/// A temporary directory to run the program in.
pub struct WorkDir(TempDir);

/// The result of a program that has exited.
pub struct Finished {
    /// The exit status; `None` if a signal ended the program.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// The files in the directory before the run.
    before: Vec<PathBuf>,
}

impl Finished {
    /// Returns the standard output of a successful run without other output, except about a new database and about
    /// changed keys.
    #[track_caller]
    pub fn success(self) -> String {
        let created = self.created();
        let is_quiet = self.without_audit().is_empty() || created.is_some();
        assert!(self.code == Some(0) && is_quiet, "{}", self.stderr);
        if let Some(created) = created {
            assert!(!self.before.contains(&created), "{} is not new", created.display());
        }
        self.stdout
    }

    /// Returns the log records about changed keys on standard error.
    pub fn audit(&self) -> Vec<&str> {
        self.stderr.lines().filter(|line| line.contains(" INFO  key ")).collect()
    }

    /// Returns standard error without the records about changed keys.
    fn without_audit(&self) -> String {
        let rest = self.stderr.split_inclusive('\n').filter(|line| !line.contains(" INFO  key "));
        rest.collect()
    }

    /// Returns the path of the new database, if standard error has only the line about it.
    pub fn created(&self) -> Option<PathBuf> {
        let rest = self.without_audit();
        let line = rest.strip_prefix("created a new database, ")?.strip_suffix(")\n")?;
        let (path, _source) = line.split_once(" (set by ")?;
        (!line.contains('\n')).then(|| path.into())
    }

    /// Returns the only line on standard error of a failed run.
    #[track_caller]
    pub fn failure(self) -> String {
        assert!(self.code.is_some_and(|code| code != 0), "exit status {:?}: {}", self.code, self.stdout);
        assert_eq!(self.stdout, "");
        let line = self.stderr.strip_suffix('\n').expect("a line on standard error");
        assert!(!line.is_empty() && !line.contains('\n'), "not one line: {line}");
        line.to_owned()
    }
}

/// Sets time limits that a busy machine does not reach.
pub fn patient(command: &mut Command) {
    let limits = ["REQUEST_TIMEOUT", "LOCK_TIMEOUT", "SHUTDOWN_GRACE", "POSTGRES__STATEMENT_TIMEOUT"];
    command.envs(limits.map(|limit| (format!("ANIMAL_STORE_{limit}"), "5m")));
}

impl Default for WorkDir {
    fn default() -> Self {
        Self(tempfile::tempdir().expect("a temporary directory"))
    }
}

impl WorkDir {
    /// Creates an empty directory.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a path in the directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file in the directory. Returns its path.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        fs::write(self.path(name), content).expect("a file");
        self.path(name)
    }

    /// Sets the permissions of a file in the directory.
    pub fn set_mode(&self, name: &str, mode: u32) {
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
        fs::set_permissions(self.path(name), permissions).expect("a file");
    }

    /// Returns the paths and contents of all files in the directory.
    pub fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let entries = fs::read_dir(self.0.path()).expect("a directory");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        let mut files: Vec<_> =
            paths.map(|path| (path.clone(), fs::read(path).unwrap_or_default())).collect();
        files.sort();
        files
    }

    /// Returns the paths of all files in the directory.
    pub fn names(&self) -> Vec<PathBuf> {
        self.files().into_iter().map(|(path, _)| path).collect()
    }

    /// Runs `animal-store` until it exits. The default database is in this directory.
    pub async fn run(&self, arguments: &[&str]) -> Finished {
        self.run_with(arguments, &[]).await
    }

    /// Runs `animal-store` with these environment variables until it exits.
    pub async fn run_with(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Finished {
        self.run_changed(arguments, |command| {
            command.envs(environment.iter().copied());
        })
        .await
    }

    /// Runs `animal-store` until it exits, after `change` was applied to the command.
    pub async fn run_changed(&self, arguments: &[&str], change: impl FnOnce(&mut Command)) -> Finished {
        let before = self.names();
        let mut command = self.command(arguments);
        change(&mut command);
        let output = timeout(TIMEOUT, command.output()).await;
        let Output { status, stdout, stderr } =
            output.expect("the end within the time limit").expect("the program");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Finished { code: status.code(), stdout: text(stdout), stderr: text(stderr), before }
    }

    /// Starts `animal-store`. The process is killed when the value is dropped.
    pub fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments).spawn().expect("the program")
    }

    /// Creates an API key.
    pub async fn key(&self) -> String {
        self.run(&["key", "create", "tests"]).await.success().trim_end().to_owned()
    }

    /// Starts the service on a free port and waits until it is ready.
    pub async fn serve(&self, arguments: &[&str]) -> Program {
        self.serve_with(arguments, |_| {}).await
    }

    /// Starts the service like [`Self::serve`], after `change` was applied to the command.
    pub async fn serve_with(&self, arguments: &[&str], change: impl FnOnce(&mut Command)) -> Program {
        self.serve_at(&[&["--bind", "127.0.0.1:0"], arguments].concat(), change).await
    }

    /// Starts the service at the address in the arguments, after `change` was applied to the command.
    pub async fn serve_at(&self, arguments: &[&str], change: impl FnOnce(&mut Command)) -> Program {
        let mut command = self.command(&["serve"]);
        command.args(arguments);
        change(&mut command);
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
        Program { child, stdout: Some(stdout), log, reading, direct, address, recorder, http }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program());
        command.args(arguments).current_dir(self.0.path());
        // The environment may contain settings of the program.
        command.env_clear().kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

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
        let start = Instant::now();
        loop {
            let (now, body) = self.ops("/readyz").await;
            if now == status {
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
