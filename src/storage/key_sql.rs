//! The SQL of API keys, which both engines run with the same parameters.
//!
//! SQLite numbers the parameters in the order of their first use, so each statement uses `$1` before `$2`.

pub(super) const INSERT: &str = "INSERT INTO api_key (id, name, hash, created, expires, revoked, note, last_used) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";

pub(super) const ALL: &str = "SELECT id, name, hash, created, expires, revoked, note, last_used \
     FROM api_key ORDER BY created, position";

pub(super) const BY_HASH: &str = "SELECT id, name, hash, created, expires, revoked, note, last_used \
     FROM api_key WHERE hash = $1";

pub(super) const USE: &str =
    "UPDATE api_key SET last_used = $1 WHERE id = $2 AND coalesce(last_used < $1, true)";

pub(super) const REVOKE: &str = "UPDATE api_key SET revoked = coalesce(revoked, $1) WHERE id = $2";

/// Makes a key expire at $1, unless it expires earlier or is revoked.
pub(super) const EXPIRE: &str = "UPDATE api_key SET expires = CASE WHEN expires < $1 THEN expires ELSE $1 END \
     WHERE id = $2 AND revoked IS NULL";
