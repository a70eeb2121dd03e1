//! Measures how the time and the instructions of a request, and the memory of the service, grow with the number of
//! animals.

use std::time::Duration;

use ureq::Agent;

use super::Plan;
use super::counter::Counter;
use super::instructions::count;
use super::load::{Load, Request, Row};
use super::seed::Postgres;
use super::server::{Programs, Server, Store};
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
    let counter = Counter::find(&plan.directory);
    let growth = Growth { plan, load, counter, programs: Programs::build()? };
    growth.measure("SQLite", |size| growth.programs.sqlite(&size.to_string(), size, plan))?;
    if let Some(postgres) = Postgres::start()? {
        growth.measure("PostgreSQL", |size| growth.programs.postgres(&postgres, size, plan))?;
    }
    Ok(())
}

struct Growth<'p> {
    plan: &'p Plan<'p>,
    load: Load<'p>,
    /// `None` if instructions cannot be counted.
    counter: Option<Counter>,
    programs: Programs,
}

impl Growth<'_> {
    /// Measures each request with all store sizes. Sizes alternate within a round, so that slow changes of the machine's
    /// load affect all of them alike.
    fn measure(&self, database: &str, create: impl Fn(u64) -> Result<Store, String>) -> Result<(), String> {
        let mut stores = Vec::new();
        for size in SIZES.into_iter().filter(|size| *size <= self.plan.options.most) {
            println!("bench: {database}: creating a store of {} animals", grouped(size as f64));
            stores.push((size, create(size)?));
        }
        let mut servers = Vec::new();
        for (size, store) in &stores {
            let server = self.programs.serve(store, &[])?;
            let idle = server.memory("VmRSS")?;
            servers.push((*size, server, idle));
        }
        let mut rows = Vec::new();
        // By kind of request, then by size. Finding the middle page would take minutes under callgrind.
        let mut requests = REQUESTS.map(|_| Vec::new());
        for ((what, request), requests) in REQUESTS.iter().zip(&mut requests) {
            for (size, server, _) in &servers {
                let request = request(server, *size)?;
                rows.push(Row::new(server, what, request.clone()));
                requests.push(request);
            }
        }
        self.load.measure(&mut rows)?;
        let most =
            servers.iter().map(|(_, server, _)| server.memory("VmHWM")).collect::<Result<Vec<_>, _>>()?;
        let sizes = stores.iter().map(|(size, _)| grouped(*size as f64)).collect::<Vec<_>>().join(" | ");
        let head = format!("on {database}, requests/s | {sizes} | time, last to first");
        println!("\n{}", table(&head, rows.chunks(stores.len().max(1)).map(cells)));
        let line = |what: &str, values: &mut dyn Iterator<Item = f64>| {
            [what.to_owned()].into_iter().chain(values.map(grouped)).collect::<Vec<_>>()
        };
        let memory = [
            line("after the start", &mut servers.iter().map(|(_, _, idle)| *idle)),
            line("at most, under load", &mut most.into_iter()),
        ];
        println!("{}", table(&format!("on {database}, MiB resident | {sizes}"), memory.into_iter()));
        drop(rows);
        drop(servers);
        let Some(counter) = self.counter else { return Ok(()) };
        let counted = self.count(counter, &stores, &requests)?;
        let head = format!("on {database}, user instructions | {sizes} | last to first");
        println!("{}", table(&head, counted.into_iter()));
        Ok(())
    }

    /// Counts the instructions of each request with all store sizes.
    fn count(
        &self,
        counter: Counter,
        stores: &[(u64, Store)],
        requests: &[Vec<Request>; 4],
    ) -> Result<Vec<Vec<String>>, String> {
        let launcher = counter.launcher(&self.plan.directory);
        let mut figures = REQUESTS.map(|_| Vec::new());
        for (place, (_, store)) in stores.iter().enumerate() {
            let server = self.programs.serve(store, &launcher)?;
            for (requests, figures) in requests.iter().zip(&mut figures) {
                let counted = count(self.plan, counter, &server, &requests[place])?;
                figures.push(counted.user.ok_or("the instructions were not counted")?);
            }
        }
        Ok(REQUESTS
            .iter()
            .zip(figures)
            .map(|((what, _), figures)| {
                let ratio = figures[figures.len() - 1] / figures[0];
                let cells = figures.into_iter().map(grouped).chain([format!("{ratio:.2}")]);
                [(*what).to_owned()].into_iter().chain(cells).collect()
            })
            .collect())
    }
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
