//! Measures how the time of a request grows with the number of animals.

use std::time::Duration;

use ureq::Agent;

use super::Plan;
use super::load::{Load, Request, Row};
use super::seed::Postgres;
use super::server::{Programs, Server};
use super::table::{grouped, table};

const SIZES: [u64; 5] = [1_000, 10_000, 100_000, 1_000_000, 10_000_000];

/// Returns the request for a store with this many animals.
type RequestTo = fn(&Server, u64) -> Result<Request, String>;

const REQUESTS: [(&str, RequestTo); 4] = [
    ("get by id", |_, size| Ok(Request::Random(size))),
    ("first page", |_, _| Ok(Request::Path("/v1/pets".to_owned()))),
    ("middle page", |server, size| middle(server, size).map(Request::Path)),
    ("rare filter", |_, _| Ok(Request::Path("/v1/pets?status=sold".to_owned()))),
];

/// Measures on SQLite, and on PostgreSQL if it is installed.
pub(super) fn run(plan: &Plan<'_>) -> Result<(), String> {
    let load = Load::new(plan)?;
    let programs = Programs::build()?;
    grow("SQLite", plan, &load, |size| programs.on_sqlite(size, plan))?;
    if let Some(postgres) = Postgres::start()? {
        grow("PostgreSQL", plan, &load, |size| programs.on_postgres(&postgres, size, plan))?;
    }
    Ok(())
}

/// Measures each request with all store sizes. Sizes alternate within a round, so that slow changes of the machine's load
/// affect all of them alike.
fn grow(
    database: &str,
    plan: &Plan<'_>,
    load: &Load<'_>,
    serve: impl Fn(u64) -> Result<Server, String>,
) -> Result<(), String> {
    let mut stores = Vec::new();
    for size in SIZES.into_iter().filter(|size| *size <= plan.options.most) {
        println!("bench: {database}: creating a store of {} animals", grouped(size as f64));
        stores.push((size, serve(size)?));
    }
    let mut rows = Vec::new();
    for (what, request) in REQUESTS {
        for (size, server) in &stores {
            rows.push(Row::new(server, what, request(server, *size)?));
        }
    }
    load.measure(&mut rows)?;
    let sizes = stores.iter().map(|(size, _)| grouped(*size as f64)).collect::<Vec<_>>().join(" | ");
    let head = format!("on {database}, requests/s | {sizes} | time, last to first");
    println!("\n{}", table(&head, rows.chunks(stores.len().max(1)).map(cells)));
    Ok(())
}

/// Returns the rates of one request for each size, and the time with the largest store relative to the smallest.
fn cells(sizes: &[Row<'_>]) -> Vec<String> {
    let (first, last) = (&sizes[0], &sizes[sizes.len() - 1]);
    let rates = sizes.iter().map(|row| grouped(row.median(|round| round.rate)));
    let ratio = format!("{:.2}", first.share_of(last));
    [first.what.to_owned()].into_iter().chain(rates).chain([ratio]).collect()
}

/// Returns the target of the page of 20 in the middle of the list, found by following `next` links.
fn middle(server: &Server, size: u64) -> Result<String, String> {
    let agent: Agent = Agent::config_builder().timeout_global(Some(Duration::from_secs(10))).build().into();
    let mut next = "/v1/pets?limit=100".to_owned();
    for _ in 0..size / 200 {
        let url = format!("{}{next}", server.address);
        let key = server.key.as_deref().unwrap_or_default();
        let response = agent.get(&url).header("Authorization", format!("Bearer {key}")).call();
        let mut response = response.map_err(|error| format!("{url}: {error}"))?;
        let link = response.headers().get("link").and_then(|link| link.to_str().ok());
        let link = link.and_then(|link| link.strip_prefix('<')?.split_once('>'));
        next = link.map(|(target, _)| target.to_owned()).ok_or_else(|| format!("{url}: has no next page"))?;
        // The connection can be reused only after the body was read completely.
        response.body_mut().read_to_vec().map_err(|error| format!("{url}: {error}"))?;
    }
    Ok(next.replace("limit=100", "limit=20"))
}
