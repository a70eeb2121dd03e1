//! The tables: the migrations that create them, and the comparison of a database with what this program needs, so that a
//! difference fails at start and not with a request.
//!
//! The table `animal_store_migration` has a row for each applied file, with the version of the program that
//! applied it, which an older program names when it refuses the database. Missing files are applied in one
//! transaction, which first takes an advisory lock, so that replicas can start together: the first one
//! migrates, the others wait. A released file is never edited; a change is a new file.
//! Crates that were left: `src/DECISIONS.md`, Crates.

use tokio_postgres::{Client, Error};

use super::error::describe;

const MIGRATIONS: [&str; 6] = [
    include_str!("0001_animals.sql"),
    include_str!("0002_api_keys.sql"),
    include_str!("0003_secret.sql"),
    include_str!("0004_key_use.sql"),
    include_str!("0005_idempotency_keys.sql"),
    include_str!("0006_responses.sql"),
];

/// The number of the newest migration.
pub(super) const NEWEST: i64 = MIGRATIONS.len() as i64;

/// The key of the advisory lock: "Anml" twice.
const LOCK: i64 = 0x416e_6d6c_416e_6d6c;

const TABLE: &str = "CREATE TABLE IF NOT EXISTS animal_store_migration (
    number  bigint PRIMARY KEY,
    applied timestamptz NOT NULL DEFAULT current_timestamp
);
-- The version of the program that applied the migration, since migration 4.
ALTER TABLE animal_store_migration ADD COLUMN IF NOT EXISTS program text";

const TABLES: [&str; 5] = ["animal_store_migration", "animal", "api_key", "secret", "idempotency_key"];

/// What the role of a service needs on each table, so that a release with a new operation needs no further GRANT. A command
/// that only reads needs the first.
const PRIVILEGES: [&str; 4] = ["SELECT", "INSERT", "UPDATE", "DELETE"];

/// Returns the columns that are missing or have another type, as the end of a sentence.
const DIFFERENT: &str = "WITH needed (relation, name, type) AS (VALUES \
         ('animal_store_migration', 'number', 'bigint'), \
         ('animal', 'id', 'bigint'), ('animal', 'name', 'text'), ('animal', 'category', 'bigint'), \
         ('animal', 'status', 'text'), \
         ('api_key', 'position', 'bigint'), ('api_key', 'id', 'text'), ('api_key', 'name', 'text'), \
         ('api_key', 'hash', 'bytea'), ('api_key', 'created', 'bigint'), ('api_key', 'expires', 'bigint'), \
         ('api_key', 'revoked', 'bigint'), ('api_key', 'note', 'text'), ('api_key', 'last_used', 'bigint'), \
         ('secret', 'only_row', 'bigint'), ('secret', 'bytes', 'bytea'), \
         ('idempotency_key', 'client', 'text'), ('idempotency_key', 'value', 'text'), \
         ('idempotency_key', 'fingerprint', 'bytea'), ('idempotency_key', 'response', 'text'), \
         ('idempotency_key', 'added', 'bigint') \
     ) \
     SELECT string_agg(format('%s.%s of type %s', relation, name, type), ', ') \
     FROM needed LEFT JOIN pg_attribute \
         ON attrelid = to_regclass(relation) AND attname = name AND attnum > 0 AND NOT attisdropped \
     WHERE format_type(atttypid, atttypmod) IS DISTINCT FROM type";

/// Returns the tables that are something else, such as views and foreign tables, or whose rows a policy hides.
const OTHERS: &str = "SELECT \
         string_agg(name, ', ') FILTER (WHERE relkind <> 'r'), \
         string_agg(name, ', ') FILTER (WHERE relkind = 'r' AND row_security_active(oid)) \
     FROM unnest($1::text[]) AS name JOIN pg_class ON oid = to_regclass(name)";

/// Returns the highest identifier if the sequence has not reached it, and whether the sequence ascends one by one.
const SEQUENCE: &str = "SELECT \
         (SELECT max(id) FROM animal WHERE id > coalesce(pg_sequence_last_value('animal_id'), 0)), \
         (SELECT seqcache = 1 AND seqincrement = 1 AND NOT seqcycle FROM pg_sequence \
             WHERE seqrelid = to_regclass('animal_id'))";

/// Returns the statements that grant what is missing: the privileges $2 on those of the tables $1 that exist, and USAGE on the
/// sequence with INSERT. NULL if nothing is missing.
const MISSING: &str = "WITH missing (privileges, object) AS ( \
         SELECT string_agg(privilege, ', ' ORDER BY number), format('%I.%I', current_schema(), name) \
         FROM unnest($1::text[]) AS name, unnest($2::text[]) WITH ORDINALITY AS needed (privilege, number) \
         WHERE NOT has_table_privilege(to_regclass(name), privilege) GROUP BY name \
         UNION ALL SELECT 'USAGE', format('SEQUENCE %I.animal_id', current_schema()) \
         WHERE 'INSERT' = ANY ($2) AND NOT has_sequence_privilege(to_regclass('animal_id'), 'USAGE') \
     ), grants (line) AS ( \
         SELECT format('GRANT %s ON %s TO %I', privileges, string_agg(object, ', ' ORDER BY object), current_user) \
         FROM missing GROUP BY privileges \
     ) \
     SELECT string_agg(line, '; ' ORDER BY line) FROM grants";

/// Why a database cannot be opened: the end of a sentence that says what to do.
#[derive(Debug, thiserror::Error)]
pub(super) enum OpenFailure {
    #[error("{0}")]
    Unsuitable(String),
    /// The server cannot be used now.
    #[error("{0}")]
    Away(String),
    #[error("cannot be used: {}", describe(.0))]
    Failed(#[from] Error),
}

impl OpenFailure {
    pub(super) fn privileges(user: &str, why: &str) -> Self {
        Self::Unsuitable(format!(
            "does not grant {user} the necessary privileges: {why}, or connect as the owner"
        ))
    }

    /// Migrations are missing, and the options do not allow to apply them. `None` for all of them.
    pub(super) fn unmigrated(version: Option<i64>) -> Self {
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

/// Checks the privileges on all tables.
pub(super) async fn check_privileges(
    client: &Client,
    user: &str,
    only_reads: bool,
) -> Result<(), OpenFailure> {
    let needed = if only_reads { &PRIVILEGES[..1] } else { &PRIVILEGES[..] };
    let missing: Option<String> = client.query_one(MISSING, &[&&TABLES[..], &needed]).await?.try_get(0)?;
    match missing {
        None => Ok(()),
        Some(grants) => Err(OpenFailure::privileges(user, &format!("run {grants}"))),
    }
}

/// Checks everything that this program relies on, after all migrations.
pub(super) async fn check(
    client: &Client,
    schema: &str,
    user: &str,
    only_reads: bool,
) -> Result<(), OpenFailure> {
    let unsuitable = |why: String| Err(OpenFailure::Unsuitable(why));
    let row = client.query_one(OTHERS, &[&&TABLES[..]]).await?;
    let (others, hidden): (Option<String>, Option<String>) = (row.try_get(0)?, row.try_get(1)?);
    if let Some(others) = others {
        return unsuitable(format!(
            "has something else in place of a table: {others}; use another database or schema, or restore the table"
        ));
    }
    let different: Option<String> = client.query_one(DIFFERENT, &[]).await?.try_get(0)?;
    if let Some(different) = different {
        return unsuitable(format!(
            "lacks columns: {different}; use another database or schema, or restore them"
        ));
    }
    check_privileges(client, user, only_reads).await?;
    if let Some(hidden) = hidden {
        return unsuitable(format!(
            "has row-level security that hides rows from {user}: {hidden}; run ALTER TABLE .. DISABLE ROW LEVEL \
             SECURITY for each, or ALTER ROLE \"{user}\" BYPASSRLS"
        ));
    }
    if only_reads {
        return Ok(());
    }
    let row = client.query_one(SEQUENCE, &[]).await?;
    let (highest, is_plain): (Option<i64>, Option<bool>) = (row.try_get(0)?, row.try_get(1)?);
    if is_plain != Some(true) {
        return unsuitable(
            "has a sequence animal_id that does not assign identifiers one by one; run ALTER SEQUENCE animal_id \
             INCREMENT 1 CACHE 1 NO CYCLE"
                .to_owned(),
        );
    }
    if let Some(highest) = highest {
        return unsuitable(format!(
            "has an animal {highest}, which the sequence animal_id has not reached, for example because only tables \
             were restored; run SELECT setval('\"{schema}\".animal_id', {highest})"
        ));
    }
    Ok(())
}

/// Returns the number of the last applied migration. The table must exist.
pub(super) async fn version(client: &Client) -> Result<i64, Error> {
    let row = client.query_one("SELECT coalesce(max(number), 0) FROM animal_store_migration", &[]).await?;
    row.try_get(0)
}

/// Returns the version of the program that applied the last migration after [`NEWEST`], if it is known.
pub(super) async fn newer_program(client: &Client) -> Option<String> {
    let sql = "SELECT program FROM animal_store_migration WHERE number > $1 ORDER BY number DESC LIMIT 1";
    // The table may have changed.
    client.query_opt(sql, &[&NEWEST]).await.ok()??.try_get(0).ok()?
}

/// Migrates the database to [`NEWEST`], as the version `program` of this program. After an error, the transaction ends with
/// the connection.
pub(super) async fn migrate(client: &Client, program: &str) -> Result<(), Error> {
    client.batch_execute("BEGIN").await?;
    client.query("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    client.batch_execute(TABLE).await?;
    let applied = version(client).await?;
    for (number, sql) in (1_i64..).zip(MIGRATIONS).filter(|(number, _)| *number > applied) {
        client.batch_execute(sql).await?;
        let insert = "INSERT INTO animal_store_migration (number, program) VALUES ($1, $2)";
        client.execute(insert, &[&number, &program]).await?;
    }
    client.batch_execute("COMMIT").await
}
