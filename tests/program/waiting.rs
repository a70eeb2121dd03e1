//! PostgreSQL is away when the service starts: it waits, says so to operators and to the service manager, and starts when the
//! server does.

use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::net::{TcpStream, UnixDatagram};
use tokio::process::{Child, ChildStderr, ChildStdout};
use tokio::time::timeout;

use crate::ops::value;
use kit::postgres::{Cluster, free_port};
use kit::program::{TIMEOUT, WorkDir};

/// A service that waits for its database.
struct Waiting {
    child: Child,
    stdout: Lines<BufReader<ChildStdout>>,
    log: Lines<BufReader<ChildStderr>>,
    /// The address of the operators' listener.
    operators: String,
    http: reqwest::Client,
}

impl Waiting {
    /// Starts the service and waits until it says that it waits, because of `why`.
    async fn start(
        directory: &WorkDir,
        bind: &str,
        database: &str,
        manager: Option<&str>,
        why: &str,
    ) -> Self {
        let arguments = ["serve", "--bind", bind, "--ops-bind", "127.0.0.1:0", "--database", database];
        let mut child = directory.start_with(&arguments, |command| {
            let watchdog = if manager.is_some() { "200000" } else { "0" };
            command.env("WATCHDOG_USEC", watchdog).envs(manager.map(|path| ("NOTIFY_SOCKET", path)));
        });
        let stdout = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
        let line =
            timeout(TIMEOUT, log.next_line()).await.expect("a record in time").unwrap().expect("a record");
        assert!(line.contains(" WARN  waiting for the database ") && line.contains(why), "{line}");
        assert!(!line.contains("sesame"), "{line}");
        let operators = line.rsplit_once(" operators=").expect(&line).1.to_owned();
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { child, stdout, log, operators, http }
    }

    async fn ops(&self, path: &str) -> (u16, String) {
        let response = self.http.get(format!("http://{}{path}", self.operators)).send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    }

    /// Waits for the line on standard output.
    async fn ready(&mut self) -> String {
        let line = timeout(TIMEOUT, self.stdout.next_line()).await.expect("it starts in time");
        line.unwrap().expect("it becomes ready")
    }

    /// Sends SIGTERM. Returns the rest of the log.
    async fn stop(mut self) -> String {
        let id = self.child.id().unwrap().try_into().unwrap();
        kill_process(Pid::from_raw(id).unwrap(), Signal::TERM).unwrap();
        assert_eq!(timeout(TIMEOUT, self.child.wait()).await.expect("it ends").unwrap().code(), Some(0));
        let mut rest = String::new();
        while let Some(line) = self.log.next_line().await.unwrap() {
            rest += &format!("{line}\n");
        }
        rest
    }
}

/// The socket of a service manager.
struct Manager(UnixDatagram);

impl Manager {
    /// Waits until its queue is full, because it reads nothing.
    async fn is_full(&self, path: &Path) {
        let client = UnixDatagram::unbound().unwrap();
        client.connect(path).unwrap();
        let full = async { while client.try_send(b"FULL=1").is_ok() {} };
        timeout(TIMEOUT, full).await.expect("a queue has a limit");
    }

    /// Waits for a message that contains `text`, and skips others.
    async fn told(&self, text: &str) {
        let mut bytes = [0; 4096];
        let receiving = async {
            loop {
                let length = self.0.recv(&mut bytes).await.unwrap();
                if String::from_utf8_lossy(&bytes[..length]).contains(text) {
                    return;
                }
            }
        };
        timeout(TIMEOUT, receiving).await.unwrap_or_else(|_| panic!("{text} was not sent"));
    }
}

#[tokio::test]
async fn the_service_waits_for_a_server_that_is_away() {
    let Some(cluster) = Cluster::start() else { return };
    let url = cluster.url("postgres").replace("postgres@", "postgres:sesame@");
    cluster.stop();
    let directory = WorkDir::new();
    let socket = directory.path("manager");
    let manager = Manager(UnixDatagram::bind(&socket).unwrap());
    let bind = format!("127.0.0.1:{}", free_port());
    let why = format!("{} cannot be reached: Connection refused", cluster.address());
    let mut service = Waiting::start(&directory, &bind, &url, socket.to_str(), &why).await;
    manager.told("STATUS=waiting: ").await;
    manager.told("WATCHDOG=1").await;
    manager.is_full(&socket).await;
    assert_eq!(service.ops("/livez").await.0, 200);
    let (status, body) = service.ops("/readyz").await;
    assert_eq!((status, &*body), (503, "waiting for the database; its last error is in the log\n"));
    // Clients, and load balancers that connect only, learn that it is away.
    assert!(TcpStream::connect(&bind).await.is_err());
    let page = service.ops("/metrics").await.1;
    let labels = r#"db_system_name="postgresql",db_operation_name="connect",error_type="unreachable""#;
    assert!(value(&page, &format!("database_errors_total{{{labels}}}")) >= 1.0, "{page}");

    cluster.start_server();
    assert_eq!(service.ready().await, format!("ready: http://{bind}/v1"));
    manager.told("READY=1").await;
    manager.told("WATCHDOG=1").await;
    manager.told("WATCHDOG=1").await;
    let readiness = async { while service.ops("/readyz").await.0 != 200 {} };
    timeout(TIMEOUT, readiness).await.expect("it becomes ready");
    let rest = service.stop().await;
    manager.told("STOPPING=1").await;
    // Once, however often it tried.
    assert!(!rest.contains("waiting for the database"), "{rest}");
}

#[tokio::test]
async fn a_service_that_waits_can_be_stopped() {
    let url = format!("postgres://animals:sesame@127.0.0.1:{}/animals", free_port());
    let service =
        Waiting::start(&WorkDir::new(), "127.0.0.1:0", &url, None, "check host and port in the URL").await;
    let rest = service.stop().await;
    assert!(rest.contains("stopping before the database was open"), "{rest}");
}

/// During a failover, no host of the URL may be the primary yet.
#[tokio::test]
async fn the_service_waits_for_the_promotion_of_a_standby() {
    let Some(primary) = Cluster::start() else { return };
    let standby = primary.standby();
    primary.kill();
    let directory = WorkDir::new();
    let why = format!("{} is a standby", standby.address());
    let mut service =
        Waiting::start(&directory, "127.0.0.1:0", &primary.url_with(&standby), None, &why).await;
    standby.promote();
    assert!(service.ready().await.starts_with("ready: "));
    service.stop().await;
}
