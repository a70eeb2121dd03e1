//! The time that the key check takes does not tell how much of a key was right.
//!
//! By construction: a key is looked up by its SHA-256 (`src/keys.rs`), so the store never compares keys, and
//! a hash that shares a beginning with a stored one cannot be made at will. Only the shape and the check
//! characters, which are no secret, are looked at before. Here that is measured, and stated; a machine that
//! does other things as well is no judge.

use std::time::{Duration, Instant};

use crate::client::Client;
use crate::program::Place;
use crate::row::{alone, long, percentile, row};

/// What a key is made of: `ask_`, random characters, and their CRC-32 in base62.
const RANDOM: std::ops::Range<usize> = 4..36;

/// `key` with all random characters from `right` on changed, and the check characters that fit.
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
async fn the_duration_of_authentication_does_not_depend_on_the_key() {
    let _turn = alone().await;
    let place = Place::new();
    let key = place.key().await;
    assert_eq!(right_up_to(&key, 32), key, "the check characters are made otherwise");
    let service = place.serve(&[]).await;
    let keys = [0, 8, 16, 24, 31].map(|right| (right, right_up_to(&key, right)));
    let mut clients = Vec::new();
    for (right, key) in &keys {
        clients.push((*right, Client::connect(service.direct, key).await.unwrap(), Vec::new()));
    }
    let rounds = if long() { 20_000 } else { 1_000 };
    for _ in 0..rounds {
        for (_, client, times) in &mut clients {
            let start = Instant::now();
            let answer = client.get("/v1/pets?limit=1").await.unwrap();
            times.push(start.elapsed());
            assert_eq!(answer.status, 401);
        }
    }
    let micros = |time: Duration| format!("{:.0} µs", time.as_secs_f64() * 1e6);
    let medians: Vec<_> = clients
        .iter_mut()
        .map(|(right, _, times)| format!("{right} of 32 right: {}", micros(percentile(times, 50))))
        .collect();
    row(
        21,
        "a wrong key, and how much of it is right",
        &format!("401 after {} (medians of {rounds} rounds in turns)", medians.join(", ")),
        "the time tells nothing: keys are looked up by their hash",
    );
    service.stop().await;
}
