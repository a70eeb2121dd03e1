//! `cargo xtask dev` in a small workspace, with shell scripts in place of cargo and of the service.
//!
//! The scripts fail, wait or print by the content of the files that a test saves. A test waits for lines, never for a
//! time.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use tempfile::TempDir;

const CODE: &str = "src/operations/create_pet.rs";
const SPEC: &str = "openapi/animal-store.yaml";

/// `build` fails while the operation has the word BROKEN, and waits while it has the word SLOW. `run` prints the file
/// `findings`, and fails as `check` does if the document cannot be read.
const CARGO: &str = r#"#!/bin/sh
echo $$ >> pids
case "$1" in
build)
    if grep -q SLOW src/operations/create_pet.rs; then echo > slow; cat forever; fi
    if grep -q BROKEN src/operations/create_pet.rs; then exit 101; fi ;;
run)
    cat findings
    if grep -q 'a: \[$' openapi/animal-store.yaml; then exit 2; fi ;;
esac
"#;

const SERVICE: &str = r#"#!/bin/sh
case "$1" in
key) database=${5#sqlite:}; echo made >> "$database"; echo ask_1 ;;
serve) echo $$ >> pids; echo $$ > service; echo "ready: http://$3/v1"; exec sleep 100000 ;;
esac
"#;

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
    output: BufReader<ChildStdout>,
    _limit: Sender<()>,
}

impl Developing {
    /// Starts the command, and waits until the service is built, served and checked.
    fn start() -> Self {
        let root = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        for file in [SPEC, CODE, "src/main.rs", "Cargo.lock", "xtask/Cargo.toml"] {
            write(root.path(), file, "one");
        }
        write(root.path(), "findings", "no differences\n");
        let pipes = Command::new("mkfifo").args(["slow", "forever"]).current_dir(root.path()).status();
        assert!(pipes.unwrap().success());
        script(root.path(), "cargo", CARGO);
        script(root.path(), "target/debug/animal-store", SERVICE);
        // The command looks for the service beside itself.
        let program = root.path().join("target/debug/xtask");
        fs::hard_link(env!("CARGO_BIN_EXE_project"), &program).unwrap();
        let mut child = Command::new(program)
            .args(["dev", "--bind", "127.0.0.1:1"])
            .env("CARGO", root.path().join("cargo"))
            .env("CARGO_MANIFEST_DIR", root.path().join("xtask"))
            .current_dir(root.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let limit = limit(Pid::from_child(&child));
        let mut developing = Self { root, child, output, _limit: limit };
        developing.wait_for(&["no differences", "service  http://127.0.0.1:1/docs, API key ask_1"]);
        developing
    }

    fn save(&self, file: &str, text: &str) {
        write(self.root.path(), file, text);
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.root.path().join(file)).unwrap_or_default()
    }

    fn service(&self) -> Pid {
        Pid::from_raw(self.read("service").trim().parse().unwrap()).unwrap()
    }

    /// Waits until these texts were printed in this order. Returns what was printed.
    fn wait_for(&mut self, texts: &[&str]) -> String {
        let (mut printed, mut after) = (String::new(), 0);
        for text in texts {
            while !printed[after..].contains(text) {
                let read = self.output.read_line(&mut printed).unwrap();
                assert!(read > 0, "the command ended before it printed {text:?}:\n{printed}");
            }
            after += printed[after..].find(text).unwrap_or_default() + text.len();
        }
        printed
    }

    /// Saves an operation whose build waits, and waits until it does.
    fn save_slow(&self) {
        self.save(CODE, "SLOW");
        // Reading from a named pipe waits until the script writes.
        assert_eq!(self.read("slow"), "\n");
    }

    /// Sends a signal. Fails unless it ends the command and all programs that it started.
    fn end(&mut self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(128 + signal.as_raw()), "{rest}");
        for pid in self.read("pids").lines() {
            let pid = Pid::from_raw(pid.parse().unwrap()).unwrap();
            assert_eq!(test_kill_process(pid), Err(Errno::SRCH), "{rest}");
        }
    }
}

impl Drop for Developing {
    fn drop(&mut self) {
        // SIGTERM, so that it ends its programs.
        if self.child.try_wait().is_ok_and(|status| status.is_none()) {
            let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
            let _ = self.child.wait();
        }
    }
}

/// Writes a file atomically, as editors do. The new file comes from a directory that is not watched, so that a save is one
/// event. Of two, the second could arrive with the next save.
fn write(root: &Path, file: &str, text: &str) {
    let (path, beside) = (root.join(file), root.join("target/saved"));
    for file in [&path, &beside] {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
    }
    fs::write(&beside, text).unwrap();
    fs::rename(beside, path).unwrap();
}

/// Writes an executable in a child process. If this process wrote it, a program that another thread starts meanwhile would
/// inherit the open file, and running it would fail with ETXTBSY.
fn script(root: &Path, file: &str, text: &str) {
    write(root, "script", text);
    let installed = Command::new("install").args(["-D", "script", file]).current_dir(root).status();
    assert!(installed.unwrap().success());
}

#[test]
fn each_save_is_built_served_and_checked() {
    let mut developing = Developing::start();
    let mut before = developing.service();
    for file in [CODE, SPEC, "src/operations/new.rs"] {
        developing.save("findings", "error: it differs\n");
        developing.save(file, "two");
        developing.wait_for(&[
            &format!("save     {file}\n"),
            "error: it differs\n",
            "service  http://127.0.0.1:1/docs",
        ]);
        assert_eq!(test_kill_process(before), Err(Errno::SRCH));
        before = developing.service();
    }
    developing.end(Signal::INT);
}

#[test]
fn code_that_does_not_compile_leaves_the_service_running() {
    let mut developing = Developing::start();
    let before = developing.service();
    developing.save(CODE, "BROKEN");
    developing.wait_for(&["build    failed, see above"]);
    assert_eq!(developing.service(), before);
    assert_eq!(test_kill_process(before), Ok(()));
    developing.save(CODE, "repaired");
    developing.wait_for(&["no differences", "service  http://127.0.0.1:1/docs"]);
    assert_ne!(developing.service(), before);
}

#[test]
fn a_document_that_cannot_be_read_leaves_the_service_running() {
    let mut developing = Developing::start();
    let before = developing.service();
    developing.save(SPEC, "a: [");
    developing.wait_for(&["document cannot be read, see above"]);
    assert_eq!(developing.service(), before);
    assert_eq!(test_kill_process(before), Ok(()));
    developing.save(SPEC, "a: []");
    developing.wait_for(&["no differences", "service  http://127.0.0.1:1/docs"]);
}

#[test]
fn a_signal_ends_all_programs() {
    let mut developing = Developing::start();
    developing.save_slow();
    developing.end(Signal::TERM);
}
