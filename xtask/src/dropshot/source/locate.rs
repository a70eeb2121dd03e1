//! Finds the Rust code of a finding by the trail of its subject.

use animal_store::http::error_code::ErrorCode;
use document::finding::{Finding, Severity, Subject};
use heck::ToSnakeCase;

use super::endpoint::Endpoint;
use super::index::{Index, Spot};
use super::types::{Member, WireType};

/// Kinds and names from the document to the subject.
type Trail<'t> = &'t [(&'static str, String)];

/// The function that registers all operations: the location of findings that have no other.
const WHOLE: &str = "api";
const BASE_PATH: &str = "BASE_PATH";

pub(super) fn locate(index: &Index, finding: &Finding) -> Option<Spot> {
    let of_info = finding.subject.trail().first().is_some_and(|(kind, _)| *kind == "info");
    // These do not concern the code.
    if finding.severity == Severity::Unreadable || of_info {
        return None;
    }
    let (keyword, trail) = match finding.subject.trail() {
        [trail @ .., ("keyword", keyword)] => (keyword.as_str(), trail),
        trail => ("", trail),
    };
    Locator { index, finding, keyword }.document(trail).or_else(|| index.name(WHOLE))
}

/// Finds the Rust code of an object by its subject. `None` if it has no code of its own.
pub(super) fn place(index: &Index, subject: &Subject) -> Option<Spot> {
    let finding = Finding { subject: subject.clone(), ..Finding::default() };
    Locator { index, finding: &finding, keyword: "" }.document(subject.trail())
}

struct Locator<'l> {
    index: &'l Index,
    finding: &'l Finding,
    /// The keyword that differs; empty if the finding has none.
    keyword: &'l str,
}

impl<'l> Locator<'l> {
    /// Returns the keyword if it belongs to a schema.
    fn schema_keyword(&self) -> Option<&'l str> {
        let of_schema = matches!(self.finding.rule.as_str(), "schema-differs" | "unknown-keyword");
        Some(self.keyword).filter(|keyword| of_schema && !keyword.is_empty())
    }

    /// Returns the different name that the code has.
    fn instead(&self) -> Option<&'l str> {
        self.finding.instead.as_deref()
    }

    /// Returns the code's name of the thing that the document calls `name`. It is different only if the finding says that
    /// the code lacks this thing, which is then the last of the trail.
    fn in_code<'n>(&'n self, name: &'n str, rest: Trail<'_>) -> &'n str {
        let is_missing = rest.is_empty() && self.finding.rule.ends_with("-not-in-code");
        self.instead().filter(|_| is_missing).unwrap_or(name)
    }

    fn document(&self, trail: Trail<'_>) -> Option<Spot> {
        let index = self.index;
        let ((kind, name), rest) = trail.split_first()?;
        match *kind {
            "server" => index.name(BASE_PATH),
            "tag" => self.tag(self.instead().unwrap_or(name)),
            "path" => self.path(name, rest),
            "operation" => self.operation(index.endpoint(name)?, rest),
            "schema" => Some(self.inside(index.schema(self.in_code(name, rest))?, rest)),
            "security scheme" => index.name(match self.keyword {
                "" => "SCHEME_NAME",
                "type" => "SCHEME_TYPE",
                _ => "SCHEME",
            }),
            _ => None,
        }
    }

    /// Returns the literal of a tag, or else the list of tags.
    fn tag(&self, name: &str) -> Option<Spot> {
        let literal = self.index.word(|word| word.literal && word.text == name);
        literal.or_else(|| self.index.word(|word| word.text == "tags"))
    }

    fn path(&self, path: &str, rest: Trail<'_>) -> Option<Spot> {
        let (path, method, key) = match rest {
            [("operation", method), rest @ ..] => (path, Some(self.in_code(method, rest)), "method"),
            _ => (self.in_code(path, &[]), None, "path"),
        };
        let is_sought = |endpoint: &&Endpoint| {
            endpoint.path == path && method.is_none_or(|method| endpoint.method == method)
        };
        self.index.endpoints.iter().find(is_sought).map(|endpoint| endpoint.key(key))
    }

    fn operation(&self, endpoint: &Endpoint, rest: Trail<'_>) -> Option<Spot> {
        let Some(((kind, name), rest)) = rest.split_first() else {
            return Some(match self.keyword {
                "operationId" => endpoint.key("operation_id"),
                "tags" | "deprecated" => endpoint.key(self.keyword),
                _ if self.finding.rule == "operation-security" => endpoint.context,
                _ => endpoint.function,
            });
        };
        match *kind {
            "parameter" => Some(self.parameter(endpoint, name, rest)),
            "request body" | "media type" => {
                Some(endpoint.input("TypedBody").map_or(endpoint.context, |body| body.spot))
            }
            "response" if name.starts_with(['1', '2', '3']) => Some(self.success(endpoint, rest)),
            "response" => self.error_response(endpoint, name, rest),
            _ => Some(endpoint.function),
        }
    }

    /// `name` is the name of the parameter, possibly with its location: `limit in query`.
    fn parameter(&self, endpoint: &Endpoint, name: &str, rest: Trail<'_>) -> Spot {
        let sought = self.in_code(name, rest);
        let (name, place) = sought.split_once(" in ").unwrap_or((sought, ""));
        let types = || {
            let inputs = endpoint.inputs.iter();
            inputs.filter_map(|input| Some((input, self.index.rust_type(&input.of)?)))
        };
        let found = types().find_map(|(input, of)| Some((input, of.member(name)?)));
        if let Some((input, member)) = found {
            return if self.keyword == "in" { input.spot } else { self.member(member, rest) };
        }
        // A missing parameter belongs to the others of its location, if there are any.
        let same_location = types().find(|(input, _)| input.name.eq_ignore_ascii_case(place));
        same_location.map_or(endpoint.context, |(_, of)| of.spot)
    }

    fn success(&self, endpoint: &Endpoint, rest: Trail<'_>) -> Spot {
        let success = endpoint.success.as_ref().map_or(endpoint.output, |success| success.spot);
        let body = || self.index.rust_type(&endpoint.success.as_ref()?.of);
        match rest {
            [("header", name), rest @ ..] => self.header(endpoint, name, rest),
            [("media type", _), rest @ ..] if !rest.is_empty() => {
                body().map_or(success, |body| self.inside(body, rest))
            }
            _ => success,
        }
    }

    /// Locates a header of a successful response.
    fn header(&self, endpoint: &Endpoint, name: &str, rest: Trail<'_>) -> Spot {
        let name = self.in_code(name, rest);
        let headers = endpoint.headers.as_ref().and_then(|headers| self.index.rust_type(&headers.name));
        let declared = || match headers {
            None => endpoint.output,
            Some(of) => of.member(name).map_or(of.spot, |member| self.member(member, rest)),
        };
        self.edge_header(name).unwrap_or_else(declared)
    }

    /// Locates a header of every response, or of responses of deprecated operations.
    fn edge_header(&self, name: &str) -> Option<Spot> {
        self.index.word(|word| word.owner.is_empty() && word.is_header(name))
    }

    /// Locates an error response: the code that returns it, or what declares the codes.
    fn error_response(&self, endpoint: &Endpoint, status: &str, rest: Trail<'_>) -> Option<Spot> {
        let codes = ErrorCode::ALL.iter().filter(|code| code.status().as_str() == status);
        let codes: Vec<String> = codes.map(|code| format!("{code:?}")).collect();
        match rest.first() {
            None => {
                let error = endpoint.error.as_ref();
                let declared = self.index.word(|word| {
                    let by_error = error.is_some_and(|error| error.name == word.owner);
                    let by_input = endpoint.input(&word.owner).is_some();
                    let by_key = word.within == "COMMON_CODES";
                    (by_error || by_input || by_key) && codes.contains(&word.text)
                });
                declared.or(Some(error.map_or(endpoint.context, |error| error.spot)))
            }
            Some(("header", name)) => {
                let name = self.in_code(name, &rest[1..]);
                self.edge_header(name).or_else(|| self.code_header(name, &codes))
            }
            // All error responses have the same body.
            Some(_) => self.index.schema("Error").map(|error| error.spot),
        }
    }

    /// Locates a header of an error code, or the match arm of that code.
    fn code_header(&self, name: &str, codes: &[String]) -> Option<Spot> {
        let literal = self.index.word(|word| word.owner == "ErrorCode" && word.is_header(name));
        literal.or_else(|| codes.iter().find_map(|code| self.word_in("ErrorCode", "headers", code)))
    }

    /// Locates a part of a type.
    fn inside(&self, of: &WireType, rest: Trail<'_>) -> Spot {
        let member = || self.instead().and_then(|name| of.member(name)).map(|member| member.spot);
        let spot = match (rest, self.keyword) {
            ([("property", name), rest @ ..], _) => {
                of.member(self.in_code(name, rest)).map(|member| self.member(member, rest))
            }
            ([(kind, _), ..], _) => self.word_in(&of.name, "json_schema", &kind.to_snake_case()),
            ([], "additionalProperties") => of.closed,
            ([], "required" | "enum") => member().or_else(|| self.keyword_of(of)),
            ([], _) => self.keyword_of(of),
        };
        spot.unwrap_or(of.spot)
    }

    /// Locates a field, or the hand-written schema of its type.
    fn member(&self, member: &Member, rest: Trail<'_>) -> Spot {
        let of = self.index.rust_type(&member.of);
        if let Some(of) = of.filter(|_| !rest.is_empty()) {
            return self.inside(of, rest);
        }
        if self.finding.rule == "schema-reference" {
            return member.type_spot;
        }
        let Some(keyword) = self.schema_keyword() else { return member.spot };
        if let Some(function) = &member.schema_with {
            let name = function.rsplit("::").next().unwrap_or(function);
            let word = self.word_in("", name, &rust_keyword(keyword));
            return word.or_else(|| self.index.name(name)).unwrap_or(member.spot);
        }
        let default = member.default.filter(|_| keyword == "default");
        let of = of.filter(|of| of.hand_written);
        of.and_then(|of| self.keyword_of(of)).or(default).unwrap_or(member.spot)
    }

    /// Locates the keyword in a hand-written schema.
    fn keyword_of(&self, of: &WireType) -> Option<Spot> {
        let keyword = self.schema_keyword().filter(|_| of.hand_written)?;
        self.word_in(&of.name, "json_schema", &rust_keyword(keyword))
    }

    fn word_in(&self, owner: &str, function: &str, text: &str) -> Option<Spot> {
        self.index.word(|word| word.owner == owner && word.within == function && word.text == text)
    }
}

/// Returns the name of a keyword in schemars: `maxItems` is `max_items`.
fn rust_keyword(keyword: &str) -> String {
    match keyword {
        "type" => "instance_type".to_owned(),
        "enum" => "enum_values".to_owned(),
        "default" => "x-default".to_owned(),
        _ => keyword.to_snake_case(),
    }
}
