//! `animal-store serve`: what it prints, and where its settings come from.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::program::Place;
use crate::recorder::contract::Contract;

#[tokio::test]
async fn it_prints_one_line_when_it_is_ready_and_answers_from_then_on() {
    let place = Place::new();
    let key = place.key().await;
    let mut service = place.serve(&[]).await;
    service.get(&key, "/v1/pets").await.expect(200);
    service.signal(rustix::process::Signal::TERM);
    assert_eq!(service.printed().await, [""; 0]);
    assert_eq!(service.exit().await.0, Some(0));
}

#[tokio::test]
async fn it_logs_to_standard_error() {
    let place = Place::new();
    let mut service = place.serve(&[]).await;
    let port = service.direct.port().to_string();
    service.signal(rustix::process::Signal::TERM);
    service.exit().await;
    let log = service.log();
    let ready = log.lines().find(|line| line.contains("ready")).expect(&log);
    assert!(ready.contains("INFO") && ready.contains(&port), "{ready}");
    assert!(log.lines().last().unwrap().contains("stopped"), "{log}");
}

#[tokio::test]
async fn it_logs_each_answer_with_its_request_id_and_the_identifier_of_the_key() {
    let place = Place::new();
    let key = place.key().await;
    let list = place.run(&["key", "list"]).await.printed();
    let id = list.lines().nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    let mut service = place.serve(&[]).await;
    let answer = service.get(&key, "/v1/pets").await;
    let request_id = answer.header("x-request-id").unwrap();
    service.signal(rustix::process::Signal::TERM);
    service.exit().await;
    let log = service.log();
    assert!(log.lines().any(|line| line.contains(request_id) && line.contains(&id)), "{log}");
}

#[tokio::test]
async fn a_key_in_a_path_or_a_query_is_not_logged() {
    let place = Place::new();
    let key = place.key().await;
    let config = place.write("store.toml", "[log]\nlevel = 'trace'\n");
    let mut service = place.serve(&["--config", config.to_str().unwrap()]).await;
    for target in [format!("/v1/{key}"), format!("/v1/pets?{key}"), format!("/v1/pets/{key}")] {
        assert!((400..500).contains(&service.get(&key, &target).await.status));
    }
    service.get(&format!("{key}x"), "/v1/pets").await.refused(401, "unauthorized");
    service.signal(rustix::process::Signal::TERM);
    service.exit().await;
    // The harness looks for keys in the log at the end of every test; here there must be one to look at.
    assert!(service.log().lines().count() > 4, "{}", service.log());
}

#[tokio::test]
async fn a_log_in_json_is_one_object_a_line() {
    let place = Place::new();
    let key = place.key().await;
    let config = place.write("store.toml", "[log]\nformat = 'json'\n");
    let mut service = place.serve(&["--config", config.to_str().unwrap()]).await;
    service.get(&key, "/v1/pets").await.expect(200);
    service.signal(rustix::process::Signal::TERM);
    service.exit().await;
    let log = service.log();
    let records: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    assert!(records.iter().any(|record| record["msg"] == "answered" && record["status"] == 200), "{log}");
}

#[tokio::test]
async fn the_database_can_be_named_by_flag_environment_and_file() {
    let place = Place::new();
    let config = place.write("store.toml", "database = 'sqlite:file.db'\n");
    let config = config.to_str().unwrap();
    place.serve(&["--config", config]).await.stop().await;
    assert!(place.path("file.db").exists());

    let environment = |command: &mut tokio::process::Command| {
        command.env("ANIMAL_STORE_DATABASE", "sqlite:environment.db");
    };
    place.serve_with(&["--config", config], environment).await.stop().await;
    assert!(place.path("environment.db").exists());

    place.serve_with(&["--config", config, "--database", "sqlite:flag.db"], environment).await.stop().await;
    assert!(place.path("flag.db").exists());
}

#[tokio::test]
async fn the_rate_limit_of_a_file_holds() {
    let place = Place::new();
    let key = place.key().await;
    let config = place.write("store.toml", "[rate_limit]\nrequests = 2\nperiod = '1h'\n");
    let service = place.serve(&["--config", config.to_str().unwrap()]).await;
    service.get(&key, "/v1/pets").await.expect(200);
    service.get(&key, "/v1/pets").await.expect(200);
    service.get(&key, "/v1/pets").await.refused(429, "rate_limited");
}

#[tokio::test]
async fn it_serves_without_a_reader_of_its_output() {
    let place = Place::new();
    let key = place.key().await;
    let mut service = place
        .serve_with(&[], |command| {
            command.stderr(Stdio::null());
        })
        .await;
    service.close_stdout();
    service.post(&key, &json!({ "name": "Rex", "categoryId": 3 })).await.expect(201);
    service.stop().await;
}

#[tokio::test]
async fn a_log_without_a_reader_does_not_delay_requests() {
    let place = Place::new();
    let key = place.key().await;
    // The pipe is there and never read; it holds 64 KiB, which these answers fill several times.
    let mut service = place.serve_with(&[], |_| {}).await;
    service.stop_reading_the_log();
    for _ in 0..1500 {
        service.get(&key, "/v1/pets").await.expect(200);
    }
    service.signal(rustix::process::Signal::TERM);
    assert_eq!(service.exit().await.0, Some(0));
}

#[tokio::test]
async fn help_and_version_are_printed() {
    let place = Place::new();
    let help = place.run(&["--help"]).await.printed();
    assert!(help.contains("serve") && help.contains("key"), "{help}");
    let version = Contract::get().document["info"]["version"].as_str().unwrap();
    assert_eq!(place.run(&["--version"]).await.printed(), format!("animal-store {version}\n"));
}
