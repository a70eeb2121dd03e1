//! The runs: SQLite with one process, and PostgreSQL with three replicas.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;
use rustix::process::Signal;
use tokio::task::block_in_place;
use tokio::time::sleep;

use crate::history::clients::World;
use crate::history::run::{System, record};
use crate::history::schedule::{Engine, Fault};
use kit::postgres::Cluster;
use kit::program::{Program, WorkDir};

/// Replicas of the service on one database.
struct Replicas {
    directory: WorkDir,
    arguments: Vec<String>,
    services: Vec<Program>,
}

impl Replicas {
    async fn start(count: usize, config: &str, database: &str) -> (Self, Arc<World>) {
        let directory = WorkDir::new();
        let config = directory.write("store.toml", config).to_str().expect("UTF-8").to_owned();
        let database = ["--database".to_owned(), database.to_owned()];
        let create = ["key", "create", "tests", &database[0], &database[1]];
        let key = directory.run(&create).await.success().trim_end().to_owned();
        let arguments = [vec!["--config".to_owned(), config], database.to_vec()].concat();
        let mut replicas = Self { directory, arguments, services: Vec::new() };
        for _ in 0..count {
            let service = replicas.serve().await;
            replicas.services.push(service);
        }
        let world = World::new(replicas.services.iter().map(|service| service.direct).collect(), key);
        (replicas, world)
    }

    async fn serve(&self) -> Program {
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        self.directory.serve(&arguments).await
    }

    async fn kill(&mut self, replica: usize, world: &World) {
        self.services[replica].signal(Signal::KILL);
        assert_eq!(self.services[replica].exit().await.0, None, "the service exited before it was killed");
        self.services[replica] = self.serve().await;
        *world.replicas[replica].lock().expect("no client panicked") = self.services[replica].direct;
    }

    async fn suspend(&self, replica: usize, time: Duration) {
        self.services[replica].signal(Signal::STOP);
        sleep(time).await;
        self.services[replica].signal(Signal::CONT);
    }

    async fn stop(self) {
        for service in self.services {
            service.stop().await;
        }
    }
}

struct Sqlite(Replicas);

impl System for Sqlite {
    const ENGINE: Engine = Engine::Sqlite;

    async fn inject(&mut self, fault: Fault, world: &World) {
        match fault {
            Fault::Kill { replica } => self.0.kill(replica, world).await,
            Fault::Suspend { replica, time } => self.0.suspend(replica, time).await,
            Fault::Lock(time) => {
                let other = Connection::open(self.0.directory.path("animal-store.db")).unwrap();
                // Waits for a write of the service.
                other.busy_timeout(Duration::from_secs(60)).unwrap();
                block_in_place(|| other.execute_batch("BEGIN IMMEDIATE")).unwrap();
                sleep(time).await;
                other.execute_batch("COMMIT").unwrap();
            }
            other => unreachable!("{other:?}"),
        }
    }
}

struct Postgres(Replicas, Cluster);

impl System for Postgres {
    const ENGINE: Engine = Engine::Postgres;

    async fn inject(&mut self, fault: Fault, world: &World) {
        let Self(replicas, cluster) = self;
        match fault {
            Fault::Kill { replica } => replicas.kill(replica, world).await,
            Fault::Suspend { replica, time } => replicas.suspend(replica, time).await,
            Fault::SuspendServer(time) => {
                let _suspended = cluster.suspend().await;
                sleep(time).await;
            }
            Fault::RestartServer => block_in_place(|| {
                cluster.stop();
                cluster.start_server();
            }),
            Fault::KillServer => block_in_place(|| {
                cluster.kill();
                cluster.start_server();
            }),
            other => unreachable!("{other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_history_on_sqlite_is_linearizable() {
    // Shorter than most locks that the faults hold.
    let config = "lock_timeout = '200ms'\n";
    let (replicas, world) = Replicas::start(1, config, "sqlite:animal-store.db").await;
    let mut system = Sqlite(replicas);
    let record = record(&mut system, &world).await;
    // First, because the log of a service that runs is printed when a test fails.
    system.0.stop().await;
    record.check();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_history_on_postgresql_with_three_replicas_is_linearizable() {
    let Some(cluster) = Cluster::start() else { return };
    // Shorter than some suspensions of the server.
    let config = "request_timeout = '2s'\n";
    let (replicas, world) = Replicas::start(3, config, &cluster.url("postgres")).await;
    let mut system = Postgres(replicas, cluster);
    let record = record(&mut system, &world).await;
    // First, because the log of a service that runs is printed when a test fails.
    system.0.stop().await;
    record.check();
}
