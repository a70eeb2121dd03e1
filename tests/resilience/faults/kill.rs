//! `kill -9` under load, many times on the same database.

use rustix::process::Signal;

use crate::row::{grouped, row};
use kit::ledger::Ledger;
use kit::program::WorkDir;

const WRITERS: usize = 8;
/// The number of kills per database; all animals are compared after each.
const KILLS_PER_DATABASE: usize = 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_9_under_load() {
    let rounds: usize = if kit::is_long() { 500 } else { 20 };
    let (mut acknowledged, mut open, mut kept) = (0, 0, 0);
    for first in (0..rounds).step_by(KILLS_PER_DATABASE) {
        let directory = WorkDir::new();
        let key = directory.key().await;
        let ledger = Ledger::default();
        let mut last = None;
        for round in first..rounds.min(first + KILLS_PER_DATABASE) {
            let mut service = directory.serve(&[]).await;
            last = Some(ledger.compare(&service.all(&key).await));
            let killer = async {
                // Kills after 0 to 210 writes, so that each step of a write is interrupted in some round.
                ledger.acknowledged(round * 37 % 211).await;
                service.signal(Signal::KILL);
            };
            tokio::join!(ledger.write(WRITERS, service.direct, &key), killer);
            assert_eq!(service.exit().await.0, None, "the service exited before it was killed");
        }
        let service = directory.serve(&[]).await;
        let all = service.all(&key).await;
        let compared = ledger.compare(&all);
        let newest = all.last().and_then(|pet| pet["id"].as_i64());
        assert!(newest < Some(service.add(&key, 1).await[0]), "an identifier is used again");
        assert!(last.is_some_and(|last| last.acknowledged <= compared.acknowledged));
        acknowledged += compared.acknowledged;
        open += compared.unknown;
        kept += compared.unknown_and_stored;
        service.stop().await;
    }
    row(
        1,
        &format!("`kill -9` under load, {rounds} times"),
        "connections end; requests in progress get no response",
        &format!(
            "starts again each time; {} acknowledged, 0 lost; of {} without a response {} were stored",
            grouped(acknowledged),
            grouped(open),
            grouped(kept)
        ),
    );
}
