//! The command `serve`: runs the service until a signal stops it.

use std::future;
use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use animal_store::config::{Config, Flags};
use animal_store::server::service_manager::{self, keep_alive, notify};
use animal_store::server::{Listeners, Starting, reserve_descriptors};
use animal_store::storage::{self, OpenError, Store, StoreOptions};
use animal_store::telemetry::logging;
use animal_store::telemetry::metrics::Metrics;
use animal_store::{DOCUMENT, VERSION};
use clap::Args;
use jiff::Timestamp;
use sd_notify::NotifyState;
use slog::{Logger, error, info, warn};
use tokio::runtime::{Builder, Handle};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{interval, sleep};

use super::databases::store_options;
use super::{Failure, report_large_files_as_errors};

/// How long the threads of the runtime may miss events.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How long the service waits before it tries again to connect to a server that is away.
const RETRY: Duration = Duration::from_secs(1);

/// `animal-store serve`
#[derive(Args)]
pub(super) struct Serve {
    /// The address to listen on; port 0 picks a free port [default: 127.0.0.1:8080]
    #[arg(long, value_name = "IP:PORT", value_parser = address)]
    bind: Option<SocketAddr>,
    /// The address of the operators' listener, which serves /livez, /readyz and /metrics without
    /// authentication [default: no such listener]
    #[arg(long, value_name = "IP:PORT", value_parser = address)]
    ops_bind: Option<SocketAddr>,
    #[command(flatten)]
    flags: Flags,
}

fn address(text: &str) -> Result<SocketAddr, &'static str> {
    text.parse().map_err(|_| "expected an IP address and a port, such as 127.0.0.1:8080")
}

impl Serve {
    pub(super) fn run(self) -> Result<(), Failure> {
        // Before the first thread is started.
        let inherited = service_manager::inherited_listeners()?;
        let flags = Flags { bind: self.bind, ops_bind: self.ops_bind, ..self.flags };
        let config = Config::load(&flags)?;
        reserve_descriptors(&config, 0)?;
        // Huge pages make memory resident that buffers of idle connections never touch. It works without this, too.
        let _ = nix::sys::prctl::set_thp_disable(true);
        // What holds up requests must not hold up signals and operators.
        let own = Builder::new_current_thread().enable_all().build()?;
        own.block_on(async { report_large_files_as_errors() })?;
        let mut metrics = Metrics::default();
        metrics.add_build_info(VERSION, DOCUMENT?.version);
        let (log, buffer) = logging::start(&config.log, metrics.log.clone())?;
        let blocking_reads = storage::blocking_reads(&config.database);
        // More threads cost a fifth of the additions where no read blocks one: "Throughput" in
        // xtask/lab/src/bench/README.md.
        let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get) + blocking_reads;
        let runtime = Builder::new_multi_thread().worker_threads(threads).enable_all().build()?;
        let served = own.block_on(async {
            if blocking_reads > 0 {
                tokio::spawn(keep_polling(runtime.handle().clone()));
            }
            serve(&config, inherited, Arc::new(metrics), &log, runtime.handle()).await
        });
        // A stuck client or service manager must not hold up the exit.
        runtime.shutdown_background();
        own.shutdown_background();
        buffer.flush(Duration::from_millis(500));
        served
    }
}

/// Wakes a thread of `runtime` again and again. A thread that gets an event from the kernel does not wake another one
/// to wait for the next event; if a slow disk holds it, no request and no timer would be noticed (see "Reads on a slow
/// disk" in xtask/RECORDS.md).
async fn keep_polling(runtime: Handle) {
    let mut interval = interval(POLL_INTERVAL);
    loop {
        interval.tick().await;
        drop(runtime.spawn(future::ready(())));
    }
}

async fn serve(
    config: &Config,
    [public, operators]: [Option<TcpListener>; 2],
    metrics: Arc<Metrics>,
    log: &Logger,
    runtime: &Handle,
) -> Result<(), Failure> {
    // Before anything else, so that no signal is lost.
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut stop_signal = async || {
        tokio::select! {
            _ = terminate.recv() => "SIGTERM",
            _ = interrupt.recv() => "SIGINT",
        }
    };
    let mut hangup = signal(SignalKind::hangup())?;
    // Their default is to end the process. A handler stays when its stream is dropped.
    let _ignored = [signal(SignalKind::user_defined1())?, signal(SignalKind::user_defined2())?];
    let document = DOCUMENT?;
    // Before the store is opened, which may create or migrate a database.
    let listeners = Listeners::open(config, public, operators)?;
    if let Some(limit) = sd_notify::watchdog_enabled().filter(|limit| !limit.is_zero()) {
        let runtime = runtime.clone();
        tokio::spawn(async move { keep_alive(&runtime, limit).await });
    }
    let store_metrics = metrics.store.clone();
    let new_file = storage::missing_file(&config.database);
    let mut store_options = StoreOptions { metrics: store_metrics, ..store_options(config, log) };
    store_options.postgres.url_file.clone_from(&config.database_file);
    let starting = Starting::new(config, listeners, &document, metrics, log, runtime)?;
    let opened = tokio::select! {
        opened = open(config, store_options, starting.operators(), runtime) => opened,
        // A database that is locked or silent may take long.
        signal = stop_signal() => {
            info!(log, "stopping before the database was open"; "signal" => signal);
            return Ok(());
        }
    };
    let store = opened?;
    if let Some(path) = new_file {
        warn!(log, "created a new database"; "source" => config.location("database"), "file" => %path.display());
    }
    let server = match starting.serve(Arc::clone(&store)) {
        Ok(server) => server,
        Err(error) => {
            store.close().await;
            return Err(error);
        }
    };
    let now = Timestamp::now();
    if store.keys().await.is_ok_and(|keys| !keys.iter().any(|key| key.is_valid_at(now))) {
        warn!(
            log,
            "there is no valid API key; create one with `animal-store key create NAME` and the same settings"
        );
    }
    // Not earlier: a configuration that is rejected gets one line only.
    config.warnings().iter().for_each(|warning| warn!(log, "{}", warning));
    // slog serializes the last pair first.
    info!(log, "ready";
        "animal_store.operators" => server.operators().map(|address| address.to_string()),
        "animal_store.database" => storage::without_password(&config.database),
        "url.full" => server.base_url(),
        "animal_store.api_version" => document.version, "service.version" => VERSION);
    let mut stdout = io::stdout();
    // Standard output may be closed: the service runs without it.
    let _ = writeln!(stdout, "ready: {}", server.base_url()).and_then(|()| stdout.flush());
    notify(&[NotifyState::Ready, NotifyState::Status("serving")], log).await;
    let signal = loop {
        tokio::select! {
            signal = stop_signal() => break Some(signal),
            () = store.failed() => break None,
            _ = hangup.recv() => server.reload_certificate(),
        }
    };
    notify(&[NotifyState::Stopping], log).await;
    match signal {
        Some(signal) => info!(log, "stopping"; "signal" => signal),
        None => error!(log, "stopping: the database can no longer be written"),
    }
    server.stop(config.shutdown_grace).await;
    info!(log, "stopped");
    match signal {
        Some(_) => Ok(()),
        None => Err("the thread that writes to the database ended; its last message is above; start the service again".into()),
    }
}

/// Opens the store. Waits as long as its server is away, and says so.
async fn open(
    config: &Config,
    options: StoreOptions,
    operators: Option<SocketAddr>,
    runtime: &Handle,
) -> Result<Arc<Store>, Failure> {
    let log = &options.log;
    let mut reported = String::new();
    loop {
        let (database, options) = (config.database.clone(), options.clone());
        let opened = runtime.spawn(async move { storage::open(&database, &options).await }).await?;
        let why = match opened {
            Err(OpenError::Away(why)) => why,
            opened => return opened.map_err(|error| config.with_source("database", error).into()),
        };
        if why != reported {
            warn!(log, "waiting for the database";
                "animal_store.operators" => operators.map(|address| address.to_string()),
                "source" => config.location("database"), "error" => &why);
            notify(&[NotifyState::Status(&format!("waiting: {why}"))], log).await;
            reported = why;
        }
        sleep(RETRY).await;
    }
}
