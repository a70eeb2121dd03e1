//! Security schemes: the kinds of credentials and how they are sent.
//!
//! A client never sends the name of a scheme. So schemes are matched by content, and by name only where the
//! content changed.

use std::collections::HashMap;

use super::comparer::{Comparer, named};
use super::place::At;
use super::{rules, unknown};
use crate::openapi::{Model, Object};
use crate::subschema::Side;

/// The security schemes of both documents.
#[derive(Default)]
pub(super) struct Schemes<'a> {
    /// The text that identifies each scheme, by its name in the base and in the revision.
    identities: [HashMap<&'a str, String>; 2],
    /// The schemes of the base, each with its counterpart in the revision.
    counterparts: HashMap<&'a str, (Object<'a>, Object<'a>)>,
}

impl<'a> Schemes<'a> {
    pub(super) fn of(base: &'a Model<'a>, revision: &'a Model<'a>) -> Self {
        let [old, new] = [base, revision].map(|model| {
            let components = model.root().child("components").unwrap_or(model.root());
            let schemes = named(&components, "securitySchemes").into_iter();
            let resolved = schemes.filter_map(|(name, scheme)| Some((name, scheme.resolved()?)));
            resolved.map(|(name, scheme)| (name, scheme, content(&scheme))).collect::<Vec<_>>()
        });
        let by_name: HashMap<_, _> = new.iter().map(|new| (new.0, new)).collect();
        let by_content: HashMap<_, _> = new.iter().rev().map(|new| (&new.2, new)).collect();
        let mut schemes = Self::default();
        for (name, scheme, content) in &old {
            let same_name = by_name.get(name).copied();
            let unchanged = same_name.filter(|new| new.2 == *content);
            let found = unchanged.or(by_content.get(content).copied()).or(same_name);
            schemes.counterparts.extend(found.map(|new| (*name, (*scheme, new.1))));
            schemes.identities[0].insert(name, found.map_or(content, |new| &new.2).clone());
        }
        schemes.identities[1] = new.into_iter().map(|(name, _, content)| (name, content)).collect();
        schemes
    }

    /// Returns a scheme of the base and its counterpart in the revision.
    pub(super) fn counterpart(&self, name: &str) -> Option<(Object<'a>, Object<'a>)> {
        self.counterparts.get(name).copied()
    }

    /// Returns the text that identifies a scheme in both documents: its content in the revision, if it is there.
    pub(super) fn identity(&self, side: Side, name: &str) -> String {
        self.identities[side as usize].get(name).map_or(name, String::as_str).to_owned()
    }
}

/// Returns the fields of a scheme that affect requests, without the scopes. The names of HTTP schemes and headers
/// are case-insensitive (RFC 9110, sections 5.1 and 11.1).
fn content(scheme: &Object<'_>) -> String {
    let kind = scheme.text("type").unwrap_or_default();
    let keywords: &[&str] = match kind {
        "apiKey" => &["in", "name"],
        "http" => &["scheme"],
        "openIdConnect" => &["openIdConnectUrl"],
        _ => &[],
    };
    let has_case = kind == "openIdConnect" || matches!(scheme.text("in"), Some("query" | "cookie"));
    let values = keywords.iter().map(|keyword| scheme.text(keyword).unwrap_or_default());
    let values = values.map(|value| if has_case { value.to_owned() } else { value.to_ascii_lowercase() });
    let mut flows: Vec<_> = flows(scheme)
        .iter()
        .map(|(name, flow)| {
            let urls =
                ["authorizationUrl", "tokenUrl", "refreshUrl"].map(|url| flow.text(url).unwrap_or_default());
            format!("{name} {}", urls.join(" "))
        })
        .collect();
    flows.sort_unstable();
    [kind.to_owned()].into_iter().chain(values).chain(flows).collect::<Vec<_>>().join("\n")
}

fn flows<'a>(scheme: &Object<'a>) -> Vec<(&'a str, Object<'a>)> {
    let flows = scheme.child("flows").into_iter().flat_map(|flows| flows.parts());
    flows.map(|flow| (flow.name(), flow)).collect()
}

/// Compares a scheme with its counterpart.
pub(super) fn compare<'a>(cx: &mut Comparer<'a>, old: &Object<'a>, new: &Object<'a>) {
    unknown::compare(cx, old, new, &[]);
    cx.compare_keyword(&rules::SCHEME_BEARER_FORMAT, (old, new), "bearerFormat");
    if content(old) != content(new) {
        for (rule, keyword) in [
            (&rules::SCHEME_TYPE, "type"),
            (&rules::SCHEME_PLACE, "in"),
            (&rules::SCHEME_PLACE, "name"),
            (&rules::SCHEME_PLACE, "scheme"),
            (&rules::SCHEME_AUTHORIZATION_URL, "openIdConnectUrl"),
        ] {
            cx.compare_keyword(rule, (old, new), keyword);
        }
    }
    let rules = (&rules::SCHEME_FLOW_ADDED, &rules::SCHEME_FLOW_REMOVED);
    let remaining = At::value_or_object(new, "flows");
    for (old, new) in cx.in_both("flow", rules, (flows(old), flows(new)), remaining) {
        flow(cx, &old, &new);
    }
}

fn flow<'a>(cx: &mut Comparer<'a>, old: &Object<'a>, new: &Object<'a>) {
    unknown::compare(cx, old, new, &[]);
    cx.compare_keyword(&rules::SCHEME_AUTHORIZATION_URL, (old, new), "authorizationUrl");
    cx.compare_keyword(&rules::SCHEME_TOKEN_URL, (old, new), "tokenUrl");
    cx.compare_keyword(&rules::SCHEME_TOKEN_URL, (old, new), "refreshUrl");
    let scopes = |flow: &Object<'a>| At::value(flow, "scopes").into_iter().flat_map(At::entries);
    let rules = (&rules::SCHEME_SCOPE_ADDED, &rules::SCHEME_SCOPE_REMOVED);
    cx.in_both("scope", rules, (scopes(old), scopes(new)), At::value_or_object(new, "scopes"));
}
