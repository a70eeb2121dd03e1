//! The commands `backup` and `copy`, and the way back.

use crate::postgres_cluster;
use crate::program::Place;

#[tokio::test]
async fn a_backup_of_a_running_service_is_restored_by_its_path() {
    let place = Place::new();
    let key = place.key().await;
    let service = place.serve(&[]).await;
    service.add(&key, 3).await;
    let before = service.all(&key).await;
    assert_eq!(place.run(&["backup", "kept.db"]).await.printed(), "");
    service.add(&key, 3).await;
    let line = place.run(&["backup", "kept.db"]).await.failed();
    assert_eq!(line, "error: kept.db exists already; give another path, or move it away");
    service.stop().await;

    let restored = place.serve(&["--database", "sqlite:kept.db"]).await;
    assert_eq!(restored.all(&key).await, before);
}

#[tokio::test]
async fn a_backup_of_postgresql_is_left_to_its_own_tools() {
    let place = Place::new();
    let line = place.run(&["backup", "kept.db", "--database", "postgres://u:sesame@h/d"]).await.failed();
    assert!(line.contains("pg_dump") && !line.contains("sesame"), "{line}");
    assert_eq!(place.files(), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copied_store_serves_the_same_to_the_same_keys() {
    let Some(cluster) = postgres_cluster::shared() else { return };
    let target = cluster.url(&cluster.database("").await);
    let place = Place::new();
    let key = place.key().await;
    let service = place.serve(&["--database", "sqlite:from.db"]).await;
    let made = place.run(&["key", "create", "tests", "--database", "sqlite:from.db"]).await.printed();
    let made = made.trim_end();
    service.add(made, 25).await;
    let before = service.all(made).await;
    service.stop().await;

    let copy = ["copy", "--from", "sqlite:from.db", "--to", &target];
    let line = place.run(&copy).await.printed();
    assert!(line.starts_with("25 animals (0 of them from an earlier run) and 1 keys are the same"), "{line}");
    let again = place.run(&copy).await.printed();
    assert!(again.starts_with("25 animals (25 of them from an earlier run)"), "{again}");
    assert_eq!(line.rsplit(' ').next(), again.rsplit(' ').next());

    let service = place.serve(&["--database", &target]).await;
    assert_eq!(service.all(made).await, before);
    assert!(service.add(made, 1).await[0] > 25);
    assert_eq!(service.get(&key, "/v1/pets").await.status, 401, "that key is of another store");
    let line = place.run(&copy).await.failed();
    assert_eq!(line, "error: the target holds animals that are not from the source; give an empty database");
}
