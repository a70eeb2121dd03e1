//! How the time of a request grows with the store.

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
    ("deep page", |server, size| middle(server, size).map(Request::Path)),
    ("rare filter", |_, _| Ok(Request::Path("/v1/pets?status=sold".to_owned()))),
];

/// Measures on each database.
pub(super) fn run(plan: &Plan<'_>) -> Result<(), String> {
    let load = Load::new(plan)?;
    let programs = Programs::build()?;
    grow("SQLite", plan, &load, |size| programs.on_sqlite(size, plan))?;
    if let Some(postgres) = Postgres::start()? {
        grow("PostgreSQL", plan, &load, |size| programs.on_postgres(&postgres, size, plan))?;
    }
    Ok(())
}

/// Measures each request at stores of all sizes. The stores take turns, because the load of the machine varies
/// more slowly.
fn grow(
    database: &str,
    plan: &Plan<'_>,
    load: &Load<'_>,
    serve: impl Fn(u64) -> Result<Server, String>,
) -> Result<(), String> {
    let mut stores = Vec::new();
    for size in SIZES.into_iter().filter(|size| *size <= plan.options.most) {
        println!("bench: {database}, makes a store of {} animals", grouped(size as f64));
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

/// The rates of one request at each size, and how many times longer the largest store takes than the smallest.
fn cells(sizes: &[Row<'_>]) -> Vec<String> {
    let (first, last) = (&sizes[0], &sizes[sizes.len() - 1]);
    let rates = sizes.iter().map(|row| grouped(row.median(|round| round.rate)));
    let ratio = format!("{:.2}", first.share_of(last));
    [first.what.to_owned()].into_iter().chain(rates).chain([ratio]).collect()
}

/// The page of 20 in the middle of the list, found by following `next`.
fn middle(server: &Server, size: u64) -> Result<String, String> {
    let agent: Agent = Agent::config_builder().timeout_global(Some(Duration::from_secs(10))).build().into();
    let mut next = "/v1/pets?limit=100".to_owned();
    for _ in 0..size / 200 {
        let url = format!("{}{next}", server.address);
        let key = server.key.as_deref().unwrap_or_default();
        let answer = agent.get(&url).header("Authorization", format!("Bearer {key}")).call();
        let mut answer = answer.map_err(|error| format!("{url}: {error}"))?;
        let link = answer.headers().get("link").and_then(|link| link.to_str().ok());
        let link = link.and_then(|link| link.strip_prefix('<')?.split_once('>'));
        next = link.map(|(target, _)| target.to_owned()).ok_or_else(|| format!("{url}: has no next page"))?;
        // Read to its end, so that the connection can be used again.
        answer.body_mut().read_to_vec().map_err(|error| format!("{url}: {error}"))?;
    }
    Ok(next.replace("limit=100", "limit=20"))
}
