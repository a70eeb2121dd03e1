//! The archive of `cargo xtask dist`: made twice it is the same, and the program in it runs on a Debian that has the C
//! library alone. cyclonedx-python-lib checks the bill of materials.
//!
//! The program is the one that the other parts use; how it was built makes no difference here.

use std::fs;
use std::path::Path;
use std::process::Command;

use xtask::serve::{command, launched};
use xtask::workspace::in_file;

use super::Context;
use crate::dist::make;
use project::process::Running;
use project::workspace::empty_directory;

/// The packages of Debian that the program needs.
const PACKAGES: &str = "libc6 libgcc-s1";
/// Runs a program in another root directory, also for a user who is not root.
const CHROOT: [&str; 2] = ["unshare", "--map-root-user"];

/// Makes the archive, and uses it.
pub(super) fn run_all(context: &Context) -> Result<String, String> {
    let directory = context.directory.join("dist");
    empty_directory(&directory)?;
    let program = directory.join("animal-store");
    let mut strip = Command::new("strip");
    context.run("dist-strip", strip.arg("-o").arg(&program).arg(&context.program))?;
    let [first, second] = ["first", "second"].map(|name| make(&program, &directory.join(name)));
    let (first, second) = (first?, second?);
    let read = |path: &Path| fs::read(path).map_err(in_file(path));
    let content = read(&first)?;
    if content != read(&second)? {
        return Err(format!("{} and {} differ", first.display(), second.display()));
    }
    let root = directory.join("root");
    debian(context, &root)?;
    let local = root.join("usr/local");
    fs::create_dir_all(&local).map_err(in_file(&local))?;
    let mut unpack = Command::new("tar");
    unpack.arg("-xzf").arg(&first).args(["--strip-components=1", "-C"]).arg(&local);
    context.run("dist-unpack", &mut unpack)?;
    context.run(
        "dist-sums",
        Command::new("sha256sum").args(["--check", "--strict", "SHA256SUMS"]).current_dir(&local),
    )?;
    let bill = local.join("share/doc/animal-store/sbom.cdx.json");
    context.run("dist-sbom", context.python("python").arg("sbom.py").arg(&bill))?;
    let version = runs(context, &root)?;
    Ok(format!("{version}: {} KB, the same twice", content.len() / 1024))
}

/// Copies the installed files of [`PACKAGES`] into a directory.
fn debian(context: &Context, root: &Path) -> Result<(), String> {
    empty_directory(root)?;
    let copy = format!(
        "files=$(dpkg --listfiles {PACKAGES}) && echo \"$files\" | tar -ch --no-recursion --files-from=- | tar -x"
    );
    context.run("dist-packages", Command::new("sh").args(["-c", &copy]).current_dir(root)).map(drop)
}

/// Uses the program within `root` as an operator would. Returns its version.
fn runs(context: &Context, root: &Path) -> Result<String, String> {
    let program = Path::new("/usr/local/bin/animal-store");
    let root = format!("--root={}", root.display());
    let within = [CHROOT.map(str::to_owned).to_vec(), vec![root]].concat();
    let version = context.run("dist-version", launched(program, &within).arg("--version"))?;
    let database = "sqlite:/animals.db";
    let key = context.run(
        "dist-key",
        launched(program, &within).args(["key", "create", "shop", "--database", database]),
    )?;
    let log = context.logs().join("dist-serve.err");
    let (running, url) = Running::serve(&mut command(program, &within, "127.0.0.1:0", database), &log)?;
    let response =
        ureq::get(format!("{url}/pets")).header("Authorization", format!("Bearer {}", key.trim())).call();
    drop(running);
    let status = response.map_err(|error| error.to_string())?.status();
    if status != 200 {
        return Err(format!("the unpacked program returned {status}"));
    }
    Ok(version.trim().to_owned())
}
