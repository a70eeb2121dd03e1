//! The keywords of one object.

use serde_json::{Map, Value};

use super::malformed;
use super::names::nearest;
use super::tolerated::tolerates;
use crate::document::Place;
use crate::finding::{Finding, Severity, Subject, shortened};

/// An OpenAPI object: its name in the rules, and every keyword that it has and the table of tolerated
/// differences has not.
pub(super) struct Object {
    pub(super) name: &'static str,
    pub(super) fields: &'static [(&'static str, Field)],
}

/// How a keyword is compared.
#[derive(Clone, Copy)]
pub(super) enum Field {
    /// As it stands.
    Plain,
    /// As it stands; left out, it is what this makes of the code's object.
    Or(fn(&Map<String, Value>) -> Value),
    /// As a list whose order does not matter.
    Set,
    /// The same; left out, it is empty.
    SetOrNone,
    /// By somebody else.
    Elsewhere,
}

/// For a keyword that is `false` when left out.
pub(super) const OR_FALSE: Field = Field::Or(|_| Value::Bool(false));
/// For a keyword that is 0 when left out.
pub(super) const OR_ZERO: Field = Field::Or(|_| Value::from(0));

/// The keyword that both sides are asked for.
struct Keyword<'k> {
    object: &'k Object,
    subject: &'k Subject,
    name: &'k str,
    owner: &'k Place<'k>,
}

/// Compares the keywords of an object that are no objects of their own.
pub(super) fn compare(
    object: &Object,
    subject: &Subject,
    written: &Place<'_>,
    served: &Value,
) -> Vec<Finding> {
    if !written.is_mapping() {
        let what = object.name.replace('-', " ");
        return vec![malformed(subject, &what, written, "a mapping")];
    }
    let nothing = Map::new();
    let served = served.as_object().unwrap_or(&nothing);
    let keyword = |name| Keyword { object, subject, name, owner: written };
    let mut findings = Vec::new();
    for (name, place) in written.entries() {
        findings.extend(keyword(name).compare(Some(&place), served));
    }
    for name in served.keys().filter(|name| written.get(name).is_none()) {
        findings.extend(keyword(name).compare(None, served));
    }
    findings
}

impl Keyword<'_> {
    fn compare(&self, written: Option<&Place<'_>>, served: &Map<String, Value>) -> Option<Finding> {
        let field = self.object.fields.iter().find(|(name, _)| *name == self.name).map(|(_, field)| *field);
        let value = served.get(self.name);
        match field {
            Some(Field::Elsewhere) => None,
            Some(Field::Plain) => self.plain(written, value, None),
            Some(Field::Or(default)) => self.plain(written, value, Some(default(served))),
            Some(Field::Set) => self.set(written, value, None),
            Some(Field::SetOrNone) => self.set(written, value, Some(Value::Array(Vec::new()))),
            // An extension is compared only if the code has a say in it.
            None if tolerates(self.object.name, self.name)
                && !(self.name.starts_with("x-") && value.is_some()) =>
            {
                None
            }
            None if self.name.starts_with("x-") => self.plain(written, value, None),
            None => self.unknown(written, value),
        }
    }

    fn plain(
        &self,
        written: Option<&Place<'_>>,
        served: Option<&Value>,
        default: Option<Value>,
    ) -> Option<Finding> {
        let file = written.map(|place| place.node.to_json());
        let says = |side: Option<&Value>| side.or(default.as_ref()).cloned();
        let (file_says, code_says) = (says(file.as_ref()), says(served));
        if match (&file_says, &code_says) {
            (Some(file), Some(code)) => same(file, code),
            (None, None) => true,
            _ => false,
        } {
            return None;
        }
        Some(self.differs(written, file_says.as_ref(), code_says.as_ref()))
    }

    /// The sides say different things, or only one says anything.
    fn differs(&self, written: Option<&Place<'_>>, file: Option<&Value>, code: Option<&Value>) -> Finding {
        let Self { subject, name, .. } = self;
        let message = match (file, code) {
            (Some(file), Some(code)) => {
                format!(
                    "`{name}` of {subject} is `{}` in the file and `{}` in the code.",
                    said(file),
                    said(code)
                )
            }
            (Some(file), None) => {
                format!("{subject} has `{name}: {}` in the file, but not in the code.", said(file))
            }
            (None, Some(code)) => {
                format!("{subject} has `{name}: {}` in the code, but not in the file.", said(code))
            }
            (None, None) => format!("{subject} has no `{name}`."),
        };
        let fix = match (written, code) {
            (Some(_), Some(code)) => format!("Write `{name}: {}`, or change the code.", said(code)),
            (Some(_), None) => format!("Take `{name}` out, or put it into the code."),
            (None, Some(code)) => format!("Add `{name}: {}`, or change the code.", said(code)),
            (None, None) => String::new(),
        };
        self.finding(written, code.is_some())
            .message(subject, message)
            .sides(self.line(file), self.line(code))
            .fix(fix)
    }

    fn finding(&self, written: Option<&Place<'_>>, at_value: bool) -> Finding {
        let place = written.unwrap_or(self.owner);
        let span = if at_value && written.is_some() { place.node.span } else { place.anchor() };
        Finding::new(Severity::Error, self.rule(), &place.pointer, span)
    }

    /// `schema-max-length`, and `operation-id` rather than `operation-operation-id`.
    fn rule(&self) -> String {
        let keyword = kebab(self.name);
        match keyword.strip_prefix(self.object.name) {
            Some(rest) if rest.starts_with('-') => keyword,
            _ => format!("{}-{keyword}", self.object.name),
        }
    }

    fn set(
        &self,
        written: Option<&Place<'_>>,
        served: Option<&Value>,
        default: Option<Value>,
    ) -> Option<Finding> {
        let served = served.or(default.as_ref());
        let items: Vec<_> = match written {
            Some(place) if matches!(place.node.value, crate::document::Value::Sequence(_)) => {
                place.items().collect()
            }
            None if default.is_some() => Vec::new(),
            _ => return self.plain(written, served, None),
        };
        let Some(Value::Array(code)) = served else { return self.plain(written, served, None) };
        let mut missing: Vec<&Value> = code.iter().collect();
        let mut extra = Vec::new();
        for item in &items {
            let value = item.node.to_json();
            match missing.iter().position(|missing| same(missing, &value)) {
                Some(position) => drop(missing.remove(position)),
                None => extra.push((item, value)),
            }
        }
        if extra.is_empty() && missing.is_empty() {
            return None;
        }
        let listed = |values: &mut dyn Iterator<Item = &Value>| {
            values.map(|value| format!("`{}`", said(value))).collect::<Vec<_>>().join(", ")
        };
        let (many, few) =
            (listed(&mut extra.iter().map(|(_, value)| value)), listed(&mut missing.iter().copied()));
        let Self { subject, name, .. } = self;
        let message = match (extra.is_empty(), missing.is_empty()) {
            (false, true) => format!("`{name}` of {subject} has {many} in the file, but not in the code."),
            (true, _) => format!("`{name}` of {subject} has {few} in the code, but not in the file."),
            (false, false) => {
                format!("`{name}` of {subject} has {many} in the file, where the code has {few}.")
            }
        };
        let finding = match extra.first() {
            Some((item, _)) => Finding::new(Severity::Error, self.rule(), &item.pointer, item.node.span),
            None => self.finding(written, false),
        };
        let file = written.map(|place| place.node.to_json());
        let fix = format!("Write `{}`, or change the code.", self.line(Some(&Value::Array(code.clone()))));
        let hinge = missing.first().copied().or(extra.first().map(|(_, value)| value)).map(said);
        Some(
            finding
                .message(subject, message)
                .sides(self.line(file.as_ref()), self.line(Some(served?)))
                .fix(fix)
                .instead(hinge),
        )
    }

    fn unknown(&self, written: Option<&Place<'_>>, served: Option<&Value>) -> Option<Finding> {
        let mut finding = self.plain(written, served, None)?;
        finding.rule = format!("{}-unknown-keyword", self.object.name);
        if written.is_some() && served.is_none() {
            let known = self.object.fields.iter().map(|(name, _)| *name);
            let instead =
                nearest(self.name, known).map(|near| format!("Did you mean `{near}`? ")).unwrap_or_default();
            let kind = self.object.name.replace('-', " ");
            finding.message =
                format!("`{}` is no keyword that a {kind} has, here on {}.", self.name, self.subject);
            finding.fix =
                format!("{instead}The code has nothing of that name, so it cannot keep such a promise.");
        }
        Some(finding)
    }

    fn line(&self, value: Option<&Value>) -> String {
        match value {
            Some(value) => format!("{}: {}", self.name, said(value)),
            None => format!("no {}", self.name),
        }
    }
}

/// `maxLength` as `max-length`.
fn kebab(keyword: &str) -> String {
    let mut kebab = String::with_capacity(keyword.len() + 2);
    for character in keyword.trim_start_matches('$').chars() {
        if character.is_ascii_uppercase() {
            kebab.push('-');
        }
        kebab.push(character.to_ascii_lowercase());
    }
    kebab
}

/// A value for a sentence.
pub(super) fn said(value: &Value) -> String {
    match value {
        Value::String(text) if !text.is_empty() => shortened(text),
        Value::Array(items) if items.iter().all(|item| !item.is_object() && !item.is_array()) => {
            let items: Vec<_> = items.iter().map(said).collect();
            shortened(&format!("[{}]", items.join(", ")))
        }
        _ => shortened(&value.to_string()),
    }
}

/// Whether two values are the same. Numbers are compared by value, not by spelling.
pub(super) fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            let whole = |number: &serde_json::Number| {
                number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
            };
            match (whole(one), whole(other)) {
                (Some(one), Some(other)) => one == other,
                _ => one.as_f64() == other.as_f64(),
            }
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, value)| other.get(key).is_some_and(|other| same(value, other)))
        }
        _ => one == other,
    }
}
