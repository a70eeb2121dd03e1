//! Security schemes: the kinds of credentials and how they are sent.
//!
//! The name of a scheme stands for the credentials that its author means: the token of a user and that of an
//! administrator may be sent in the same way. So schemes that both documents define are the same if they have the same
//! name. Only a scheme whose name is gone is paired by content, with one whose name is new.

use std::collections::{HashMap, HashSet};

use document::openapi::{Model, Object};

use super::matching::{named, pairs_then};

/// The document that names a scheme.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    Base,
    Revision,
}

/// A scheme of the base and the same scheme of the revision, where they are listed.
pub(super) type Pair<'a> = (Object<'a>, Object<'a>);

/// Identifies a scheme in both documents: its name, in the revision if it was renamed, and whether it is defined.
pub(super) type Identity<'a> = (&'a str, bool);

/// The security schemes of both documents.
pub(super) struct Schemes<'a> {
    /// The names that each document defines.
    defined: [HashSet<&'a str>; 2],
    /// The schemes that are the same in both, by their name in the base.
    pairs: HashMap<&'a str, Pair<'a>>,
}

impl<'a> Schemes<'a> {
    pub(super) fn of(base: &'a Model<'a>, revision: &'a Model<'a>) -> Self {
        let [old, new] = [base, revision].map(|model| {
            let components = model.root().child("components").unwrap_or(model.root());
            named(&components, "securitySchemes")
        });
        let defined = [&old, &new].map(|schemes| schemes.iter().map(|(name, _)| *name).collect());
        let (same, rest) = pairs_then(old, new, |scheme| scheme.resolved().map(|scheme| content(&scheme)));
        let pairs = same.into_iter().chain(rest.both).map(|(old, new)| (old.name(), (old, new))).collect();
        Self { defined, pairs }
    }

    /// Returns a scheme of the base and the same scheme of the revision.
    pub(super) fn pair(&self, name: &str) -> Option<Pair<'a>> {
        self.pairs.get(name).copied()
    }

    pub(super) fn identity(&self, origin: Origin, name: &'a str) -> Identity<'a> {
        let pair = self.pairs.get(name).filter(|_| origin == Origin::Base);
        (pair.map_or(name, |(_, new)| new.name()), self.defined[origin as usize].contains(name))
    }
}

/// Returns the fields of a scheme that affect requests, without the scopes. The names of HTTP schemes and headers
/// are case-insensitive (RFC 9110, sections 5.1 and 11.1).
pub(super) fn content(scheme: &Object<'_>) -> String {
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
    let urls = ["authorizationUrl", "tokenUrl", "refreshUrl"];
    let flow = |(name, flow): &(&str, Object<'_>)| {
        format!("{name} {}", urls.map(|url| flow.text(url).unwrap_or_default()).join(" "))
    };
    let mut flows: Vec<_> = flows(scheme).iter().map(flow).collect();
    flows.sort_unstable();
    [kind.to_owned()].into_iter().chain(values).chain(flows).collect::<Vec<_>>().join("\n")
}

pub(super) fn flows<'a>(scheme: &Object<'a>) -> Vec<(&'a str, Object<'a>)> {
    let flows = scheme.child("flows").into_iter().flat_map(|flows| flows.parts());
    flows.map(|flow| (flow.name(), flow)).collect()
}
