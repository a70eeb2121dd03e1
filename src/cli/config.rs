//! The command `config`: prints the effective configuration.

use clap::Args;

use super::arguments::{DatabaseArgs, Failure, load, print, print_warnings};

/// `animal-store config`
#[derive(Args)]
pub(crate) struct Config {
    #[command(flatten)]
    args: DatabaseArgs,
}

impl Config {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let loaded = load(self.args, None, None)?;
        print_warnings(&loaded);
        Ok(print(&loaded.to_toml())?)
    }
}
