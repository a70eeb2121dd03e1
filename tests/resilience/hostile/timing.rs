//! The duration of authentication does not reveal how many characters of a key are right.
//!
//! A key is looked up by its SHA-256 hash, so the store never compares keys, and nobody can choose a key whose hash
//! has a given prefix. Only the format and the check characters, which are public, are checked before. The durations
//! are printed but not asserted, because they vary on a busy machine.

use std::time::{Duration, Instant};

use crate::row::{percentile, row};
use kit::client::Client;
use kit::program::WorkDir;

/// The position of the random characters in a key: `ask_`, random characters, and their CRC-32 in base62.
const RANDOM: std::ops::Range<usize> = 4..36;

/// Returns `key` with all random characters from `right` on changed, and matching check characters.
fn right_up_to(key: &str, right: usize) -> String {
    let mut bytes = key.as_bytes()[..RANDOM.end].to_vec();
    for byte in &mut bytes[RANDOM.start + right..] {
        *byte = if *byte == b'x' { b'y' } else { b'x' };
    }
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut check = crc32fast::hash(&bytes);
    let mut characters = [b'0'; 6];
    for character in characters.iter_mut().rev() {
        *character = DIGITS[(check % 62) as usize];
        check /= 62;
    }
    bytes.extend(characters);
    String::from_utf8(bytes).expect("ASCII")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn authentication_of_wrong_keys() {
    let directory = WorkDir::new();
    let key = directory.key().await;
    assert_eq!(right_up_to(&key, 32), key, "the format of keys has changed");
    let service = directory.serve(&[]).await;
    let keys = [0, 8, 16, 24, 31].map(|right| (right, right_up_to(&key, right)));
    let mut clients = Vec::new();
    for (right, key) in &keys {
        clients.push((*right, Client::connect(service.direct, key).await.unwrap(), Vec::new()));
    }
    let rounds = if kit::is_long() { 20_000 } else { 200 };
    for _ in 0..rounds {
        for (_, client, times) in &mut clients {
            let start = Instant::now();
            let response = client.get("/v1/pets?limit=1").await.unwrap();
            times.push(start.elapsed());
            assert_eq!(response.status, 401);
        }
    }
    let micros = |time: Duration| format!("{:.0} µs", time.as_secs_f64() * 1e6);
    let medians: Vec<_> = clients
        .iter_mut()
        .map(|(right, _, times)| format!("{right} of 32 right: {}", micros(percentile(times, 50))))
        .collect();
    row(
        21,
        "wrong keys with different numbers of right characters",
        &format!("401 after {} (medians of {rounds} alternating rounds)", medians.join(", ")),
        "the duration does not depend on them: keys are looked up by their hash",
    );
    service.stop().await;
}
