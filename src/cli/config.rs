//! The command `config`: prints the effective configuration.

use clap::Args;

use super::arguments::{DatabaseArgs, Failure, load, print};

/// `animal-store config`
#[derive(Args)]
pub(crate) struct Config {
    #[command(flatten)]
    args: DatabaseArgs,
}

impl Config {
    pub(crate) fn run(self) -> Result<(), Failure> {
        Ok(print(&load(self.args, None, None)?.to_toml())?)
    }
}
