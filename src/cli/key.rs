//! The command `key`: creates, lists, rotates and revokes API keys.

use animal_store::keys;
use animal_store::storage::KeyRecord;
use clap::Subcommand;
use jiff::{SignedDuration, Timestamp};

use super::arguments::{DatabaseArgs, Failure, IfMissing, load, open, print};

/// `animal-store key`
#[derive(Subcommand)]
pub(crate) enum Key {
    /// Create a key and print it; it cannot be printed again
    Create {
        /// The name of the key: 1 to 100 characters, such as shop
        #[arg(value_parser = key_name)]
        name: String,
        /// The lifetime of the key, such as 90d [default: unlimited]
        #[arg(long, value_name = "DURATION", value_parser = lifetime)]
        expires_in: Option<SignedDuration>,
        #[command(flatten)]
        args: DatabaseArgs,
    },
    /// List all keys, without their secrets
    List {
        #[command(flatten)]
        args: DatabaseArgs,
    },
    /// Create a key that replaces another one, and print it; the old key stays valid for a while
    Rotate {
        /// The identifier of the key to replace, from `key list`
        id: String,
        /// How long the old key stays valid, such as 12h
        #[arg(long, value_name = "DURATION", default_value = "24h", value_parser = lifetime)]
        overlap: SignedDuration,
        /// The lifetime of the new key, such as 90d [default: unlimited]
        #[arg(long, value_name = "DURATION", value_parser = lifetime)]
        expires_in: Option<SignedDuration>,
        #[command(flatten)]
        args: DatabaseArgs,
    },
    /// Revoke a key, immediately and permanently
    Revoke {
        /// The identifier of the key, from `key list`
        id: String,
        #[command(flatten)]
        args: DatabaseArgs,
    },
}

fn key_name(name: &str) -> Result<String, &'static str> {
    let fine = (1..=100).contains(&name.chars().count()) && !name.contains(char::is_control);
    if fine {
        Ok(name.to_owned())
    } else {
        Err("expected a name of 1 to 100 characters without control characters, such as shop")
    }
}

fn lifetime(text: &str) -> Result<SignedDuration, String> {
    let duration = humantime::parse_duration(text)
        .map_err(|_| "expected a duration such as 90d, 12h or 30m".to_owned())?;
    SignedDuration::try_from(duration)
        .map_err(|_| "the duration is too long; expected one such as 90d".to_owned())
}

impl Key {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let now = Timestamp::from_second(Timestamp::now().as_second())?;
        let no_key = |id: &str| {
            format!(
                "there is no valid key {id}; `animal-store key list` shows all keys, such as key_a1B2c3D4e5F6"
            )
        };
        let (args, if_missing) = match &self {
            Self::Create { args, .. } => (args, IfMissing::Create),
            Self::List { args } | Self::Rotate { args, .. } | Self::Revoke { args, .. } => {
                (args, IfMissing::Fail)
            }
        };
        let store = open(&load(args.clone(), None, None)?, if_missing).await?;
        let result: Result<String, Failure> = async {
            Ok(match self {
                Self::Create { name, expires_in, .. } => {
                    keys::create(&*store, &name, now, expires_in).await?.secret + "\n"
                }
                Self::List { .. } => list(&store.keys().await?, now),
                Self::Rotate { id, overlap, expires_in, .. } => {
                    let key = keys::rotate(&*store, &id, now, overlap, expires_in).await?;
                    key.ok_or_else(|| no_key(&id))?.secret + "\n"
                }
                Self::Revoke { id, .. } => {
                    if !store.revoke_key(&id, now).await? {
                        return Err(no_key(&id).replace("valid ", "").into());
                    }
                    String::new()
                }
            })
        }
        .await;
        store.close().await;
        Ok(print(&result?)?)
    }
}

fn list(keys: &[KeyRecord], now: Timestamp) -> String {
    let time = |time: Option<Timestamp>| time.map_or("-".to_owned(), |time| time.to_string());
    let mut table =
        format!("{:<18}{:<9}{:<22}{:<22}{:<22}NAME\n", "ID", "STATE", "CREATED", "EXPIRES", "REVOKED");
    for key in keys {
        let state = match key {
            KeyRecord { revoked: Some(_), .. } => "revoked",
            key if key.is_valid_at(now) => "valid",
            _ => "expired",
        };
        let (created, expires, revoked) = (time(Some(key.created)), time(key.expires), time(key.revoked));
        table += &format!("{:<18}{state:<9}{created:<22}{expires:<22}{revoked:<22}{}\n", key.id, key.name);
    }
    table
}
