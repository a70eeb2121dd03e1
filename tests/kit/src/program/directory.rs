//! A temporary directory to run the program in, and the results of runs.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::{Output, Stdio};

use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::{Program, TIMEOUT};

/// Returns the path of `animal-store`. Cargo builds it beside the directory of the test programs.
pub fn program() -> PathBuf {
    let test = env::current_exe().expect("the path of the test program");
    let built = test.ancestors().nth(2).expect("the directory of the test programs").join("animal-store");
    assert!(built.is_file(), "{} is missing: build the tests with cargo", built.display());
    built
}

/// A temporary directory to run the program in.
pub struct WorkDir(TempDir);

/// The result of a program that has exited.
pub struct Finished {
    /// The exit status; `None` if a signal ended the program.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// The files in the directory before the run.
    before: Vec<PathBuf>,
}

impl Finished {
    /// Returns the standard output of a successful run without other output, except about a new database and about
    /// changed keys.
    #[track_caller]
    pub fn success(self) -> String {
        let created = self.created();
        let is_quiet = self.without_audit().is_empty() || created.is_some();
        assert!(self.code == Some(0) && is_quiet, "{}", self.stderr);
        if let Some(created) = created {
            assert!(!self.before.contains(&created), "{} is not new", created.display());
        }
        self.stdout
    }

    /// Returns the log records about changed keys on standard error.
    pub fn audit(&self) -> Vec<&str> {
        self.stderr.lines().filter(|line| line.contains(" INFO  key ")).collect()
    }

    /// Returns standard error without the records about changed keys.
    fn without_audit(&self) -> String {
        let rest = self.stderr.split_inclusive('\n').filter(|line| !line.contains(" INFO  key "));
        rest.collect()
    }

    /// Returns the path of the new database, if standard error has only the line about it.
    pub fn created(&self) -> Option<PathBuf> {
        let rest = self.without_audit();
        let line = rest.strip_prefix("created a new database, ")?.strip_suffix(")\n")?;
        let (path, _source) = line.split_once(" (set by ")?;
        (!line.contains('\n')).then(|| path.into())
    }

    /// Returns the only line on standard error of a failed run.
    #[track_caller]
    pub fn failure(self) -> String {
        assert!(self.code.is_some_and(|code| code != 0), "exit status {:?}: {}", self.code, self.stdout);
        assert_eq!(self.stdout, "");
        let line = self.stderr.strip_suffix('\n').expect("a line on standard error");
        assert!(!line.is_empty() && !line.contains('\n'), "not one line: {line}");
        line.to_owned()
    }
}

/// Sets time limits that a busy machine does not reach.
pub fn patient(command: &mut Command) {
    let limits = ["REQUEST_TIMEOUT", "LOCK_TIMEOUT", "SHUTDOWN_GRACE", "POSTGRES__STATEMENT_TIMEOUT"];
    command.envs(limits.map(|limit| (format!("ANIMAL_STORE_{limit}"), "5m")));
}

/// Changes a command to run through another program, such as `nsenter`, which must `exec` it.
pub fn prefix(command: &mut Command, wrapper: &[&str]) {
    let before = command.as_std();
    let mut after = Command::new(wrapper[0]);
    after.args(&wrapper[1..]).arg(before.get_program()).args(before.get_args());
    if let Some(directory) = before.get_current_dir() {
        after.current_dir(directory);
    }
    after.env_clear().kill_on_drop(true);
    // The other program is looked up on PATH.
    after.env("PATH", env::var_os("PATH").unwrap_or_default());
    after.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    *command = after;
}

impl Default for WorkDir {
    fn default() -> Self {
        Self(tempfile::tempdir().expect("a temporary directory"))
    }
}

impl WorkDir {
    /// Creates an empty directory.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a path in the directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file in the directory. Returns its path.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        fs::write(self.path(name), content).expect("a file");
        self.path(name)
    }

    /// Sets the permissions of a file in the directory.
    pub fn set_mode(&self, name: &str, mode: u32) {
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
        fs::set_permissions(self.path(name), permissions).expect("a file");
    }

    /// Returns the paths and contents of all files in the directory.
    pub fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let entries = fs::read_dir(self.0.path()).expect("a directory");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        let mut files: Vec<_> =
            paths.map(|path| (path.clone(), fs::read(path).unwrap_or_default())).collect();
        files.sort();
        files
    }

    /// Returns the paths of all files in the directory.
    pub fn names(&self) -> Vec<PathBuf> {
        self.files().into_iter().map(|(path, _)| path).collect()
    }

    /// Runs `animal-store` until it exits. The default database is in this directory.
    pub async fn run(&self, arguments: &[&str]) -> Finished {
        self.run_with(arguments, &[]).await
    }

    /// Runs `animal-store` with these environment variables until it exits.
    pub async fn run_with(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Finished {
        self.run_changed(arguments, |command| {
            command.envs(environment.iter().copied());
        })
        .await
    }

    /// Runs `animal-store` until it exits, after `change` was applied to the command.
    pub async fn run_changed(&self, arguments: &[&str], change: impl FnOnce(&mut Command)) -> Finished {
        let before = self.names();
        let mut command = self.command(arguments);
        change(&mut command);
        let output = timeout(TIMEOUT, command.output()).await;
        let Output { status, stdout, stderr } =
            output.expect("the end within the time limit").expect("the program");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Finished { code: status.code(), stdout: text(stdout), stderr: text(stderr), before }
    }

    /// Starts `animal-store`. The process is killed when the value is dropped.
    pub fn start(&self, arguments: &[&str]) -> Child {
        self.start_with(arguments, |_| {})
    }

    /// Starts `animal-store` like [`Self::start`], after `change` was applied to the command.
    pub fn start_with(&self, arguments: &[&str], change: impl FnOnce(&mut Command)) -> Child {
        let mut command = self.command(arguments);
        change(&mut command);
        command.spawn().expect("the program")
    }

    /// Creates an API key.
    pub async fn key(&self) -> String {
        self.run(&["key", "create", "tests"]).await.success().trim_end().to_owned()
    }

    /// Starts the service on a free port and waits until it is ready.
    pub async fn serve(&self, arguments: &[&str]) -> Program {
        self.serve_with(arguments, |_| {}).await
    }

    /// Starts the service like [`Self::serve`], after `change` was applied to the command.
    pub async fn serve_with(&self, arguments: &[&str], change: impl FnOnce(&mut Command)) -> Program {
        self.serve_at(&[&["--bind", "127.0.0.1:0"], arguments].concat(), change).await
    }

    /// Starts the service at the address in the arguments, after `change` was applied to the command.
    pub async fn serve_at(&self, arguments: &[&str], change: impl FnOnce(&mut Command)) -> Program {
        let mut command = self.command(&["serve"]);
        command.args(arguments);
        change(&mut command);
        Program::ready(command).await
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program());
        command.args(arguments).current_dir(self.0.path());
        // The environment may contain settings of the program.
        command.env_clear().kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}
