//! The crates that this workspace depends on, as cargo describes them.

use cargo_metadata::{Metadata, MetadataCommand};
use xtask::workspace::workspace;

/// Returns the crates for a platform, without access to the network and without a change of the lock file.
///
/// # Errors
/// What cargo printed, if it failed.
pub fn metadata(platform: &str) -> Result<Metadata, String> {
    let options = ["--locked", "--filter-platform", platform].map(str::to_owned);
    let mut command = MetadataCommand::new();
    let read = command.current_dir(workspace()).other_options(options).exec();
    read.map_err(|error| format!("cargo metadata: {error}"))
}
