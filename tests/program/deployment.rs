//! The files in `xtask/dist`: the units of systemd, checked by systemd, and the stages of the container.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

use tempfile::TempDir;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const PROGRAM: &str = "/usr/local/bin/animal-store";
/// The maximum exposure that `systemd-analyze security` accepts, in tenths; 20 is "OK".
const THRESHOLD: u8 = 20;

fn deploy(name: &str) -> String {
    let path = Path::new(ROOT).join("xtask/dist").join(name);
    fs::read_to_string(path).expect(name)
}

fn run(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

fn has_systemd() -> bool {
    kit::is_installed("systemd-analyze", "systemd")
}

/// The units in a temporary directory, with the program of this build.
struct Units(TempDir);

impl Units {
    fn new(change: impl FnOnce(String) -> String) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let service = deploy("animal-store.service");
        assert!(service.contains(PROGRAM), "{service}");
        let service = change(service.replace(PROGRAM, env!("CARGO_BIN_EXE_animal-store")));
        fs::write(directory.path().join("animal-store.service"), service).unwrap();
        fs::write(directory.path().join("animal-store.socket"), deploy("animal-store.socket")).unwrap();
        Self(directory)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Returns what systemd reports about the units.
    fn problems(&self) -> String {
        let units = [self.path("animal-store.service"), self.path("animal-store.socket")];
        let output = run(Command::new("systemd-analyze").arg("verify").args(units));
        let text = String::from_utf8_lossy(&output.stderr);
        // systemd also reports what is wrong with other units of the machine.
        let ours: Vec<_> = text.lines().filter(|line| line.contains("animal-store")).collect();
        ours.join("\n")
    }

    fn is_hardened(&self) -> bool {
        let mut command = Command::new("systemd-analyze");
        command.args(["security", "--offline=true", "--no-pager", &format!("--threshold={THRESHOLD}")]);
        run(command.arg(self.path("animal-store.service"))).status.success()
    }
}

#[test]
fn systemd_accepts_the_units() {
    if !has_systemd() {
        return;
    }
    assert_eq!(Units::new(|service| service).problems(), "");
    let misspelt = Units::new(|service| service.replace("ProtectHome=", "ProtectHom="));
    assert!(misspelt.problems().contains("ProtectHom"), "{}", misspelt.problems());
}

#[test]
fn the_service_is_hardened() {
    if !has_systemd() {
        return;
    }
    assert!(Units::new(|service| service).is_hardened());
    let weaker = |service: String| {
        service
            .replace("SystemCallFilter=", "# ")
            .replace("ProtectSystem=strict", "")
            .replace("PrivateUsers=yes", "")
    };
    assert!(!Units::new(weaker).is_hardened());
}

/// By default, systemd gives up after five failed starts in ten seconds.
#[test]
fn the_service_is_restarted_however_often_it_fails() {
    let service = deploy("animal-store.service");
    let (unit, service) = service.split_once("[Service]").expect("two sections");
    assert!(unit.lines().any(|line| line == "StartLimitIntervalSec=0"), "{unit}");
    assert!(service.lines().any(|line| line == "Restart=on-failure"), "{service}");
}

/// A core has the hashes of API keys and the secret of the store.
#[test]
fn the_service_leaves_no_core_and_has_a_memory_limit() {
    let service = deploy("animal-store.service");
    for setting in ["LimitCORE=0", "MemoryMax=1G"] {
        assert!(service.lines().any(|line| line == setting), "{setting} is not in:\n{service}");
    }
}

#[test]
fn the_service_and_the_container_start_the_program_as_it_is() {
    let service = deploy("animal-store.service");
    let arguments = service.lines().find_map(|line| line.strip_prefix(&format!("ExecStart={PROGRAM} ")));
    let arguments: Vec<&str> = arguments.expect("a command").split_whitespace().collect();
    // The arguments are accepted, up to the file that does not exist.
    assert_eq!(arguments[..2], ["serve", "--config"]);
    let output = run(Command::new(env!("CARGO_BIN_EXE_animal-store")).args(arguments).env_clear());
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("/etc/animal-store/store.toml: No such file"), "{error}");

    let container = deploy("Containerfile");
    let archive = format!("ADD animal-store-*-{}-{}.tar.gz /\n", env::consts::ARCH, env::consts::OS);
    assert!(container.contains(&archive), "{archive} is not in:\n{container}");
    assert!(container.contains(&format!("ENTRYPOINT [\"{PROGRAM}\"]\nCMD [\"serve\"]\n")), "{container}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_animal-store"));
    command.arg("config").env_clear();
    for variable in container.lines().filter_map(|line| line.strip_prefix("ENV ")) {
        let (name, value) = variable.split_once('=').expect("a value");
        command.env(name, value);
    }
    let page = String::from_utf8(run(&mut command).stdout).unwrap();
    assert!(page.contains("bind = \"0.0.0.0:8080\""), "{page}");
}
