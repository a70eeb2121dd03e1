//! `pattern`: what text looks like.
//!
//! Whether one regular expression takes all that another one takes is not decided here. A pattern that
//! takes everything is known as such; any other change may refuse what was accepted.

use std::collections::BTreeMap;

use crate::document::Node;

use super::{Both, Schema};
use crate::breaking::comparer::Comparer;
use crate::breaking::rules;
use crate::finding::shortened;

/// They find something in every text; a pattern need not match the whole of it.
const TAKE_ALL: [&str; 4] = ["", ".*", "^", "^.*"];

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    let (base, revision) = (patterns(&both.base), patterns(&both.revision));
    let removed: Vec<_> = base.iter().filter(|(pattern, _)| !revision.contains_key(*pattern)).collect();
    let added: Vec<_> = revision.iter().filter(|(pattern, _)| !base.contains_key(*pattern)).collect();
    match (removed.first(), added.first()) {
        (None, None) => {}
        (None, Some((new, node))) => {
            let what = format!("it must now match the pattern `{}`", shortened(new));
            both.report(cx, &rules::PATTERN_ADDED, None, Some(node), what);
        }
        (Some((old, node)), None) => {
            let what = format!("it need no longer match the pattern `{}`", shortened(old));
            both.report(cx, &rules::PATTERN_REMOVED, Some(node), None, what);
        }
        (Some((old, old_node)), Some((new, new_node))) => {
            let what = format!("its pattern went from `{}` to `{}`", shortened(old), shortened(new));
            let general = added.iter().all(|(pattern, _)| TAKE_ALL.contains(pattern));
            let family = if general { &rules::PATTERN_GENERALIZED } else { &rules::PATTERN_CHANGED };
            both.report(cx, family, Some(old_node), Some(new_node), what);
        }
    }
}

fn patterns<'a>(schema: &Schema<'a>) -> BTreeMap<&'a str, &'a Node> {
    schema.all("pattern").filter_map(|node| Some((node.as_str()?, node))).collect()
}
