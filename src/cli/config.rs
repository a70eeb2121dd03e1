//! The command `config`: prints the effective configuration.

use clap::Args;

use super::arguments::{Failure, Place, load, print};

/// `animal-store config`
#[derive(Args)]
pub(crate) struct Config {
    #[command(flatten)]
    place: Place,
}

impl Config {
    pub(crate) fn run(self) -> Result<(), Failure> {
        Ok(print(&load(self.place, None, None)?.page())?)
    }
}
