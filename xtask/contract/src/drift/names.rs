//! Things that have names: which of them both sides have, and which only one.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::document::Place;
use crate::finding::{Finding, Severity, Subject, shortened};

/// A set of named things of one kind that belong to one owner.
pub(super) struct Names<'n> {
    /// What they are, as it stands in the rules: `path`, `response`.
    pub(super) kind: &'static str,
    /// Whose they are.
    pub(super) owner: &'n Subject,
    /// Where the file has them, or would.
    pub(super) container: &'n Place<'n>,
    /// Whether their case matters.
    pub(super) case_matters: bool,
}

/// What came of it.
pub(super) struct Matched<'a, 's> {
    /// What both sides have.
    pub(super) pairs: Vec<(&'a str, Place<'a>, &'s Value)>,
    /// What only one side has.
    pub(super) findings: Vec<Finding>,
}

impl Names<'_> {
    /// Pairs what is written with what is served.
    pub(super) fn matched<'a, 's>(
        &self,
        written: impl Iterator<Item = (&'a str, Place<'a>)>,
        served: impl Iterator<Item = (&'s str, &'s Value)>,
    ) -> Matched<'a, 's> {
        let folded = |name: &str| if self.case_matters { name.to_owned() } else { name.to_ascii_lowercase() };
        let served: Vec<_> = served.collect();
        let by_name: HashMap<String, &Value> =
            served.iter().map(|(name, value)| (folded(name), *value)).collect();
        let mut seen = HashSet::new();
        let mut matched = Matched { pairs: Vec::new(), findings: Vec::new() };
        let mut extra = Vec::new();
        for (name, place) in written {
            if !seen.insert(folded(name)) {
                matched.findings.push(self.repeated(name, &place));
                continue;
            }
            match by_name.get(&folded(name)) {
                Some(value) => matched.pairs.push((name, place, *value)),
                None => extra.push((name, place)),
            }
        }
        let missing: Vec<_> =
            served.iter().map(|(name, _)| *name).filter(|name| !seen.contains(&folded(name))).collect();
        let renamed = extra.len() == 1 && missing.len() == 1;
        for (name, place) in extra {
            let meant = match missing[..] {
                // Statuses that look alike mean nothing alike.
                _ if self.kind == "response" => None,
                [only] if renamed => Some(only),
                _ => nearest(name, missing.iter().copied()),
            };
            matched.findings.push(self.not_in_code(name, &place, meant));
        }
        for name in missing {
            matched.findings.push(self.not_in_file(name));
        }
        matched
    }

    fn not_in_code(&self, name: &str, place: &Place<'_>, meant: Option<&str>) -> Finding {
        let Self { owner, .. } = self;
        let kind = self.kind.replace('-', " ");
        let shown = shortened(name);
        let fix = match meant {
            Some(meant) => format!("Did you mean `{meant}`, which the code has?"),
            None => format!("Take the {kind} out, or put it into the code."),
        };
        let code = match meant {
            Some(meant) => format!("{meant}, but no {shown}"),
            None => format!("no such {kind}"),
        };
        Finding::new(Severity::Error, format!("{}-not-in-code", self.kind), &place.pointer, place.anchor())
            .message(&owner.with(self.kind, name), self.one_sided(&shown, "file", "code"))
            .sides(shown, code)
            .fix(fix)
            .instead(meant)
    }

    fn not_in_file(&self, name: &str) -> Finding {
        let Self { owner, container, .. } = self;
        let kind = self.kind.replace('-', " ");
        let rule = format!("{}-not-in-file", self.kind);
        Finding::new(Severity::Error, rule, &container.pointer, container.anchor())
            .message(&owner.with(self.kind, name), self.one_sided(name, "code", "file"))
            .sides(format!("no such {kind}"), name)
            .fix(format!("Describe the {kind} `{name}` here, or take it out of the code."))
    }

    fn one_sided(&self, name: &str, here: &str, there: &str) -> String {
        let kind = self.kind.replace('-', " ");
        match self.owner.parts() {
            [] => format!("{kind} `{name}` is in the {here}, but not in the {there}."),
            _ => format!("{} has {kind} `{name}` in the {here}, but not in the {there}.", self.owner),
        }
    }

    fn repeated(&self, name: &str, place: &Place<'_>) -> Finding {
        let Self { owner, .. } = self;
        let kind = self.kind.replace('-', " ");
        let shown = shortened(name);
        Finding::new(Severity::Error, format!("{}-repeated", self.kind), &place.pointer, place.anchor())
            .message(
                &owner.with(self.kind, name),
                format!("{owner} has the {kind} `{shown}` more than once."),
            )
            .sides(shown, "")
            .fix("Keep one of them.")
    }
}

/// The name that was probably meant.
pub(super) fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    const LONGEST: usize = 100;
    if name.len() > LONGEST {
        return None;
    }
    let near = known.filter(|known| known.len() <= LONGEST);
    let near = near.map(|known| (strsim::damerau_levenshtein(name, known), known));
    let (distance, near) = near.min_by_key(|(distance, _)| *distance)?;
    (distance <= 1.max(name.chars().count() / 3)).then_some(near)
}
