//! From a finding to a place in the code, along the trail of its subject.

use animal_store::responses::Code;

use super::endpoint::Endpoint;
use super::index::{Index, Spot};
use super::types::{Member, WireType};
use super::words::Word;
use crate::finding::{Finding, Severity};

/// Kinds and names from the document down.
type Trail<'t> = &'t [(&'static str, String)];

/// Where all operations are put together, beside [`BASE_PATH`]: what nobody else says is said there.
const WHOLE: &str = "api";
const BASE_PATH: &str = "BASE_PATH";

pub(super) fn locate(index: &Index, finding: &Finding) -> Option<Spot> {
    // Nothing was compared, so the code has said nothing.
    if finding.severity == Severity::Unreadable && finding.pointer.is_empty() {
        return None;
    }
    let locator = Locator { index, finding };
    let trail = finding.subject.trail();
    locator.document(trail).or_else(|| locator.pointer()).or_else(|| {
        let file = index.name(BASE_PATH)?.file;
        index.names.iter().find(|(name, spot)| name == WHOLE && spot.file == file).map(|(_, spot)| *spot)
    })
}

struct Locator<'l> {
    index: &'l Index,
    finding: &'l Finding,
}

impl<'l> Locator<'l> {
    fn rule(&self) -> &'l str {
        &self.finding.rule
    }

    /// The name that the code has, where the file has another.
    fn instead(&self) -> Option<&'l str> {
        self.finding.instead.as_deref()
    }

    /// Whether the finding tells of something, named last in the trail, that the code has not got.
    fn not_in_code(&self) -> bool {
        self.rule().ends_with("-not-in-code")
    }

    fn document(&self, trail: Trail<'_>) -> Option<Spot> {
        let index = self.index;
        let Some(((kind, name), rest)) = trail.split_first() else {
            return match self.rule() {
                rule if rule.starts_with("server") => index.name(BASE_PATH),
                rule if rule.starts_with("info") => index.name("API_VERSION"),
                _ => None,
            };
        };
        match *kind {
            "info" => index.name("API_VERSION"),
            "server" | "variable" => index.name(BASE_PATH),
            "tag" => self.tag(self.instead().unwrap_or(name)),
            "path" => self.path(name, rest),
            "operation" => self.operation(index.endpoint(name)?, rest),
            "schema" if self.not_in_code() && rest.is_empty() => {
                let instead = self.instead().and_then(|name| index.schema(name));
                instead.map(|known| known.spot)
            }
            "schema" => self.inside(index.schema(name)?, rest),
            "security-scheme" => match self.rule() {
                "security-scheme-type" => index.name("SCHEME_TYPE"),
                rule if rule.ends_with("-not-in-code") || rule.ends_with("-not-in-file") => {
                    index.name("SCHEME_NAME")
                }
                _ => index.name("SCHEME"),
            },
            _ => None,
        }
    }

    /// A tag is a literal, or would stand where the tags are listed.
    fn tag(&self, name: &str) -> Option<Spot> {
        let mut words = self.index.words.iter();
        let literal = words.clone().find(|word| word.literal && word.text == name);
        literal.or_else(|| words.find(|word| word.text == "tags")).map(|word| word.spot)
    }

    fn path(&self, path: &str, rest: Trail<'_>) -> Option<Spot> {
        let mut endpoints = self.index.endpoints.iter();
        let Some((("operation", method), _)) = rest.split_first() else {
            if rest.iter().any(|(kind, _)| *kind == "server") {
                return self.index.name(BASE_PATH);
            }
            let path = self.instead().filter(|_| self.not_in_code()).unwrap_or(path);
            return endpoints.find(|endpoint| endpoint.path == path).map(|endpoint| endpoint.key("path"));
        };
        let method = self.instead().filter(|_| self.not_in_code()).unwrap_or(method);
        let mut here = endpoints.filter(|endpoint| endpoint.path == path);
        here.find(|endpoint| endpoint.method == method).map(|endpoint| endpoint.key("method"))
    }

    fn operation(&self, endpoint: &Endpoint, rest: Trail<'_>) -> Option<Spot> {
        let Some(((kind, name), rest)) = rest.split_first() else {
            return Some(match self.rule() {
                "operation-id" => endpoint.key("operation_id"),
                "operation-tags" => endpoint.key("tags"),
                "operation-security" | "request-body-not-in-code" => endpoint.call(),
                "request-body-not-in-file" => endpoint.input("Json")?.spot,
                rule if rule.contains("deprecat") => endpoint.key("deprecated"),
                rule if rule.starts_with("server") => self.index.name(BASE_PATH)?,
                _ => endpoint.function,
            });
        };
        match *kind {
            "parameter" => self.parameter(endpoint, name, rest),
            "request body" | "media-type" | "media type" => {
                Some(endpoint.input("Json").map_or(endpoint.call(), |body| body.spot))
            }
            "response" if name.starts_with(['1', '2', '3']) => self.success(endpoint, name, rest),
            "response" => self.refusal(endpoint, name, rest),
            "server" => self.index.name(BASE_PATH),
            _ => Some(endpoint.function),
        }
    }

    /// `name` is that of the parameter, perhaps with its place: `limit in query`.
    fn parameter(&self, endpoint: &Endpoint, name: &str, rest: Trail<'_>) -> Option<Spot> {
        let sought = self.instead().filter(|_| self.not_in_code()).unwrap_or(name);
        let (name, place) = sought.split_once(" in ").unwrap_or((sought, ""));
        let types = || {
            let inputs = endpoint.extractors().filter_map(|extractor| endpoint.input(extractor));
            inputs.filter_map(|input| Some((input, self.index.rust_type(&input.of)?)))
        };
        let found = types().find_map(|(input, of)| Some((input, of.member(name)?)));
        if let Some((input, member)) = found {
            return Some(match self.rule() {
                "parameter-in" => input.spot,
                _ => self.member(member, rest),
            });
        }
        // Where it would be added: with those of its kind, if there are any.
        let kind = |extractor: &str| extractor.eq_ignore_ascii_case(place);
        let with_them = types().find(|(input, _)| kind(&input.name)).map(|(_, of)| of.spot);
        Some(with_them.unwrap_or(endpoint.call()))
    }

    fn success(&self, endpoint: &Endpoint, status: &str, rest: Trail<'_>) -> Option<Spot> {
        let success = endpoint.success.as_ref().map_or(endpoint.output, |success| success.spot);
        let Some(((kind, name), rest)) = rest.split_first() else { return Some(success) };
        let body = endpoint.success.as_ref().and_then(|success| self.index.rust_type(&success.of));
        match *kind {
            "header" => self.header(endpoint, name, rest),
            "media-type" | "media type" if !rest.is_empty() => {
                Some(body.and_then(|body| self.inside(body, rest)).unwrap_or(success))
            }
            _ if status.is_empty() => None,
            _ => Some(success),
        }
    }

    /// A header of a success.
    fn header(&self, endpoint: &Endpoint, name: &str, rest: Trail<'_>) -> Option<Spot> {
        let name = self.instead().filter(|_| self.not_in_code()).unwrap_or(name);
        if let Some(word) = self.edge_header(name) {
            return Some(word.spot);
        }
        let headers = endpoint.headers.as_ref();
        let Some(of) = headers.and_then(|headers| self.index.rust_type(&headers.name)) else {
            return Some(endpoint.output);
        };
        Some(of.member(name).map_or(of.spot, |member| self.member(member, rest)))
    }

    /// A header that every answer has, or that of a deprecated operation.
    fn edge_header(&self, name: &str) -> Option<&'l Word> {
        let mut words = self.index.words.iter();
        words.find(|word| {
            word.literal && word.within == "headers" && word.owner.is_empty() && same(&word.text, name)
        })
    }

    /// An answer that is no success: the code that leads to it, or what declares the codes.
    fn refusal(&self, endpoint: &Endpoint, status: &str, rest: Trail<'_>) -> Option<Spot> {
        let codes: Vec<String> = Code::ALL
            .into_iter()
            .filter(|code| code.status().as_str() == status)
            .map(|code| format!("{code:?}"))
            .collect();
        let error = endpoint.error.as_ref();
        let declares = |word: &&Word| {
            let owner = word.owner.as_str();
            let by_error = error.is_some_and(|error| error.name == owner);
            let by_input = endpoint.extractors().any(|extractor| extractor == owner);
            let by_key = word.within == "JUDGED" || owner == "Declared";
            (by_error || by_input || by_key) && codes.contains(&word.text)
        };
        let declared = || self.index.words.iter().find(declares).map(|word| word.spot);
        let would = || error.map_or(endpoint.call(), |error| error.spot);
        let Some(((kind, name), _)) = rest.split_first() else {
            return Some(declared().unwrap_or_else(would));
        };
        match *kind {
            "header" => {
                let name = self.instead().filter(|_| self.not_in_code()).unwrap_or(name);
                let edge = self.edge_header(name).map(|word| word.spot);
                edge.or_else(|| self.code_header(name, &codes))
            }
            // The body of every refusal is the same.
            _ => self.index.schema("Error").map(|error| error.spot),
        }
    }

    /// A header that comes with a code, or the arm of that code.
    fn code_header(&self, name: &str, codes: &[String]) -> Option<Spot> {
        let of_codes = || {
            let words = self.index.words.iter();
            words.filter(|word| word.owner == "Code" && word.within == "headers")
        };
        let here = |word: &Word| codes.is_empty() || word.arm.iter().any(|variant| codes.contains(variant));
        let literal = of_codes().find(|word| word.literal && same(&word.text, name) && here(word));
        let constant = || of_codes().find(|word| word.literal && same(&word.text, name));
        let arm = || of_codes().find(|word| codes.contains(&word.text));
        literal.or_else(constant).or_else(arm).map(|word| word.spot)
    }

    /// Something inside of a type.
    fn inside(&self, of: &WireType, rest: Trail<'_>) -> Option<Spot> {
        let Some(((kind, name), rest)) = rest.split_first() else {
            let member = || self.instead().and_then(|name| of.member(name)).map(|member| member.spot);
            return Some(match self.rule() {
                "schema-additional-properties" => of.closed.unwrap_or(of.spot),
                "schema-required" | "schema-enum" => {
                    member().or_else(|| self.keyword_of(of)).unwrap_or(of.spot)
                }
                _ => self.keyword_of(of).unwrap_or(of.spot),
            });
        };
        match *kind {
            "property" => {
                let name = self.instead().filter(|_| self.not_in_code() && rest.is_empty()).unwrap_or(name);
                Some(of.member(name).map_or(of.spot, |member| self.member(member, rest)))
            }
            _ => Some(self.word_in(&of.name, "json_schema", &snake(kind)).unwrap_or(of.spot)),
        }
    }

    /// Something about a field: where its type is made, if the code makes that by hand.
    fn member(&self, member: &Member, rest: Trail<'_>) -> Spot {
        let of = self.index.rust_type(&member.of);
        if let Some(of) = of.filter(|_| !rest.is_empty()) {
            return self.inside(of, rest).unwrap_or(member.spot);
        }
        let Some(keyword) = self.rule().strip_prefix("schema-") else { return member.spot };
        if keyword == "reference" {
            return member.type_spot;
        }
        if let Some(function) = &member.schema_with {
            let name = function.rsplit("::").next().unwrap_or(function);
            let word = self.word_in("", name, &rust_keyword(keyword));
            return word.or_else(|| self.index.name(name)).unwrap_or(member.spot);
        }
        let default = member.default.filter(|_| keyword == "default");
        let of = of.filter(|of| of.hand_written);
        of.and_then(|of| self.keyword_of(of)).or(default).unwrap_or(member.spot)
    }

    /// The keyword of the finding's rule, in a schema that is written by hand.
    fn keyword_of(&self, of: &WireType) -> Option<Spot> {
        let keyword = self.rule().strip_prefix("schema-").filter(|_| of.hand_written)?;
        self.word_in(&of.name, "json_schema", &rust_keyword(keyword))
    }

    fn word_in(&self, owner: &str, function: &str, text: &str) -> Option<Spot> {
        let mut words = self.index.words.iter();
        let here = |word: &&Word| word.owner == owner && word.within == function && word.text == text;
        words.find(here).map(|word| word.spot)
    }

    /// What a place in the file is about, where no subject says so.
    fn pointer(&self) -> Option<Spot> {
        let tokens: Vec<String> = self.finding.pointer.split('/').skip(1).map(unescaped).collect();
        let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
        let index = self.index;
        match tokens[..] {
            ["info", ..] => index.name("API_VERSION"),
            ["servers", ..] => index.name(BASE_PATH),
            ["security", ..] | ["components", "securitySchemes", ..] => index.name("SCHEME_NAME"),
            ["paths", path, method, ..] => {
                let mut here = index.endpoints.iter().filter(|endpoint| endpoint.path == path);
                let same = here.clone().find(|endpoint| endpoint.method == method);
                same.map(|endpoint| endpoint.function)
                    .or_else(|| here.next().map(|endpoint| endpoint.key("path")))
            }
            ["paths", path] => {
                let mut endpoints = index.endpoints.iter();
                endpoints.find(|endpoint| endpoint.path == path).map(|endpoint| endpoint.key("path"))
            }
            ["components", "schemas", schema, ref rest @ ..] => {
                let of = index.schema(schema)?;
                let property = rest.iter().skip_while(|token| **token != "properties").nth(1);
                let member = property.and_then(|property| of.member(property));
                Some(member.map_or(of.spot, |member| member.spot))
            }
            ["components", "responses", response, ..] => {
                let codes = index.rust_type("Code")?;
                Some(codes.member(response).map_or(codes.spot, |code| code.spot))
            }
            ["components", "headers", ..] => index.name("headers"),
            _ => None,
        }
    }
}

/// HTTP gives no meaning to the case of a header's name.
fn same(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}

/// What schemars calls a keyword, from its name in a rule: `max-items` is `max_items`.
fn rust_keyword(keyword: &str) -> String {
    match keyword {
        "type" => "instance_type".to_owned(),
        "enum" => "enum_values".to_owned(),
        "default" => "x-default".to_owned(),
        _ => keyword.replace('-', "_"),
    }
}

fn snake(kind: &str) -> String {
    match kind {
        "additional properties" => "additional_properties".to_owned(),
        _ => kind.replace("Of", "_of"),
    }
}

fn unescaped(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}
