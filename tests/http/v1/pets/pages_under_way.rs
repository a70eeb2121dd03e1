//! Following the links while the store changes, and what a deep page costs.

use serde_json::json;

use super::pages::{cursor, next};
use crate::service::{Service, ids};

async fn follow(service: &Service, first: &str) -> Vec<i64> {
    let (mut found, mut target) = (Vec::new(), Some(first.to_owned()));
    while let Some(page) = target {
        let answer = service.get(&page).await;
        let here = ids(&answer.expect(200));
        assert!(!here.is_empty(), "an empty page");
        found.extend(here);
        target = next(&answer);
    }
    found
}

#[tokio::test]
async fn the_links_lead_through_every_animal_exactly_once() {
    let service = Service::start().await;
    let added = service.add(23).await;
    for limit in [1, 2, 7, 22, 23, 24] {
        assert_eq!(follow(&service, &format!("/v1/pets?limit={limit}")).await, added, "limit {limit}");
    }
}

#[tokio::test]
async fn animals_added_between_two_pages_do_not_shift_them() {
    let service = Service::start().await;
    let at_the_start = service.add(9).await;
    let (mut found, mut target) = (Vec::new(), Some("/v1/pets?limit=2".to_owned()));
    for _ in 0..5 {
        let answer = service.get(&target.unwrap()).await;
        found.extend(ids(&answer.expect(200)));
        target = next(&answer);
        service.add(1).await;
    }
    let mut there: Vec<_> = found.iter().copied().filter(|id| at_the_start.contains(id)).collect();
    assert_eq!(there, at_the_start);
    there.dedup();
    assert_eq!(there.len(), 9);
    let mut once = found.clone();
    once.dedup();
    assert_eq!(once, found);
}

#[tokio::test]
async fn while_others_add_every_animal_of_the_start_is_found_exactly_once() {
    let service = Service::start().await;
    let at_the_start = service.add(40).await;
    let reading = async {
        let (mut found, mut target) = (Vec::new(), Some("/v1/pets?limit=3".to_owned()));
        // The writers never stop by themselves, so the end may never come; the start is enough.
        while let Some(page) = target.take()
            && found.last() < at_the_start.last()
        {
            let answer = service.get(&page).await;
            found.extend(ids(&answer.expect(200)));
            target = next(&answer);
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
    assert_eq!(found[..40], at_the_start);
}

#[tokio::test]
async fn the_last_page_gets_a_successor_when_animals_are_added() {
    let service = Service::start().await;
    service.add(3).await;
    let cursor = cursor(&service.get("/v1/pets?limit=2").await);
    let target = format!("/v1/pets?limit=1&cursor={cursor}");
    assert_eq!(next(&service.get(&target).await), None);
    let added = service.add(1).await;
    let now = service.get(&target).await;
    assert_eq!(ids(&service.get(&next(&now).unwrap()).await.expect(200)), added);
}

#[tokio::test]
async fn a_deep_page_asks_the_store_for_one_page_after_an_identifier() {
    let service = Service::start().await;
    let added = service.add(12).await;
    let mut target = "/v1/pets?limit=2".to_owned();
    for _ in 0..4 {
        target = next(&service.get(&target).await).unwrap();
    }
    service.store.asked();
    service.get(&target).await.expect(200);
    let asked = service.store.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!((asked[0].after, asked[0].limit), (Some(added[7]), 2));
}

#[tokio::test]
async fn a_page_of_a_rare_filter_asks_the_store_once() {
    let service = Service::start().await;
    service.add(50).await;
    let sold = service.add_with("sold").await;
    service.add(50).await;
    assert_eq!(ids(&service.get("/v1/pets?status=sold").await.expect(200)), [sold]);
    assert_eq!(service.store.asked().len(), 1);
}
