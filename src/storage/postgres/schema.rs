//! Compares the tables of a database with what this program needs, so that a difference fails at start and not with a
//! request.

use tokio_postgres::Client;

use super::open_failure::OpenFailure;

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
const TABLES: &str = "SELECT \
         string_agg(name, ', ') FILTER (WHERE relkind <> 'r'), \
         string_agg(name, ', ') FILTER (WHERE relkind = 'r' AND row_security_active(oid)) \
     FROM unnest(ARRAY['animal_store_migration', 'animal', 'api_key', 'secret', 'idempotency_key']) AS name \
     JOIN pg_class ON oid = to_regclass(name)";

/// Returns the highest identifier if the sequence has not reached it, and whether the sequence ascends one by one.
const SEQUENCE: &str = "SELECT \
         (SELECT max(id) FROM animal WHERE id > coalesce(pg_sequence_last_value('animal_id'), 0)), \
         (SELECT seqcache = 1 AND seqincrement = 1 AND NOT seqcycle FROM pg_sequence \
             WHERE seqrelid = to_regclass('animal_id'))";

/// Returns the privileges that are missing on tables that exist, as the end of a sentence. $1 is whether reading is enough.
const MISSING: &str = "WITH needed (position, object, privileges) AS (VALUES \
         (1, 'animal_store_migration', ARRAY['SELECT']), \
         (2, 'animal', ARRAY['SELECT', 'INSERT']), \
         (3, 'api_key', ARRAY['SELECT', 'INSERT', 'UPDATE']), \
         (4, 'secret', ARRAY['SELECT', 'INSERT']), \
         (5, 'idempotency_key', ARRAY['SELECT', 'INSERT', 'DELETE']) \
     ), missing (position, line) AS ( \
         SELECT position, string_agg(privilege, ', ' ORDER BY number) || ' on ' || object \
         FROM needed, unnest(privileges) WITH ORDINALITY AS each_one (privilege, number) \
         WHERE (number = 1 OR NOT $1) AND NOT has_table_privilege(to_regclass(object), privilege) \
         GROUP BY position, object \
         UNION ALL SELECT 6, 'USAGE on sequence animal_id' \
         WHERE NOT $1 AND NOT has_sequence_privilege(to_regclass('animal_id'), 'USAGE') \
     ) \
     SELECT string_agg(line, '; ' ORDER BY position) FROM missing";

/// Checks the privileges on all tables.
pub(super) async fn check_privileges(
    client: &Client,
    user: &str,
    only_reads: bool,
) -> Result<(), OpenFailure> {
    let missing: Option<String> = client.query_one(MISSING, &[&only_reads]).await?.try_get(0)?;
    match missing {
        None => Ok(()),
        Some(missing) => Err(OpenFailure::privileges(user, &format!("missing {missing}"))),
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
    let row = client.query_one(TABLES, &[]).await?;
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
