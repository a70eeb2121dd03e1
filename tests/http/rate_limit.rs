//! The rate limit of a key, where one is configured.

use std::time::Duration;

use crate::clock::Clock;
use crate::service::Service;

const HOUR: Duration = Duration::from_secs(3600);

#[tokio::test]
async fn a_key_may_make_its_requests_all_at_once_and_no_more() {
    let service = Service::setup().rate_limit(3, HOUR).start().await;
    for _ in 0..3 {
        service.get("/v1/pets").await.expect(200);
    }
    let answer = service.get("/v1/pets").await;
    let message = answer.refused(429, "rate_limited");
    let wait: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=1200).contains(&wait), "{wait}");
    assert!(message.contains(&wait.to_string()), "{message}");
}

#[tokio::test]
async fn a_rate_limited_response_has_policy_and_state() {
    let service = Service::setup().rate_limit(3, HOUR).start().await;
    service.add(3).await;
    let answer = service.get("/v1/pets").await;
    answer.refused(429, "rate_limited");
    let wait = answer.header("retry-after").unwrap();
    assert_eq!(answer.header("ratelimit-policy"), Some("\"key\";q=3;w=3600"));
    assert_eq!(answer.header("ratelimit"), Some(&*format!("\"key\";r=0;t={wait}")));
}

#[tokio::test]
async fn a_spent_key_spends_no_other() {
    let service = Service::setup().rate_limit(1, HOUR).start().await;
    let other = service.new_key("other", None).await.secret;
    service.get("/v1/pets").await.expect(200);
    service.get("/v1/pets").await.refused(429, "rate_limited");
    service.get_with(&other, "/v1/pets").await.expect(200);
}

#[tokio::test]
async fn all_operations_spend_the_same() {
    let service = Service::setup().rate_limit(3, HOUR).start().await;
    service.add(1).await;
    service.get("/v1/pets/1").await.expect(200);
    service.get("/v1/pets").await.expect(200);
    service.get("/v1/pets").await.refused(429, "rate_limited");
    service.get("/v1/pets/1").await.refused(429, "rate_limited");
    service.post_text("{}").await.refused(429, "rate_limited");
}

#[tokio::test]
async fn a_refused_request_is_spent_too() {
    let service = Service::setup().rate_limit(1, HOUR).start().await;
    service.get("/v1/pets?limit=0").await.refused(400, "invalid_parameter");
    service.get("/v1/pets").await.refused(429, "rate_limited");
}

#[tokio::test]
async fn a_bad_key_spends_nothing_and_is_not_limited() {
    let service = Service::setup().rate_limit(1, HOUR).start().await;
    for _ in 0..5 {
        service.get_with("nonsense", "/v1/pets").await.refused(401, "unauthorized");
    }
    service.get("/v1/pets").await.expect(200);
}

#[tokio::test]
async fn an_unknown_path_spends_nothing() {
    let service = Service::setup().rate_limit(1, HOUR).start().await;
    for _ in 0..5 {
        service.get("/v1/nothing").await.refused(404, "not_found");
    }
    service.get("/v1/pets").await.expect(200);
}

#[tokio::test]
async fn after_retry_after_there_is_a_request_again_and_not_before() {
    let clock = Clock::stopped();
    let service = Service::setup().rate_limit(1, Duration::from_secs(10)).start().await;
    service.get("/v1/pets").await.expect(200);
    let refused = service.get("/v1/pets").await;
    refused.refused(429, "rate_limited");
    let wait = Duration::from_secs(refused.header("retry-after").unwrap().parse().unwrap());
    let second = Duration::from_secs(1);
    clock.advance(wait - second).await;
    service.get("/v1/pets").await.refused(429, "rate_limited");
    clock.advance(second).await;
    service.get("/v1/pets").await.expect(200);
}

#[tokio::test]
async fn without_a_limit_there_is_none() {
    let service = Service::start().await;
    for _ in 0..200 {
        service.get("/v1/pets").await.expect(200);
    }
}
