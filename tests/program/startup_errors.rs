//! Startup errors: an exit status, an error of one line, and no changed files.

use std::net::TcpListener;
use std::process::Stdio;

use rusqlite::Connection;
use tokio::process::Command;

use kit::postgres::free_port;
use kit::program::WorkDir;

/// Each test expects these arguments to fail with an error that contains these texts.
macro_rules! rejected {
    ($($name:ident: $arguments:expr => $texts:expr;)*) => {$(
        #[tokio::test]
        async fn $name() {
            let directory = WorkDir::new();
            let line = directory.run(&$arguments).await.failure();
            for text in $texts {
                assert!(line.contains(text), "{text} is not in: {line}");
            }
            assert_eq!(directory.files(), [], "the command created a file");
        }
    )*};
}

rejected! {
    an_unknown_command_is_rejected: ["sevre"] => ["sevre", "animal-store --help"];
    an_unknown_flag_is_rejected: ["serve", "--prot", "80"] => ["--prot"];
    an_address_without_a_port_is_rejected: ["serve", "--bind", "127.0.0.1"] => ["--bind", "127.0.0.1"];
    an_address_that_is_a_name_is_rejected:
        ["serve", "--bind", "example.org:80"] => ["--bind <IP:PORT>", "example.org:80"];
    a_port_that_is_too_large_is_rejected: ["serve", "--bind", "127.0.0.1:65536"] => ["--bind"];
    a_flag_without_a_value_is_rejected: ["serve", "--database"] => ["--database"];
    a_flag_given_twice_is_rejected:
        ["serve", "--database", "sqlite:a.db", "--database", "sqlite:b.db"] => ["--database"];
    another_address_of_this_machine_is_rejected:
        ["serve", "--bind", "192.0.2.1:8080"] => ["192.0.2.1:8080", "set by --bind", "choose an address of this machine"];

    a_missing_file_is_rejected:
        ["serve", "--config", "missing.toml"] => ["missing.toml: No such file", "animal-store config"];
    a_directory_as_configuration_is_rejected: ["serve", "--config", "."] => ["configuration"];

    a_database_without_a_kind_is_rejected: ["serve", "--database", "animals.db"] => ["sqlite:PATH"];
    a_database_without_a_path_is_rejected: ["serve", "--database", "sqlite:"] => ["sqlite:PATH"];
    a_database_of_an_unknown_kind_is_rejected: ["serve", "--database", "oracle:x"] => ["sqlite:PATH"];
    a_directory_as_database_is_rejected: ["serve", "--bind", "127.0.0.1:0", "--database", "sqlite:."] => ["directory"];
    a_database_in_a_directory_that_is_missing_is_rejected:
        ["serve", "--bind", "127.0.0.1:0", "--database", "sqlite:no/such/a.db"] => ["no/such/a.db", "directory"];

    a_missing_source_is_rejected:
        ["copy", "--from", "sqlite:missing.db", "--to", "postgres://u@h/d"] => ["missing.db does not exist; check the path"];
    a_backup_of_a_missing_database_is_rejected: ["backup", "kept.db"] => ["animal-store.db does not exist", "set by the default of `database`"];

    a_key_without_a_name_is_rejected: ["key", "create"] => ["NAME"];
    a_key_with_an_empty_name_is_rejected: ["key", "create", ""] => ["1 to 100 characters"];
    a_key_with_a_line_break_in_its_name_is_rejected: ["key", "create", "a\nb"] => ["control characters"];
    a_key_with_an_unreadable_lifetime_is_rejected:
        ["key", "create", "x", "--expires-in", "soon"] => ["--expires-in", "such as 90d"];
    a_key_that_is_expired_is_rejected:
        ["key", "create", "x", "--expires-in", "0s"] => ["--expires-in", "at least 1s"];
    a_backup_to_a_pipe_is_rejected: ["backup", "-"] => ["give the path of a file"];
    an_sqlite_url_with_two_slashes_is_rejected:
        ["key", "create", "x", "--database", "sqlite://animals.db"] => ["sqlite:PATH"];
}

#[tokio::test]
async fn without_a_command_the_help_is_printed() {
    let directory = WorkDir::new();
    for (arguments, usage) in
        [(&[][..], "Usage: animal-store <COMMAND>"), (&["key"], "Usage: animal-store key <COMMAND>")]
    {
        let finished = directory.run(arguments).await;
        assert_eq!((finished.code, &*finished.stdout), (Some(2), ""));
        assert!(finished.stderr.contains(usage) && !finished.stderr.contains("error"), "{}", finished.stderr);
    }
}

/// Each test expects a configuration file with this content to be rejected.
macro_rules! rejected_files {
    ($($name:ident: $content:expr => $texts:expr;)*) => {$(
        #[tokio::test]
        async fn $name() {
            let directory = WorkDir::new();
            directory.write("store.toml", $content);
            let before = directory.files();
            let line = directory.run(&["serve", "--config", "store.toml"]).await.failure();
            for text in $texts {
                assert!(line.contains(text), "{text} is not in: {line}");
            }
            assert!(directory.files() == before, "a file was changed: {:?}", directory.names());
        }
    )*};
}

rejected_files! {
    a_file_that_is_not_toml_is_rejected: "bind = 1\n= nonsense" => ["store.toml: TOML parse error at line 2, column 1", "animal-store config"];
    a_file_that_is_not_utf_8_is_rejected: &b"\xff\xfe"[..] => ["store.toml"];
    a_misspelt_setting_is_rejected: "databse = 'sqlite:x.db'" => ["`databse` in store.toml: no such setting; expected one of bind, ops_bind, "];
    a_setting_of_another_type_is_rejected: "write_queue = 'many'" => ["`write_queue` in store.toml", "such as `write_queue = 4096`"];
    a_duration_without_a_unit_is_rejected: "request_timeout = '5'" => ["`request_timeout` in store.toml", "such as `request_timeout = \"10s\"`"];
    a_timeout_of_zero_is_rejected: "request_timeout = '0s'" => ["`request_timeout` in store.toml", "from 1ms to 24h"];
    a_rate_limit_of_zero_is_rejected: "[rate_limit]\nrequests = 0\nperiod = '1s'" => ["`rate_limit.requests` in store.toml: expected a setting such as `rate_limit.requests = 100`"];
    an_incomplete_rate_limit_is_rejected: "[rate_limit]\nrequests = 5" => ["`rate_limit.period` in store.toml", "missing", "such as `rate_limit.period = \"1s\"`"];
}

/// Database URLs with a mistake, each with the password `sesame`.
const MISTYPED: [&str; 9] = [
    "postgress://u:sesame@h/d",
    "postgres//u:sesame@h",
    "postgres:u:sesame@h/d",
    "postgres://u:sesame/h/d",
    "postgres://u:x@sesame@h.invalid/d",
    "mysql://u:sesame@h/d",
    "sqlite:postgres://u:sesame@h/d",
    "sqlite://u:sesame@h/d",
    "u:sesame@h/d",
];

#[tokio::test]
async fn a_mistyped_database_url_is_never_shown() {
    let directory = WorkDir::new();
    directory.key().await;
    for url in MISTYPED {
        directory.write("url", url);
        for (name, content) in [
            ("url.toml", format!("database = '{url}'")),
            ("list.toml", format!("database = ['{url}']")),
            ("table.toml", format!("[database]\nurl = '{url}'")),
            ("bind.toml", format!("bind = '{url}'")),
            ("level.toml", format!("[log]\nlevel = '{url}'")),
            ("key.toml", format!("'{url}' = 1")),
            ("bare.toml", url.to_owned()),
            ("string.toml", format!("database = {url}")),
        ] {
            directory.write(name, content);
        }
        let (equals, variable) = (format!("--databse={url}"), format!("ANIMAL_STORE_{url}"));
        let mut runs = vec![
            (vec!["config", "--config", "list.toml"], None),
            (vec!["config", "--config", "table.toml"], None),
            (vec!["config", "--config", "bind.toml"], None),
            (vec!["config", "--config", "level.toml"], None),
            (vec!["config", "--config", "key.toml"], None),
            (vec!["config", "--config", "bare.toml"], None),
            (vec!["config", "--config", "string.toml"], None),
            (vec!["config"], Some(("ANIMAL_STORE_BIND", url))),
            (vec!["config"], Some((variable.as_str(), "1"))),
            (vec!["serve", "--bind", url], None),
            (vec!["serve", url], None),
            (vec![url], None),
            (vec!["serve", &equals], None),
            (vec!["copy", "--from", url, "--to", "postgres://u@h/d"], None),
            (vec!["copy", "--from", "sqlite:animal-store.db", "--to", url], None),
        ];
        for command in
            [&["serve", "--bind", "127.0.0.1:0"][..], &["key", "list"], &["backup", "b.db"], &["config"]]
        {
            let with = |more: &[&'static str]| [command, more].concat();
            runs.push(([command, &["--database", url]].concat(), None));
            runs.push((with(&["--database-file", "url"]), None));
            runs.push((with(&["--config", "url.toml"]), None));
            runs.push((with(&[]), Some(("ANIMAL_STORE_DATABASE", url))));
        }
        for (arguments, variable) in runs {
            let finished = directory.run_with(&arguments, variable.as_slice()).await;
            let output = format!("{}{}", finished.stdout, finished.stderr);
            assert!(!output.contains("sesame"), "{arguments:?} {variable:?}: {output}");
            // `config` checks only the kind of the URL.
            assert!(finished.code != Some(0) || arguments[0] == "config", "{arguments:?}: {output}");
        }
    }
}

#[tokio::test]
async fn the_error_names_a_wrong_setting_of_the_environment() {
    let directory = WorkDir::new();
    let environment = [("ANIMAL_STORE_REQUEST_TIMEOUT", "soon")];
    let line = directory.run_with(&["serve"], &environment).await.failure();
    let expected = "expected a setting such as `request_timeout = \"10s\"`";
    assert_eq!(line, format!("error: configuration: ANIMAL_STORE_REQUEST_TIMEOUT: {expected}"));
}

/// Changes a database with one key. Checks that the program rejects it and does not change any file.
async fn rejected_database(change: impl FnOnce(&WorkDir), texts: &[&str]) {
    let directory = WorkDir::new();
    directory.key().await;
    change(&directory);
    let before = directory.files();
    for arguments in [&["serve", "--bind", "127.0.0.1:0"][..], &["key", "create", "other"]] {
        let line = directory.run(arguments).await.failure();
        for text in texts {
            assert!(line.contains(text), "{text} is not in: {line}");
        }
        assert!(directory.files() == before, "a file was changed: {:?}", directory.names());
    }
}

const DATABASE: &str = "animal-store.db";

#[tokio::test]
async fn a_database_of_a_newer_release_is_rejected() {
    let newer = |directory: &WorkDir| {
        let connection = Connection::open(directory.path(DATABASE)).unwrap();
        connection.execute_batch("PRAGMA user_version = 1000").unwrap();
    };
    rejected_database(newer, &[DATABASE, "newer release"]).await;
}

#[tokio::test]
async fn a_database_of_another_program_is_rejected() {
    let foreign = |directory: &WorkDir| {
        std::fs::remove_file(directory.path(DATABASE)).unwrap();
        let connection = Connection::open(directory.path(DATABASE)).unwrap();
        connection.execute_batch("CREATE TABLE animal (id INTEGER)").unwrap();
    };
    rejected_database(foreign, &[DATABASE, "another program"]).await;
}

#[tokio::test]
async fn a_file_that_is_not_a_database_is_rejected() {
    let text = |directory: &WorkDir| {
        directory.write(DATABASE, "not a database, but longer than the header of one".repeat(100));
    };
    rejected_database(text, &[DATABASE, "not an SQLite database"]).await;
}

#[tokio::test]
async fn a_truncated_database_is_rejected() {
    let cut = |directory: &WorkDir| {
        let bytes = std::fs::read(directory.path(DATABASE)).unwrap();
        directory.write(DATABASE, &bytes[..bytes.len() / 2]);
    };
    rejected_database(cut, &[DATABASE, "damaged"]).await;
}

#[tokio::test]
async fn a_database_with_a_damaged_page_is_rejected() {
    let damage = |directory: &WorkDir| {
        let mut bytes = std::fs::read(directory.path(DATABASE)).unwrap();
        let middle = bytes.len() / 2;
        bytes[4096..middle.max(8192)].fill(0xa5);
        directory.write(DATABASE, bytes);
    };
    rejected_database(damage, &[DATABASE, "damaged"]).await;
}

#[tokio::test]
async fn a_port_in_use_is_rejected_and_the_database_is_unchanged() {
    let directory = WorkDir::new();
    directory.key().await;
    let before = directory.files();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let finished = directory.run(&["serve", "--bind", &address]).await;
    let line = finished.failure();
    assert!(line.contains(&address) && line.contains("--bind"), "{line}");
    assert_eq!(directory.files(), before);
}

#[tokio::test]
async fn a_port_in_use_creates_no_database() {
    let directory = WorkDir::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    directory.run(&["serve", "--bind", &address]).await.failure();
    assert_eq!(directory.files(), []);
}

#[tokio::test]
async fn an_operators_port_in_use_is_rejected_and_creates_no_files() {
    let directory = WorkDir::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let line = directory.run(&["serve", "--bind", "127.0.0.1:0", "--ops-bind", &address]).await.failure();
    assert!(line.contains(&address) && line.contains("in use") && line.contains("--ops-bind"), "{line}");
    assert_eq!(directory.files(), []);
}

#[tokio::test]
async fn the_same_port_for_clients_and_operators_is_rejected_and_creates_no_files() {
    let directory = WorkDir::new();
    let free = format!("127.0.0.1:{}", free_port());
    let line = directory.run(&["serve", "--bind", &free, "--ops-bind", &free]).await.failure();
    assert!(line.contains(&free) && line.contains("--ops-bind"), "{line}");
    assert_eq!(directory.files(), []);
}

/// Starts the service with these TLS files. Checks that they are rejected and no file is changed.
async fn rejected_certificate(certificate: &str, key: &str, texts: &[&str]) {
    let directory = WorkDir::new();
    directory.write("certificate.pem", certificate);
    directory.write("key.pem", key);
    directory.write("store.toml", "[tls]\ncertificate = 'certificate.pem'\nprivate_key = 'key.pem'\n");
    let before = directory.files();
    let line = directory.run(&["serve", "--bind", "127.0.0.1:0", "--config", "store.toml"]).await.failure();
    for text in texts {
        assert!(line.contains(text), "{text} is not in: {line}");
    }
    assert!(!line.contains("-----") && !line.contains(key.lines().nth(1).unwrap_or("-----")), "{line}");
    assert!(directory.files() == before, "a file was changed: {:?}", directory.names());
}

#[tokio::test]
async fn a_certificate_that_does_not_match_its_key_is_rejected() {
    let made = || rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (one, other) = (made(), made());
    let (certificate, key) = (one.cert.pem(), other.signing_key.serialize_pem());
    rejected_certificate(&certificate, &key, &["key.pem", "expected the private key of certificate.pem"])
        .await;
    // Certificate and key exchanged.
    rejected_certificate(&key, &certificate, &["certificate.pem", "expected certificates in PEM"]).await;
    rejected_certificate(
        &certificate,
        "nonsense",
        &["key.pem", "expected a private key without a passphrase in PEM"],
    )
    .await;
    for label in
        ["ENCRYPTED PRIVATE KEY", "RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n"]
    {
        let encrypted = format!(
            "-----BEGIN {label}-----\nMIIFHzBJBgkqhkiG9w0BBQ0=\n-----END ENCRYPTED PRIVATE KEY-----\n"
        );
        rejected_certificate(
            &certificate,
            &encrypted,
            &["expected a private key without a passphrase in PEM", "openssl pkey"],
        )
        .await;
    }
    rejected_certificate("", &key, &["certificate.pem", "expected certificates in PEM"]).await;
    let cut = certificate.replace("-----END", "");
    let why = "a section has no end; expected certificates in PEM";
    rejected_certificate(&cut, &key, &["certificate.pem", why]).await;
}

#[tokio::test]
async fn a_missing_certificate_is_rejected() {
    let directory = WorkDir::new();
    directory.write("store.toml", "[tls]\ncertificate = 'no/such.pem'\nprivate_key = 'key.pem'\n");
    let before = directory.files();
    let line = directory.run(&["serve", "--bind", "127.0.0.1:0", "--config", "store.toml"]).await.failure();
    assert!(line.contains("no/such.pem: ") && line.contains("No such file"), "{line}");
    assert_eq!(directory.files(), before);
}

#[tokio::test]
async fn a_read_only_database_file_is_rejected() {
    let directory = WorkDir::new();
    directory.key().await;
    let file = directory.path(DATABASE);
    let mut permissions = std::fs::metadata(&file).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&file, permissions).unwrap();
    let before = directory.files();
    for arguments in [&["serve", "--bind", "127.0.0.1:0"][..], &["key", "create", "other"]] {
        let line = directory.run_changed(arguments, without_privileges).await.failure();
        assert!(line.contains(DATABASE) && line.contains("cannot be read and written"), "{line}");
        assert!(directory.files() == before, "a file was changed: {:?}", directory.names());
    }
}

/// Removes the privileges of root, to which file permissions do not apply.
fn without_privileges(command: &mut Command) {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let plain = command.as_std();
    let mut changed = Command::new("setpriv");
    changed.arg("--bounding-set=-all").arg(plain.get_program()).args(plain.get_args());
    changed.current_dir(plain.get_current_dir().unwrap()).env_clear().kill_on_drop(true);
    changed.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    *command = changed;
}
