//! Reads the configuration file of the tools, `contract.toml`. `xtask/contract/README.md` describes its format.

mod limits;
mod search;

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::Path;
use std::str::FromStr;

use document::Span;
use document::place::Subject;
use document::shortened;
use jiff::civil::Date;
use semver::Version;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use limits::Limits;
use search::nearest;

use crate::baseline::{Baseline, Compared};
use crate::breaking::Term;
use crate::breaking::version::is_version_rule;
use crate::breaking::waivers::Waiver;
use crate::finding::{File, Finding, Location, Severity};
use crate::lint::{self, Settings};
use crate::registry;
use crate::rule::{Profile, Rule};

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

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Written {
    profile: Profile,
    limits: Limits,
    rules: BTreeMap<RuleName, Setting>,
    ignore: Vec<Spanned<Ignore>>,
    waiver: Vec<Spanned<WrittenWaiver>>,
}

/// The name of a rule that exists.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
struct RuleName(String);

impl TryFrom<String> for RuleName {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        if registry::find(&name).is_some() {
            return Ok(Self(name));
        }
        let meant = registry::nearest(&name).map(|near| format!(". Did you mean `{near}`?"));
        Err(format!("there is no rule `{}`{}", shortened(&name), meant.unwrap_or_default()))
    }
}

/// Reads why a finding or a change is accepted.
fn reason<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let reason = String::deserialize(deserializer)?;
    if reason.trim().is_empty() {
        return Err(D::Error::custom("`reason` is empty; write why the finding or change is accepted"));
    }
    Ok(reason)
}

/// The severity of a rule.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Setting {
    Error,
    Warning,
    Info,
    Off,
}

impl From<Setting> for Option<Severity> {
    fn from(setting: Setting) -> Self {
        match setting {
            Setting::Error => Some(Severity::Error),
            Setting::Warning => Some(Severity::Warning),
            Setting::Info => Some(Severity::Info),
            Setting::Off => None,
        }
    }
}

/// An accepted finding.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ignore {
    rule: RuleName,
    /// JSON pointer. The entry also covers every place below it.
    at: String,
    #[serde(deserialize_with = "reason")]
    reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenWaiver {
    rule: RuleName,
    at: Option<String>,
    operation: Option<String>,
    #[serde(deserialize_with = "reason")]
    reason: String,
    #[serde(default, deserialize_with = "parsed")]
    until: Option<Date>,
    #[serde(default, deserialize_with = "parsed")]
    release: Option<Version>,
}

/// Reads a day or a version from a string or a date of TOML.
fn parsed<'de, D: Deserializer<'de>, T: FromStr>(deserializer: D) -> Result<Option<T>, D::Error> {
    let value = toml::Value::deserialize(deserializer)?;
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let expected = "`until` is a date such as `2027-01-31`, `release` is a version such as `1.2.0`";
    text.parse().map(Some).map_err(|_| D::Error::custom(expected))
}

impl Config {
    /// Reads `file`, or else the [`nearest`] configuration of `document` if there is one.
    ///
    /// # Errors
    /// The configuration with its first problem, if it cannot be read or has an undefined or invalid entry.
    pub fn load(file: Option<&Path>, document: &Path) -> Result<Self, File> {
        let found = file.map(Path::to_owned).or_else(|| nearest(document));
        let Some(found) = found else { return Ok(Self::default()) };
        let path = found.display().to_string();
        match fs::read_to_string(&found) {
            Ok(text) => Self::parse(path, text),
            Err(error) => {
                let finding = problem("", 0..0, format!("the configuration cannot be read: {error}."));
                Err(File { path, text: String::new(), findings: vec![finding] })
            }
        }
    }

    /// Reads the text of a configuration file.
    ///
    /// # Errors
    /// The configuration with the first entry that cannot be used.
    pub fn parse(path: String, text: String) -> Result<Self, File> {
        let unusable = |range: Range<usize>, message: &str| {
            let findings = vec![problem(&text, range, message.to_owned())];
            File { path: path.clone(), text: text.clone(), findings }
        };
        let read: Written = toml::from_str(&text).map_err(|error| {
            let message = error.message().trim_end_matches('.');
            let end = if message.ends_with('?') { "" } else { "." };
            unusable(error.span().unwrap_or_default(), &format!("{message}{end}"))
        })?;
        let mut waivers = Vec::new();
        for (number, entry) in read.waiver.into_iter().enumerate() {
            let range = entry.span();
            let WrittenWaiver { rule, at, operation, reason, until, release } = entry.into_inner();
            if at.is_none() && operation.is_none() {
                return Err(unusable(range, "a waiver requires `at`, `operation` or both."));
            }
            let term = match (until, release) {
                (Some(day), None) => Term::Until(day),
                (None, Some(version)) => Term::Release(version),
                _ => return Err(unusable(range, "a waiver requires either `release` or `until`.")),
            };
            let (pointer, span) = (format!("/waiver/{number}"), Span::within(&text, range));
            let place = Location { file: path.clone(), pointer, span };
            waivers.push(Waiver { rule: rule.0, at, operation, reason, term, place });
        }
        let severities = read.rules.into_iter().map(|(rule, setting)| (rule.0, setting.into())).collect();
        let (profile, limits, ignores) = (read.profile, read.limits, read.ignore);
        Ok(Self { path, text, profile, limits, severities, ignores, waivers, ..Self::default() })
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

    /// Returns what a check of a document depends on.
    pub fn settings(&self, today: Date) -> Settings {
        let is_off = |rule: &&Rule| self.severity(rule.name, rule.severity).is_none();
        let off = lint::rules().filter(is_off).map(|rule| rule.name).collect();
        Settings { today, sunset_days: self.limits.sunset_days, off }
    }

    /// Whether an `ignore` entry accepts the findings of a rule at a place.
    pub fn ignores(&self, rule: &str, at: &str) -> bool {
        self.ignore(rule, at).is_some()
    }

    fn ignore(&self, rule: &str, at: &str) -> Option<usize> {
        self.ignores.iter().position(|ignore| ignore.get_ref().covers(rule, at))
    }

    /// Applies severities, `ignore` entries and the baseline to all findings of a family of rules (`lint` or `drift`),
    /// then limits those that remain. They do not apply to what was not understood.
    pub fn apply(&self, findings: Vec<Finding>, family: &str) -> Applied {
        let mut used = vec![false; self.ignores.len()];
        let (mut left, mut ignored) = (Vec::with_capacity(findings.len()), Vec::new());
        for mut finding in findings {
            // What was not compared may hide other findings.
            if finding.severity == Severity::Unreadable {
                left.push(finding);
                continue;
            }
            let Some(severity) = self.severity(&finding.rule, finding.severity) else { continue };
            finding.severity = severity;
            match self.ignore(&finding.rule, &finding.pointer) {
                Some(position) => {
                    used[position] = true;
                    finding.accepted = Some(self.ignores[position].get_ref().reason.clone());
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
        let is_unused = |ignore: &Ignore, used: bool| !used && is_judged(&ignore.rule.0);
        let unused = self.ignores.iter().zip(used).filter(|(entry, used)| is_unused(entry.get_ref(), *used));
        let unused = unused.map(|(entry, _)| {
            let Ignore { rule, at, .. } = entry.get_ref();
            let message = format!("the rule `{}` has no finding at `{at}`.", rule.0);
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
        rule == self.rule.0 && below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

fn problem(text: &str, range: Range<usize>, message: String) -> Finding {
    Finding::new(Severity::Unreadable, "configuration", "", Span::within(text, range))
        .message(&Subject::document(), message)
        .fix("Fix this, so that the rest can be checked.")
}
