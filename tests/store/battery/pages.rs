//! Listing animals, page by page.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use animal_store::schemas::{Pet, PetStatus, Pets};
use animal_store::storage::{PetsFound, PetsQuery, Store, StoreError};
use futures::future::join_all;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use tokio::runtime::Handle;

use super::fresh;
use crate::battery::{Engine as _, add, new_pet};

/// Follows the pages to the end, which must come within as many as there could be.
async fn follow(store: &dyn Store, status: Option<PetStatus>, limit: u32, total: usize) -> Vec<Pet> {
    let mut all = Vec::new();
    let mut after = None;
    for _ in 0..=total {
        let PetsFound { pets, more } = store.pets(PetsQuery { status, after, limit }).await.unwrap();
        assert!(pets.len() <= limit as usize);
        after = pets.last().map(|last| last.id).or(after);
        all.extend(pets);
        if !more {
            return all;
        }
    }
    panic!("there is no end of pages");
}

fn any_status() -> impl Strategy<Value = Option<PetStatus>> {
    proptest::option::of(proptest::sample::select(PetStatus::ALL.to_vec()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_page_agrees_with_a_model() {
    if fresh().await.is_none() {
        return;
    }
    let stored = proptest::collection::vec(any_status(), 0..25);
    // A filter, an identifier to begin after, given as a place among the animals, and a limit.
    let asked = (any_status(), proptest::option::of(-1..27_i64), 1..=28_u32);
    let questions = proptest::collection::vec(asked, 1..30);
    let config = ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() };
    let runtime = Handle::current();
    // proptest calls back without `async`; this thread may wait, since the runtime has another.
    tokio::task::block_in_place(|| {
        TestRunner::new(config).run(&(stored, questions), |(statuses, questions)| {
            runtime.block_on(async {
                let engine = fresh().await.unwrap();
                let store = engine.open().await;
                let adding = statuses.iter().map(|&status| store.add_pet(new_pet("x", 1, status)));
                let mut model: Vec<Pet> = join_all(adding).await.into_iter().map(Result::unwrap).collect();
                model.sort_by_key(|pet| pet.id);
                let first = model.first().map_or(0, |pet| pet.id);
                for (status, place, limit) in questions {
                    let after = place.map(|place| first + place);
                    let mut left = model.iter().filter(|pet| {
                        after.is_none_or(|after| pet.id > after)
                            && status.is_none_or(|status| pet.status == Some(status))
                    });
                    let pets = left.by_ref().take(limit as usize).cloned().collect();
                    let expected = PetsFound { pets, more: left.next().is_some() };
                    let query = PetsQuery { status, after, limit };
                    prop_assert_eq!(store.pets(query).await.unwrap(), expected, "{:?}", query);
                }
                Ok(())
            })
        })
    })
    .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_hold_each_animal_once_while_others_add() {
    let Some(engine) = fresh().await else { return };
    let store = engine.open().await;
    let statuses = [None, Some(PetStatus::Sold), Some(PetStatus::Pending)];
    let adding = (0..300).map(|number| store.add_pet(new_pet("first", 1, statuses[number % 3])));
    let before: Vec<Pet> = join_all(adding).await.into_iter().map(Result::unwrap).collect();
    let stop = Arc::new(AtomicBool::new(false));
    let adder = tokio::spawn({
        let (other, stop) = (engine.open().await, stop.clone());
        async move {
            let mut added = 0;
            while !stop.load(Ordering::Relaxed) && added < 3_000 {
                other.add_pet(new_pet("later", 1, statuses[added % 3])).await.unwrap();
                added += 1;
            }
            added
        }
    });
    for status in [None, Some(PetStatus::Sold)] {
        for limit in [1, 7, 100] {
            let found = follow(&*store, status, limit, 10_000).await;
            let ids: BTreeSet<i64> = found.iter().map(|pet| pet.id).collect();
            assert_eq!(ids.len(), found.len(), "an animal came twice");
            assert!(found.is_sorted_by_key(|pet| pet.id));
            for pet in before.iter().filter(|pet| status.is_none() || pet.status == status) {
                assert!(ids.contains(&pet.id), "{} is missing", pet.id);
            }
        }
    }
    stop.store(true, Ordering::Relaxed);
    let added = adder.await.unwrap();
    assert!(added > 0);
    assert_eq!(follow(&*store, None, 100, 10_000).await.len(), before.len() + added);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_the_last_page_has_no_more() {
    let Some(engine) = fresh().await else { return };
    let store = engine.open().await;
    let none = store.pets(PetsQuery { status: None, after: None, limit: 1 }).await.unwrap();
    assert_eq!(none, PetsFound { pets: Vec::new(), more: false });
    for number in 0..12 {
        store.add_pet(new_pet(&number.to_string(), 1, Some(PetStatus::Sold))).await.unwrap();
        add(&*store, "no status").await;
    }
    for (status, total) in [(None, 24), (Some(PetStatus::Sold), 12), (Some(PetStatus::Pending), 0)] {
        for limit in 1..=Pets::MAX_ITEMS {
            let page = store.pets(PetsQuery { status, after: None, limit }).await.unwrap();
            assert_eq!(page.pets.len(), total.min(limit as usize));
            assert_eq!(page.more, total > limit as usize, "{total} animals, {limit} a page");
            assert_eq!(follow(&*store, status, limit, total).await.len(), total);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_animal_without_a_status_matches_none() {
    let Some(engine) = fresh().await else { return };
    let store = engine.open().await;
    let without = add(&*store, "nobody said").await;
    for status in PetStatus::ALL {
        let page = store.pets(PetsQuery { status: Some(status), after: None, limit: 100 }).await.unwrap();
        assert_eq!(page, PetsFound { pets: Vec::new(), more: false });
    }
    let page = store.pets(PetsQuery { status: None, after: None, limit: 100 }).await.unwrap();
    assert_eq!(page, PetsFound { pets: vec![without], more: false });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_may_begin_anywhere() {
    let Some(engine) = fresh().await else { return };
    let store = engine.open().await;
    let pet = store.add_pet(new_pet("x", 1, Some(PetStatus::Available))).await.unwrap();
    for status in [None, pet.status] {
        for (after, found) in [
            (i64::MIN, true),
            (-1, true),
            (pet.id - 1, true),
            (pet.id, false),
            (i64::MAX - 1, false),
            (i64::MAX, false),
        ] {
            let page = store.pets(PetsQuery { status, after: Some(after), limit: 1 }).await.unwrap();
            let pets = if found { vec![pet.clone()] } else { Vec::new() };
            assert_eq!(page, PetsFound { pets, more: false }, "after {after}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_without_bounds_is_refused() {
    let Some(engine) = fresh().await else { return };
    let store = engine.open().await;
    for limit in [0, Pets::MAX_ITEMS + 1, u32::MAX] {
        let refused = store.pets(PetsQuery { status: None, after: None, limit }).await;
        assert!(matches!(refused, Err(StoreError::Broken(_))), "{limit}: {refused:?}");
    }
}
