//! The servers of an operation, wherever they are listed. They are compared by the URLs that requests can have; the names of
//! variables, and whether a part of a URL is in the template or in a variable, do not matter.

use std::collections::{BTreeSet, HashMap};

use document::openapi::{Kind, Object, Operation, Server, template};
use document::shortened;

use super::comparer::Comparer;
use super::data::pairs;
use super::matching::pairs_then;
use super::place::At;
use super::{rules, unknown};

/// A server, or the default server `/` of a missing list.
struct Listed<'a> {
    server: Option<Server<'a>>,
    place: At<'a>,
    /// The URLs with a variable of any value at its default, and with `{}` in its place.
    urls: BTreeSet<String>,
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
    let (same, rest) = pairs_then(servers(&before), servers(&after), |server| template(server.url()).0);
    for (old, new) in same.into_iter().chain(rest.both) {
        unknown::compare(cx, &old, &new, &[]);
        for (old, new) in pairs(variables(&old), variables(&new)).both {
            unknown::compare(cx, &old, &new, &[]);
        }
    }
    let remaining = At::value_or_object(new, "servers");
    let [old_urls, new_urls] = [&before, &after].map(|list| list.iter().flat_map(|one| &one.urls).collect());
    // A document without servers says nothing about where the service is.
    for old in before.iter().filter(|old| old.server.is_some()) {
        if let Some(urls) = others(old, &new_urls) {
            let what = format!("no server has the URL {urls} any more");
            cx.report(&rules::SERVER_REMOVED, Some(old.place), Some(remaining), what);
        }
    }
    for new in &after {
        if let Some(urls) = others(new, &old_urls) {
            cx.report(&rules::SERVER_ADDED, None, Some(new.place), format!("it has the new URL {urls}"));
        }
    }
}

/// Returns the variables with their positions in the URL. No client sends their names.
fn variables<'a>(server: &Server<'a>) -> Vec<(usize, Object<'a>)> {
    let (_, names) = template(server.url());
    let named: HashMap<&str, Object<'a>> =
        server.variables().map(|variable| (variable.name(), variable)).collect();
    names.into_iter().enumerate().filter_map(|(position, name)| Some((position, *named.get(name)?))).collect()
}

/// Returns the URLs of a server that are not among the known ones: the first, and the number of the rest.
fn others(server: &Listed<'_>, known: &BTreeSet<&String>) -> Option<String> {
    let mut others = server.urls.iter().filter(|url| !known.contains(url));
    let first = others.next()?.replace("{}", "{any value}");
    let first = format!("`{}`", if first.is_empty() { "/".to_owned() } else { shortened(&first) });
    Some(match others.count() {
        0 => first,
        more => format!("{first} and {more} more"),
    })
}

/// Returns a URL with a scheme and a host in small letters, without the default port of its scheme (RFC 3986, sections
/// 6.2.2.1 and 6.2.3), and without a slash at the end, since each path begins with one.
fn normal(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (scheme, rest));
    let path = rest.find('/').filter(|_| !scheme.is_empty()).map_or(rest.len(), |start| start);
    let (host, path) = rest.split_at(if scheme.is_empty() { 0 } else { path });
    let (scheme, host) = (scheme.to_ascii_lowercase(), host.to_ascii_lowercase());
    let port = match &*scheme {
        "https" | "wss" => ":443",
        "http" | "ws" => ":80",
        _ => "",
    };
    let host = host.strip_suffix(port).unwrap_or(&host);
    let joint = if scheme.is_empty() { "" } else { "://" };
    format!("{scheme}{joint}{host}{}", path.trim_end_matches('/'))
}

fn listed<'a>(owner: &Object<'a>) -> Vec<Listed<'a>> {
    let mut servers: Vec<_> = owner
        .children("servers")
        .map(|object| {
            let server = Server::new(object);
            let urls = [None, Some("{}")].into_iter().flat_map(|any| server.urls(any));
            let urls = urls.map(|url| normal(&url)).collect();
            Listed { server: Some(server), place: At::of(&object), urls }
        })
        .collect();
    if servers.is_empty() {
        servers.push(Listed { server: None, place: At::of(owner), urls: [normal("/")].into() });
    }
    servers
}
