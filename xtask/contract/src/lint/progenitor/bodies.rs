//! Request bodies: one media type that progenitor supports.

use crate::finding::shortened as shown;
use crate::openapi::{Kind, Model, Object};
use crate::rule::{Findings, rules};

rules! {
    ONE: Strict Error "progenitor-one-media-type", "progenitor 0.15",
        "A request body has one media type.";
    MEDIA_TYPE: Strict Error "progenitor-request-media-type", "progenitor 0.15",
        "A request body is JSON or a form with a schema, `application/octet-stream` with a plain binary \
         string, or `text/plain` with a plain string.";
    ENCODING: Strict Error "progenitor-request-encoding", "progenitor 0.15",
        "A request body has no `encoding`.";
}

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    for body in model.all(Kind::RequestBody) {
        let mut media_types = body.children("content");
        let Some(media_type) = media_types.next() else { continue };
        if let Some(second) = media_types.next() {
            let message = format!("{} has more than one media type.", body.subject());
            findings.add(&ONE, second.spot(), message, "Keep one.");
            continue;
        }
        if media_type.get("encoding").is_some_and(|encoding| !encoding.entries().is_empty()) {
            let message = format!("{} has an `encoding`.", media_type.subject());
            findings.add(&ENCODING, media_type.key_spot("encoding"), message, "Remove it.");
        }
        let name = media_type.name();
        let essence = name.split(';').next().unwrap_or_default();
        let wrong = match essence {
            _ if !media_type.has("schema") => Some("has no schema"),
            "application/json" | "application/x-www-form-urlencoded" => None,
            "application/octet-stream" => (!is_bare(media_type, Some("binary")))
                .then_some("is not a plain `type: string` with `format: binary`"),
            "text/plain" | "text/x-markdown" => {
                (!is_bare(media_type, None)).then_some("is not a plain `type: string`")
            }
            _ => Some("is not supported"),
        };
        if let Some(wrong) = wrong {
            let message = format!("The media type `{}` of {} {wrong}.", shown(name), body.subject());
            findings.add(&MEDIA_TYPE, media_type.spot(), message, "Use `application/json` with a schema.");
        }
    }
}

fn is_bare(media_type: Object<'_>, format: Option<&str>) -> bool {
    let Some(schema) = media_type.child("schema").and_then(|schema| schema.resolved()) else { return false };
    let limits = ["pattern", "enum", "minLength", "maxLength", "default", "nullable", "discriminator"];
    schema.text("type") == Some("string")
        && schema.text("format") == format
        && !limits.iter().any(|limit| schema.has(limit))
}
