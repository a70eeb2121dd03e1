//! The servers of an operation, wherever they are listed: the URLs that requests can have. Neither the names of variables
//! nor the place of a value among servers and variables affect requests.

use std::collections::HashSet;

use document::openapi::{Kind, Object, Operation, Server, template};

use super::comparer::Comparer;
use super::data::pairs;
use super::lists::named;
use super::matching::pairs_then;
use super::place::At;
use super::{rules, unknown};

/// A server, or the default server `/` of a missing list.
struct Listed<'a> {
    server: Option<Server<'a>>,
    place: At<'a>,
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
    let servers = |list: &[Listed<'a>]| {
        let servers = list.iter().filter_map(|one| one.server);
        servers.map(|server| (server.url(), server)).collect::<Vec<_>>()
    };
    // No client sends the name of a variable.
    let (same, rest) = pairs_then(servers(&before), servers(&after), |server| template(server.url()).0);
    for (old, new) in same.into_iter().chain(rest.both) {
        unknown::compare(cx, &old, &new, &[]);
        let variables = |server: Server<'a>| named(&server, "variables");
        for (old, new) in pairs(variables(old), variables(new)).both {
            unknown::compare(cx, &old, &new, &[]);
        }
    }
    let remaining = At::value_or_object(new, "servers");
    let urls: HashSet<&str> = after.iter().flat_map(Listed::all).collect();
    for old in &before {
        if let Some(url) = old.all().find(|url| !urls.contains(url)) {
            let what = format!("no server has the URL `{url}` any more");
            cx.report(&rules::SERVER_REMOVED, Some(old.place), Some(remaining), what);
        }
    }
    let urls: HashSet<&str> = before.iter().flat_map(Listed::all).collect();
    for new in &after {
        if let Some(url) = new.all().find(|url| !urls.contains(url)) {
            cx.report(&rules::SERVER_ADDED, None, Some(new.place), format!("it has the new URL `{url}`"));
        }
    }
}

fn listed<'a>(owner: &Object<'a>) -> Vec<Listed<'a>> {
    let mut servers: Vec<_> = owner
        .children("servers")
        .map(|object| {
            let (server, place) = (Server::new(object), At::of(&object));
            Listed { server: Some(server), place, default: server.url_with_defaults(), urls: server.urls() }
        })
        .collect();
    if servers.is_empty() {
        let default = "/".to_owned();
        servers.push(Listed { server: None, place: At::of(owner), urls: vec![default.clone()], default });
    }
    servers
}

impl Listed<'_> {
    /// The URL of clients that set no variable, and the others.
    fn all(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.default).chain(&self.urls).map(String::as_str)
    }
}
