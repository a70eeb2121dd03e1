//! Every schema construct in every place: either it is supported, and compiled with all others by `compiled.rs`, or the
//! error is in `unsupported.txt`.

use std::sync::LazyLock;

use xtask::dropshot::source::Sources;
use xtask::scaffold::Scaffold;

use crate::{NO_TOY, document, frozen, with};

/// Schemas, one per line.
const CONSTRUCTS: &str = include_str!("constructs.txt");

/// The place of a schema.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    /// A property of a request body: required, optional, in a list.
    Request,
    /// A property of a response body, in the same ways.
    Response,
    /// A schema under `components/schemas`, in a request and in a response.
    Component,
    Query,
    Path,
    Header,
}

const PLACES: [Place; 6] =
    [Place::Request, Place::Response, Place::Component, Place::Query, Place::Path, Place::Header];

fn constructs() -> Vec<(usize, &'static str)> {
    CONSTRUCTS.lines().filter(|line| line.starts_with('{')).enumerate().collect()
}

/// Returns paths and schemas with the constructs in a place.
fn built(place: Place, constructs: &[(usize, &str)]) -> (String, String) {
    let each = |write: &dyn Fn(usize, &str) -> String| {
        constructs.iter().map(|(at, schema)| write(*at, schema)).collect::<String>()
    };
    let object = |name: &str, required: &str, properties: &str| {
        format!("    {name}: {{type: object, required: [{required}], properties: {{{properties}}}}}\n")
    };
    let reference = |name: &str| format!("{{$ref: '#/components/schemas/{name}'}}");
    let all = |prefix: &str, schemas: String| {
        let names = each(&|at, _| format!("v{at}, "));
        let properties = each(&|at, _| format!("v{at}: {}, ", reference(&format!("{prefix}{at}"))));
        schemas + &object(&format!("{prefix}All"), &names, &properties)
    };
    let properties = |prefix: &str, some: &[&str]| {
        let write = |at, schema: &str| {
            let properties = everywhere(schema).into_iter().filter(|(name, _)| some.contains(name));
            let required: Vec<_> = some.iter().filter(|name| **name != "b").copied().collect();
            let required = required.join(", ");
            let properties: String = properties.map(|(name, schema)| format!("{name}: {schema}, ")).collect();
            object(&format!("{prefix}{at}"), &required, &properties)
        };
        all(prefix, each(&write))
    };
    let query = || {
        each(&|at, schema| match schema.contains("default:") {
            true => format!("{{name: d{at}, in: query, schema: {schema}}}, "),
            false => format!(
                "{{name: r{at}, in: query, required: true, schema: {schema}}}, {{name: o{at}, in: query, schema: {schema}}}, "
            ),
        })
    };
    match place {
        Place::Request => (
            operation("putRequest", "/request", "", Some("InAll"), NO_CONTENT),
            properties("In", &["a", "b", "e"]),
        ),
        Place::Response => (
            operation("getResponse", "/response", "", None, &content(&reference("OutAll"), "")),
            properties("Out", &["a", "b"]),
        ),
        Place::Component => {
            let named = each(&|at, schema| format!("    Named{at}: {schema}\n"));
            (
                operation("putNamed", "/named", "", Some("NamedAll"), &content(&reference("NamedAll"), "")),
                all("Named", named),
            )
        }
        Place::Query => (operation("getQuery", "/query", &query(), None, NO_CONTENT), String::new()),
        Place::Path => {
            // The service routes at most 25 parameters in a path.
            let paths = constructs.chunks(20).enumerate().map(|(number, some)| {
                let path: String = some.iter().map(|(at, _)| format!("/{{p{at}}}")).collect();
                let parameter = |(at, schema): &(usize, &str)| {
                    format!("{{name: p{at}, in: path, required: true, schema: {schema}}}, ")
                };
                let parameters: String = some.iter().map(parameter).collect();
                let (id, path) = (format!("getPath{number}"), format!("/path{number}{path}"));
                operation(&id, &path, &parameters, None, NO_CONTENT)
            });
            (paths.collect(), String::new())
        }
        Place::Header => {
            let headers = each(&|at, schema| {
                format!("X-R{at}: {{required: true, schema: {schema}}}, X-O{at}: {{schema: {schema}}}, ")
            });
            (
                operation("getHeaders", "/headers", "", None, &content("{type: string}", &headers)),
                String::new(),
            )
        }
    }
}

/// Returns properties of one schema: required, optional, in a list.
fn everywhere(schema: &str) -> [(&'static str, String); 3] {
    [("a", schema.to_owned()), ("b", schema.to_owned()), ("e", format!("{{type: array, items: {schema}}}"))]
}

const REQUEST_ID: &str = "x-request-id: {$ref: '#/components/headers/RequestId'}";
const NO_CONTENT: &str =
    "'204': {description: Done., headers: {x-request-id: {$ref: '#/components/headers/RequestId'}}}";

fn content(schema: &str, headers: &str) -> String {
    format!(
        "'200': {{description: Done., headers: {{{headers}{REQUEST_ID}}}, content: {{application/json: {{schema: {schema}}}}}}}"
    )
}

fn operation(id: &str, path: &str, parameters: &str, body: Option<&str>, success: &str) -> String {
    let mut errors =
        vec![("401", "Unauthorized"), ("429", "RateLimited"), ("500", "Internal"), ("503", "Unavailable")];
    if parameters.contains("in: query") {
        errors.push(("400", "InvalidParameter"));
    }
    if parameters.contains("in: path") {
        errors.push(("404", "NoToy"));
    }
    let request = body.map(|name| {
        let more = [("400", "InvalidBody"), ("408", "RequestTimeout"), ("413", "BodyTooLarge"), ("415", "UnsupportedMediaType")];
        errors.extend(more);
        format!("requestBody: {{required: true, content: {{application/json: {{schema: {{$ref: '#/components/schemas/{name}'}}}}}}}}, ")
    });
    let errors: String = errors
        .iter()
        .map(|(status, name)| format!(", '{status}': {{$ref: '#/components/responses/{name}'}}"))
        .collect();
    let (request, method) = (request.unwrap_or_default(), if body.is_some() { "put" } else { "get" });
    format!(
        "  {path}: {{{method}: {{operationId: {id}, tags: [books], parameters: [{parameters}], {request}responses: {{{success}{errors}}}}}}}\n"
    )
}

fn document_of(place: Place, constructs: &[(usize, &str)]) -> String {
    let (paths, schemas) = built(place, constructs);
    let kinds = "    ToyKind: {type: string, enum: [bear, block, car]}\n";
    with(&paths, &format!("{kinds}{schemas}"), NO_TOY)
}

/// The results for all constructs in all places.
struct Outcome {
    paths: String,
    schemas: String,
    unsupported: String,
}

static OUTCOME: LazyLock<Outcome> = LazyLock::new(|| {
    let sources = Sources::read(frozen());
    let mut outcome = Outcome { paths: String::new(), schemas: String::new(), unsupported: String::new() };
    for place in PLACES {
        let mut supported = Vec::new();
        for (at, schema) in constructs() {
            let text = document_of(place, &[(at, schema)]);
            let document = document("construct.yaml", &text);
            let operation = operations(&built(place, &[(at, schema)]).0).next().unwrap();
            match Scaffold::of(&document, &sources, &operation) {
                Ok(_) => supported.push((at, schema)),
                Err(errors) => {
                    let error = &*errors[0].message;
                    let reason =
                        error.split_once("cannot be generated: ").map_or(error, |(_, reason)| reason);
                    outcome.unsupported.push_str(&format!("{place:?}: {schema}: {reason}\n"));
                }
            }
        }
        let (paths, schemas) = built(place, &supported);
        outcome.paths.push_str(&paths);
        outcome.schemas.push_str(&schemas);
    }
    outcome
});

/// Returns the identifiers of the operations in this text.
pub(crate) fn operations(paths: &str) -> impl Iterator<Item = String> {
    let ids = paths.split("operationId: ").skip(1);
    ids.map(|rest| rest.chars().take_while(|character| character.is_alphanumeric()).collect())
}

/// Returns the paths and schemas with all supported constructs.
pub(crate) fn supported() -> (&'static str, &'static str) {
    (&OUTCOME.paths, &OUTCOME.schemas)
}

#[test]
fn the_unsupported_constructs_are_listed() {
    let known = include_str!("unsupported.txt");
    assert!(
        OUTCOME.unsupported == known,
        "unsupported.txt differs; if this is correct, write it to the file:\n{}",
        OUTCOME.unsupported
    );
}
