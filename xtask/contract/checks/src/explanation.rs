//! Explains a rule: what it demands, why, and the difference of two documents.
//!
//! The documents are [`fixtures::LIBRARY`] with and without the first edits in the fixture of the rule that trigger it.

use document::{Document, Entry, Node};
use fixtures::{LIBRARY, TODAY, edited};
use include_dir::{Dir, include_dir};
use similar::TextDiff;

use crate::breaking::{self, Bump};
use crate::config::Config;
use crate::finding::{Finding, Severity};
use crate::outcome::Outcome;
use crate::rule::{Fix, Profile, Rule};
use crate::{drift, lint, registry};

/// The fixtures: a folder for each family of rules, a file for each rule.
static FIXTURES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/fixtures");
/// The limit of lines of an example.
const MOST: usize = 40;

/// Explains a rule, with an example as a unified diff. Rules about waivers have none, because waivers are not in a document.
pub fn explain(rule: &Rule) -> String {
    describe(rule) + &example(rule).unwrap_or_default()
}

/// Describes a rule: what it demands, and why.
pub fn describe(rule: &Rule) -> String {
    let Rule { name, profile, explanation, origin, fix, .. } = rule;
    let (severity, reason) = (registry::severity(rule), reason(rule));
    let fix = match fix {
        Fix::Manual => "",
        Fix::Unsafe => " `--fix=all` repairs it.",
        Fix::Safe => " `--fix` repairs it.",
    };
    format!(
        "{name}\n\n{explanation} {reason}\n\nSeverity: {severity}. Profile: {profile}. Origin: {origin}.{fix}\n"
    )
}

/// Returns why findings of a rule matter.
fn reason(rule: &Rule) -> &'static str {
    if let Some(change) = breaking::change_rules().find(|change| change.name == rule.name) {
        return match change.bump {
            Bump::Major => "This breaks clients, so it needs a new major version.",
            Bump::Minor => "Requests and responses may differ, so the change needs a new minor version.",
            Bump::Patch => "Clients that run are not affected, so a new patch version is enough.",
            Bump::None if rule.severity == Severity::Info => "Clients are not affected.",
            Bump::None => "Fix this before a release.",
        };
    }
    if registry::family(rule.name) == Some("drift") {
        return "Clients follow the document, so they fail where the code differs.";
    }
    match rule.profile {
        Profile::Spec => {
            "Otherwise some tools reject the document, and others interpret it in their own way."
        }
        Profile::Recommended => {
            "The document is valid otherwise, but harder to read or to generate code from."
        }
        Profile::Strict => "This is a convention of some projects; the document is valid otherwise.",
    }
}

/// Returns the difference of two documents in YAML, and what is reported about them.
fn example(rule: &Rule) -> Option<String> {
    let family = registry::family(rule.name)?;
    let file = FIXTURES.get_file(format!("{family}/{}.yaml", rule.name));
    let text = file.and_then(|file| file.contents_utf8()).or_else(|| lint::project_fixture(rule.name))?;
    let fixture = document::read(text).ok()?;
    let edits = fixture.get("breaks")?.items().first()?;
    let all = |text: &str, edits: &[Entry]| {
        let mut edits = edits.iter().filter(|edit| ["set", "remove", "rename"].contains(&&*edit.key));
        edits.try_fold(text.to_owned(), |text, edit| edited(&text, edit))
    };
    let at = |key: &str| edits.get(key).map(Node::entries).unwrap_or_default();
    let base = all(LIBRARY, at("before"))?;
    let changed = Document::parse("openapi.yaml", &all(&base, edits.entries())?).ok()?;
    let other = Document::parse("openapi.yaml", &all(&base, at("code"))?).ok()?;
    let is_here = |finding: &Finding| finding.rule == rule.name;
    let (titles, documents, finding) = match family {
        "breaking" => {
            let outcome = Outcome::of(&other, &changed, &Config::default(), TODAY);
            let found = outcome.all().map(breaking::Change::finding).find(is_here);
            (("old version", "new version"), [&other, &changed], found)
        }
        "drift" => {
            let found = drift::compare(&changed, &other).into_iter().find(is_here);
            (("document", "code"), [&changed, &other], found)
        }
        _ => {
            let found = lint::lint(&changed, TODAY).into_iter().find(is_here);
            (("before", "after"), [&changed, &other], found)
        }
    };
    let finding = finding?;
    let sentences: Vec<&str> = std::iter::once(&*finding.message).chain(finding.advice()).collect();
    let (old, new) = titles;
    let diff = TextDiff::from_lines(&*documents[0].text, &documents[1].text);
    let diff = diff.unified_diff().context_radius(2).header(old, new).to_string();
    let lines: String = diff.lines().take(MOST).map(|line| format!("    {line}\n")).collect();
    Some(format!("\n{lines}\nReported at `#{}`: {}\n", finding.pointer, sentences.join(" ")))
}
