//! `cargo xtask dev` in a small workspace, with shell scripts in place of cargo and of the service.
//!
//! The scripts fail, wait or print by the content of the files that a test saves. A test waits for lines, never for a
//! time.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use tempfile::TempDir;

const SPEC: &str = "openapi/animal-store.yaml";
const CREATE: &str = "src/operations/create_pet.rs";

const DOCUMENT: &str = "openapi: 3.0.3
info: {title: T, version: 1.0.0}
paths:
  /pets:
    get: {operationId: listPets, responses: {'200': {description: list}}}
    post: {operationId: createPet, responses: {'201': {description: add}}}
  /pets/{petId}:
    get: {operationId: getPet, responses: {'200': {description: get}}}
";

/// `build` fails while the operation has the word BROKEN, `test` waits while it has the word SLOW, and fails while it
/// has the word WRONG. `run` prints the file `findings.json`.
const CARGO: &str = r#"#!/bin/sh
echo "$@" >> calls
echo $$ >> pids
case "$1" in
build)
    if grep -q BROKEN src/operations/create_pet.rs; then
        echo '{"reason":"compiler-message","message":{"level":"error","message":"mismatched types","rendered":"error: mismatched types","spans":[{"file_name":"src/operations/create_pet.rs","line_start":3,"column_start":5,"is_primary":true}]}}'
        exit 101
    fi
    echo '{"reason":"compiler-artifact","target":{"name":"animal-store"},"executable":"'"$PWD"'/target/debug/animal-store"}' ;;
run) cat findings.json ;;
test)
    if grep -q SLOW src/operations/create_pet.rs; then
        echo > slow; cat forever
    fi
    if grep -q WRONG src/operations/create_pet.rs; then
        echo 'test v1::pets::create::adds ... FAILED'
        printf 'failures:\n\n---- v1::pets::create::adds stdout ----\nassertion failed\n\n'
        echo 'test result: FAILED. 4 passed; 1 failed; 0 ignored; 0 measured; 9 filtered out; finished in 0.1s'
        exit 101
    fi
    echo 'test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 9 filtered out; finished in 0.1s' ;;
esac
"#;

const SERVICE: &str = r#"#!/bin/sh
case "$1" in
key) database=${5#sqlite:}; echo made >> "$database"; echo ask_1 ;;
serve) echo $$ >> pids; echo $$ > service; echo "ready: http://$3/v1"; exec sleep 100000 ;;
esac
"#;

/// A process that another test starts while a script is open for writing inherits the open file; running the script
/// then fails with ETXTBSY.
fn one_at_a_time() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends a process after five minutes, so that no test waits for ever, unless the returned value is dropped before.
fn limit(process: Pid) -> Sender<()> {
    let (sender, ended) = mpsc::channel();
    thread::spawn(move || {
        if ended.recv_timeout(Duration::from_secs(300)) == Err(RecvTimeoutError::Timeout) {
            // Fails if the process has ended.
            let _ = kill_process(process, Signal::TERM);
        }
    });
    sender
}

/// A running command in a small workspace.
struct Developing {
    root: TempDir,
    child: Child,
    keys: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    _limit: Sender<()>,
    _turn: MutexGuard<'static, ()>,
}

impl Developing {
    /// Starts the command, and waits until the service is built, served and checked.
    fn start() -> Self {
        let turn = one_at_a_time();
        let root = TempDir::new().unwrap();
        for (file, text) in [
            (SPEC, DOCUMENT),
            (CREATE, "one"),
            ("src/main.rs", "main"),
            ("tests/http/v1/pets/limit.rs", "limit"),
            ("findings.json", "[]"),
            ("Cargo.lock", ""),
            ("xtask/Cargo.toml", ""),
        ] {
            write(root.path(), file, text);
        }
        let pipes = Command::new("mkfifo").args(["slow", "forever"]).current_dir(root.path()).status();
        assert!(pipes.unwrap().success());
        let cargo = script(root.path(), "cargo", CARGO);
        script(root.path(), "target/debug/animal-store", SERVICE);
        let mut child = Command::new(env!("CARGO_BIN_EXE_xtask"))
            .args(["dev", "--bind", "127.0.0.1:1"])
            .env("CARGO", cargo)
            .env("CARGO_MANIFEST_DIR", root.path().join("xtask"))
            .current_dir(root.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let keys = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        let limit = limit(Pid::from_child(&child));
        let mut developing = Self { root, child, keys, output, _limit: limit, _turn: turn };
        developing.wait_for(&[
            "build    passed",
            "service  http://127.0.0.1:1/docs, API key ask_1",
            "check    the document and the code agree",
        ]);
        developing
    }

    fn save(&self, file: &str, text: &str) {
        write(self.root.path(), file, text);
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.root.path().join(file)).unwrap_or_default()
    }

    /// Waits until each of these texts was printed, in any order. Returns what was printed.
    fn wait_for(&mut self, texts: &[&str]) -> String {
        let mut printed = String::new();
        while !texts.iter().all(|text| printed.contains(text)) {
            let read = self.output.read_line(&mut printed).unwrap();
            assert!(read > 0, "the command ended, and did not print all of {texts:?}:\n{printed}");
        }
        printed
    }

    fn press(&mut self, key: &[u8]) {
        self.keys.as_mut().unwrap().write_all(key).unwrap();
    }

    /// Waits until the test script runs and waits.
    fn wait_until_slow(&self) {
        // Reading from a named pipe waits until the script writes.
        assert_eq!(self.read("slow"), "\n");
    }

    /// Reads the rest of the output. Returns it if the command ended with 0 and all programs that it started ended.
    fn ended(&mut self) -> String {
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        assert!(self.child.wait().unwrap().success(), "{rest}");
        for pid in self.read("pids").lines() {
            let pid = Pid::from_raw(pid.parse().unwrap()).unwrap();
            assert_eq!(test_kill_process(pid), Err(Errno::SRCH), "{rest}");
        }
        rest
    }
}

impl Drop for Developing {
    fn drop(&mut self) {
        // Fails if the command has ended. SIGTERM, so that it ends its programs.
        if self.child.try_wait().is_ok_and(|status| status.is_none()) {
            let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
            let _ = self.child.wait();
        }
    }
}

/// Writes a file atomically, as editors do.
fn write(root: &Path, file: &str, text: &str) {
    let path = root.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let beside = path.with_extension("swp");
    fs::write(&beside, text).unwrap();
    fs::rename(beside, path).unwrap();
}

fn script(root: &Path, file: &str, text: &str) -> PathBuf {
    write(root, file, text);
    let path = root.join(file);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn a_save_of_an_operation_is_built_checked_and_tested() {
    let mut developing = Developing::start();
    let first = developing.read("service");
    developing.save(CREATE, "two WRONG");
    let printed = developing.wait_for(&["failed: v1::pets::create::adds"]);
    let order = [
        "save     src/operations/create_pet.rs: tests of createPet",
        "build    passed",
        "check    the document and the code agree",
        "tests    1 failed, 4 passed",
        "tests    failed: v1::pets::create::adds",
    ];
    let places: Vec<_> =
        order.iter().map(|text| printed.find(text).unwrap_or_else(|| panic!("{text}: {printed}"))).collect();
    assert!(places.is_sorted(), "{printed}");
    assert_ne!(developing.read("service"), first, "the service was not restarted");
    // The database is kept: one key was made for it.
    assert_eq!(developing.read("target/dev/animals.db"), "made\n");
    let calls = developing.read("calls");
    assert_eq!(
        calls.lines().last(),
        Some("test --test http --message-format json -- create_pet v1::pets:: --skip v1::pets::pet_id::")
    );

    developing.press(b"\n");
    let summary = developing.wait_for(&["assertion failed"]);
    for text in [
        "service  running since ",
        "build    passed (",
        "tests    1 failed, 4 passed (",
        "last failing output: tests",
    ] {
        assert!(summary.contains(text), "{text}: {summary}");
    }
    developing.save(CREATE, "three");
    developing.wait_for(&["tests    5 passed"]);
    developing.press(b"\nq");
    let rest = developing.ended();
    assert!(!rest.contains("last failing") && rest.ends_with("dev      ended\n"), "{rest}");
}

#[test]
fn a_compile_error_is_one_line_and_the_old_service_keeps_running() {
    let mut developing = Developing::start();
    let service = developing.read("service");
    developing.save(CREATE, "BROKEN");
    let printed = developing.wait_for(&["keeps running"]);
    assert!(
        printed.contains("build    src/operations/create_pet.rs:3:5: mismatched types; the service of "),
        "{printed}"
    );
    // What did not compile is tested with the next save.
    developing.save("tests/http/v1/pets/limit.rs", "other");
    developing.wait_for(&["tests of createPet, v1::pets::limit", "keeps running"]);
    assert_eq!(developing.read("service"), service);
    let pid = Pid::from_raw(service.trim().parse().unwrap()).unwrap();
    assert_eq!(test_kill_process(pid), Ok(()));
    assert!(!developing.read("calls").contains("test "));
    developing.save(CREATE, "repaired");
    developing.wait_for(&["tests    5 passed"]);
    kill_process(Pid::from_child(&developing.child), Signal::INT).unwrap();
    developing.ended();
}

#[test]
fn a_newer_save_cancels_what_runs() {
    let mut developing = Developing::start();
    developing.save(CREATE, "SLOW");
    developing.wait_until_slow();
    developing.save(CREATE, "fast");
    let printed = developing.wait_for(&["tests    5 passed"]);
    assert!(printed.contains("tests of createPet; tests cancelled"), "{printed}");
    assert_eq!(printed.matches("tests    ").count(), 1, "{printed}");
    developing.press(b"q");
    developing.ended();
}

#[test]
fn an_edit_of_the_document_is_checked_first_and_tests_its_operations() {
    let mut developing = Developing::start();
    developing.save("findings.json", "[{\"file\": \"openapi/animal-store.yaml\", \"line\": 8, \"message\": \"It differs.\", \"fix\": \"\"}]");
    developing.save(SPEC, &DOCUMENT.replace("description: get", "description: one"));
    let printed = developing.wait_for(&["tests    5 passed"]);
    assert!(printed.contains("save     openapi/animal-store.yaml: tests of getPet\n"), "{printed}");
    let check = printed.find("check    1 error: openapi/animal-store.yaml:8 It differs.").unwrap();
    assert!(check < printed.find("build    passed").unwrap(), "{printed}");
    // Not readable: only the check runs, and the difference of the next version is that to the last readable one.
    developing.save(SPEC, "openapi: [");
    developing.wait_for(&["save     openapi/animal-store.yaml: no tests", "check    "]);
    developing.save(
        SPEC,
        &DOCUMENT
            .replace("description: list", "description: all")
            .replace("description: get", "description: one"),
    );
    let printed = developing.wait_for(&["tests    5 passed"]);
    assert!(printed.contains("tests of listPets\n"), "{printed}");
    developing.save("src/main.rs", "other");
    let printed = developing.wait_for(&["tests    5 passed"]);
    assert!(printed.contains("save     src/main.rs: tests of all operations\n"), "{printed}");
    assert!(developing.read("calls").trim_end().ends_with("-- v1::"));
}

#[test]
fn the_end_of_the_terminal_and_sigterm_end_all_programs() {
    for signal in [Signal::HUP, Signal::TERM] {
        let mut developing = Developing::start();
        developing.save(CREATE, "SLOW");
        developing.wait_until_slow();
        kill_process(Pid::from_child(&developing.child), signal).unwrap();
        developing.ended();
    }
}

#[test]
fn a_service_that_ends_by_itself_is_reported() {
    let mut developing = Developing::start();
    let pid = Pid::from_raw(developing.read("service").trim().parse().unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    developing.wait_for(&["service  ended by itself"]);
    developing.press(b"\n");
    developing.wait_for(&["service  not running"]);
    // Without standard input the command continues.
    developing.keys = None;
    developing.save(CREATE, "two");
    developing.wait_for(&["service  http://127.0.0.1:1/docs", "tests    5 passed"]);
}
