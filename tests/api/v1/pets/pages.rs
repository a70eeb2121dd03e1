//! Pages: the `next` link and its cursor.

use serde_json::json;

use crate::database::{Engine, on_each_engine};
use crate::service::{Service, ids};

on_each_engine! {
    the_next_link_leads_to_the_next_page
    the_last_page_has_no_next_link
    a_full_last_page_has_no_next_link
    a_full_last_page_of_a_filtered_list_has_no_next_link
    the_pages_of_a_filtered_list_have_all_matching_animals_and_no_others
    a_cursor_of_another_store_is_rejected
    an_empty_filtered_list_has_no_next_link
}

/// Returns the target of the `next` link of a page, if it has one.
pub(super) fn next(response: &kit::recorder::wire::Response) -> Option<String> {
    let link = response.header("link")?;
    let target = link.strip_prefix('<').and_then(|link| link.strip_suffix(">; rel=\"next\""));
    Some(target.unwrap_or_else(|| panic!("the link is {link}")).to_owned())
}

/// Returns the cursor of the `next` link of a page.
pub(super) fn cursor(response: &kit::recorder::wire::Response) -> String {
    next(response).expect("a next page").split_once("&cursor=").expect("a cursor").1.to_owned()
}

#[tokio::test]
async fn the_next_link_is_a_path_with_an_explicit_limit() {
    let service = Service::start().await;
    service.add(21).await;
    let target = next(&service.get("/v1/pets").await).unwrap();
    let cursor = target.strip_prefix("/v1/pets?limit=20&cursor=").expect(&target);
    assert!(!cursor.is_empty() && cursor.bytes().all(|c| c.is_ascii_alphanumeric() || b"-_".contains(&c)));
}

#[tokio::test]
async fn the_next_link_keeps_limit_and_status() {
    let service = Service::start().await;
    for _ in 0..4 {
        service.add_with("available").await;
    }
    let target = next(&service.get("/v1/pets?status=available&limit=3").await).unwrap();
    assert!(target.starts_with("/v1/pets?limit=3&status=available&cursor="), "{target}");
}

async fn the_next_link_leads_to_the_next_page(engine: Engine) {
    let service = engine.start().await;
    let added = service.add(5).await;
    let first = service.get("/v1/pets?limit=2").await;
    let second = service.get(&next(&first).unwrap()).await;
    let third = service.get(&next(&second).unwrap()).await;
    assert_eq!(ids(&first.expect(200)), added[..2]);
    assert_eq!(ids(&second.expect(200)), added[2..4]);
    assert_eq!(ids(&third.expect(200)), added[4..]);
}

async fn the_last_page_has_no_next_link(engine: Engine) {
    let service = engine.start().await;
    service.add(3).await;
    let first = service.get("/v1/pets?limit=2").await;
    let last = service.get(&next(&first).unwrap()).await;
    assert_eq!(next(&last), None);
}

async fn a_full_last_page_has_no_next_link(engine: Engine) {
    let service = engine.start().await;
    let added = service.add(4).await;
    let first = service.get("/v1/pets?limit=2").await;
    let last = service.get(&next(&first).unwrap()).await;
    assert_eq!(ids(&last.expect(200)), added[2..]);
    assert_eq!(next(&last), None);
}

async fn a_full_last_page_of_a_filtered_list_has_no_next_link(engine: Engine) {
    let service = engine.start().await;
    for status in ["sold", "available", "sold", "available"] {
        service.add_with(status).await;
    }
    let only = service.get("/v1/pets?status=sold&limit=2").await;
    assert_eq!(ids(&only.expect(200)).len(), 2);
    assert_eq!(next(&only), None);
}

async fn the_pages_of_a_filtered_list_have_all_matching_animals_and_no_others(engine: Engine) {
    let service = engine.start().await;
    let mut sold = Vec::new();
    for _ in 0..5 {
        service.add(2).await;
        sold.push(service.add_with("sold").await);
        service.add_with("pending").await;
    }
    let mut found = Vec::new();
    let mut target = Some("/v1/pets?status=sold&limit=2".to_owned());
    while let Some(page) = target {
        let response = service.get(&page).await;
        found.extend(ids(&response.expect(200)));
        target = next(&response);
    }
    assert_eq!(found, sold);
}

#[tokio::test]
async fn a_cursor_may_be_used_with_another_limit() {
    let service = Service::start().await;
    let added = service.add(8).await;
    let cursor = cursor(&service.get("/v1/pets?limit=2").await);
    let response = service.get(&format!("/v1/pets?limit=5&cursor={cursor}")).await;
    assert_eq!(ids(&response.expect(200)), added[2..7]);
    assert!(next(&response).unwrap().starts_with("/v1/pets?limit=5&cursor="));
}

#[tokio::test]
async fn a_cursor_without_a_limit_has_the_default_limit() {
    let service = Service::start().await;
    let added = service.add(25).await;
    let cursor = cursor(&service.get("/v1/pets?limit=2").await);
    let response = service.get(&format!("/v1/pets?cursor={cursor}")).await;
    assert_eq!(ids(&response.expect(200)), added[2..22]);
}

#[tokio::test]
async fn a_cursor_can_be_used_again() {
    let service = Service::start().await;
    service.add(3).await;
    let target = next(&service.get("/v1/pets?limit=2").await).unwrap();
    assert_eq!(service.get(&target).await.expect(200), service.get(&target).await.expect(200));
}

#[tokio::test]
async fn a_cursor_is_valid_with_another_key() {
    let service = Service::start().await;
    let added = service.add(3).await;
    let target = next(&service.get("/v1/pets?limit=2").await).unwrap();
    let other = service.new_key("other", None).await.secret;
    assert_eq!(ids(&service.get_with(&other, &target).await.expect(200)), added[2..]);
}

const CURSOR: &str = "cursor must come from a next link, and must be used with the status of that link";

#[tokio::test]
async fn a_cursor_of_the_whole_list_is_rejected_with_a_status() {
    let service = Service::start().await;
    service.add(3).await;
    let cursor = cursor(&service.get("/v1/pets?limit=2").await);
    let response = service.get(&format!("/v1/pets?status=sold&cursor={cursor}")).await;
    assert_eq!(response.expect_error(400, "invalid_parameter"), CURSOR);
}

#[tokio::test]
async fn a_cursor_of_a_status_is_rejected_without_it() {
    let service = Service::start().await;
    for _ in 0..3 {
        service.add_with("sold").await;
    }
    let cursor = cursor(&service.get("/v1/pets?limit=2&status=sold").await);
    let response = service.get(&format!("/v1/pets?cursor={cursor}")).await;
    assert_eq!(response.expect_error(400, "invalid_parameter"), CURSOR);
}

#[tokio::test]
async fn a_cursor_of_a_status_is_rejected_with_another() {
    let service = Service::start().await;
    for _ in 0..3 {
        service.add_with("sold").await;
    }
    let cursor = cursor(&service.get("/v1/pets?limit=2&status=sold").await);
    let response = service.get(&format!("/v1/pets?status=pending&cursor={cursor}")).await;
    assert_eq!(response.expect_error(400, "invalid_parameter"), CURSOR);
}

#[tokio::test]
async fn a_malformed_cursor_is_rejected() {
    let service = Service::start().await;
    service.add(2).await;
    for cursor in [
        "",
        "1",
        "next",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "%2B%2F%3D%20%00",
        "%FF%FE",
        // The example in the document.
        "AgEAAAAAAAAAAl3xk0nEGZ3hT0S4bD1mZ2c",
    ] {
        let response = service.get(&format!("/v1/pets?cursor={cursor}")).await;
        assert_eq!(response.expect_error(400, "invalid_parameter"), CURSOR, "{cursor}");
    }
}

#[tokio::test]
async fn a_cursor_with_any_character_changed_is_rejected() {
    let service = Service::start().await;
    service.add(2).await;
    let cursor = cursor(&service.get("/v1/pets?limit=1").await);
    for at in 0..cursor.len() {
        let mut forged = cursor.clone();
        let other = if &cursor[at..=at] == "A" { "B" } else { "A" };
        forged.replace_range(at..=at, other);
        let response = service.get(&format!("/v1/pets?cursor={forged}")).await;
        assert_eq!(response.expect_error(400, "invalid_parameter"), CURSOR, "{forged}");
    }
}

#[tokio::test]
async fn a_truncated_cursor_is_rejected() {
    let service = Service::start().await;
    service.add(2).await;
    let cursor = cursor(&service.get("/v1/pets?limit=1").await);
    for length in 0..cursor.len() {
        let response = service.get(&format!("/v1/pets?cursor={}", &cursor[..length])).await;
        response.expect_error(400, "invalid_parameter");
    }
}

#[tokio::test]
async fn a_repeated_cursor_is_rejected() {
    let service = Service::start().await;
    service.add(2).await;
    let cursor = cursor(&service.get("/v1/pets?limit=1").await);
    let response = service.get(&format!("/v1/pets?cursor={cursor}&cursor={cursor}")).await;
    assert_eq!(response.expect_error(400, "invalid_parameter"), "cursor must be given only once");
}

async fn a_cursor_of_another_store_is_rejected(engine: Engine) {
    let (service, other) = (engine.start().await, engine.start().await);
    service.add(2).await;
    other.add(2).await;
    let cursor = cursor(&other.get("/v1/pets?limit=1").await);
    let response = service.get(&format!("/v1/pets?limit=1&cursor={cursor}")).await;
    assert_eq!(response.expect_error(400, "invalid_parameter"), CURSOR);
}

async fn an_empty_filtered_list_has_no_next_link(engine: Engine) {
    let service = engine.start().await;
    service.add(30).await;
    let response = service.get("/v1/pets?status=sold&limit=1").await;
    assert_eq!(response.expect(200), json!([]));
    assert_eq!(next(&response), None);
}
