//! The rate limit per key, where it is configured.

use std::time::Duration;

use crate::service::Service;
use kit::clock::Clock;

const HOUR: Duration = Duration::from_secs(3600);

#[tokio::test]
async fn a_key_may_use_its_quota_in_one_burst_and_no_more() {
    let service = Service::setup().rate_limit(3, HOUR).start().await;
    for _ in 0..3 {
        service.get("/v1/pets").await.expect(200);
    }
    let response = service.get("/v1/pets").await;
    let message = response.expect_error(429, "rate_limited");
    let wait: u64 = response.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=1200).contains(&wait), "{wait}");
    assert!(message.contains(&wait.to_string()), "{message}");
}

#[tokio::test]
async fn a_rate_limited_response_has_the_policy_and_the_state() {
    let service = Service::setup().rate_limit(3, HOUR).start().await;
    service.add(3).await;
    let response = service.get("/v1/pets").await;
    response.expect_error(429, "rate_limited");
    let wait = response.header("retry-after").unwrap();
    assert_eq!(response.header("ratelimit-policy"), Some("\"key\";q=3;w=3600"));
    assert_eq!(response.header("ratelimit"), Some(&*format!("\"key\";r=0;t={wait}")));
}

#[tokio::test]
async fn keys_have_separate_quotas() {
    let service = Service::setup().rate_limit(1, HOUR).start().await;
    let other = service.new_key("other", None).await.secret;
    service.get("/v1/pets").await.expect(200);
    service.get("/v1/pets").await.expect_error(429, "rate_limited");
    service.get_with(&other, "/v1/pets").await.expect(200);
}

#[tokio::test]
async fn operations_share_the_quota_of_a_key() {
    let service = Service::setup().rate_limit(3, HOUR).start().await;
    service.add(1).await;
    service.get("/v1/pets/1").await.expect(200);
    service.get("/v1/pets").await.expect(200);
    service.get("/v1/pets").await.expect_error(429, "rate_limited");
    service.get("/v1/pets/1").await.expect_error(429, "rate_limited");
    service.post_text("{}").await.expect_error(429, "rate_limited");
}

#[tokio::test]
async fn a_rejected_request_counts() {
    let service = Service::setup().rate_limit(1, HOUR).start().await;
    service.get("/v1/pets?limit=0").await.expect_error(400, "invalid_parameter");
    service.get("/v1/pets").await.expect_error(429, "rate_limited");
}

#[tokio::test]
async fn a_wrong_key_is_not_counted_and_not_limited() {
    let service = Service::setup().rate_limit(1, HOUR).start().await;
    for _ in 0..5 {
        service.get_with("nonsense", "/v1/pets").await.expect_error(401, "unauthorized");
    }
    service.get("/v1/pets").await.expect(200);
}

#[tokio::test]
async fn an_unknown_path_does_not_count() {
    let service = Service::setup().rate_limit(1, HOUR).start().await;
    for _ in 0..5 {
        service.get("/v1/nothing").await.expect_error(404, "not_found");
    }
    service.get("/v1/pets").await.expect(200);
}

#[tokio::test]
async fn a_request_is_allowed_after_retry_after_and_not_before() {
    let clock = Clock::stopped();
    let service = Service::setup().rate_limit(1, Duration::from_secs(10)).start().await;
    service.get("/v1/pets").await.expect(200);
    let rejected = service.get("/v1/pets").await;
    rejected.expect_error(429, "rate_limited");
    let wait = Duration::from_secs(rejected.header("retry-after").unwrap().parse().unwrap());
    let second = Duration::from_secs(1);
    clock.advance(wait - second).await;
    service.get("/v1/pets").await.expect_error(429, "rate_limited");
    clock.advance(second).await;
    service.get("/v1/pets").await.expect(200);
}

#[tokio::test]
async fn without_configuration_there_is_no_limit() {
    let service = Service::start().await;
    for _ in 0..200 {
        service.get("/v1/pets").await.expect(200);
    }
}
