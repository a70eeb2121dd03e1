//! Responses: status codes, bodies, examples.

use document::Node;
use document::openapi::{Kind, Model, Object};
use document::rule::{Findings, Rule, rules};

rules! {
    SUCCESS: Recommended Error "operation-success-response",
        "Spectral: operation-success-response; Redocly: operation-2xx-response",
        "Each operation has a 2xx or 3xx response.";
    ERROR: Recommended Error "operation-4xx-response", "Redocly: operation-4xx-response",
        "Each operation has a 4xx response.";
    EXPLICIT: Strict Error "explicit-status-codes", "this tool",
        "Responses are listed by status code, without `default` and ranges such as `4XX`.";
    QUOTED: Spec Warning "quoted-status-codes", "OpenAPI 3.0.3, 4.7.16.2",
        "Status codes are in quotation marks, since the keys of JSON are strings.";
    EXAMPLE: Strict Error "media-type-example", "this tool",
        "Each request and response body has an example.";
    NO_BODY: Recommended Error "no-body-with-204", "RFC 9110, 6.4.1 and 15.3.6",
        "Responses with the status 1xx, 204, 205 and 304 have no body.";
}

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    for responses in model.all(Kind::Responses) {
        let owner = responses.parent().map(|operation| operation.subject()).unwrap_or_default();
        let needed: [(&Rule, &[char], _); 2] =
            [(&SUCCESS, &['2', '3'], "2xx or 3xx"), (&ERROR, &['4'], "4xx")];
        for (rule, classes, what) in needed {
            if !responses.parts().any(|response| response.name().starts_with(classes)) {
                let message = format!("{owner} has no {what} response.");
                findings.add(rule, responses.spot(), message, format!("Add a {what} response."));
            }
        }
        for response in responses.parts() {
            status(response, findings);
        }
    }
    for media_type in model.all(Kind::MediaType) {
        if !media_type.has("example") && !media_type.has("examples") {
            let message = format!("{} has no example.", media_type.subject());
            findings.add(&EXAMPLE, media_type.spot(), message, "Add an `example`.");
        }
    }
}

fn status(response: Object<'_>, findings: &mut Findings) {
    let status = response.name();
    if !status.bytes().all(|byte| byte.is_ascii_digit()) {
        let message = format!("`{status}` is not a single status code.");
        findings.add(&EXPLICIT, response.spot(), message, "List each status code.");
    }
    let spot = response.spot();
    let key = response.model().source().get(spot.span.start..).unwrap_or_default();
    if key.starts_with(status) && status.bytes().all(|byte| byte.is_ascii_digit()) {
        let message = format!("The status code {status} is not in quotation marks.");
        findings.add(&QUOTED, spot, message, format!("Write `'{status}'`.")).rename(status);
    }
    let Some(resolved) = response.resolved() else { return };
    let content = resolved.get("content").map(Node::entries).unwrap_or_default();
    if (status.starts_with('1') || matches!(status, "204" | "205" | "304")) && !content.is_empty() {
        let message =
            format!("{} has a body, which HTTP does not allow for this status.", response.subject());
        findings.add(&NO_BODY, response.spot(), message, "Remove `content`, or use another status.");
    }
}
