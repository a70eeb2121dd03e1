//! Rules, and the collection of their findings.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde::Deserialize;
use serde_json::Value;

use document::names::nearest;
use document::place::{Spot, Subject};
use document::repair::Repair;
use document::{Span, shortened};

use crate::finding::{Finding, Severity};

/// The limit of bytes of all findings, so that a hostile document cannot exhaust the memory.
const MAX_BYTES: usize = 256 << 20;
/// The limit of searches for names that misspelt ones mean.
const MAX_SEARCHES: usize = 100;

/// A set of rules; each profile contains those before it.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// Validity by the specification, or by an RFC that it refers to.
    Spec,
    /// Common practice of API design.
    #[default]
    Recommended,
    /// All rules, including those specific to one project.
    Strict,
}

impl fmt::Display for Profile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&format!("{self:?}").to_lowercase())
    }
}

/// What `lint --fix` does about the findings of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fix {
    /// Nothing: a person must decide, or write a text.
    Manual,
    /// `--fix=all` makes the first repair of each finding, which can change the meaning or remove what a person wrote.
    Unsafe,
    /// `--fix` makes the repair. The document means the same afterwards, and loses nothing but repetitions.
    Safe,
}

/// A requirement on a document, or on the difference between two.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name, in kebab-case; the name in Spectral or Redocly where that linter has the same rule.
    pub name: &'static str,
    /// The severity of its findings in the profile `strict`, unless the configuration sets another.
    pub severity: Severity,
    /// The smallest profile that contains it.
    pub profile: Profile,
    /// The requirement, in one sentence.
    pub explanation: &'static str,
    /// The section of the specification, or the name of the rule in oasdiff, Spectral or Redocly.
    pub origin: &'static str,
    /// What `lint --fix` does about its findings.
    pub fix: Fix,
}

impl Rule {
    /// A difference between two documents, or between a document and the code. It is in every profile.
    pub const fn comparison(
        name: &'static str,
        severity: Severity,
        origin: &'static str,
        explanation: &'static str,
    ) -> Self {
        Self { name, severity, profile: Profile::Spec, explanation, origin, fix: Fix::Manual }
    }

    /// Returns the severity of findings with this default. Advice is an error in the profile `strict` alone.
    pub fn severity_in(&self, profile: Profile, default: Severity) -> Severity {
        let is_advice = self.profile > Profile::Spec && profile < Profile::Strict;
        if is_advice { default.min(Severity::Warning) } else { default }
    }

    /// Returns a finding of this rule at a place, without a message.
    pub fn at(&self, spot: &Spot) -> Finding {
        Finding::new(self.severity, self.name, &spot.pointer, spot.span)
    }
}

/// Declares the rules of a module: a constant for each, and `RULES` with all of them in the same order. A rule without
/// `fix` has no repair.
#[macro_export]
macro_rules! rules {
    (@fix) => { $crate::rule::Fix::Manual };
    (@fix $fix:ident) => { $crate::rule::Fix::$fix };
    ($($constant:ident: $profile:ident $severity:ident $(fix $fix:ident)? $name:literal, $origin:literal,
        $explanation:literal;)*) => {
        $(pub(super) const $constant: $crate::rule::Rule = $crate::rule::Rule {
            name: $name,
            severity: $crate::finding::Severity::$severity,
            profile: $crate::rule::Profile::$profile,
            explanation: $explanation,
            origin: $origin,
            fix: $crate::rules!(@fix $($fix)?),
        };)*
        pub(crate) const RULES: &[&$crate::rule::Rule] = &[$(&$constant),*];
    };
}
pub use crate::rules;

/// Collects findings without duplicates, up to a limit of memory.
#[derive(Clone, Default)]
pub struct Findings {
    /// The number of searches for names that misspelt ones mean.
    searched: usize,
    /// The names of rules whose findings are not collected.
    off: HashSet<&'static str>,
    /// Each with the place in the value of an alias, if it is at an alias.
    found: Vec<(Profile, Option<Span>, Finding)>,
    /// Rule, place, hash of the message, and whether the place is in the value of an alias. The value has the same findings
    /// at each alias.
    known: HashSet<(&'static str, usize, usize, u64, bool)>,
    /// By rule, the first finding that was left out, and how many there are.
    left_out: BTreeMap<&'static str, (Profile, Finding, usize)>,
    bytes: usize,
}

/// A finding that was just added, unless it was left out.
pub struct Added<'f> {
    finding: Option<&'f mut Finding>,
    searched: &'f mut usize,
}

impl Added<'_> {
    /// The JSON pointer of its place; empty if it was left out.
    pub fn place(&self) -> String {
        self.finding.as_ref().map(|finding| finding.pointer.clone()).unwrap_or_default()
    }

    /// The finding is fixed by removing what is at its place.
    pub fn remove(self) -> Self {
        let at = self.place();
        self.repair(Repair::Remove { at })
    }

    /// The finding is fixed by renaming the key at its place.
    pub fn rename(self, to: &str) -> Self {
        let at = self.place();
        self.repair(Repair::Rename { at, to: to.to_owned() })
    }

    /// The finding is fixed by another value at its place.
    pub fn write(self, value: impl Into<Value>) -> Self {
        let at = self.place();
        self.repair(Repair::Write { at, value: value.into() })
    }

    /// The finding is probably fixed by the known name that is most similar to a misspelt one; `repair` writes it. The
    /// number of searches is limited, because a document can have very many such names.
    pub fn meant<'n>(
        mut self,
        name: &str,
        known: impl Iterator<Item = &'n str>,
        repair: impl FnOnce(Self, &'n str) -> Self,
    ) -> Self {
        let Some(Finding { fix, .. }) = &mut self.finding else { return self };
        *self.searched += 1;
        if *self.searched > MAX_SEARCHES {
            return self;
        }
        let Some(name) = nearest(name, known) else { return self };
        let (first, rest) = fix.split_at(1);
        *fix = format!("Did you mean `{}`? Else {}{rest}", shortened(name), first.to_lowercase());
        repair(self, name)
    }

    /// The finding is fixed by this change.
    pub fn repair(mut self, repair: Repair) -> Self {
        if let Some(finding) = &mut self.finding {
            finding.repairs.push(repair);
        }
        self
    }
}

impl Findings {
    /// Adds a finding: the rule, the place, what is wrong, and how to fix it. Changes that fix it can be added to the
    /// returned value.
    pub fn add(
        &mut self,
        rule: &Rule,
        spot: Spot,
        message: impl Into<String>,
        fix: impl Into<String>,
    ) -> Added<'_> {
        let found = self.record(rule, spot, message.into(), fix.into()).then(|| self.found.last_mut());
        Added { finding: found.flatten().map(|(.., finding)| finding), searched: &mut self.searched }
    }

    /// Records a finding. Returns whether it is new, and within the limit.
    fn record(&mut self, rule: &Rule, spot: Spot, mut message: String, fix: String) -> bool {
        if self.off.contains(rule.name) {
            return false;
        }
        let mut hasher = DefaultHasher::new();
        message.hash(&mut hasher);
        let Span { start, end, .. } = spot.span;
        if !self.known.insert((rule.name, start, end, hasher.finish(), spot.alias.is_some())) {
            return false;
        }
        let mut finding = rule.at(&spot);
        if self.is_full() {
            self.left_out.entry(rule.name).or_insert((rule.profile, finding, 0)).2 += 1;
            return false;
        }
        if let Some(alias) = spot.alias {
            message += &format!(" The value is that of line {}.", spot.span.line);
            finding.span = alias;
        }
        self.bytes += size_of::<Finding>() + spot.pointer.len() + 2 * message.len();
        let value = spot.alias.is_some().then_some(spot.span);
        self.found.push((rule.profile, value, finding.message(&spot.subject, message).fix(fix)));
        true
    }

    /// Returns the JSON pointers of what is invalid, or has a finding of one of these rules.
    pub fn places(&self, rules: &[&Rule]) -> BTreeSet<String> {
        let is_meant = |profile: Profile, finding: &Finding| {
            profile == Profile::Spec || rules.iter().any(|rule| rule.name == finding.rule)
        };
        let meant = self.found.iter().filter(|(profile, _, finding)| is_meant(*profile, finding));
        meant.map(|(.., finding)| finding.pointer.clone()).collect()
    }

    /// Returns an empty collection, which drops the findings of the rules with these names.
    pub fn without(off: HashSet<&'static str>) -> Self {
        Self { off, ..Self::default() }
    }

    /// Whether findings of one of these rules are collected. They are not if the rules are off, or the limit of memory is
    /// reached.
    pub fn wants(&self, rules: &[&Rule]) -> bool {
        !self.is_full() && rules.iter().any(|rule| !self.off.contains(rule.name))
    }

    fn is_full(&self) -> bool {
        self.bytes >= MAX_BYTES
    }

    /// All findings: those about validity first, then in the order of the file.
    pub fn sorted(mut self) -> Vec<Finding> {
        let key = |finding: &Finding, span: Span| (finding.rule.clone(), span.start, span.end);
        let own = self.found.iter().filter(|(_, value, _)| value.is_none());
        let own: HashSet<_> = own.map(|(.., finding)| key(finding, finding.span)).collect();
        // What is wrong in a value by itself has a finding there, and none at its aliases.
        self.found
            .retain(|(_, value, finding)| value.is_none_or(|value| !own.contains(&key(finding, value))));
        let left_out = self.left_out.into_values();
        self.found
            .extend(left_out.map(|(profile, finding, number)| (profile, None, not_shown(finding, number))));
        self.found.sort_by_cached_key(|(profile, _, finding)| {
            (*profile != Profile::Spec, finding.span.start, finding.rule.clone())
        });
        self.found.into_iter().map(|(.., finding)| finding).collect()
    }
}

/// Returns a finding that stands for others of its rule, of which it is the first. It is about the whole document, so that
/// an accepted place does not hide the others.
pub fn not_shown(first: Finding, number: usize) -> Finding {
    let message = format!("{number} more findings of `{}` are not shown, from here on.", first.rule);
    Finding::new(first.severity, first.rule, "", first.span)
        .message(&Subject::document(), message)
        .fix("Fix the findings that are shown, then run the check again.")
}
