//! What the program refuses to start with: an exit status, one line, and nothing changed.

use std::net::TcpListener;

use rusqlite::Connection;

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
    an_address_that_is_a_name_is_refused: ["serve", "--bind", "localhost:80"] => ["--bind", "localhost:80"];
    a_port_that_is_too_large_is_refused: ["serve", "--bind", "127.0.0.1:65536"] => ["--bind"];
    a_flag_without_a_value_is_refused: ["serve", "--database"] => ["--database"];
    a_flag_given_twice_is_refused:
        ["serve", "--database", "sqlite:a.db", "--database", "sqlite:b.db"] => ["--database"];
    another_address_of_this_machine_is_refused:
        ["serve", "--bind", "192.0.2.1:8080"] => ["192.0.2.1:8080", "--bind"];

    a_missing_file_is_refused: ["serve", "--config", "missing.toml"] => ["missing.toml"];
    a_directory_is_no_configuration: ["serve", "--config", "."] => ["configuration"];

    a_database_without_a_kind_is_refused: ["serve", "--database", "animals.db"] => ["sqlite:PATH"];
    a_database_without_a_path_is_refused: ["serve", "--database", "sqlite:"] => ["sqlite:PATH"];
    a_database_of_an_unknown_kind_is_refused: ["serve", "--database", "oracle:x"] => ["sqlite:PATH"];
    a_directory_is_no_database: ["serve", "--bind", "127.0.0.1:0", "--database", "sqlite:."] => ["directory"];
    a_database_in_a_directory_that_is_missing_is_refused:
        ["serve", "--bind", "127.0.0.1:0", "--database", "sqlite:no/such/a.db"] => ["no/such/a.db", "directory"];

    a_key_without_a_name_is_refused: ["key", "create"] => ["NAME"];
    a_key_with_an_empty_name_is_refused: ["key", "create", ""] => ["1 to 100 characters"];
    a_key_with_a_line_break_in_its_name_is_refused: ["key", "create", "a\nb"] => ["control characters"];
    a_key_with_an_unreadable_lifetime_is_refused:
        ["key", "create", "x", "--expires-in", "soon"] => ["--expires-in", "90d"];
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
            assert_eq!(place.files(), before, "something was changed");
        }
    )*};
}

refused_files! {
    a_file_that_is_no_toml_is_refused: "= nonsense" => ["store.toml"];
    a_file_that_is_no_text_is_refused: &b"\xff\xfe"[..] => ["store.toml"];
    a_misspelt_setting_is_refused: "databse = 'sqlite:x.db'" => ["store.toml", "databse"];
    a_setting_of_another_type_is_refused: "write_queue = 'many'" => ["store.toml", "write_queue"];
    a_duration_without_a_unit_is_refused: "request_timeout = '5'" => ["store.toml", "request_timeout"];
    a_timeout_of_nothing_is_refused: "request_timeout = '0s'" => ["request_timeout"];
    a_rate_limit_of_nothing_is_refused: "[rate_limit]\nrequests = 0\nperiod = '1s'" => ["rate_limit.requests"];
    half_a_rate_limit_is_refused: "[rate_limit]\nrequests = 5" => ["period"];
}

#[tokio::test]
async fn a_wrong_setting_in_the_environment_is_refused_and_named() {
    let place = Place::new();
    let environment = [("ANIMAL_STORE_REQUEST_TIMEOUT", "soon")];
    let line = place.run_with(&["serve"], &environment).await.failed();
    assert!(line.contains("request_timeout"), "{line}");
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
        assert_eq!(place.files(), before, "something was changed");
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
async fn a_file_that_is_no_database_is_refused() {
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
