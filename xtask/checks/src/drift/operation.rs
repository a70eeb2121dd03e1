//! Path items and operations. Inherited keywords are compared in each operation.

use std::collections::BTreeSet;

use document::Node;
use document::finding::{Spot, Subject, shortened};
use document::openapi::{Operation, Parameter, PathItem, Requirement, Server, Shape, Step};
use document::repair::Repair;
use serde_json::{Value, json};

use super::names::Named;
use super::rules::{OPERATION_SECURITY, SERVER_URL};
use super::{Comparison, Pair};

impl Comparison<'_> {
    pub(super) fn path_item<'a>(&mut self, pair: &Pair<'a>, written: PathItem<'a>, coded: PathItem<'a>) {
        self.object(pair);
        let operations = |item: PathItem<'a>| item.operations().map(|it| Named::keyed(*it)).collect();
        let at = written.spot();
        for (named, _) in self.matched(pair, "operation", &at, operations(written), operations(coded)) {
            if let Some((written, coded)) = written.operation(&named.name).zip(coded.operation(&named.name)) {
                self.operation(written, coded);
            }
        }
    }

    fn operation<'a>(&mut self, written: Operation<'a>, coded: Operation<'a>) {
        let id = coded.name();
        let subject = Subject::document().with("operation", &id);
        let pair = Pair { subject, written: *written, coded: *coded };
        let outer = self.operation.replace(id);
        self.object(&pair);
        self.parameters(&pair, written, coded);
        self.security(&pair.subject, written, coded);
        self.servers(written, coded);
        self.operation = outer;
    }

    fn parameters<'a>(&mut self, pair: &Pair<'a>, written: Operation<'a>, coded: Operation<'a>) {
        if self.inherits_unclear(written, "parameters") {
            return;
        }
        let (mut document, mut code) = (parameters(written), parameters(coded));
        // A parameter that moved to another location is one difference.
        let only = |list: &[Parameter<'a>], others: &[Parameter<'a>]| {
            let place = |parameter: &Parameter<'a>| (parameter.location(), parameter.name());
            let is_in = |one: &Parameter<'a>| others.iter().any(|other| place(one) == place(other));
            list.iter().filter(|one| !is_in(one)).copied().collect::<Vec<_>>()
        };
        let only_coded = only(&code, &document);
        let target = |one: Parameter<'a>| only_coded.iter().find(|other| other.name() == one.name());
        let moved = only(&document, &code).into_iter().filter_map(|one| Some((one, *target(one)?)));
        let moved: Vec<_> = moved.collect();
        for (document, code) in &moved {
            let pair = pair.inner("parameter", document.name(), **document, **code);
            self.value(&pair, "in", &Shape::Text);
        }
        document.retain(|parameter| !moved.iter().any(|(moved, _)| moved.key() == parameter.key()));
        code.retain(|parameter| !moved.iter().any(|(_, moved)| moved.key() == parameter.key()));
        if self.has_unclear_parameters(pair, written, coded) {
            code.retain(|parameter| document.iter().any(|other| other.key() == parameter.key()));
        }
        let named = |parameter: &Parameter<'a>| {
            let name = format!("{} in {}", parameter.name(), parameter.location());
            Named::called(&name, parameter.declared())
        };
        let (document, code) = (document.iter().map(named).collect(), code.iter().map(named).collect());
        let at = written.key_spot("parameters");
        for (document, code) in self.matched(pair, "parameter", &at, document, code) {
            let name = document.object.resolved().and_then(|it| it.text("name")).unwrap_or_default();
            self.pair(pair.inner("parameter", name, document.object, code.object));
        }
    }

    /// Whether a parameter of the document has no `name` or `in`. It may be the one that seems to be missing. A
    /// misspelt `name` or `in` is reported.
    fn has_unclear_parameters<'a>(
        &mut self,
        pair: &Pair<'a>,
        written: Operation<'a>,
        coded: Operation<'a>,
    ) -> bool {
        let before = self.found.len();
        let mut unclear = false;
        for owner in [*written, *written.item()] {
            unclear |= self.has_unclear_item(owner, "parameters");
            for object in owner.children("parameters").filter_map(|item| item.resolved()) {
                let code = coded.parameters().first().map_or(object, |parameter| **parameter);
                if Parameter::new(object).is_none() {
                    self.unknown_keywords(&pair.inner("parameter", "", object, code));
                }
            }
        }
        unclear || self.found.len() > before
    }

    fn security(&mut self, subject: &Subject, written: Operation<'_>, coded: Operation<'_>) {
        if self.inherits_unclear(written, "security") {
            return;
        }
        let (document, code) = (written.security().requirements(), coded.security().requirements());
        if document == code {
            return;
        }
        let root = written.model().root();
        let extra = written.security().alternatives().find(|(_, requirement)| !code.contains(requirement));
        let first = written.security().alternatives().next();
        let spot = match (extra.or(first), written.security().owner()) {
            (Some((object, _)), _) => object.spot(),
            (None, Some(owner)) => owner.key_spot("security"),
            // `security` would be beside `paths`.
            (None, None) => Spot { pointer: String::new(), ..root.key_spot("paths") },
        };
        let repair = match (written.key_spot("security").pointer, written.pointer()) {
            (at, _) if written.has("security") => Repair::Write { at, value: list_of(&code) },
            (_, at) => Repair::Add { at, key: "security".to_owned(), value: list_of(&code) },
        };
        let (document, code) = (alternatives(&document), alternatives(&code));
        let message = format!("{subject} requires {document} in the document, and {code} in the code.");
        let fix = format!("Change the code to require {document}, or write a `security` of {code} here.");
        let finding = OPERATION_SECURITY.at(&spot).message(subject, message).sides(document, code);
        self.add(finding.fix(fix).repair(repair));
    }

    /// Each URL must end in the base path of the code, with each value that its variables may have.
    fn servers(&mut self, written: Operation<'_>, coded: Operation<'_>) {
        if self.inherits_unclear(written, "servers") {
            return;
        }
        let base = coded.servers().first().map(Server::url_with_defaults).unwrap_or_default();
        let base = base.trim_end_matches('/');
        let servers = written.servers();
        for server in &servers {
            let url = server.url_with_defaults();
            let subject = Subject::document().with("server", server.url());
            let last =
                server.variables().find(|last| server.url().ends_with(&format!("{{{}}}", last.name())));
            let choices = last.and_then(|last| last.get("enum")).map(Node::items).unwrap_or_default();
            let off = choices
                .iter()
                .enumerate()
                .find(|(_, choice)| !choice.as_str().is_some_and(|it| it.ends_with(base)));
            let spot = match (last, off) {
                // Lint reports a missing URL and a variable that is not defined.
                _ if server.url().is_empty() || url.contains('{') => continue,
                (Some(last), Some((number, choice))) => {
                    let steps = [Step::Key("enum"), Step::Item(number)];
                    last.spot_at(&steps, choice.span)
                }
                _ if url.ends_with(base) => continue,
                (Some(last), None) => last.value_spot("default"),
                (None, _) => server.value_spot("url"),
            };
            let url = off.and_then(|(_, choice)| choice.as_str()).unwrap_or(&url);
            let inherited = server.parent() == Some(written.model().root());
            self.off_base(&subject, &spot, url, base, inherited);
        }
        if servers.is_empty() && !base.is_empty() {
            let spot = Spot { pointer: String::new(), ..written.model().root().key_spot("openapi") };
            self.off_base(&Subject::document(), &spot, "/", base, true);
        }
    }

    fn off_base(&mut self, subject: &Subject, spot: &Spot, url: &str, base: &str, inherited: bool) {
        let url = shortened(url);
        let operation = if inherited { self.operation.take() } else { None };
        let message = match subject.parts() {
            [] => format!("without `servers` the URL is `/`, but the code serves requests under `{base}`."),
            _ => format!("the URL `{url}` does not end in `{base}`, the base path of the code."),
        };
        let fix = format!("Write a URL that ends in `{base}`, or change the base path of the code.");
        let finding = SERVER_URL.at(spot).message(subject, message);
        self.add(finding.sides(url, format!("…{base}")).fix(fix));
        self.operation = self.operation.take().or(operation);
    }

    /// Whether a keyword of an operation, of its path item or of the document cannot be compared.
    fn inherits_unclear(&self, operation: Operation<'_>, keyword: &str) -> bool {
        let owners = [*operation, *operation.item(), operation.model().root()];
        owners.into_iter().any(|owner| self.is_unclear(owner, keyword))
    }
}

/// The parameters that OpenAPI does not ignore.
fn parameters(operation: Operation<'_>) -> Vec<Parameter<'_>> {
    operation.parameters().into_iter().filter(|parameter| !parameter.is_ignored()).collect()
}

/// Security requirements as the value of `security`.
fn list_of(requirements: &BTreeSet<Requirement<'_>>) -> Value {
    requirements.iter().map(|requirement| json!(requirement)).collect()
}

/// Security requirements for a sentence.
fn alternatives(requirements: &BTreeSet<Requirement<'_>>) -> String {
    let scheme = |(name, scopes): (&&str, &BTreeSet<&str>)| match scopes.is_empty() {
        true => format!("`{name}`"),
        false => format!("`{name}` ({})", scopes.iter().copied().collect::<Vec<_>>().join(", ")),
    };
    let alternative = |requirement: &Requirement<'_>| match requirement.is_empty() {
        true => "no key".to_owned(),
        false => requirement.iter().map(scheme).collect::<Vec<_>>().join(" and "),
    };
    requirements.iter().map(alternative).collect::<Vec<_>>().join(" or ")
}
