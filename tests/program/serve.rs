//! `animal-store serve`: output, log, and sources of settings.

use std::process::Stdio;

use serde_json::{Value, json};

use kit::postgres;
use kit::program::WorkDir;
use kit::recorder::contract::Contract;

#[tokio::test]
async fn it_prints_one_line_and_is_ready_then() {
    let directory = WorkDir::new();
    let key = directory.key().await;
    let mut service = directory.serve(&[]).await;
    service.get(&key, "/v1/pets").await.expect(200);
    service.signal(rustix::process::Signal::TERM);
    assert_eq!(service.rest_of_stdout().await, [""; 0]);
    assert_eq!(service.exit().await.0, Some(0));
}

#[tokio::test]
async fn a_start_without_a_valid_key_says_how_to_create_one() {
    let directory = WorkDir::new();
    let hint = "there is no valid API key; create one with `animal-store key create NAME`";
    for is_expected in [true, false] {
        let service = directory.serve(&[]).await;
        service.wait_for_log("ready").await;
        assert_eq!(service.log().contains(hint), is_expected, "{}", service.log());
        service.stop().await;
        directory.key().await;
    }
}

#[tokio::test]
async fn the_start_is_logged_with_version_address_and_database() {
    let directory = WorkDir::new();
    let mut service = directory.serve(&["--ops-bind", "127.0.0.1:0"]).await;
    let ops = service.ops_address().await;
    service.signal(rustix::process::Signal::TERM);
    service.exit().await;
    let log = service.log();
    let api_version = Contract::get().document["info"]["version"].as_str().unwrap();
    let ready = format!(
        " INFO  ready version={} api={api_version} address=http://{}/v1 database=sqlite:animal-store.db operators={ops}",
        env!("CARGO_PKG_VERSION"),
        service.direct
    );
    assert!(log.lines().any(|line| line.ends_with(&ready)), "{ready} is not in:\n{log}");
    assert!(log.lines().last().unwrap().ends_with(" INFO  stopped"), "{log}");
}

#[tokio::test]
async fn the_start_is_logged_without_the_password_of_the_database() {
    let Some(cluster) = postgres::shared() else { return };
    let name = cluster.database("").await;
    let url = cluster.url(&name).replace("postgres@", "postgres:sesame@");
    let directory = WorkDir::new();
    let config = directory.write("store.toml", "[log]\nformat = 'json'\n");
    let mut service = directory.serve(&["--database", &url, "--config", config.to_str().unwrap()]).await;
    service.signal(rustix::process::Signal::TERM);
    service.exit().await;
    let log = service.log();
    let records: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let ready = records.iter().find(|record| record["body"] == "ready").expect(&log);
    assert_eq!(ready["service.version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(ready["animal_store.api_version"], Contract::get().document["info"]["version"]);
    assert_eq!(ready["url.full"], format!("http://{}/v1", service.direct));
    let database = ready["animal_store.database"].as_str().unwrap();
    assert!(database.starts_with("postgres://postgres@") && database.contains(&name), "{database}");
    assert!(!log.contains("sesame"), "{log}");
    // It is on the command line, which the service and other commands report.
    assert!(log.contains("--database: every user of this machine can read the password"), "{log}");
    let stderr = directory.run(&["key", "list", "--database", &url]).await.stderr;
    let warning = "warning: --database: every user of this machine can read the password";
    assert!(stderr.lines().count() == 1 && stderr.starts_with(warning), "{stderr}");
}

#[tokio::test]
async fn a_new_database_is_logged_once() {
    let directory = WorkDir::new();
    for expected in [1, 0] {
        let mut service = directory.serve(&["--database", "sqlite:new.db"]).await;
        service.signal(rustix::process::Signal::TERM);
        service.exit().await;
        let log = service.log();
        let line = |line: &&str| {
            line.contains(" WARN  created a new database file=")
                && line.contains("new.db")
                && line.ends_with("source=--database")
        };
        assert_eq!(log.lines().filter(line).count(), expected, "{log}");
    }
}

#[tokio::test]
async fn it_logs_each_response_with_its_request_id_and_key_identifier() {
    let directory = WorkDir::new();
    let key = directory.key().await;
    let list = directory.run(&["key", "list"]).await.success();
    let id = list.lines().nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    let mut service = directory.serve(&[]).await;
    let response = service.get(&key, "/v1/pets").await;
    let request_id = response.header("x-request-id").unwrap();
    service.signal(rustix::process::Signal::TERM);
    service.exit().await;
    let log = service.log();
    assert!(log.lines().any(|line| line.contains(request_id) && line.contains(&id)), "{log}");
}

#[tokio::test]
async fn a_key_in_a_path_or_a_query_is_not_logged() {
    let directory = WorkDir::new();
    let key = directory.key().await;
    let config = directory.write("store.toml", "[log]\nlevel = 'trace'\n");
    let mut service = directory.serve(&["--config", config.to_str().unwrap()]).await;
    for target in [format!("/v1/{key}"), format!("/v1/pets?{key}"), format!("/v1/pets/{key}")] {
        assert!((400..500).contains(&service.get(&key, &target).await.status));
    }
    service.get(&format!("{key}x"), "/v1/pets").await.expect_error(401, "unauthorized");
    service.signal(rustix::process::Signal::TERM);
    service.exit().await;
    // `Program` checks at the end of every test that the log contains no key; here the log must not be empty.
    assert!(service.log().lines().count() > 4, "{}", service.log());
}

#[tokio::test]
async fn a_json_log_has_one_object_per_line() {
    let directory = WorkDir::new();
    let key = directory.key().await;
    let config = directory.write("store.toml", "[log]\nformat = 'json'\n");
    let mut service = directory.serve(&["--config", config.to_str().unwrap()]).await;
    service.get(&key, "/v1/pets").await.expect(200);
    service.signal(rustix::process::Signal::TERM);
    service.exit().await;
    let log = service.log();
    let records: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    assert!(
        records
            .iter()
            .any(|record| record["body"] == "response" && record["http.response.status_code"] == 200),
        "{log}"
    );
}

#[tokio::test]
async fn the_database_can_be_named_by_flag_environment_and_file() {
    let directory = WorkDir::new();
    let config = directory.write("store.toml", "database = 'sqlite:file.db'\n");
    let config = config.to_str().unwrap();
    directory.serve(&["--config", config]).await.stop().await;
    assert!(directory.path("file.db").exists());

    let environment = |command: &mut tokio::process::Command| {
        command.env("ANIMAL_STORE_DATABASE", "sqlite:environment.db");
    };
    directory.serve_with(&["--config", config], environment).await.stop().await;
    assert!(directory.path("environment.db").exists());

    directory
        .serve_with(&["--config", config, "--database", "sqlite:flag.db"], environment)
        .await
        .stop()
        .await;
    assert!(directory.path("flag.db").exists());
}

#[tokio::test]
async fn the_rate_limit_of_the_file_is_enforced() {
    let directory = WorkDir::new();
    let key = directory.key().await;
    let config = directory.write("store.toml", "[rate_limit]\nrequests = 2\nperiod = '1h'\n");
    let service = directory.serve(&["--config", config.to_str().unwrap()]).await;
    service.get(&key, "/v1/pets").await.expect(200);
    service.get(&key, "/v1/pets").await.expect(200);
    service.get(&key, "/v1/pets").await.expect_error(429, "rate_limited");
}

#[tokio::test]
async fn it_serves_with_closed_output() {
    let directory = WorkDir::new();
    let key = directory.key().await;
    let mut service = directory
        .serve_with(&[], |command| {
            command.stderr(Stdio::null());
        })
        .await;
    service.close_stdout();
    service.post(&key, &json!({ "name": "Rex", "categoryId": 3 })).await.expect(201);
    service.stop().await;
}

#[tokio::test]
async fn version_is_printed() {
    let directory = WorkDir::new();
    let api_version = Contract::get().document["info"]["version"].as_str().unwrap();
    let version = env!("CARGO_PKG_VERSION");
    let printed = directory.run(&["--version"]).await.success();
    assert_eq!(printed, format!("animal-store {version}, API {api_version}\n"));
    let changes = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/CHANGELOG.md")).unwrap();
    assert!(changes.contains(&format!("\n## {version} ")), "src/CHANGELOG.md has no entry for {version}");
}

/// The help of a command, with every flag described.
async fn help(directory: &WorkDir, command: &[&str]) -> String {
    let help = directory.run(&[command, &["--help"]].concat()).await.success();
    let usage = format!("Usage: animal-store {}", command.join(" "));
    assert!(help.contains(usage.trim_end()), "{help}");
    let lines: Vec<_> = help.lines().map(str::trim).collect();
    for (index, line) in lines.iter().enumerate() {
        if line.starts_with('-') {
            let described = line.contains("  ") || lines.get(index + 1).is_some_and(|next| !next.is_empty());
            assert!(described, "{line} has no description in:\n{help}");
        }
    }
    help
}

#[tokio::test]
async fn every_command_has_a_complete_help() {
    let directory = WorkDir::new();
    for (command, words) in [
        (&[][..], &["serve ", "config ", "key ", "copy ", "backup ", "ANIMAL_STORE_", "postgres://"][..]),
        (&["serve"], &["--bind", "--ops-bind", "--database", "--config", "127.0.0.1:8080", "ANIMAL_STORE_"]),
        (&["config"], &["--database", "--config", "ANIMAL_STORE_"]),
        (&["key"], &["create ", "list ", "rotate ", "revoke "]),
        (&["key", "create"], &["<NAME>", "--expires-in", "90d", "--database", "--config"]),
        (&["key", "list"], &["--database", "--config"]),
        (&["key", "rotate"], &["<KEY>", "--overlap", "24h", "--expires-in", "90d", "--database", "--config"]),
        (&["key", "revoke"], &["<KEY>", "--database", "--config"]),
        (&["copy"], &["--from", "--to", "--config"]),
        (&["backup"], &["<FILE>", "--database", "--config"]),
    ] {
        let help = help(&directory, command).await;
        for words in words {
            assert!(help.contains(words), "{words} is not in:\n{help}");
        }
    }
    assert_eq!(directory.files(), []);
}
