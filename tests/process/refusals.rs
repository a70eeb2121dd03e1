//! What the program refuses to start with: an exit status, one line, and nothing changed.

use std::net::TcpListener;
use std::process::Stdio;

use rusqlite::Connection;
use tokio::process::Command;

use crate::program::Place;

/// A test for each: the arguments are refused, and the line on standard error holds these words.
macro_rules! refused {
    ($($name:ident: $arguments:expr => $words:expr;)*) => {$(
        #[tokio::test]
        async fn $name() {
            let place = Place::new();
            let line = place.run(&$arguments).await.failed();
            for words in $words {
                assert!(line.contains(words), "{words} is not in: {line}");
            }
            assert_eq!(place.files(), [], "something was left behind");
        }
    )*};
}

refused! {
    no_command_is_refused: [] as [&str; 0] => ["animal-store --help"];
    an_unknown_command_is_refused: ["sevre"] => ["sevre", "animal-store --help"];
    an_unknown_flag_is_refused: ["serve", "--prot", "80"] => ["--prot"];
    an_address_without_a_port_is_refused: ["serve", "--bind", "127.0.0.1"] => ["--bind", "127.0.0.1"];
    an_address_that_is_a_name_is_refused:
        ["serve", "--bind", "example.org:80"] => ["--bind", "example.org:80", "such as 127.0.0.1:8080"];
    a_port_that_is_too_large_is_refused: ["serve", "--bind", "127.0.0.1:65536"] => ["--bind"];
    a_flag_without_a_value_is_refused: ["serve", "--database"] => ["--database"];
    a_flag_given_twice_is_refused:
        ["serve", "--database", "sqlite:a.db", "--database", "sqlite:b.db"] => ["--database"];
    another_address_of_this_machine_is_refused:
        ["serve", "--bind", "192.0.2.1:8080"] => ["192.0.2.1:8080", "set by --bind", "such as \"127.0.0.1:8080\""];

    a_missing_file_is_refused:
        ["serve", "--config", "missing.toml"] => ["missing.toml cannot be read", "animal-store config"];
    a_directory_is_no_configuration: ["serve", "--config", "."] => ["configuration"];

    a_database_without_a_kind_is_refused: ["serve", "--database", "animals.db"] => ["sqlite:PATH"];
    a_database_without_a_path_is_refused: ["serve", "--database", "sqlite:"] => ["sqlite:PATH"];
    a_database_of_an_unknown_kind_is_refused: ["serve", "--database", "oracle:x"] => ["sqlite:PATH"];
    a_directory_is_no_database: ["serve", "--bind", "127.0.0.1:0", "--database", "sqlite:."] => ["directory"];
    a_database_in_a_directory_that_is_missing_is_refused:
        ["serve", "--bind", "127.0.0.1:0", "--database", "sqlite:no/such/a.db"] => ["no/such/a.db", "directory"];

    a_source_that_is_missing_is_refused:
        ["copy", "--from", "sqlite:missing.db", "--to", "sqlite:to.db"] => ["missing.db does not exist", "--from", "such as sqlite:"];
    a_backup_of_nothing_is_refused: ["backup", "kept.db"] => ["animal-store.db does not exist", "set by the default of --database"];

    a_key_without_a_name_is_refused: ["key", "create"] => ["NAME"];
    a_key_with_an_empty_name_is_refused: ["key", "create", ""] => ["1 to 100 characters"];
    a_key_with_a_line_break_in_its_name_is_refused: ["key", "create", "a\nb"] => ["control characters"];
    a_key_with_an_unreadable_lifetime_is_refused:
        ["key", "create", "x", "--expires-in", "soon"] => ["--expires-in", "such as 90d"];
}

/// A test for each: a configuration file with this content is refused.
macro_rules! refused_files {
    ($($name:ident: $content:expr => $words:expr;)*) => {$(
        #[tokio::test]
        async fn $name() {
            let place = Place::new();
            place.write("store.toml", $content);
            let before = place.files();
            let line = place.run(&["serve", "--config", "store.toml"]).await.failed();
            for words in $words {
                assert!(line.contains(words), "{words} is not in: {line}");
            }
            assert!(place.files() == before, "something was changed: {:?}", place.names());
        }
    )*};
}

refused_files! {
    a_file_that_is_no_toml_is_refused: "bind = 1\n= nonsense" => ["store.toml, line 2", "bind = \"127.0.0.1:8080\""];
    a_file_that_is_no_text_is_refused: &b"\xff\xfe"[..] => ["store.toml"];
    a_misspelt_setting_is_refused: "databse = 'sqlite:x.db'" => ["`databse` in store.toml, line 1", "no such setting; expected one of bind, ops_bind, database"];
    a_setting_of_another_type_is_refused: "write_queue = 'many'" => ["`write_queue` in store.toml, line 1", "many", "such as 4096"];
    a_duration_without_a_unit_is_refused: "request_timeout = '5'" => ["`request_timeout` in store.toml, line 1", "such as \"10s\""];
    a_timeout_of_nothing_is_refused: "request_timeout = '0s'" => ["`request_timeout` in store.toml, line 1", "longer than zero"];
    a_rate_limit_of_nothing_is_refused: "[rate_limit]\nrequests = 0\nperiod = '1s'" => ["`rate_limit.requests` in store.toml, line 2", "from 1"];
    half_a_rate_limit_is_refused: "[rate_limit]\nrequests = 5" => ["`rate_limit.period` in store.toml, line 1", "missing", "such as \"1s\""];
}

#[tokio::test]
async fn a_wrong_setting_in_the_environment_is_refused_and_named() {
    let place = Place::new();
    let environment = [("ANIMAL_STORE_REQUEST_TIMEOUT", "soon")];
    let line = place.run_with(&["serve"], &environment).await.failed();
    assert_eq!(
        line,
        "error: configuration: ANIMAL_STORE_REQUEST_TIMEOUT: found \"soon\", expected a duration longer than \
         zero, such as \"10s\""
    );
}

/// Makes a database with one key in it, changes it, and finds that it is refused and left as it is.
async fn refused_database(change: impl FnOnce(&Place), words: &[&str]) {
    let place = Place::new();
    place.key().await;
    change(&place);
    let before = place.files();
    for arguments in [&["serve", "--bind", "127.0.0.1:0"][..], &["key", "create", "other"]] {
        let line = place.run(arguments).await.failed();
        for words in words {
            assert!(line.contains(words), "{words} is not in: {line}");
        }
        assert!(place.files() == before, "something was changed: {:?}", place.names());
    }
}

const DATABASE: &str = "animal-store.db";

#[tokio::test]
async fn a_database_of_a_newer_release_is_refused() {
    let newer = |place: &Place| {
        let connection = Connection::open(place.path(DATABASE)).unwrap();
        connection.execute_batch("PRAGMA user_version = 1000").unwrap();
    };
    refused_database(newer, &[DATABASE, "newer release"]).await;
}

#[tokio::test]
async fn a_database_of_another_program_is_refused() {
    let foreign = |place: &Place| {
        std::fs::remove_file(place.path(DATABASE)).unwrap();
        let connection = Connection::open(place.path(DATABASE)).unwrap();
        connection.execute_batch("CREATE TABLE animal (id INTEGER)").unwrap();
    };
    refused_database(foreign, &[DATABASE, "another program"]).await;
}

#[tokio::test]
async fn a_file_that_is_not_a_database_is_rejected() {
    let text = |place: &Place| {
        place.write(DATABASE, "not a database, and long enough to be looked at twice".repeat(100));
    };
    refused_database(text, &[DATABASE, "not an SQLite database"]).await;
}

#[tokio::test]
async fn a_database_that_was_cut_short_is_refused() {
    let cut = |place: &Place| {
        let bytes = std::fs::read(place.path(DATABASE)).unwrap();
        place.write(DATABASE, &bytes[..bytes.len() / 2]);
    };
    refused_database(cut, &[DATABASE, "damaged"]).await;
}

#[tokio::test]
async fn a_database_with_a_page_of_nonsense_is_refused() {
    let damage = |place: &Place| {
        let mut bytes = std::fs::read(place.path(DATABASE)).unwrap();
        let middle = bytes.len() / 2;
        bytes[4096..middle.max(8192)].fill(0xa5);
        place.write(DATABASE, bytes);
    };
    refused_database(damage, &[DATABASE, "damaged"]).await;
}

#[tokio::test]
async fn a_port_that_is_taken_is_refused_and_leaves_the_database_as_it_is() {
    let place = Place::new();
    place.key().await;
    let before = place.files();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let ran = place.run(&["serve", "--bind", &address]).await;
    let line = ran.failed();
    assert!(line.contains(&address) && line.contains("--bind"), "{line}");
    assert_eq!(place.files(), before);
}

#[tokio::test]
async fn a_port_that_is_taken_leaves_no_new_database_behind() {
    let place = Place::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    place.run(&["serve", "--bind", &address]).await.failed();
    assert_eq!(place.files(), []);
}

#[tokio::test]
async fn a_port_for_operators_that_is_taken_is_refused_and_leaves_nothing_behind() {
    let place = Place::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let line = place.run(&["serve", "--bind", "127.0.0.1:0", "--ops-bind", &address]).await.failed();
    assert!(line.contains(&address) && line.contains("in use") && line.contains("--ops-bind"), "{line}");
    assert_eq!(place.files(), []);
}

#[tokio::test]
async fn one_port_for_clients_and_operators_is_refused_and_leaves_nothing_behind() {
    let place = Place::new();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let line = place.run(&["serve", "--bind", &free, "--ops-bind", &free]).await.failed();
    assert!(line.contains(&free) && line.contains("--ops-bind"), "{line}");
    assert_eq!(place.files(), []);
}

/// Runs the service with these two files for TLS, and finds that they are refused and nothing is changed.
async fn refused_certificate(certificate: &str, key: &str, words: &[&str]) {
    let place = Place::new();
    place.write("certificate.pem", certificate);
    place.write("key.pem", key);
    place.write("store.toml", "[tls]\ncertificate = 'certificate.pem'\nprivate_key = 'key.pem'\n");
    let before = place.files();
    let line = place.run(&["serve", "--bind", "127.0.0.1:0", "--config", "store.toml"]).await.failed();
    for words in words {
        assert!(line.contains(words), "{words} is not in: {line}");
    }
    assert!(!line.contains("-----") && !line.contains(key.lines().nth(1).unwrap_or("-----")), "{line}");
    assert!(place.files() == before, "something was changed: {:?}", place.names());
}

#[tokio::test]
async fn a_certificate_that_does_not_match_its_key_is_refused() {
    let made = || rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (one, other) = (made(), made());
    let (certificate, key) = (one.cert.pem(), other.signing_key.serialize_pem());
    refused_certificate(&certificate, &key, &["key.pem", "does not belong to certificate.pem"]).await;
    // The two confused.
    refused_certificate(&key, &certificate, &["certificate.pem", "no certificate in PEM"]).await;
    refused_certificate(&certificate, "nonsense", &["key.pem", "no private key in PEM"]).await;
    refused_certificate("", &key, &["certificate.pem", "no certificate in PEM"]).await;
}

#[tokio::test]
async fn a_certificate_that_is_not_there_is_refused() {
    let place = Place::new();
    place.write("store.toml", "[tls]\ncertificate = 'no/such.pem'\nprivate_key = 'key.pem'\n");
    let before = place.files();
    let line = place.run(&["serve", "--bind", "127.0.0.1:0", "--config", "store.toml"]).await.failed();
    assert!(line.contains("no/such.pem: cannot be read"), "{line}");
    assert_eq!(place.files(), before);
}

#[tokio::test]
async fn a_database_that_may_only_be_read_is_refused() {
    let place = Place::new();
    place.key().await;
    let file = place.path(DATABASE);
    let mut permissions = std::fs::metadata(&file).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&file, permissions).unwrap();
    let before = place.files();
    for arguments in [&["serve", "--bind", "127.0.0.1:0"][..], &["key", "create", "other"]] {
        let line = place.run_changed(arguments, without_privileges).await.failed();
        assert!(line.contains(DATABASE) && line.contains("cannot be read and written"), "{line}");
        assert!(place.files() == before, "something was changed: {:?}", place.names());
    }
}

/// Permissions mean nothing to the superuser, so that its privileges are taken from it.
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
