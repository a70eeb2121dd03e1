//! Adding an animal and fetching it again.

use std::collections::HashSet;

use animal_store::schemas::{NewPet, Pet, PetStatus};
use futures::future::join_all;

use crate::conformance::{Engine, add, new_pet};

on_each_engine! {
    an_animal_is_stored_unchanged
    a_missing_animal_is_none
    identifiers_ascend
    identifiers_are_unique_among_64_writers
    identifiers_are_unique_among_two_handles
}

async fn an_animal_is_stored_unchanged(engine: impl Engine) {
    let store = engine.open().await;
    let longest = "🦔".repeat(255);
    let names = [
        "Rex",
        " leading and trailing ",
        "tab\tline\nreturn\r\u{1}\u{7f}",
        "e\u{301} is not \u{e9}",
        "\u{feff}\u{202e}\u{ffff}\u{10ffff}",
        "'); DROP TABLE animal; --",
        "%s \\ \" ` $1 ?1",
        "\u{e9}\u{c9}",
        &longest,
    ];
    let statuses = [None, Some(PetStatus::Available), Some(PetStatus::Pending), Some(PetStatus::Sold)];
    let categories = [i64::MIN, i64::MIN + 1, -1, 0, 1, (1 << 53) + 1, i64::MAX];
    for (number, name) in names.into_iter().cycle().take(names.len() * 28).enumerate() {
        let category = categories[number % categories.len()];
        let status = statuses[number % statuses.len()];
        let added = store.add_pet(new_pet(name, category, status)).await.unwrap();
        let NewPet { name, category_id, status } = new_pet(name, category, status);
        assert_eq!(added, Pet { id: added.id, name, category_id, status });
        assert_eq!(store.pet(added.id).await.unwrap(), Some(added));
    }
}

async fn a_missing_animal_is_none(engine: impl Engine) {
    let store = engine.open().await;
    assert_eq!(store.pet(1).await.unwrap(), None);
    let only = add(&store, "only").await;
    for id in [i64::MIN, -1, 0, only.id - 1, only.id + 1, i64::MAX] {
        assert_eq!(store.pet(id).await.unwrap(), None, "{id}");
    }
}

async fn identifiers_ascend(engine: impl Engine) {
    let store = engine.open().await;
    let mut last = 0;
    for number in 0..50 {
        let id = add(&store, &number.to_string()).await.id;
        assert!(id > last, "{id} came after {last}");
        last = id;
    }
}

async fn identifiers_are_unique_among_64_writers(engine: impl Engine) {
    let store = engine.open().await;
    let writers = (0..64).map(|writer| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut last = 0;
            let mut ids = Vec::new();
            for number in 0..20 {
                let added = add(&store, &format!("{writer}/{number}")).await;
                assert_eq!(added.name.as_str(), format!("{writer}/{number}"));
                assert!(added.id > last, "{} came after {last}", added.id);
                last = added.id;
                ids.push(added);
            }
            ids
        })
    });
    let mut ids = HashSet::new();
    for added in join_all(writers).await.into_iter().flat_map(Result::unwrap) {
        assert_eq!(store.pet(added.id).await.unwrap().as_ref(), Some(&added));
        assert!(ids.insert(added.id), "{} was used twice", added.id);
    }
    assert_eq!(ids.len(), 64 * 20);
}

async fn identifiers_are_unique_among_two_handles(engine: impl Engine) {
    let handles = [engine.open().await, engine.open().await];
    let adding = (0..40).map(|number| {
        let store = &handles[number % 2];
        async move { add(store, &number.to_string()).await }
    });
    let added = join_all(adding).await;
    let ids: HashSet<i64> = added.iter().map(|pet| pet.id).collect();
    assert_eq!(ids.len(), added.len());
    for pet in added {
        assert_eq!(handles[0].pet(pet.id).await.unwrap().as_ref(), Some(&pet));
        assert_eq!(handles[1].pet(pet.id).await.unwrap(), Some(pet));
    }
}
