//! `animal-store key`: making, listing, rotating and revoking, while the service runs.

use jiff::{SignedDuration, Timestamp};

use crate::program::Place;

/// The words of the row of `key list` whose name is `name`, in the order of the table.
async fn row(place: &Place, name: &str) -> Vec<String> {
    let list = place.run(&["key", "list"]).await.printed();
    let row = list.lines().find(|line| line.split_whitespace().last() == Some(name)).expect(&list);
    row.split_whitespace().map(str::to_owned).collect()
}

#[tokio::test]
async fn create_prints_the_key_and_only_the_key() {
    let place = Place::new();
    let printed = place.run(&["key", "create", "shop"]).await.printed();
    let key = printed.strip_suffix('\n').expect("a line");
    let random = key.strip_prefix("ask_").expect("the prefix of a key");
    assert!(random.len() >= 36 && random.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{random}");
}

#[tokio::test]
async fn two_keys_of_one_name_are_two_keys() {
    let place = Place::new();
    assert_ne!(place.key().await, place.key().await);
    let list = place.run(&["key", "list"]).await.printed();
    assert_eq!(list.lines().count(), 3, "{list}");
}

#[tokio::test]
async fn list_shows_every_key_and_no_secret() {
    let place = Place::new();
    let key = place.run(&["key", "create", "shop"]).await.printed();
    let list = place.run(&["key", "list"]).await.printed();
    assert!(!list.contains("ask_") && !list.contains(key.trim_end()), "{list}");
    let row = row(&place, "shop").await;
    assert_eq!((&*row[1], &*row[3], &*row[4]), ("good", "-", "-"));
    assert!(row[0].starts_with("key_"), "{row:?}");
}

#[tokio::test]
async fn the_list_of_a_new_database_has_no_keys() {
    let place = Place::new();
    place.serve(&[]).await.stop().await;
    assert_eq!(place.run(&["key", "list"]).await.printed().lines().count(), 1);
}

#[tokio::test]
async fn create_reports_a_new_database_once() {
    let place = Place::new();
    for expected in [Some(place.path("new.db")), None] {
        let ran = place.run(&["key", "create", "shop", "--database", "sqlite:new.db"]).await;
        assert_eq!(ran.created(), expected, "{}", ran.stderr);
        assert!(ran.stderr.is_empty() || ran.stderr.ends_with(" (set by --database)\n"), "{}", ran.stderr);
        ran.printed();
    }
}

#[tokio::test]
async fn a_mistyped_database_is_not_created() {
    let place = Place::new();
    place.key().await;
    place.write("typo.toml", "# The database.\ndatabase = 'sqlite:typo.db'\n");
    let before = place.names();
    let path = place.path("typo.db").display().to_string();
    let expected = format!("error: the database {path} does not exist; check the path, such as sqlite:");
    for command in
        [&["key", "list"][..], &["key", "rotate", "x"], &["key", "revoke", "x"], &["backup", "to.db"]]
    {
        for (arguments, environment, source) in [
            (&["--database", "sqlite:typo.db"][..], &[][..], "--database"),
            (&["--config", "typo.toml"], &[], "`database` in typo.toml, line 2"),
            (&[], &[("ANIMAL_STORE_DATABASE", "sqlite:typo.db")], "ANIMAL_STORE_DATABASE"),
        ] {
            let line = place.run_with(&[command, arguments].concat(), environment).await.failed();
            assert!(line.starts_with(&expected) && line.ends_with(&format!("(set by {source})")), "{line}");
            assert_eq!(place.names(), before);
        }
    }
}

#[tokio::test]
async fn a_lifetime_is_counted_from_now() {
    let place = Place::new();
    place.run(&["key", "create", "shop", "--expires-in", "90d"]).await.printed();
    let row = row(&place, "shop").await;
    let time = |text: &str| text.parse::<Timestamp>().expect(text);
    assert_eq!(time(&row[3]).duration_since(time(&row[2])), SignedDuration::from_hours(90 * 24));
}

#[tokio::test]
async fn a_key_made_while_the_service_runs_is_good_at_once() {
    let place = Place::new();
    let service = place.serve(&[]).await;
    let key = place.key().await;
    service.get(&key, "/v1/pets").await.expect(200);
}

// How soon it is bad is measured with a clock that the test moves: `a_key_revoked_by_another_process_is_bad_soon`
// in `../http/keys.rs`.
#[tokio::test]
async fn a_key_revoked_while_the_service_runs_is_bad_soon() {
    let place = Place::new();
    let key = place.run(&["key", "create", "shop"]).await.printed().trim_end().to_owned();
    let service = place.serve(&[]).await;
    service.get(&key, "/v1/pets").await.expect(200);
    let id = row(&place, "shop").await.remove(0);
    assert_eq!(place.run(&["key", "revoke", &id]).await.printed(), "");
    service.until(401, &key).await;
    assert_eq!(row(&place, "shop").await[1], "revoked");
}

#[tokio::test]
async fn a_key_expires_while_the_service_runs() {
    let place = Place::new();
    let service = place.serve(&[]).await;
    // On a busy machine a key may expire before it is first used: then another one that lasts longer.
    for lifetime in [2, 4, 8, 16, 32, 64, 128] {
        let (name, lifetime) = (format!("shop{lifetime}"), format!("{lifetime}s"));
        let key = place.run(&["key", "create", &name, "--expires-in", &lifetime]).await.printed();
        let expires: Timestamp = row(&place, &name).await[3].parse().unwrap();
        let mut uses = 0;
        loop {
            let before = Timestamp::now();
            let answer = service.get(key.trim_end(), "/v1/pets").await;
            if answer.status == 401 {
                assert!(Timestamp::now() >= expires, "it is bad before {expires}");
                break;
            }
            answer.expect(200);
            assert!(before < expires, "it is good at {before}, after {expires}");
            uses += 1;
        }
        assert_eq!(row(&place, &name).await[1], "expired");
        if uses > 0 {
            return;
        }
    }
    panic!("no key was good before it expired");
}

#[tokio::test]
async fn rotate_prints_the_new_key_and_both_are_good_for_the_overlap() {
    let place = Place::new();
    let old = place.run(&["key", "create", "shop"]).await.printed().trim_end().to_owned();
    let service = place.serve(&[]).await;
    let id = row(&place, "shop").await.remove(0);
    let new = place.run(&["key", "rotate", &id]).await.printed();
    let new = new.strip_suffix('\n').expect("a line");
    assert!(new.starts_with("ask_") && *new != old);
    service.get(&old, "/v1/pets").await.expect(200);
    service.get(new, "/v1/pets").await.expect(200);
    let list = place.run(&["key", "list"]).await.printed();
    let expires = list.lines().find(|line| line.starts_with(&id)).unwrap().split_whitespace().nth(3).unwrap();
    let left = expires.parse::<Timestamp>().unwrap().duration_since(Timestamp::now());
    assert!(left > SignedDuration::from_hours(23) && left <= SignedDuration::from_hours(24));
}

#[tokio::test]
async fn after_the_overlap_only_the_new_key_is_good() {
    let place = Place::new();
    let old = place.run(&["key", "create", "shop"]).await.printed().trim_end().to_owned();
    let service = place.serve(&[]).await;
    let id = row(&place, "shop").await.remove(0);
    let new = place.run(&["key", "rotate", &id, "--overlap", "1s"]).await.printed();
    service.until(401, &old).await;
    service.get(new.trim_end(), "/v1/pets").await.expect(200);
}

#[tokio::test]
async fn a_revoked_key_cannot_be_rotated() {
    let place = Place::new();
    place.run(&["key", "create", "shop"]).await.printed();
    let id = row(&place, "shop").await.remove(0);
    place.run(&["key", "revoke", &id]).await.printed();
    let line = place.run(&["key", "rotate", &id]).await.failed();
    assert!(line.contains(&id), "{line}");
}

#[tokio::test]
async fn an_unknown_key_cannot_be_rotated_or_revoked() {
    let place = Place::new();
    place.key().await;
    for command in ["rotate", "revoke"] {
        let line = place.run(&["key", command, "key_unknown"]).await.failed();
        assert!(line.contains("key_unknown") && line.contains("key list"), "{line}");
    }
}

#[tokio::test]
async fn a_key_revoked_twice_keeps_its_first_date() {
    let place = Place::new();
    place.run(&["key", "create", "shop"]).await.printed();
    let id = row(&place, "shop").await.remove(0);
    place.run(&["key", "revoke", &id]).await.printed();
    let first = row(&place, "shop").await;
    place.run(&["key", "revoke", &id]).await.printed();
    assert_eq!(row(&place, "shop").await, first);
}
