//! The command `config`: prints the effective configuration.

use animal_store::config::{Config, Flags};
use clap::Args;

use super::output::{Failure, print, print_warnings};

/// `animal-store config`
#[derive(Args)]
pub(crate) struct PrintConfig {
    #[command(flatten)]
    flags: Flags,
}

impl PrintConfig {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let loaded = Config::load(&self.flags)?;
        print_warnings(&loaded);
        Ok(print(&loaded.to_toml())?)
    }
}
