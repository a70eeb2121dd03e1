//! `cargo xtask dist`: makes an archive of the program for Linux on x86-64.
//!
//! The same sources, compiler and C library make the same archive: paths of the machine are mapped, and every file has the
//! date of the release.

mod dependencies;
mod notices;
mod sbom;

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use xtask::process::{cargo, printed, status};
use xtask::workspace::{in_file, workspace};

use self::dependencies::purl;
use project::release::verify::sum;
use project::workspace::{empty_directory, from_here};

/// The platform of the archive.
const TARGET: &str = "x86_64-unknown-linux-gnu";
const CHANGELOG: &str = "src/CHANGELOG.md";
const PROGRAM: &str = "bin/animal-store";
/// The completions for shells: the argument of the program, and the path in the archive.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "share/bash-completion/completions/animal-store"),
    ("fish", "share/fish/vendor_completions.d/animal-store.fish"),
    ("zsh", "share/zsh/site-functions/_animal-store"),
];
/// Files of the repository, and their paths in the archive.
const FILES: [(&str, &str); 6] = [
    ("LICENSE", "share/doc/animal-store/LICENSE"),
    (CHANGELOG, "share/doc/animal-store/CHANGELOG.md"),
    ("xtask/dist/RUNBOOK.md", "share/doc/animal-store/RUNBOOK.md"),
    ("xtask/dist/alerts.yml", "share/doc/animal-store/alerts.yml"),
    ("xtask/dist/animal-store.service", "lib/systemd/system/animal-store.service"),
    ("xtask/dist/animal-store.socket", "lib/systemd/system/animal-store.socket"),
];

/// Writes the archive and its checksum. Returns the exit status.
///
/// # Errors
/// A message, if the program cannot be built, or a file cannot be read or written.
pub fn run() -> Result<u8, String> {
    let program = build()?;
    let archive = make(&program, &workspace().join("target/dist"))?;
    println!("{}", from_here(archive).display());
    Ok(0)
}

/// Builds the program without paths of this machine in it.
fn build() -> Result<PathBuf, String> {
    let target = workspace().join("target/dist-build");
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(env::home_dir()?.join(".cargo"))).ok_or("CARGO_HOME is not set")?;
    let mapped = [(workspace(), "/animal-store"), (home, "/cargo")];
    let map = |flag: &str| {
        let flags = mapped.iter().map(|(from, to)| format!("{flag}={}={to}", from.display()));
        flags.collect::<Vec<_>>().join(" ")
    };
    let mut command = cargo(&["build", "--release", "--locked", "--bin", "animal-store", "--target", TARGET]);
    command
        .env("CARGO_TARGET_DIR", &target)
        .env("CARGO_PROFILE_RELEASE_STRIP", "debuginfo")
        .env("RUSTFLAGS", map("--remap-path-prefix"))
        // SQLite, mimalloc and the cryptography of TLS.
        .env("CFLAGS", map("-ffile-prefix-map"));
    if !status(&mut command)?.success() {
        return Err("the program cannot be built; see above".to_owned());
    }
    Ok(target.join(TARGET).join("release/animal-store"))
}

/// Writes the archive of a program, and its checksum, into an empty directory. Returns the path of the archive.
///
/// # Errors
/// A message, if a file cannot be read or written.
pub fn make(program: &Path, directory: &Path) -> Result<PathBuf, String> {
    let version = &version(program)?;
    let root = workspace();
    let changelog = fs::read_to_string(root.join(CHANGELOG)).map_err(in_file(Path::new(CHANGELOG)))?;
    let released = released(&changelog, version)
        .ok_or_else(|| format!("{CHANGELOG}: expected a heading such as `## {version} (2026-11-25)`"))?;
    empty_directory(directory)?;
    let name = format!("animal-store-{version}-x86_64-linux");
    let staged = directory.join(&name);
    for (path, content) in files(program, version, &directory.join("man"))? {
        let path = staged.join(path);
        fs::create_dir_all(path.parent().unwrap_or(&staged)).map_err(in_file(&path))?;
        fs::write(&path, content).map_err(in_file(&path))?;
        let mode = if path.ends_with(PROGRAM) { 0o755 } else { 0o644 };
        fs::set_permissions(&path, Permissions::from_mode(mode)).map_err(in_file(&path))?;
    }
    let archive = directory.join(format!("{name}.tar.gz"));
    let mut tar = Command::new("tar");
    tar.args(["--create", "--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--format=ustar"])
        .args([&format!("--mtime=@{released}"), "--mode=u=rwX,go=rX", "--use-compress-program=gzip -9n"])
        .arg("--file")
        .arg(&archive)
        .arg("--directory")
        .arg(directory)
        .arg(&name);
    printed(&mut tar)?;
    fs::remove_dir_all(&staged).map_err(in_file(&staged))?;
    let content = fs::read(&archive).map_err(in_file(&archive))?;
    let sums = directory.join("SHA256SUMS");
    fs::write(&sums, format!("{}  {name}.tar.gz\n", sum(&content))).map_err(in_file(&sums))?;
    Ok(archive)
}

/// Returns the version of a program, of which `--version` prints `animal-store 2.0.0, API 1.1.1`.
fn version(program: &Path) -> Result<String, String> {
    let printed = printed(Command::new(program).arg("--version"))?;
    let version = printed.split([' ', ',']).nth(1);
    version.map(str::to_owned).ok_or_else(|| format!("{} has no version", program.display()))
}

/// Returns the files of the archive by their paths in it. `manual` is a directory for the manual pages.
fn files(program: &Path, version: &str, manual: &Path) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let read = |path: &Path| fs::read(path).map_err(in_file(path));
    let printed = |arguments: &[&str]| {
        printed(Command::new(program).args(arguments).env_clear()).map(String::into_bytes)
    };
    let mut files = BTreeMap::from([(PROGRAM.to_owned(), read(program)?)]);
    for (from, to) in FILES {
        files.insert(to.to_owned(), read(&workspace().join(from))?);
    }
    for (shell, to) in COMPLETIONS {
        files.insert(to.to_owned(), printed(&["completions", shell])?);
    }
    empty_directory(manual)?;
    printed(&["man", &manual.to_string_lossy()])?;
    for entry in fs::read_dir(manual).map_err(in_file(manual))? {
        let page = entry.map_err(in_file(manual))?;
        files.insert(format!("share/man/man1/{}", page.file_name().to_string_lossy()), read(&page.path())?);
    }
    fs::remove_dir_all(manual).map_err(in_file(manual))?;
    let documents = "share/doc/animal-store";
    files.insert(format!("{documents}/store.toml"), printed(&["config"])?);
    let dependencies = dependencies::read()?;
    let sbom = sbom::sbom(&purl("animal-store", version), &dependencies);
    files.insert(format!("{documents}/sbom.cdx.json"), format!("{sbom:#}").into_bytes());
    files.insert(format!("{documents}/THIRD-PARTY-LICENCES"), notices::notices(&dependencies)?.into_bytes());
    let sums: String = files.iter().map(|(path, content)| format!("{}  {path}\n", sum(content))).collect();
    files.insert("SHA256SUMS".to_owned(), sums.into_bytes());
    Ok(files)
}

/// Returns the date of a release in the changelog, in seconds since 1970.
fn released(changelog: &str, version: &str) -> Option<i64> {
    let heading = changelog.lines().find_map(|line| line.strip_prefix(&format!("## {version} (")))?;
    let date: Date = heading.strip_suffix(')')?.parse().ok()?;
    Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp().as_second())
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn the_date_of_a_release_is_in_its_heading() {
        let changelog = "# Changelog\n\n## 1.2.0 (1970-01-03)\n\n## 1.1.0 (1970-01-02)\n";
        assert_eq!(released(changelog, "1.1.0"), Some(86400));
        assert_eq!(released(changelog, "1.2"), None);
        let own = fs::read_to_string(workspace().join(CHANGELOG)).unwrap();
        let manifest = fs::read_to_string(workspace().join("Cargo.toml")).unwrap();
        let manifest: toml::Table = manifest.parse().unwrap();
        let version = manifest["package"]["version"].as_str().unwrap();
        assert!(released(&own, version).is_some(), "{CHANGELOG}");
    }
}
