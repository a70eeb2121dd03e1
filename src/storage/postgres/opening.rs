//! Opening a database: inspects it before anything is written.
//!
//! The first connection reads which program the tables belong to, their version, and whether the server has
//! the settings that a store needs. Only an empty database, or an older one of this program, is then
//! migrated, and only with [`Migrate::Apply`]. A current database is opened without a lock and without the privilege
//! to create tables.

use slog::{Logger, info, warn};
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use super::address::Address;
use super::connector::Connector;
use super::error::{ConnectError, PgError, describe, list};
use super::schema::{self, NEWEST, OpenFailure, migrate, newer_program, version};
use super::session::Session;
use crate::storage::metrics::Access;
use crate::storage::options::{Migrate, OpenError, StoreOptions, new_secret, newer_release};

/// The first replica stores its secret, and all of them use it.
const STORE_SECRET: &str =
    "INSERT INTO secret (only_row, bytes) VALUES (1, $1) ON CONFLICT (only_row) DO NOTHING";

/// Says what to do about the most specific error.
fn advice(errors: &[ConnectError], address: &Address) -> String {
    let code = errors.iter().find_map(|error| match error {
        ConnectError::Refused { code, .. } => Some(code.as_deref().unwrap_or_default()),
        _ => None,
    });
    match code {
        Some("28P01") => format!("; check the password of {} and the server's pg_hba.conf", address.user),
        Some("28000") => format!("; check {} and the server's pg_hba.conf", address.user),
        Some("3D000") => format!("; create it with: createdb {}", address.database),
        Some("53300") => {
            "; raise that limit, of the server (max_connections), the role or the database, or run fewer replicas"
                .to_owned()
        }
        Some("57P01" | "57P02" | "57P03") => "; try again when it has started".to_owned(),
        Some("55000") => "; ALTER DATABASE .. ALLOW_CONNECTIONS true lets it accept connections".to_owned(),
        Some("") => "; check sslmode in the URL".to_owned(),
        Some(code) => format!("; see SQLSTATE {code} in the documentation of PostgreSQL"),
        None if errors.iter().any(|error| matches!(error, ConnectError::Standby { .. })) => {
            "; name the primary in the URL too".to_owned()
        }
        None => "; check host and port in the URL, and that the server runs".to_owned(),
    }
}

/// Inspects and migrates the database. Returns the secret of the store. The error is one line.
pub(super) async fn open(connector: &Connector) -> Result<[u8; 32], OpenError> {
    let address = connector.address();
    inspect_and_open(connector, &address, &connector.options).await.map_err(|failure| {
        let failure = match failure {
            OpenFailure::Failed(error) if error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
                OpenFailure::privileges(&address.user, &format!("{}; grant them", describe(&error)))
            }
            other => other,
        };
        let line = format!("the PostgreSQL database {} {failure}", address.database);
        let line = line.replace(char::is_control, "?");
        let is_away = match failure {
            OpenFailure::Away(_) => true,
            OpenFailure::Failed(error) => PgError::from(error).is_server_away(),
            OpenFailure::Unsuitable(_) => false,
        };
        if is_away { OpenError::Away(line) } else { OpenError::Unsuitable(line) }
    })
}

async fn connect(connector: &Connector, address: &Address) -> Result<Session, OpenFailure> {
    let connected = connector.connect().await;
    connected.inspect_err(|failure| failure.count(&connector.options, Access::Connect)).map_err(|failure| {
        match failure {
            PgError::Unreachable(errors) => {
                let line = format!("cannot be opened: {}{}", list(&errors), advice(&errors, address));
                if errors.iter().all(ConnectError::is_temporary) {
                    OpenFailure::Away(line)
                } else {
                    OpenFailure::Unsuitable(line)
                }
            }
            other => OpenFailure::Unsuitable(format!("cannot be used: {other}")),
        }
    })
}

/// Opens the database at `url` for a copy, and creates its tables if there are none. Returns a connection.
///
/// # Errors
/// One line that names the database and says what to do.
pub(in crate::storage) async fn connect_once(
    url: &str,
    options: &StoreOptions,
) -> Result<Session, OpenError> {
    let connector = Connector::new(url, options)?;
    open(&connector).await?;
    let failed = |error| OpenError::Unsuitable(format!("the target cannot be written: {error}"));
    connector.connect().await.map_err(failed)
}

/// The settings of a connection for a migration or a copy, which may take long.
pub(in crate::storage) const NO_LIMITS: &str =
    "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; SET lock_timeout = '60s'";

async fn inspect_and_open(
    connector: &Connector,
    address: &Address,
    options: &StoreOptions,
) -> Result<[u8; 32], OpenFailure> {
    let session = connect(connector, address).await?;
    let client = session.client();
    check_own_session(&session, &connect(connector, address).await?).await?;
    client.batch_execute(NO_LIMITS).await?;
    check_server(client).await?;
    let schema = find_schema(client, &address.user, options).await?;
    client.query("SELECT set_config('search_path', quote_ident($1), false)", &[&schema]).await?;
    // The other connections use the same one, whatever `search_path` will be.
    let schema = connector.schema.get_or_init(|| schema);
    let only_reads = options.migrate == Migrate::Never;
    let found = if has_our_tables(client).await? {
        schema::check_privileges(client, &address.user, only_reads).await?;
        Some(check_version(client).await?)
    } else {
        None
    };
    if found != Some(NEWEST) {
        if only_reads {
            return Err(OpenFailure::unmigrated(found));
        }
        migrate(client, options.version).await?;
        // A replica of a newer release may have migrated it first.
        check_version(client).await?;
        if let Some(before) = found.filter(|it| *it > 0) {
            info!(options.log, "upgraded the database"; "to" => NEWEST, "from" => before);
        }
    }
    schema::check(client, schema, &address.user, only_reads).await?;
    // Not earlier: a database that is rejected gets one line only.
    warn_about_settings(client, &options.log).await?;
    if options.migrate == Migrate::Apply {
        let secret = new_secret().map_err(|why| OpenFailure::Unsuitable(format!("cannot be used: {why}")))?;
        client.execute(STORE_SECRET, &[&secret.as_slice()]).await?;
    }
    let Some(row) = client.query_opt("SELECT bytes FROM secret WHERE only_row = 1", &[]).await? else {
        // Another process stores it at this moment, or ended before.
        return Err(OpenFailure::unmigrated(found));
    };
    let secret: &[u8] = row.try_get(0)?;
    secret.try_into().map_err(|_| OpenFailure::Unsuitable("has a secret of the wrong length".to_owned()))
}

/// Checks that two open connections are two sessions of the server, to which settings and prepared statements belong.
async fn check_own_session(session: &Session, other: &Session) -> Result<(), OpenFailure> {
    if session.backend() != other.backend() {
        return Ok(());
    }
    // Other clients of the proxy get this session.
    session.client().batch_execute("RESET ALL").await?;
    Err(OpenFailure::Unsuitable(
        "is behind a proxy that shares a session of the server among connections, such as PgBouncer in the mode \
         transaction; use its mode session, or connect to the server itself"
            .to_owned(),
    ))
}

async fn check_server(client: &Client) -> Result<(), OpenFailure> {
    let settings = "SELECT current_setting('server_encoding'), current_setting('default_transaction_read_only')::boolean";
    let row = client.query_one(settings, &[]).await?;
    let (encoding, is_read_only): (String, bool) = (row.try_get(0)?, row.try_get(1)?);
    if encoding != "UTF8" {
        return Err(OpenFailure::Unsuitable(format!(
            "has the encoding {encoding}, which cannot store every name; create one with UTF8"
        )));
    }
    if is_read_only {
        return Err(OpenFailure::Unsuitable(
            "is read-only, because default_transaction_read_only is on; switch it off for the server, the database \
             or the role, whichever sets it"
                .to_owned(),
        ));
    }
    Ok(())
}

/// Returns the schema with the tables of this program, or the one for them if there are none.
async fn find_schema(client: &Client, user: &str, options: &StoreOptions) -> Result<String, OpenFailure> {
    if let Some(schema) = &options.postgres.schema {
        let exists = client.query_opt("SELECT FROM pg_namespace WHERE nspname = $1", &[schema]).await?;
        return exists.map(|_| schema.clone()).ok_or_else(|| {
            OpenFailure::Unsuitable(format!(
                "has no schema {schema}, which postgres.schema names; create it with: \
                 CREATE SCHEMA \"{schema}\" AUTHORIZATION {user}"
            ))
        });
    }
    let stores = "SELECT nspname::text FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace \
         WHERE relname = 'animal_store_migration' ORDER BY nspname";
    let stores = client.query(stores, &[]).await?;
    let stores: Vec<String> = stores.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
    let current: Option<String> = client.query_one("SELECT current_schema()::text", &[]).await?.try_get(0)?;
    match current {
        Some(current) if stores.is_empty() || stores.contains(&current) => Ok(current),
        None if stores.is_empty() => Err(OpenFailure::Unsuitable(format!(
            "has no schema in which {user} can create tables; create one, or set search_path"
        ))),
        _ => Err(OpenFailure::Unsuitable(format!(
            "has the tables of this program in the schema {}{}, but search_path of {user} begins with another one; set \
             postgres.schema to the schema to use",
            stores[0],
            if stores.len() > 1 { " and others" } else { "" }
        ))),
    }
}

async fn warn_about_settings(client: &Client, log: &Logger) -> Result<(), OpenFailure> {
    let unsafe_settings =
        "SELECT name FROM pg_settings WHERE name IN ('fsync', 'full_page_writes') AND setting = 'off'";
    for row in client.query(unsafe_settings, &[]).await? {
        let name: String = row.try_get(0)?;
        warn!(log, "the database may lose animals when its machine crashes"; "off" => name);
    }
    Ok(())
}

/// Whether the tables of this program exist; an error if another program has one of them.
async fn has_our_tables(client: &Client) -> Result<bool, OpenFailure> {
    // Not information_schema, which hides tables without privileges.
    let rows = client
        .query(
            "SELECT relname::text FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace \
             WHERE nspname = current_schema() \
             AND relname IN ('animal_store_migration', 'animal', 'api_key', 'secret') ORDER BY relname",
            &[],
        )
        .await?;
    let tables: Vec<String> = rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
    match tables.first() {
        None => Ok(false),
        Some(_) if tables.iter().any(|table| table == "animal_store_migration") => Ok(true),
        Some(table) => Err(OpenFailure::Unsuitable(format!(
            "has a table {table} of another program; use another database"
        ))),
    }
}

/// Returns the number of the last migration; an error if a newer release applied it.
async fn check_version(client: &Client) -> Result<i64, OpenFailure> {
    match version(client).await? {
        newer if newer > NEWEST => Err(OpenFailure::Unsuitable(format!(
            "was written by a newer release of this program (format {newer}, this one knows up to {NEWEST}); use {}",
            newer_release(newer_program(client).await.as_deref())
        ))),
        known => Ok(known),
    }
}
