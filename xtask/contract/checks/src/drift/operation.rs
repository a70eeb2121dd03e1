//! Path items and operations. Inherited keywords are compared in each operation.

use std::collections::BTreeSet;

use document::Node;
use document::openapi::{Kind, Object, Operation, PathItem, Requirement, Server};
use document::place::{Spot, Subject};
use document::repair::Repair;
use document::shortened;
use serde_json::{Value, json};

use super::keyword::display;
use super::names::Named;
use super::rules::{OPERATION_SECURITY, SERVER_URL};
use super::{Comparison, Pair};
use crate::lint::{item_spot, items};

impl Comparison {
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
        self.operation = outer;
    }

    fn parameters<'a>(&mut self, pair: &Pair<'a>, written: Operation<'a>, coded: Operation<'a>) {
        let at = written.key_spot("parameters");
        for (document, code) in self.matched(pair, "parameter", &at, parameters(written), parameters(coded)) {
            let name = document.object.resolved().and_then(|it| it.text("name")).unwrap_or_default();
            self.pair(pair.inner("parameter", name, document.object, code.object));
        }
    }

    fn security(&mut self, subject: &Subject, written: Operation<'_>, coded: Operation<'_>) {
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
        let (document, code) = (display(&list_of(&document)), display(&list_of(&code)));
        let message =
            format!("{subject} has the security `{document}` in the document, and `{code}` in the code.");
        let fix = format!("Change the code to `{document}`, or write `security: {code}` here.");
        let finding = OPERATION_SECURITY.at(&spot).message(subject, message).sides(document, code);
        self.add(finding.fix(fix).repair(repair));
    }

    /// Checks that each URL ends in the base path of the code, with each value that its last variable may have.
    pub(super) fn servers(&mut self, written: Object<'_>, coded: Object<'_>) {
        let base = coded.children("servers").next().map(|server| Server::new(server).url_with_defaults());
        let base = base.unwrap_or_default();
        let base = base.trim_end_matches('/');
        // Callbacks and links have servers of third parties.
        let is_own =
            |server: &Object<'_>| server.within(Kind::Callback).or(server.within(Kind::Link)).is_none();
        for server in written.model().all(Kind::Server).filter(is_own).map(Server::new) {
            let url = server.url_with_defaults();
            // Lint reports a missing URL and a variable that is not defined.
            if server.url().is_empty() || url.contains('{') {
                continue;
            }
            let mut urls = Vec::new();
            let mut spot = server.value_spot("url");
            if let Some(last) =
                server.variables().find(|it| server.url().ends_with(&format!("{{{}}}", it.name())))
            {
                let start = url.strip_suffix(last.text("default").unwrap_or_default()).unwrap_or_default();
                let url = |(number, choice): (usize, &Node)| {
                    (
                        item_spot(last, "enum", number),
                        format!("{start}{}", choice.as_str().unwrap_or_default()),
                    )
                };
                urls.extend(items(last, "enum").iter().enumerate().map(url));
                spot = last.value_spot("default");
            }
            urls.push((spot, url));
            if let Some((spot, url)) = urls.iter().find(|(_, url)| !url.ends_with(base)) {
                let subject = Subject::document().with("server", server.url());
                let operation = server.within(Kind::Operation);
                self.operation = operation.and_then(|it| it.text("operationId")).map(str::to_owned);
                self.off_base(&subject, spot, url, base);
            }
        }
        self.operation = None;
        let servers = written.get("servers").map(Node::to_json);
        if servers.is_none_or(|servers| servers == json!([])) && !base.is_empty() {
            let spot = Spot { pointer: String::new(), ..written.key_spot("openapi") };
            self.off_base(&Subject::document(), &spot, "/", base);
        }
    }

    fn off_base(&mut self, subject: &Subject, spot: &Spot, url: &str, base: &str) {
        let url = shortened(url);
        let message = match subject.parts() {
            [] => format!("without `servers` the URL is `/`, but the code serves requests under `{base}`."),
            _ => format!("the URL `{url}` does not end in `{base}`, the base path of the code."),
        };
        let fix = format!("Write a URL that ends in `{base}`, or change the base path of the code.");
        let finding = SERVER_URL.at(spot).message(subject, message).sides(url, format!("…{base}"));
        self.add(finding.fix(fix));
    }
}

/// The parameters that OpenAPI does not ignore.
fn parameters(operation: Operation<'_>) -> Vec<Named<'_>> {
    let parameters = operation.parameters().into_iter().filter(|parameter| !parameter.is_ignored());
    parameters
        .map(|it| Named::called(&format!("{} in {}", it.name(), it.location()), it.declared()))
        .collect()
}

/// Security requirements as the value of `security`.
fn list_of(requirements: &BTreeSet<Requirement<'_>>) -> Value {
    requirements.iter().map(|requirement| json!(requirement)).collect()
}
