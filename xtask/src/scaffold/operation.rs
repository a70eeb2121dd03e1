//! Generates the file of an operation: endpoint, inputs, response and error type.

use animal_store::http::dropshot::{ExclusiveExtractor, Path, Query, SharedExtractor, TypedBody};
use animal_store::http::error_code::{COMMON_CODES, ErrorCode};
use animal_store::http::router;
use document::Node;
use document::openapi::{Object, Operation, Response, Schema};
use serde_json::Value;

use super::file::{File, doc, snake};
use super::schema::only_member;
use super::{Generated, Generator, Line, OPERATIONS, only, unsupported};

/// Stands for any input type, to ask for the codes of an extractor.
type Anything = serde_json::Map<String, Value>;

/// The codes that an operation may declare. Of codes with the same status, the first is taken.
const OWN_CODES: [ErrorCode; 5] = [
    ErrorCode::InvalidParameter,
    ErrorCode::NotFound,
    ErrorCode::RequestTimeout,
    ErrorCode::BodyTooLarge,
    ErrorCode::UnsupportedMediaType,
];

/// The inputs of an operation.
#[derive(Default)]
struct Inputs {
    /// The names and types of the arguments after the context.
    arguments: Vec<(&'static str, String)>,
    /// The error codes of the service for invalid input.
    codes: Vec<ErrorCode>,
}

impl Generator<'_> {
    /// Generates the file of an operation, and adds the remaining steps.
    pub(super) fn operation(&mut self, operation: Operation<'_>, id: &str) -> Generated<()> {
        let tags = self.supported(operation)?;
        let module = snake(id).ok_or_else(|| {
            unsupported(*operation, "operationId", format!("`{id}` cannot be the name of a Rust module"))
        })?;
        self.file = File::default();
        let error = self.claim(&format!("{id} error"), *operation)?;
        (self.is_read, self.is_written) = (false, true);
        let success = self.success(operation, id)?;
        (self.is_read, self.is_written) = (true, false);
        let Inputs { arguments, codes } = self.inputs(operation, id)?;
        let error_type = error_type(operation, id, &error, &codes)?;
        let (method, path) = (operation.method().to_uppercase(), operation.path());
        let comment = doc(operation.text("summary"), &format!("`{id}`."));
        let deprecated = if operation.is_deprecated() { "\n    deprecated = true," } else { "" };
        let inputs: String = arguments.iter().map(|(name, of)| format!("{name}: {of},\n")).collect();
        let ignored: String = arguments.iter().map(|(name, _)| format!("let _ = {name};\n")).collect();
        let endpoint = format!(
            "{comment}
#[endpoint {{
    method = {method},
    path = {path:?},
    operation_id = {id:?},
    tags = {tags:?},{deprecated}
}}]
pub(super) async fn {module}(
    context: RequestContext<Service>,
{inputs}) -> Result<{success}, {error}> {{
    let _ = context.context();
{ignored}    Err({error}::NotImplemented)
}}
"
        );
        let file = &mut self.file;
        file.import("crate::http::dropshot", "self HttpResponseError RequestContext endpoint");
        file.import("crate::http::error_code", "ErrorCode");
        file.import("crate::service", "Service");
        file.import("crate::storage", "StoreError");
        file.items.insert(0, endpoint);
        file.items.push(error_type);
        let head = format!(
            "//! `{id}`: `{method} {}`.\n\n#![allow(dead_code, reason = \"scaffolding: remove this line\")]\n",
            path.escape_debug()
        );
        let text = file.text(&head);
        let notes = std::mem::take(&mut file.notes);
        let scaffold = &mut self.scaffold;
        scaffold.module(OPERATIONS, &module, text);
        let line = format!("    api.register({module}::{module})?;");
        scaffold.lines.push(Line { path: OPERATIONS, line, before: "\n    Ok(api)\n" });
        let steps = [
            "replace `NotImplemented` with the implementation; until then the operation returns 501",
            "add tests below tests/http/v1 for each status, each parameter and both storage engines",
        ];
        let steps = notes.into_iter().chain(steps.map(str::to_owned));
        scaffold.steps.extend(steps.map(|step| format!("src/operations/{module}.rs: {step}.")));
        Ok(())
    }

    /// Fails for operations that dropshot or the service do not support. Returns the tags.
    fn supported<'o>(&self, operation: Operation<'o>) -> Generated<Vec<&'o str>> {
        let known = ["operationId", "tags", "deprecated", "parameters", "requestBody", "responses"];
        only(*operation, &known)?;
        let method = operation.method();
        // The service handles HEAD with the operation for GET.
        if ["head", "trace"].contains(&method) {
            let reason = format!("the service does not route the method `{method}`");
            return Err(unsupported(*operation, "", reason));
        }
        let tags = operation.get("tags").map(Node::items).unwrap_or_default();
        let tags: Vec<&str> = tags.iter().filter_map(Node::as_str).collect();
        let registered = self.sources.shown().text(OPERATIONS).unwrap_or_default();
        if tags.is_empty() || tags.iter().any(|tag| !registered.contains(&format!("{tag:?}"))) {
            let reason =
                format!("it needs a tag of `TagConfig` in {OPERATIONS}; add another one there first");
            return Err(unsupported(*operation, "tags", reason));
        }
        Ok(tags)
    }

    /// Returns the type of the successful response.
    fn success(&mut self, operation: Operation<'_>, id: &str) -> Generated<String> {
        let mut successes = successes(&operation);
        let (Some((status, response)), None) = (successes.next(), successes.next()) else {
            let reason = "dropshot supports exactly one successful response";
            return Err(unsupported(*operation, "responses", reason));
        };
        only(*response, &["headers", "content"])?;
        let name = match (status, response.has("content"), operation.method()) {
            ("200", true, _) => "HttpResponseOk",
            ("201", true, _) => "HttpResponseCreated",
            ("202", true, _) => "HttpResponseAccepted",
            ("204", false, "delete") => "HttpResponseDeleted",
            ("204", false, _) => "HttpResponseUpdatedNoContent",
            _ => {
                let reason = "dropshot supports 200, 201 and 202 with a JSON body, and 204 without a body";
                return Err(unsupported(response.declared(), "", reason));
            }
        };
        self.file.import("crate::http::dropshot", name);
        let mut success = name.to_owned();
        if response.has("content") {
            success = format!("{name}<{}>", self.rust(json(*response)?, &format!("{id} response"))?);
        }
        let everywhere = router::headers(operation.is_deprecated());
        let is_own = |name: &str| !everywhere.iter().any(|known| known.eq_ignore_ascii_case(name));
        let own: Vec<_> = response.headers().filter(|(name, _)| is_own(name)).collect();
        if own.is_empty() {
            return Ok(success);
        }
        let name = self.claim(&format!("{id} headers"), *operation)?;
        let derives = self.derives("Debug");
        let head = format!("/// The headers of `{id}`.\n#[derive({derives}, JsonSchema)]\n");
        let fields = own.into_iter().map(|(name, header)| (name, *header, header.is_required()));
        self.fields(&name, &head, id, fields)?;
        self.file.import("crate::http::dropshot", "HttpResponseHeaders");
        Ok(format!("HttpResponseHeaders<{success}, {name}>"))
    }

    fn inputs(&mut self, operation: Operation<'_>, id: &str) -> Generated<Inputs> {
        let parameters = operation.parameters();
        for parameter in &parameters {
            only(**parameter, &["name", "in", "required", "schema"])?;
            if !["path", "query"].contains(&parameter.location()) {
                let reason = "the service supports only parameters in the path and the query";
                return Err(unsupported(**parameter, "in", reason));
            }
        }
        let mut inputs = Inputs::default();
        for (place, extractor, codes) in [
            ("path", "Path", <Path<Anything> as SharedExtractor>::CODES),
            ("query", "Query", <Query<Anything> as SharedExtractor>::CODES),
        ] {
            let here: Vec<_> = parameters.iter().filter(|it| it.location() == place).collect();
            if here.is_empty() {
                continue;
            }
            let name = self.claim(&format!("{id} {place}"), *operation)?;
            let derives = self.derives("Debug");
            let head = format!(
                "/// The {place} of `{id}`.\n#[derive({derives}, JsonSchema)]\n#[serde(deny_unknown_fields)]\n"
            );
            let fields = here.into_iter().map(|it| (it.name(), **it, it.is_required()));
            self.fields(&name, &head, id, fields)?;
            self.file.import("crate::http::dropshot", extractor);
            inputs.arguments.push((place, format!("{extractor}<{name}>")));
            inputs.codes.extend(codes);
        }
        if let Some(body) = operation.request_body() {
            only(*body, &["required", "content"])?;
            let member = only_member(json(*body)?);
            let is_object = member.resolved().and_then(|of| of.type_name()) == Some("object");
            if !body.is_required() || !member.is_reference() || !is_object {
                let reason = "the service supports only bodies with `required: true` that refer to an object under \
                              `components/schemas`";
                return Err(unsupported(*body, "", reason));
            }
            let of = self.rust(member, id)?;
            self.file.import("crate::http::dropshot", "TypedBody");
            inputs.arguments.push(("body", format!("TypedBody<{of}>")));
            inputs.codes.extend(<TypedBody<Anything> as ExclusiveExtractor>::CODES);
        }
        Ok(inputs)
    }
}

/// Returns the responses without an error, by status.
pub(super) fn successes<'o>(operation: &Operation<'o>) -> impl Iterator<Item = (&'o str, Response<'o>)> {
    operation.responses().filter(|(status, _)| status.starts_with(['1', '2', '3']))
}

/// Returns the schema of a body, which must be JSON.
fn json(of: Object<'_>) -> Generated<Schema<'_>> {
    let mut content = of.content();
    let media = content.next().filter(|media| media.media_type() == "application/json");
    match (media.and_then(|media| media.schema()), content.next()) {
        (Some(schema), None) => Ok(schema),
        _ => Err(unsupported(of, "content", "the service supports only `application/json` with a `schema`")),
    }
}

/// Returns the codes for declared statuses that neither the service nor the inputs produce, with their messages.
fn codes(operation: Operation<'_>, of_inputs: &[ErrorCode]) -> Generated<Vec<(ErrorCode, String)>> {
    let mut own = Vec::new();
    for (status, response) in operation.responses().filter(|(status, _)| !status.starts_with(['1', '2', '3']))
    {
        let has_status = |code: &ErrorCode| code.status().as_str() == status;
        let others: Vec<_> = COMMON_CODES.iter().chain(of_inputs).filter(|code| has_status(code)).collect();
        // The operation may return 404 in addition to the path.
        if others.is_empty() || others == [&ErrorCode::NotFound] {
            let code = OWN_CODES.into_iter().find(has_status).ok_or_else(|| {
                let reason = match status.parse::<u16>() {
                    Ok(_) => format!(
                        "add a code for the status {status} to `ErrorCode` in src/http/error_code.rs first"
                    ),
                    Err(_) => format!("`{status}` stands for several statuses; list each one"),
                };
                unsupported(response.declared(), "", reason)
            })?;
            let description = response.text("description").unwrap_or_default();
            own.push((code, description.lines().next().unwrap_or_default().to_owned()));
        }
    }
    Ok(own)
}

/// Returns the error type of the operation, whose codes come with the messages for clients.
fn error_type(operation: Operation<'_>, id: &str, error: &str, of_inputs: &[ErrorCode]) -> Generated<String> {
    let codes = codes(operation, of_inputs)?;
    let mut variants = String::new();
    for (code, message) in &codes {
        let message = message.replace('{', "{{").replace('}', "}}");
        variants.push_str(&format!("#[error({message:?})]\n{code:?},\n"));
    }
    let arms: String =
        codes.iter().map(|(code, _)| format!("Self::{code:?} => ErrorCode::{code:?},\n")).collect();
    let codes: Vec<String> = codes.iter().map(|(code, _)| format!("ErrorCode::{code:?}")).collect();
    let codes = codes.join(", ");
    Ok(format!(
        "/// Why `{id}` failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum {error} {{
    /// Scaffolding: remove it with the `Err` that returns it.
    #[error(\"the operation is not implemented\")]
    NotImplemented,
{variants}    #[error(transparent)]
    Store(#[from] StoreError),
}}

impl HttpResponseError for {error} {{
    const CODES: &'static [ErrorCode] = &[{codes}];

    fn code(&self) -> ErrorCode {{
        match self {{
            Self::NotImplemented => ErrorCode::NotImplemented,
{arms}            Self::Store(error) => error.code(),
        }}
    }}
}}
"
    ))
}
