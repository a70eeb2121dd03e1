//! A service that cannot connect, not even to itself.

use crate::faults::injection::FailingCalls;
use crate::row::row;
use kit::Need;
use kit::program::WorkDir;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_service_cannot_connect() {
    const FAULT: &str = "`connect` fails (ENETUNREACH)";
    if !kit::is_installed("strace", "strace") {
        return;
    }
    let directory = WorkDir::new();
    let key = directory.key().await;
    let service = directory.serve(&[]).await;
    let failing = match FailingCalls::inject(service.pid(), "connect:error=ENETUNREACH").await {
        Ok(failing) => failing,
        Err(why) => return kit::skip(Need::Tool, &why),
    };
    service.get(&key, "/v1/pets").await.expect(200);
    service.add(&key, 1).await;
    failing.end().await;
    row(24, FAULT, "no effect with SQLite", "the service opens no connection");
    service.stop().await;
}
