//! The number of round trips between the store and the server.

use std::sync::{Arc, Mutex};

use animal_store::storage::{PetsQuery, PostgresOptions, Store, StoreOptions, open};
use futures::future::try_join_all;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

use super::{Postgres, options};
use crate::conformance::{idempotency_key, key, new_pet};
use kit::postgres::shared;

const ALL: PetsQuery = PetsQuery { status: None, after: None, limit: 100 };

/// What was sent to the server: for each round trip the types of the messages (PostgreSQL documentation, "Message
/// Formats"). `B`, `E` and `S` are Bind, Execute and Sync, which are one query.
#[derive(Clone, Default)]
struct Sent(Arc<Mutex<Vec<String>>>);

impl Sent {
    /// Returns and forgets the queries of each round trip. Leaves out tests of idle connections, a Sync without a query,
    /// and `C`, which closes a statement and is sent together with the next query.
    fn take(&self) -> Vec<String> {
        let sent = std::mem::take(&mut *self.0.lock().unwrap());
        let queries = |messages: &String| {
            let messages = messages.replace('Q', "QS");
            let queries: Vec<_> =
                messages.split('S').filter(|query| !query.is_empty() && *query != "C").collect();
            queries.join(" ")
        };
        sent.iter().map(queries).filter(|queries| !queries.is_empty()).collect()
    }
}

/// Forwards connections to the server and records the messages. Returns the address for clients.
async fn recorder(server: String, sent: Sent) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let upstream = TcpStream::connect(&server).await.unwrap();
            let ((from_client, to_client), (from_server, to_server)) =
                (client.into_split(), upstream.into_split());
            // The number of Sync that the server has not answered by ReadyForQuery.
            let waiting = Arc::new(Mutex::new(0));
            tokio::spawn(requests(from_client, to_server, sent.clone(), waiting.clone()));
            tokio::spawn(responses(from_server, to_client, waiting));
        }
    });
    address
}

async fn requests(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, sent: Sent, waiting: Arc<Mutex<usize>>) {
    // The startup message has no type.
    let Some(startup) = body(&mut from).await else { return };
    to.write_all(&startup).await.unwrap();
    let mut starts = true;
    while let Some((kind, message)) = message(&mut from).await {
        {
            let (mut sent, mut waiting) = (sent.0.lock().unwrap(), waiting.lock().unwrap());
            if starts && *waiting == 0 {
                sent.push(String::new());
            }
            sent.last_mut().unwrap().push(char::from(kind));
            // Sync or a simple query.
            starts = matches!(kind, b'S' | b'Q');
            *waiting += usize::from(starts);
        }
        if to.write_all(&message).await.is_err() {
            return;
        }
    }
}

async fn responses(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, waiting: Arc<Mutex<usize>>) {
    while let Some((kind, message)) = message(&mut from).await {
        if kind == b'Z' {
            let mut waiting = waiting.lock().unwrap();
            // The first one is sent without a Sync.
            *waiting = waiting.saturating_sub(1);
        }
        if to.write_all(&message).await.is_err() {
            return;
        }
    }
}

/// Reads a message. Returns its type and all of its bytes.
async fn message(from: &mut OwnedReadHalf) -> Option<(u8, Vec<u8>)> {
    let kind = from.read_u8().await.ok()?;
    let mut message = vec![kind];
    message.extend(body(from).await?);
    Some((kind, message))
}

/// Reads the length of a message and as many bytes.
async fn body(from: &mut OwnedReadHalf) -> Option<Vec<u8>> {
    let length = from.read_u32().await.ok()?;
    let mut body = length.to_be_bytes().to_vec();
    body.resize(usize::try_from(length).unwrap(), 0);
    from.read_exact(&mut body[4..]).await.ok()?;
    Some(body)
}

/// Opens a store with one connection for reading and one for writing, which are connected.
async fn connected(database: &Postgres, sent: &Sent) -> Arc<Store> {
    let address = shared().unwrap().address();
    let recorder = recorder(address.clone(), sent.clone()).await;
    let url = format!("{}&sslmode=disable", database.url().replace(&address, &recorder));
    let postgres = PostgresOptions { readers: 1, ..options().postgres };
    let store = open(&url, &StoreOptions { postgres, ..options() }).await.unwrap();
    store.add_key(key(1)).await.unwrap();
    // Each first query prepares its statement.
    store.pet(1).await.unwrap();
    store.pets(ALL).await.unwrap();
    store.key_by_hash(&key(1).hash).await.unwrap();
    sent.take();
    store
}

// One thread, so that queries that are sent together arrive together.
#[tokio::test]
async fn a_request_takes_one_round_trip() {
    let Some(database) = Postgres::try_fresh().await else { return };
    let sent = Sent::default();
    let store = connected(&database, &sent).await;

    // One statement takes the lock, inserts and commits.
    let pet = store.add_pet(new_pet("x", 1, None)).await.unwrap();
    assert_eq!(sent.take(), ["BE"]);
    store.pet(pet.id).await.unwrap().unwrap();
    assert_eq!(sent.take(), ["BE"]);
    store.key_for_authentication(&key(1).hash).await.unwrap().unwrap();
    assert_eq!(sent.take(), ["BE"]);

    assert_eq!(store.pets(ALL).await.unwrap().pets, [pet]);
    assert_eq!(sent.take(), ["BE"]);

    // Reads on the one connection, and a simple query on the other.
    store.check_ready().await.unwrap();
    assert_eq!(sent.take(), ["BE", "BE", "Q"]);
}

#[tokio::test]
async fn an_addition_with_a_key_takes_two_round_trips() {
    let Some(database) = Postgres::try_fresh().await else { return };
    let sent = Sent::default();
    let store = connected(&database, &sent).await;
    let add = |name| store.add_pet_once(new_pet(name, 1, None), idempotency_key("a"));
    add("x").await.unwrap();
    // A further write removes expired keys.
    assert_eq!(sent.take()[..2], ["Q BE", "BE Q"]);
    store.add_key(key(2)).await.unwrap();
    sent.take();
    for name in ["x", "other"] {
        add(name).await.unwrap();
        assert_eq!(sent.take(), ["Q BE", "Q"]);
    }
}

#[tokio::test]
async fn concurrent_additions_share_round_trips() {
    let Some(database) = Postgres::try_fresh().await else { return };
    let sent = Sent::default();
    let store = connected(&database, &sent).await;
    try_join_all((0..200).map(|number| store.add_pet(new_pet("x", number, None)))).await.unwrap();
    let sent = sent.take();
    assert!(sent.len() <= 2 && sent.iter().all(|queries| queries == "BE"), "{sent:?}");
}
