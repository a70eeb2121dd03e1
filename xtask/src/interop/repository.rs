//! A copy of this repository, together with what cargo compiled of it, so that the copy can be changed and built without
//! compiling everything again and without an effect on this repository.
//!
//! Cargo identifies the packages of a workspace by their paths from its root, and recognises changes by the time of the
//! last modification. So a copy with the same times is up to date.

use std::path::Path;
use std::process::Command;

use launcher::workspace::workspace;

use super::Context;
use crate::workspace::empty_directory;

/// Copies the current directory and the target directory `$2` to `$1`. Compilers write libraries and programs to new
/// files, so a link is enough for these; they are gigabytes. They overwrite the lists of sources.
const COPY: &str = r#"
find . -mindepth 1 -maxdepth 1 ! -name .git ! -name target -exec cp --archive -t "$1" {} +
mkdir -p "$1/target/debug"
cd "$2/debug"
cp --archive .fingerprint build "$1/target/debug"
cp --archive --link deps "$1/target/debug"
find deps -name '*.d' -exec cp --archive --remove-destination -t "$1/target/debug/deps" {} +"#;

/// Copies this repository. `target` is the target directory of the running program.
pub(super) fn copy(context: &Context, target: &Path, to: &Path) -> Result<(), String> {
    empty_directory(to)?;
    let mut copy = Command::new("sh");
    copy.args(["-ec", COPY, "copy"]).args([to, target]).current_dir(workspace());
    context.run("repository", &mut copy).map(drop)
}
