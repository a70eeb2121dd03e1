//! The harness: a directory with a database, the program run in it, and a service that is a process.

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

use crate::recorder::ask::Ask;
use crate::recorder::wire::Response;
use crate::recorder::{Recorder, tap};

/// The longest that anything may take; no test waits so long unless it fails.
const PATIENCE: Duration = Duration::from_secs(300);

/// A directory to run the program in.
pub struct Place(TempDir);

/// What came of running the program to its end.
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    /// The files of the directory before.
    before: Vec<PathBuf>,
}

impl Ran {
    /// The standard output of a run that went well and said nothing else, but for a new database.
    #[track_caller]
    pub fn printed(self) -> String {
        let created = self.created();
        assert!(self.code == Some(0) && (self.stderr.is_empty() || created.is_some()), "{}", self.stderr);
        if let Some(created) = created {
            assert!(!self.before.contains(&created), "{} is not new", created.display());
        }
        self.stdout
    }

    /// The path of the new database, if standard error has one line about it and nothing else.
    pub fn created(&self) -> Option<PathBuf> {
        let line = self.stderr.strip_prefix("created a new database, ")?.strip_suffix(")\n")?;
        let (path, _source) = line.split_once(" (set by ")?;
        (!line.contains('\n')).then(|| path.into())
    }

    /// The one line on standard error of a run that failed and printed nothing.
    #[track_caller]
    pub fn failed(self) -> String {
        assert!(self.code.is_some_and(|code| code != 0), "exit status {:?}: {}", self.code, self.stdout);
        assert_eq!(self.stdout, "");
        let line = self.stderr.strip_suffix('\n').expect("a line on standard error");
        assert!(!line.is_empty() && !line.contains('\n'), "not one line: {line}");
        line.to_owned()
    }
}

impl Place {
    /// An empty directory.
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary directory"))
    }

    /// A path in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Puts a file into it.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        fs::write(self.path(name), content).expect("a file");
        self.path(name)
    }

    /// The names and contents of its files.
    pub fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let entries = fs::read_dir(self.0.path()).expect("a directory");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        let mut files: Vec<_> =
            paths.map(|path| (path.clone(), fs::read(path).unwrap_or_default())).collect();
        files.sort();
        files
    }

    /// The names of its files.
    pub fn names(&self) -> Vec<PathBuf> {
        self.files().into_iter().map(|(path, _)| path).collect()
    }

    /// Runs `animal-store` with these arguments to its end. The default database is in this directory.
    pub async fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, &[]).await
    }

    /// Runs `animal-store` with these arguments and these variables of the environment to its end.
    pub async fn run_with(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Ran {
        self.run_changed(arguments, |command| {
            command.envs(environment.iter().copied());
        })
        .await
    }

    /// Runs `animal-store` with these arguments to its end, after a last change of its command.
    pub async fn run_changed(&self, arguments: &[&str], change: impl FnOnce(&mut Command)) -> Ran {
        let before = self.names();
        let mut command = self.command(arguments);
        change(&mut command);
        let output = timeout(PATIENCE, command.output()).await;
        let Output { status, stdout, stderr } = output.expect("an end in time").expect("the program");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Ran { code: status.code(), stdout: text(stdout), stderr: text(stderr), before }
    }

    /// Starts `animal-store` with these arguments. It is killed when this is dropped.
    pub fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments).spawn().expect("the program")
    }

    /// Makes a key.
    pub async fn key(&self) -> String {
        self.run(&["key", "create", "tests"]).await.printed().trim_end().to_owned()
    }

    /// Runs the service with these arguments until it is ready. It gets a free port.
    pub async fn serve(&self, arguments: &[&str]) -> Program {
        self.serve_with(arguments, |_| {}).await
    }

    /// Runs the service, after a last change of its command.
    pub async fn serve_with(&self, arguments: &[&str], change: impl FnOnce(&mut Command)) -> Program {
        self.serve_at(&[&["--bind", "127.0.0.1:0"], arguments].concat(), change).await
    }

    /// Runs the service where the arguments or the changed command say.
    pub async fn serve_at(&self, arguments: &[&str], change: impl FnOnce(&mut Command)) -> Program {
        let mut command = self.command(&["serve"]);
        command.args(arguments);
        change(&mut command);
        let mut child = command.spawn().expect("the program");
        let mut stdout = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let log = Arc::new(Log::default());
        let reading = child.stderr.take().map(|stderr| tokio::spawn(Arc::clone(&log).read(stderr)));
        let ready = timeout(PATIENCE, stdout.next_line()).await.expect("a line in time").expect("a pipe");
        let Some(ready) = ready else { panic!("it was never ready: {}", log.text()) };
        let url = ready.strip_prefix("ready: ").and_then(|url| url.strip_suffix("/v1")).expect(&ready);
        let (scheme, address) = url.split_once("://").expect(&ready);
        let direct: SocketAddr = address.parse().expect("an address");
        let recorder = Arc::new(Recorder::default());
        // What is encrypted cannot be listened to.
        let address = match scheme {
            "http" => tap::start(direct, Arc::clone(&recorder)).await.expect("a tap"),
            _ => direct,
        };
        let http = reqwest::Client::builder().no_proxy().build().expect("a client");
        Program { child, stdout: Some(stdout), log, reading, direct, address, recorder, http }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_animal-store"));
        command.args(arguments).current_dir(self.0.path());
        // The settings of whoever runs the tests are not for the program.
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
    /// Where the service itself listens.
    pub direct: SocketAddr,
    /// Where its tap listens, which is what clients must talk to.
    pub address: SocketAddr,
    recorder: Arc<Recorder>,
    http: reqwest::Client,
}

impl Program {
    /// GET with this key.
    pub async fn get(&self, key: &str, target: &str) -> Response {
        self.request(Method::GET, key, target).answer().await
    }

    /// Adds an animal.
    pub async fn post(&self, key: &str, pet: &Value) -> Response {
        self.request(Method::POST, key, "/v1/pets").json(pet).answer().await
    }

    /// Adds so many animals, and tells their identifiers.
    pub async fn add(&self, key: &str, count: usize) -> Vec<i64> {
        let mut ids = Vec::new();
        for _ in 0..count {
            let pet = self.post(key, &json!({ "name": "Rex", "categoryId": 3 })).await.expect(201);
            ids.push(pet["id"].as_i64().expect("an identifier"));
        }
        ids
    }

    /// All animals, page by page.
    pub async fn all(&self, key: &str) -> Vec<Value> {
        let (mut found, mut target) = (Vec::new(), Some("/v1/pets?limit=100".to_owned()));
        while let Some(page) = target {
            let answer = self.get(key, &page).await;
            found.extend(answer.expect(200).as_array().expect("a list").iter().cloned());
            let next = answer.header("link").and_then(|link| link.strip_prefix('<')?.split_once('>'));
            target = next.map(|(target, _)| target.to_owned());
        }
        found
    }

    /// A request with this key.
    pub fn request(&self, method: Method, key: &str, target: &str) -> reqwest::RequestBuilder {
        self.http.request(method, format!("http://{}{target}", self.address)).bearer_auth(key)
    }

    /// Asks until the answer has this status, and tells how long that took.
    pub async fn until(&self, status: u16, key: &str) -> Duration {
        let start = Instant::now();
        while self.get(key, "/v1/pets").await.status != status {
            assert!(start.elapsed() < PATIENCE, "never answered {status}");
        }
        start.elapsed()
    }

    /// Its process.
    pub fn pid(&self) -> Pid {
        let id = self.child.id().expect("it was not reaped before");
        Pid::from_raw(id.try_into().expect("a process id")).expect("a process id")
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).expect("a signal");
    }

    /// Waits for its end, and tells the exit status and how long that took.
    pub async fn exit(&mut self) -> (Option<i32>, Duration) {
        let start = Instant::now();
        let status = timeout(PATIENCE, self.child.wait()).await.expect("an end in time").expect("a status");
        let took = start.elapsed();
        self.read_the_log_again();
        if let Some(reading) = self.reading.take() {
            reading.await.expect("the log");
        }
        (status.code(), took)
    }

    /// Tells it to stop, and finds that it stops well.
    pub async fn stop(mut self) {
        self.signal(Signal::TERM);
        assert_eq!(self.exit().await.0, Some(0), "{}", self.log());
    }

    /// The rest of its standard output, to the end.
    pub async fn printed(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(stdout) = &mut self.stdout {
            while let Some(line) = stdout.next_line().await.expect("a pipe") {
                lines.push(line);
            }
        }
        lines
    }

    /// Closes its standard output.
    pub fn close_stdout(&mut self) {
        self.stdout = None;
    }

    /// Leaves its standard error open, and unread until told otherwise.
    pub fn stop_reading_the_log(&self) {
        self.log.reading.send_replace(false);
    }

    /// Reads its standard error again.
    pub fn read_the_log_again(&self) {
        self.log.reading.send_replace(true);
    }

    /// Asks the operators' listener.
    pub async fn ops(&self, target: &str) -> (u16, String) {
        let ops = self.ops_address().await;
        let answer = self.http.get(format!("http://{ops}{target}")).send().await.expect("an answer");
        (answer.status().as_u16(), answer.text().await.expect("a text"))
    }

    /// The address of the operators' listener, from the record about readiness.
    pub async fn ops_address(&self) -> String {
        loop {
            let log = self.log();
            // Followed by something, so that it is there to its end.
            let told = log.split_once(" operators=").and_then(|(_, rest)| rest.split_once('\n'));
            if let Some((address, _)) = told {
                return address.to_owned();
            }
            timeout(PATIENCE, self.log.more.notified()).await.expect("the address in time");
        }
    }

    /// Asks for readiness until the status is this, and tells the words that came with it.
    pub async fn readiness(&self, status: u16) -> String {
        let start = Instant::now();
        loop {
            let (now, words) = self.ops("/readyz").await;
            if now == status {
                return words;
            }
            assert!(start.elapsed() < PATIENCE, "readiness is {now}: {words}");
            sleep(Duration::from_millis(10)).await;
        }
    }

    /// Waits until its log holds these words.
    pub async fn logs(&mut self, words: &str) {
        while !self.log().contains(words) {
            timeout(PATIENCE, self.log.more.notified()).await.expect("the words in time");
        }
    }

    /// Its log until now.
    pub fn log(&self) -> String {
        self.log.text()
    }
}

/// What a program writes to standard error.
struct Log {
    text: Mutex<String>,
    more: Notify,
    /// Whether it is read.
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
            // The other end is in `self`, so it is never gone.
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
        // Killed and reaped, whatever became of the test.
        let _ = self.child.start_kill();
        while let Ok(None) = self.child.try_wait() {
            thread::yield_now();
        }
        let log = self.log();
        if thread::panicking() {
            eprintln!("the log of the service:\n{log}");
            return;
        }
        let violations = self.recorder.violations();
        assert!(violations.is_empty(), "not as the document says:\n{}", violations.join("\n"));
        assert!(!log.contains("ask_"), "a key stands in the log:\n{log}");
    }
}
