//! Error codes: each code of an example is in the table, and each code in the table is used.

use std::collections::HashSet;

use document::finding::shortened;
use document::openapi::{Id, Kind, Model, Object, Step};
use document::repair::Repair;
use document::rule::Findings;
use document::{Node, Value};

use super::known::Known;
use super::{CODE_LISTED, CODE_STATUS, CODE_USED, MAX_BYTES, Prose};
use checks::lint::examples_of;

pub(crate) fn check(model: &Model<'_>, known: &Known<'_>, findings: &mut Findings) {
    // A response of `components` is checked once for each status that uses it.
    let mut seen: HashSet<(Id, &str)> = HashSet::new();
    for responses in model.all(Kind::Responses) {
        for response in responses.parts().filter(|response| response.name().starts_with(['4', '5'])) {
            let Some(resolved) = response.resolved() else { continue };
            // The examples under `4XX` may have any status from 400 to 499.
            let is_status = response.name().bytes().all(|byte| byte.is_ascii_digit());
            if is_status && seen.insert((resolved.id, response.name())) {
                for media_type in resolved.children("content") {
                    examples(media_type, response.name(), known, findings);
                }
            }
        }
    }
    for prose in model.all(Kind::Info).filter_map(|info| Prose::of(info, "description")) {
        used(prose, known, findings);
    }
}

fn examples(media_type: Object<'_>, status: &str, known: &Known<'_>, findings: &mut Findings) {
    for (owner, keyword, value) in examples_of(media_type) {
        let spot = |key: &str, node: &Node| owner.spot_at(&[Step::Key(keyword), Step::Key(key)], node.span);
        if let Some(node @ Node { value: Value::Number(number), .. }) = value.get("status")
            && number.to_string() != status
        {
            let message = format!("This error has the status {number}, but is an example of {status}.");
            let added = findings.add(&CODE_STATUS, spot("status", node), message, format!("Write {status}."));
            if let Ok(status) = status.parse::<u16>() {
                added.write(status);
            }
        }
        let Some(node) = value.get("code") else { continue };
        let Some(code) = node.as_str() else { continue };
        let listed = known.codes.get(code).map(|listed| listed.status);
        if listed == Some(status) {
            continue;
        }
        let message = match listed {
            None => format!("The code `{}` is not in the table of `info.description`.", shortened(code)),
            Some(other) => {
                format!(
                    "The code `{}` is listed with status {other}, but used with {status}.",
                    shortened(code)
                )
            }
        };
        let fix =
            format!("Write the row ``| `{}` | {status} | ... |``, or use another code.", shortened(code));
        findings.add(&CODE_LISTED, spot("code", node), message, fix);
    }
}

fn used(prose: Prose<'_>, known: &Known<'_>, findings: &mut Findings) {
    let explained: HashSet<&str> = prose
        .text
        .lines()
        .filter(|line| !line.trim_start().starts_with('|'))
        .flat_map(|line| line.split('`').skip(1).step_by(2))
        .collect();
    for (code, listed) in &known.codes {
        if !known.statuses.contains(listed.status) && !explained.contains(code) {
            let message = format!(
                "No operation has a response {}, so `{}` cannot occur.",
                listed.status,
                shortened(code)
            );
            let fix = "Declare the response, or remove the row.";
            let added = findings.add(&CODE_USED, prose.spot(listed.row.clone()), message, fix);
            // The repair has the whole text.
            if prose.text.len() <= MAX_BYTES {
                let at = prose.owner.value_spot(prose.keyword).pointer;
                let rest = prose.text[listed.row.end..].trim_start_matches([' ', '\t']);
                let (before, rest) =
                    (&prose.text[..listed.row.start], rest.strip_prefix('\n').unwrap_or(rest));
                added.repair(Repair::Write { at, value: format!("{before}{rest}").into() });
            }
        }
    }
}
