//! The program `animal-store`: arguments, configuration, start, await.

mod descriptors;
mod logging;
mod transfer;

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use animal_store::config::{Config, Flags, Loaded, OpsBind};
use animal_store::document::Document;
use animal_store::keys::{self, commands};
use animal_store::server::{Server, ServerOptions};
use animal_store::storage::{self, KeyRecord, Store, StoreMetrics, StoreOptions};
use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand};
use jiff::{SignedDuration, Timestamp};
use slog::{Logger, info};
use tokio::signal::unix::{SignalKind, signal};

/// The document that this program serves.
const DOCUMENT: &str = include_str!("../openapi/animal-store.yaml");
/// The documents of released versions, in `openapi/released`.
const RELEASED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/released.rs"));

// glibc's allocator takes about a fifth of what dropshot takes for a request.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Failure = Box<dyn std::error::Error>;

/// A catalogue of animals over HTTP.
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the service until it is told to stop (SIGTERM, SIGINT).
    Serve {
        /// Where to listen; port 0 picks a free port. [default: 127.0.0.1:8080]
        #[arg(long, value_name = "ADDRESS:PORT")]
        bind: Option<SocketAddr>,
        /// Where operators are told of health and metrics; a bare port is one on the loopback. [default: nowhere]
        #[arg(long, value_name = "[ADDRESS:]PORT")]
        ops_bind: Option<OpsBind>,
        #[command(flatten)]
        place: Place,
    },
    /// Print the effective configuration, with where each setting came from.
    Config {
        #[command(flatten)]
        place: Place,
    },
    /// Make, list, rotate and revoke API keys.
    Key {
        #[command(subcommand)]
        command: KeyCommand,
    },
    /// Copy all animals and keys to another database. Interrupted, it goes on when it is run again.
    Copy(transfer::Copy),
    /// Copy an SQLite database that is in use into a new file.
    Backup(transfer::Backup),
}

#[derive(Args)]
struct Place {
    /// Where the animals and keys are. [default: sqlite:animal-store.db]
    #[arg(long, value_name = "sqlite:PATH|postgres://...")]
    database: Option<String>,
    /// A configuration file in TOML.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

#[derive(Subcommand)]
enum KeyCommand {
    /// Make a key and print it, once.
    Create {
        /// What to call it.
        #[arg(value_parser = key_name)]
        name: String,
        /// When it stops being good, such as 90d; never if left out.
        #[arg(long, value_name = "DURATION", value_parser = lifetime)]
        expires_in: Option<SignedDuration>,
        #[command(flatten)]
        place: Place,
    },
    /// List all keys, without the secrets.
    List {
        #[command(flatten)]
        place: Place,
    },
    /// Make a key to replace another one and print it. The old one stays good for a while.
    Rotate {
        /// The identifier of the key to replace, from `key list`.
        id: String,
        /// How long the old key stays good.
        #[arg(long, value_name = "DURATION", default_value = "24h", value_parser = lifetime)]
        overlap: SignedDuration,
        /// When the new key stops being good, such as 90d; never if left out.
        #[arg(long, value_name = "DURATION", value_parser = lifetime)]
        expires_in: Option<SignedDuration>,
        #[command(flatten)]
        place: Place,
    },
    /// Revoke a key, at once and for ever.
    Revoke {
        /// The identifier of the key, from `key list`.
        id: String,
        #[command(flatten)]
        place: Place,
    },
}

fn key_name(name: &str) -> Result<String, &'static str> {
    let fine = (1..=100).contains(&name.chars().count()) && !name.contains(char::is_control);
    if fine { Ok(name.to_owned()) } else { Err("a name has 1 to 100 characters, no control characters") }
}

fn lifetime(text: &str) -> Result<SignedDuration, String> {
    let duration = humantime::parse_duration(text)
        .map_err(|_| "a duration is written like 90d, 12h or 30m".to_owned())?;
    SignedDuration::try_from(duration).map_err(|_| "that is too long".to_owned())
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => {
            let message = error.to_string();
            // clap repeats the usage; the first paragraph says what is wrong.
            let first = message.split("\n\n").next().unwrap_or_default();
            let line = first.split_whitespace().collect::<Vec<_>>().join(" ");
            eprintln!("{line} (animal-store --help tells more)");
            return ExitCode::from(2);
        }
        // The version is the document's, not the package's.
        Err(error) if error.kind() == ErrorKind::DisplayVersion => return exit(print_version()),
        Err(help) => {
            print!("{help}");
            return ExitCode::SUCCESS;
        }
    };
    exit(run(cli))
}

fn exit(result: Result<(), Failure>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn print_version() -> Result<(), Failure> {
    let document = Document::from_yaml(DOCUMENT)?;
    Ok(print(&format!("animal-store {}\n", document.version()))?)
}

fn run(cli: Cli) -> Result<(), Failure> {
    if let Command::Serve { .. } = cli.command {
        descriptors::raise()?;
    }
    let runtime = tokio::runtime::Runtime::new()?;
    let result = match cli.command {
        Command::Serve { bind, ops_bind, place } => {
            let config = load(place, bind, ops_bind)?.config;
            let (log, flush) = logging::start(&config.log)?;
            let served = runtime.block_on(serve(&config, &log));
            flush.wait(Duration::from_millis(500));
            served
        }
        Command::Config { place } => Ok(print(&load(place, None, None)?.page())?),
        Command::Key { command } => runtime.block_on(key(command)),
        Command::Copy(copy) => runtime.block_on(copy.run()),
        Command::Backup(backup) => backup.run(),
    };
    // Nothing worth waiting for is left, and a stuck client must not hold up the exit.
    runtime.shutdown_background();
    result
}

fn load(place: Place, bind: Option<SocketAddr>, ops_bind: Option<OpsBind>) -> Result<Loaded, Failure> {
    Ok(Config::load(place.config.as_deref(), Flags { bind, ops_bind, database: place.database })?)
}

fn print(text: &str) -> io::Result<()> {
    io::stdout().write_all(text.as_bytes())
}

fn store_options(config: &Config, log: &Logger) -> StoreOptions {
    StoreOptions {
        write_queue: config.write_queue,
        lock_timeout: config.lock_timeout,
        log: log.clone(),
        metrics: StoreMetrics::default(),
    }
}

async fn open(config: &Config, log: &Logger) -> Result<Arc<dyn Store>, Failure> {
    Ok(storage::open(&config.database, &store_options(config, log)).await?)
}

async fn serve(config: &Config, log: &Logger) -> Result<(), Failure> {
    // Before anything else, so that no signal is lost.
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let document = Document::from_yaml(DOCUMENT)?.with_released(RELEASED);
    let options = ServerOptions {
        bind: config.bind,
        ops_bind: config.ops_bind.map(|OpsBind(address)| address),
        tls: config.tls(),
        request_timeout: config.request_timeout,
        rate_limit: config.rate_limit(),
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
    server.stop_held_back(config.shutdown_grace, descriptors::hold_back).await;
    info!(log, "stopped");
    Ok(())
}

async fn key(command: KeyCommand) -> Result<(), Failure> {
    let now = Timestamp::from_second(Timestamp::now().as_second())?;
    let opened =
        async |place| open(&load(place, None, None)?.config, &Logger::root(slog::Discard, slog::o!())).await;
    let no_key = |id: &str| format!("there is no key {id} that is still good; key list shows all");
    let store = match &command {
        KeyCommand::Create { place, .. }
        | KeyCommand::List { place }
        | KeyCommand::Rotate { place, .. }
        | KeyCommand::Revoke { place, .. } => {
            opened(Place { database: place.database.clone(), config: place.config.clone() }).await?
        }
    };
    let result: Result<String, Failure> = async {
        Ok(match command {
            KeyCommand::Create { name, expires_in, .. } => {
                commands::create(&*store, &name, now, expires_in).await?.secret + "\n"
            }
            KeyCommand::List { .. } => list(&store.keys().await?, now),
            KeyCommand::Rotate { id, overlap, expires_in, .. } => {
                let key = commands::rotate(&*store, &id, now, overlap, expires_in).await?;
                key.ok_or_else(|| no_key(&id))?.secret + "\n"
            }
            KeyCommand::Revoke { id, .. } => {
                if !store.revoke_key(&id, now).await? {
                    return Err(format!("there is no key {id}; key list shows all").into());
                }
                String::new()
            }
        })
    }
    .await;
    store.close().await;
    Ok(print(&result?)?)
}

fn list(keys: &[KeyRecord], now: Timestamp) -> String {
    let time = |time: Option<Timestamp>| time.map_or("-".to_owned(), |time| time.to_string());
    let mut table =
        format!("{:<18}{:<9}{:<22}{:<22}{:<22}NAME\n", "ID", "STATE", "CREATED", "EXPIRES", "REVOKED");
    for key in keys {
        let state = match key {
            KeyRecord { revoked: Some(_), .. } => "revoked",
            key if keys::is_good(key, now) => "good",
            _ => "expired",
        };
        let (created, expires, revoked) = (time(Some(key.created)), time(key.expires), time(key.revoked));
        table += &format!("{:<18}{state:<9}{created:<22}{expires:<22}{revoked:<22}{}\n", key.id, key.name);
    }
    table
}
