//! Explains a rule: what it demands, and the difference of two documents.
//!
//! The documents are [`fixtures::LIBRARY`] with and without the first edits in the fixture of the rule that trigger it.

use document::{Document, Entry, Node};
use fixtures::{LIBRARY, TODAY, edited};
use include_dir::{Dir, include_dir};
use similar::TextDiff;

use crate::breaking::{self, Bump};
use crate::config::Config;
use crate::finding::Finding;
use crate::outcome::Outcome;
use crate::rule::{Fix, Rule};
use crate::{drift, lint, registry};

/// The fixtures: a folder for each family of rules, a file for each rule.
static FIXTURES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/fixtures");
/// The limit of lines of an example.
const MOST: usize = 40;

/// Explains a rule, with an example as a unified diff. Rules about waivers have none, because waivers are not in a document.
pub fn explain(rule: &Rule) -> String {
    describe(rule) + &example(rule).unwrap_or_default()
}

/// Describes a rule: what it demands, or the impact of a change and the version that it needs.
pub fn describe(rule: &Rule) -> String {
    let Rule { name, profile, explanation, origin, fix, .. } = rule;
    let needs = match breaking::change_rules().find(|change| change.name == *name).map(|change| change.bump) {
        Some(Bump::Major) => " The change needs a new major version.",
        Some(Bump::Minor) => " The change needs a new minor version.",
        Some(Bump::Patch) => " The change needs a new patch version.",
        Some(Bump::None) | None => "",
    };
    let severity = registry::severity(rule);
    let fix = match fix {
        Fix::Manual => "",
        Fix::Unsafe => " `--fix=all` repairs it.",
        Fix::Safe => " `--fix` repairs it.",
    };
    format!(
        "{name}\n\n{explanation}{needs}\n\nSeverity: {severity}. Profile: {profile}. Origin: {origin}.{fix}\n"
    )
}

/// Returns the difference of two documents in YAML, and what is reported about them.
fn example(rule: &Rule) -> Option<String> {
    let has = |rules: &[&Rule]| rules.iter().any(|it| it.name == rule.name);
    let (family, _) = registry::families().into_iter().find(|(_, rules)| has(rules))?;
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
    let ((old, new), documents, findings) = match family {
        "breaking" => {
            let outcome = Outcome::of(&other, &changed, &Config::default(), TODAY);
            let findings = outcome.all().map(breaking::Change::finding).collect();
            (("old version", "new version"), [&other, &changed], findings)
        }
        "drift" => (("document", "code"), [&changed, &other], drift::compare(&changed, &other)),
        _ => (("before", "after"), [&changed, &other], lint::lint(&changed, TODAY)),
    };
    let finding = findings.into_iter().find(|finding: &Finding| finding.rule == rule.name)?;
    let diff = TextDiff::from_lines(&*documents[0].text, &documents[1].text);
    let diff = diff.unified_diff().context_radius(2).header(old, new).to_string();
    let lines: String = diff.lines().take(MOST).map(|line| format!("    {line}\n")).collect();
    Some(format!("\n{lines}\nReported at `#{}`: {}\n", finding.pointer, finding.in_one_line()))
}
