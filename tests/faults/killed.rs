//! `kill -9` under load, many times on the same database.

use rustix::process::Signal;

use crate::ledger::Ledger;
use crate::program::Place;
use crate::row::{alone, grouped, long, row};

const WRITERS: usize = 8;
/// A database lives through so many kills; all of it is compared after each.
const LIVES: usize = 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_9_under_load() {
    let _turn = alone().await;
    let rounds: usize = if long() { 500 } else { 20 };
    let (mut acknowledged, mut open, mut kept) = (0, 0, 0);
    for first in (0..rounds).step_by(LIVES) {
        let place = Place::new();
        let key = place.key().await;
        let ledger = Ledger::default();
        let mut last = None;
        for round in first..rounds.min(first + LIVES) {
            let mut service = place.serve(&[]).await;
            last = Some(ledger.compare(&service.all(&key).await));
            let killer = async {
                // From the first write on to some hundreds later: a pattern that meets every step.
                ledger.acknowledged(round * 37 % 211).await;
                service.signal(Signal::KILL);
            };
            tokio::join!(ledger.write(WRITERS, service.direct, &key), killer);
            assert_eq!(service.exit().await.0, None, "it ended by itself");
        }
        let service = place.serve(&[]).await;
        let compared = ledger.compare(&service.all(&key).await);
        assert!(last.is_some_and(|last| last.acknowledged <= compared.acknowledged));
        acknowledged += compared.acknowledged;
        open += compared.open;
        kept += compared.open_and_stored;
        service.stop().await;
    }
    row(
        1,
        &format!("`kill -9` under load, {rounds} times"),
        "connections end; what was under way has no answer",
        &format!(
            "ready again each time; {} acknowledged, 0 lost; of {} without an answer {} were stored",
            grouped(acknowledged),
            grouped(open),
            grouped(kept)
        ),
    );
}
