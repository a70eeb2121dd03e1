//! Requests per second: a bare hyper server, a bare dropshot endpoint, and the service on either database.

use super::Plan;
use super::load::{Load, Measured, Request};
use super::seed::Postgres;
use super::server::{Programs, Server};
use super::table::{grouped, median, table};

/// How many animals there are before any is added.
const ANIMALS: u64 = 1_000_000;

/// One request at one server.
struct Row<'s> {
    server: &'s Server,
    what: &'static str,
    request: Request,
    rounds: Vec<Measured>,
}

/// Each round loads every server with every request, in turn.
pub(super) fn run(plan: &Plan) -> Result<(), String> {
    let load = Load::new(plan)?;
    let programs = Programs::build()?;
    let postgres = Postgres::start()?;
    println!("bench: {} animals, {} rounds of {:?} a load", grouped(ANIMALS as f64), plan.rounds, plan.time);
    let bare = [programs.bare("bare-hyper", plan)?, programs.bare("bare-dropshot", plan)?];
    let mut services = vec![programs.on_sqlite(ANIMALS, plan)?];
    if let Some(postgres) = &postgres {
        services.push(programs.on_postgres(postgres, ANIMALS, plan)?);
    }
    let mut rows = Vec::new();
    for server in &bare {
        rows.push(Row::new(server, "hello", Request::Path("/".to_owned())));
    }
    for server in &services {
        rows.push(Row::new(server, "get by id", Request::Random(ANIMALS)));
        rows.push(Row::new(server, "list of 20", Request::Path("/v1/pets".to_owned())));
        rows.push(Row::new(server, "durable add", Request::Add));
    }
    for round in 1..=plan.rounds {
        for row in &mut rows {
            row.rounds.push(load.measure(row.server, &row.request)?);
        }
        println!("bench: round {round} of {}", plan.rounds);
    }
    let head = ["server, request", "requests/s", "p99 ms", "server CPU µs/request", "of bare hyper"];
    let cells: Vec<_> = rows.iter().map(|row| row.cells(&rows[0])).collect();
    println!("\n{}", table(&head, &cells));
    Ok(())
}

impl<'s> Row<'s> {
    fn new(server: &'s Server, what: &'static str, request: Request) -> Self {
        Self { server, what, request, rounds: Vec::new() }
    }

    /// The medians. The share of the bare server's rate is that of the ratios of the rounds.
    fn cells(&self, bare: &Row<'_>) -> Vec<String> {
        let of = |figure: fn(&Measured) -> f64| median(self.rounds.iter().map(figure));
        let shares = self.rounds.iter().zip(&bare.rounds).map(|(mine, bare)| mine.rate / bare.rate);
        vec![
            format!("{}, {}", self.server.name, self.what),
            grouped(of(|round| round.rate)),
            format!("{:.1}", of(|round| round.p99)),
            format!("{:.1}", of(|round| round.processor)),
            format!("{:.2}", median(shares)),
        ]
    }
}
