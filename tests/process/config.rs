//! `animal-store config`: prints every setting with its source, and no secret.

use crate::program::WorkDir;

/// Returns the value and the source of a setting in the output.
fn setting(page: &str, name: &str) -> (String, String) {
    let lines: Vec<_> = page.lines().filter(|line| line.starts_with(&format!("{name} = "))).collect();
    assert_eq!(lines.len(), 1, "{name} is not once in:\n{page}");
    let (value, source) = lines[0].split_once('#').expect("a source");
    let value = value.trim_end().strip_prefix(&format!("{name} = ")).unwrap();
    (value.to_owned(), source.trim().to_owned())
}

#[tokio::test]
async fn without_configuration_all_settings_are_defaults() {
    let directory = WorkDir::new();
    let page = directory.run(&["config"]).await.success();
    for (name, value) in [
        ("bind", r#""127.0.0.1:8080""#),
        ("database", r#""sqlite:animal-store.db""#),
        ("request_timeout", r#""10s""#),
        ("shutdown_grace", r#""8s""#),
        ("lock_timeout", r#""2s""#),
        ("write_queue", "4096"),
        ("postgres.readers", "8"),
        ("postgres.writers", "4"),
        ("postgres.connect_timeout", r#""2s""#),
        ("postgres.statement_timeout", r#""3s 500ms""#),
        ("log.level", r#""info""#),
        ("log.format", r#""text""#),
        ("log.one_in", "1"),
    ] {
        assert_eq!(setting(&page, name), (value.to_owned(), "default".to_owned()));
    }
    assert_eq!(page.lines().count(), 13, "{page}");
    assert_eq!(directory.files(), [], "the command created a file");
}

#[tokio::test]
async fn flags_override_the_environment_overrides_the_file_overrides_defaults() {
    let directory = WorkDir::new();
    let file = "bind = '127.0.0.1:1'\ndatabase = 'sqlite:file.db'\nwrite_queue = 1\nlock_timeout = '1s'\n\
                request_timeout = '1m 30s'\n[log]\nlevel = 'debug'\none_in = 7\n";
    directory.write("store.toml", file);
    let environment = [
        ("ANIMAL_STORE_BIND", "127.0.0.1:2"),
        ("ANIMAL_STORE_DATABASE", "sqlite:environment.db"),
        ("ANIMAL_STORE_WRITE_QUEUE", "2"),
        ("ANIMAL_STORE_LOG__LEVEL", "warning"),
    ];
    let arguments = ["config", "--config", "store.toml", "--database", "sqlite:flag.db"];
    let page = directory.run_with(&arguments, &environment).await.success();
    for (name, value, source) in [
        ("database", r#""sqlite:flag.db""#, "flag"),
        ("bind", r#""127.0.0.1:2""#, "environment"),
        ("write_queue", "2", "environment"),
        ("log.level", r#""warning""#, "environment"),
        ("lock_timeout", r#""1s""#, "store.toml"),
        ("request_timeout", r#""1m 30s""#, "store.toml"),
        ("log.one_in", "7", "store.toml"),
        ("shutdown_grace", r#""8s""#, "default"),
        ("log.format", r#""text""#, "default"),
    ] {
        let (shown, from) = setting(&page, name);
        assert_eq!(shown, value, "{page}");
        assert!(from.ends_with(source), "{name} from {from}");
    }
}

#[tokio::test]
async fn the_output_is_a_valid_configuration_file() {
    let directory = WorkDir::new();
    let file = "ops_bind = 9090\n[rate_limit]\nrequests = 5\nperiod = '2s'\n\
                [tls]\ncertificate = 'a.pem'\nprivate_key = 'b.pem'\n";
    directory.write("store.toml", file);
    let page = directory.run(&["config", "--config", "store.toml"]).await.success();
    assert_eq!(setting(&page, "ops_bind").0, r#""127.0.0.1:9090""#);
    directory.write("again.toml", &page);
    let again = directory.run(&["config", "--config", "again.toml"]).await.success();
    let values = |page: &str| -> Vec<String> {
        page.lines().map(|line| line.split('#').next().unwrap().trim_end().to_owned()).collect()
    };
    assert_eq!(values(&again), values(&page));
    assert!(again.lines().all(|line| line.ends_with("again.toml")), "{again}");
}

#[tokio::test]
async fn passwords_are_never_shown() {
    let directory = WorkDir::new();
    let url = "postgres://animals:sesame@db.example:5432,db2.example/store?password=sesame&sslmode=require";
    let environment = [("ANIMAL_STORE_DATABASE", url)];
    directory.write("store.toml", format!("database = '{url}'\n"));
    for (arguments, environment) in [
        (&["config", "--database", url][..], &[][..]),
        (&["config"], &environment),
        (&["config", "--config", "store.toml"], &[]),
    ] {
        let page = directory.run_with(arguments, environment).await.success();
        assert_eq!(setting(&page, "database").0, r#""postgres://animals@db.example:5432,db2.example/store""#);
        assert!(!page.contains("sesame"), "{page}");
    }
}

#[tokio::test]
async fn errors_name_the_setting_and_its_source() {
    let directory = WorkDir::new();
    directory.write("store.toml", "write_queue = 0\n");
    for (arguments, environment, words) in [
        (
            &["config", "--config", "store.toml"][..],
            &[][..],
            &["`write_queue` in store.toml, line 1", "1 to 1000000"][..],
        ),
        (
            &["config"],
            &[("ANIMAL_STORE_LOG__LEVEL", "loud")],
            &["ANIMAL_STORE_LOG__LEVEL", "loud", "\"info\""],
        ),
        (
            &["config"],
            &[("ANIMAL_STORE_DATABSE", "x")],
            &[
                "configuration: ANIMAL_STORE_DATABSE: no such setting; expected one of bind, ops_bind, database",
            ],
        ),
        (
            &["config"],
            &[("ANIMAL_STORE_TLS__CERTIFICATE", "x")],
            &["ANIMAL_STORE_TLS__PRIVATE_KEY: missing, expected a private key in PEM"],
        ),
        (&["config"], &[("ANIMAL_STORE_BIND", "localhost")], &["ANIMAL_STORE_BIND", "such as 8080"]),
    ] {
        let line = directory.run_with(arguments, environment).await.failure();
        for words in words {
            assert!(line.contains(words), "{words} is not in: {line}");
        }
    }
}
