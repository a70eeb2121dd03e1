//! Opening a database: looking first, touching later.
//!
//! The first connection asks whose the tables are, how new they are, and whether the server keeps what a
//! store needs. Only a database that is empty, or ours and older, is then written to. A database that is
//! up to date is opened without any lock and without the right to make tables.

use std::fmt;

use rand::TryRng;
use rand::rngs::SysRng;
use slog::{Logger, warn};
use tokio_postgres::Client;

use super::address::{Address, ConnectError};
use super::failure::{Failure, describe};
use super::migrations::{NEWEST, migrate, version};
use super::session::{Purpose, Session};
use crate::storage::{OpenError, StoreOptions};

/// What is wrong with a database, as the end of a sentence that begins with what it is.
#[derive(Debug)]
enum Refusal {
    Hosts(Vec<ConnectError>),
    Encoding(String),
    NoSchema,
    Foreign(String),
    Newer(i64),
    NoRight(String),
    Other(String),
}

impl Refusal {
    /// As one line. `database` and `user` are names from the URL.
    fn line(&self, database: &str, user: &str) -> String {
        let start = format!("the PostgreSQL database {database} ");
        match self {
            Self::Hosts(errors) => {
                let all: Vec<_> = errors.iter().map(ToString::to_string).collect();
                format!("{start}cannot be opened: {}{}", all.join("; "), advice(errors, database, user))
            }
            Self::Encoding(encoding) => format!(
                "{start}has the encoding {encoding}, which does not hold every name; make one with UTF8"
            ),
            Self::NoSchema => format!("{start}has no schema in which {user} could make tables"),
            Self::Foreign(table) => {
                format!("{start}has a table {table} of another program; give another database")
            }
            Self::Newer(number) => format!(
                "{start}was written by a newer release of this program (format {number}, this one knows up \
                 to {NEWEST}); use that release"
            ),
            Self::NoRight(why) => {
                format!("{start}does not let {user} do what is needed: {why}; grant it, or use its owner")
            }
            Self::Other(why) => format!("{start}cannot be used: {why}"),
        }
    }
}

/// What to do about the first error that something can be done about.
fn advice(errors: &[ConnectError], database: &str, user: &str) -> String {
    let code = errors.iter().find_map(|error| match error {
        ConnectError::Refused { code, .. } => Some(code.as_deref().unwrap_or_default()),
        _ => None,
    });
    match code {
        Some("28P01" | "28000") => format!("; check the password of {user} and the server's pg_hba.conf"),
        Some("3D000") => format!("; make it with: createdb {database}"),
        Some("53300") => "; raise max_connections of the server, or run fewer replicas".to_owned(),
        Some("57P03") => "; try again when it has started".to_owned(),
        Some(_) => "; check sslmode, user and password in the URL".to_owned(),
        None if errors.iter().any(|error| matches!(error, ConnectError::ReadOnly { .. })) => {
            "; name the primary in the URL too".to_owned()
        }
        None => "; check host and port in the URL, and that the server runs".to_owned(),
    }
}

impl From<tokio_postgres::Error> for Refusal {
    fn from(error: tokio_postgres::Error) -> Self {
        match error.code().map(tokio_postgres::error::SqlState::code) {
            Some("42501") => Self::NoRight(describe(&error)),
            _ => Self::Other(describe(&error)),
        }
    }
}

/// Makes the database at `address` a store if it is not yet one. Gives the secret.
pub(super) async fn open(address: &Address, options: &StoreOptions) -> Result<[u8; 32], OpenError> {
    refuse_or_open(address, options).await.map_err(|refusal| {
        let line = refusal.line(address.database(), address.user());
        OpenError(line.replace(char::is_control, "?"))
    })
}

async fn refuse_or_open(address: &Address, options: &StoreOptions) -> Result<[u8; 32], Refusal> {
    let session = Session::connect(address, Purpose::Opening, options.lock_timeout, &options.log)
        .await
        .map_err(|failure| match failure {
            Failure::Unreachable(errors) => Refusal::Hosts(errors),
            Failure::Failed(error) => Refusal::from(error),
            other => Refusal::Other(other.to_string()),
        })?;
    let client = session.client();
    look_at_server(client).await?;
    let up_to_date = match is_ours(client).await? {
        true => refuse_newer(client).await?,
        false => false,
    };
    if !up_to_date {
        migrate(client).await?;
        // Somebody newer may have been faster.
        refuse_newer(client).await?;
    }
    refuse_without_rights(client).await?;
    // Not earlier: what is refused has one line, and that is the refusal.
    warn_of_settings(client, &options.log).await?;
    secret(client).await
}

async fn look_at_server(client: &Client) -> Result<(), Refusal> {
    let row =
        client.query_one("SELECT current_setting('server_encoding'), current_schema()::text", &[]).await?;
    let (encoding, schema): (String, Option<String>) = (row.try_get(0)?, row.try_get(1)?);
    if encoding != "UTF8" {
        return Err(Refusal::Encoding(encoding));
    }
    if schema.is_none() {
        return Err(Refusal::NoSchema);
    }
    Ok(())
}

async fn warn_of_settings(client: &Client, log: &Logger) -> Result<(), Refusal> {
    let unsafe_settings =
        "SELECT name FROM pg_settings WHERE name IN ('fsync', 'full_page_writes') AND setting = 'off'";
    for row in client.query(unsafe_settings, &[]).await? {
        let name: String = row.try_get(0)?;
        warn!(log, "the database may lose animals when its machine crashes"; "off" => name);
    }
    Ok(())
}

/// Whether the tables are ours; `false` when there are none.
async fn is_ours(client: &Client) -> Result<bool, Refusal> {
    // pg_class and not information_schema, which hides what the user has no right to.
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
        Some(theirs) => Err(Refusal::Foreign(theirs.clone())),
    }
}

/// Whether the tables are the newest that this program knows.
async fn refuse_newer(client: &Client) -> Result<bool, Refusal> {
    match version(client).await? {
        newer if newer > NEWEST => Err(Refusal::Newer(newer)),
        known => Ok(known == NEWEST),
    }
}

/// Finds out now what would otherwise fail with the first request.
async fn refuse_without_rights(client: &Client) -> Result<(), Refusal> {
    const NEEDED: [(&str, &str); 3] =
        [("animal", "SELECT, INSERT"), ("api_key", "SELECT, INSERT, UPDATE"), ("secret", "SELECT, INSERT")];
    let lacks = |what: fmt::Arguments<'_>| Err(Refusal::NoRight(format!("it lacks {what}")));
    for (table, rights) in NEEDED {
        for right in rights.split(", ") {
            let row =
                client.query_one("SELECT has_table_privilege($1::text, $2::text)", &[&table, &right]).await?;
            if !row.try_get::<_, bool>(0)? {
                return lacks(format_args!("{right} on table {table}"));
            }
        }
    }
    let row = client.query_one("SELECT has_sequence_privilege('animal_id', 'USAGE')", &[]).await?;
    if row.try_get(0)? { Ok(()) } else { lacks(format_args!("USAGE on sequence animal_id")) }
}

/// The secret of the store, made if there is none yet.
async fn secret(client: &Client) -> Result<[u8; 32], Refusal> {
    const STORED: &str = "SELECT bytes FROM secret WHERE only_row = 1";
    let row = match client.query_opt(STORED, &[]).await? {
        Some(row) => row,
        None => {
            let mut bytes = [0; 32];
            SysRng
                .try_fill_bytes(&mut bytes)
                .map_err(|error| Refusal::Other(format!("the system gives no random numbers: {error}")))?;
            // Another replica may have been faster; then its secret holds.
            client
                .execute(
                    "INSERT INTO secret (only_row, bytes) VALUES (1, $1) ON CONFLICT (only_row) DO NOTHING",
                    &[&bytes.as_slice()],
                )
                .await?;
            client.query_one(STORED, &[]).await?
        }
    };
    let bytes: &[u8] = row.try_get(0)?;
    bytes.try_into().map_err(|_| Refusal::Other("its secret has the wrong length".to_owned()))
}
