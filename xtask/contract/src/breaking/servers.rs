//! The servers of an operation, wherever they are listed. Two are the same if they stand for the same URLs.

use std::collections::HashSet;

use super::comparer::Comparer;
use super::data::{canonical, pairs, shown};
use super::place::At;
use super::{rules, unknown};
use crate::openapi::{Kind, Object, Operation, Server, template};

/// A server, or the one that stands for a missing list.
struct Listed<'a> {
    server: Option<Server<'a>>,
    place: At<'a>,
    url: &'a str,
    /// The URLs, where `{}` stands for any text.
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
    let paired = pairs(shapes(&before), shapes(&after));
    for (old, new) in paired.both {
        for (old, new) in before[old].server.iter().zip(&after[new].server) {
            both(cx, old, new);
        }
    }
    let survivor = At::value_or_object(new, "servers");
    let all = Urls::of(&after);
    for old in paired.removed.into_iter().map(|old| &before[old]) {
        if let Some(url) = all.lack(cx, old) {
            let what = format!("the server `{}` was removed, and no other has the URL `{url}`", old.url);
            cx.report(&rules::SERVER_REMOVED, Some(old.place), Some(survivor), what);
        }
    }
    let all = Urls::of(&before);
    for new in paired.added.into_iter().map(|new| &after[new]) {
        if all.lack(cx, new).is_some() {
            cx.report(
                &rules::SERVER_ADDED,
                None,
                Some(new.place),
                format!("the server `{}` was added", new.url),
            );
        }
    }
}

fn listed<'a>(owner: &Object<'a>) -> Vec<Listed<'a>> {
    let servers = owner.children("servers").map(|object| {
        let server = Server::new(object);
        Listed { server: Some(server), place: At::of(&object), url: server.url(), urls: server.urls() }
    });
    let mut servers: Vec<_> = servers.collect();
    if servers.is_empty() {
        servers.push(Listed { server: None, place: At::of(owner), url: "/", urls: vec!["/".to_owned()] });
    }
    servers
}

/// The positions of the servers by their URL without the names of variables.
fn shapes(servers: &[Listed<'_>]) -> Vec<(String, usize)> {
    servers.iter().enumerate().map(|(position, server)| (template(server.url).0, position)).collect()
}

/// The URLs of several servers.
struct Urls<'s> {
    exact: HashSet<&'s str>,
    /// Those with `{}`.
    open: Vec<&'s str>,
}

impl<'s> Urls<'s> {
    fn of(servers: &'s [Listed<'_>]) -> Self {
        let urls = servers.iter().flat_map(|server| &server.urls).map(String::as_str);
        Self { exact: urls.clone().collect(), open: urls.filter(|url| url.contains("{}")).collect() }
    }

    /// A URL of another server that is none of these.
    fn lack<'o>(&self, cx: &mut Comparer<'_>, other: &'o Listed<'_>) -> Option<&'o str> {
        let mut urls = other.urls.iter().map(String::as_str);
        urls.find(|url| {
            let mut open = self.open.iter();
            !self.exact.contains(url) && !open.any(|open| cx.may_go_on() && matches(open, url))
        })
    }
}

/// Whether a URL is one of those that `{}` stands for.
fn matches(open: &str, url: &str) -> bool {
    let pieces: Vec<&str> = open.split("{}").collect();
    let [first, middle @ .., last] = pieces.as_slice() else { return open == url };
    let Some(mut rest) = url.strip_prefix(first) else { return false };
    for piece in middle {
        let Some((_, after)) = rest.split_once(piece) else { return false };
        rest = after;
    }
    rest.ends_with(last)
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
    cx.compare_keyword(&rules::SERVER_VARIABLE_DEFAULT, (old, new), "default");
    // Without a list any value is allowed.
    let (removed, added) = (&rules::SERVER_VARIABLE_VALUE_REMOVED, &rules::SERVER_VARIABLE_VALUE_ADDED);
    match (At::value(old, "enum"), At::value(new, "enum")) {
        (None, None) => {}
        (None, Some(list)) => {
            let what = format!("its values are restricted to {}", shown(&list));
            cx.report(removed, None, Some(list), what);
        }
        (Some(list), None) => {
            let what = format!("its values are no longer restricted to {}", shown(&list));
            cx.report(added, Some(list), Some(At::of(new)), what);
        }
        (Some(old), Some(new)) => {
            let values = |list: At<'a>| list.items().map(|value| (canonical(&value), value));
            cx.in_both("value", (added, removed), (values(old), values(new)), new);
        }
    }
}
