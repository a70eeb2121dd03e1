//! The log goes to a pipe that is not read.

use rustix::process::Signal;

use crate::row::{grouped, milliseconds, percentile, row};
use kit::client::Client;
use kit::program::WorkDir;

const REQUESTS: usize = 10_000;

/// Returns the number of dropped records that the log reports.
fn dropped(log: &str) -> usize {
    let lines = log.lines().filter(|line| line.contains("log records were dropped"));
    let counts =
        lines.filter_map(|line| line.split_once("count=")?.1.split([',', ' ']).next()?.parse::<usize>().ok());
    counts.sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_is_not_read() {
    let directory = WorkDir::new();
    let key = directory.key().await;
    let mut service = directory.serve(&[]).await;
    let mut client = Client::connect(service.direct, &key).await.unwrap();
    // The first half of the requests while the log is read, the second half while it is not.
    let mut times = [Vec::new(), Vec::new()];
    for (round, times) in times.iter_mut().enumerate() {
        if round == 1 {
            service.stop_reading_the_log();
        }
        for _ in 0..REQUESTS {
            let start = std::time::Instant::now();
            assert_eq!(client.get("/v1/pets").await.unwrap().status, 200);
            times.push(start.elapsed());
        }
    }
    let [read, unread] = times.each_mut().map(|times| percentile(times, 99));

    // When the log is read again, it reports the number of dropped records.
    let before = dropped(&service.log());
    service.resume_reading_the_log();
    let mut sent = 2 * REQUESTS;
    while dropped(&service.log()) == before {
        assert_eq!(client.get("/v1/pets").await.unwrap().status, 200);
        sent += 1;
    }
    let last = client.get("/v1/pets").await.unwrap();
    service.wait_for_log(last.header("x-request-id").unwrap()).await;
    let log = service.log();
    let missing = sent + 1 - log.matches(" request=").count();
    let reported = dropped(&log);
    assert_eq!(reported, missing);

    service.stop_reading_the_log();
    for _ in 0..REQUESTS {
        assert_eq!(client.get("/v1/pets").await.unwrap().status, 200);
    }
    service.signal(Signal::TERM);
    let (code, took) = service.exit().await;
    assert_eq!(code, Some(0));
    row(
        14,
        "the pipe that the log goes to is not read",
        &format!(
            "no effect: {} responses, p99 {} ({} while it was read)",
            grouped(REQUESTS),
            milliseconds(unread),
            milliseconds(read)
        ),
        &format!(
            "{} records were dropped, which the log reports when it is read again; SIGTERM with an unread log takes {}",
            grouped(missing),
            milliseconds(took)
        ),
    );
}
