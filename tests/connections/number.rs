//! The limit on the number of connections.

use tokio::net::TcpStream;
use tokio::process::Command;

use crate::clients::hostile::{Kind, closed};
use crate::service::{Service, in_time};

#[tokio::test]
async fn the_newest_connection_is_closed() {
    let service = Service::start(&[("max", "20"), ("header_timeout", "1h")]).await;
    let mut good = service.connect(false).await;
    assert_eq!(good.get("/v1/pets").await.unwrap().0, 200);
    let mut hostile = Vec::new();
    for number in 0..19 {
        hostile.push(Kind::Silent.connect(number, service.direct(), &service.key).await.unwrap());
    }
    service.wait_for_metric("connections_open", |open| open == 20).await;
    assert_eq!(service.metric("connections_refused_total").await, 0);
    let newest = TcpStream::connect(service.direct()).await.unwrap();
    in_time("the end of the newest connection", closed(newest)).await;
    service.wait_for_metric("connections_refused_total", |refused| refused == 1).await;
    assert_eq!(good.get("/v1/pets").await.unwrap().0, 200, "an open connection is served");
    drop(hostile);
    service.answers_again().await;
    service.stop().await;
}

/// The number of clients is greater than the limit on open files of the service.
#[tokio::test]
async fn silent_clients_do_not_use_up_the_descriptors() {
    const LIMIT: &str = "300";
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
    let service = Service::start_with(&[("header_timeout", "1h")], &[], limit).await;
    let mut early = service.connect(false).await;
    assert_eq!(early.get("/v1/pets").await.unwrap().0, 200);
    let mut hostile = Vec::new();
    for number in 0..400 {
        // A connection that is refused may already be reset.
        hostile.extend(Kind::Silent.connect(number, service.direct(), &service.key).await);
    }
    assert_eq!(early.get("/v1/pets").await.unwrap().0, 200);
    service.program.wait_for_readiness(200).await;
    drop(hostile);
    service.answers_again().await;
    assert!(service.metric("connections_refused_total").await >= 100);
    assert!(!service.program.log().contains("cannot accept connections"), "{}", service.program.log());
    service.stop().await;
}
