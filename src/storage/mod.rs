//! Where animals and API keys are stored: the promises, and the engines that keep them.
//!
//! [`Store`] and its supertraits (`store.rs`) state the promises. `tests/store` tests every engine against
//! them; an engine adds none.

use std::path::PathBuf;
use std::sync::Arc;

mod cause;
pub mod copy;
mod key_cache;
mod metrics;
mod options;
pub mod postgres;
pub mod sqlite;
mod store;

pub use metrics::StoreMetrics;
pub use options::{Migrate, OpenError, PostgresOptions, StoreOptions};
pub use store::{Animals, KeyRecord, Keys, PetsFound, PetsQuery, Store, StoreError};

/// Opens the store at a database URL: `sqlite:PATH` or `postgres://...`. Must be called within a tokio
/// runtime, which then also runs the background tasks of the store.
///
/// # Errors
/// One line that says what to do.
pub async fn open(url: &str, options: &StoreOptions) -> Result<Arc<dyn Store>, OpenError> {
    let store: Arc<dyn Store> = open_for_copy(url, options).await?;
    Ok(store)
}

/// Opens a store like [`open`], for [`copy::copy`].
///
/// # Errors
/// One line that says what to do.
pub async fn open_for_copy(url: &str, options: &StoreOptions) -> Result<Arc<dyn copy::Transfer>, OpenError> {
    match url.split_once(':') {
        Some(("sqlite", path)) if !path.is_empty() => {
            Ok(Arc::new(sqlite::SqliteStore::open(path.as_ref(), options)?))
        }
        Some(("postgres" | "postgresql", _)) => {
            Ok(Arc::new(postgres::PostgresStore::open(url, options).await?))
        }
        _ => Err(OpenError(
            "the database must be given as sqlite:PATH, for example sqlite:animals.db, or as \
             postgres://USER:PASSWORD@HOST:PORT/DATABASE"
                .to_owned(),
        )),
    }
}

/// Returns the absolute path of the SQLite file that [`open`] would create, because it does not exist.
pub fn missing_file(url: &str) -> Option<PathBuf> {
    let path = std::path::absolute(url.strip_prefix("sqlite:").filter(|path| !path.is_empty())?).ok()?;
    let error = std::fs::metadata(&path).err()?;
    (error.kind() == std::io::ErrorKind::NotFound).then_some(path)
}

/// Returns a database URL without its password and parameters, for logs.
pub fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    // The last `@`: the password may contain one that is not escaped.
    let (user, rest) = match rest.rsplit_once('@') {
        Some((user, rest)) => (user.split(':').next().unwrap_or_default(), rest),
        None => ("", rest),
    };
    let at = if user.is_empty() { "" } else { "@" };
    // A parameter may be a password as well.
    let address = rest.split('?').next().unwrap_or_default();
    format!("{scheme}://{user}{at}{address}")
}

#[cfg(test)]
mod tests {
    use super::without_password;

    #[test]
    fn no_password_is_shown() {
        for (url, shown) in [
            ("sqlite:a@b:c?password=x", "sqlite:a@b:c?password=x"),
            ("postgres://u:secret@h:1,i:2/d", "postgres://u@h:1,i:2/d"),
            ("postgres://u@h/d?password=secret&sslmode=require", "postgres://u@h/d"),
            ("postgres://u:secret@secret@h/d", "postgres://u@h/d"),
            ("postgres://u:secret?secret/@h/d", "postgres://u@h/d"),
            ("postgres:///d?host=/tmp&user=u", "postgres:///d"),
        ] {
            assert_eq!(without_password(url), shown);
        }
    }
}
