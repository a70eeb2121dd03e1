//! The command `key`: creates, lists, rotates and revokes API keys.

use std::time::Duration;

use animal_store::config::terminal::{changes_terminal, escaped};
use animal_store::config::{Config, Flags};
use animal_store::keys::{self, KeyError};
use animal_store::storage::{KeyRecord, Migrate, Store};
use animal_store::telemetry::logging::{self, LogMetrics};
use clap::Subcommand;
use jiff::{SignedDuration, Timestamp};
use nix::unistd::{User, getuid};
use slog::{Logger, info};

use super::databases::{check_exists, open};
use super::{Failure, print_warnings};

/// How long the audit line may wait for standard error.
const MAX_FLUSH: Duration = Duration::from_secs(5);

/// `animal-store key`
#[derive(Subcommand)]
pub(super) enum Key {
    /// Create a key and print it; it cannot be printed again
    Create {
        /// The name of the key: 1 to 100 characters, such as shop
        #[arg(value_parser = text::<100>)]
        name: String,
        /// Who has the key or what it is for: up to 200 characters, such as "web shop, team 5"
        #[arg(long, value_name = "TEXT", value_parser = text::<200>)]
        note: Option<String>,
        /// The lifetime of the key, such as 90d [default: unlimited]
        #[arg(long, value_name = "DURATION", value_parser = lifetime)]
        expires_in: Option<SignedDuration>,
        #[command(flatten)]
        flags: Flags,
    },
    /// List all keys, without their secrets
    List(Flags),
    /// Create a key that replaces another one, and print it; the old key stays valid for a while
    Rotate {
        /// The identifier of the key to replace, from `key list`, or its secret
        key: String,
        /// How long the old key stays valid, such as 12h
        #[arg(long, value_name = "DURATION", default_value = "24h", value_parser = lifetime)]
        overlap: SignedDuration,
        /// The lifetime of the new key, such as 90d [default: that of the old key]
        #[arg(long, value_name = "DURATION", value_parser = lifetime)]
        expires_in: Option<SignedDuration>,
        #[command(flatten)]
        flags: Flags,
    },
    /// Revoke a key, immediately and permanently
    Revoke {
        /// The identifier of the key, from `key list`, or its secret
        key: String,
        #[command(flatten)]
        flags: Flags,
    },
}

/// Returns a text of at most `MAX` characters.
fn text<const MAX: usize>(text: &str) -> Result<String, String> {
    if (1..=MAX).contains(&text.chars().count()) && !text.contains(changes_terminal) {
        return Ok(text.to_owned());
    }
    Err(format!("expected 1 to {MAX} characters without control characters and marks of direction"))
}

fn lifetime(text: &str) -> Result<SignedDuration, String> {
    let duration = humantime::parse_duration(text)
        .map_err(|_| "expected a duration such as 90d, 12h or 30m".to_owned())?;
    // Before a database is created.
    let expiry =
        SignedDuration::try_from(duration).ok().filter(|it| Timestamp::now().checked_add(*it).is_ok());
    if duration < Duration::from_secs(1) {
        return Err("expected a duration of at least 1s".to_owned());
    }
    expiry.ok_or_else(|| KeyError::TooLate.to_string())
}

impl Key {
    /// Runs the command. Returns what it prints.
    pub(super) async fn run(self) -> Result<String, Failure> {
        let (Self::Create { flags, .. }
        | Self::List(flags)
        | Self::Rotate { flags, .. }
        | Self::Revoke { flags, .. }) = &self;
        let config = Config::load(flags)?;
        if !matches!(self, Self::Create { .. }) {
            check_exists(&config)?;
        }
        let migrate = if matches!(self, Self::List(_)) { Migrate::Never } else { Migrate::Apply };
        let store = open(&config, migrate).await?;
        // Not earlier: a database that is rejected gets one line only.
        print_warnings(&config);
        let (log, buffer) = logging::start(&config.log, LogMetrics::default())?;
        let result = self.apply(&store, &log).await;
        store.close().await;
        buffer.flush(MAX_FLUSH);
        result
    }

    async fn apply(self, store: &Store, log: &Logger) -> Result<String, Failure> {
        let now = Timestamp::from_second(Timestamp::now().as_second())?;
        Ok(match self {
            Self::Create { name, note, expires_in, .. } => {
                let key = keys::create(store, &name, note.as_deref(), now, expires_in).await?;
                audit(log, "key created", &key.record, None);
                key.secret + "\n"
            }
            Self::List(_) => list(&store.keys().await?, now),
            Self::Rotate { key, overlap, expires_in, .. } => {
                let (replaced, new) = keys::rotate(store, &key, now, overlap, expires_in).await?;
                audit(log, "key rotated", &new.record, Some(&replaced));
                new.secret + "\n"
            }
            Self::Revoke { key, .. } => {
                let (key, is_new) = keys::revoke(store, &key, now).await?;
                if is_new {
                    audit(log, "key revoked", &key, None);
                    String::new()
                } else {
                    let since = key.revoked.map(|time| format!(" at {time}")).unwrap_or_default();
                    format!("the key {} was revoked before{since}\n", key.id)
                }
            }
        })
    }
}

/// Logs who changed a key. `replaced` is the identifier of the key that this one replaces.
fn audit(log: &Logger, event: &str, key: &KeyRecord, replaced: Option<&str>) {
    let user = getuid();
    let name = User::from_uid(user).ok().flatten().map(|user| user.name);
    // slog serializes the last pair first.
    info!(log, "{}", event;
        "animal_store.user" => name,
        "animal_store.user_id" => user.as_raw(),
        "animal_store.replaced" => replaced,
        "animal_store.note" => key.note.as_deref(),
        "animal_store.name" => &key.name,
        "enduser.id" => &key.id);
}

fn list(keys: &[KeyRecord], now: Timestamp) -> String {
    let time = |time: Option<Timestamp>| time.map_or("-".to_owned(), |time| time.to_string());
    let row = |[id, state, created, expires, revoked, used, name, note]: [&str; 8]| {
        let times = format!("{created:<22}{expires:<22}{revoked:<22}{used:<22}");
        format!("{id:<18}{state:<9}{times}{name}  {note}").trim_end().to_owned() + "\n"
    };
    let mut table = row(["ID", "STATE", "CREATED", "EXPIRES", "REVOKED", "LAST USED", "NAME", "NOTE"]);
    for key in keys {
        let state = match key {
            KeyRecord { revoked: Some(_), .. } => "revoked",
            key if key.is_valid_at(now) => "valid",
            _ => "expired",
        };
        let (created, expires) = (time(Some(key.created)), time(key.expires));
        let (revoked, used) = (time(key.revoked), time(key.last_used));
        let note = key.note.as_deref().unwrap_or_default();
        let [id, name, note] = [&key.id, &key.name, note].map(escaped);
        table += &row([&id, state, &created, &expires, &revoked, &used, &name, &note]);
    }
    table
}
