//! The command `serve`: runs the service until a signal stops it.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use animal_store::config::{Config, OpsBind};
use animal_store::document::DOCUMENT;
use animal_store::server::descriptors;
use animal_store::server::{Server, ServerOptions};
use animal_store::storage::{self, StoreOptions};
use animal_store::telemetry::logging;
use clap::Args;
use slog::{Logger, info};
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

use super::arguments::{Failure, Place, load, store_options};

/// `animal-store serve`
#[derive(Args)]
pub(crate) struct Serve {
    /// Where to listen; port 0 picks a free port. [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDRESS:PORT")]
    bind: Option<SocketAddr>,
    /// Where operators are told of health and metrics; a bare port is one on the loopback. [default: nowhere]
    #[arg(long, value_name = "[ADDRESS:]PORT")]
    ops_bind: Option<OpsBind>,
    #[command(flatten)]
    place: Place,
}

impl Serve {
    pub(crate) fn run(self, runtime: &Runtime) -> Result<(), Failure> {
        descriptors::raise()?;
        let config = load(self.place, self.bind, self.ops_bind)?.config;
        let (log, flush) = logging::start(&config.log)?;
        let served = runtime.block_on(serve(&config, &log));
        flush.wait(Duration::from_millis(500));
        served
    }
}

async fn serve(config: &Config, log: &Logger) -> Result<(), Failure> {
    // Before anything else, so that no signal is lost.
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let document = DOCUMENT?;
    let options = ServerOptions {
        bind: config.bind,
        ops_bind: config.ops_bind.map(|OpsBind(address)| address),
        tls: config.tls.clone(),
        request_timeout: config.request_timeout,
        rate_limit: config.rate_limit,
        log_one_in: config.log.one_in,
        metrics: Arc::default(),
    };
    options.check()?;
    let metrics = options.metrics.store().clone();
    let store =
        storage::open(&config.database, &StoreOptions { metrics, ..store_options(config, log) }).await?;
    let server = match Server::start(&options, &document, Arc::clone(&store), log) {
        Ok(server) => server,
        Err(error) => {
            store.close().await;
            return Err(error.into());
        }
    };
    info!(log, "ready"; "address" => %server.address(), "ops" => server.ops_address().map(|it| it.to_string()));
    let mut stdout = io::stdout();
    // Who started us may have closed standard output; that is no reason to stop.
    let _ = writeln!(stdout, "ready: {}", server.base_url()).and_then(|()| stdout.flush());
    let name = loop {
        tokio::select! {
            _ = terminate.recv() => break "SIGTERM",
            _ = interrupt.recv() => break "SIGINT",
            _ = hangup.recv() => server.reload_certificate().await,
        }
    };
    info!(log, "stopping"; "signal" => name);
    server.stop_without_resets(config.shutdown_grace, descriptors::pause_accepting).await;
    info!(log, "stopped");
    Ok(())
}
