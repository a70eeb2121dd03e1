//! The service manager (systemd): the sockets that it opened (sd_listen_fds(3)), and what it is told (sd_notify(3)).

use std::io;
use std::net::TcpListener;
use std::time::Duration;

use listenfd::ListenFd;
use sd_notify::NotifyState;
use slog::{Logger, warn};
use socket2::SockRef;
use tokio::runtime::Handle;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{MissedTickBehavior, interval, timeout};

/// How long the service manager may take to read a message.
const PATIENCE: Duration = Duration::from_secs(1);

/// A socket from the service manager cannot be used.
#[derive(Debug, thiserror::Error)]
#[error(
    "socket {index} from the service manager: {why}; expected ListenStream= with a TCP address, and Accept=no"
)]
pub struct SocketError {
    index: usize,
    why: String,
}

/// Returns the listening sockets that the service manager opened: that of the public listener and that of the operators.
/// Must be called before the process has another thread, because it removes variables from the environment.
///
/// # Errors
/// When a descriptor is not a TCP listener, or there are more than two.
pub fn inherited_listeners() -> Result<[Option<TcpListener>; 2], SocketError> {
    let mut inherited = ListenFd::from_env();
    if inherited.len() > 2 {
        let why = "there are only two listeners, of clients and of operators".to_owned();
        return Err(SocketError { index: 2, why });
    }
    let mut take = |index| {
        let error = |why| SocketError { index, why };
        if index >= inherited.len() {
            return Ok(None);
        }
        let taken = inherited.take_tcp_listener(index).map_err(|it| error(it.to_string()))?;
        // With `Accept=yes`, it is a connection.
        let is_listener =
            taken.as_ref().is_none_or(|taken| SockRef::from(taken).is_listener().unwrap_or(false));
        if is_listener { Ok(taken) } else { Err(error("it does not listen".to_owned())) }
    };
    Ok([take(0)?, take(1)?])
}

/// Tells the service manager something, if there is one. One that reads nothing holds up the service for a second.
pub async fn notify(states: &[NotifyState<'_>], log: &Logger) {
    if let Ok(Ok(Err(error))) = timeout(PATIENCE, send(states)).await {
        warn!(log, "the service manager cannot be told the state of the service"; "error" => %error);
    }
}

/// Sends a message. Its queue has room for ten, after which this waits for the service manager.
fn send(states: &[NotifyState<'_>]) -> JoinHandle<io::Result<()>> {
    let message = states.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    spawn_blocking(move || sd_notify::notify(&[NotifyState::Custom(&message)]))
}

/// Tells the watchdog of the service manager that `api` runs tasks: a service that does not tell it within `limit` is
/// restarted. Whether the database responds does not count. Never completes.
pub async fn keep_alive(api: &Handle, limit: Duration) {
    // An error was logged when the service became ready.
    while_alive(api, limit, async || drop(send(&[NotifyState::Watchdog]).await)).await
}

async fn while_alive(api: &Handle, limit: Duration, mut alive: impl AsyncFnMut()) {
    // sd_watchdog_enabled(3) recommends half of the limit.
    let mut interval = interval(limit / 2);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        interval.tick().await;
        if api.spawn(async {}).await.is_ok() {
            alive().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use tokio::runtime::Builder;
    use tokio::sync::Notify;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_runtime_whose_threads_are_all_held_up_is_not_alive() {
        let api = Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let (release, held) = mpsc::channel::<()>();
        api.spawn(async move { held.recv() });
        let (limit, calls) = (Duration::from_secs(60), Notify::new());
        let keeping = while_alive(api.handle(), limit, async || calls.notify_one());
        let watched = async {
            assert!(timeout(limit * 10, calls.notified()).await.is_err(), "it was held up");
            drop(release);
            calls.notified().await;
            calls.notified().await;
        };
        tokio::select! {
            () = keeping => unreachable!("it never completes"),
            () = watched => {}
        }
        api.shutdown_background();
    }
}
