//! The command `config`: prints the effective configuration.

use animal_store::config::{Config, Flags};

use super::output::{Failure, print, print_warnings};

pub(crate) fn run(flags: &Flags) -> Result<(), Failure> {
    let loaded = Config::load(flags)?;
    print_warnings(&loaded);
    Ok(print(&loaded.to_toml())?)
}
