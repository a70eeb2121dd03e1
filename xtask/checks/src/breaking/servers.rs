//! The servers of an operation, wherever they are listed. Two are the same if they have the same URLs.

use std::collections::HashSet;

use document::Node;
use document::openapi::{Kind, Object, Operation, Server, template};

use super::comparer::Comparer;
use super::data::{canonical, display};
use super::matching::pairs_then;
use super::place::At;
use super::{rules, unknown};

/// A server, or the default server `/` of a missing list.
struct Listed<'a> {
    server: Option<Server<'a>>,
    place: At<'a>,
    template: &'a str,
    /// The URL if each variable has its default.
    default: String,
    /// All URLs, with `{}` for a variable of any value.
    urls: Vec<String>,
}

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, old: &Operation<'a>, new: &Operation<'a>) {
    let (old, new) = (old.servers_owner(), new.servers_owner());
    cx.once(("servers", old.id, new.id), |cx| {
        if old.kind() == Kind::OpenApi && new.kind() == Kind::OpenApi {
            cx.begin_document();
        }
        lists(cx, &old, &new);
    });
}

fn lists<'a>(cx: &mut Comparer<'a>, old: &Object<'a>, new: &Object<'a>) {
    let (before, after) = (listed(old), listed(new));
    let (in_old, in_new) = (before.iter(), after.iter());
    let (in_old, in_new) = (in_old.map(|one| (one.template, one)), in_new.map(|one| (one.template, one)));
    // No client sends the name of a variable.
    let (same, rest) = pairs_then(in_old, in_new, |server| template(server.template).0);
    for (old, new) in same.into_iter().chain(rest.both) {
        for (old, new) in old.server.iter().zip(&new.server) {
            both(cx, old, new);
        }
    }
    let remaining = At::value_or_object(new, "servers");
    let urls: HashSet<&str> = after.iter().flat_map(Listed::all).collect();
    for old in rest.removed {
        if let Some(url) = old.all().find(|url| !urls.contains(url)) {
            let what = format!("the server `{}` was removed, and no other has the URL `{url}`", old.template);
            cx.report(&rules::SERVER_REMOVED, Some(old.place), Some(remaining), what);
        }
    }
    let urls: HashSet<&str> = before.iter().flat_map(Listed::all).collect();
    for new in rest.added {
        if new.all().any(|url| !urls.contains(url)) {
            let what = format!("the server `{}` was added", new.template);
            cx.report(&rules::SERVER_ADDED, None, Some(new.place), what);
        }
    }
}

fn listed<'a>(owner: &Object<'a>) -> Vec<Listed<'a>> {
    let mut servers: Vec<_> = owner
        .children("servers")
        .map(|object| {
            let (server, place) = (Server::new(object), At::of(&object));
            let (default, urls) = (server.url_with_defaults(), server.urls());
            Listed { server: Some(server), place, template: server.url(), default, urls }
        })
        .collect();
    if servers.is_empty() {
        let (place, default) = (At::of(owner), "/".to_owned());
        servers.push(Listed { server: None, place, template: "/", urls: vec![default.clone()], default });
    }
    servers
}

impl Listed<'_> {
    /// The default URL, on which clients depend that set no variable, and the others.
    fn all(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.default).chain(&self.urls).map(String::as_str)
    }
}

fn both<'a>(cx: &mut Comparer<'a>, old: &Server<'a>, new: &Server<'a>) {
    unknown::compare(cx, old, new, &[]);
    // The name of a variable is not in the URL that a client uses.
    for (old_name, new_name) in template(old.url()).1.into_iter().zip(template(new.url()).1) {
        let named = |server: &Server<'a>, name| server.variables().find(|variable| variable.name() == name);
        for (old, new) in named(old, old_name).into_iter().zip(named(new, new_name)) {
            variable(cx, &old, &new);
        }
    }
}

fn variable<'a>(cx: &mut Comparer<'a>, old: &Object<'a>, new: &Object<'a>) {
    unknown::compare(cx, old, new, &[]);
    let listed = new.get("enum").map(Node::items).unwrap_or_default();
    if !old.text("default").is_some_and(|old| listed.iter().any(|value| value.as_str() == Some(old))) {
        cx.compare_keyword(&rules::SERVER_VARIABLE_DEFAULT, (old, new), "default");
    }
    // Without a list any value is allowed.
    let (removed, added) = (&rules::SERVER_VARIABLE_VALUE_REMOVED, &rules::SERVER_VARIABLE_VALUE_ADDED);
    match (At::value(old, "enum"), At::value(new, "enum")) {
        (None, None) => {}
        (None, Some(list)) => {
            let what = format!("its values are restricted to {}", display(&list));
            cx.report(removed, None, Some(list), what);
        }
        (Some(list), None) => {
            let what = format!("its values are no longer restricted to {}", display(&list));
            cx.report(added, Some(list), Some(At::of(new)), what);
        }
        (Some(old), Some(new)) => {
            let values = |list: At<'a>| list.items().map(|value| (canonical(&value), value));
            cx.in_both("value", (added, removed), (values(old), values(new)), new);
        }
    }
}
