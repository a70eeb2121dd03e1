//! A service is killed between the commit and the response; the client repeats its request at another replica.
//!
//! `cargo test --test history -- killed_between --nocapture` prints what is sent and received.

use std::time::Duration;

use rustix::process::Signal;
use tokio::io::copy;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

use kit::client::Client;
use kit::postgres::shared;
use kit::program::WorkDir;
use kit::recorder::wire::Response;

const BODY: &str = r#"{"name":"Rex","categoryId":3,"status":"available"}"#;
const KEY: &str = "4bb4d5b4-2ea7-4a7d-8d5a-c2b9c9a8f1de";
/// The time limit of each wait.
const TIMEOUT: Duration = Duration::from_secs(300);

/// Prints a response, without the headers that every response has.
fn print(response: &Response) {
    println!("< HTTP/1.1 {}", response.status);
    for name in ["location", "idempotency-replayed"] {
        if let Some(value) = response.header(name) {
            println!("< {name}: {value}");
        }
    }
    println!("< \n< {}", response.text());
}

fn print_request(replica: &str) {
    println!("to replica {replica}:\n> POST /v1/pets HTTP/1.1\n> Idempotency-Key: \"{KEY}\"\n> \n> {BODY}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_between_commit_and_response() {
    let Some(cluster) = shared() else { return };
    let name = cluster.database("").await;
    let (directory, database) = (WorkDir::new(), cluster.url(&name));
    let key = directory.run(&["key", "create", "tests", "--database", &database]).await.success();
    let key = key.trim_end();
    let mut a = directory.serve(&["--database", &database]).await;
    let b = directory.serve(&["--database", &database]).await;

    // Forwards the request to replica A, and no byte of the response.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (proxy, service) = (listener.local_addr().unwrap(), a.direct);
    let proxying = tokio::spawn(async move {
        let (mut client, _) = listener.accept().await.unwrap();
        let mut service = TcpStream::connect(service).await.unwrap();
        let (mut requests, _to_client) = client.split();
        let (_responses, mut to_service) = service.split();
        let _ = copy(&mut requests, &mut to_service).await;
    });

    let mut client = Client::connect(proxy, key).await.unwrap();
    print_request("A");
    let stored = async {
        let database = cluster.client(&name).await;
        let count = "SELECT count(*) FROM animal WHERE name = 'Rex'";
        while database.query_one(count, &[]).await.unwrap().get::<_, i64>(0) == 0 {
            sleep(Duration::from_millis(10)).await;
        }
        println!("(the animal is in the database; now replica A is killed)");
        a.signal(Signal::KILL);
        assert_eq!(a.exit().await.0, None);
        proxying.abort();
    };
    let both = async { tokio::join!(client.post_once(BODY, KEY), stored) };
    let (response, ()) = timeout(TIMEOUT, both).await.expect("the animal is stored");
    let error = response.expect_err("no response");
    println!("< (connection ended: {error})");

    print_request("B");
    b.wait_for_status(200, key).await;
    let mut client = Client::connect(b.direct, key).await.unwrap();
    let again = client.post_once(BODY, KEY).await.unwrap();
    print(&again);
    let pet = again.expect(201);
    assert_eq!(again.header("idempotency-replayed"), Some("?1"));
    assert_eq!(again.header("location"), Some(&*format!("/v1/pets/{}", pet["id"])));
    let all = b.all(key).await;
    println!("(GET /v1/pets: {} animal)", all.len());
    assert_eq!(all, [pet]);
    b.stop().await;
}
