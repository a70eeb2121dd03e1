//! Parameters of an operation, its path's included. They are the same if they are in the same place and
//! have the same name; one in the path, if it has the same position in it.

use std::collections::{HashMap, HashSet};

use crate::document::{Node, Value};

use super::comparer::{Comparer, Side};
use super::deprecation::{Sunset, is_deprecated};
use super::operation::Operation;
use super::role::Role;
use super::rules::{self, Rule};
use super::{media_type, schema, unknown};

const KEYWORDS: [&str; 13] = [
    "name",
    "in",
    "description",
    "required",
    "deprecated",
    "allowEmptyValue",
    "style",
    "explode",
    "allowReserved",
    "schema",
    "example",
    "examples",
    "content",
];

/// A parameter of one document.
#[derive(Clone, Copy)]
struct Parameter<'a> {
    name: &'a str,
    location: &'a str,
    /// Itself, through its reference.
    node: &'a Node,
    /// Where the operation mentions it.
    place: &'a Node,
}

impl<'a> Parameter<'a> {
    fn is_required(&self) -> bool {
        self.node.get("required").and_then(Node::as_bool) == Some(true)
    }

    /// Who it is, the same in both documents.
    fn identity(&self, template: &str) -> (&'a str, String) {
        let name = match self.location {
            "path" => match position(template, self.name) {
                Some(position) => format!("{{{position}}}"),
                None => self.name.to_owned(),
            },
            // RFC 9110, section 5.1.
            "header" => self.name.to_ascii_lowercase(),
            _ => self.name.to_owned(),
        };
        (self.location, name)
    }
}

/// Which of the path's parameters has this name.
fn position(template: &str, name: &str) -> Option<usize> {
    let names = template.split('{').skip(1).map(|rest| rest.split('}').next().unwrap_or_default());
    names.into_iter().position(|found| found == name)
}

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, base: &Operation<'a>, revision: &Operation<'a>) {
    let old = parameters(cx, Side::Base, base);
    let new = parameters(cx, Side::Revision, revision);
    let index: HashMap<_, _> = new.iter().map(|new| (new.identity(revision.template), *new)).collect();
    let old_index: HashMap<_, _> = old.iter().map(|old| (old.identity(base.template), *old)).collect();
    let added: Vec<_> =
        new.iter().filter(|new| !old_index.contains_key(&new.identity(revision.template))).copied().collect();
    let by_name: HashMap<_, _> = added.iter().map(|new| (new.name, *new)).collect();
    let mut moved = HashSet::new();
    for old in &old {
        match index.get(&old.identity(base.template)) {
            Some(new) => both(cx, old, new),
            None => match by_name.get(old.name).filter(|new| old.location != new.location) {
                Some(new) => {
                    moved.insert(std::ptr::from_ref(new.place));
                    let what = format!("it moved from the {} to the {}", old.location, new.location);
                    cx.report(&rules::PARAMETER_MOVED, Some(old.place), Some(new.place), what);
                    both(cx, old, new);
                }
                None => removed(cx, old, revision),
            },
        }
    }
    for new in added.iter().filter(|new| !moved.contains(&std::ptr::from_ref(new.place))) {
        let rule = match (new.location, new.is_required()) {
            ("path", _) => &rules::PATH_PARAMETER_ADDED,
            (_, true) => &rules::PARAMETER_ADDED_REQUIRED,
            (_, false) => &rules::PARAMETER_ADDED_OPTIONAL,
        };
        let required = if new.is_required() { ", and required" } else { "" };
        let what = format!("it is new, in the {}{required}", new.location);
        cx.report(rule, None, Some(new.place), what);
    }
}

fn parameters<'a>(cx: &mut Comparer<'a>, side: Side, operation: &Operation<'a>) -> Vec<Parameter<'a>> {
    let mut parameters: Vec<Parameter<'a>> = Vec::new();
    let mut index = HashMap::new();
    for owner in [operation.item, operation.node] {
        for place in cx.list(side, owner, "parameters") {
            let Some(node) = cx.resolve(side, place) else { continue };
            let text = |key| node.get(key).and_then(Node::as_str);
            let (Some(name), Some(location)) = (text("name"), text("in")) else {
                cx.not_understood(side, place, "a parameter must have a `name` and an `in`, both text");
                continue;
            };
            let parameter = Parameter { name, location, node, place };
            // What the operation says outweighs what its path says.
            match index.get(&(name, location)).and_then(|at: &usize| parameters.get_mut(*at)) {
                Some(earlier) => *earlier = parameter,
                None => {
                    index.insert((name, location), parameters.len());
                    parameters.push(parameter);
                }
            }
        }
    }
    parameters
}

fn removed<'a>(cx: &mut Comparer<'a>, old: &Parameter<'a>, revision: &Operation<'a>) {
    let rule = match Sunset::of(old.node) {
        Sunset::On(date, _) if is_deprecated(old.node) && date <= cx.today => {
            &rules::PARAMETER_REMOVED_DEPRECATED
        }
        Sunset::On(..) if is_deprecated(old.node) => &rules::PARAMETER_REMOVED_BEFORE_SUNSET,
        _ => &rules::PARAMETER_REMOVED,
    };
    let survivor = revision.node.get("parameters").unwrap_or(revision.node);
    let what = format!("the {} parameter `{}` was removed", old.location, old.name);
    cx.report(rule, Some(old.place), Some(survivor), what);
}

fn both<'a>(cx: &mut Comparer<'a>, old: &Parameter<'a>, new: &Parameter<'a>) {
    let (base, revision) = (old.node, new.node);
    unknown::compare(cx, (base, revision), &KEYWORDS);
    match (old.is_required(), new.is_required()) {
        (false, true) => {
            let place = revision.get("required");
            cx.report(
                &rules::PARAMETER_REQUIRED,
                base.get("required").or(Some(base)),
                place,
                "it became required",
            );
        }
        (true, false) => {
            let place = revision.get("required").unwrap_or(revision);
            cx.report(&rules::PARAMETER_OPTIONAL, base.get("required"), Some(place), "it became optional");
        }
        _ => {}
    }
    match (is_deprecated(base), is_deprecated(revision)) {
        (false, true) => {
            let rule = rules::SCHEMA_DEPRECATED.rule(Role::Parameter);
            cx.report(&rule, None, revision.get("deprecated"), "it is now deprecated");
        }
        (true, false) => {
            let rule = rules::SCHEMA_REACTIVATED.rule(Role::Parameter);
            let place = revision.get("deprecated").unwrap_or(revision);
            cx.report(&rule, base.get("deprecated"), Some(place), "it is no longer deprecated");
        }
        _ => {}
    }
    spelling(cx, old, new);
    let rule = &rules::PARAMETER_SERIALIZATION;
    value(cx, (base, revision), rule, Role::Parameter);
}

/// How the value is written: `style` and `explode`, whose defaults depend on the place (OpenAPI 3.0.3,
/// section 4.7.12), and what may be in it.
fn spelling<'a>(cx: &mut Comparer<'a>, old: &Parameter<'a>, new: &Parameter<'a>) {
    let style = |parameter: &Parameter<'a>| match parameter.node.get("style").and_then(Node::as_str) {
        Some(style) => style,
        None if matches!(parameter.location, "query" | "cookie") => "form",
        None => "simple",
    };
    let explode = |parameter: &Parameter<'a>| {
        let said = parameter.node.get("explode").and_then(Node::as_bool);
        said.unwrap_or(style(parameter) == "form")
    };
    let place = |key| (old.node.get(key), new.node.get(key).or(Some(new.node)));
    if old.location == new.location && style(old) != style(new) {
        let (base, revision) = place("style");
        let what = format!("its style went from `{}` to `{}`", style(old), style(new));
        cx.report(&rules::PARAMETER_STYLE, base, revision, what);
    } else if old.location == new.location && explode(old) != explode(new) {
        let (base, revision) = place("explode");
        let what = format!("`explode` went from {} to {}", explode(old), explode(new));
        cx.report(&rules::PARAMETER_EXPLODE, base, revision, what);
    }
    for key in ["allowReserved", "allowEmptyValue"] {
        let is_set = |node: &Node| node.get(key).and_then(Node::as_bool) == Some(true);
        let (base, revision) = place(key);
        match (is_set(old.node), is_set(new.node)) {
            (true, false) => {
                cx.report(&rules::PARAMETER_FREEDOM_LOST, base, revision, format!("`{key}` was taken away"));
            }
            (false, true) => {
                cx.report(&rules::PARAMETER_FREEDOM_WON, base, revision, format!("`{key}` was set"));
            }
            _ => {}
        }
    }
}

/// The value of a parameter or a header: a `schema`, or a `content` with one media type.
pub(super) fn value<'a>(
    cx: &mut Comparer<'a>,
    (base, revision): (&'a Node, &'a Node),
    changed: &Rule,
    role: Role,
) {
    let described =
        |node: &'a Node| node.get("content").filter(|content| matches!(content.value, Value::Mapping(_)));
    match (described(base), described(revision)) {
        (None, None) => {
            let schemas = (base.get("schema"), revision.get("schema"));
            if schemas.0.is_some() || schemas.1.is_some() {
                let sides = (schemas.0.as_slice(), schemas.1.as_slice());
                schema::compare_at(cx, (sides.0, base), (sides.1, revision), role);
            }
        }
        (Some(old), Some(new)) => {
            let names = |node: &Node| {
                node.entries().iter().map(|entry| media_type::name(&entry.key)).collect::<Vec<_>>()
            };
            if names(old) != names(new) {
                let what = format!("its media type went from {} to {}", shown_keys(old), shown_keys(new));
                return cx.report(changed, Some(old), Some(new), what);
            }
            for (old, new) in old.entries().iter().zip(new.entries()) {
                media_type::schemas(cx, &old.value, &new.value, role);
            }
        }
        (old, new) => {
            let what = "it is no longer described by the same one of `schema` and `content`";
            cx.report(
                changed,
                old.or(base.get("schema")),
                new.or(revision.get("schema")).or(Some(revision)),
                what,
            );
        }
    }
}

fn shown_keys(content: &Node) -> String {
    content.entries().first().map_or("none".to_owned(), |entry| format!("`{}`", entry.key))
}
