//! Following `next` links while animals are added, and the queries that a page needs.

use serde_json::json;

use super::pages::{cursor, next};
use crate::database::{Engine, on_each_engine};
use crate::service::{Service, ids};

on_each_engine! {
    the_links_lead_through_every_animal_exactly_once
    animals_added_between_pages_do_not_shift_pages
    during_concurrent_writes_every_earlier_animal_is_found_exactly_once
    the_last_page_gets_a_successor_when_animals_are_added
}

async fn follow(service: &Service, first: &str) -> Vec<i64> {
    let (mut found, mut target) = (Vec::new(), Some(first.to_owned()));
    while let Some(page) = target {
        let response = service.get(&page).await;
        let page_ids = ids(&response.expect(200));
        assert!(!page_ids.is_empty(), "an empty page");
        found.extend(page_ids);
        target = next(&response);
    }
    found
}

async fn the_links_lead_through_every_animal_exactly_once(engine: Engine) {
    let service = engine.start().await;
    let added = service.add(23).await;
    for limit in [1, 2, 7, 22, 23, 24] {
        assert_eq!(follow(&service, &format!("/v1/pets?limit={limit}")).await, added, "limit {limit}");
    }
}

async fn animals_added_between_pages_do_not_shift_pages(engine: Engine) {
    let service = engine.start().await;
    let earlier = service.add(9).await;
    let (mut found, mut target) = (Vec::new(), Some("/v1/pets?limit=2".to_owned()));
    for _ in 0..5 {
        let response = service.get(&target.unwrap()).await;
        found.extend(ids(&response.expect(200)));
        target = next(&response);
        service.add(1).await;
    }
    let mut found_earlier: Vec<_> = found.iter().copied().filter(|id| earlier.contains(id)).collect();
    assert_eq!(found_earlier, earlier);
    found_earlier.dedup();
    assert_eq!(found_earlier.len(), 9);
    let mut once = found.clone();
    once.dedup();
    assert_eq!(once, found);
}

async fn during_concurrent_writes_every_earlier_animal_is_found_exactly_once(engine: Engine) {
    let service = engine.start().await;
    let earlier = service.add(40).await;
    let reading = async {
        let (mut found, mut target) = (Vec::new(), Some("/v1/pets?limit=3".to_owned()));
        // The writers do not stop, so there may be no last page; the animals added before are enough.
        while let Some(page) = target.take()
            && found.last() < earlier.last()
        {
            let response = service.get(&page).await;
            found.extend(ids(&response.expect(200)));
            target = next(&response);
        }
        found
    };
    let writing = || async {
        loop {
            service.post(json!({ "name": "later", "categoryId": 2, "status": "sold" })).await.expect(201);
        }
    };
    let found = tokio::select! {
        found = reading => found,
        () = writing() => unreachable!(),
        () = writing() => unreachable!(),
    };
    assert!(found.is_sorted() && found.windows(2).all(|pair| pair[0] != pair[1]), "{found:?}");
    assert_eq!(found[..40], earlier);
}

async fn the_last_page_gets_a_successor_when_animals_are_added(engine: Engine) {
    let service = engine.start().await;
    service.add(3).await;
    let cursor = cursor(&service.get("/v1/pets?limit=2").await);
    let target = format!("/v1/pets?limit=1&cursor={cursor}");
    assert_eq!(next(&service.get(&target).await), None);
    let added = service.add(1).await;
    let now = service.get(&target).await;
    assert_eq!(ids(&service.get(&next(&now).unwrap()).await.expect(200)), added);
}

#[tokio::test]
async fn a_late_page_is_one_query_after_an_identifier() {
    let service = Service::start().await;
    let added = service.add(12).await;
    let mut target = "/v1/pets?limit=2".to_owned();
    for _ in 0..4 {
        target = next(&service.get(&target).await).unwrap();
    }
    service.store.page_queries();
    service.get(&target).await.expect(200);
    let queries = service.store.page_queries();
    assert_eq!(queries.len(), 1);
    assert_eq!((queries[0].after, queries[0].limit), (Some(added[7]), 2));
}

#[tokio::test]
async fn a_page_of_a_selective_filter_is_one_query() {
    let service = Service::start().await;
    service.add(50).await;
    let sold = service.add_with("sold").await;
    service.add(50).await;
    assert_eq!(ids(&service.get("/v1/pets?status=sold").await.expect(200)), [sold]);
    assert_eq!(service.store.page_queries().len(), 1);
}
