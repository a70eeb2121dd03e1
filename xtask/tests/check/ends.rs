//! The other end of each finding: the line of Rust that says otherwise.

use animal_store::responses::Code;
use xtask::check::workspace;
use xtask::finding::{Finding, Severity};
use xtask::source::Sources;

use crate::document::{Edited, code, edit, findings, sources};
use crate::mutants;

/// The file and the line that a finding points to.
fn end(sources: &Sources, finding: &Finding) -> (String, String) {
    let told = format!("{}: {}", finding.rule, finding.message);
    let location = sources.locate(finding).unwrap_or_else(|| panic!("no place in the code: {told}"));
    let text = sources.shown().text(&location.file).unwrap_or_else(|| panic!("no such file: {told}"));
    let line = text.lines().nth(location.span.line - 1).unwrap_or_else(|| panic!("no such line: {told}"));
    let begins = line.chars().nth(location.span.column - 1);
    assert!(begins.is_some_and(|first| !first.is_whitespace()), "{told}: {line}");
    (location.file, line.trim().to_owned())
}

/// The first finding of an edit is made by this line of this file.
fn made_by(edited: &Edited, rule: &str, file: &str, line: &str) {
    let sources = sources();
    let findings = findings(&edited.text, code());
    let finding = findings.iter().find(|finding| finding.rule == rule);
    let finding = finding.unwrap_or_else(|| panic!("{rule} is not among {findings:?}"));
    assert_eq!(end(sources, finding), (format!("src/{file}"), line.to_owned()), "{rule}");
}

#[test]
fn operations_are_found_by_their_keys() {
    let (list, create, get) =
        ("operations/list_pets.rs", "operations/create_pet.rs", "operations/get_pet.rs");
    let id = edit(&[], "operationId: listPets", "operationId: pets");
    made_by(&id, "operation-id", list, "operation_id = \"listPets\",");
    let tags = edit(&["createPet"], "tags: [animals]", "tags: [pets]");
    made_by(&tags, "operation-tags", create, "tags = [\"animals\"],");
    let deprecated = edit(&["getPet"], "deprecated: true", "deprecated: false");
    made_by(&deprecated, "operation-deprecated", get, "deprecated = true,");
    let sunset = edit(&["getPet"], "x-sunset: '2030-12-05'", "x-sunset: soon");
    made_by(&sunset, "deprecation-malformed", get, "deprecated = true,");
    let path = edit(&[], "  /pets/{petId}:", "  /pets/{id}:");
    made_by(&path, "path-not-in-code", get, "path = \"/pets/{petId}\",");
    let method = edit(&["createPet"], "  /pets/{petId}:\n    get:", "  /pets/{petId}:\n    put:");
    made_by(&method, "operation-not-in-code", get, "method = GET,");
    let security = edit(&["createPet"], "requestBody:", "security: []\n      requestBody:");
    made_by(&security, "operation-security", create, "call: Call<Json<NewPet>, StoreError>,");
    let added = edit(&["paths:"], "  /pets:\n", "  /toys:\n    get: {responses: {}}\n  /pets:\n");
    made_by(
        &added,
        "path-not-in-code",
        "operations/mod.rs",
        "pub fn api() -> Result<ApiDescription<Service>, ApiDescriptionRegisterError> {",
    );
}

#[test]
fn parameters_are_found_where_their_schema_is_made() {
    let list = "operations/list_pets.rs";
    let maximum = edit(&["name: limit"], "maximum: 100", "maximum: 50");
    made_by(&maximum, "schema-maximum", list, "maximum: Some(Self::MAX.into()),");
    let default = edit(&["name: limit"], "default: 20", "default: 10");
    made_by(
        &default,
        "schema-default",
        list,
        "extensions: [(\"x-default\".to_owned(), Self::default().0.into())].into(),",
    );
    let required = edit(&["name: status"], "in: query", "required: true\n          in: query");
    made_by(&required, "parameter-required", list, "status: Option<PetStatus>,");
    let moved = edit(&["name: status"], "in: query", "in: header");
    made_by(&moved, "parameter-in", list, "call: Call<Query<ListPets>, ListPetsError>,");
    let renamed = edit(&[], "- name: limit", "- name: limits");
    made_by(&renamed, "parameter-not-in-code", list, "limit: Limit,");
    let format = edit(&["name: petId"], "format: int64", "format: int32");
    made_by(&format, "schema-format", "operations/get_pet.rs", "pet_id: i64,");
    let reference = edit(&["name: status"], "schemas/PetStatus", "schemas/Error");
    made_by(&reference, "schema-reference", list, "status: Option<PetStatus>,");
}

#[test]
fn schemas_are_found_by_their_names_on_the_wire() {
    let pet = "schemas/pet.rs";
    let kind = edit(&["    NewPet:", "categoryId:"], "type: integer", "type: string");
    made_by(&kind, "schema-type", pet, "pub category_id: i64,");
    let required = edit(&["    NewPet:"], "required: [name, categoryId]", "required: [name]");
    made_by(&required, "schema-required", pet, "pub category_id: i64,");
    let optional =
        edit(&["    Pet:"], "required: [id, name, categoryId]", "required: [id, name, categoryId, status]");
    made_by(&optional, "schema-required", pet, "pub status: Option<PetStatus>,");
    let variant = edit(&["    PetStatus:"], "sold]", "gone]");
    made_by(&variant, "schema-enum", pet, "Sold,");
    let another = edit(&["    PetStatus:"], "sold]", "sold, lost]");
    made_by(&another, "schema-enum", pet, "pub enum PetStatus {");
    let open = edit(&["    NewPet:"], "additionalProperties: false", "additionalProperties: true");
    made_by(
        &open,
        "schema-additional-properties",
        pet,
        "#[serde(rename_all = \"camelCase\", deny_unknown_fields)]",
    );
    let items = edit(&["    Pets:"], "maxItems: 100", "maxItems: 99");
    made_by(&items, "schema-max-items", pet, "max_items: Some(MAX_LIMIT),");
    let length = edit(&["    NewPet:"], "maxLength: 255", "maxLength: 256");
    made_by(&length, "schema-max-length", "schemas/name.rs", "max_length: Some(MAX_CHARACTERS),");
    let pattern = edit(&["    NewPet:"], "pattern: '^[^\\u0000]*$'", "pattern: '^.*$'");
    made_by(&pattern, "schema-pattern", "schemas/name.rs", "pattern: Some(PATTERN.to_owned()),");
    let status = edit(&["    Error:"], "maximum: 599", "maximum: 600");
    made_by(&status, "schema-maximum", "schemas/error.rs", "maximum: Some(599.0),");
    let renamed = edit(&["    Pet:"], "        name:", "        nam:");
    made_by(&renamed, "property-not-in-code", pet, "pub name: PetName,");
    let schema = edit(&["components:"], "    PetStatus:", "    Status:");
    made_by(&schema, "schema-not-in-code", pet, "pub enum PetStatus {");
}

#[test]
fn answers_are_found_by_their_codes_and_headers() {
    let create = "operations/create_pet.rs";
    let created = "-> Answer<HttpResponseHeaders<HttpResponseCreated<Pet>, Created>> {";
    let created = format!(") {created}");
    made_by(&edit(&["createPet"], "'201':", "'200':"), "response-not-in-code", create, &created);
    made_by(&edit(&["createPet"], "'201':", "'200':"), "response-not-in-file", create, &created);
    let too_large = edit(&["createPet"], "'413':", "'414':");
    made_by(&too_large, "response-not-in-code", create, "call: Call<Json<NewPet>, StoreError>,");
    made_by(
        &too_large,
        "response-not-in-file",
        "input.rs",
        "Vec::from([Code::UnsupportedMediaType, Code::BodyTooLarge, Code::RequestTimeout, Code::InvalidBody])",
    );
    let missing = edit(&["getPet"], "'404':", "'410':");
    made_by(&missing, "response-not-in-file", "input.rs", "Vec::from([Code::NotFound])");
    let location = edit(&["createPet", "responses:"], "Location:", "Content-Location:");
    made_by(&location, "header-not-in-code", create, "location: String,");
    let optional = edit(&["    Sunset:"], "required: true", "required: false");
    made_by(
        &optional,
        "header-required",
        "edge.rs",
        "if deprecated { &[\"x-request-id\", \"Deprecation\", \"Sunset\", \"Link\"] } else { &[\"x-request-id\"] };",
    );
    let challenge = edit(&["    Unauthorized:"], "        WWW-Authenticate:", "        Authenticate:");
    let line = "Self::Unauthorized => const { &[HeaderField::string(\"WWW-Authenticate\")] },";
    made_by(&challenge, "header-not-in-code", "responses.rs", line);
    let body = edit(&["    Internal:"], "schemas/Error'", "schemas/Pet'");
    made_by(&body, "schema-reference", "schemas/error.rs", "pub struct Error {");
}

#[test]
fn what_holds_for_all_is_found_in_its_constants() {
    let operations = "operations/mod.rs";
    let version = edit(&["info:"], "version: 1.0.0", "version: 1.0.1");
    made_by(&version, "info-version", operations, "pub const API_VERSION: &str = \"1.0.0\";");
    let server = edit(&["base_url:"], "com/v1", "com/v2");
    made_by(&server, "server-url", operations, "pub const BASE_PATH: &str = \"/v1\";");
    let tag = edit(&["tags:"], "- name: animals", "- name: pets");
    made_by(&tag, "tag-not-in-code", operations, "const TAG: &str = \"animals\";");
    let scheme = edit(&["securitySchemes:"], "scheme: bearer", "scheme: basic");
    made_by(&scheme, "security-scheme-scheme", "keys.rs", "pub const SCHEME: &str = \"bearer\";");
    let kind = edit(&["securitySchemes:"], "type: http", "type: apiKey");
    made_by(&kind, "security-scheme-type", "keys.rs", "pub const SCHEME_TYPE: &str = \"http\";");
    let name = edit(&["securitySchemes:"], "    apiKey:", "    key:");
    made_by(&name, "security-scheme-not-in-code", "keys.rs", "pub const SCHEME_NAME: &str = \"apiKey\";");
}

#[test]
fn what_was_not_compared_has_no_other_end() {
    let sources = sources();
    let unreadable = xtask::written::Document::parse("x.yaml", "[").unwrap_err();
    assert_eq!(sources.locate(&contract::finding::Finding::from(&unreadable)), None);
}

#[test]
fn every_finding_of_every_mutant_has_its_other_end() {
    let sources = sources();
    let (mut located, mut wrong) = (0, Vec::new());
    for mutant in mutants::all() {
        for finding in findings(&mutant.text, code()) {
            let (file, line) = end(sources, &finding);
            let normal = normal(&line);
            located += 1;
            if !relevant(&finding).iter().any(|word| normal.contains(word)) {
                let (what, pointer) = (mutant.what, &mutant.pointer);
                wrong.push(format!(
                    "{what} {pointer}: {} {} => {file}: {line}",
                    finding.rule, finding.message
                ));
            }
        }
    }
    wrong.sort();
    wrong.dedup();
    assert!(wrong.is_empty(), "{} of {located}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(located > 1000, "only {located} findings");
}

/// What one of must stand on a line that a finding points to.
fn relevant(finding: &Finding) -> Vec<String> {
    let trail = finding.subject.trail();
    let pointer = finding.pointer.split('/').map(|token| token.replace("~1", "/"));
    let mut words: Vec<String> = pointer.chain(finding.instead.clone()).collect();
    for (kind, name) in trail {
        words.push(name.clone());
        let of_kind: &[&str] = match *kind {
            "parameter" => &["call: Call<Path", "call: Call<Query", "struct ListPets", "struct GetPet"],
            "request body" => &["Json<NewPet>", "call: Call<"],
            "media type" | "media-type" => &["HttpResponse", "struct Error", "Json<NewPet>"],
            "response" => &["HttpResponse", "call: Call<"],
            "header" => &["HttpResponse", "struct Created", "struct NextPage"],
            "tag" => &["tags: "],
            "info" => &["API_VERSION"],
            "server" | "variable" => &["BASE_PATH"],
            "security-scheme" => &["SCHEME"],
            "component" | "components" | "reference" => &["pub fn api()", "Self::Unauthorized => const"],
            _ => &[],
        };
        words.extend(of_kind.iter().map(|&word| word.to_owned()));
        let codes =
            Code::ALL.into_iter().filter(|code| *kind == "response" && code.status().as_str() == name);
        words.extend(codes.map(|code| format!("{code:?}")));
    }
    let keyword = finding.rule.split_once('-').map(|(_, keyword)| keyword).unwrap_or_default();
    words.push(match keyword {
        "type" => "instance_type".to_owned(),
        "additional-properties" => "deny_unknown_fields".to_owned(),
        "reference" => "subschema_for".to_owned(),
        "body-not-in-file" => "Json<".to_owned(),
        "unused" if finding.pointer.contains("/headers/") => "fn headers(".to_owned(),
        "unused" => "pub enum Code".to_owned(),
        _ => keyword.to_owned(),
    });
    // A path, a method or a component that only the file has, and what is said of the whole document.
    if finding.severity == Severity::Unreadable || trail.len() < 2 || finding.rule.ends_with("-not-in-code") {
        words.extend(
            ["pub fn api()", "async fn", "SCHEME_NAME", "BASE_PATH", "API_VERSION"].map(str::to_owned),
        );
    }
    if finding.rule.starts_with("server") {
        words.push("BASE_PATH".to_owned());
    }
    if finding.rule == "operation-security" {
        words = vec!["call: Call<".to_owned()];
    }
    if finding.rule.starts_with("deprecation") {
        words = vec!["deprecated = true".to_owned()];
    }
    let bare = |word: &String| normal(word.split(" in ").next().unwrap_or(word));
    words.iter().map(bare).filter(|word| word.len() > 1).collect()
}

/// Without what differs between the spellings of a name.
fn normal(text: &str) -> String {
    text.chars().filter(|it| !matches!(it, '_' | '-')).flat_map(char::to_lowercase).collect()
}

#[test]
fn the_sources_are_those_of_this_workspace() {
    let sources = sources();
    for file in ["src/operations/mod.rs", "src/schemas/pet.rs", "src/responses.rs", "src/keys.rs"] {
        let text = std::fs::read_to_string(workspace().join(file)).unwrap();
        assert_eq!(sources.shown().text(file), Some(text.as_str()), "{file}");
    }
}
