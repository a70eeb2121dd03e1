//! Finds the Rust code of a finding by the trail of its subject.

use checks::finding::{Finding, Location, Severity};
use document::place::Subject;

use super::index::{Endpoint, Index, RESPONSE_HEADERS, WireType};

/// Kinds and names from the document to the subject.
type Trail<'t> = &'t [(&'static str, String)];

/// The function that registers all operations: the location of findings that have no other.
const WHOLE: &str = "all";

pub(super) fn locate<'i>(index: &'i Index, finding: &Finding) -> Option<&'i Location> {
    let of_info = finding.subject.trail().first().is_some_and(|(kind, _)| *kind == "info");
    // These do not concern the code.
    if finding.severity == Severity::Unreadable || of_info {
        return None;
    }
    let trail = match finding.subject.trail() {
        [trail @ .., ("keyword", _)] => trail,
        trail => trail,
    };
    Locator { index, finding }.document(trail).or_else(|| index.name(WHOLE))
}

/// Finds the Rust code of an object by its subject. `None` if it has no code of its own.
pub(super) fn place<'i>(index: &'i Index, subject: &Subject) -> Option<&'i Location> {
    Locator { index, finding: &Finding::default() }.document(subject.trail())
}

struct Locator<'i, 'f> {
    index: &'i Index,
    finding: &'f Finding,
}

impl<'i> Locator<'i, '_> {
    fn document(&self, trail: Trail<'_>) -> Option<&'i Location> {
        let index = self.index;
        let ((kind, name), rest) = trail.split_first()?;
        match *kind {
            "server" => index.name("BASE_PATH"),
            "security scheme" => index.name("SCHEME_NAME"),
            "path" => self.path(name, rest),
            "operation" => Some(self.operation(index.endpoint(name)?, rest)),
            "schema" => Some(self.inside(index.schema(name)?, rest)),
            _ => None,
        }
    }

    fn path(&self, path: &str, rest: Trail<'_>) -> Option<&'i Location> {
        let method = match rest {
            [("operation", method), ..] => Some(method),
            _ => None,
        };
        let mut endpoints = self.index.endpoints.iter().filter(|endpoint| endpoint.path == path);
        endpoints.find(|it| method.is_none_or(|method| it.method == *method)).map(|it| &it.function)
    }

    fn operation(&self, endpoint: &'i Endpoint, rest: Trail<'_>) -> &'i Location {
        let found = match rest {
            [("parameter", name), ..] => {
                // The name may have its location: `limit in query`.
                self.index.field(endpoint, name.split(" in ").next().unwrap_or(name))
            }
            [("response", status), ("header", name), ..] => self.header(endpoint, status, name),
            // All error responses have the same body.
            [("response", status), _, ..] if is_error(status) => {
                self.index.schema("Error").map(|it| &it.place)
            }
            _ => None,
        };
        found.unwrap_or(&endpoint.function)
    }

    /// Locates the field of a header, or what adds it to several responses.
    fn header(&self, endpoint: &Endpoint, status: &str, name: &str) -> Option<&'i Location> {
        let shared = match self.index.is_in_every_response(name) {
            true => self.index.name(RESPONSE_HEADERS),
            false => self.index.name("ErrorCode::headers").filter(|_| is_error(status)),
        };
        let own = self.index.field(endpoint, name).filter(|_| !is_error(status));
        own.or(shared)
    }

    /// Locates a part of a type.
    fn inside(&self, of: &'i WireType, rest: Trail<'_>) -> &'i Location {
        let member = match rest {
            [("property", name), ..] => of.member(name),
            // A value of `required` or `enum`.
            [] => self.finding.instead.as_ref().and_then(|name| of.member(name)),
            _ => None,
        };
        member.unwrap_or(&of.place)
    }
}

fn is_error(status: &str) -> bool {
    !status.starts_with(['1', '2', '3'])
}
