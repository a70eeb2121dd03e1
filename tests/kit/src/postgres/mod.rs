//! A PostgreSQL server for tests, started from the installed server programs.
//!
//! Its files are in a temporary directory, and it listens on a free port of the loopback address. If the tests run as
//! root, the server runs as `postgres` or `nobody`, because PostgreSQL refuses to run as root. A guard process reads
//! from a pipe of the test process. When that process ends in any way, the guard stops the server and removes the files.
//!
//! Without the server programs, tests of PostgreSQL are skipped with a message ([`skip`](crate::skip)).

use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tokio::time::{sleep, timeout};
use tokio_postgres::{Client, NoTls};

use crate::Need;

pub mod network;
pub mod pool;

/// The time limit of a wait. A busy machine does not reach it.
const TIMEOUT: Duration = Duration::from_secs(600);

/// The number of the next database.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// The settings of a server that is fast but not durable.
const FAST: &str = "-c fsync=off -c shared_buffers=32MB";

/// Returns the server that the tests of this process share, and starts it on the first call. If the server programs are
/// not installed, skips this test and returns `None`.
pub fn shared() -> Option<&'static Cluster> {
    static SHARED: LazyLock<Result<Cluster, String>> = LazyLock::new(|| Cluster::with(FAST));
    SHARED.as_ref().map_err(|missing| crate::skip(Need::Postgres, missing)).ok()
}

/// A running server.
pub struct Cluster {
    programs: PathBuf,
    home: PathBuf,
    port: u16,
    owner: Option<(u32, u32)>,
    settings: &'static str,
    /// The guard stops the server when this pipe is closed.
    _guard: ChildStdin,
}

impl Cluster {
    /// Starts a separate server that is fast but not durable. Returns `None` like [`shared`].
    pub fn start() -> Option<Self> {
        Self::with(FAST).map_err(|missing| crate::skip(Need::Postgres, &missing)).ok()
    }

    /// Starts a separate server with these settings.
    ///
    /// # Errors
    /// The reason, if the server programs are not installed.
    pub fn with(settings: &'static str) -> Result<Self, String> {
        let programs = programs(&[])?;
        let cluster = Self::prepare(programs, settings);
        cluster.run(
            &cluster.programs.join("initdb"),
            &["-D", cluster.data(), "-U", "postgres", "-N", "-A", "trust", "-E", "UTF8", "--no-locale"],
        );
        // Only these two roles need a password.
        let access = "local all all trust\n\
             host all strict,rotated 127.0.0.1/32 scram-sha-256\n\
             host all,replication all 127.0.0.1/32 trust\n";
        fs::write(cluster.home.join("data/pg_hba.conf"), access).unwrap();
        cluster.start_server();
        Ok(cluster)
    }

    /// Restarts this server and starts a standby of it. Replication is synchronous if `synchronous_standby_names`
    /// contains `standby`.
    pub fn standby(&self) -> Self {
        let standby = Self::prepare(self.programs.clone(), self.settings);
        // A copy of the stopped server, because some packages of PostgreSQL lack pg_basebackup.
        self.stop();
        standby.run(Path::new("cp"), &["-R", "-p", self.data(), standby.data()]);
        self.start_server();
        let primary = format!("host=127.0.0.1 port={} user=postgres application_name=standby", self.port);
        standby.append_settings(&format!("primary_conninfo = '{primary}'\n"));
        standby.put("standby.signal", "");
        standby.start_server();
        standby
    }

    /// Starts a primary that acknowledges nothing without its standby, and the standby, which does not need another one
    /// after its promotion. Returns `None` like [`shared`].
    pub async fn pair() -> Option<(Self, Self)> {
        let primary = Self::start()?;
        let standby = primary.standby();
        primary.require_standby().await;
        primary.replicates("sync").await;
        Some((primary, standby))
    }

    /// Makes this server acknowledge nothing without a standby. Standbys that are started later copy this.
    pub async fn require_standby(&self) {
        self.configure("synchronous_standby_names = 'standby'\n").await;
    }

    /// Waits until the standby is in this state of replication: `sync`, or empty if it is not connected.
    pub async fn replicates(&self, state: &str) {
        let client = self.client("postgres").await;
        let sql = "SELECT coalesce(max(sync_state), '') FROM pg_stat_replication";
        let waiting = async {
            while client.query_one(sql, &[]).await.unwrap().get::<_, String>(0) != state {
                sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(TIMEOUT, waiting).await.expect("the standby follows");
    }

    /// Returns the URL of a store on this server and a standby of it, whichever accepts writes.
    pub fn url_with(&self, standby: &Self) -> String {
        let hosts = format!("{},{}", self.address(), standby.address());
        format!("postgres://postgres@{hosts}/postgres?target_session_attrs=read-write&connect_timeout=60")
    }

    fn prepare(programs: PathBuf, settings: &'static str) -> Self {
        let home = tempfile::Builder::new().prefix("animals-").tempdir().unwrap().keep();
        let owner = (fs::metadata(&home).unwrap().uid() == 0).then(unprivileged);
        if let Some((user, group)) = owner {
            chown(&home, Some(user), Some(group)).unwrap();
        }
        let mut guard = Command::new("sh");
        guard
            .args(["-c", "cat; \"$1\" stop -s -m immediate -D \"$2/data\"; rm -rf \"$2\"", "guard"])
            .arg(programs.join("pg_ctl"))
            .arg(&home)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .current_dir("/")
            // Keeps Ctrl-C from reaching the guard.
            .process_group(0);
        as_owner(&mut guard, owner);
        let guard = guard.spawn().unwrap().stdin.take().unwrap();
        let port = free_port();
        Self { programs, home, port, owner, settings, _guard: guard }
    }

    /// Starts the server again after [`Cluster::stop`] or [`Cluster::kill`].
    pub fn start_server(&self) {
        let options = format!(
            "-c listen_addresses=127.0.0.1 -c port={} -c unix_socket_directories={} -c max_connections=300 \
             -c log_min_messages=warning {}",
            self.port,
            self.home.display(),
            self.settings
        );
        let log = self.home.join("log");
        let start = Instant::now();
        // A start fails until the processes of a killed server have ended.
        let arguments = ["start", "-s", "-w", "-D", self.data(), "-l", log.to_str().unwrap(), "-o", &options];
        while !self.command(&self.programs.join("pg_ctl"), &arguments).status().unwrap().success() {
            let log = fs::read_to_string(&log).unwrap_or_default();
            assert!(start.elapsed() < TIMEOUT, "the server does not start: {log}");
        }
    }

    /// Stops the server without waiting for clients (mode `fast`).
    pub fn stop(&self) {
        self.run(&self.programs.join("pg_ctl"), &["stop", "-s", "-w", "-m", "fast", "-D", self.data()]);
    }

    /// Sends SIGKILL to the postmaster.
    pub fn kill(&self) {
        self.signal("KILL");
    }

    /// Sends a signal to the postmaster.
    pub fn signal(&self, signal: &str) {
        send(signal, &self.postmaster());
    }

    /// Returns the identifier of the first process of the server.
    pub fn postmaster(&self) -> String {
        let file = fs::read_to_string(self.home.join("data/postmaster.pid")).unwrap();
        file.lines().next().unwrap().to_owned()
    }

    /// Suspends all processes of the server until the result is dropped. Connections stay open, and new ones are opened
    /// by the kernel.
    pub async fn suspend(&self) -> Suspended {
        let client = self.client("postgres").await;
        let mut suspended = Suspended(vec![self.postmaster()]);
        // First the process that starts others.
        self.signal("STOP");
        let processes = "SELECT pid::text FROM pg_stat_activity ORDER BY pid = pg_backend_pid()";
        suspended
            .0
            .extend(client.query(processes, &[]).await.unwrap().iter().map(|row| row.get::<_, String>(0)));
        suspended.0.iter().for_each(|process| send("STOP", process));
        suspended
    }

    /// Promotes a standby. It accepts writes when this returns.
    pub fn promote(&self) {
        self.run(&self.programs.join("pg_ctl"), &["promote", "-s", "-w", "-D", self.data()]);
    }

    /// Appends settings to the configuration and reloads it.
    pub async fn configure(&self, settings: &str) {
        self.append_settings(settings);
        self.client("postgres").await.batch_execute("SELECT pg_reload_conf()").await.unwrap();
    }

    fn append_settings(&self, settings: &str) {
        let path = self.home.join("data/postgresql.auto.conf");
        fs::OpenOptions::new().append(true).open(path).unwrap().write_all(settings.as_bytes()).unwrap();
    }

    /// Returns the version of the server programs, such as `15.14`. Packages add their own version to it.
    pub fn version(&self) -> String {
        let printed = Command::new(self.programs.join("postgres")).arg("--version").output().unwrap();
        let printed = String::from_utf8(printed.stdout).unwrap();
        printed.trim_end().strip_prefix("postgres (PostgreSQL) ").unwrap().to_owned()
    }

    /// Writes a file to the server's directory that only the server can read. Returns its path.
    pub fn put(&self, name: &str, contents: &str) -> PathBuf {
        let path = self.home.join("data").join(name);
        fs::write(&path, contents).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        if let Some((user, group)) = self.owner {
            chown(&path, Some(user), Some(group)).unwrap();
        }
        path
    }

    /// Creates a symbolic link in the server's directory, unless the file exists. Returns its path.
    pub fn link(&self, name: &str, target: &str) -> Option<PathBuf> {
        let path = self.home.join("data").join(name);
        std::os::unix::fs::symlink(target, &path).ok().map(|()| path)
    }

    /// Returns the URL of a database for the superuser. The timeout is longer than the default of a store, because a busy
    /// machine may need it.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@{}/{database}?connect_timeout=60", self.address())
    }

    /// Returns host and port.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Opens a connection that is independent of the store under test.
    pub async fn client(&self, database: &str) -> Client {
        let (client, connection) = tokio_postgres::connect(&self.url(database), NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    }

    /// Creates an empty database. Returns its name. `options` are those of CREATE DATABASE.
    pub async fn database(&self, options: &str) -> String {
        let name = format!("animals_{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let sql = format!("CREATE DATABASE {name} {options}");
        self.client("postgres").await.batch_execute(&sql).await.unwrap();
        name
    }

    fn data(&self) -> &str {
        // Leaks some bytes per server, to return a `&str`.
        Box::leak(self.home.join("data").to_str().unwrap().to_owned().into_boxed_str())
    }

    /// Runs a program as the owner of the server's files.
    fn run(&self, program: &Path, arguments: &[&str]) {
        let output = self.command(program, arguments).stderr(Stdio::piped()).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{} failed: {errors}", program.display());
    }

    fn command(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env("PGCTLTIMEOUT", "600")
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        as_owner(&mut command, self.owner);
        command
    }
}

/// The processes of a server that is suspended.
pub struct Suspended(Vec<String>);

impl Drop for Suspended {
    fn drop(&mut self) {
        // The postmaster last: it reaps processes that have ended, for which `kill` fails then.
        self.0.iter().rev().for_each(|process| send("CONT", process));
    }
}

/// Sends a signal to a process.
fn send(signal: &str, process: &str) {
    assert!(Command::new("kill").args(["-s", signal, process]).status().unwrap().success());
}

fn as_owner(command: &mut Command, owner: Option<(u32, u32)>) {
    if let Some((user, group)) = owner {
        command.uid(user).gid(group);
    }
}

/// Returns a free port below those that the system gives to outgoing connections (Linux: from 32768), any of which could
/// take the port before the server starts.
pub fn free_port() -> u16 {
    const PORTS: std::ops::Range<u16> = 10_000..32_000;
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let first = std::process::id().wrapping_mul(64);
    loop {
        let number = first.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
        let port = PORTS.start + (number % PORTS.len() as u32) as u16;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// Returns the directory of the server programs, which also has these others.
///
/// # Errors
/// The reason, if they are not installed.
pub fn programs(others: &[&str]) -> Result<PathBuf, String> {
    let all = [&["initdb", "postgres", "pg_ctl"], others].concat();
    let is_complete = |place: &PathBuf| all.iter().all(|program| place.join(program).is_file());
    if let Some(chosen) = std::env::var_os("STORE_TESTS_POSTGRES") {
        let chosen = PathBuf::from(chosen);
        assert!(is_complete(&chosen), "STORE_TESTS_POSTGRES={}: expected {all:?} there", chosen.display());
        return Ok(chosen.canonicalize().unwrap());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places: Vec<PathBuf> = fs::read_dir("/usr/lib/postgresql")
        .map(|versions| versions.flatten().map(|version| version.path().join("bin")).collect())
        .unwrap_or_default();
    places.sort_by_key(|place| version(place));
    places.reverse();
    std::env::split_paths(&path)
        .chain(places)
        .find(is_complete)
        .ok_or_else(|| format!("PostgreSQL is not installed ({})", all.join(", ")))
}

fn version(place: &Path) -> u32 {
    place.parent().and_then(|parent| parent.file_name()?.to_str()?.parse().ok()).unwrap_or(0)
}

/// Returns the user and group that run the server instead of root.
pub fn unprivileged() -> (u32, u32) {
    let users = fs::read_to_string("/etc/passwd").unwrap();
    ["postgres", "nobody"]
        .iter()
        .find_map(|wanted| {
            let line = users.lines().find(|line| line.split(':').next() == Some(wanted))?;
            let fields: Vec<&str> = line.split(':').collect();
            Some((fields[2].parse().ok()?, fields[3].parse().ok()?))
        })
        .expect("there must be a user postgres or nobody")
}
