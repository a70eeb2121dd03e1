//! PgBouncer in front of a server.

use std::net::TcpStream;
use std::process::{ChildStdin, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::{Cluster, TIMEOUT, free_port};

/// A running PgBouncer. It ends when this is dropped, or when the test process ends.
pub struct Pool {
    port: u16,
    _guard: ChildStdin,
}

impl Pool {
    /// Starts PgBouncer before `cluster` with this `pool_mode`: `session`, `transaction` or `statement`. If it is not
    /// installed, skips this test and returns `None`.
    pub fn start(cluster: &Cluster, mode: &str) -> Option<Self> {
        if !crate::is_installed("pgbouncer", "pgbouncer") {
            return None;
        }
        let port = free_port();
        let users = cluster.put(&format!("pgbouncer-{port}.users"), "\"postgres\" \"\"\n");
        let settings = format!(
            "[databases]\n* = host=127.0.0.1 port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
             auth_type = trust\nauth_file = {}\npool_mode = {mode}\nunix_socket_dir =\n",
            cluster.port,
            users.display()
        );
        let settings = cluster.put(&format!("pgbouncer-{port}.ini"), &settings);
        // The shell ends it when the pipe is closed.
        let script = "pgbouncer --quiet \"$1\" & cat; kill $!";
        let mut guard = cluster.command("sh".as_ref(), &["-c", script, "guard", settings.to_str()?]);
        let guard = guard.stdin(Stdio::piped()).spawn().unwrap().stdin.take().unwrap();
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(start.elapsed() < TIMEOUT, "PgBouncer does not start");
            sleep(Duration::from_millis(10));
        }
        Some(Self { port, _guard: guard })
    }

    /// Returns the URL of a database for the superuser, like [`Cluster::url`].
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}?connect_timeout=60", self.port)
    }
}
