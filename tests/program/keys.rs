//! `animal-store key`: create, list, rotate and revoke, while the service runs.

use jiff::{SignedDuration, Timestamp};

use kit::postgres;
use kit::program::{TIMEOUT, WorkDir};

/// Returns the columns of the key with this name in the output of `key list`.
async fn row(directory: &WorkDir, name: &str) -> Vec<String> {
    let list = directory.run(&["key", "list"]).await.success();
    let row = list.lines().find(|line| line.split_whitespace().last() == Some(name)).expect(&list);
    row.split_whitespace().map(str::to_owned).collect()
}

#[tokio::test]
async fn create_prints_the_key_and_only_the_key() {
    let directory = WorkDir::new();
    let printed = directory.run(&["key", "create", "shop"]).await.success();
    let key = printed.strip_suffix('\n').expect("a line");
    let random = key.strip_prefix("ask_").expect("the prefix of a key");
    assert!(random.len() >= 36 && random.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{random}");
}

#[tokio::test]
async fn two_keys_may_have_the_same_name() {
    let directory = WorkDir::new();
    assert_ne!(directory.key().await, directory.key().await);
    let list = directory.run(&["key", "list"]).await.success();
    assert_eq!(list.lines().count(), 3, "{list}");
}

#[tokio::test]
async fn list_shows_every_key_and_no_secret() {
    let directory = WorkDir::new();
    let key = directory.run(&["key", "create", "shop"]).await.success();
    let list = directory.run(&["key", "list"]).await.success();
    assert!(!list.contains("ask_") && !list.contains(key.trim_end()), "{list}");
    let row = row(&directory, "shop").await;
    assert_eq!((&*row[1], &*row[3], &*row[4]), ("valid", "-", "-"));
    assert!(row[0].starts_with("key_"), "{row:?}");
}

#[tokio::test]
async fn the_list_of_a_new_database_has_no_keys() {
    let directory = WorkDir::new();
    directory.serve(&[]).await.stop().await;
    assert_eq!(directory.run(&["key", "list"]).await.success().lines().count(), 1);
}

#[tokio::test]
async fn create_reports_a_new_database_once() {
    let directory = WorkDir::new();
    for expected in [Some(directory.path("new.db")), None] {
        let finished = directory.run(&["key", "create", "shop", "--database", "sqlite:new.db"]).await;
        assert_eq!(finished.created(), expected, "{}", finished.stderr);
        let reported = finished.stderr.lines().filter(|line| line.ends_with(" (set by --database)")).count();
        assert_eq!(reported, usize::from(expected.is_some()), "{}", finished.stderr);
        finished.success();
    }
}

#[tokio::test]
async fn a_key_that_cannot_be_printed_is_reported() {
    let directory = WorkDir::new();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let unprintable = |command: &mut tokio::process::Command| {
        command.stdout(full);
    };
    let output = directory.start_with(&["key", "create", "shop"], unprintable).wait_with_output();
    let output = tokio::time::timeout(TIMEOUT, output).await.expect("it ends").unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr.contains(" INFO  key created key=key_"), "{stderr}");
    assert!(stderr.contains("error: cannot write to standard output: No space left on device"), "{stderr}");
    assert!(stderr.contains("so revoke a key that was not printed"), "{stderr}");
}

#[tokio::test]
async fn a_mistyped_database_is_not_created() {
    let directory = WorkDir::new();
    directory.key().await;
    directory.write("typo.toml", "# The database.\ndatabase = 'sqlite:typo.db'\n");
    let before = directory.names();
    let path = directory.path("typo.db").display().to_string();
    let expected =
        format!("error: the database {path} does not exist or is empty; check the path, such as sqlite:");
    for command in
        [&["key", "list"][..], &["key", "rotate", "x"], &["key", "revoke", "x"], &["backup", "to.db"]]
    {
        for (arguments, environment, source) in [
            (&["--database", "sqlite:typo.db"][..], &[][..], "--database"),
            (&["--config", "typo.toml"], &[], "`database` in typo.toml"),
            (&[], &[("ANIMAL_STORE_DATABASE", "sqlite:typo.db")], "ANIMAL_STORE_DATABASE"),
        ] {
            let line = directory.run_with(&[command, arguments].concat(), environment).await.failure();
            assert!(line.starts_with(&expected) && line.ends_with(&format!("(set by {source})")), "{line}");
            assert_eq!(directory.names(), before);
        }
    }
}

#[tokio::test]
async fn a_lifetime_is_counted_from_now() {
    let directory = WorkDir::new();
    directory.run(&["key", "create", "shop", "--expires-in", "90d"]).await.success();
    let row = row(&directory, "shop").await;
    let time = |text: &str| text.parse::<Timestamp>().expect(text);
    assert_eq!(time(&row[3]).duration_since(time(&row[2])), SignedDuration::from_hours(90 * 24));
}

#[tokio::test]
async fn a_key_created_while_the_service_runs_is_valid_immediately() {
    let directory = WorkDir::new();
    let service = directory.serve(&[]).await;
    let key = directory.key().await;
    service.get(&key, "/v1/pets").await.expect(200);
}

// The time limit is tested in `../http/keys.rs`, with a clock that the test advances.
#[tokio::test]
async fn a_key_revoked_while_the_service_runs_becomes_invalid() {
    let directory = WorkDir::new();
    let key = directory.run(&["key", "create", "shop"]).await.success().trim_end().to_owned();
    let service = directory.serve(&[]).await;
    service.get(&key, "/v1/pets").await.expect(200);
    let id = row(&directory, "shop").await.remove(0);
    assert_eq!(directory.run(&["key", "revoke", &id]).await.success(), "");
    service.wait_for_status(401, &key).await;
    assert_eq!(row(&directory, "shop").await[1], "revoked");
}

#[tokio::test]
async fn a_service_whose_database_was_replaced_is_unavailable() {
    let directory = WorkDir::new();
    let key = directory.run(&["key", "create", "shop"]).await.success().trim_end().to_owned();
    directory.run(&["backup", "other.db"]).await.success();
    let service = directory.serve(&["--ops-bind", "127.0.0.1:0"]).await;
    service.add(&key, 1).await;
    // The database and its log.
    let rename = |from: &str, to: &str| {
        for suffix in ["", "-wal", "-shm"] {
            let path = |name: &str| directory.path(&format!("{name}.db{suffix}"));
            if path(from).exists() {
                std::fs::rename(path(from), path(to)).unwrap();
            }
        }
    };
    rename("animal-store", "aside");
    rename("other", "animal-store");
    service.wait_for_unreadiness("replaced").await;
    // The command changes a file that the service does not use.
    let id = row(&directory, "shop").await.remove(0);
    directory.run(&["key", "revoke", &id]).await.success();
    service.wait_for_status(503, &key).await;
    service
        .post(&key, &serde_json::json!({ "name": "Rex", "categoryId": 3 }))
        .await
        .expect_error(503, "unavailable");
    // The same file again: the service continues.
    rename("animal-store", "other");
    rename("aside", "animal-store");
    service.wait_for_readiness(200).await;
    assert_eq!(service.add(&key, 1).await, [2]);
    service.wait_for_log("restart the service").await;
    service.stop().await;
}

#[tokio::test]
async fn a_key_expires_while_the_service_runs() {
    let directory = WorkDir::new();
    let service = directory.serve(&[]).await;
    // On a busy machine a key may expire before its first use; then the next, longer lifetime is tried.
    for lifetime in [2, 4, 8, 16, 32, 64, 128] {
        let (name, lifetime) = (format!("shop{lifetime}"), format!("{lifetime}s"));
        let key = directory.run(&["key", "create", &name, "--expires-in", &lifetime]).await.success();
        let expires: Timestamp = row(&directory, &name).await[3].parse().unwrap();
        let mut uses = 0;
        loop {
            let before = Timestamp::now();
            let response = service.get(key.trim_end(), "/v1/pets").await;
            if response.status == 401 {
                assert!(Timestamp::now() >= expires, "the key is invalid before {expires}");
                break;
            }
            response.expect(200);
            assert!(before < expires, "the key is valid at {before}, after {expires}");
            uses += 1;
        }
        assert_eq!(row(&directory, &name).await[1], "expired");
        if uses > 0 {
            return;
        }
    }
    panic!("every key expired before its first use");
}

#[tokio::test]
async fn rotate_prints_the_new_key_and_both_are_valid_during_the_overlap() {
    let directory = WorkDir::new();
    let old = directory.run(&["key", "create", "shop"]).await.success().trim_end().to_owned();
    let service = directory.serve(&[]).await;
    let id = row(&directory, "shop").await.remove(0);
    let new = directory.run(&["key", "rotate", &id]).await.success();
    let new = new.strip_suffix('\n').expect("a line");
    assert!(new.starts_with("ask_") && *new != old);
    service.get(&old, "/v1/pets").await.expect(200);
    service.get(new, "/v1/pets").await.expect(200);
    let list = directory.run(&["key", "list"]).await.success();
    let expires = list.lines().find(|line| line.starts_with(&id)).unwrap().split_whitespace().nth(3).unwrap();
    let left = expires.parse::<Timestamp>().unwrap().duration_since(Timestamp::now());
    assert!(left > SignedDuration::from_hours(23) && left <= SignedDuration::from_hours(24));
}

#[tokio::test]
async fn a_rotated_key_has_the_lifetime_of_the_old_one() {
    let directory = WorkDir::new();
    directory.run(&["key", "create", "shop", "--expires-in", "90d"]).await.success();
    let old = row(&directory, "shop").await;
    for (arguments, days) in [(&[][..], 90), (&["--expires-in", "7d"], 7)] {
        directory.run(&[&["key", "rotate", &old[0]][..], arguments].concat()).await.success();
        let list = directory.run(&["key", "list"]).await.success();
        let new: Vec<_> = list.lines().last().unwrap().split_whitespace().collect();
        let time = |text: &str| text.parse::<Timestamp>().unwrap();
        assert_eq!(time(new[3]).duration_since(time(new[2])), SignedDuration::from_hours(24 * days));
    }
}

/// Rotates an unlimited key twice: the second time, the lifetime of the old key is no longer known.
async fn rotate_twice(directory: &WorkDir, database: &str) {
    let run =
        async |arguments: &[&str]| directory.run(&[arguments, &["--database", database]].concat()).await;
    run(&["key", "create", "shop"]).await.success();
    let rows = async || {
        let list = run(&["key", "list"]).await.success();
        let rows = list.lines().skip(1).map(|line| line.split_whitespace().map(str::to_owned).collect());
        rows.collect::<Vec<Vec<String>>>()
    };
    let first = rows().await[0][0].clone();
    run(&["key", "rotate", &first]).await.success();
    let second = rows().await[1][0].clone();
    let before = rows().await;
    let line = run(&["key", "rotate", &first]).await.failure();
    let expected =
        format!("error: the key {first} expires, and the newer key {second} has its name and note");
    assert!(line.starts_with(&expected) && line.contains("--expires-in"), "{line}");
    assert_eq!(rows().await, before);
    run(&["key", "rotate", &second]).await.success();
    assert_eq!(rows().await[2][3], "-", "the replacement of an unlimited key expires");
    run(&["key", "rotate", &first, "--expires-in", "30d"]).await.success();
    let last = rows().await.remove(3);
    let time = |text: &str| text.parse::<Timestamp>().unwrap();
    assert_eq!(time(&last[3]).duration_since(time(&last[2])), SignedDuration::from_hours(30 * 24));
}

#[tokio::test]
async fn a_key_that_is_being_replaced_is_not_rotated_without_a_lifetime() {
    rotate_twice(&WorkDir::new(), "sqlite:animal-store.db").await;
}

#[tokio::test]
async fn a_key_on_postgresql_that_is_being_replaced_is_not_rotated_without_a_lifetime() {
    let Some(cluster) = postgres::shared() else { return };
    let name = cluster.database("").await;
    rotate_twice(&WorkDir::new(), &cluster.url(&name)).await;
}

#[tokio::test]
async fn a_key_is_revoked_or_rotated_by_its_secret_which_is_not_repeated() {
    let directory = WorkDir::new();
    let leaked = directory.key().await;
    let service = directory.serve(&[]).await;
    let mut mistyped = leaked.clone();
    mistyped.pop();
    for wrong in [&*mistyped, &leaked[4..], &format!("{leaked} ")] {
        for command in ["revoke", "rotate"] {
            let line = directory.run(&["key", command, wrong]).await.failure();
            assert!(
                line.starts_with("error: there is no such key; ") && !line.contains(&wrong[4..]),
                "{line}"
            );
        }
    }
    let extra = directory.run(&["key", "list", &leaked]).await.failure();
    assert!(!extra.contains(&leaked[4..]), "{extra}");
    service.get(&leaked, "/v1/pets").await.expect(200);
    let rotated = directory.run(&["key", "rotate", &leaked]).await;
    assert!(!rotated.stderr.contains(&leaked[4..]), "{}", rotated.stderr);
    let new = rotated.success();
    let revoked = directory.run(&["key", "revoke", &leaked]).await;
    assert_eq!(revoked.audit().len(), 1, "{}", revoked.stderr);
    assert!(!revoked.stderr.contains(&leaked[4..]), "{}", revoked.stderr);
    revoked.success();
    service.wait_for_status(401, &leaked).await;
    service.get(new.trim_end(), "/v1/pets").await.expect(200);
    service.stop().await;
}

#[tokio::test]
async fn an_expiry_after_the_year_9999_is_rejected() {
    let directory = WorkDir::new();
    let line = directory.run(&["key", "create", "shop", "--expires-in", "9000y"]).await.failure();
    assert!(
        line.contains("--expires-in") && line.contains("the expiry must be before the year 10000"),
        "{line}"
    );
    assert_eq!(directory.files(), []);
}

#[tokio::test]
async fn after_the_overlap_only_the_new_key_is_valid() {
    let directory = WorkDir::new();
    let old = directory.run(&["key", "create", "shop"]).await.success().trim_end().to_owned();
    let service = directory.serve(&[]).await;
    let id = row(&directory, "shop").await.remove(0);
    let new = directory.run(&["key", "rotate", &id, "--overlap", "1s"]).await.success();
    service.wait_for_status(401, &old).await;
    service.get(new.trim_end(), "/v1/pets").await.expect(200);
}

#[tokio::test]
async fn a_revoked_key_cannot_be_rotated() {
    let directory = WorkDir::new();
    directory.run(&["key", "create", "shop"]).await.success();
    let id = row(&directory, "shop").await.remove(0);
    directory.run(&["key", "revoke", &id]).await.success();
    let line = directory.run(&["key", "rotate", &id]).await.failure();
    assert!(line.contains(&id), "{line}");
}

#[tokio::test]
async fn an_unknown_key_cannot_be_rotated_or_revoked() {
    let directory = WorkDir::new();
    directory.key().await;
    for command in ["rotate", "revoke"] {
        let line = directory.run(&["key", command, "key_unknown"]).await.failure();
        assert!(line.contains("key_unknown") && line.contains("key list"), "{line}");
    }
}

#[tokio::test]
async fn a_key_revoked_twice_keeps_the_first_date() {
    let directory = WorkDir::new();
    directory.run(&["key", "create", "shop"]).await.success();
    let id = row(&directory, "shop").await.remove(0);
    let revoked = directory.run(&["key", "revoke", &id]).await;
    assert_eq!(revoked.audit().len(), 1, "{}", revoked.stderr);
    let first = row(&directory, "shop").await;
    let again = directory.run(&["key", "revoke", &id]).await;
    assert_eq!(again.audit(), [""; 0]);
    assert_eq!(again.success(), format!("the key {id} was revoked before at {}\n", first[4]));
    assert_eq!(row(&directory, "shop").await, first);
}

#[tokio::test]
async fn list_shows_notes_and_rotate_keeps_them() {
    let directory = WorkDir::new();
    directory.run(&["key", "create", "shop", "--note", "web shop, team 5"]).await.success();
    let list = async || directory.run(&["key", "list"]).await.success();
    let shown = list().await;
    assert!(shown.lines().nth(1).unwrap().ends_with("  shop  web shop, team 5"), "{shown}");
    let id = shown.lines().nth(1).unwrap().split(' ').next().unwrap().to_owned();
    directory.run(&["key", "rotate", &id]).await.success();
    let shown = list().await;
    assert_eq!(shown.lines().filter(|line| line.ends_with("  shop  web shop, team 5")).count(), 2, "{shown}");
    for note in ["", "a\nb", &"x".repeat(201)] {
        let line = directory.run(&["key", "create", "shop", "--note", note]).await.failure();
        assert!(line.contains("--note") && line.contains("1 to 200 characters"), "{line}");
    }
}

#[tokio::test]
async fn names_and_notes_that_would_change_a_terminal_are_rejected() {
    let directory = WorkDir::new();
    for text in ["a\x1b[31mb", "a\rb", "a\u{202e}b", "a\u{2066}b", "a\u{200f}b", "a\u{61c}b", "a\u{2028}b"] {
        for arguments in [&["key", "create", text][..], &["key", "create", "shop", "--note", text]] {
            let line = directory.run(arguments).await.failure();
            assert!(line.contains("without control characters"), "{line}");
            assert!(!line.contains(text) && !line.contains(&text[1..text.len() - 1]), "{line:?}");
        }
    }
    for text in ["m\u{200d}n", "\u{5d0}\u{5d1}", "\u{1f994}"] {
        directory.run(&["key", "create", text]).await.success();
    }
}

#[tokio::test]
async fn list_escapes_what_would_change_a_terminal() {
    let directory = WorkDir::new();
    directory.key().await;
    // An older release accepted such names, and a restored database may have them.
    let database = rusqlite::Connection::open(directory.path("animal-store.db")).unwrap();
    let update = "UPDATE api_key SET name = ?1, note = ?2";
    database.execute(update, ["shop\nkey_1 \u{1b}[2K", "\u{202e}5 maet, pohs"]).unwrap();
    drop(database);
    let list = directory.run(&["key", "list"]).await.success();
    assert_eq!(list.lines().count(), 2, "{list:?}");
    assert!(list.ends_with("  shop\\u000akey_1 \\u001b[2K  \\u202e5 maet, pohs\n"), "{list:?}");
}

#[tokio::test]
async fn messages_escape_what_would_change_a_terminal() {
    let directory = WorkDir::new();
    let name = "\u{1b}[2K\u{202e}.db";
    let url = format!("sqlite:{name}");
    for arguments in [
        &["key", "list", "--database", &url][..],
        &["key", "create", "x", "--database", &url],
        &["key", "revoke", "key_x", "--database", &url],
        &["key", "revoke", name, "--database", &url],
        &["restore", name],
        &["copy", "--from", "sqlite:no.db\u{1b}", "--to", "postgres://u@h/d"],
        &["serve", "--config", name],
        &["serve", name],
        &["backup", name],
    ] {
        let finished = directory.run(arguments).await;
        let printed = finished.stdout + &finished.stderr;
        assert!(!printed.is_empty(), "{arguments:?} printed nothing");
        assert!(!printed.contains(['\u{1b}', '\u{202e}']), "{arguments:?}: {printed:?}");
    }
}

#[tokio::test]
async fn list_shows_the_hour_of_the_last_use() {
    let directory = WorkDir::new();
    let key = directory.key().await;
    assert_eq!(row(&directory, "tests").await[5], "-");
    let hour = || Timestamp::now().as_second() / 3600 * 3600;
    let before = hour();
    let service = directory.serve(&[]).await;
    service.get(&key, "/v1/pets").await.expect(200);
    service.get(&(key.clone() + "x"), "/v1/pets").await.expect_error(401, "unauthorized");
    // It is stored after the response.
    let start = std::time::Instant::now();
    while row(&directory, "tests").await[5] == "-" {
        assert!(start.elapsed() < TIMEOUT, "the use is not stored");
    }
    service.stop().await;
    let used = row(&directory, "tests").await[5].parse::<Timestamp>().unwrap().as_second();
    assert!((before..=hour()).contains(&used) && used % 3600 == 0, "{used}");
}

#[tokio::test]
async fn changes_of_keys_are_logged_without_the_secret() {
    let directory = WorkDir::new();
    let created = directory.run(&["key", "create", "shop", "--note", "team 5"]).await;
    let id = row(&directory, "5").await.remove(0);
    let rotated = directory.run(&["key", "rotate", &id, "--overlap", "1h"]).await;
    let revoked = directory.run(&["key", "revoke", &id]).await;
    let user = format!("user_id={}", rustix::process::getuid().as_raw());
    for (finished, event, key) in
        [(created, "created", "key="), (rotated, "rotated", "replaced="), (revoked, "revoked", "key=")]
    {
        let [line] = finished.audit()[..] else { panic!("{}", finished.stderr) };
        let key = format!("{key}{id} ");
        for text in [&format!("INFO  key {event} "), &key, "name=shop", "note=\"team 5\"", &user] {
            assert!(line.contains(text) || line.ends_with(text), "{text} is not in: {line}");
        }
        assert!(!line.contains("ask_"), "{line}");
        finished.success();
    }
    let json = [("ANIMAL_STORE_LOG__FORMAT", "json")];
    let finished = directory.run_with(&["key", "create", "shop"], &json).await;
    assert!(finished.stderr.contains("\"body\":\"key created\""), "{}", finished.stderr);
    let unknown = directory.run(&["key", "revoke", "key_unknown"]).await;
    assert_eq!(unknown.audit(), [""; 0]);
}

#[tokio::test]
async fn list_does_not_change_an_older_database() {
    let directory = WorkDir::new();
    let older = rusqlite::Connection::open(directory.path("animal-store.db")).unwrap();
    for sql in [
        include_str!("../../src/storage/sqlite/0001_animals.sql"),
        include_str!("../../src/storage/sqlite/0002_api_keys.sql"),
        include_str!("../../src/storage/sqlite/0003_secret.sql"),
        "INSERT INTO api_key (id, name, hash, created) VALUES ('key_1', 'shop', zeroblob(32), 9); \
         PRAGMA application_id = 1097756012; PRAGMA user_version = 3; PRAGMA journal_mode = WAL",
    ] {
        older.execute_batch(sql).unwrap();
    }
    drop(older);
    directory.set_mode("animal-store.db", 0o600);
    let before = directory.files();
    let from = ["copy", "--from", "sqlite:animal-store.db", "--to", "postgres://u@h/d"];
    for command in [&["key", "list"][..], &from] {
        let line = directory.run(command).await.failure();
        for text in ["animal-store.db", "format 3", "`animal-store backup FILE`", "`animal-store serve`"] {
            assert!(line.contains(text), "{text} is not in: {line}");
        }
        assert!(directory.files() == before, "a file was changed: {:?}", directory.names());
    }
    // The documented way: a backup, which is not migrated either, and then the service.
    directory.run(&["backup", "older.db"]).await.success();
    let backup = rusqlite::Connection::open(directory.path("older.db")).unwrap();
    let version: i32 = backup.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(version, 3);
    directory.serve(&[]).await.stop().await;
    assert_eq!(directory.run(&["key", "list"]).await.success().lines().count(), 2);
}
