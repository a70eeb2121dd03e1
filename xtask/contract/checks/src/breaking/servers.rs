//! The servers of an operation, wherever they are listed. They are compared by the URLs that requests can have; the names of
//! variables, and whether a part of a URL is in the template or in a variable, do not matter.

use std::collections::{BTreeSet, HashSet};

use document::openapi::{Kind, Object, Operation, Server, template};
use document::shortened;

use super::comparer::Comparer;
use super::data::pairs;
use super::matching::{named, pairs_then};
use super::place::At;
use super::{rules, unknown};

/// A server, and its URLs with a variable of any value at its default, and with `{}` in its place.
type Listed<'a> = (Server<'a>, BTreeSet<String>);

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
    let servers =
        |list: &[Listed<'a>]| list.iter().map(|(server, _)| (server.url(), *server)).collect::<Vec<_>>();
    let (same, rest) = pairs_then(servers(&before), servers(&after), |server| template(server.url()).0);
    for (old, new) in same.into_iter().chain(rest.both) {
        unknown::compare(cx, &old, &new, &[]);
        for (old, new) in pairs(named(&old, "variables"), named(&new, "variables")).both {
            unknown::compare(cx, &old, &new, &[]);
        }
    }
    let remaining = At::value_or_object(new, "servers");
    let [old_urls, new_urls] = [&before, &after].map(|list| known(list));
    for (old, urls) in &before {
        if let Some(urls) = others(urls, &new_urls) {
            let what = format!("no server has the URL {urls} any more");
            cx.report(&rules::SERVER_REMOVED, Some(At::of(old)), Some(remaining), what);
        }
    }
    for (new, urls) in &after {
        if let Some(urls) = others(urls, &old_urls) {
            cx.report(&rules::SERVER_ADDED, None, Some(At::of(new)), format!("it has the new URL {urls}"));
        }
    }
}

/// Returns the URLs of all servers. Without a list, the only server is `/`.
fn known<'l>(list: &'l [Listed<'_>]) -> HashSet<&'l str> {
    let urls: HashSet<&str> = list.iter().flat_map(|(_, urls)| urls).map(String::as_str).collect();
    if urls.is_empty() { [""].into() } else { urls }
}

/// Returns the URLs of a server that are not among the known ones: the first, and the number of the rest.
fn others(urls: &BTreeSet<String>, known: &HashSet<&str>) -> Option<String> {
    let mut others = urls.iter().filter(|url| !known.contains(url.as_str()));
    let first = others.next()?.replace("{}", "{any value}");
    let first = if first.is_empty() { "`/`".to_owned() } else { format!("`{}`", shortened(&first)) };
    Some(match others.count() {
        0 => first,
        more => format!("{first} and {more} more"),
    })
}

/// Returns a URL with a scheme and a host in small letters, without the default port of its scheme (RFC 3986, sections
/// 6.2.2.1 and 6.2.3), and without a slash at the end, since each path begins with one.
fn normal(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.trim_end_matches('/').to_owned() };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let (scheme, host) = (scheme.to_ascii_lowercase(), host.to_ascii_lowercase());
    let port = match &*scheme {
        "https" | "wss" => ":443",
        "http" | "ws" => ":80",
        _ => "",
    };
    let host = host.strip_suffix(port).unwrap_or(&host);
    format!("{scheme}://{host}{}", path.trim_end_matches('/'))
}

fn listed<'a>(owner: &Object<'a>) -> Vec<Listed<'a>> {
    let urls = |server: &Server<'a>| {
        let urls = [None, Some("{}")].into_iter().flat_map(|any| server.urls(any));
        urls.map(|url| normal(&url)).collect()
    };
    owner.children("servers").map(Server::new).map(|server| (server, urls(&server))).collect()
}
