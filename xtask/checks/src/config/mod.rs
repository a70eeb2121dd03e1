//! Reads the configuration file of the tools, `contract.toml`. `README.md` describes its format.

mod limits;
mod search;

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::Path;

use document::Span;
use document::finding::{self, Finding, Location, Severity, Subject, shortened};
use document::rule::Profile;
use jiff::civil::Date;
use serde::Deserialize;
use toml::Spanned;

use crate::baseline::{Baseline, Compared};
use crate::breaking::Term;
use crate::breaking::version::is_version_rule;
use crate::breaking::waivers::Waiver;
use crate::lint::Dates;
use crate::registry;
use limits::Limits;
use search::nearest;

/// The rules that apply, their severities, and the accepted findings.
#[derive(Debug, Default)]
pub struct Config {
    /// The path of the file; empty if there is none.
    pub path: String,
    /// The text of the file.
    pub text: String,
    /// The profile whose rules apply. `severities` can turn single rules on or off.
    pub profile: Profile,
    limits: Limits,
    severities: BTreeMap<String, Option<Severity>>,
    ignores: Vec<Spanned<Ignore>>,
    /// Findings that are accepted because they are older than the check.
    pub baseline: Baseline,
    /// Intended breaking changes.
    pub waivers: Vec<Waiver>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    profile: Option<Spanned<String>>,
    #[serde(default)]
    limits: Limits,
    #[serde(default)]
    rules: BTreeMap<Spanned<String>, Spanned<String>>,
    #[serde(default)]
    ignore: Vec<Spanned<Ignore>>,
    #[serde(default)]
    waiver: Vec<Spanned<WrittenWaiver>>,
}

/// An accepted finding.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ignore {
    rule: Spanned<String>,
    /// JSON pointer. The entry also covers every place below it.
    at: String,
    reason: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenWaiver {
    rule: Spanned<String>,
    at: Option<String>,
    operation: Option<String>,
    reason: Spanned<String>,
    until: Option<Spanned<toml::Value>>,
    release: Option<Spanned<String>>,
}

/// A configuration file that cannot be used.
#[derive(Debug)]
pub struct Unusable {
    /// The path of the file.
    pub path: String,
    /// The text of the file, empty if it could not be read.
    pub text: String,
    /// All problems of the file.
    pub findings: Vec<Finding>,
}

impl Config {
    /// Reads `file`, or else the [`nearest`] configuration of `document` if there is one.
    ///
    /// # Errors
    /// Returns [`Unusable`] if the file cannot be read or has an undefined or invalid entry.
    pub fn load(file: Option<&Path>, document: &Path) -> Result<Self, Unusable> {
        let found = file.map(Path::to_owned).or_else(|| nearest(document));
        let Some(found) = found else { return Ok(Self::default()) };
        let path = found.display().to_string();
        match fs::read_to_string(&found) {
            Ok(text) => Self::parse(path, text),
            Err(error) => {
                let finding = problem("", 0..0, format!("the configuration cannot be read: {error}."));
                Err(Unusable { path, text: String::new(), findings: vec![finding] })
            }
        }
    }

    /// Reads the text of a configuration file.
    ///
    /// # Errors
    /// Returns [`Unusable`] with every entry that cannot be used.
    pub fn parse(path: String, text: String) -> Result<Self, Unusable> {
        let read: Written = match toml::from_str(&text) {
            Ok(read) => read,
            Err(error) => {
                let message = error.message().trim_end_matches('.');
                let message = match meant(message) {
                    Some(meant) => format!("{message}; did you mean `{meant}`?"),
                    None => format!("{message}."),
                };
                let finding = problem(&text, error.span().unwrap_or_default(), message);
                return Err(Unusable { path, text, findings: vec![finding] });
            }
        };
        let mut findings = Vec::new();
        let mut wrong = |range: Range<usize>, message: String| findings.push(problem(&text, range, message));
        let mut config = Self { limits: read.limits, ..Self::default() };
        if let Some(profile) = read.profile {
            match Profile::ALL.into_iter().find(|known| known.to_string() == *profile.get_ref()) {
                Some(known) => config.profile = known,
                None => wrong(profile.span(), "`profile` is `spec`, `recommended` or `strict`.".to_owned()),
            }
        }
        for (name, severity) in read.rules {
            known_rule(&name, &mut wrong);
            match setting(severity.get_ref()) {
                Some(severity) => drop(config.severities.insert(name.into_inner(), severity)),
                None => {
                    let message = format!(
                        "the severity of a rule is `error`, `warning`, `info` or `off`, not `{}`.",
                        shortened(severity.get_ref())
                    );
                    wrong(severity.span(), message);
                }
            }
        }
        for ignore in &read.ignore {
            known_rule(&ignore.get_ref().rule, &mut wrong);
            given(&ignore.get_ref().reason, &mut wrong);
        }
        config.ignores = read.ignore;
        for (number, entry) in read.waiver.into_iter().enumerate() {
            let place = Span::within(&text, entry.span());
            let WrittenWaiver { rule, at, operation, reason, until, release } = entry.into_inner();
            let pointer = format!("/waiver/{number}");
            known_rule(&rule, &mut wrong);
            given(&reason, &mut wrong);
            if at.is_none() && operation.is_none() {
                let message = "a waiver requires `at`, `operation` or both.".to_owned();
                wrong(rule.span(), message);
            }
            let term = match term(until, release) {
                Ok(Some(term)) => term,
                Ok(None) => {
                    let message = "a waiver requires either `release` or `until`.".to_owned();
                    wrong(rule.span(), message);
                    continue;
                }
                Err((range, message)) => {
                    wrong(range, message.to_owned());
                    continue;
                }
            };
            let (rule, reason) = (rule.into_inner(), reason.into_inner());
            let place = Location { file: path.clone(), pointer, span: place };
            config.waivers.push(Waiver { rule, at, operation, reason, term, place });
        }
        if findings.is_empty() {
            Ok(Self { path, text, ..config })
        } else {
            Err(Unusable { path, text, findings })
        }
    }

    /// Replaces the profile of the file.
    #[must_use]
    pub fn with_profile(mut self, profile: Option<Profile>) -> Self {
        self.profile = profile.unwrap_or(self.profile);
        self
    }

    /// Reports all findings of each rule.
    #[must_use]
    pub fn without_limit(mut self) -> Self {
        self.limits.findings_per_rule = NonZeroUsize::MAX;
        self
    }

    /// Returns the severity of a rule's findings; `None` if the rule is off. A rule that is not in the registry
    /// has the default.
    pub fn severity(&self, rule: &str, default: Severity) -> Option<Severity> {
        match (self.severities.get(rule), registry::find(rule)) {
            (Some(severity), _) => *severity,
            (None, Some(rule)) if rule.profile > self.profile => None,
            (None, Some(rule)) => Some(rule.severity_in(self.profile, default)),
            (None, None) => Some(default),
        }
    }

    /// Returns the dates with which a document is checked.
    pub fn dates(&self, today: Date) -> Dates {
        Dates { today, sunset_days: self.limits.sunset_days }
    }

    /// Whether an `ignore` entry accepts the findings of a rule at a place.
    pub fn ignores(&self, rule: &str, at: &str) -> bool {
        self.ignore(rule, at).is_some()
    }

    fn ignore(&self, rule: &str, at: &str) -> Option<usize> {
        self.ignores.iter().position(|ignore| ignore.get_ref().covers(rule, at))
    }

    /// Applies severities, `ignore` entries and the baseline to all findings of a family of rules (`lint` or `drift`), then limits those
    /// that remain.
    pub fn apply(&self, findings: Vec<Finding>, family: &str) -> Applied {
        let mut used = vec![false; self.ignores.len()];
        let (mut left, mut ignored) = (Vec::with_capacity(findings.len()), Vec::new());
        for mut finding in findings {
            let Some(severity) = self.severity(&finding.rule, finding.severity) else { continue };
            finding.severity = severity;
            match self.ignore(&finding.rule, &finding.pointer) {
                Some(position) => {
                    used[position] = true;
                    finding.accepted = Some(self.ignores[position].get_ref().reason.get_ref().clone());
                    ignored.push(finding);
                }
                None => left.push(finding),
            }
        }
        let is_judged = |rule: &str| match registry::family(rule) {
            // The rules of the version apply to a comparison; no other of its findings can be accepted by an entry.
            Some("breaking") => !is_version_rule(rule),
            of => of == Some(family),
        };
        let is_unused = |ignore: &Ignore, used: bool| !used && is_judged(ignore.rule.get_ref());
        let unused = self.ignores.iter().zip(used).filter(|(entry, used)| is_unused(entry.get_ref(), *used));
        let unused = unused.map(|(entry, _)| {
            let Ignore { rule, at, .. } = entry.get_ref();
            let message = format!("the rule `{}` has no finding at `{at}`.", rule.get_ref());
            Finding::new(Severity::Warning, "ignore-unused", "", Span::within(&self.text, entry.span()))
                .message(&Subject::document(), message)
                .fix("Delete the entry, or correct `rule` and `at`.")
        });
        let unused = unused.collect();
        let Compared { new, accepted, outdated } = self.baseline.compare(left, family);
        ignored.extend(accepted);
        Applied { findings: self.limits.limited(new), ignored, unused, outdated }
    }
}

/// Findings after the configuration was applied.
#[derive(Debug)]
pub struct Applied {
    /// The findings that remain.
    pub findings: Vec<Finding>,
    /// Those that an `ignore` entry or the baseline accepts, with the reason.
    pub ignored: Vec<Finding>,
    /// A finding about the configuration for each `ignore` entry without effect.
    pub unused: Vec<Finding>,
    /// A finding about the entries of the baseline that no longer occur.
    pub outdated: Option<Finding>,
}

impl Ignore {
    fn covers(&self, rule: &str, at: &str) -> bool {
        let below = at.strip_prefix(&self.at);
        rule == self.rule.get_ref() && below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// Returns when a waiver has effect; `None` if it does not have exactly one of the two entries.
fn term(
    until: Option<Spanned<toml::Value>>,
    release: Option<Spanned<String>>,
) -> Result<Option<Term>, (Range<usize>, &'static str)> {
    match (until, release) {
        (Some(until), None) => {
            let day = until.get_ref().as_str().map_or_else(|| until.get_ref().to_string(), str::to_owned);
            let day = day.parse().map_err(|_| (until.span(), "`until` is a date such as `2027-01-31`."));
            day.map(|day| Some(Term::Until(day)))
        }
        (None, Some(release)) => {
            let version = release.get_ref().parse();
            let version = version.map_err(|_| (release.span(), "`release` is a version such as `1.2.0`."));
            version.map(|version| Some(Term::Release(version)))
        }
        _ => Ok(None),
    }
}

/// Reports a rule that does not exist.
fn known_rule(name: &Spanned<String>, wrong: &mut impl FnMut(Range<usize>, String)) {
    if registry::find(name.get_ref()).is_none() {
        let near = registry::nearest(name.get_ref());
        let meant = near.map(|near| format!(" Did you mean `{near}`?")).unwrap_or_default();
        let message = format!("there is no rule `{}`.{meant}", shortened(name.get_ref()));
        wrong(name.span(), message);
    }
}

fn given(reason: &Spanned<String>, wrong: &mut impl FnMut(Range<usize>, String)) {
    if reason.get_ref().trim().is_empty() {
        let message = "`reason` is empty; write why the finding or change is accepted.".to_owned();
        wrong(reason.span(), message);
    }
}

/// Returns the known key that a message about an unknown one probably means. It names the unknown key, then all known ones.
fn meant(message: &str) -> Option<&str> {
    let mut names = message.strip_prefix("unknown field ")?.split('`').skip(1).step_by(2);
    finding::nearest(names.next()?, names)
}

/// Returns what a setting of a rule means: a severity, or that the rule is off.
fn setting(text: &str) -> Option<Option<Severity>> {
    Some(match text {
        "error" => Some(Severity::Error),
        "warning" => Some(Severity::Warning),
        "info" => Some(Severity::Info),
        "off" => None,
        _ => return None,
    })
}

fn problem(text: &str, range: Range<usize>, message: String) -> Finding {
    Finding::new(Severity::Unreadable, "configuration", "", Span::within(text, range))
        .message(&Subject::document(), message)
        .fix("Fix this, so that the rest can be checked.")
}
