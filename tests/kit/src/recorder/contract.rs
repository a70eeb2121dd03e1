//! The responses that the document allows, read from its YAML.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use document as yaml;
use http::header::{ALLOW, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, DATE, HeaderName, TRANSFER_ENCODING};
use jsonschema::Validator;
use serde_json::{Value, json};

use super::published;
use super::reading::{base_path, codes, entries, parameters, resolve};
use super::schema::{problems, validator};
use super::wire::{RequestLine, Response};

/// Response headers that need no declaration in the document.
pub(super) const UNDECLARED: [HeaderName; 5] = [
    CONTENT_TYPE,      // Declared by the keys of `content` (OpenAPI 3.0.3, Response Object).
    CONTENT_LENGTH,    // Framing, RFC 9112, section 6.
    TRANSFER_ENCODING, // Framing too.
    CONNECTION,        // Concerns the connection, not the response (RFC 9110, section 7.6.1).
    DATE,              // Sent by every origin server with a clock (RFC 9110, section 6.6.1).
];

/// The methods of RFC 9110 and RFC 5789 that a document can name. The order is that of `Allow`.
pub const METHODS: [&str; 8] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"];

/// The responses that hyper itself sends before the service has a request, each with its cause.
const BEFORE_ROUTING: [(u16, &str); 2] =
    [(400, "bytes that are not a request"), (431, "a target or a head that is too large")];

/// The document, prepared to check responses.
pub struct Contract {
    /// The document, as JSON.
    pub document: Value,
    /// The path that all server URLs have in common.
    pub base_path: String,
    /// The operations in the order of the document.
    pub operations: Vec<Operation>,
    /// The table of error codes in the description, with their statuses.
    pub codes: BTreeMap<String, u16>,
    error: Validator,
}

/// An operation with its method and path.
pub struct Operation {
    /// Its `operationId`.
    pub id: String,
    /// The method in upper case.
    pub method: String,
    /// Relative to the base path.
    pub path: String,
    /// The Operation Object.
    pub object: Value,
    /// The Parameter Objects, those of the path item included, resolved.
    pub parameters: Vec<Value>,
    /// The Request Body Object, resolved; null if there is none.
    body: Value,
    responses: BTreeMap<String, Declared>,
}

/// A declared response.
struct Declared {
    headers: Vec<(HeaderName, bool, Validator)>,
    content: BTreeMap<String, Validator>,
}

/// The result of checking a response.
#[derive(Default)]
pub struct Checked {
    /// The operation that sent the response, if one did.
    pub operation: Option<String>,
    /// The value of `Error.code` of an error response.
    pub code: Option<String>,
    /// What the document does not allow.
    pub violations: Vec<String>,
}

impl Contract {
    /// The contract of `openapi/animal-store.yaml`.
    pub fn get() -> &'static Self {
        static CONTRACT: LazyLock<Contract> = LazyLock::new(|| {
            let text = include_str!("../../../../openapi/animal-store.yaml");
            Contract::new(text)
        });
        &CONTRACT
    }

    /// The contract of a document in YAML.
    pub fn new(text: &str) -> Self {
        let document = yaml::read(text).expect("the document is YAML").to_json();
        let components = &document["components"];
        let mut operations = Vec::new();
        for (path, item) in document["paths"].as_object().expect("the document has paths") {
            for (method, object) in item.as_object().expect("a path item is an object") {
                let Some(id) = object["operationId"].as_str() else { continue };
                let declared = object["responses"].as_object().expect("an operation has responses");
                let responses = declared
                    .iter()
                    .map(|(status, response)| (status.clone(), Declared::new(&document, response)))
                    .collect();
                operations.push(Operation {
                    id: id.to_owned(),
                    method: method.to_uppercase(),
                    path: path.clone(),
                    object: object.clone(),
                    parameters: parameters(&document, item, object),
                    body: resolve(&document, &object["requestBody"]).clone(),
                    responses,
                });
            }
        }
        let error = validator(&json!({ "$ref": "#/components/schemas/Error" }), components, true);
        let (base_path, codes) = (base_path(&document), codes(&document));
        Self { base_path, operations, codes, error, document }
    }

    /// Returns the operation with this `operationId`. Panics if there is none.
    pub fn operation(&self, id: &str) -> &Operation {
        let found = self.operations.iter().find(|operation| operation.id == id);
        found.unwrap_or_else(|| panic!("the document has no operation {id}"))
    }

    /// Returns the methods of the operations at a path, HEAD included where GET is, in the order of [`METHODS`].
    fn methods(operations: &[&Operation]) -> Vec<&'static str> {
        let has = |method: &str| operations.iter().any(|operation| operation.method == method);
        let takes = |method: &&str| has(method) || *method == "HEAD" && has("GET");
        METHODS.into_iter().filter(takes).collect()
    }

    /// Returns the methods that no operation at this path has.
    pub fn unused_methods(&self, path: &str) -> impl Iterator<Item = &'static str> {
        let taken = Self::methods(&self.at(path));
        METHODS.into_iter().filter(move |method| !taken.contains(method))
    }

    /// Resolves a `$ref`.
    pub fn resolve<'a>(&'a self, value: &'a Value) -> &'a Value {
        resolve(&self.document, value)
    }

    /// Checks a response against the document.
    pub fn check(&self, request: &RequestLine, response: &Response) -> Checked {
        let mut checked = Checked::default();
        // hyper reads a head up to its limit, so the recorder may know the request.
        if response.status == 431 && is_of_hyper(response) {
            return checked;
        }
        let path = request.path();
        let is_page = response.header("content-type").is_some_and(|kind| kind.starts_with("text/html"));
        let is_file = is_page || published::is(path) && response.status != 404;
        if is_file && !request.is_malformed {
            checked.violations = published::check(request, response);
            return checked;
        }
        // The service refuses a malformed head before it looks at method and path.
        let operations = if request.is_malformed { Vec::new() } else { self.at(path) };
        let method = if request.method == "HEAD" { "GET" } else { &*request.method };
        let found = operations.iter().find(|operation| operation.method == method);
        checked.violations = match found {
            Some(operation) => {
                checked.operation = Some(operation.id.clone());
                operation.check(request, response)
            }
            None => self.check_no_operation(&operations, request, response),
        };
        if response.status >= 400 && request.method != "HEAD" {
            checked.code = self.check_error(response, &mut checked.violations);
        }
        checked
    }

    /// Checks a response to bytes that are not a request, or to a head that is too large: hyper has sent it, or it is an
    /// `Error`.
    pub(super) fn check_without_request(&self, response: &Response) -> Checked {
        let mut checked = Checked::default();
        if !is_of_hyper(response) {
            let unknown = RequestLine::default();
            self.check_own_error(&unknown, response, &mut checked.violations);
            checked.code = self.check_error(response, &mut checked.violations);
        }
        checked
    }

    /// Returns the operations at a path. A path is not normalized before; one with dot segments has none.
    fn at(&self, path: &str) -> Vec<&Operation> {
        let Some(path) = path.strip_prefix(&self.base_path) else { return Vec::new() };
        if path.split('/').any(|segment| [".", ".."].contains(&segment)) {
            return Vec::new();
        }
        let fits = |template: &str| {
            let (mut requested, mut segments) = (path.split('/'), template.split('/'));
            loop {
                match (requested.next(), segments.next()) {
                    (None, None) => return true,
                    (Some(requested), Some(segment)) if segment.starts_with('{') && !requested.is_empty() => {
                    }
                    (Some(requested), Some(segment)) if requested == segment => {}
                    _ => return false,
                }
            }
        };
        self.operations.iter().filter(|operation| fits(&operation.path)).collect()
    }

    /// Checks a response to a path or method without an operation, which must be 404 or 405, or 400 to a malformed head.
    fn check_no_operation(
        &self,
        operations: &[&Operation],
        request: &RequestLine,
        response: &Response,
    ) -> Vec<String> {
        let mut violations = Vec::new();
        let status = match operations {
            _ if request.is_malformed => 400,
            [] => 404,
            _ => 405,
        };
        if response.status != status {
            violations.push(format!("no operation has this path and method, so the status must be {status}"));
        }
        let allowed: Vec<_> = response.headers.get_all(ALLOW).iter().collect();
        if status == 405 {
            let methods = Self::methods(operations);
            let sent = match &allowed[..] {
                [one] => one.to_str().unwrap_or_default().split(", ").collect(),
                _ => Vec::new(),
            };
            if sent != methods {
                violations.push(format!("Allow is {allowed:?} where the methods are {methods:?}"));
            }
        } else if !allowed.is_empty() {
            violations.push("Allow is present at a path without operations".to_owned());
        }
        self.check_own_error(request, response, &mut violations);
        violations
    }

    /// Checks an error that belongs to no operation: an `Error` without other headers than those of every response.
    fn check_own_error(&self, request: &RequestLine, response: &Response, violations: &mut Vec<String>) {
        let id = HeaderName::from_static("x-request-id");
        if response.headers.get_all(&id).iter().count() != 1 {
            violations.push("x-request-id must be present once".to_owned());
        }
        for name in response.headers.keys() {
            if !UNDECLARED.contains(name) && *name != id && *name != ALLOW {
                violations.push(format!("the header {name} is not declared"));
            }
        }
        let error = BTreeMap::from([("application/json".to_owned(), &self.error)]);
        check_content(&error, request, response, violations);
    }

    /// Checks an `Error` against the table of codes, and its `status` field.
    fn check_error(&self, response: &Response, violations: &mut Vec<String>) -> Option<String> {
        let body: Value = serde_json::from_slice(&response.body).ok()?;
        if body["status"] != response.status {
            violations.push(format!("Error.status is {}", body["status"]));
        }
        let code = body["code"].as_str()?;
        if self.codes.get(code) != Some(&response.status) {
            violations.push(format!("the table in the description has no code {code} with this status"));
        }
        Some(code.to_owned())
    }
}

impl Operation {
    /// Returns the statuses that the document declares.
    pub fn statuses(&self) -> impl Iterator<Item = u16> {
        self.responses.keys().map(|status| status.parse().expect("the document declares exact statuses"))
    }

    /// Returns the media types of the request body, each with every example.
    pub fn bodies(&self) -> impl Iterator<Item = (&str, &Value)> {
        entries(&self.body["content"]).flat_map(|(kind, media)| {
            let named = entries(&media["examples"]).map(|(_, example)| &example["value"]);
            named.chain(media.get("example")).map(|example| (&**kind, example))
        })
    }

    fn check(&self, request: &RequestLine, response: &Response) -> Vec<String> {
        let Some(declared) = self.responses.get(&response.status.to_string()) else {
            return vec![format!("{} does not declare this status", self.id)];
        };
        let mut violations = Vec::new();
        for (name, required, schema) in &declared.headers {
            let values: Vec<_> = response.headers.get_all(name).iter().collect();
            match &values[..] {
                [] if *required => violations.push(format!("the header {name} is missing")),
                [] => {}
                [value] => match value.to_str() {
                    Ok(text) if fits(schema, text) => {}
                    _ => violations.push(format!("the header {name} does not match its schema: {value:?}")),
                },
                _ => violations.push(format!("the header {name} is present {} times", values.len())),
            }
        }
        for name in response.headers.keys() {
            if !UNDECLARED.contains(name) && !declared.headers.iter().any(|(known, ..)| known == name) {
                violations.push(format!("the header {name} is not declared"));
            }
        }
        let content = declared.content.iter().map(|(kind, schema)| (kind.clone(), schema)).collect();
        check_content(&content, request, response, &mut violations);
        violations
    }
}

impl Declared {
    fn new(document: &Value, response: &Value) -> Self {
        let (response, components) = (resolve(document, response), &document["components"]);
        let headers = entries(&response["headers"])
            .map(|(name, header)| {
                let header = resolve(document, header);
                let name = HeaderName::try_from(name).expect("the name of a header");
                let required = header["required"].as_bool().unwrap_or(false);
                (name, required, validator(&header["schema"], components, true))
            })
            .collect();
        let content = entries(&response["content"])
            .map(|(kind, media)| (kind.clone(), validator(&media["schema"], components, true)))
            .collect();
        Self { headers, content }
    }
}

/// Whether hyper has sent a response before the service had a request: one of [`BEFORE_ROUTING`], without a body and
/// without the identifier that every response of the service has.
pub(super) fn is_of_hyper(response: &Response) -> bool {
    let is_listed = BEFORE_ROUTING.iter().any(|(status, _)| *status == response.status);
    is_listed && response.body.is_empty() && !response.headers.contains_key("x-request-id")
}

fn check_content(
    content: &BTreeMap<String, &Validator>,
    request: &RequestLine,
    response: &Response,
    violations: &mut Vec<String>,
) {
    let kinds: Vec<_> = response.headers.get_all(CONTENT_TYPE).iter().collect();
    // For 204 see RFC 9110, section 8.6. A 304 never has a body.
    let bodiless = [204, 304].contains(&response.status);
    if bodiless && response.headers.contains_key(CONTENT_LENGTH) {
        violations.push(format!("{} has no content-length", response.status));
    }
    if bodiless || content.is_empty() {
        if !kinds.is_empty() || !response.body.is_empty() {
            violations.push("a body where the document declares no content".to_owned());
        }
        return;
    }
    let [kind] = &kinds[..] else {
        violations.push(format!("there must be one content-type, not {kinds:?}"));
        return;
    };
    let Some(schema) = kind.to_str().ok().and_then(|kind| content.get(kind)) else {
        violations.push(format!("the content-type {kind:?} is not declared"));
        return;
    };
    if request.method == "HEAD" {
        if !response.body.is_empty() || !response.headers.contains_key(CONTENT_LENGTH) {
            violations.push("a response to HEAD must have the content-length of GET and no body".to_owned());
        }
        return;
    }
    match serde_json::from_slice(&response.body) {
        Ok(body) => violations.extend(problems(schema, &body)),
        Err(error) => violations.push(format!("the body is not JSON: {error}")),
    }
}

/// Whether the text of a header matches a schema, either as an integer or as a string.
fn fits(schema: &Validator, text: &str) -> bool {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse::<u64>().ok().filter(|_| digits);
    schema.is_valid(&json!(text)) || number.is_some_and(|number| schema.is_valid(&json!(number)))
}
