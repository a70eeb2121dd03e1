//! Responses: status codes, bodies, examples.

use document::Node;
use document::openapi::{Kind, Model, Object};

use crate::lint::lacking;
use crate::rule::{Findings, Rule, rules};

rules! {
    SUCCESS: Recommended Error "operation-success-response",
        "Spectral: operation-success-response; Redocly: operation-2xx-response",
        "Each operation has a 2xx or 3xx response.";
    ERROR: Recommended Error "operation-4xx-response", "Redocly: operation-4xx-response",
        "Each operation has a 4xx response.";
    QUOTED: Spec Warning fix Safe "quoted-status-codes", "OpenAPI 3.0.3, 4.7.16.2",
        "Status codes are in quotation marks, since the keys of JSON are strings.";
    EXAMPLE: Strict Error "media-type-example", "this tool",
        "Each request and response body has an example.";
    NO_BODY: Recommended Error "no-body-with-204", "RFC 9110, 6.4.1 and 15.3.6",
        "Responses with the status 1xx, 204, 205 and 304 have no body.";
}

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    let needed: [(&Rule, &[char], _, _); 2] = [
        (&SUCCESS, &['2', '3'], "2xx or 3xx response", "Add a 2xx or 3xx response."),
        (&ERROR, &['4'], "4xx response", "Add a 4xx response."),
    ];
    for (rule, classes, what, fix) in needed {
        let has = |it: &Object<'_>| it.parts().any(|response| response.name().starts_with(classes));
        lacking(rule, model.all(Kind::Responses), (what, fix), has, findings);
    }
    for response in model.all(Kind::Responses).flat_map(|responses| responses.parts()) {
        status(response, findings);
    }
    let has = |it: &Object<'_>| it.has("example") || it.has("examples");
    lacking(&EXAMPLE, model.all(Kind::MediaType), ("example", "Add an `example`."), has, findings);
}

fn status(response: Object<'_>, findings: &mut Findings) {
    let status = response.name();
    let spot = response.spot();
    let key = response.model().source().get(spot.span.start..).unwrap_or_default();
    if key.starts_with(status) && status.bytes().all(|byte| byte.is_ascii_digit()) {
        let message = "The status code is not in quotation marks.";
        findings.add(&QUOTED, spot, message, "Write quotation marks, such as `'200'`.").rename(status);
    }
    let Some(resolved) = response.resolved() else { return };
    let content = resolved.get("content").map(Node::entries).unwrap_or_default();
    if (status.starts_with('1') || matches!(status, "204" | "205" | "304")) && !content.is_empty() {
        let message =
            format!("{} has a body, which HTTP does not allow for this status.", response.subject());
        findings.add(&NO_BODY, response.spot(), message, "Remove `content`, or use another status.");
    }
}
