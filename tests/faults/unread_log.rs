//! A log that is a pipe, and nobody at the other end of it.

use rustix::process::Signal;

use crate::client::Client;
use crate::program::Place;
use crate::row::{alone, grouped, milliseconds, percentile, row};

const ANSWERS: usize = 10_000;

/// How many records the log says were dropped.
fn dropped(log: &str) -> usize {
    let lines = log.lines().filter(|line| line.contains("log records were dropped"));
    let counts =
        lines.filter_map(|line| line.split_once("count=")?.1.split([',', ' ']).next()?.parse::<usize>().ok());
    counts.sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_has_no_reader() {
    let _turn = alone().await;
    let place = Place::new();
    let key = place.key().await;
    let mut service = place.serve(&[]).await;
    let mut client = Client::connect(service.direct, &key).await.unwrap();
    // In turns: while it is read, and then not.
    let mut times = [Vec::new(), Vec::new()];
    for (round, times) in times.iter_mut().enumerate() {
        if round == 1 {
            service.stop_reading_the_log();
        }
        for _ in 0..ANSWERS {
            let start = std::time::Instant::now();
            assert_eq!(client.get("/v1/pets").await.unwrap().status, 200);
            times.push(start.elapsed());
        }
    }
    let [read, unread] = times.each_mut().map(|times| percentile(times, 99));

    // Somebody reads again, and is told how much is missing.
    service.read_the_log_again();
    let mut asked = 2 * ANSWERS;
    while dropped(&service.log()) == 0 {
        assert_eq!(client.get("/v1/pets").await.unwrap().status, 200);
        asked += 1;
    }
    let last = client.get("/v1/pets").await.unwrap();
    service.logs(last.header("x-request-id").unwrap()).await;
    let log = service.log();
    let missing = asked + 1 - log.matches(" request=").count();
    let told = dropped(&log);
    assert_eq!(told, missing);

    service.stop_reading_the_log();
    for _ in 0..ANSWERS {
        assert_eq!(client.get("/v1/pets").await.unwrap().status, 200);
    }
    service.signal(Signal::TERM);
    let (code, took) = service.exit().await;
    assert_eq!(code, Some(0));
    row(
        14,
        "nobody reads the pipe that the log goes to",
        &format!(
            "nothing: {} answers, p99 {} ({} while it was read)",
            grouped(ANSWERS),
            milliseconds(unread),
            milliseconds(read)
        ),
        &format!(
            "{} records were dropped, which the log says when it is read again; SIGTERM ends it, unread, after {}",
            grouped(missing),
            milliseconds(took)
        ),
    );
}
