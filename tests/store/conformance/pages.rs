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
use tokio::sync::watch;

use crate::conformance::{Engine, add, new_pet};

on_each_engine! {
    every_page_equals_that_of_a_model
    pages_have_each_animal_once_during_concurrent_writes
    more_is_false_exactly_on_the_last_page
    an_animal_without_a_status_matches_none
    a_page_may_start_after_any_identifier
    a_limit_out_of_bounds_is_rejected
}

/// Reads all pages. Panics if there are more pages than animals.
async fn follow(store: &Store, status: Option<PetStatus>, limit: u32, total: usize) -> Vec<Pet> {
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
    panic!("there are more pages than animals");
}

fn any_status() -> impl Strategy<Value = Option<PetStatus>> {
    proptest::option::of(proptest::sample::select(PetStatus::ALL.to_vec()))
}

async fn every_page_equals_that_of_a_model<E: Engine>(_: E) {
    let stored = proptest::collection::vec(any_status(), 0..25);
    // A filter, an identifier to start after, as an offset to the first one, and a limit.
    let query = (any_status(), proptest::option::of(-1..27_i64), 1..=28_u32);
    let queries = proptest::collection::vec(query, 1..30);
    let config = ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() };
    let runtime = Handle::current();
    // proptest's closure is not async. Blocking is allowed because the runtime has a second thread.
    tokio::task::block_in_place(|| {
        TestRunner::new(config).run(&(stored, queries), |(statuses, queries)| {
            runtime.block_on(async {
                let engine = E::fresh().await;
                let store = engine.open().await;
                let adding = statuses.iter().map(|&status| store.add_pet(new_pet("x", 1, status)));
                let mut model: Vec<Pet> = join_all(adding).await.into_iter().map(Result::unwrap).collect();
                model.sort_by_key(|pet| pet.id);
                let first = model.first().map_or(0, |pet| pet.id);
                for (status, offset, limit) in queries {
                    let after = offset.map(|offset| first + offset);
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

async fn pages_have_each_animal_once_during_concurrent_writes(engine: impl Engine) {
    let store = engine.open().await;
    let statuses = [None, Some(PetStatus::Sold), Some(PetStatus::Pending)];
    let adding = (0..300).map(|number| store.add_pet(new_pet("first", 1, statuses[number % 3])));
    let before: Vec<Pet> = join_all(adding).await.into_iter().map(Result::unwrap).collect();
    let stop = Arc::new(AtomicBool::new(false));
    let (progress, mut added) = watch::channel(0);
    let adder = tokio::spawn({
        let (other, stop) = (engine.open().await, stop.clone());
        async move {
            for number in 0..3_000 {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                other.add_pet(new_pet("later", 1, statuses[number % 3])).await.unwrap();
                progress.send_replace(number + 1);
            }
        }
    });
    added.wait_for(|added| *added > 0).await.unwrap();
    for status in [None, Some(PetStatus::Sold)] {
        for limit in [1, 7, 100] {
            let found = follow(&store, status, limit, 10_000).await;
            let ids: BTreeSet<i64> = found.iter().map(|pet| pet.id).collect();
            assert_eq!(ids.len(), found.len(), "an animal occurs twice");
            assert!(found.is_sorted_by_key(|pet| pet.id));
            for pet in before.iter().filter(|pet| status.is_none() || pet.status == status) {
                assert!(ids.contains(&pet.id), "{} is missing", pet.id);
            }
        }
    }
    stop.store(true, Ordering::Relaxed);
    adder.await.unwrap();
    let added = *added.borrow();
    assert_eq!(follow(&store, None, 100, 10_000).await.len(), before.len() + added);
}

async fn more_is_false_exactly_on_the_last_page(engine: impl Engine) {
    let store = engine.open().await;
    let none = store.pets(PetsQuery { status: None, after: None, limit: 1 }).await.unwrap();
    assert_eq!(none, PetsFound { pets: Vec::new(), more: false });
    for number in 0..12 {
        store.add_pet(new_pet(&number.to_string(), 1, Some(PetStatus::Sold))).await.unwrap();
        add(&store, "no status").await;
    }
    for (status, total) in [(None, 24), (Some(PetStatus::Sold), 12), (Some(PetStatus::Pending), 0)] {
        for limit in 1..=Pets::MAX_ITEMS {
            let page = store.pets(PetsQuery { status, after: None, limit }).await.unwrap();
            assert_eq!(page.pets.len(), total.min(limit as usize));
            assert_eq!(page.more, total > limit as usize, "{total} animals, {limit} a page");
            assert_eq!(follow(&store, status, limit, total).await.len(), total);
        }
    }
}

async fn an_animal_without_a_status_matches_none(engine: impl Engine) {
    let store = engine.open().await;
    let without = add(&store, "no status").await;
    for status in PetStatus::ALL {
        let page = store.pets(PetsQuery { status: Some(status), after: None, limit: 100 }).await.unwrap();
        assert_eq!(page, PetsFound { pets: Vec::new(), more: false });
    }
    let page = store.pets(PetsQuery { status: None, after: None, limit: 100 }).await.unwrap();
    assert_eq!(page, PetsFound { pets: vec![without], more: false });
}

async fn a_page_may_start_after_any_identifier(engine: impl Engine) {
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

async fn a_limit_out_of_bounds_is_rejected(engine: impl Engine) {
    let store = engine.open().await;
    for limit in [0, Pets::MAX_ITEMS + 1, u32::MAX] {
        let rejected = store.pets(PetsQuery { status: None, after: None, limit }).await;
        assert!(matches!(rejected, Err(StoreError::Invalid(_))), "{limit}: {rejected:?}");
    }
}
