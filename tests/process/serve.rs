//! `animal-store serve`: output, log, and sources of settings.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::program::WorkDir;
use crate::recorder::contract::Contract;

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
async fn it_logs_to_standard_error() {
    let directory = WorkDir::new();
    let mut service = directory.serve(&[]).await;
    let port = service.direct.port().to_string();
    service.signal(rustix::process::Signal::TERM);
    service.exit().await;
    let log = service.log();
    let ready = log.lines().find(|line| line.contains("ready")).expect(&log);
    assert!(ready.contains("INFO") && ready.contains(&port), "{ready}");
    assert!(log.lines().last().unwrap().contains("stopped"), "{log}");
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
    assert!(records.iter().any(|record| record["msg"] == "answered" && record["status"] == 200), "{log}");
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
async fn an_unread_log_does_not_delay_requests() {
    let directory = WorkDir::new();
    let key = directory.key().await;
    // These responses fill the pipe (64 KiB) several times.
    let mut service = directory.serve_with(&[], |_| {}).await;
    service.stop_reading_the_log();
    for _ in 0..1500 {
        service.get(&key, "/v1/pets").await.expect(200);
    }
    service.signal(rustix::process::Signal::TERM);
    assert_eq!(service.exit().await.0, Some(0));
}

#[tokio::test]
async fn help_and_version_are_printed() {
    let directory = WorkDir::new();
    let help = directory.run(&["--help"]).await.success();
    assert!(help.contains("serve") && help.contains("key"), "{help}");
    let version = Contract::get().document["info"]["version"].as_str().unwrap();
    assert_eq!(directory.run(&["--version"]).await.success(), format!("animal-store {version}\n"));
}
