//! `animal-store config`: prints every setting with its source, and no secret.

use tokio::process::Command;

use kit::program::WorkDir;

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
        ("postgres.connect_timeout", r#""2s""#),
        ("postgres.statement_timeout", r#""3s 500ms""#),
        ("log.level", r#""info""#),
        ("log.format", r#""text""#),
        ("shutdown_delay", r#""0s""#),
        ("connections.header_timeout", r#""10s""#),
        ("connections.idle_timeout", r#""1m""#),
        ("connections.send_timeout", r#""30s""#),
        ("connections.max", "512"),
        ("connections.max_requests", "1024"),
        ("connections.max_age", r#""1h""#),
    ] {
        assert_eq!(setting(&page, name), (value.to_owned(), format!("the default of `{name}`")));
    }
    let (set, not_set): (Vec<_>, Vec<_>) = page.lines().partition(|line| !line.starts_with("# "));
    assert!(set.iter().all(|line| line.contains("# the default of `")), "{page}");
    assert!(not_set.iter().all(|line| line.ends_with("# not set; an example")), "{page}");
    for name in ["ops_bind", "database_file", "rate_limit.requests", "tls.private_key"] {
        assert!(not_set.iter().any(|line| line.starts_with(&format!("# {name} = "))), "{name}: {page}");
    }
    assert_eq!(directory.files(), [], "the command created a file");
}

#[tokio::test]
async fn flags_override_the_environment_overrides_the_file_overrides_defaults() {
    let directory = WorkDir::new();
    let file = "bind = '127.0.0.1:1'\ndatabase = 'sqlite:file.db'\nwrite_queue = 1\nlock_timeout = '1s'\n\
                request_timeout = '1m 30s'\n[log]\nlevel = 'debug'\n[postgres]\nreaders = 7\n";
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
        ("database", r#""sqlite:flag.db""#, "--database"),
        ("bind", r#""127.0.0.1:2""#, "ANIMAL_STORE_BIND"),
        ("write_queue", "2", "ANIMAL_STORE_WRITE_QUEUE"),
        ("log.level", r#""warning""#, "ANIMAL_STORE_LOG__LEVEL"),
        ("lock_timeout", r#""1s""#, "`lock_timeout` in store.toml"),
        ("request_timeout", r#""1m 30s""#, "`request_timeout` in store.toml"),
        ("postgres.readers", "7", "`postgres.readers` in store.toml"),
        ("shutdown_grace", r#""8s""#, "the default of `shutdown_grace`"),
        ("log.format", r#""text""#, "the default of `log.format`"),
    ] {
        assert_eq!(setting(&page, name), (value.to_owned(), source.to_owned()), "{page}");
    }
}

#[tokio::test]
async fn the_output_is_a_valid_configuration_file() {
    let directory = WorkDir::new();
    let file = "ops_bind = '127.0.0.1:9090'\n[rate_limit]\nrequests = 5\nperiod = '2s'\n\
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
    assert!(
        again.lines().filter(|line| !line.starts_with("# ")).all(|line| line.ends_with("again.toml")),
        "{again}"
    );
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
        let finished = directory.run_with(arguments, environment).await;
        let page = finished.stdout;
        assert!(finished.code == Some(0) && !finished.stderr.contains("sesame"), "{}", finished.stderr);
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
            &["`write_queue` in store.toml", "1 to 1000000"][..],
        ),
        (
            &["config"],
            &[("ANIMAL_STORE_LOG__LEVEL", "loud")],
            &["ANIMAL_STORE_LOG__LEVEL", "error, warning, info, "],
        ),
        (
            &["config"],
            &[("ANIMAL_STORE_DATABSE", "x")],
            &["configuration: ANIMAL_STORE_DATABSE: no such setting; expected one of bind, ops_bind, "],
        ),
        (
            &["config"],
            &[("ANIMAL_STORE_LOG_LEVEL", "debug")],
            &["ANIMAL_STORE_LOG_LEVEL: no such setting; expected one of bind, ops_bind, "],
        ),
        (
            &["config"],
            &[("ANIMAL_STORE_TLS__CERTIFICATE", "x")],
            &[
                "ANIMAL_STORE_TLS__PRIVATE_KEY: missing; expected a setting such as `tls.private_key = \"key.pem\"`",
            ],
        ),
        (
            &["config"],
            &[("ANIMAL_STORE_BIND", "localhost")],
            &["ANIMAL_STORE_BIND", "such as `bind = \"127.0.0.1:8080\"`"],
        ),
    ] {
        let line = directory.run_with(arguments, environment).await.failure();
        for words in words {
            assert!(line.contains(words), "{words} is not in: {line}");
        }
    }
}

/// What Kubernetes injects for the Services `animal-store` and `animal-store-ops`.
const INJECTED: [(&str, &str); 11] = [
    ("ANIMAL_STORE_PORT", "tcp://10.0.0.11:8080"),
    ("ANIMAL_STORE_PORT_8080_TCP", "tcp://10.0.0.11:8080"),
    ("ANIMAL_STORE_PORT_8080_TCP_ADDR", "10.0.0.11"),
    ("ANIMAL_STORE_PORT_8080_TCP_PORT", "8080"),
    ("ANIMAL_STORE_PORT_8080_TCP_PROTO", "tcp"),
    ("ANIMAL_STORE_SERVICE_HOST", "10.0.0.11"),
    ("ANIMAL_STORE_SERVICE_PORT", "8080"),
    ("ANIMAL_STORE_SERVICE_PORT_HTTP", "8080"),
    ("ANIMAL_STORE_OPS_PORT", "tcp://10.0.0.12:9090"),
    ("ANIMAL_STORE_OPS_PORT_9090_TCP_ADDR", "10.0.0.12"),
    ("ANIMAL_STORE_OPS_SERVICE_HOST", "10.0.0.12"),
];

#[tokio::test]
async fn variables_of_a_kubernetes_service_are_ignored() {
    let directory = WorkDir::new();
    let finished = directory.run_with(&["config"], &INJECTED).await;
    assert_eq!((finished.code, &*finished.stderr), (Some(0), ""));
    assert!(finished.stdout.lines().all(|line| !line.contains("ANIMAL_STORE")), "{}", finished.stdout);

    let inject = |command: &mut Command| {
        command.envs(INJECTED);
    };
    let service = directory.serve_with(&[], inject).await;
    service.stop().await;

    // Mistakes of an operator, not variables of Kubernetes.
    for (name, value) in [("ANIMAL_STORE_PORT", "8080"), ("ANIMAL_STORE_SUPPORT", "1")] {
        let line = directory.run_with(&["config"], &[(name, value)]).await.failure();
        assert!(line.contains(&format!("{name}: no such setting")), "{line}");
    }
}

#[tokio::test]
async fn the_url_of_the_database_can_come_from_a_file() {
    let directory = WorkDir::new();
    directory.write("url", "sqlite:from-file.db\n");
    directory.set_mode("url", 0o600);
    directory.write("store.toml", "database_file = 'url'\n");
    let environment = [("ANIMAL_STORE_DATABASE_FILE", "url")];
    for (arguments, environment, source) in [
        (&["--database-file", "url"][..], &[][..], "--database-file"),
        (&[], &environment, "ANIMAL_STORE_DATABASE_FILE"),
        (&["--config", "store.toml"], &[], "`database_file` in store.toml"),
    ] {
        let page = directory.run_with(&[&["config"], arguments].concat(), environment).await.success();
        assert_eq!(setting(&page, "database_file"), (r#""url""#.to_owned(), source.to_owned()));
        assert!(!page.lines().any(|line| line.starts_with("database = ")), "{page}");
        directory.write("again.toml", &page);
        directory.run(&["config", "--config", "again.toml"]).await.success();
        directory.run_with(&[&["key", "create", "one"], arguments].concat(), environment).await.success();
        assert!(directory.path("from-file.db").exists());
        std::fs::remove_file(directory.path("from-file.db")).unwrap();
    }
}

#[tokio::test]
async fn the_strongest_source_of_the_url_or_its_file_counts() {
    let directory = WorkDir::new();
    directory.write("url", "sqlite:url.db");
    directory.set_mode("url", 0o600);
    directory.write("url.toml", "database = 'sqlite:toml.db'\n");
    directory.write("file.toml", "database_file = 'url'\n");
    let (url, file) = (("ANIMAL_STORE_DATABASE", "sqlite:env.db"), ("ANIMAL_STORE_DATABASE_FILE", "url"));
    for (arguments, environment, expected) in [
        (&["--config", "url.toml"][..], &[file][..], None),
        (&["--config", "file.toml"], &[url], Some("sqlite:env.db")),
        (&["--database", "sqlite:flag.db"], &[file], Some("sqlite:flag.db")),
        (&["--database-file", "url"], &[url], None),
        (&["--config", "file.toml", "--database", "sqlite:flag.db"], &[], Some("sqlite:flag.db")),
    ] {
        let page = directory.run_with(&[&["config"], arguments].concat(), environment).await.success();
        match expected {
            Some(expected) => assert_eq!(setting(&page, "database").0, format!("\"{expected}\"")),
            None => assert_eq!(setting(&page, "database_file").0, r#""url""#),
        }
    }
    directory.write("both.toml", "database = 'sqlite:a.db'\ndatabase_file = 'url'\n");
    for (arguments, environment, words) in [
        (
            &["--config", "both.toml"][..],
            &[][..],
            &["`database_file` in both.toml: not allowed together with `database` in both.toml"][..],
        ),
        (
            &[],
            &[url, file],
            &["ANIMAL_STORE_DATABASE_FILE", "together with ANIMAL_STORE_DATABASE; give one of them"],
        ),
        (&["--database", "x", "--database-file", "y"], &[], &["--database", "--database-file"]),
    ] {
        let line = directory.run_with(&[&["config"], arguments].concat(), environment).await.failure();
        for words in words {
            assert!(line.contains(words), "{words} is not in: {line}");
        }
    }
}

#[tokio::test]
async fn an_unusable_database_file_is_named_with_its_source() {
    let directory = WorkDir::new();
    directory.write("empty", "\n");
    directory.write("wrong", "postgress://u:sesame@h/d\n");
    for (path, words) in
        [("missing", "missing cannot be read"), (".", "cannot be read"), ("empty", "empty is empty")]
    {
        let line = directory.run(&["serve", "--database-file", path]).await.failure();
        assert!(line.ends_with("(set by --database-file)") && line.contains(words), "{line}");
    }
    let line = directory.run(&["serve", "--database-file", "wrong"]).await.failure();
    assert!(line.contains("--database-file: expected sqlite:PATH") && !line.contains("sesame"), "{line}");
}

#[tokio::test]
async fn files_with_secrets_that_every_user_can_read_are_warned_about() {
    let directory = WorkDir::new();
    directory.write("url", "sqlite:a.db");
    directory.write("a.db", "");
    directory.write("key.pem", "");
    directory.write("store.toml", "[tls]\ncertificate = 'certificate.pem'\nprivate_key = 'key.pem'\n");
    let arguments = ["config", "--config", "store.toml", "--database-file", "url"];
    for (mode, warned) in [(0o604, 3), (0o640, 0)] {
        for name in ["url", "a.db", "key.pem"] {
            directory.set_mode(name, mode);
        }
        let finished = directory.run(&arguments).await;
        assert_eq!(finished.stderr.lines().count(), warned, "{}", finished.stderr);
        assert_eq!(finished.stderr.matches("chmod o-rwx").count(), warned, "{}", finished.stderr);
    }
}

#[tokio::test]
async fn what_would_change_a_terminal_is_escaped_and_read_again() {
    let directory = WorkDir::new();
    let config = "bind = '127.0.0.1:8081'\ntls = { certificate = \"\\u007F\\u009b\u{202e}.pem\", private_key = \"key.pem\" }\n";
    directory.write("a\n\u{1b}[2K\u{202e}.toml", config);
    let page = directory.run(&["config", "--config", "a\n\u{1b}[2K\u{202e}.toml"]).await.success();
    assert_eq!(setting(&page, "bind").1, "`bind` in a\\u000a\\u001b[2K\\u202e.toml");
    assert_eq!(setting(&page, "tls.certificate").0, r#""\u007f\u009b\u202e.pem""#);
    directory.write("again.toml", &page);
    let again = directory.run(&["config", "--config", "again.toml"]).await.success();
    assert_eq!(setting(&again, "tls.certificate").0, r#""\u007f\u009b\u202e.pem""#);
}
