//! Reads the configuration file of the tools, `contract.toml`. `xtask/contract/README.md` describes its format.

mod limits;
pub(crate) mod marks;

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::{env, fs};

use document::place::Subject;
use document::{Document, Span, shortened};
use glob::Pattern;
use jiff::civil::Date;
use semver::Version;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use limits::Limits;

use crate::baseline::Baseline;
use crate::breaking::waivers::can_be_waived;
use crate::exception::{Exception, Exceptions, Term};
use crate::finding::{File, Finding, Location, Severity};
use crate::lint::{self, Settings};
use crate::registry;
use crate::revision::unusable;
use crate::rule::{Profile, Rule};

/// The name of the file.
const FILE: &str = "contract.toml";

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
    severities: BTreeMap<&'static str, Option<Severity>>,
    ignores: Vec<Exception>,
    /// Findings that are accepted because they are older than the check.
    pub baseline: Baseline,
    /// Intended breaking changes.
    pub(crate) waivers: Vec<Exception>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Written {
    profile: Profile,
    limits: Limits,
    /// By their names here or in another program.
    rules: BTreeMap<Spanned<String>, Setting>,
    ignore: Vec<Spanned<Entry>>,
    waiver: Vec<Spanned<Entry>>,
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

/// An `[[ignore]]` or a `[[waiver]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    rule: Spanned<String>,
    at: Option<String>,
    #[serde(default, deserialize_with = "parsed")]
    operation: Option<Pattern>,
    #[serde(default, deserialize_with = "parsed")]
    path: Option<Pattern>,
    reason: Spanned<String>,
    #[serde(default, deserialize_with = "parsed")]
    until: Option<Date>,
    #[serde(default, deserialize_with = "parsed")]
    release: Option<Version>,
}

/// Reads a day, a version or a pattern from a string or a date of TOML.
fn parsed<'de, D: Deserializer<'de>, T: FromStr>(deserializer: D) -> Result<Option<T>, D::Error> {
    let value = toml::Value::deserialize(deserializer)?;
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let expected = "`until` is a date such as `2027-01-31`, `release` is a version such as `1.2.0`, `operation` and `path` \
                    are patterns such as `list*` and `/internal/**`";
    text.parse().map(Some).map_err(|_| D::Error::custom(expected))
}

impl Entry {
    /// Returns the exception, for rules of `breaking` if it is a waiver, else for all others.
    fn exception(self, rules: &[&Rule], is_waiver: bool, place: Location) -> Result<Exception, &'static str> {
        let Self { rule, at, operation, path, reason, until, release } = self;
        if at.is_none() && operation.is_none() && path.is_none() {
            return Err("an exception requires `at`, `operation` or `path`.");
        }
        let term = match (until, release) {
            (None, None) if !is_waiver => None,
            (Some(day), None) if is_waiver => Some(Term::Until(day)),
            (None, Some(version)) if is_waiver => Some(Term::Release(version)),
            _ if is_waiver => return Err("a waiver requires either `release` or `until`."),
            _ => return Err("only a `[[waiver]]` has `release` or `until`."),
        };
        let rules = rules.iter().map(|rule| rule.name);
        let rules: Arc<[_]> = rules.filter(|rule| is_waiver == can_be_waived(rule)).collect();
        match (rules.is_empty(), is_waiver) {
            (false, _) => {}
            (true, true) => {
                return Err("`rule` is not about a change that can be waived; write `[[ignore]]`.");
            }
            (true, false) => {
                return Err("`rule` belongs to `breaking`; write `[[waiver]]` with `release` or `until`.");
            }
        }
        let (rule, reason) = (rule.into_inner(), reason.into_inner());
        Ok(Exception { rule, rules, at: at.unwrap_or_default(), operation, path, reason, term, place })
    }
}

impl Config {
    /// Reads `file`, or else the [`nearest`] configuration of `document` if there is one.
    ///
    /// # Errors
    /// The configuration with its first problem, if it cannot be read or has an undefined or invalid entry.
    pub fn load(file: Option<&Path>, document: &Path) -> Result<Self, File> {
        let found = file.map(Path::to_owned).or_else(|| nearest(document));
        let Some(found) = found else { return Ok(Self::default()) };
        match fs::read_to_string(&found) {
            Ok(text) => Self::parse(found.display().to_string(), text),
            Err(error) => Err(unusable(&found, format!("the configuration cannot be read: {error}"))),
        }
    }

    /// Reads the text of a configuration file.
    ///
    /// # Errors
    /// The configuration with the first entry that cannot be used.
    pub fn parse(path: String, text: String) -> Result<Self, File> {
        let unusable = |range: Range<usize>, message: &str| {
            let finding = Finding::new(Severity::Unreadable, "configuration", "", Span::within(&text, range))
                .message(&Subject::document(), message);
            File { path: path.clone(), text: text.clone(), findings: vec![finding] }
        };
        let read: Written = toml::from_str(&text).map_err(|error| {
            let message = error.message().trim_end_matches('.');
            let end = if message.ends_with('?') { "" } else { "." };
            unusable(error.span().unwrap_or_default(), &format!("{message}{end}"))
        })?;
        let named = |name: &Spanned<String>| {
            let rules = registry::named(name.get_ref());
            if rules.is_empty() {
                Err(unusable(name.span(), &registry::unknown(name.get_ref())))
            } else {
                Ok(rules)
            }
        };
        let exceptions = |kind, entries: Vec<Spanned<Entry>>| -> Result<Vec<_>, File> {
            let exception = |(number, entry): (usize, Spanned<Entry>)| {
                let (range, entry) = (entry.span(), entry.into_inner());
                let (pointer, span) = (format!("/{kind}/{number}"), Span::within(&text, range.clone()));
                let (place, rules) = (Location { file: path.clone(), pointer, span }, named(&entry.rule)?);
                if entry.reason.get_ref().trim().is_empty() {
                    let message = "`reason` is empty; write why the finding or change is accepted.";
                    return Err(unusable(entry.reason.span(), message));
                }
                entry.exception(&rules, kind == "waiver", place).map_err(|message| unusable(range, message))
            };
            entries.into_iter().enumerate().map(exception).collect()
        };
        let (ignores, waivers) = (exceptions("ignore", read.ignore)?, exceptions("waiver", read.waiver)?);
        let settings = read.rules.into_iter().map(|(name, setting)| Ok((named(&name)?, name, setting)));
        let mut settings = settings.collect::<Result<Vec<_>, File>>()?;
        // A rule's own name has precedence, then one that stands for fewer rules.
        settings
            .sort_by_key(|(rules, name, _)| (registry::find(name.get_ref()).is_some(), Reverse(rules.len())));
        let mut severities = BTreeMap::new();
        for (rules, _, setting) in settings {
            let severity = match setting {
                Setting::Error => Some(Severity::Error),
                Setting::Warning => Some(Severity::Warning),
                Setting::Info => Some(Severity::Info),
                Setting::Off => None,
            };
            severities.extend(rules.into_iter().map(|rule| (rule.name, severity)));
        }
        let (profile, limits) = (read.profile, read.limits);
        Ok(Self { path, text, profile, limits, severities, ignores, waivers, ..Self::default() })
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

    /// Applies severities, `ignore` entries, the exceptions of the document and the baseline to all findings of a family
    /// of rules (`lint` or `drift`). They do not apply to what was not understood.
    pub fn apply(&self, document: &Document, found: Vec<Finding>, family: &str) -> Applied {
        let (marks, problems) = marks::read(document);
        let exceptions = Exceptions::new(self.ignores.iter().chain(&marks).collect(), &[document]);
        let mut used = vec![false; exceptions.all.len()];
        let mut baseline = self.baseline.entries();
        let (mut findings, mut ignored) = (Vec::with_capacity(found.len()), Vec::new());
        for mut finding in found {
            // What was not compared may hide other findings.
            if finding.severity == Severity::Unreadable {
                findings.push(finding);
                continue;
            }
            let Some(severity) = self.severity(&finding.rule, finding.severity) else { continue };
            let covering = exceptions.covering(&finding.rule, &[&finding.pointer], &finding.operations);
            covering.iter().for_each(|at| used[*at] = true);
            let reason = covering.first().map(|at| exceptions.all[*at].reason.clone());
            finding.accepted = reason.or_else(|| baseline.accept(&finding));
            let is_accepted = finding.accepted.is_some();
            finding.severity = if is_accepted { Severity::Info } else { severity };
            if is_accepted { &mut ignored } else { &mut findings }.push(finding);
        }
        findings.extend(problems);
        let of_family = registry::families().into_iter().find(|(name, _)| *name == family);
        let of_family: HashSet<_> =
            of_family.into_iter().flat_map(|(_, rules)| rules).map(|it| it.name).collect();
        let mut unused = Vec::new();
        for (exception, used) in exceptions.all.into_iter().zip(used) {
            if !used && exception.rules.iter().all(|rule| of_family.contains(rule)) {
                let is_mark = exception.place.file == document.path;
                if is_mark { &mut findings } else { &mut unused }.push(unused_exception(exception));
            }
        }
        Applied { findings, ignored, unused, outdated: baseline.outdated() }
    }
}

/// Findings after the configuration was applied.
#[derive(Debug)]
pub struct Applied {
    /// The findings that remain.
    pub findings: Vec<Finding>,
    /// Those that the configuration, the document or the baseline accepts, with the reason.
    pub ignored: Vec<Finding>,
    /// A finding about the configuration for each `ignore` entry without effect.
    pub unused: Vec<Finding>,
    /// A finding about the entries of the baseline that no longer occur.
    pub outdated: Option<Finding>,
}

/// Returns the nearest configuration: in the directory of the document or above it, up to the root of the repository.
fn nearest(document: &Path) -> Option<PathBuf> {
    let directory = document.parent().unwrap_or(Path::new(""));
    // The parent of `..` as a text is not the directory above it.
    let has_parent = directory.components().any(|component| component == Component::ParentDir);
    let real = has_parent.then(|| fs::canonicalize(directory).ok()).flatten();
    let directory = real.as_deref().unwrap_or(directory);
    let here = if directory.is_relative() { env::current_dir().unwrap_or_default() } else { PathBuf::new() };
    for above in directory.ancestors().chain(here.ancestors().skip(1)) {
        let file = above.join(FILE);
        // A link to a file that does not exist is an error.
        if file.symlink_metadata().is_ok() {
            return Some(file);
        }
        if above.join(".git").exists() {
            return None;
        }
    }
    None
}

/// Returns a finding about an exception without effect, at its place.
fn unused_exception(exception: &Exception) -> Finding {
    let Exception { rule, place, .. } = exception;
    Finding::new(Severity::Warning, "ignore-unused", &place.pointer, place.span)
        .message(&Subject::document(), format!("no finding of the rule `{}` matches.", shortened(rule)))
        .fix("Delete the exception, or correct its rule and its place.")
}
