//! Names that refer to other parts of the document: operations and parameters in links, properties in encodings,
//! schemas in discriminators, values of a request in callbacks.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use fluent_uri::Iri;

use document::openapi::{Id, Kind, Model, Object, Step, template};
use document::shortened;
use document::{Entry, Node, pointer};
use regex::Regex;

use super::schemas::property_names;
use crate::lint::parameters_of;
use crate::rule::{Added, Findings, rules};

rules! {
    LINK: Spec Error fix Unsafe "link-target", "OpenAPI 3.0.3, 4.7.20.1",
        "A link names an operation of the document, and parameters of that operation.";
    ENCODING: Spec Error fix Unsafe "encoding-property", "OpenAPI 3.0.3, 4.7.14.1",
        "Each name in `encoding` is the name of a property of the schema.";
    MAPPING: Spec Error fix Unsafe "discriminator-mapping", "OpenAPI 3.0.3, 4.7.25.1",
        "Each value in the `mapping` of a discriminator is the name of a schema or a reference to one.";
    EXPRESSION: Spec Error "callback-expression", "OpenAPI 3.0.3, 4.7.18.2 and 4.7.20.4",
        "The key of a callback is a runtime expression, or a URL whose parts in braces are runtime expressions.";
}

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    links(model, findings);
    // Collected once for each schema, since many media types can share one.
    let mut properties = HashMap::new();
    for media_type in model.all(Kind::MediaType).filter(|media_type| media_type.has("encoding")) {
        let schema = media_type.child("schema").map(|schema| schema.resolved().unwrap_or(schema));
        let names = properties.entry(schema.map(|schema| schema.id));
        let names = names.or_insert_with(|| schema.map_or(Some(HashSet::new()), property_names));
        let Some(known) = names else { continue };
        for Entry { key, key_span, .. } in media_type.get("encoding").map(Node::entries).unwrap_or_default() {
            if !known.contains(key.as_str()) {
                let (name, subject) = (shortened(key), media_type.subject());
                let message = format!("`{name}` is not a property of the schema of {subject}.");
                let spot = media_type.spot_at(&[Step::Key("encoding"), Step::Key(key)], *key_span);
                let added = findings.add(&ENCODING, spot, message, "Correct the name, or add the property.");
                added.meant(key, known.iter().copied(), Added::rename);
            }
        }
    }
    for discriminator in model.all(Kind::Discriminator) {
        mapping(discriminator, findings);
    }
    for item in model.all(Kind::Callback).flat_map(|callback| callback.parts()) {
        let key = item.name();
        let expressions = if key.starts_with('$') { vec![key] } else { template(key).1 };
        let is_expression = |text: &&str| EXPRESSIONS.iter().any(|regex| regex.is_match(text));
        let message = match expressions.iter().find(|text| !is_expression(text)) {
            Some(wrong) => format!("`{}` is not a runtime expression.", shortened(wrong)),
            None if expressions.is_empty() && !key.starts_with('/') && Iri::parse(key).is_err() => {
                format!("The callback key `{}` is neither a runtime expression nor a URL.", shortened(key))
            }
            None => continue,
        };
        findings.add(&EXPRESSION, item.spot(), message, "Write one such as `{$request.body#/url}`.");
    }
}

/// The grammar of section 4.7.20.4.
static EXPRESSIONS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let source = r"header\.[!#$%&'*+.^_`|~0-9A-Za-z-]+|query\..*|path\..*|body(#(/.*)?)?";
    Regex::new(&format!(r"^\$(url|method|statusCode|(request|response)\.({source}))$")).ok()
});

fn links(model: &Model<'_>, findings: &mut Findings) {
    let operations = model.all(Kind::Operation);
    let with_id = operations.filter_map(|operation| Some((operation.text("operationId")?, operation)));
    let by_id: HashMap<&str, Object<'_>> = with_id.collect();
    let mut parameters: HashMap<Id, HashSet<String>> = HashMap::new();
    for link in model.all(Kind::Link) {
        let (keyword, name, operation) = match (link.text("operationId"), link.text("operationRef")) {
            (Some(id), _) => ("operationId", id, by_id.get(id).copied()),
            (None, Some(reference)) if reference.starts_with('#') => {
                let object = pointer::in_reference(reference).and_then(|place| model.object_at(&place));
                ("operationRef", reference, object.filter(|object| object.kind() == Kind::Operation))
            }
            // An operation of another document.
            _ => continue,
        };
        let Some(operation) = operation else {
            let message =
                format!("The link leads to the operation `{}`, which does not exist.", shortened(name));
            let added =
                findings.add(&LINK, link.value_spot(keyword), message, "Correct it, or remove the link.");
            let known = by_id.keys().copied().filter(|_| keyword == "operationId");
            added.meant(name, known, Added::write);
            continue;
        };
        let known = parameters.entry(operation.id).or_insert_with(|| parameter_names(operation));
        for Entry { key, key_span, .. } in link.get("parameters").map(Node::entries).unwrap_or_default() {
            if !known.contains(&key.to_ascii_lowercase()) && !known.contains(key) {
                let message = format!("{} has no parameter `{}`.", operation.subject(), shortened(key));
                let spot = link.spot_at(&[Step::Key("parameters"), Step::Key(key)], *key_span);
                let fix = "Correct the name, such as `path.petId`, or remove it.";
                let added = findings.add(&LINK, spot, message, fix);
                added.meant(key, known.iter().map(String::as_str), Added::rename).remove();
            }
        }
    }
}

/// The names of the parameters of an operation, with and without their location. The names of headers are in
/// lower case.
fn parameter_names(operation: Object<'_>) -> HashSet<String> {
    let keys = parameters_of(operation).map(|parameter| parameter.key());
    keys.flat_map(|(location, name)| [format!("{location}.{name}"), name.into_owned()]).collect()
}

fn mapping(discriminator: Object<'_>, findings: &mut Findings) {
    let root = discriminator.model().root().node();
    let schemas = root.pointer("/components/schemas").map(Node::entries).unwrap_or_default();
    for Entry { key, value, .. } in discriminator.get("mapping").map(Node::entries).unwrap_or_default() {
        let Some(text) = value.as_str() else { continue };
        let is_name = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        let place = match pointer::in_reference(text) {
            Some(place) => place.into_owned(),
            None if is_name => format!("/components/schemas/{text}"),
            // The name of a schema with a dot, or a reference to another document.
            None => continue,
        };
        if root.pointer(&place).is_none() {
            let message = format!("`{}` is not a schema of this document.", shortened(text));
            let spot = discriminator.spot_at(&[Step::Key("mapping"), Step::Key(key)], value.span);
            let name = text.rsplit('/').next().unwrap_or_default();
            let before = &text[..text.len() - name.len()];
            let fix = "Correct the name or the reference, or add the schema.";
            let added = findings.add(&MAPPING, spot, message, fix);
            let known = schemas.iter().map(|entry| &*entry.key);
            added.meant(name, known, |added, meant| added.write(format!("{before}{meant}")));
        }
    }
}
