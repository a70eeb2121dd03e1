//! The command `check-config`: checks the configuration without opening or creating anything.

use animal_store::config::{Config, Flags};
use animal_store::server::Certificate;
use animal_store::storage;

use super::output::{Failure, print, print_warnings};

pub(crate) fn run(flags: &Flags) -> Result<(), Failure> {
    let loaded = Config::load(flags)?;
    let config = &loaded.config;
    let certificate = config.tls.as_ref().map(Certificate::load).transpose();
    certificate.map_err(|error| loaded.with_source(error.setting, &error))?;
    storage::check_url(&config.database).map_err(|error| loaded.with_source("database", error))?;
    print_warnings(&loaded);
    Ok(print("the configuration is valid\n")?)
}
