//! The limit on the number of connections.

use tokio::process::Command;

use crate::connections::clients::frames::{HEADERS, REFUSED_STREAM, RST_STREAM, get, stream};
use crate::connections::clients::hostile::{Kind, PAGE};
use crate::connections::service::{Service, in_time};

/// Honest clients that are idle keep their connections up to the limit, and the next client waits for one of them.
#[tokio::test]
async fn the_next_client_waits_and_the_others_stay() {
    let service = Service::start_tls(&[("max", "20"), ("idle_timeout", "1h")]).await;
    assert_eq!(service.metric("connections_max").await, 20);
    let mut clients = Vec::new();
    for number in 0..20 {
        let mut client = service.connect(number % 2 == 0).await;
        assert_eq!(client.get("/v1/pets").await.unwrap().0, 200);
        clients.push(client);
    }
    service.wait_for_metric("connections_open", |open| open == 20).await;
    let mut connecting = Box::pin(service.connect(false));
    assert!(futures::poll!(&mut connecting).is_pending());
    for client in &mut clients {
        assert_eq!(client.get("/v1/pets").await.unwrap().0, 200, "an open connection is served");
    }
    assert!(futures::poll!(&mut connecting).is_pending(), "there is room for another connection");
    clients.pop();
    let mut next = in_time("a connection", connecting).await;
    assert_eq!(next.get("/v1/pets").await.unwrap().0, 200);
    for client in &mut clients {
        assert_eq!(client.get("/v1/pets").await.unwrap().0, 200, "an open connection is served");
    }
    service.stop().await;
}

/// Over HTTP/2, a request without a permit is refused in the way that lets clients send it again.
#[tokio::test]
async fn requests_above_the_limit_wait_or_are_refused() {
    const REQUESTS: usize = 4;
    let service = Service::start_tls(&[("max_requests", "4"), ("send_timeout", "5s")]).await;
    service.add_page("Rex").await;
    let mut hostile = service.frames(0).await;
    for number in 0..REQUESTS {
        hostile.send(&get(stream(number), PAGE, &service.key)).await.unwrap();
        let head = in_time("a response", hostile.find(|frame| frame.kind == HEADERS)).await;
        assert!(head.is_some_and(|head| head.is_ok()));
    }
    hostile.send(&get(stream(REQUESTS), PAGE, &service.key)).await.unwrap();
    let refused = in_time("RST_STREAM", hostile.find(|frame| frame.kind == RST_STREAM)).await;
    assert_eq!(refused.expect("RST_STREAM").error_code(), Some(REFUSED_STREAM));
    // The permits are free again when this client is closed, because it takes nothing.
    let mut waiting = service.connect(false).await;
    assert_eq!(in_time("a response", waiting.get("/v1/pets")).await.unwrap().0, 200);
    service.wait_for_metric("connections_timed_out_total{timeout=\"send\"}", |count| count == 1).await;
    service.stop().await;
}

/// The number of clients is greater than the limit on open files of the service.
#[tokio::test]
async fn silent_clients_do_not_use_up_the_descriptors() {
    const LIMIT: &str = "450";
    let limit = |command: &mut Command| {
        let program = command.as_std().get_program().to_owned();
        let arguments: Vec<_> = command.as_std().get_args().map(ToOwned::to_owned).collect();
        let directory = command.as_std().get_current_dir().map(ToOwned::to_owned);
        let environment: Vec<_> = command
            .as_std()
            .get_envs()
            .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
            .collect();
        let mut limited = Command::new("/bin/sh");
        limited.args(["-c", "ulimit -n \"$0\" && exec \"$@\"", LIMIT]).arg(program).args(arguments);
        limited.env_clear().envs(environment).kill_on_drop(true);
        if let Some(directory) = directory {
            limited.current_dir(directory);
        }
        limited.stdin(std::process::Stdio::null());
        limited.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        *command = limited;
    };
    let service = Service::start_with(&[("header_timeout", "1h"), ("max", "150")], &[], limit).await;
    let mut early = service.connect(false).await;
    assert_eq!(early.get("/v1/pets").await.unwrap().0, 200);
    let max = service.metric("connections_max").await;
    let mut hostile = Vec::new();
    for _ in 0..500 {
        hostile.push(service.held(Kind::Silent).await.unwrap());
    }
    service.wait_for_metric("connections_open", |open| open == max).await;
    assert_eq!(early.get("/v1/pets").await.unwrap().0, 200);
    service.program.wait_for_readiness(200).await;
    drop(hostile);
    service.answers().await;
    assert!(!service.program.log().contains("cannot accept connections"), "{}", service.program.log());
    service.stop().await;
}
