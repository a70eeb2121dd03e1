//! `animal-store check-config`: finds what `serve` would reject, and opens and creates nothing.

use std::net::TcpListener;
use std::process::Stdio;

use tokio::process::Command;

use kit::program::WorkDir;

/// Writes a certificate and its private key.
fn certificate(directory: &WorkDir) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    directory.write("certificate.pem", made.cert.pem());
    directory.write("key.pem", made.signing_key.serialize_pem());
    directory.set_mode("key.pem", 0o600);
}

#[tokio::test]
async fn a_valid_configuration_is_one_line_and_nothing_is_opened() {
    let directory = WorkDir::new();
    certificate(&directory);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let file = format!(
        "bind = '{}'\nops_bind = '127.0.0.1:9090'\n\
         [tls]\ncertificate = 'certificate.pem'\nprivate_key = 'key.pem'\n",
        taken.local_addr().unwrap()
    );
    directory.write("store.toml", file);
    let before = directory.files();
    // No server runs at this address.
    for database in ["sqlite:new.db", "postgres://u@127.0.0.1:1/d"] {
        let arguments = ["check-config", "--config", "store.toml", "--database", database];
        assert_eq!(directory.run(&arguments).await.success(), "the configuration is valid\n");
    }
    assert_eq!(directory.files(), before);
}

#[tokio::test]
async fn a_password_on_the_command_line_is_a_warning() {
    let directory = WorkDir::new();
    let warning = "warning: --database: every user of this machine can read the password; put the URL into a file \
                   and use --database-file\n";
    for (url, expected) in [
        ("postgres://u:sesame@127.0.0.1:1/d", warning),
        ("postgres://u@127.0.0.1:1/d?password=sesame", warning),
        ("postgres://u@127.0.0.1:1/d", ""),
    ] {
        for command in ["check-config", "config"] {
            let finished = directory.run(&[command, "--database", url]).await;
            assert_eq!((finished.code, &*finished.stderr), (Some(0), expected), "{command} {url}");
        }
        let environment = [("ANIMAL_STORE_DATABASE", url)];
        assert_eq!(directory.run_with(&["check-config"], &environment).await.stderr, "");
    }
}

#[tokio::test]
async fn a_password_in_a_file_that_everyone_can_read_is_a_warning() {
    let directory = WorkDir::new();
    directory.write("store.toml", "database = 'postgres://u:sesame@127.0.0.1:1/d'\n");
    for (mode, is_warned) in [(0o644, true), (0o640, false)] {
        directory.set_mode("store.toml", mode);
        let stderr = directory.run(&["check-config", "--config", "store.toml"]).await.stderr;
        let expected =
            "every user of this machine can read the password in store.toml; run chmod o-rwx store.toml";
        assert_eq!(stderr.contains(expected), is_warned, "{stderr}");
        assert_eq!(stderr.is_empty(), !is_warned, "{stderr}");
    }
}

#[tokio::test]
async fn a_configuration_may_come_from_a_pipe() {
    let directory = WorkDir::new();
    let from_pipe = |command: &mut Command| {
        let arguments: Vec<_> = command.as_std().get_args().map(ToOwned::to_owned).collect();
        let program = command.as_std().get_program().to_owned();
        let mut shell = Command::new("sh");
        shell.args(["-c", "echo write_queue = 7 | \"$0\" \"$@\""]).arg(program).args(arguments);
        shell.current_dir(directory.path("")).env_clear().kill_on_drop(true);
        shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        *command = shell;
    };
    let page = directory.run_changed(&["config", "--config", "/dev/stdin"], from_pipe).await.success();
    let line = page.lines().find(|line| line.starts_with("write_queue = 7 ")).expect(&page);
    assert!(line.ends_with("# `write_queue` in /dev/stdin"), "{line}");
}

#[tokio::test]
async fn reading_a_file_that_does_not_end_ends() {
    let directory = WorkDir::new();
    let url = "postgres://u@h/d?sslmode=verify-full&sslrootcert=/dev/zero";
    for (arguments, problem) in [
        (["--database", url], "sslrootcert /dev/zero contains no certificate"),
        (["--database-file", "/dev/zero"], "/dev/zero is larger than 64 KiB"),
    ] {
        let line = directory.run(&[&["check-config"], &arguments[..]].concat()).await.failure();
        assert!(line.contains(problem), "{line}");
    }
}

#[tokio::test]
async fn what_serve_rejects_is_reported_in_the_same_words() {
    let directory = WorkDir::new();
    certificate(&directory);
    directory.write("type.toml", "write_queue = 'many'");
    directory.write("tls.toml", "[tls]\ncertificate = 'missing.pem'\nprivate_key = 'key.pem'\n");
    directory.write("swapped.toml", "[tls]\ncertificate = 'key.pem'\nprivate_key = 'certificate.pem'\n");
    let before = directory.files();
    for arguments in [
        &["--config", "type.toml"][..],
        &["--config", "tls.toml"],
        &["--config", "swapped.toml"],
        &["--config", "missing.toml"],
        &["--database", "animals.db"],
        &["--database", "sqlite:."],
        &["--database", "sqlite:no/such/a.db"],
        &["--database", "postgres://u:sesame@h:x/d"],
        &["--database", "postgres://u:sesame@h/d?sslmode=verify-full&sslrootcert=no.pem"],
        &["--database-file", "missing"],
    ] {
        let line = directory.run(&[&["check-config"], arguments].concat()).await.failure();
        let served = directory.run(&[&["serve", "--bind", "127.0.0.1:0"], arguments].concat()).await;
        assert_eq!(line, served.failure(), "{arguments:?}");
        assert!(!line.contains("sesame"), "{line}");
    }
    assert_eq!(directory.files(), before);
}
