//! The pages of frozen documents: what they show, and that no text of a document becomes markup.

use std::collections::{BTreeMap, BTreeSet};

use site::{File, Hosting, Sources, build};

const UNUSUAL: &str = include_str!("unusual.yaml");
const ADDITION: &str = include_str!("addition.yaml");
const CLIENTS: &str = "# Using it\n\nAtom\n\n## Get\n\n| file |\n| --- |\n| `one` |\n\nCORS [page](animal.yaml), [log](CHANGELOG.md), [code](../src/main.rs), \
                       [go](examples/get.go), [none](examples/other.go)\n\n\
                       ```sh\nURL=https://HOST/v1\ncurl https://SITE/openapi/VERSION.yaml # <script>\n```\n";
const CHANGES: &str = r#"{
  "version": "2.0.0", "date": "2026-11-22", "previous": "1.0.0",
  "changes": [
    {"chapter": "Breaking", "rule": "request-max-decreased", "severity": "error",
     "sentence": "Parameter `limit` of operation `getToy`: <script>alert(1)</script>", "impact": "Some <script>.",
     "description": null, "waiver": null, "operations": ["getToy", "gone"], "places": ["/paths/~1toys/get"]},
    {"chapter": "Changed", "rule": "request-min-length-increased", "severity": "info", "sentence": "It changed",
     "impact": "Requests are refused.", "description": null, "waiver": "Nobody <script> sends it.", "operations": [],
     "places": []}
  ]
}"#;
const FIRST: &str = r#"{"version": "1.0.0", "date": "2026-11-21", "previous": null, "changes": []}"#;

fn sources() -> Sources {
    let old = UNUSUAL.replace("version: 2.0.0", "version: 1.0.0");
    let examples = BTreeMap::from([("get.go".to_owned(), "package main // <script>\n".to_owned())]);
    let sums = format!("{}  2.0.0.yaml\n{}  1.0.0.json\n", "2a".repeat(32), "1b".repeat(32));
    let files = [
        ("2.0.0.yaml", UNUSUAL),
        ("2.0.0.json", "{}"),
        ("2.0.0.changes.json", CHANGES),
        ("1.0.0.yaml", &old),
        ("1.0.0.json", "{}"),
        ("1.0.0.changes.json", FIRST),
        ("SHA256SUMS", &sums),
    ];
    let released = files.map(|(name, content)| (name.to_owned(), content.to_owned())).into();
    Sources { working: UNUSUAL.to_owned(), released, clients: CLIENTS.to_owned(), examples }
}

fn pages(sources: &Sources, hosting: &Hosting) -> BTreeMap<String, String> {
    let files = build(sources, hosting).unwrap();
    let texts = files.into_iter().filter(|file| !file.path.ends_with(".png"));
    texts.map(|File { path, content, .. }| (path, String::from_utf8(content).unwrap())).collect()
}

/// Returns the text of a page without its elements.
fn text_of(page: &str) -> String {
    let parts = page.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    let text: String = parts.collect();
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

/// Checks that a page has each of these texts.
fn has(page: &str, expected: &[&str]) {
    for text in expected {
        assert!(page.contains(text), "{text} is not in:\n{page}");
    }
}

#[test]
fn no_text_of_a_document_becomes_markup() {
    let pages = pages(&sources(), &Hosting::Service);
    for (path, page) in pages.iter().filter(|(path, _)| path.ends_with(".html")) {
        // All scripts are files: that of each page, and two of the viewer.
        let own = page.matches("<script src=\"").count();
        assert_eq!(page.matches("<script").count(), own, "{path}");
        assert_eq!(own, if path.ends_with("try.html") { 3 } else { 1 }, "{path}");
        for forbidden in ["<img", "<div onclick", "href=\"javascript", "<style", " style=\"", "<b>First"] {
            assert!(!page.contains(forbidden), "{path} has {forbidden}");
        }
        assert!(!page.contains("\"onload=\""), "{path}");
    }
    let page = &pages["index.html"];
    has(page, &["&lt;script&gt;alert('description')&lt;/script&gt;", "&lt;img src=x", "&lt;div onclick"]);
}

#[test]
fn a_reference_page_has_all_parts_of_the_document() {
    let pages = pages(&sources(), &Hosting::Service);
    let page = &pages["docs/2.0.0.html"];
    // Bounds of parameters, own and inherited.
    has(page, &["1 to 100", "default <code>20</code>", "pattern <code>^&lt;a&gt;$</code>", "no item twice"]);
    has(page, &["Overrides"]);
    // Bounds of properties.
    has(
        page,
        &["1 to 255 characters", "0 to 10", "the minimum excluded", "may be null", "only in responses"],
    );
    has(
        page,
        &[
            "No other fields.",
            "The field <code>ghost</code> is required.",
            "oneOf: [{&quot;$ref&quot;:&quot;#/components/schemas/Loop&quot;}",
            "not: {&quot;type&quot;:&quot;string&quot;}",
        ],
    );
    // References: a link, bounds of the target, and those that lead nowhere.
    has(page, &["href=\"#schema-Toy\"", "id=\"schema-Sp_20_ace_2f__3c_x_3e_\""]);
    // Deprecation with its dates, security, headers, examples, links, callbacks.
    has(page, &["<time>2026-01-02</time>", "<time>2031-01-02</time>", "Use <code>/toys</code> instead"]);
    has(
        page,
        &[
            "href=\"#security-key\"",
            "href=\"#security-oauth\">oauth</a> and ",
            "Credentials: none",
            "ETag",
            "always present",
        ],
    );
    has(
        page,
        &[
            "9007199254740993",
            "One toy",
            "Second paragraph.",
            "multipleOf: 0.5",
            "callbacks: {&quot;changed&quot;",
            "<code class=\"code\">not_found",
        ],
    );
    has(page, &["x-internal: {&quot;note&quot;:&quot;&lt;script&gt;&quot;}", "discriminator: "]);
    assert!(!page.contains("notAPath"));
    // Two headings with the same words have two identifiers.
    has(page, &["id=\"section-codes\"", "href=\"#section-codes\"", "id=\"section-codes-"]);
}

#[test]
fn a_sample_request_has_only_required_parameters() {
    let pages = pages(&sources(), &Hosting::Service);
    let page = &text_of(&pages["index.html"]);
    let get = "curl -i \\\n  'https://this-service.invalid/v2/toys/it'\\''s'";
    has(page, &[get]);
    let post = "curl -i \\\n  -X POST \\\n  'https://this-service.invalid/v2/toys/7' \\\n  \
                -H 'Content-Type: application/json' \\\n  -d '{\"name\":\"o'\\''clock\"}'";
    has(page, &[post]);
}

#[test]
fn the_working_document_is_the_first_page_and_says_whether_it_is_released() {
    let released = pages(&sources(), &Hosting::Service);
    has(
        &released["index.html"],
        &["Released on <time>2026-11-22</time>", "href=\"docs/2.0.0.changes.html\""],
    );
    has(&released["docs/1.0.0.html"], &["The newest release is <a href=\"../docs/2.0.0.html\">2.0.0</a>"]);
    let working = UNUSUAL.replace("version: 2.0.0", "version: 2.1.0");
    let unreleased = pages(&Sources { working, ..sources() }, &Hosting::Service);
    has(&unreleased["index.html"], &["Not released.", "2.1.0 (not released)", "href=\"docs/1.0.0.html\""]);
    has(&unreleased["docs/files.html"], &["2.1.0 (not released)", ">openapi.yaml</a>"]);
    // An edit without another version must not look like the release.
    let working = UNUSUAL.replace("maximum: 100", "maximum: 50");
    let edited = pages(&Sources { working, ..sources() }, &Hosting::Service);
    has(&edited["index.html"], &["2.0.0 (not released)", "1 to 50"]);
    has(&edited["docs/2.0.0.html"], &["1 to 100"]);
}

#[test]
fn a_page_of_changes_has_impact_operations_and_waivers() {
    let pages = pages(&sources(), &Hosting::Service);
    let page = &pages["docs/2.0.0.changes.html"];
    has(page, &["<h2>Breaking</h2>", "<h2>Changed</h2>", "<code>limit</code>", "&lt;script&gt;alert(1)"]);
    has(page, &["Some &lt;script&gt;. (breaking)", "Requests are refused. (breaking, allowed by a waiver)"]);
    has(page, &["<dt>Waiver</dt><dd>Nobody &lt;script&gt; sends it.</dd>", "the whole document"]);
    has(page, &["href=\"../docs/2.0.0.html#operation-getToy\"", "<code>gone</code>", "/paths/~1toys/get"]);
    has(&pages["docs/1.0.0.changes.html"], &["The first release."]);
    has(
        &pages["docs/changelog.html"],
        &["<li>Breaking: Parameter <code>limit</code>", "href=\"../docs/1.0.0.changes.html\""],
    );
}

#[test]
fn the_page_for_clients_has_the_newest_version_and_only_links_of_the_site() {
    let page = pages(&sources(), &Hosting::Service).remove("docs/clients.html").unwrap();
    let commands = "URL=https://this-service.invalid/v2\ncurl https://this-service.invalid/openapi/2.0.0.yaml # <script>";
    has(&text_of(&page), &[commands]);
    has(&page, &["href=\"../docs/changelog.html\"", "href=\"../\"", "href=\"../docs/examples/get.go\""]);
    assert!(!page.contains("src/main.rs") && !page.contains("other.go"));
    let url = Some("https://docs.example.com/toys/".to_owned());
    let page = pages(&sources(), &Hosting::Static { url }).remove("docs/clients.html").unwrap();
    // The site may be on another host than the service.
    has(
        &text_of(&page),
        &["URL=https://toys.example.com/v2\n", "curl https://docs.example.com/toys/openapi/2.0.0.yaml"],
    );
}

#[test]
fn files_can_be_downloaded_unchanged_and_their_checksums_are_shown() {
    let built = pages(&sources(), &Hosting::Service);
    assert_eq!(built["docs/examples/get.go"], "package main // <script>\n");
    assert_eq!(built["openapi/2.0.0.yaml"], UNUSUAL);
    assert_eq!(built["openapi/1.0.0.changes.json"], FIRST);
    let sum = format!("<a href=\"../openapi/2.0.0.yaml\">2.0.0.yaml</a> <code>{}</code>", "2a".repeat(32));
    has(&built["docs/files.html"], &[&sum]);
    let none = pages(&Sources { examples: BTreeMap::new(), ..sources() }, &Hosting::Service);
    assert!(none.values().all(|page| !page.contains("docs/examples")));
}

#[test]
fn only_the_service_gets_pages_that_send_requests() {
    let service = pages(&sources(), &Hosting::Service);
    has(
        &service["docs/try.html"],
        &["data-sends=\"true\"", "data-document=\"../openapi.json\"", "Press Authorize"],
    );
    has(&service["docs/1.0.0.try.html"], &["data-document=\"../openapi/1.0.0.json\"", "<noscript>"]);
    let copy = pages(&sources(), &Hosting::Static { url: None });
    has(&copy["docs/try.html"], &["data-sends=\"false\"", "sends no requests"]);
    let differing: Vec<_> =
        service.iter().filter(|(path, page)| copy.get(*path) != Some(*page)).map(|(path, _)| path).collect();
    let addressed = ["docs/1.0.0.html", "docs/2.0.0.html", "docs/clients.html", "index.html"];
    let only = ["docs/1.0.0.try.html", "docs/2.0.0.try.html", "docs/try.html", "missing.html"];
    let expected: BTreeSet<&str> = addressed.into_iter().chain(only).collect();
    assert_eq!(differing.into_iter().map(String::as_str).collect::<BTreeSet<_>>(), expected);
    let names_service =
        |(path, page): &(&String, &String)| path.ends_with(".html") && page.contains(site::ORIGIN);
    assert_eq!(copy.iter().find(names_service), None);
    let naming: Vec<_> = service.iter().filter(names_service).map(|(path, _)| path).collect();
    assert_eq!(naming, addressed);
    // The script replaces text alone, and no element divides the address.
    for path in addressed {
        let page = &service[path];
        assert_eq!(text_of(page).matches(site::ORIGIN).count(), page.matches(site::ORIGIN).count(), "{path}");
    }
    let script = service.iter().find(|(path, _)| path.ends_with(".js") && path.contains("site")).unwrap();
    assert_eq!(script.1.matches(&format!("'{}'", site::ORIGIN)).count(), 2);
}

fn addition() -> BTreeMap<String, String> {
    let sources = Sources { working: ADDITION.to_owned(), ..Sources::default() };
    pages(&sources, &Hosting::Static { url: None })
}

#[test]
fn samples_send_the_key_and_a_new_idempotency_key_in_each_language() {
    let page = text_of(&addition()["index.html"]);
    let samples = [
        "ID=$(uuidgen 2>/dev/null || cat /proc/sys/kernel/random/uuid)\ncurl -i \\\n  -X POST \\\n  \
         'https://toys.example.com/v1/toys' \\\n  -H \"Authorization: Bearer ${KEY:?set KEY to your API key}\" \\\n  -H \
         \"Idempotency-Key: \\\"$ID\\\"\" \\\n",
        "key = os.environ.get(\"KEY\") or sys.exit(\"set KEY to your API key\")",
        "\"Idempotency-Key\": idempotency_key,",
        "\"isNew\": True,\n      \"part\": None,",
        "\"Idempotency-Key\": idempotencyKey,",
        // JavaScript would round the number.
        "body: \"{\\\"name\\\":",
        ".header(\"Idempotency-Key\", idempotency_key)",
        "std::env::var(\"KEY\").map_err(|_| \"set KEY to your API key\")?;",
    ];
    has(&page, &samples);
}

#[test]
fn fields_of_objects_are_shown_inline_and_those_of_references_once() {
    let page = &addition()["index.html"];
    let body = &page[page.find("Request body").unwrap()..page.find("Response <strong>201").unwrap()];
    let at = |name: &str| body.find(&format!(">{name}</code>")).unwrap();
    assert!(at("first") < at("second") && at("second") < at("third") && at("third") < at("last"), "{body}");
    // The schema contains itself.
    has(&body[at("third")..at("last")], &["<a href=\"#schema-Toy\">Toy</a>"]);
    assert_eq!(body.matches(">first</code>").count(), 1);
}

#[test]
fn errors_link_to_the_table_of_codes() {
    let page = &addition()["index.html"];
    has(page, &["<code id=\"code-broken\">broken</code>", "<a href=\"#code-broken\">"]);
    assert!(page.contains(">other</code>") && !page.contains("#code-other"), "{page}");
}

#[test]
fn the_search_finds_places_that_exist() {
    let pages = pages(&sources(), &Hosting::Service);
    let (path, index) = pages.iter().find(|(path, _)| path.starts_with("docs/search.")).unwrap();
    has(&pages["docs/files.html"], &[&format!("data-search=\"../{path}\"")]);
    let entries: Vec<(String, String, String)> = serde_json::from_str(index).unwrap();
    for (title, target, _) in &entries {
        let (page, fragment) = target.split_once('#').unwrap_or((target, "content"));
        let page = &pages[if page.is_empty() { "index.html" } else { page }];
        assert!(page.contains(&format!("id=\"{fragment}\"")), "{title}: {target}");
    }
    let titles: Vec<&str> = entries.iter().map(|(title, ..)| title.as_str()).collect();
    for title in ["GET /toys/{toyId} getToy", "Schema Toy", "broken", "Changes in 2.0.0", "Codes", "Get"] {
        assert!(titles.contains(&title), "{title} is not in {titles:?}");
    }
    for (title, word) in [("Using it", "Atom"), ("Get", "one"), ("Get", "CORS")] {
        let has = |(found, _, words): &(String, String, String)| found == title && words.contains(word);
        assert!(entries.iter().any(has), "{word} is not below {title}: {entries:?}");
    }
}

#[test]
fn without_a_release_there_is_no_feed_and_no_link_to_it() {
    let pages = pages(&Sources { released: BTreeMap::new(), ..sources() }, &Hosting::Service);
    assert!(!pages.contains_key("docs/releases.atom"));
    assert!(pages.values().all(|page| !page.contains("releases.atom")));
    has(&pages["docs/changelog.html"], &["Nothing has been released yet."]);
}

#[test]
fn the_deepest_schema_that_can_be_read_is_shown() {
    let items = "items: {type: array, ".repeat(document::MAX_DEPTH - 5);
    let close = "}".repeat(document::MAX_DEPTH - 5);
    let head = "openapi: 3.0.3\ncomponents:\n  schemas:\n    Deep: {type: array, ";
    let working = format!("{head}{items}maxItems: 7{close}}}\n");
    let sources = Sources { working, ..Sources::default() };
    has(&pages(&sources, &Hosting::Service)["index.html"], &["at most 7 items"]);
}

#[test]
fn documents_without_the_usual_parts_do_not_panic() {
    for document in
        ["openapi: 3.0.3", "{}", "[]", "text", "3", "openapi: 3.0.3\npaths: []\ncomponents: 7\ninfo: []"]
    {
        let sources = Sources { working: document.to_owned(), ..Sources::default() };
        has(&pages(&sources, &Hosting::Service)["index.html"], &["Operations"]);
    }
    let unreadable = Sources { working: "a: [".to_owned(), ..Sources::default() };
    assert!(build(&unreadable, &Hosting::Service).unwrap_err().contains("line 1"));
    let mut unreadable = sources();
    unreadable.released.insert("2.0.0.changes.json".to_owned(), "{}".to_owned());
    assert!(
        build(&unreadable, &Hosting::Service).unwrap_err().contains("/2.0.0.changes.json: missing field")
    );
    for name in ["1.0.0.json", "1.0.0.changes.json"] {
        let mut sources = sources();
        sources.released.remove(name);
        assert!(build(&sources, &Hosting::Service).unwrap_err().contains("/1.0.0."), "{name}");
    }
}
