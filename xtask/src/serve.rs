//! `cargo xtask serve`: runs the service with a development database and API key.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::process::{cargo, output, status};
use crate::workspace::{DAILY, in_file, target};

/// Build the service and run it with a development database and API key.
///
/// Prints the URL of the documentation page, the key and requests to paste; the service prints `ready` when it accepts
/// them. Database and key are kept in target/dev; delete that directory to start with an empty database. Ctrl-C stops the
/// service.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// The address to listen on; port 0 selects a free port.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080")]
    pub bind: String,
    /// Use an optimised build.
    #[arg(long)]
    pub release: bool,
}

/// Builds the service, prints how to use it, and replaces this process by it. Returns only the reason why it cannot.
///
/// # Errors
/// When the service does not build, the database or its key cannot be created, or the address cannot be used.
pub fn run(options: &Options) -> Result<u8, String> {
    let program = build(options.release)?;
    let Development { database, key, .. } = Development::of(&program)?;
    // The service binds it again.
    let address = TcpListener::bind(&options.bind).and_then(|listener| listener.local_addr());
    let address = address.map_err(|error| {
        format!(
            "cannot listen on {}: {error}; choose another address with --bind 127.0.0.1:8081",
            options.bind
        )
    })?;
    println!("{}", instructions(address, &key));
    let mut service = command(&program, &[], &address.to_string(), &database);
    Err(in_file(&program)(service.stdin(Stdio::null()).exec()))
}

/// The development database, in `dev` of the target directory of the service.
pub struct Development {
    /// Its directory.
    pub directory: PathBuf,
    /// Its URL.
    pub database: String,
    /// Its API key.
    pub key: String,
}

impl Development {
    /// Creates the database and the key, if they do not exist.
    ///
    /// # Errors
    /// A message, if they cannot be created.
    pub fn of(program: &Path) -> Result<Self, String> {
        let directory = target(program)?.join("dev");
        fs::create_dir_all(&directory).map_err(in_file(&directory))?;
        let file = directory.join("animals.db");
        let database = format!("sqlite:{}", file.display());
        let key = development_key(program, &file, &database)?;
        Ok(Self { directory, database, key })
    }
}

/// Returns the command that builds the service.
pub fn build_command(release: bool) -> Command {
    let mut command = cargo(&["build", "--bin", "animal-store"]);
    if release {
        // Without the features that only tools and tests need.
        command.args(["--package", "animal-store", "--release"]);
    } else {
        command.args(DAILY);
    }
    command
}

/// Builds the service. Returns the path of the executable.
pub fn build(release: bool) -> Result<PathBuf, String> {
    if !status(&mut build_command(release))?.success() {
        return Err("the service does not build, see above".to_owned());
    }
    // Cargo uses the target directory that contains this executable.
    let profile = if release { "release" } else { "debug" };
    Ok(target(&env::current_exe().unwrap_or_default())?.join(profile).join("animal-store"))
}

/// Returns the command that serves a database. `launcher` is a program with its arguments that starts it, or empty.
pub fn command(program: &Path, launcher: &[String], bind: &str, database: &str) -> Command {
    let mut command = launched(program, launcher);
    command.args(["serve", "--bind", bind, "--database", database]);
    command
}

/// Returns a command that runs a program, with the program `launcher[0]` if there is one.
pub fn launched(program: &Path, launcher: &[String]) -> Command {
    let Some((first, arguments)) = launcher.split_first() else { return Command::new(program) };
    let mut command = Command::new(first);
    command.args(arguments).arg(program);
    command
}

/// Creates an API key in a database, which is created if it does not exist.
pub fn create_key(program: &Path, name: &str, database: &str) -> Result<String, String> {
    let mut create = Command::new(program);
    create.args(["key", "create", name, "--database", database]).stderr(Stdio::inherit());
    let output = output(&mut create)?;
    let key = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if !output.status.success() || key.is_empty() {
        return Err(format!("cannot create the API key `{name}`, see above"));
    }
    Ok(key)
}

/// Returns the API key in the file `key` beside the development database, or a new key if one of the two is missing.
fn development_key(program: &Path, file: &Path, database: &str) -> Result<String, String> {
    let kept = file.with_file_name("key");
    if file.exists() {
        match fs::read_to_string(&kept) {
            Ok(key) if !key.trim().is_empty() => return Ok(key.trim().to_owned()),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(in_file(&kept)(error)),
            _ => {}
        }
    }
    let key = create_key(program, "development", database)?;
    let secret = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&kept);
    secret.and_then(|mut secret| writeln!(secret, "{key}")).map_err(in_file(&kept))?;
    Ok(key)
}

/// Returns how to use a service at an address.
fn instructions(address: SocketAddr, key: &str) -> String {
    let pets = format!("http://{address}/v1/pets");
    format!(
        "\nAnimal Store starts. Ctrl-C stops it.\n\n  \
         documentation  http://{address}/docs\n  \
         API key        {key}\n\n\
         Add an animal, then list all animals:\n\n  \
         curl -i {pets} -H 'Authorization: Bearer {key}' \
         -H 'Content-Type: application/json' -d '{{\"name\":\"Rex\",\"categoryId\":3}}'\n  \
         curl -i {pets} -H 'Authorization: Bearer {key}'\n"
    )
}
