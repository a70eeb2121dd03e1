//! Renames something with everything that refers to it.

use std::collections::HashSet;

use serde_json::Value as Json;

use super::format::{flow, key_like};
use super::uses::{Use, uses};
use super::{Edit, parts};
use crate::openapi::{Kind, Model, Object, template};
use crate::text::{Entry, Node};

/// Renames what is at a place: its key, or the name that is its value.
pub(super) fn at(model: &Model<'_>, at: &str, to: &str) -> Option<Vec<Edit>> {
    if let Some(object) = model.object_at(at).filter(|object| object.key_span().is_some()) {
        return renamed(object, to);
    }
    let (owner, token) = at.rsplit_once('/')?;
    if let Some(owner) = model.object_at(owner)
        && let (Kind::Tag | Kind::Parameter, "name") | (Kind::Operation, "operationId") =
            (owner.kind(), token)
    {
        return renamed_value(owner, token, to);
    }
    Some(vec![parts::rename(model.source(), model.root().node(), at, to)?])
}

/// Returns the edits that give an object another key, with everything that refers to the object or to a part of it:
/// references, and for a component the mappings of discriminators and the security requirements, for a property
/// `required`, for a path its parameters with the links that name them. `None` if there is another object with the key,
/// or a place cannot be edited.
pub(super) fn renamed(object: Object<'_>, to: &str) -> Option<Vec<Edit>> {
    let (model, own) = (object.model(), object.pointer());
    if to != object.name() && names_a_value(object) {
        return None;
    }
    let text = model.source();
    let mut edits = vec![parts::rename(text, model.root().node(), &own, to)?];
    if to == object.name() {
        return Some(edits);
    }
    for used in uses(object) {
        // The links with an `operationId` do not depend on the key of the operation.
        if used.is_reference() || object.kind() != Kind::Operation {
            edits.push(used_as(&used, text, &own, to)?);
        }
    }
    if object.kind() == Kind::PathItem {
        edits.extend(variables(object, to));
    }
    Some(edits)
}

/// Whether the name of a component is a value of a discriminator, because no mapping names the schema (OpenAPI 3.0.3, section
/// 4.7.25). With another name, other values would be sent.
fn names_a_value(component: Object<'_>) -> bool {
    let (mut open, mut extended) = (vec![component], HashSet::new());
    while let Some(schema) = open.pop() {
        if extended.insert(schema.id) {
            open.extend(schema.resolved_children("allOf"));
        }
    }
    let is_component = component.kind() == Kind::Schema && component.keyword() == "schemas";
    let mut discriminators = component.model().all(Kind::Discriminator);
    is_component
        && discriminators.any(|discriminator| {
            let Some(owner) = discriminator.parent() else { return false };
            let mut alternatives =
                ["oneOf", "anyOf"].into_iter().flat_map(|keyword| owner.resolved_children(keyword));
            let is_selected = owner.id != component.id && extended.contains(&owner.id)
                || alternatives.any(|alternative| alternative == component);
            let mut mapped = discriminator.get("mapping").into_iter().flat_map(Node::entries);
            is_selected
                && !mapped.any(|entry| {
                    let name = entry.value.as_str().unwrap_or_default();
                    name.rsplit('/').next() == Some(component.name())
                })
        })
}

/// Returns the edit of a place that refers to the object with the pointer `own`.
fn used_as(used: &Use<'_>, text: &str, own: &str, to: &str) -> Option<Edit> {
    let range = used.span.start..used.span.end;
    let old = text.get(range.clone())?;
    let new = if used.is_reference() { reference(used.text, own, to)? } else { to.to_owned() };
    Some(Edit { range, text: flow(&Json::from(new), old) })
}

/// Returns a reference to an object, or to a part of it, after the object got another key.
fn reference(reference: &str, own: &str, to: &str) -> Option<String> {
    let mut tokens: Vec<&str> = reference.split('/').collect();
    // A fragment of a URI has percent-encoding beside the escapes of a pointer (RFC 6901, section 6).
    let to = to.replace('%', "%25").replace('~', "~0").replace('/', "~1");
    *tokens.get_mut(own.matches('/').count())? = &to;
    Some(tokens.join("/"))
}

/// Renames the parameters in a path that are declared in the path itself.
fn variables(path: Object<'_>, to: &str) -> Vec<Edit> {
    let ((_, old), (_, new)) = (template(path.name()), template(to));
    if old.len() != new.len() {
        return Vec::new();
    }
    let owners = path.parts().filter(|part| part.kind() == Kind::Operation).chain([path]);
    let parameters = owners.flat_map(|owner| owner.children("parameters"));
    let declared = parameters.filter(|it| !it.is_reference() && it.text("in") == Some("path"));
    let renamed = declared.filter_map(|parameter| {
        let name = parameter.text("name")?;
        let number = old.iter().position(|old| *old == name)?;
        (new[number] != name).then(|| written(parameter.get("name")?, path.model().source(), new[number]))?
    });
    let in_links = old.iter().zip(&new).filter(|(old, new)| old != new);
    let in_links = in_links.flat_map(|(old, new)| in_links_to(path, "path", old, new));
    renamed.chain(in_links).collect()
}

/// Renames a parameter in the links that lead to an operation, or to one of a path. They name it `limit` or
/// `query.limit` (OpenAPI 3.0.3, section 4.7.20.1).
fn in_links_to(owner: Object<'_>, location: &str, old: &str, new: &str) -> Vec<Edit> {
    let operations = owner.parts().chain([owner]).filter(|it| it.kind() == Kind::Operation);
    let links = operations.flat_map(uses).map(|used| used.user).filter(|user| user.kind() == Kind::Link);
    let parameters = links.filter_map(|link| link.get("parameters")).flat_map(Node::entries);
    let qualified = format!("{location}.{old}");
    let named = parameters.filter(|it| it.key == old || it.key == qualified);
    let edits = named.filter_map(|Entry { key, key_span, .. }| {
        let range = key_span.start..key_span.end;
        let sample = owner.model().source().get(range.clone())?;
        Some(Edit { text: key_like(sample, &format!("{}{new}", &key[..key.len() - old.len()])), range })
    });
    edits.collect()
}

fn written(node: &Node, text: &str, to: &str) -> Option<Edit> {
    let range = node.span.start..node.span.end;
    let old = text.get(range.clone()).filter(|old| !old.contains('\n'))?;
    Some(Edit { text: key_like(old, to), range })
}

/// Renames a tag, a parameter or an operation, whose name is a value. `None` if there is another one with the name.
fn renamed_value(owner: Object<'_>, keyword: &str, to: &str) -> Option<Vec<Edit>> {
    let (model, node) = (owner.model(), owner.get(keyword)?);
    let old = node.as_str()?;
    let mut others: Box<dyn Iterator<Item = Object<'_>>> = match owner.kind() {
        Kind::Parameter => Box::new(owner.parent()?.children("parameters")),
        kind => Box::new(model.all(kind)),
    };
    let is_same = |it: &Object<'_>| it.text(keyword) == Some(to) && it.text("in") == owner.text("in");
    if to != old && others.any(|other| other != owner && is_same(&other)) {
        return None;
    }
    if owner.kind() == Kind::Parameter && owner.text("in") == Some("path") {
        let path = owner.within(Kind::PathItem)?;
        let variable = format!("{{{old}}}");
        if path.name().contains(&variable) {
            return renamed(path, &path.name().replace(&variable, &format!("{{{to}}}")));
        }
    }
    let mut edits = vec![written(node, model.source(), to)?];
    if let Some(users) = owner.parent().filter(|_| owner.kind() == Kind::Parameter) {
        edits.extend(in_links_to(users, owner.text("in").unwrap_or_default(), old, to));
    }
    for used in uses(owner).iter().filter(|used| !used.is_reference()) {
        edits.push(used_as(used, model.source(), "", to)?);
    }
    Some(edits)
}
