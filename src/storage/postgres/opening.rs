//! Opening a database: inspects it before anything is written.
//!
//! The first connection reads which program the tables belong to, their version, and whether the server has
//! the settings that a store needs. Only an empty database, or an older one of this program, is then
//! migrated, and only with [`Migrate::Apply`]. A current database is opened without a lock and without the privilege
//! to create tables.

use futures::future::{FutureExt as _, ready};
use slog::{Logger, info, warn};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error};

use super::address::Address;
use super::error::{ConnectError, PgError, describe, list};
use super::migrations::{NEWEST, migrate, newer_program, version};
use super::session::{Purpose, Session};
use crate::storage::options::{Migrate, OpenError, StoreOptions, new_secret, newer_release};

/// The first replica stores its secret, and all of them use it.
const STORE_SECRET: &str =
    "INSERT INTO secret (only_row, bytes) VALUES (1, $1) ON CONFLICT (only_row) DO NOTHING";

/// Why a database cannot be opened: the end of a sentence that says what to do.
#[derive(Debug, thiserror::Error)]
enum OpenFailure {
    #[error("{0}")]
    Unsuitable(String),
    #[error("cannot be used: {}", describe(.0))]
    Failed(#[from] Error),
}

impl OpenFailure {
    fn privileges(user: &str, why: &str) -> Self {
        Self::Unsuitable(format!(
            "does not grant {user} the necessary privileges: {why}; grant them, or connect as the owner"
        ))
    }

    /// Migrations are missing, and the options do not allow to apply them. `None` for all of them.
    fn unmigrated(version: Option<i64>) -> Self {
        let lacks = match version {
            None => "has no tables of this program".to_owned(),
            Some(NEWEST) => "was not set up completely".to_owned(),
            Some(number) => format!("has format {number}, but this command needs {NEWEST}"),
        };
        Self::Unsuitable(format!(
            "{lacks}; create or migrate it with `animal-store serve` or `animal-store key create NAME`"
        ))
    }
}

/// Says what to do about the most specific error.
fn advice(errors: &[ConnectError], address: &Address) -> String {
    let code = errors.iter().find_map(|error| match error {
        ConnectError::Refused { code, .. } => Some(code.as_deref().unwrap_or_default()),
        _ => None,
    });
    match code {
        Some("28P01" | "28000") => {
            format!("; check the password of {} and the server's pg_hba.conf", address.user)
        }
        Some("3D000") => format!("; create it with: createdb {}", address.database),
        Some("53300") => "; raise max_connections of the server, or run fewer replicas".to_owned(),
        Some("57P03") => "; try again when it has started".to_owned(),
        Some(_) => "; check sslmode, user and password in the URL".to_owned(),
        None if errors.iter().any(|error| matches!(error, ConnectError::Unconfirmed { .. })) => {
            "; try again when most of the hosts can be reached".to_owned()
        }
        None if errors.iter().any(|error| matches!(error, ConnectError::ReadOnly { .. })) => {
            "; name the primary in the URL too".to_owned()
        }
        None => "; check host and port in the URL, and that the server runs".to_owned(),
    }
}

/// Inspects and migrates the database at `address`. Returns the secret of the store. The error is one line.
pub(super) async fn open(address: &Address, options: &StoreOptions) -> Result<[u8; 32], OpenError> {
    inspect_and_open(address, options).await.map_err(|failure| {
        let failure = match failure {
            OpenFailure::Failed(error) if error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
                OpenFailure::privileges(&address.user, &describe(&error))
            }
            other => other,
        };
        let line = format!("the PostgreSQL database {} {failure}", address.database);
        OpenError(line.replace(char::is_control, "?"))
    })
}

async fn connect(address: &Address, options: &StoreOptions) -> Result<Session, OpenFailure> {
    let connected = Session::connect(address, Purpose::Opening, options, |_| ready(Ok(())).boxed()).await;
    connected.map(|(session, ())| session).map_err(|failure| match failure {
        PgError::Unreachable(errors) => {
            let advice = advice(&errors, address);
            OpenFailure::Unsuitable(format!("cannot be opened: {}{advice}", list(&errors)))
        }
        PgError::Failed(error) => error.into(),
        other => OpenFailure::Unsuitable(format!("cannot be used: {other}")),
    })
}

async fn inspect_and_open(address: &Address, options: &StoreOptions) -> Result<[u8; 32], OpenFailure> {
    let session = connect(address, options).await?;
    let client = session.client();
    check_server(client, &address.user).await?;
    let found = if has_our_tables(client).await? {
        check_privileges(client, address, options.migrate).await?;
        Some(check_version(client).await?)
    } else {
        None
    };
    if found != Some(NEWEST) {
        if options.migrate == Migrate::Never {
            return Err(OpenFailure::unmigrated(found));
        }
        migrate(client, options.version).await?;
        // A replica of a newer release may have migrated it first.
        check_version(client).await?;
        if let Some(before) = found.filter(|it| *it > 0) {
            info!(options.log, "upgraded the database"; "to" => NEWEST, "from" => before);
        }
    }
    check_privileges(client, address, options.migrate).await?;
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

async fn check_server(client: &Client, user: &str) -> Result<(), OpenFailure> {
    let row =
        client.query_one("SELECT current_setting('server_encoding'), current_schema()::text", &[]).await?;
    let (encoding, schema): (String, Option<String>) = (row.try_get(0)?, row.try_get(1)?);
    if encoding != "UTF8" {
        return Err(OpenFailure::Unsuitable(format!(
            "has the encoding {encoding}, which cannot store every name; create one with UTF8"
        )));
    }
    if schema.is_none() {
        return Err(OpenFailure::Unsuitable(format!(
            "has no schema in which {user} can create tables; create one, or set search_path"
        )));
    }
    Ok(())
}

async fn warn_about_settings(client: &Client, log: &Logger) -> Result<(), OpenFailure> {
    let unsafe_settings =
        "SELECT name FROM pg_settings WHERE name IN ('fsync', 'full_page_writes') AND setting = 'off'";
    for row in client.query(unsafe_settings, &[]).await? {
        let name: String = row.try_get(0)?;
        warn!(log, "the database may lose animals when its machine crashes"; "off" => name);
    }
    let cached = "SELECT seqcache FROM pg_sequence WHERE seqrelid = 'animal_id'::regclass AND seqcache > 1";
    if let Some(row) = client.query_opt(cached, &[]).await? {
        let cache: i64 = row.try_get(0)?;
        warn!(log, "clients that poll may miss animals; run ALTER SEQUENCE animal_id CACHE 1"; "cache" => cache);
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

/// Returns the privileges that are missing on tables that exist, as the end of a sentence. $1 is whether reading is enough.
const MISSING: &str = "WITH needed (position, object, privileges) AS (VALUES \
         (1, 'animal_store_migration', ARRAY['SELECT']), \
         (2, 'animal', ARRAY['SELECT', 'INSERT']), \
         (3, 'api_key', ARRAY['SELECT', 'INSERT', 'UPDATE']), \
         (4, 'secret', ARRAY['SELECT', 'INSERT']), \
         (5, 'idempotency_key', ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) \
     ), missing (position, line) AS ( \
         SELECT position, string_agg(privilege, ', ' ORDER BY number) || ' on ' || object \
         FROM needed, unnest(privileges) WITH ORDINALITY AS each_one (privilege, number) \
         WHERE (number = 1 OR NOT $1) AND NOT has_table_privilege(to_regclass(object), privilege) \
         GROUP BY position, object \
         UNION ALL SELECT 6, 'USAGE on sequence animal_id' \
         WHERE NOT $1 AND NOT has_sequence_privilege(to_regclass('animal_id'), 'USAGE') \
     ) \
     SELECT string_agg(line, '; ' ORDER BY position) FROM missing";

/// Checks the privileges on all tables, so that a missing one fails at start and not with the first request.
async fn check_privileges(client: &Client, address: &Address, migrate: Migrate) -> Result<(), OpenFailure> {
    let only_reads = migrate == Migrate::Never;
    let missing: Option<String> = client.query_one(MISSING, &[&only_reads]).await?.try_get(0)?;
    match missing {
        None => Ok(()),
        Some(missing) => Err(OpenFailure::privileges(&address.user, &format!("missing {missing}"))),
    }
}
